//! What a vendor delivered, remembered beside what was made of it, so that its manifest can be kept.

use atelier_media::credentials::{Signatory, carries_manifest};
use bytes::Bytes;

/// What a vendor delivered, as far as it has to be remembered beside a file that was made of it.
pub(crate) fn manifest_origins<'a>(delivered: impl IntoIterator<Item = &'a Bytes>) -> Vec<Bytes> {
    if Signatory::BUILT {
        parts(delivered)
    } else {
        Vec::new()
    }
}

/// All that went into a file, when one of them carries a manifest: whoever reads that a grid has a part must not take it for the
/// only one.
pub(crate) fn parts<'a>(delivered: impl IntoIterator<Item = &'a Bytes>) -> Vec<Bytes> {
    let all: Vec<Bytes> = delivered.into_iter().cloned().collect();
    if all.iter().any(|bytes| carries_manifest(bytes)) {
        all
    } else {
        Vec::new()
    }
}
