//! What a vendor delivered, remembered beside what was made of it, so that its manifest can be kept.

use atelier_media::credentials::{Signatory, carries_manifest};
use bytes::Bytes;

/// What a vendor delivered, as far as it has to be remembered beside a file that was made of it.
pub(crate) fn remembered<'a>(delivered: impl IntoIterator<Item = &'a Bytes>) -> Vec<Bytes> {
    let all = delivered.into_iter();
    let telling = all.filter(|bytes| Signatory::BUILT && carries_manifest(bytes));
    telling.cloned().collect()
}
