//! Inside: a room with a window, a set table, a plain backdrop.

use crate::paint::colour::{Rgb, from_hsl, hex, mix, scale, screen, with_alpha};
use crate::paint::foliage::TreeSite;
use crate::paint::noise;
use crate::paint::region::{Blend, Role, ellipse, plain, polygon, rectangle};
use crate::scene::flora;
use crate::scene::stage::{Stage, field};

/// A wall with the light of a window falling on it.
fn wall(stage: &mut Stage, colour: Rgb, low: f32) {
    let light = stage.light.clone();
    let side = light.side(0.0).signum();
    let path = rectangle(stage.view.left, stage.view.top, stage.view.right, low);
    let colours = field(move |x, y| {
        let grain = noise::fractal(x * 60.0, y * 60.0, 4, 2) * 0.03;
        let away = (x - side * 0.45).hypot(y + 0.25);
        let glow = (1.15 - away * 0.75).clamp(0.25, 1.1);
        let base = light.on(scale(colour, 1.0 + grain), glow);
        with_alpha(mix(base, colour, 0.25 * (1.0 - light.dark)), 1.0)
    });
    stage.add(path, colours, Role::Sky, 0.8);
}

/// Wall colours that go with most things.
fn wallpaper(stage: &Stage) -> Rgb {
    [
        hex(0xd9c7ae),
        hex(0xa9b8b0),
        hex(0xc9a994),
        hex(0x8fa3b3),
        hex(0xb9a7b5),
        hex(0x7f9486),
    ][stage.dice.pick("wall", 6)]
}

/// A room with a window, a lamp, a shelf and boards.
pub(crate) fn room(stage: &mut Stage) {
    let h = stage.horizon;
    let paper = wallpaper(stage);
    wall(stage, paper, h + 0.01);
    window(stage);
    shelf(stage);
    boards(stage, h);
    let skirting = stage.lit(scale(paper, 1.15), 0.7, 0.0);
    stage.add(
        rectangle(stage.view.left, h - 0.018, stage.view.right, h + 0.008),
        plain(skirting),
        Role::Building,
        0.7,
    );
    rug(stage);
    lamp(stage);
    pot(stage);
}

fn boards(stage: &mut Stage, top: f32) {
    let light = stage.light.clone();
    let wood = [hex(0xa8744a), hex(0x8a5f40), hex(0xc0935f)][stage.dice.pick("wood", 3)];
    let path = stage.below(0.2, |_| top);
    let side = light.side(0.0).signum();
    let colours = field(move |x, y| {
        let near = (y - top).max(0.002);
        let board = x / (near + 0.16) * 2.6;
        let (index, across) = (board.floor(), board.rem_euclid(1.0));
        let tone = 0.85 + 0.3 * noise::cell(index as i32, 0, 8);
        let grain =
            noise::fractal(across * 2.0 + index * 7.0, (near + 0.1).ln() * 14.0, 6, 3) * 0.1;
        let joint = noise::smooth(0.03, 0.0, across.min(1.0 - across)) * 0.35;
        // The window lies on the floor as a bright slanted patch.
        let (u, v) = ((x - side * 0.12) + side * near * 0.9, near);
        let patch = noise::smooth(0.19, 0.17, u.abs())
            * noise::smooth(0.06, 0.08, v)
            * noise::smooth(0.24, 0.2, v);
        let bars = f32::from((u.abs() > 0.008) && ((v - 0.145).abs() > 0.006));
        let facing = 0.5 + patch * bars * light.direct * 0.9 - near * 0.2;
        with_alpha(light.on(scale(wood, tone + grain - joint), facing), 1.0)
    });
    stage.add(path, colours, Role::Ground, 0.3);
}

#[rustfmt::skip]
fn window(stage: &mut Stage) {
    let side = stage.light.side(0.0).signum();
    let (x, y, w, tall) = (side * 0.26, -0.18, 0.15, 0.2);
    let light = stage.light.clone();
    let sky = field(move |px, py| {
        let up = ((y + tall - py) / (tall * 2.0)).clamp(0.0, 1.0);
        let base = if up < 0.5 {
            mix(light.sky[2], light.sky[1], up * 2.0)
        } else {
            mix(light.sky[1], light.sky[0], up * 2.0 - 1.0)
        };
        let hill = y + tall * 0.55 + 0.04 * noise::line(px * 6.0, 3, 2);
        let land = light.through(light.on(hex(0x5f8f55), 0.6), 0.45);
        let cloud = noise::smooth(0.1, 0.5, noise::fractal(px * 7.0, py * 16.0, 12, 3));
        let seen = mix(base, screen(base, [0.3, 0.3, 0.3]), cloud);
        with_alpha(if py > hill { land } else { seen }, 1.0)
    });
    let frame = stage.lit(hex(0xf4efe6), 0.9, 0.0);
    stage.add(rectangle(x - w - 0.015, y - tall - 0.015, x + w + 0.015, y + tall + 0.015), plain(frame), Role::Building, 0.75);
    stage.add(rectangle(x - w, y - tall, x + w, y + tall), sky, Role::Sky, 0.8);
    for bar in [rectangle(x - 0.006, y - tall, x + 0.006, y + tall), rectangle(x - w, y - 0.006, x + w, y + 0.006), rectangle(x - w - 0.035, y + tall + 0.01, x + w + 0.035, y + tall + 0.035)] {
        stage.add(bar, plain(frame), Role::Building, 0.74);
    }
    let cloth = from_hsl([stage.dice.roll("curtain"), 0.35, 0.6]);
    for edge in [-1.0_f32, 1.0] {
        let light = stage.light.clone();
        let base = x + edge * (w + 0.03);
        let points: Vec<(f32, f32)> = (0..=10)
            .map(|i| {
                (base - edge * 0.05 * (1.0 - (i as f32 / 10.0 - 0.45).abs()), y - tall - 0.04 + i as f32 * 0.052)
            })
            .chain([(base + edge * 0.07, y + tall + 0.1), (base + edge * 0.06, y - tall - 0.04)])
            .collect();
        let colours = field(move |px, _| {
            let fold = ((px - base) * 190.0).sin();
            with_alpha(light.on(scale(cloth, 1.0 + fold * 0.12), 0.65 + fold * 0.25), 1.0)
        });
        stage.add(polygon(&points), colours, Role::Building, 0.72);
    }
    let glow = field(move |px, py| {
        let away = (px - x).hypot(py - y);
        with_alpha(hex(0xfff0d0), 0.22 * (-away * 3.0).exp())
    });
    if stage.light.dark < 0.5 {
        let path = stage.everything();
        stage.blend(path, glow, Role::Light, 0.7, Blend::Glow);
    }
}

fn shelf(stage: &mut Stage) {
    let side = -stage.light.side(0.0).signum();
    let (x, y) = (side * 0.3, -0.13);
    let wood = stage.lit(hex(0x7a5236), 0.6, 0.0);
    let dice = stage.dice;
    for level in 0..2 {
        let top = y + level as f32 * 0.15;
        let mut at = x - 0.14;
        for book in 0..11 {
            let w = 0.012 + 0.014 * dice.cell("book", book, level);
            let tall = 0.06 + 0.05 * dice.cell("book tall", book, level);
            if at + w > x + 0.12 {
                break;
            }
            let hue = dice.cell("book hue", book, level);
            let cover = stage.lit(from_hsl([hue, 0.45, 0.42]), 0.6, 0.0);
            stage.add(
                rectangle(at, top - tall, at + w, top),
                plain(cover),
                Role::Building,
                0.7,
            );
            let band = stage.lit(from_hsl([hue, 0.3, 0.75]), 0.6, 0.0);
            stage.add(
                rectangle(at, top - tall * 0.8, at + w, top - tall * 0.72),
                plain(band),
                Role::Building,
                0.7,
            );
            at += w + 0.002;
        }
        stage.add(
            rectangle(x - 0.16, top, x + 0.16, top + 0.014),
            plain(wood),
            Role::Building,
            0.7,
        );
    }
}

fn rug(stage: &mut Stage) {
    let hue = stage.dice.roll("rug");
    let (a, b) = (
        from_hsl([hue, 0.45, 0.42]),
        from_hsl([hue + 0.08, 0.4, 0.72]),
    );
    let light = stage.light.clone();
    let colours = field(move |x, y| {
        let far = (x / 0.36).hypot((y - 0.34) / 0.085);
        let ring = (far * 16.0).sin() > 0.2;
        let weave = noise::value(x * 240.0, y * 480.0, 5) * 0.12;
        with_alpha(
            light.on(scale(if ring { a } else { b }, 0.94 + weave), 0.7),
            1.0,
        )
    });
    stage.add(ellipse(0.0, 0.34, 0.36, 0.085), colours, Role::Ground, 0.25);
}

fn lamp(stage: &mut Stage) {
    let side = -stage.light.side(0.0).signum();
    let (x, foot, top) = (side * 0.41, stage.horizon + 0.05, -0.16);
    let iron = stage.lit(hex(0x4a3c34), 0.6, 0.0);
    stage.add(
        rectangle(x - 0.005, top, x + 0.005, foot),
        plain(iron),
        Role::Building,
        0.4,
    );
    stage.add(
        ellipse(x, foot, 0.05, 0.012),
        plain(iron),
        Role::Building,
        0.4,
    );
    let shade = polygon(&[
        (x - 0.035, top - 0.07),
        (x + 0.035, top - 0.07),
        (x + 0.075, top + 0.03),
        (x - 0.075, top + 0.03),
    ]);
    let warm = if stage.light.dark > 0.2 {
        hex(0xffdf9e)
    } else {
        stage.lit(hex(0xf0dfc0), 0.8, 0.0)
    };
    stage.add(shade, plain(warm), Role::Light, 0.4);
    let strength = 0.15 + 0.5 * stage.light.dark;
    let glow = field(move |px, py| {
        with_alpha(
            hex(0xffc670),
            strength * (-(px - x).hypot(py - top) * 4.0).exp(),
        )
    });
    let path = stage.everything();
    stage.blend(path, glow, Role::Light, 0.4, Blend::Glow);
}

fn pot(stage: &mut Stage) {
    let side = stage.light.side(0.0).signum();
    let (x, foot) = (side * 0.43, stage.horizon + 0.09);
    let clay = stage.lit(hex(0xb5673f), 0.6, 0.0);
    let shape = polygon(&[
        (x - 0.045, foot - 0.09),
        (x + 0.045, foot - 0.09),
        (x + 0.032, foot),
        (x - 0.032, foot),
    ]);
    let spot = TreeSite {
        x,
        y: foot - 0.085,
        tall: 0.3,
        depth: 0.2,
        seed: stage.dice.noise("pot"),
    };
    flora::tree(stage, flora::Tree::Palm, spot, hex(0x3f7d4a));
    stage.add(shape, plain(clay), Role::Building, 0.2);
}

/// A table before a wall, for things that lie.
pub(crate) fn table(stage: &mut Stage) {
    let top = stage.horizon;
    let paper = scale(wallpaper(stage), 0.8);
    wall(stage, paper, top + 0.02);
    let light = stage.light.clone();
    let cloth = stage.dice.pick("cloth", 3);
    let wood = hex(0x8f5f3d);
    let linen = [hex(0xe9e2d4), hex(0xb8c4cc), hex(0xd8b8a8)][stage.dice.pick("linen", 3)];
    let path = stage.below(0.2, |_| top);
    let colours = field(move |x, y| {
        let near = (y - top).max(0.0);
        let grain = noise::fractal(x * 4.0, y * 90.0, 6, 3) * 0.12;
        let plank = ((near + 0.2).ln() * 9.0).rem_euclid(1.0);
        let joint = noise::smooth(0.02, 0.0, plank.min(1.0 - plank)) * 0.3;
        let mut colour = scale(wood, 1.0 + grain - joint);
        if cloth > 0 {
            let fold = noise::fractal(x * 3.0 + y * 2.0, y * 2.0 - x, 19, 3);
            let weave = noise::value(x * 400.0, y * 400.0, 2) * 0.06;
            let check = cloth == 2
                && (((x / (near + 0.4) * 9.0).rem_euclid(1.0) < 0.5)
                    ^ ((near.sqrt() * 14.0).rem_euclid(1.0) < 0.5));
            colour = scale(
                if check {
                    mix(linen, hex(0xb04a45), 0.6)
                } else {
                    linen
                },
                0.94 + weave + fold * 0.16,
            );
        }
        let away = (x - light.side(0.0) * 0.4).hypot(near * 1.5);
        with_alpha(light.on(colour, 1.0 - away * 0.55), 1.0)
    });
    stage.add(path, colours, Role::Ground, 0.3);
}

/// A plain backdrop that lets the subject speak.
pub(crate) fn studio(stage: &mut Stage) {
    let hue = stage.dice.roll("backdrop");
    let light = stage.light.clone();
    let (a, b) = (
        from_hsl([hue, 0.32, 0.68]),
        from_hsl([hue + 0.06, 0.4, 0.34]),
    );
    let side = light.side(0.0) * 0.25;
    let seed = stage.dice.noise("backdrop");
    let colours = field(move |x, y| {
        let away = (x - side).hypot(y + 0.08);
        let brush = noise::fractal(x * 2.5 + y, y * 2.5 - x, seed, 4) * 0.14;
        with_alpha(
            mix(light.on(a, 0.9), light.on(b, 0.5), away * 1.1 + brush),
            1.0,
        )
    });
    let path = stage.everything();
    stage.add(path, colours, Role::Sky, 0.9);
}
