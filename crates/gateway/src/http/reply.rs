//! Replies: their status, envelope and headers. Which status a refusal has is said by its code, in the contract.

pub(crate) mod file;

use std::io;
use std::sync::LazyLock;

use atelier_contract::FAMILIES;
use atelier_contract::family::{RefusedData, refusal_body};
use atelier_contract::picture_chats::{GeminiAction, gemini_error};
use atelier_contract::video_tasks::{jimeng_error, kling_error};
use atelier_contract::{Code, Refusal};
use bytes::Bytes;
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    ETAG, HeaderMap, HeaderName, HeaderValue, LOCATION, REFERRER_POLICY, RETRY_AFTER,
    X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Response, StatusCode};
use serde::Serialize;
use serde_json::{Map, Value};

use super::denial::Denial;
use super::payload::{ByteStream, Payload};
use super::request_id;

pub(crate) type Reply = Response<Payload>;

const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
/// Asks proxies to pass on what comes bit by bit.
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
const NO_BUFFERING: HeaderValue = HeaderValue::from_static("no");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const NOTHING_ALLOWED: HeaderValue =
    HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
const PRINTED_PAGE: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'",
);
const NO_REFERRER: HeaderValue = HeaderValue::from_static("no-referrer");
const SAME_ORIGIN: HeaderValue = HeaderValue::from_static("same-origin");

/// How refusals under a path look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RefusalShape {
    /// The service's own envelope: status, message, data.
    Usual,
    /// The same, where `data` is `{}` instead of null.
    EmptyData,
    /// The usual envelope and the vendor's `error` object beside it.
    Vendor,
    /// The same with Google's `error` object.
    Gemini,
    /// As `Vendor`, with a number of Kling's as `code`.
    Kling,
    /// As `Vendor`, with a number of Jimeng's as `code`.
    Jimeng,
}

impl RefusalShape {
    /// The shape of refusals under a path.
    pub(crate) fn of(path: &str) -> Self {
        if is_gemini(path) {
            return Self::Gemini;
        }
        if path.starts_with("/v1/") || path.starts_with("/imgmodel/v1/") {
            return Self::Vendor;
        }
        let own = [("/kling/", Self::Kling), ("/jimeng/", Self::Jimeng)];
        if let Some((_, shape)) = own.into_iter().find(|(prefix, _)| path.starts_with(prefix)) {
            return shape;
        }
        let family = FAMILIES.iter().find(|family| {
            family.refused_data == RefusedData::Empty && path.starts_with(family.prefix)
        });
        if family.is_some() {
            Self::EmptyData
        } else {
            Self::Usual
        }
    }
}

/// Whether a path is one of Gemini's calls. Its newer clients call what is no beta, below the paths of OpenAI's models.
pub(super) fn is_gemini(path: &str) -> bool {
    let call = path.strip_prefix("/v1/models/");
    path.starts_with("/v1beta/") || call.is_some_and(|call| GeminiAction::split(call).is_ok())
}

/// Bytes that already are JSON.
pub(crate) fn json_bytes(bytes: Bytes) -> Reply {
    let mut reply = Response::new(Payload::Whole(bytes));
    *reply.headers_mut() = API_HEADERS.clone();
    reply
}

/// Texts of so many bytes are long: writing them takes milliseconds.
const LONG: usize = 1 << 20;

/// Whether the text of a value is long; no more of it is written than tells that.
pub(super) fn is_long(value: &impl Serialize) -> bool {
    struct SizeProbe(usize);
    impl io::Write for SizeProbe {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.saturating_sub(bytes.len());
            match self.0 {
                0 => Err(io::ErrorKind::WriteZero.into()),
                _ => Ok(bytes.len()),
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    serde_json::to_writer(SizeProbe(LONG), value).is_err()
}

/// Any value as JSON, without an envelope.
pub(crate) fn json_of(value: &impl Serialize) -> Reply {
    match serde_json::to_vec(value) {
        Ok(bytes) => json_bytes(bytes.into()),
        Err(_) => denied(
            RefusalShape::Usual,
            &Refusal::new(Code::Internal, "the answer could not be written").into(),
        ),
    }
}

/// The usual envelope around `data`.
pub(crate) fn success(data: impl Serialize) -> Reply {
    #[derive(Serialize)]
    struct Envelope<T> {
        status: &'static str,
        message: &'static str,
        data: T,
    }
    json_of(&Envelope {
        status: "SUCCESS",
        message: "success",
        data,
    })
}

/// The usual envelope around one page of a list.
pub(crate) fn page<T: Serialize>(data: &[T], total: i64, page: i64, limit: i64) -> Reply {
    listed(data, total, page, limit, NextCursor::Unsaid)
}

/// The same of a list that says where it goes on, or that it does not.
pub(crate) fn continued_page<T: Serialize>(
    data: &[T],
    total: i64,
    page: i64,
    limit: i64,
    next: Option<&str>,
) -> Reply {
    listed(data, total, page, limit, NextCursor::Said(next))
}

/// Where a list goes on, of those that say it; null at the end.
#[derive(Serialize)]
#[serde(untagged)]
enum NextCursor<'a> {
    Unsaid,
    Said(Option<&'a str>),
}

impl NextCursor<'_> {
    const fn is_unsaid(&self) -> bool {
        matches!(self, Self::Unsaid)
    }
}

fn listed<T: Serialize>(
    data: &[T],
    total: i64,
    page: i64,
    limit: i64,
    next: NextCursor<'_>,
) -> Reply {
    #[derive(Serialize)]
    struct ListEnvelope<'a, T> {
        status: &'static str,
        message: &'static str,
        data: &'a [T],
        total: i64,
        page: i64,
        limit: i64,
        #[serde(skip_serializing_if = "NextCursor::is_unsaid")]
        next: NextCursor<'a>,
    }
    json_of(&ListEnvelope {
        status: "SUCCESS",
        message: "success",
        data,
        total,
        page,
        limit,
        next,
    })
}

/// Another page to look at.
pub(crate) fn see_other(path: &'static str) -> Reply {
    let mut reply = Response::new(Payload::Whole(Bytes::new()));
    *reply.status_mut() = StatusCode::SEE_OTHER;
    *reply.headers_mut() = api_headers(JSON);
    reply.headers_mut().remove(CONTENT_TYPE);
    reply
        .headers_mut()
        .insert(LOCATION, HeaderValue::from_static(path));
    reply
}

pub(crate) fn text(media_type: &'static str, text: String) -> Reply {
    let mut reply = Response::new(Payload::Whole(text.into()));
    *reply.headers_mut() = api_headers(HeaderValue::from_static(media_type));
    reply
}

/// JSON that begins before it is known how it ends.
pub(super) fn late_json(flow: ByteStream) -> Reply {
    let mut reply = Response::new(Payload::Stream(flow, None));
    *reply.headers_mut() = API_HEADERS.clone();
    reply.headers_mut().insert(ACCEL_BUFFERING, NO_BUFFERING);
    reply
}

/// A file that is made while it is sent, for the caller to keep.
pub(crate) fn download(media_type: &'static str, name: &str, flow: ByteStream) -> Reply {
    let mut reply = Response::new(Payload::Stream(flow, None));
    *reply.headers_mut() = api_headers(HeaderValue::from_static(media_type));
    let headers = reply.headers_mut();
    headers.insert(ACCEL_BUFFERING, NO_BUFFERING);
    let disposition = format!("attachment; filename=\"{name}\"");
    if let Ok(disposition) = HeaderValue::from_str(&disposition) {
        headers.insert(CONTENT_DISPOSITION, disposition);
    }
    reply
}

/// A file that never changes again, for the caller to keep.
pub(crate) fn kept_file(
    media_type: &'static str,
    name: &str,
    content: String,
    hash: &str,
) -> Reply {
    let mut reply = text(media_type, content);
    let headers = reply.headers_mut();
    let disposition = format!("attachment; filename=\"{name}\"");
    if let Ok(disposition) = HeaderValue::from_str(&disposition) {
        headers.insert(CONTENT_DISPOSITION, disposition);
    }
    put_etag(headers, hash);
    reply
}

/// A page that is shown and printed: it has its own style and its own picture, and loads nothing.
pub(crate) fn printed_page(html: String, hash: &str) -> Reply {
    let mut reply = text("text/html; charset=utf-8", html);
    reply
        .headers_mut()
        .insert(CONTENT_SECURITY_POLICY, PRINTED_PAGE);
    put_etag(reply.headers_mut(), hash);
    reply
}

fn put_etag(headers: &mut HeaderMap, hash: &str) {
    if let Ok(etag) = HeaderValue::from_str(&format!("\"{hash}\"")) {
        headers.insert(ETAG, etag);
    }
}

/// A stream of server-sent events.
pub(crate) fn events(flow: ByteStream) -> Reply {
    let mut reply = Response::new(Payload::Stream(flow, None));
    *reply.headers_mut() = EVENT_HEADERS.clone();
    reply
}

/// Taken, and nothing to say.
pub(crate) fn accepted() -> Reply {
    let mut reply = no_content();
    *reply.status_mut() = StatusCode::ACCEPTED;
    reply
}

/// Nothing more will come: an event stream must not be opened again.
pub(crate) fn no_content() -> Reply {
    let mut reply = Response::new(Payload::Whole(Bytes::new()));
    *reply.status_mut() = StatusCode::NO_CONTENT;
    *reply.headers_mut() = api_headers(JSON);
    reply.headers_mut().remove(CONTENT_TYPE);
    reply
}

/// A refusal in the shape of its path.
pub(crate) fn denied(shape: RefusalShape, denial: &Denial) -> Reply {
    let refusal = &denial.refusal;
    let mut reply = json_of(&denied_body(shape, refusal));
    *reply.status_mut() =
        StatusCode::from_u16(refusal.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = reply.headers_mut();
    if let Some(seconds) = denial.retry_after_s {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    if let Some(allow) = denial
        .allow
        .as_deref()
        .and_then(|allow| HeaderValue::from_str(allow).ok())
    {
        headers.insert(ALLOW, allow);
    }
    if denial.hang_up {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    reply
}

/// The body of a refusal in the shape of its path.
pub(crate) fn denied_body(shape: RefusalShape, refusal: &Refusal) -> Map<String, Value> {
    let data = if shape == RefusalShape::EmptyData {
        RefusedData::Empty
    } else {
        RefusedData::Null
    };
    let mut body = refusal_body(data, refusal);
    if matches!(
        shape,
        RefusalShape::Vendor | RefusalShape::Kling | RefusalShape::Jimeng
    ) {
        body.insert("error".into(), vendor_error(refusal).into());
    }
    body.extend(match shape {
        RefusalShape::Gemini => gemini_error(refusal),
        RefusalShape::Kling => kling_error(refusal),
        RefusalShape::Jimeng => jimeng_error(refusal),
        _ => Map::new(),
    });
    body
}

/// The error object that the vendor's own client libraries look for.
fn vendor_error(refusal: &Refusal) -> Map<String, Value> {
    let kind = match refusal.code {
        Code::InsufficientQuota | Code::KeyLimit => "insufficient_quota",
        Code::ContentRejected | Code::BannedPrompt => "image_generation_user_error",
        Code::RateLimited | Code::QueueFull => "rate_limit_error",
        Code::Unauthorized => "authentication_error",
        Code::Forbidden => "permission_error",
        code if code.status() >= 500 => "server_error",
        _ => "invalid_request_error",
    };
    let mut error = Map::new();
    error.insert("message".into(), refusal.message.clone().into());
    error.insert("type".into(), kind.into());
    error.insert("param".into(), refusal.field.clone().into());
    error.insert("code".into(), refusal.code.word().into());
    error
}

/// The headers of every answer that is not a file, with a place for the one that each answer has of its own: to copy them
/// costs a fifth of what it costs to put them together.
static API_HEADERS: LazyLock<HeaderMap> = LazyLock::new(|| {
    let mut headers = HeaderMap::with_capacity(12);
    headers.insert(CONTENT_TYPE, JSON);
    headers.insert(CACHE_CONTROL, NO_STORE);
    headers.insert(X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    headers.insert(CONTENT_SECURITY_POLICY, NOTHING_ALLOWED);
    headers.insert(REFERRER_POLICY, NO_REFERRER);
    headers.insert(RESOURCE_POLICY, SAME_ORIGIN);
    headers.insert(request_id::HEADER, HeaderValue::from_static("-"));
    headers
});

/// Those of a stream, which keeps them for as long as it is open: a copy is no larger than they are.
static EVENT_HEADERS: LazyLock<HeaderMap> = LazyLock::new(|| {
    let mut headers = api_headers(HeaderValue::from_static("text/event-stream"));
    headers.insert(ACCEL_BUFFERING, NO_BUFFERING);
    headers
});

/// The same for another type of content.
pub(super) fn api_headers(content_type: HeaderValue) -> HeaderMap {
    let mut headers = API_HEADERS.clone();
    headers.insert(CONTENT_TYPE, content_type);
    headers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_status_that_http_knows() {
        for code in Code::ALL {
            let reply = denied(RefusalShape::Usual, &Refusal::new(*code, "why").into());
            assert_eq!(reply.status().as_u16(), code.status());
        }
    }

    #[test]
    fn only_the_vendor_paths_carry_the_vendor_object() {
        for path in [
            "/v1/images/generations",
            "/v1/models",
            "/v1/videos/a/remix",
            "/imgmodel/v1/images/generations",
        ] {
            assert_eq!(RefusalShape::of(path), RefusalShape::Vendor, "{path}");
        }
        assert_eq!(
            RefusalShape::of("/imgmodel/chat-image/generations"),
            RefusalShape::Usual
        );
        for (path, code) in [
            (
                "/v1beta/models/a:generateContent",
                "invalid_parameter".into(),
            ),
            ("/v1/models/a:generateContent", "invalid_parameter".into()),
            ("/kling/v1/videos/text2video", Value::from(1201)),
            ("/jimeng/", Value::from(50_400)),
        ] {
            let refusal = Refusal::invalid("size", "must be 256x256");
            let body = denied_body(RefusalShape::of(path), &refusal);
            assert_eq!(body["code"], code, "{path}");
            assert_eq!(body["error"]["message"], "size: must be 256x256", "{path}");
        }
        let error = vendor_error(&Refusal::invalid("size", "must be 256x256"));
        assert_eq!(error["type"], "invalid_request_error");
        assert_eq!(error["param"], "size");
        assert_eq!(error["code"], "invalid_parameter");
    }
}
