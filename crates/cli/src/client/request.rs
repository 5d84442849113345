//! One call, ready to be sent as often as it takes.

use atelier_contract::catalogue::ApiOperation;
use atelier_contract::pages::Method;
use reqwest::multipart::{Form, Part as FormPart};
use reqwest::{Client, RequestBuilder};
use serde_json::{Map, Value};

use super::fault::{ExitReason, Fault};
use super::file::UploadFile;

/// What is sent in the body.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RequestBody {
    Nothing,
    Json(Map<String, Value>),
    Form(Vec<(String, FormValue)>),
}

/// A part of a form.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FormValue {
    Text(String),
    File(UploadFile),
}

/// A request as it is sent to the service.
#[derive(Clone, Debug)]
pub(crate) struct ApiRequest {
    /// The path with everything at its placeholders.
    pub(crate) path: String,
    /// Fields of the query.
    pub(crate) query: Vec<(String, String)>,
    pub(crate) sent: RequestBody,
    /// The caller's name for this very call.
    pub(crate) idempotency_key: Option<String>,
    /// Whether sending it twice does what sending it once does.
    pub(crate) repeatable: bool,
}

impl ApiRequest {
    /// A call without fields.
    pub(crate) fn plain(operation: &ApiOperation, path: String) -> Self {
        Self {
            path,
            query: Vec::new(),
            sent: RequestBody::Nothing,
            idempotency_key: None,
            repeatable: !matches!(operation.method, Method::Post | Method::Patch),
        }
    }

    /// One try of it.
    pub(super) fn request(
        &self,
        http: &Client,
        base: &str,
        operation: &ApiOperation,
    ) -> RequestBuilder {
        let method = match operation.method {
            Method::Get => reqwest::Method::GET,
            Method::Post => reqwest::Method::POST,
            Method::Put => reqwest::Method::PUT,
            Method::Patch => reqwest::Method::PATCH,
            Method::Delete => reqwest::Method::DELETE,
        };
        let mut address = format!("{base}{}", self.path);
        if !self.query.is_empty() {
            let mut query = url::form_urlencoded::Serializer::new(String::new());
            query.extend_pairs(&self.query);
            address = format!("{address}?{}", query.finish());
        }
        let mut request = http.request(method, address);
        if let Some(key) = &self.idempotency_key {
            request = request.header("idempotency-key", key);
        }
        match &self.sent {
            RequestBody::Nothing => request,
            RequestBody::Json(fields) => request.json(fields),
            RequestBody::Form(parts) => request.multipart(form(parts)),
        }
    }
}

fn form(parts: &[(String, FormValue)]) -> Form {
    let mut form = Form::new();
    for (name, part) in parts {
        form = match part {
            FormValue::Text(text) => form.text(name.clone(), text.clone()),
            FormValue::File(file) => {
                let part = FormPart::bytes(file.bytes.clone()).file_name(file.name.clone());
                // The types are ours and well formed.
                let part = part.mime_str(file.media_type);
                form.part(name.clone(), part.unwrap_or_else(|_| FormPart::text("")))
            }
        };
    }
    form
}

/// What a failed request means.
#[expect(clippy::needless_pass_by_value, reason = "as errors are handed on")]
pub(crate) fn connection_fault(error: reqwest::Error) -> Fault {
    let place = error.url().map(|url| url.origin().ascii_serialization());
    let place = place.unwrap_or_default();
    let mut cause: &dyn std::error::Error = &error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    Fault::new(
        ExitReason::Unavailable,
        format!("{place} cannot be reached: {cause}"),
    )
}
