//! A multipart form: text parts become fields, file parts become files. It is read as it arrives, so that no file is
//! held twice.

use std::marker::PhantomData;

use atelier_contract::body::{Fields, USUAL_STRUCTURE};
use atelier_contract::family::{FORM_BODY, SMALL_BODY};
use atelier_contract::pages::{FieldsSpec, PageInput};
use atelier_contract::{Code, Refusal};
use futures_util::stream;
use hyper::header::{CONTENT_TYPE, HeaderMap};
use hyper::http::request::Parts;
use multer::{Field, Multipart};
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::body::{self, BodyReader, UnreadBody, media_essence};
use super::denial::Denial;
use super::page::Input;
use crate::app::App;

/// The most parts a form may have; the largest sensible one has 16 images, a mask and a dozen fields.
const MOST_PARTS: usize = 64;
/// The longest boundary that the standard allows, and what stands before one.
const LONGEST_BOUNDARY: usize = 70;
const DASHES: &[u8] = b"--";

/// What a page reads from a form.
pub(crate) trait FormFields: DeserializeOwned + JsonSchema + Send {
    /// The fields that come as files.
    const FILES: &'static [&'static str];
    /// Whether the same may come as JSON, with files in base64 or by address.
    const OR_JSON: bool;
}

/// A form with the fields of `T`, as it came: its handler knows what to do with files.
pub(crate) struct FormOf<T> {
    pub(crate) fields: Fields,
    pub(crate) files: Vec<(String, Vec<u8>)>,
    shape: PhantomData<fn() -> T>,
}

impl<T: FormFields> Input for FormOf<T> {
    const TAKES: PageInput = PageInput {
        query: None,
        body: if T::OR_JSON {
            Some(FieldsSpec::body::<T>())
        } else {
            None
        },
        form: Some(SchemaGenerator::subschema_for::<T>),
    };

    async fn read(app: &App, head: &Parts, given: UnreadBody) -> Result<Self, Denial> {
        let form = if T::OR_JSON {
            read_either(app, head, given, T::FILES, FORM_BODY).await?
        } else if is_form(&head.headers) {
            read(app, head, given, T::FILES, FORM_BODY).await?
        } else {
            let message = "the body must be a form (Content-Type: multipart/form-data)";
            return Err(Refusal::new(Code::UnsupportedMedia, message).into());
        };
        Ok(Self {
            fields: form.fields,
            files: form.files,
            shape: PhantomData,
        })
    }
}

/// A multipart form that was read to its end.
#[derive(Default)]
pub(super) struct Form {
    pub(super) fields: Fields,
    pub(super) files: Vec<(String, Vec<u8>)>,
}

/// Whether the body says that it is a form.
fn is_form(headers: &HeaderMap) -> bool {
    headers
        .get(CONTENT_TYPE)
        .is_some_and(|value| media_essence(value.as_bytes()) == "multipart/form-data")
}

/// Reads a form, or JSON with the same fields. The interface shows the label of JSON over forms, so that a body under it that
/// begins with the line of a boundary is read as the form it is.
pub(super) async fn read_either(
    app: &App,
    head: &Parts,
    body: UnreadBody,
    names: &[&str],
    most: usize,
) -> Result<Form, Denial> {
    if is_form(&head.headers) {
        return read(app, head, body, names, most).await;
    }
    if body.is_end_stream() {
        return Ok(Form::default());
    }
    body::refuse_foreign_media(&head.headers)?;
    let mut intake = BodyReader::new(app, head, body, most)?;
    if let Some(boundary) = boundary_line(&mut intake).await? {
        return read_parts(intake, boundary, names, most).await;
    }
    Ok(Form {
        fields: body::fields_of(intake, USUAL_STRUCTURE).await?,
        files: Vec::new(),
    })
}

/// The boundary that a body begins with the line of. No JSON begins with two dashes.
async fn boundary_line(intake: &mut BodyReader) -> Result<Option<String>, Denial> {
    if !intake.beginning(DASHES.len()).await?.starts_with(DASHES) {
        return Ok(None);
    }
    let longest = DASHES.len() + LONGEST_BOUNDARY + b"\r\n".len();
    let mut least = DASHES.len() + 1;
    loop {
        let start = intake.beginning(least).await?;
        if let Some(end) = start.windows(2).position(|two| two == b"\r\n") {
            let line = std::str::from_utf8(&start[DASHES.len()..end]).ok();
            let named = line.map(|line| line.trim_end_matches([' ', '\t']));
            return Ok(named.filter(|name| is_boundary(name)).map(str::to_owned));
        }
        if start.len() >= longest || start.len() < least {
            return Ok(None);
        }
        least = start.len() + 1;
    }
}

/// Whether a text may be a boundary.
fn is_boundary(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"'()+_,-./:=? ".contains(&byte);
    (1..=LONGEST_BOUNDARY).contains(&text.len()) && text.bytes().all(fits)
}

async fn read(
    app: &App,
    head: &Parts,
    body: UnreadBody,
    names: &[&str],
    most: usize,
) -> Result<Form, Denial> {
    let boundary = head
        .headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let boundary = boundary.and_then(|value| multer::parse_boundary(value).ok());
    let boundary = boundary.filter(|boundary| (1..=LONGEST_BOUNDARY).contains(&boundary.len()));
    let boundary = boundary.ok_or_else(|| unreadable("Content-Type names no usable boundary"))?;
    read_parts(
        BodyReader::new(app, head, body, most)?,
        boundary,
        names,
        most,
    )
    .await
}

/// Reads the parts of a form.
async fn read_parts(
    mut intake: BodyReader,
    boundary: String,
    names: &[&str],
    most: usize,
) -> Result<Form, Denial> {
    let mut form = Form::default();
    {
        let chunks = stream::unfold(&mut intake, |intake| async {
            let next = intake.next().await.transpose()?;
            Some((next, intake))
        });
        let mut parts = Multipart::new(Box::pin(chunks), boundary);
        let mut count = 0;
        while let Some(part) = parts.next_field().await.map_err(explain)? {
            count += 1;
            if count > MOST_PARTS {
                return Err(unreadable("the form has too many parts").into());
            }
            form.take(part, names, most).await?;
        }
    }
    let (admission, share) = intake.into_share().await?;
    admission.keep(share);
    Ok(form)
}

impl Form {
    async fn take(
        &mut self,
        mut part: Field<'_>,
        names: &[&str],
        most: usize,
    ) -> Result<(), Denial> {
        let name = part.name().unwrap_or_default();
        let name = name.strip_suffix("[]").unwrap_or(name).to_owned();
        if name.is_empty() {
            return Err(unreadable("a part of the form has no name").into());
        }
        let may_be_file = names.contains(&name.as_str());
        if may_be_file && (part.file_name().is_some() || part.content_type().is_some()) {
            let mut file = Vec::new();
            while let Some(chunk) = part.chunk().await.map_err(explain)? {
                file.extend_from_slice(&chunk);
            }
            self.files.push((name, file));
            return Ok(());
        }
        let most = if may_be_file { most } else { SMALL_BODY };
        let text = text_of(part, &name, most).await?;
        Ok(self.add_text(name, text, may_be_file)?)
    }

    /// A field given twice is refused, except where several images are expected.
    fn add_text(&mut self, name: String, text: String, several: bool) -> Result<(), Refusal> {
        let text = Value::String(text);
        match self.fields.get_mut(&name) {
            None => {
                self.fields.insert(name, text);
            }
            Some(Value::Array(items)) if several => items.push(text),
            Some(first) if several => {
                let first_text = first.take();
                *first = Value::Array(vec![first_text, text]);
            }
            Some(_) => return Err(Refusal::invalid(&name, "is given twice")),
        }
        Ok(())
    }
}

async fn text_of(mut part: Field<'_>, name: &str, most: usize) -> Result<String, Denial> {
    let mut text = Vec::new();
    while let Some(chunk) = part.chunk().await.map_err(explain)? {
        text.extend_from_slice(&chunk);
        if text.len() > most {
            return Err(Refusal::invalid(name, "is too long").into());
        }
    }
    let text = String::from_utf8(text).map_err(|_| Refusal::invalid(name, "must be UTF-8 text"))?;
    if text.contains('\0') {
        return Err(Refusal::invalid(name, "must not contain NUL").into());
    }
    Ok(text)
}

/// What the body itself was refused for comes through unchanged.
fn explain(error: multer::Error) -> Denial {
    match error {
        multer::Error::StreamReadFailed(source) => match source.downcast::<Denial>() {
            Ok(denial) => *denial,
            Err(_) => unreadable("it ended early").into(),
        },
        other => unreadable(&other.to_string()).into(),
    }
}

fn unreadable(why: &str) -> Refusal {
    Refusal::new(
        Code::InvalidBody,
        format!("body: not readable as a multipart form: {why}"),
    )
}
