//! Low-poly: every region is folded from straight facets with one tone each.

use super::look::{Look, Spot, Style};
use super::weave::Weave;
use crate::paint::colour::{Rgba, saturate, scale, with_alpha};
use crate::paint::region::{Region, Role};

pub(crate) struct LowPoly;

impl Style for LowPoly {
    fn look(&self) -> Look {
        Look {
            facets: 0.012,
            cut: true,
            ..Look::default()
        }
    }

    fn weave(&self) -> Option<[Weave; 2]> {
        Some([Weave::Facets(0.06), Weave::Facets(0.03)])
    }

    fn pixel(&self, spot: &Spot, region: &Region) -> Rgba {
        if matches!(region.role, Role::Light | Role::Weather | Role::Shadow) {
            return spot.own(&region.field);
        }
        let [r, g, b, a] = (region.field)(spot.cell.x, spot.cell.y);
        let tone = 0.82 + spot.cell.tone * 0.34;
        with_alpha(
            saturate(scale([r, g, b], tone), 1.12),
            a.max(f32::from(region.role == Role::Subject) * 0.9) * spot.cover,
        )
    }
}
