//! Outer space: nebula, stars, a planet, perhaps the ground of a moon.

use crate::paint::colour::{from_hsl, hex, mix, scale, screen, with_alpha};
use crate::paint::noise;
use crate::paint::region::{Role, ellipse};
use crate::scene::stage::{Stage, field};
use crate::scene::terrain::Hills;
use crate::scene::{sky, terrain};

pub(crate) fn space(stage: &mut Stage) {
    let seed = stage.dice.noise("nebula");
    let hue = stage.dice.roll("nebula hue");
    let (a, b) = (
        from_hsl([hue, 0.7, 0.42]),
        from_hsl([hue + 0.28, 0.75, 0.5]),
    );
    let clock = stage.clock * 0.3;
    let colours = field(move |x, y| {
        let warp = noise::gradient(x * 1.6 + clock, y * 1.6, seed ^ 4);
        let cloud = noise::fractal(x * 2.0 + warp, y * 2.0 - warp, seed, 5);
        let dust = noise::fractal(x * 4.0 - warp, y * 4.0, seed ^ 8, 3);
        let base = mix(hex(0x05060f), hex(0x0d1030), 0.5 + y * 0.5);
        let gas = scale(
            mix(a, b, 0.5 + dust),
            noise::smooth(-0.15, 0.9, cloud) * 0.95,
        );
        let core = scale(
            hex(0xffe9d0),
            noise::smooth(0.45, 1.0, cloud + dust * 0.4) * 0.6,
        );
        with_alpha(
            scale(
                screen(screen(base, gas), core),
                1.0 - noise::smooth(0.1, 0.7, dust) * 0.35,
            ),
            1.0,
        )
    });
    let path = stage.everything();
    stage.add(path, colours, Role::Sky, 1.0);
    sky::stars(stage);
    let named = stage.scene.subjects.iter().any(|one| one.key == "🪐");
    if !named && !stage.scene.leaves_out("planet") {
        planet(stage);
    }
    if stage.scene.stands_on_ground() {
        terrain::dunes(
            stage,
            Hills {
                name: "moon far",
                crest: 0.22,
                swing: 0.03,
                pitch: 2.0,
                depth: 0.3,
                colour: hex(0x9aa0ae),
            },
        );
        terrain::dunes(
            stage,
            Hills {
                name: "moon near",
                crest: 0.3,
                swing: 0.02,
                pitch: 1.4,
                depth: 0.12,
                colour: hex(0xb4b8c2),
            },
        );
    }
}

fn planet(stage: &mut Stage) {
    let dice = stage.dice;
    let (x, y) = (
        stage.light.side(0.0) * -0.25,
        dice.between("planet y", -0.32, -0.12),
    );
    let r = dice.between("planet r", 0.1, 0.2);
    let (seed, hue) = (dice.noise("planet"), dice.roll("planet hue"));
    let banded = dice.pick("planet kind", 2) == 0;
    let (a, b) = (
        from_hsl([hue, 0.5, 0.42]),
        from_hsl([hue + 0.1, 0.55, 0.68]),
    );
    let sun = stage.light.side(x).signum();
    let ringed = dice.pick("ring", 2) == 0;
    if ringed {
        ring(stage, (x, y), r, -1.0);
    }
    let spin = stage.clock * 0.5;
    let colours = field(move |px, py| {
        let (u, v) = ((px - x) / r, (py - y) / r);
        let z = (1.0 - u * u - v * v).max(0.0).sqrt();
        let surface = if banded {
            noise::fractal(
                u * 0.6 + spin,
                v * 5.0 + noise::gradient(u * 2.0 + spin, v * 3.0, seed) * 0.6,
                seed,
                3,
            )
        } else {
            noise::fractal(
                u * 1.8 / (0.6 + z) + 4.0 + spin,
                v * 1.8 / (0.6 + z),
                seed,
                4,
            )
        };
        let lit = noise::smooth(-0.15, 0.75, u * sun * 0.75 - v * 0.35 + z * 0.45);
        let rim = noise::smooth(0.55, 0.0, z) * lit * 0.5;
        let colour = scale(mix(a, b, 0.5 + surface * 0.9), 0.06 + lit);
        with_alpha(screen(colour, scale(b, rim)), 1.0)
    });
    stage.add(ellipse(x, y, r, r), colours, Role::Light, 0.95);
    if ringed {
        ring(stage, (x, y), r, 1.0);
    }
}

/// Half of a ring: the far half is behind the planet.
fn ring(stage: &mut Stage, (x, y): (f32, f32), r: f32, half: f32) {
    let colours = field(move |px, py| {
        let v = (py - y - (px - x) * 0.25) / 0.26;
        let far = (px - x).hypot(v) / r;
        let here = noise::smooth(1.3, 1.36, far) * noise::smooth(2.1, 2.0, far);
        let gap = 0.55 + 0.45 * (far * 34.0).sin();
        let side = f32::from((v * half) >= 0.0);
        with_alpha(hex(0xe9d8b8), here * gap * side * 0.85)
    });
    stage.add(ellipse(x, y, r * 2.2, r * 1.2), colours, Role::Light, 0.95);
}
