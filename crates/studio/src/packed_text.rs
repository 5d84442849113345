//! Tables of text that lie compressed in the program.

use miniz_oxide::inflate::decompress_to_vec_zlib;

/// The text of a table. Each has a test that holds it against what it was made of, so none is damaged.
pub(crate) fn text(table: &[u8]) -> String {
    let bytes = decompress_to_vec_zlib(table).unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}
