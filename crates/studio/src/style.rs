//! Styles: each decides how the outline of a region is cut, how its colours are laid and how the sheet is finished.

mod blueprint;
pub(crate) mod cel;
pub(crate) mod flair;
mod glass;
mod ink;
mod isometric;
mod line_art;
pub(crate) mod look;
mod low_poly;
mod noir;
mod oil;
mod painting;
mod paper;
mod pixel;
mod poster;
mod synthwave;
mod ukiyo;
mod watercolor;
pub(crate) mod weave;

use crate::choices::kinds::StyleName;
use look::Style;

/// The style of a name.
pub(crate) fn named(name: StyleName) -> Box<dyn Style> {
    match name {
        StyleName::Painting => Box::new(painting::Painting),
        StyleName::Watercolor => Box::new(watercolor::Watercolor),
        StyleName::Oil => Box::new(oil::Oil),
        StyleName::Ink => Box::new(ink::Ink),
        StyleName::Pixel => Box::new(pixel::Pixel),
        StyleName::LowPoly => Box::new(low_poly::LowPoly),
        StyleName::PaperCut => Box::new(paper::Paper),
        StyleName::LineArt => Box::new(line_art::LineArt),
        StyleName::Isometric => Box::new(isometric::IsometricStyle),
        StyleName::Poster => Box::new(poster::Poster),
        StyleName::Synthwave => Box::new(synthwave::Synthwave),
        StyleName::UkiyoE => Box::new(ukiyo::Ukiyo),
        StyleName::Blueprint => Box::new(blueprint::Blueprint),
        StyleName::Noir => Box::new(noir::Noir),
        StyleName::StainedGlass => Box::new(glass::Glass),
        StyleName::Anime => Box::new(cel::Cel),
    }
}
