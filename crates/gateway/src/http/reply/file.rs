//! Answers that carry a result file: never rendered as a page, never guessed at, cached until the address expires.

use bytes::Bytes;
use hyper::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE,
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Response, StatusCode};

use super::super::payload::{ByteStream, Payload};
use super::super::range::ByteRange;
use super::{NO_REFERRER, NOSNIFF, RESOURCE_POLICY, Reply};

/// Media types a browser may show in place; everything else is handed over as a download.
const SHOWN: [&str; 6] = [
    "image/png",
    "image/jpeg",
    "image/webp",
    "image/gif",
    "video/mp4",
    "video/webm",
];

/// What the headers of a file say.
pub(crate) struct FileHeaders {
    pub(crate) media_type: String,
    pub(crate) bytes: u64,
    pub(crate) etag: String,
    pub(crate) seconds_left: i64,
}

pub(crate) fn whole_file(about: &FileHeaders, flow: Option<ByteStream>) -> Reply {
    let mut reply = file(about, flow, about.bytes);
    reply
        .headers_mut()
        .insert(CONTENT_LENGTH, HeaderValue::from(about.bytes));
    reply
}

/// 206 with one byte range.
pub(crate) fn part_of_file(
    about: &FileHeaders,
    part: ByteRange,
    flow: Option<ByteStream>,
) -> Reply {
    let length = part.last - part.first + 1;
    let mut reply = file(about, flow, length);
    *reply.status_mut() = StatusCode::PARTIAL_CONTENT;
    let range = format!("bytes {}-{}/{}", part.first, part.last, about.bytes);
    let headers = reply.headers_mut();
    headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    if let Ok(range) = HeaderValue::from_str(&range) {
        headers.insert(CONTENT_RANGE, range);
    }
    reply
}

/// The caller already has it.
pub(crate) fn unchanged_file(about: &FileHeaders) -> Reply {
    let mut reply = file(about, None, 0);
    *reply.status_mut() = StatusCode::NOT_MODIFIED;
    reply.headers_mut().remove(CONTENT_TYPE);
    reply
}

/// The part asked for lies outside the file.
pub(crate) fn range_not_satisfiable(about: &FileHeaders) -> Reply {
    let mut reply = file(about, None, 0);
    *reply.status_mut() = StatusCode::RANGE_NOT_SATISFIABLE;
    if let Ok(range) = HeaderValue::from_str(&format!("bytes */{}", about.bytes)) {
        reply.headers_mut().insert(CONTENT_RANGE, range);
    }
    reply
        .headers_mut()
        .insert(CONTENT_LENGTH, HeaderValue::from(0));
    reply
}

fn file(about: &FileHeaders, flow: Option<ByteStream>, length: u64) -> Reply {
    let payload = match flow {
        Some(flow) => Payload::Stream(flow, Some(length)),
        None => Payload::Whole(Bytes::new()),
    };
    let mut reply = Response::new(payload);
    *reply.headers_mut() = headers(about);
    reply
}

fn headers(about: &FileHeaders) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(16);
    let shown = SHOWN.contains(&about.media_type.as_str());
    let media_type = HeaderValue::from_str(&about.media_type);
    let media_type = media_type.unwrap_or(HeaderValue::from_static("application/octet-stream"));
    headers.insert(CONTENT_TYPE, media_type);
    if !shown {
        headers.insert(CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    }
    if let Ok(etag) = HeaderValue::from_str(&about.etag) {
        headers.insert(ETAG, etag);
    }
    let cache = format!("private, max-age={}, immutable", about.seconds_left.max(0));
    if let Ok(cache) = HeaderValue::from_str(&cache) {
        headers.insert(CACHE_CONTROL, cache);
    }
    headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    headers.insert(
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("sandbox; default-src 'none'"),
    );
    headers.insert(REFERRER_POLICY, NO_REFERRER);
    headers.insert(RESOURCE_POLICY, HeaderValue::from_static("cross-origin"));
    headers
}
