//! Small houses for villages.

use crate::paint::colour::{hex, scale, with_alpha};
use crate::paint::dice::Dice;
use crate::paint::region::{Blend, Role, ellipse, plain, polygon, rectangle};
use crate::scene::stage::{Stage, field};

/// A small house with a pitched roof.
pub(crate) fn cottage(stage: &mut Stage, (x, y): (f32, f32), size: f32, dice: Dice) {
    let (w, wall_h) = (size * 0.62, size * 0.52);
    let walls = [hex(0xf0e4cf), hex(0xe6cfae), hex(0xdcd9d2), hex(0xeac9b5)];
    let roofs = [hex(0xb1503a), hex(0x8d4a3a), hex(0x5f6b78), hex(0xa8683f)];
    let (wall, tiles) = (walls[dice.pick("wall", 4)], roofs[dice.pick("roof", 4)]);
    let side = stage.light.side(x);
    let depth = 0.3;
    let front = stage.lit(wall, 0.6 + side * 0.3, depth);
    stage.add(
        rectangle(x - w * 0.5, y - wall_h, x + w * 0.5, y),
        plain(front),
        Role::Building,
        depth,
    );
    let gable = polygon(&[
        (x - w * 0.6, y - wall_h + size * 0.02),
        (x - w * 0.32, y - size),
        (x + w * 0.42, y - size),
        (x + w * 0.62, y - wall_h + size * 0.02),
    ]);
    let light = stage.light.clone();
    let snow = stage.scene.season == crate::choices::kinds::Season::Winter;
    let colours = field(move |_, py| {
        let row = ((py - y) / size * 46.0).sin() * 0.06;
        let base = if snow {
            hex(0xf2f6fb)
        } else {
            scale(tiles, 1.0 + row)
        };
        with_alpha(light.through(light.on(base, 0.65 - side * 0.1), depth), 1.0)
    });
    stage.add(gable, colours, Role::Building, depth);
    let lamp = if stage.light.dark > 0.25 {
        hex(0xffd68a)
    } else {
        stage.lit(hex(0x53687a), 0.5, depth)
    };
    for dx in [-0.28, 0.22] {
        let cx = x + dx * w;
        let pane = rectangle(
            cx - w * 0.09,
            y - wall_h * 0.72,
            cx + w * 0.09,
            y - wall_h * 0.36,
        );
        stage.add(pane, plain(lamp), Role::Building, depth);
    }
    let door = stage.lit(hex(0x6b4630), 0.5, depth);
    stage.add(
        rectangle(x - w * 0.08, y - wall_h * 0.55, x + w * 0.06, y),
        plain(door),
        Role::Building,
        depth,
    );
    if stage.light.dark > 0.25 {
        let glow = field(move |px, py| {
            with_alpha(
                hex(0xffc873),
                0.35 * (-(px - x).hypot(py - y + wall_h * 0.5) / size * 3.0).exp(),
            )
        });
        stage.blend(
            ellipse(x, y - wall_h * 0.5, size, size),
            glow,
            Role::Light,
            depth,
            Blend::Glow,
        );
    }
}
