//! Names and keywords from the Unicode annotations: a third of their bytes lie in the program, and the whole is held only while
//! the lexicon is built from it. The test beneath makes the packed table and holds it against the one that people read.

use crate::packed_text;

const PACKED: &[u8] = include_bytes!("../../assets/words/annotations.z");

/// The table: glyph, group, English name, then one column per language.
pub(super) fn table() -> String {
    packed_text::text(PACKED)
}

#[cfg(test)]
mod tests {
    use miniz_oxide::deflate::compress_to_vec_zlib;

    use super::*;

    /// The promise: what the program reads is what people read. Set `ATELIER_TEST_UPDATE` to pack the table anew.
    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "tests are told what to do by the environment"
    )]
    fn the_packed_table_is_the_one_that_people_read() {
        let read = include_str!("../../assets/words/annotations.tsv");
        if std::env::var("ATELIER_TEST_UPDATE").is_ok() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/words/annotations.z");
            let packed = compress_to_vec_zlib(read.as_bytes(), 10);
            std::fs::write(path, packed).expect("the table is written");
            return;
        }
        let stale = "assets/words/annotations.z is stale; run the test with ATELIER_TEST_UPDATE=1";
        assert!(table() == read, "{stale}");
    }
}
