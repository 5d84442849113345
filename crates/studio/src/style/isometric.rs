//! Isometric: clean faces in three tones, subjects as flat as the blocks they stand among.

use super::look::{Look, Spot, Style};
use crate::paint::colour::{Rgba, mix, saturate, with_alpha};
use crate::paint::region::{Region, Role};

/// Blocks on a tile.
pub(crate) struct IsometricStyle;

impl Style for IsometricStyle {
    fn look(&self) -> Look {
        Look {
            cut: true,
            dull: true,
            ..Look::default()
        }
    }

    fn pixel(&self, spot: &Spot, region: &Region) -> Rgba {
        let [r, g, b, a] = (region.field)(spot.x, spot.y);
        let colour = match region.role {
            Role::Subject => saturate(mix(spot.flat, [r, g, b], 0.35), 1.12),
            _ => [r, g, b],
        };
        with_alpha(colour, a * spot.cover)
    }
}
