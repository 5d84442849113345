//! Draws a subject into the scene: its parts coloured by the light, rounded by its own shape, standing in its shadow.

use std::sync::Arc;

use tiny_skia::{FillRule, Mask, Transform};

use super::islet::islet;
use super::stage::{Stage, field};
use crate::choices::habitat::Habitat;
use crate::choices::kinds::Setting;
use crate::layout::PlacedSubject;
use crate::paint::colour::{Rgb, dyed, luma, mix, saturate, scale, screen, with_alpha};
use crate::paint::cover::Cover;
use crate::paint::noise;
use crate::paint::region::{Blend, Role, ellipse};

/// How thick a subject is at each point, from its smeared silhouette.
pub(crate) struct Relief {
    size: usize,
    thick: Vec<f32>,
}

const SIZE: usize = 96;
const EDGE: f32 = 10.0;

impl Relief {
    fn new(one: &PlacedSubject) -> Self {
        let bounds = one.art.bounds;
        let inner = SIZE as f32 - 2.0 * EDGE;
        let fit = Transform::from_translate(-bounds.left(), -bounds.top())
            .post_scale(inner / bounds.width(), inner / bounds.height())
            .post_translate(EDGE, EDGE);
        let Some(mut mask) = Mask::new(SIZE as u32, SIZE as u32) else {
            return Self {
                size: 0,
                thick: Vec::new(),
            };
        };
        for part in one.art.parts.iter() {
            mask.fill_path(&part.path, FillRule::Winding, true, fit);
        }
        let cover = Cover {
            x: 0,
            y: 0,
            width: SIZE,
            height: SIZE,
            inside: mask.take(),
        };
        let (near, wide) = (cover.softened(3.0), cover.softened(8.0));
        let thick = near
            .iter()
            .zip(&wide)
            .map(|(a, b)| (f32::from(*a) + f32::from(*b)) / 510.0)
            .collect();
        Self { size: SIZE, thick }
    }

    /// Thickness at a place in 0..1 across the subject.
    pub(crate) fn at(&self, u: f32, v: f32) -> f32 {
        if self.size == 0 {
            return 1.0;
        }
        let inner = self.size as f32 - 2.0 * EDGE;
        let (x, y) = (u * inner + EDGE - 0.5, v * inner + EDGE - 0.5);
        let most = self.size as f32 - 1.001;
        let (x, y) = (x.clamp(0.0, most), y.clamp(0.0, most));
        let (ix, iy) = (x as usize, y as usize);
        let (fx, fy) = (x - ix as f32, y - iy as f32);
        let get = |dx: usize, dy: usize| {
            self.thick[(iy + dy).min(self.size - 1) * self.size + (ix + dx).min(self.size - 1)]
        };
        let top = get(0, 0) * (1.0 - fx) + get(1, 0) * fx;
        let low = get(0, 1) * (1.0 - fx) + get(1, 1) * fx;
        top * (1.0 - fy) + low * fy
    }
}

/// Maps world places into 0..1 across a subject.
#[derive(Clone, Copy)]
struct SubjectFrame {
    left: f32,
    top: f32,
    wide: f32,
    high: f32,
    flip: bool,
}

impl SubjectFrame {
    fn of(one: &PlacedSubject) -> Self {
        let (wide, high) = (one.width(), one.height());
        Self {
            left: one.foot.0 - wide * 0.5,
            top: one.foot.1 - high,
            wide,
            high,
            flip: one.flip,
        }
    }

    fn at(self, x: f32, y: f32) -> (f32, f32) {
        let u = (x - self.left) / self.wide;
        (
            if self.flip { 1.0 - u } else { u },
            (y - self.top) / self.high,
        )
    }
}

/// From the subject's own units to the world.
fn transform(one: &PlacedSubject) -> Transform {
    let bounds = one.art.bounds;
    let sx = if one.flip { -one.scale } else { one.scale };
    let middle = bounds.left() + bounds.width() * 0.5;
    Transform::from_row(
        sx,
        0.0,
        0.0,
        one.scale,
        one.foot.0 - middle * sx,
        one.foot.1 - bounds.bottom() * one.scale,
    )
}

/// The colour a dyed part takes: the main colours change, eyes and outlines stay.
fn coloured(part: Rgb, dye: Option<Rgb>) -> Rgb {
    dye.map_or(part, |dye| dyed(part, dye))
}

pub(crate) fn actor(stage: &mut Stage, one: &PlacedSubject) {
    let relief = Arc::new(Relief::new(one));
    let across = SubjectFrame::of(one);
    let grounded = !matches!(one.habitat, Habitat::Air | Habitat::Sky | Habitat::Sea);
    let on_water = stage.scene.setting == Setting::Sea && one.habitat == Habitat::Ground;
    if on_water && stage.scene.subjects[one.index].key != "lighthouse" {
        islet(stage, one);
    }
    if grounded && one.habitat != Habitat::Water {
        shadow(stage, one, &relief);
    }
    let dye = stage.scene.subjects[one.index]
        .colour
        .map(|c| c.map(|v| f32::from(v) / 255.0));
    let place = transform(one);
    let glows = stage.light.dark;
    for part in one.art.parts.iter() {
        let light = stage.light.clone();
        let (relief, colour, alpha) = (
            relief.clone(),
            coloured(part.colour, dye.filter(|_| part.dye)),
            part.alpha,
        );
        let strength = if luma(colour) > 0.93 { 0.55 } else { 1.0 };
        let (side, depth) = (light.side(one.foot.0), one.depth);
        let tint = mix([1.0, 1.0, 1.0], light.sky[1], 0.10);
        let colours = field(move |x, y| {
            let (u, v) = across.at(x, y);
            let e = 0.035;
            let (du, dv) = (
                relief.at(u - e, v) - relief.at(u + e, v),
                relief.at(u, v - e) - relief.at(u, v + e),
            );
            let du = if across.flip { -du } else { du };
            let turned = du * side * 1.5 - dv * 1.1;
            let facing = (0.70 - turned * strength - (v - 0.5) * 0.22).clamp(0.0, 1.15);
            let texture = noise::fractal(u * 26.0, v * 26.0, 77, 2) * 0.035;
            let surface = scale(
                saturate(
                    [
                        colour[0] * tint[0],
                        colour[1] * tint[1],
                        colour[2] * tint[2],
                    ],
                    1.03,
                ),
                1.0 + texture,
            );
            let mut shade = light.on(surface, facing);
            let rim =
                noise::smooth(0.62, 0.35, relief.at(u, v)) * (-turned).max(0.0) * light.direct;
            shade = screen(shade, scale(light.disc, rim * 0.55));
            // Never so dark that it is lost.
            shade = mix(shade, surface, 0.12 + 0.10 * glows);
            with_alpha(light.through(shade, depth * 0.35), alpha)
        });
        // Light and texture are spread over the whole subject; its parts only cut shapes out of them.
        let step = one.width().min(one.height()) / 180.0;
        stage.smooth(
            part.path.clone().transform(place),
            colours,
            Role::Subject,
            one.depth,
            step,
        );
    }
    if one.habitat == Habitat::Water {
        waterline(stage, one);
    }
}

fn shadow(stage: &mut Stage, one: &PlacedSubject, relief: &Arc<Relief>) {
    let light = stage.light.clone();
    let (wide, high) = (one.width(), one.height());
    let (fx, fy) = one.foot;
    // Dark contact right under the feet.
    let contact = field(move |x, y| {
        let away = ((x - fx) / (wide * 0.5)).hypot((y - fy) / (high * 0.05 + 0.012));
        with_alpha([0.05, 0.06, 0.12], 0.55 * noise::smooth(1.0, 0.15, away))
    });
    let path = ellipse(fx, fy, wide * 0.52, high * 0.05 + 0.014);
    let step = (high * 0.05 + 0.012) / 24.0;
    stage.wash(path, contact, one.depth, Blend::Darken, step);
    if light.direct < 0.3
        || one.habitat == Habitat::Table && !stage.scene.setting.is_outdoors() && high > 0.6
    {
        return;
    }
    // The silhouette again, laid down away from the light.
    let lean = -light.side(fx) * 0.85;
    let flat = 0.26;
    let (relief, flip) = (relief.clone(), one.flip);
    let colours = field(move |x, y| {
        let up = (fy - y) / (high * flat);
        let u = (x - fx - lean * (fy - y) / flat * 0.4) / wide + 0.5;
        let u = if flip { 1.0 - u } else { u };
        let v = 1.0 - up;
        let thick = relief.at(u, v);
        with_alpha(
            [0.06, 0.07, 0.16],
            0.42 * light.direct * noise::smooth(0.25, 0.6, thick) * (1.0 - up * 0.6).max(0.0),
        )
    });
    let bounds = one.art.bounds;
    let sx = if one.flip { -one.scale } else { one.scale };
    let middle = bounds.left() + bounds.width() * 0.5;
    let skew = -lean * 0.4 * one.scale;
    let place = Transform::from_row(
        sx,
        0.0,
        skew,
        one.scale * flat,
        fx - middle * sx - skew * bounds.bottom(),
        fy - bounds.bottom() * one.scale * flat,
    );
    let mut builder = tiny_skia::PathBuilder::new();
    for part in one.art.parts.iter() {
        if let Some(path) = part.path.clone().transform(place) {
            builder.push_path(&path);
        }
    }
    let step = wide.min(high * flat) / 120.0;
    stage.wash(builder.finish(), colours, one.depth, Blend::Darken, step);
}

/// Small waves before a hull, so that it lies in the water and not on it.
fn waterline(stage: &mut Stage, one: &PlacedSubject) {
    let light = stage.light.clone();
    let (fx, fy) = one.foot;
    let (wide, high) = (one.width(), one.height());
    let (seed, clock) = (stage.dice.noise("hull"), stage.clock * 5.0);
    let top = fy - high * 0.045;
    let mut points: Vec<(f32, f32)> = (0..=40)
        .map(|i| {
            let t = i as f32 / 40.0;
            let x = fx + (t - 0.5) * wide * 1.3;
            (x, top + 0.006 * noise::line(x * 30.0 + clock, seed, 2))
        })
        .collect();
    points.push((fx + wide * 0.65, fy + high * 0.06));
    points.push((fx - wide * 0.65, fy + high * 0.06));
    let colours = field(move |x, y| {
        let side = noise::smooth(0.65, 0.42, ((x - fx) / wide).abs());
        let down = noise::smooth(fy + high * 0.06, top, y);
        let water = mix(light.sky[1], light.on([0.2, 0.4, 0.5], 0.5), 0.5);
        let foam = noise::smooth(0.006, 0.0, (y - top - 0.004).abs());
        with_alpha(
            mix(water, [1.0, 1.0, 1.0], foam * 0.6),
            side * (0.35 + 0.65 * down) * 0.9,
        )
    });
    stage.add(
        crate::paint::region::polygon(&points),
        colours,
        Role::Water,
        one.depth,
    );
}
