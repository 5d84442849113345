//! The drawings of the Twemoji set that words can mean, as one compressed table: a quarter of the set, in a tenth of its bytes.
//! The test beneath makes the table and holds it against the set.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::packed_text;

/// Lines of a glyph, a tab and its drawing.
const PACKED: &[u8] = include_bytes!("../../assets/emoji.z");

/// The drawing of a glyph, as the set has it.
pub(super) fn svg(glyph: &str) -> Option<&'static str> {
    static TABLE: OnceLock<HashMap<&'static str, &'static str>> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        text()
            .lines()
            .filter_map(|row| row.split_once('\t'))
            .collect()
    });
    table.get(glyph).copied()
}

/// The table; read once, and kept for as long as the process runs.
fn text() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| packed_text::text(PACKED))
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use miniz_oxide::deflate::compress_to_vec_zlib;
    use twemoji_assets::svg::SvgTwemojiAsset;

    use super::*;
    use crate::words::lexicon::lexicon;

    /// The promise: every word that means a drawing of the set finds the very drawing. Set `ATELIER_TEST_UPDATE` to write the
    /// table anew.
    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "tests are told what to do by the environment"
    )]
    fn the_table_has_the_drawing_of_every_word() {
        let mut expected = String::new();
        for thing in &lexicon().things {
            let bare: String = thing.key.chars().filter(|c| *c != '\u{fe0f}').collect();
            let asset = SvgTwemojiAsset::from_emoji(&thing.key);
            let Some(asset) = asset.or_else(|| SvgTwemojiAsset::from_emoji(&bare)) else {
                continue;
            };
            let svg: &str = asset;
            let svg = svg.trim();
            assert!(!svg.contains(['\n', '\t']), "{}", thing.key);
            let _ = writeln!(expected, "{}\t{svg}", thing.key);
        }
        if std::env::var("ATELIER_TEST_UPDATE").is_ok() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/emoji.z");
            let packed = compress_to_vec_zlib(expected.as_bytes(), 10);
            std::fs::write(path, packed).expect("the table is written");
            return;
        }
        assert!(expected.lines().count() > 1_000);
        let stale = "assets/emoji.z is stale; run the test with ATELIER_TEST_UPDATE=1";
        assert!(text() == expected, "{stale}");
        assert!(svg("🪐").is_some_and(|svg| svg.starts_with("<svg")));
    }
}
