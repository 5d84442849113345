//! From a scene to a picture: builds the stage, paints it in the scene's style, bends the colours to the palette.

use std::sync::Arc;

use atelier_media::Picture;
use rayon::prelude::*;

use super::figure::Figure;
use super::light::Light;
use super::patch::Hole;
use super::stage::{Stage, View};
use super::{Scene, actor, isometric, setting, tile};
use crate::choices::kinds::{Motion, StyleName};
use crate::paint::canvas::{Canvas, Frame};
use crate::paint::colour::{Rgb, luma, mix};
use crate::paint::region::Item;
use crate::style::flair::Flair;
use crate::style::look::{Look, Style};
use crate::{layout, painter, style};

impl Scene {
    /// The picture of the scene; a ratio other than the window's shows the same area of the world in that shape.
    pub fn render(&self, width: u32, height: u32) -> Picture {
        still(self, width, height)
    }

    /// The picture at a moment (0..1) of a moving scene; moment 0 is [`Scene::render`].
    pub fn render_at(&self, width: u32, height: u32, moment: f32, motion: Motion) -> Picture {
        self::moment(self, (width, height), moment, motion)
    }
}

/// The picture of a resting scene.
fn still(scene: &Scene, width: u32, height: u32) -> Picture {
    moment(scene, (width, height), 0.0, Motion::Low)
}

/// The picture of a moving scene at a moment of 0..1.
fn moment(scene: &Scene, (width, height): (u32, u32), moment: f32, motion: Motion) -> Picture {
    let frame = frame(scene, (width, height));
    let moment = moment.clamp(0.0, 1.0);
    let (speed, travel) = match motion {
        Motion::Low => (0.15, 0.11),
        Motion::High => (0.3, 0.22),
    };
    let side = if scene.dice.pick("camera", 2) == 0 {
        -1.0
    } else {
        1.0
    };
    let camera = (side * travel * moment, -travel * 0.15 * moment);
    draw(scene, Frame { camera, ..frame }, moment * speed)
}

/// The resting frame of a scene's window at a size.
fn frame(scene: &Scene, (width, height): (u32, u32)) -> Frame {
    let (width, height) = (width.max(1), height.max(1));
    let window = scene.window.shaped((width, height));
    Frame {
        width,
        height,
        scale: width as f32 / window.width,
        left: window.left,
        top: window.top,
        camera: (0.0, 0.0),
    }
}

/// The resting scene in a style that is not its own, without a palette.
pub(crate) fn in_style(scene: &Scene, size: (u32, u32), style: &dyn Style) -> Canvas {
    let plain = Scene {
        palette: Vec::new(),
        ..scene.clone()
    };
    sheet(&plain, &frame(scene, size), style, 0.0)
}

/// The items of a scene for a frame.
fn build(scene: &Scene, frame: &Frame, look: Look, clock: f32) -> Vec<Item> {
    let margin = 0.03 + frame.camera.0.abs() + frame.camera.1.abs();
    let view = View {
        left: frame.left - margin,
        right: frame.left + frame.width as f32 / frame.scale + margin,
        top: frame.top - margin,
        bottom: frame.top + frame.height as f32 / frame.scale + margin,
    };
    let horizon = setting::horizon(scene.setting, &scene.dice);
    let light = Arc::new(Light::new(scene.time, scene.weather, &scene.dice, horizon));
    let mut stage = Stage {
        scene,
        dice: scene.dice,
        light,
        view,
        horizon,
        look,
        clock,
        items: Vec::new(),
    };
    if scene.style == StyleName::Isometric {
        isometric::build(&mut stage);
        return stage.items;
    }
    let floor = setting::behind(&mut stage);
    for mut one in layout::placed(&scene.subjects, floor, &scene.dice) {
        one.moved_by(clock);
        actor::actor(&mut stage, &one);
    }
    setting::before(&mut stage, floor);
    stage
        .items
        .extend(scene.figures.iter().flat_map(Figure::items));
    stage.items
}

fn draw(scene: &Scene, frame: Frame, clock: f32) -> Picture {
    if !scene.tiled {
        return patched(scene, frame, clock);
    }
    let wide = patched(scene, tile::widened(frame), clock);
    tile::folded(&wide, frame.width, frame.height)
}

/// A scene with its repainted regions.
fn patched(scene: &Scene, frame: Frame, clock: f32) -> Picture {
    let mut picture = bare(scene, frame, clock);
    for patch in &scene.patches {
        let hole = Hole::of(patch);
        let mut inner = bare(&patch.scene, frame, clock);
        inner
            .rgba
            .par_chunks_mut(4)
            .zip(picture.rgba.par_chunks(4))
            .enumerate()
            .for_each(|(at, (new, old))| {
                let (x, y) = (at as u32 % frame.width, at as u32 / frame.width);
                let (wx, wy) = frame.world(x as f32, y as f32);
                let share = hole.share(wx, wy);
                for (n, o) in new.iter_mut().zip(old) {
                    *n = (f32::from(*o) + (f32::from(*n) - f32::from(*o)) * share).round() as u8;
                }
            });
        picture = inner;
    }
    picture
}

/// A scene without its repainted regions.
fn bare(scene: &Scene, frame: Frame, clock: f32) -> Picture {
    let style = Flair::new(style::named(scene.style), scene.flair);
    let Some(count) = style.look().coarse else {
        return sheet(scene, &frame, &style, clock).into_picture();
    };
    // The world's own large pixels: their grid does not depend on the window.
    let scale = count as f32;
    let (left, top) = ((frame.left * scale).floor(), (frame.top * scale).floor());
    let right = ((frame.left + frame.width as f32 / frame.scale) * scale).ceil();
    let bottom = ((frame.top + frame.height as f32 / frame.scale) * scale).ceil();
    let small = Frame {
        width: (right - left).max(1.0) as u32,
        height: (bottom - top).max(1.0) as u32,
        scale,
        left: left / scale,
        top: top / scale,
        camera: frame.camera,
    };
    let coarse = sheet(scene, &small, &style, clock).into_picture();
    let mut picture = Picture::filled(frame.width, frame.height, [0, 0, 0, 255]);
    let row = frame.width as usize * 4;
    picture
        .rgba
        .par_chunks_exact_mut(row)
        .enumerate()
        .for_each(|(y, row)| {
            for (x, pixel) in row.as_chunks_mut::<4>().0.iter_mut().enumerate() {
                let (wx, wy) = frame.world(x as f32, y as f32);
                let (sx, sy) = ((wx * scale - left) as u32, (wy * scale - top) as u32);
                *pixel = coarse.pixel(sx.min(small.width - 1), sy.min(small.height - 1));
            }
        });
    picture
}

/// Paints a frame of the scene with figures before everything.
pub(crate) fn with_figures(
    scene: &Scene,
    frame: &Frame,
    figures: &[Item],
    style: &dyn Style,
) -> Canvas {
    let mut canvas = sheet(scene, frame, style, 0.0);
    painter::paint(figures, style, frame, &mut canvas, 0);
    canvas
}

/// Paints a frame of the scene.
fn sheet(scene: &Scene, frame: &Frame, style: &dyn Style, clock: f32) -> Canvas {
    let mut items = build(scene, frame, style.look(), clock);
    // Water mirrors what is above the picture, too: paint that as well and cut it off in the end.
    let extra = if style.look().dull {
        0
    } else {
        rows_above(&items, frame)
    };
    let mut tall = *frame;
    if extra > 0 {
        tall.height += extra;
        tall.top -= extra as f32 / frame.scale;
        items = build(scene, &tall, style.look(), clock);
    }
    let mut canvas = Canvas::filled(tall.width, tall.height, [0.5, 0.5, 0.5]);
    canvas.each(|x, y, pixel| {
        let (wx, wy) = tall.world(x as f32, y as f32);
        let [r, g, b] = style.sheet(wx, wy);
        *pixel = [r, g, b, 1.0];
    });
    painter::paint(&items, style, &tall, &mut canvas, extra as usize);
    drop(items);
    canvas.pixels.drain(..extra as usize * canvas.width);
    canvas.height -= extra as usize;
    grade(scene, &mut canvas);
    style.finish(&mut canvas, frame);
    canvas
}

/// How many rows above the frame its water mirrors, never more than the frame has itself.
fn rows_above(items: &[Item], frame: &Frame) -> u32 {
    let bottom = frame.top + frame.height as f32 / frame.scale;
    let highest = items
        .iter()
        .filter_map(|item| match item {
            Item::Mirror(mirror) => {
                Some(2.0 * mirror.line - bottom.min(mirror.path.bounds().bottom()))
            }
            Item::Fill(_) => None,
        })
        .fold(frame.top, f32::min);
    (((frame.top - highest) * frame.scale).ceil() as u32).min(frame.height)
}

/// Bends all colours towards the palette: the first colour owns the darks and the air, the next ones the lights.
fn grade(scene: &Scene, canvas: &mut Canvas) {
    let asked: Vec<Rgb> = scene
        .palette
        .iter()
        .map(|c| c.map(|v| f32::from(v) / 255.0))
        .collect();
    let Some(&first) = asked.first() else { return };
    let last = *asked.get(1).unwrap_or(&first);
    let stops = [
        mix([0.03, 0.03, 0.05], first, 0.28),
        mix(first, [0.2, 0.2, 0.22], 0.15),
        mix(first, last, 0.6),
        mix(last, [1.0, 1.0, 1.0], 0.3),
        mix(last, [1.0, 0.99, 0.96], 0.8),
    ];
    canvas.each(|_, _, pixel| {
        let own = [pixel[0], pixel[1], pixel[2]];
        let toned = crate::paint::colour::ramp(&stops, luma(own));
        let bent = mix(own, toned, 0.62);
        pixel[..3].copy_from_slice(&bent);
    });
}
