//! The files in an output whose shape each model chooses: addresses, and files that stand there themselves as `data:`
//! addresses.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::protocol::FileSource;

/// Every file of an output, in order.
pub(crate) fn files_in(output: &Value) -> Vec<FileSource> {
    let mut found = Vec::new();
    collect(output, &mut found);
    found
}

fn collect(output: &Value, found: &mut Vec<FileSource>) {
    match output {
        Value::String(text) if text.starts_with("http") => {
            found.push(FileSource::Address(text.clone()));
        }
        Value::String(text) => found.extend(inline(text)),
        Value::Array(all) => all.iter().for_each(|one| collect(one, found)),
        Value::Object(all) => all.values().for_each(|one| collect(one, found)),
        _ => {}
    }
}

/// The file that a `data:` address is.
fn inline(text: &str) -> Option<FileSource> {
    let (_, encoded) = text.strip_prefix("data:")?.split_once(";base64,")?;
    let bytes = STANDARD.decode(encoded.trim()).ok()?;
    Some(FileSource::File(bytes.into()))
}
