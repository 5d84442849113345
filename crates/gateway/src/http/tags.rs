//! What a caller tags its work with.

use std::sync::Arc;

use atelier_contract::tags::{TAGS, read_tags};
use atelier_contract::{Code, Refusal};
use hyper::header::{HeaderMap, HeaderName};

const HEADER: HeaderName = HeaderName::from_static("x-atelier-tags");

/// The tags of a request, as JSON.
pub(super) fn tags(headers: &HeaderMap) -> Result<Option<Arc<str>>, Refusal> {
    let mut given = headers.get_all(HEADER).iter();
    let (Some(line), second) = (given.next(), given.next()) else {
        return Ok(None);
    };
    let text = std::str::from_utf8(line.as_bytes()).ok();
    let text = text.filter(|_| second.is_none()).ok_or_else(|| {
        let message = "must be one header of UTF-8";
        Refusal::field(Code::InvalidParameter, TAGS, message)
    })?;
    read_tags(text).map(|tags| Some(tags.into()))
}
