//! A call as an operator describes it, and the same with the values of a job in it.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::{HeaderName, Method};
use ring::rand::{SecureRandom as _, SystemRandom};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use url::Url;
use url::form_urlencoded::Serializer;

use super::names::{FILE, LIST, NONCE, PICTURES, TemplatePlace, TemplateScope};
use super::pointer::text_of;
use super::template::JsonTemplate;
use super::text::{TextTemplate, ValueOf};
use crate::field_error::FieldError;
use crate::hex::hex;
use crate::http::{MultipartForm, VendorHttp, VendorRequest, encoded};
use crate::inputs::media_type;

/// Lines of a head that belong to the connection, to the body or to the signature.
const RESERVED_LINES: &[&str] = &[
    "accept-encoding",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "host",
    "keep-alive",
    "proxy-authorization",
    "te",
    "trailer",
    "traceparent",
    "transfer-encoding",
    "upgrade",
    "user-agent",
];
/// The places for pictures in one call, a list counted as sixteen.
const MOST_PICTURES: usize = 40;
/// The places for anything in one call.
const MOST_PLACES: usize = 400;

/// How a call is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
enum CallMethod {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

/// A call to the vendor. Texts may have placeholders such as `{{prompt}}`; what has a value that is not given is left out.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RequestSettings {
    /// GET, POST, PUT, PATCH or DELETE; POST with a body, else GET.
    method: Option<CallMethod>,
    /// The path below `base_url`, or a whole address that an answer named, as `{{task.url}}`.
    path: String,
    /// The query.
    #[serde(default)]
    query: BTreeMap<String, String>,
    /// Further lines of the head.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// A JSON body, as a document or as text.
    json: Option<Value>,
    /// A body as of a form in a page.
    form: Option<BTreeMap<String, String>>,
    /// A body in parts: a text for each, or `{"file": "image"}` for a picture.
    multipart: Option<BTreeMap<String, Value>>,
}

/// The same, understood.
#[derive(Clone, Debug)]
pub(super) struct RequestTemplate {
    method: Method,
    path: TextTemplate,
    query: Vec<(String, TextTemplate)>,
    headers: Vec<(HeaderName, TextTemplate)>,
    body: BodyTemplate,
}

#[derive(Clone, Debug)]
enum BodyTemplate {
    Nothing,
    Json(JsonTemplate),
    Form(Vec<(String, TextTemplate)>),
    Parts(Vec<(String, PartTemplate)>),
}

#[derive(Clone, Debug)]
enum PartTemplate {
    Text(TextTemplate),
    /// Each file of a picture, or of a list of them.
    Files(String),
}

/// What a call is filled from.
pub(super) struct CallValues<'a> {
    pub(super) value: ValueOf<'a>,
    /// The bytes of a picture, or of each of a list.
    pub(super) files: &'a dyn Fn(&str) -> Vec<Bytes>,
}

impl<'a> CallValues<'a> {
    /// Of a call that has no pictures.
    pub(super) fn plain(value: ValueOf<'a>) -> Self {
        Self {
            value,
            files: &|_| Vec::new(),
        }
    }
}

impl RequestTemplate {
    /// Understands a call, or says where it cannot be.
    pub(super) fn parse(
        written: &RequestSettings,
        scope: &TemplateScope<'_>,
        http: &VendorHttp,
        place: &str,
    ) -> Result<Self, FieldError> {
        let at = |name: &str| format!("{place}.{name}");
        let body = body(written, scope, place)?;
        let method = match written.method {
            Some(CallMethod::Get) => Method::GET,
            Some(CallMethod::Put) => Method::PUT,
            Some(CallMethod::Patch) => Method::PATCH,
            Some(CallMethod::Delete) => Method::DELETE,
            None if matches!(body, BodyTemplate::Nothing) => Method::GET,
            Some(CallMethod::Post) | None => Method::POST,
        };
        let path = TextTemplate::parse(&written.path, scope, &at("path"))?;
        let query = texts(&written.query, scope, &at("query"))?;
        let headers = headers(&written.headers, scope, &at("headers"))?;
        let template = Self {
            method,
            path,
            query,
            headers,
            body,
        };
        template.check_host(scope, http, &at("path"))?;
        template.check_weight(place)?;
        Ok(template)
    }

    /// Whether an answer names the whole address of the call.
    fn is_named(&self, place: TemplatePlace) -> bool {
        place == TemplatePlace::Task && self.path.alone().is_some()
    }

    /// Refuses a path that leads to another host: the credential would go there.
    fn check_host(
        &self,
        scope: &TemplateScope<'_>,
        http: &VendorHttp,
        place: &str,
    ) -> Result<(), FieldError> {
        if self.is_named(scope.place) {
            return Ok(());
        }
        // Whatever stands in a placeholder is one segment, so any word will do.
        let path = self
            .path
            .text(&|_| Value::from("x"), |_, text| text)
            .unwrap_or_default();
        let url = http.base().join(path.trim_start_matches('/'));
        let url = url.map_err(|why| FieldError::new(place, format!("is not a path: {why}")))?;
        if url.fragment().is_some() {
            return Err(FieldError::new(place, "must have no # in it"));
        }
        if !http.is_own(&url) {
            let why = format!(
                "would send the credential to {}: a path must stay below base_url, or at a host that hosts lists",
                url.host_str().unwrap_or("another host")
            );
            return Err(FieldError::new(place, why));
        }
        Ok(())
    }

    /// Refuses a call that a large job would make far larger.
    fn check_weight(&self, place: &str) -> Result<(), FieldError> {
        let (mut pictures, mut places) = (0, 0);
        self.visit(&mut |name, weight| {
            let base = name.split('.').next().unwrap_or_default();
            places += weight;
            if base == LIST {
                pictures += 16 * weight;
            } else if base == super::names::ITEM || PICTURES.contains(&base) {
                pictures += weight;
            }
        });
        let wrong = |what: &str, most: usize| {
            let why = format!("has places for more than {most} {what}");
            Err(FieldError::new(place, why))
        };
        match () {
            () if pictures > MOST_PICTURES => wrong("pictures", MOST_PICTURES),
            () if places > MOST_PLACES => wrong("values", MOST_PLACES),
            () => Ok(()),
        }
    }

    /// The placeholders of the path.
    pub(super) fn path_names(&self) -> impl Iterator<Item = &str> {
        self.path.names()
    }

    /// Shows every placeholder, with how often its value may come to stand in the call.
    pub(super) fn visit(&self, see: &mut dyn FnMut(&str, usize)) {
        let texts = self.query.iter().map(|(_, text)| text);
        let texts = texts.chain(self.headers.iter().map(|(_, text)| text));
        for text in texts.chain([&self.path]) {
            text.names().for_each(|name| see(name, 1));
        }
        match &self.body {
            BodyTemplate::Nothing => {}
            BodyTemplate::Json(json) => json.visit(1, see),
            BodyTemplate::Form(fields) => {
                let names = fields.iter().flat_map(|(_, text)| text.names());
                names.for_each(|name| see(name, 1));
            }
            BodyTemplate::Parts(parts) => {
                for (_, part) in parts {
                    match part {
                        PartTemplate::Text(text) => text.names().for_each(|name| see(name, 1)),
                        PartTemplate::Files(name) => see(name, 1),
                    }
                }
            }
        }
    }

    /// The call with values in it.
    pub(super) fn filled(&self, values: &CallValues<'_>) -> VendorRequest {
        let nonce = random_name();
        let of: ValueOf<'_> = &|name| match name {
            NONCE => Value::from(nonce.as_str()),
            name => (values.value)(name),
        };
        let values = &CallValues {
            value: of,
            files: values.files,
        };
        let mut path = match self.path.alone().map(of) {
            // The address of a task is the vendor's own word; where it leads is judged when it is asked.
            Some(Value::String(address)) if self.is_address() => address,
            _ => self
                .path
                .text(of, |name, text| segments(name, &text))
                .unwrap_or_default(),
        };
        for (name, text) in &self.query {
            if let Some(text) = text.text(of, |_, text| text) {
                let before = if path.contains('?') { '&' } else { '?' };
                path = format!("{path}{before}{}={}", encoded(name), encoded(&text));
            }
        }
        let mut call = VendorRequest::new(self.method.clone(), path);
        for (name, text) in &self.headers {
            if let Some(text) = text.text(of, |_, text| text) {
                call = call.line(name.clone(), &text);
            }
        }
        match &self.body {
            BodyTemplate::Nothing => call,
            BodyTemplate::Json(json) => call.with_json(&json.filled(of).unwrap_or_default()),
            BodyTemplate::Form(fields) => {
                let mut form = Serializer::new(String::new());
                for (name, text) in fields {
                    if let Some(text) = text.text(of, |_, text| text) {
                        form.append_pair(name, &text);
                    }
                }
                let media_type = "application/x-www-form-urlencoded".to_owned();
                call.body(form.finish(), media_type)
            }
            BodyTemplate::Parts(parts) => {
                let form = parts
                    .iter()
                    .fold(MultipartForm::default(), |form, (name, part)| {
                        part.added(form, name, values)
                    });
                let (body, media_type) = form.finish();
                call.body(body, media_type)
            }
        }
    }

    fn is_address(&self) -> bool {
        self.path
            .alone()
            .is_some_and(|name| name.starts_with("task."))
    }
}

impl PartTemplate {
    fn added(&self, form: MultipartForm, name: &str, values: &CallValues<'_>) -> MultipartForm {
        match self {
            Self::Text(text) => match text.text(values.value, |_, text| text) {
                Some(text) => form.text(name, text),
                None => form,
            },
            Self::Files(picture) => {
                let files = (values.files)(picture).into_iter().enumerate();
                files.fold(form, |form, (index, bytes)| {
                    let media_type = media_type(&bytes);
                    let kind = media_type.rsplit('/').next().unwrap_or("png");
                    form.file(
                        name,
                        &format!("{picture}-{index}.{kind}"),
                        media_type,
                        bytes,
                    )
                })
            }
        }
    }
}

/// A name that no other call has, in the form of a UUID.
fn random_name() -> String {
    let mut bytes = [0_u8; 16];
    // Without random bytes a vendor would refuse the second call, which is found out soon enough.
    let _ = SystemRandom::new().fill(&mut bytes);
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let digits = hex(&bytes);
    let parts = [
        &digits[..8],
        &digits[8..12],
        &digits[12..16],
        &digits[16..20],
        &digits[20..],
    ];
    parts.join("-")
}

/// A value as one segment of a path; names of models may be several.
fn segments(name: &str, text: &str) -> String {
    if name == "model" || name.starts_with("with.") {
        // Some models are named by their owners.
        let segment = |text: &str| encoded(text).replace("%40", "@");
        let segments: Vec<String> = text.split('/').map(segment).collect();
        // A step up would leave the path.
        let steps = segments.into_iter().filter(|one| one != "." && one != "..");
        return steps.collect::<Vec<_>>().join("/");
    }
    encoded(text)
}

fn texts(
    written: &BTreeMap<String, String>,
    scope: &TemplateScope<'_>,
    place: &str,
) -> Result<Vec<(String, TextTemplate)>, FieldError> {
    let text = |(name, text): (&String, &String)| {
        let place = format!("{place}.{name}");
        Ok((name.clone(), TextTemplate::parse(text, scope, &place)?))
    };
    written.iter().map(text).collect()
}

fn headers(
    written: &BTreeMap<String, String>,
    scope: &TemplateScope<'_>,
    place: &str,
) -> Result<Vec<(HeaderName, TextTemplate)>, FieldError> {
    let header = |(name, text): (&String, &String)| {
        let place = format!("{place}.{name}");
        let lower = name.to_lowercase();
        if RESERVED_LINES.contains(&&*lower) {
            let why = match &*lower {
                "authorization" => "is set by sign",
                "content-type" => "is set by the body",
                _ => "cannot be set",
            };
            return Err(FieldError::new(place, why));
        }
        let name = HeaderName::from_bytes(lower.as_bytes())
            .map_err(|_| FieldError::new(&*place, "is not the name of a header"))?;
        if text.chars().any(char::is_control) {
            return Err(FieldError::new(place, "must be one line"));
        }
        Ok((name, TextTemplate::parse(text, scope, &place)?))
    };
    written.iter().map(header).collect()
}

fn body(
    written: &RequestSettings,
    scope: &TemplateScope<'_>,
    place: &str,
) -> Result<BodyTemplate, FieldError> {
    Ok(match (&written.json, &written.form, &written.multipart) {
        (None, None, None) => BodyTemplate::Nothing,
        (Some(json), None, None) => {
            let place = format!("{place}.json");
            let json = match json {
                Value::String(text) => serde_json::from_str(text)
                    .map_err(|why| FieldError::new(&*place, format!("is not JSON: {why}")))?,
                json => json.clone(),
            };
            BodyTemplate::Json(JsonTemplate::parse(&json, scope, &place)?)
        }
        (None, Some(form), None) => {
            BodyTemplate::Form(texts(form, scope, &format!("{place}.form"))?)
        }
        (None, None, Some(written)) => {
            let part = |(name, written): (&String, &Value)| {
                let place = format!("{place}.multipart.{name}");
                Ok((name.clone(), part(written, scope, &place)?))
            };
            BodyTemplate::Parts(written.iter().map(part).collect::<Result<_, _>>()?)
        }
        _ => {
            let why = "has more than one body: there are json, form and multipart";
            return Err(FieldError::new(place, why));
        }
    })
}

fn part(
    written: &Value,
    scope: &TemplateScope<'_>,
    place: &str,
) -> Result<PartTemplate, FieldError> {
    match written {
        Value::Object(fields) => file_part(fields, scope, place),
        one => match text_of(one) {
            Some(text) => TextTemplate::parse(&text, scope, place).map(PartTemplate::Text),
            None => Err(FieldError::new(
                place,
                "must be a text, or {\"file\": \"image\"}",
            )),
        },
    }
}

fn file_part(
    fields: &Map<String, Value>,
    scope: &TemplateScope<'_>,
    place: &str,
) -> Result<PartTemplate, FieldError> {
    let name = fields.get("file").and_then(Value::as_str);
    let (Some(name), 1) = (name, fields.len()) else {
        return Err(FieldError::new(place, "must be {\"file\": \"image\"}"));
    };
    let known = match scope.place {
        TemplatePlace::Order => name == LIST || PICTURES.contains(&name),
        TemplatePlace::Upload => name == FILE,
        _ => false,
    };
    if !known {
        let why = format!(
            "{name} is no picture, there are images, {}",
            PICTURES.join(", ")
        );
        return Err(FieldError::new(place, why));
    }
    Ok(PartTemplate::Files(name.to_owned()))
}

/// Whether an address that an answer named may be asked with the credential.
pub(super) fn is_askable(http: &VendorHttp, address: &str) -> bool {
    let url: Result<Url, _> = http.base().join(address);
    url.is_ok_and(|url| http.is_own(&url))
}
