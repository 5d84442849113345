//! Pictures from the Twemoji set (graphics under CC-BY 4.0, see NOTICE), read as parts and drawn anew by us.

use twemoji_assets::svg::SvgTwemojiAsset;

use super::{Art, vector};

/// The parts of an emoji's picture.
pub(crate) fn art(glyph: &str) -> Option<Art> {
    let bare: String = glyph.chars().filter(|c| *c != '\u{fe0f}').collect();
    let asset =
        SvgTwemojiAsset::from_emoji(glyph).or_else(|| SvgTwemojiAsset::from_emoji(&bare))?;
    let svg: &str = asset;
    Art::new(vector::parts(svg))
}
