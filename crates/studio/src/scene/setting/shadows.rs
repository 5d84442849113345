//! Soft shadows that things of the setting throw on the ground.

use crate::paint::colour::with_alpha;
use crate::paint::foliage::TreeSite;
use crate::paint::noise;
use crate::paint::region::{Blend, Role, ellipse};
use crate::scene::stage::{Stage, field};

/// The shadow of a tree.
pub(crate) fn under_tree(stage: &mut Stage, spot: TreeSite) {
    let (wide, flat) = (spot.tall * 0.34, spot.tall * 0.06);
    let x = spot.x - stage.light.side(spot.x) * spot.tall * 0.12;
    let y = spot.y;
    let strength = 0.22 + 0.25 * stage.light.direct;
    let colours = field(move |px, py| {
        let away = ((px - x) / wide).hypot((py - y) / flat);
        with_alpha([0.07, 0.09, 0.16], strength * noise::smooth(1.0, 0.2, away))
    });
    stage.blend(
        ellipse(x, y, wide, flat),
        colours,
        Role::Shadow,
        spot.depth,
        Blend::Darken,
    );
}
