//! What every style is: how the outline of a region is cut, how its colours are laid and how the sheet is finished.

use super::weave::{Cell, Weave};
use crate::paint::canvas::{Canvas, Frame};
use crate::paint::colour::{Rgb, Rgba};
use crate::paint::region::{Field, Region, Role};

/// What a style wants done before it sees pixels.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Look {
    /// How far outlines wander from their true place, in world units.
    pub wobble: f32,
    /// How much detail outlines lose to straight facets, in world units.
    pub facets: f32,
    /// How wide a soft band along outlines the style wants to know about, in world units.
    pub edge: f32,
    /// Width of drawn outlines, in world units.
    pub line: f32,
    /// Throws a shadow this far, in world units.
    pub drop: f32,
    /// The picture is this many pixels small and enlarged without smoothing.
    pub coarse: Option<u32>,
    /// Clouds and light are cut shapes, not soft fields.
    pub cut: bool,
    /// Whether still water mirrors nothing.
    pub dull: bool,
    /// The style asks what its sheet is like at every pixel.
    pub grained: bool,
}

/// One pixel of one region, as a style sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot {
    /// World place in the region's own layer.
    pub x: f32,
    /// World place in the region's own layer.
    pub y: f32,
    /// How much of the pixel the region covers, 0..1.
    pub cover: f32,
    /// Smeared coverage 0..1: below one half outside, above inside.
    pub edge: f32,
    /// World units of one pixel.
    pub grain: f32,
    /// The stroke, facet or cell the pixel belongs to.
    pub cell: Cell,
    /// The one colour that stands for the whole region.
    pub flat: Rgb,
    /// What the sheet is like here, for styles that ask.
    pub paper: [f32; 3],
}

impl Spot {
    /// The region's own colour here, with coverage as opacity.
    pub(crate) fn own(&self, field: &Field) -> Rgba {
        let [r, g, b, a] = field(self.x, self.y);
        [r, g, b, a * self.cover]
    }
}

/// How pictures are made.
pub(crate) trait Style: Send + Sync {
    /// What the style wants prepared.
    fn look(&self) -> Look {
        Look::default()
    }

    /// The strokes, facets or cells the sheet is divided into: for the setting and, finer, for the subjects.
    fn weave(&self) -> Option<[Weave; 2]> {
        None
    }

    /// The colour of the sheet before anything is painted.
    fn sheet(&self, _x: f32, _y: f32) -> [f32; 3] {
        [0.5, 0.5, 0.5]
    }

    /// What the sheet is like at a place, whatever is painted there: how it bleeds, pools and grains. It is worked
    /// out once for a pixel and not for every region that lies there.
    fn paper(&self, _x: f32, _y: f32) -> [f32; 3] {
        [0.0; 3]
    }

    /// The colour of one pixel of a region.
    fn pixel(&self, spot: &Spot, region: &Region) -> Rgba {
        spot.own(&region.field)
    }

    /// The colour of a drawn outline, if the region gets one.
    fn line(&self, _x: f32, _y: f32, _region: &Region) -> Option<Rgba> {
        None
    }

    /// Last work on the whole sheet.
    fn finish(&self, _canvas: &mut Canvas, _frame: &Frame) {}
}

/// Whether a region is scenery in the air, which hand-drawn styles leave without outline.
pub(crate) fn is_airy(role: Role) -> bool {
    matches!(
        role,
        Role::Sky | Role::Cloud | Role::Shadow | Role::Weather | Role::Light
    )
}
