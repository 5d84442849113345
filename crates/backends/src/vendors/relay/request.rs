//! The request as the remote gets it: the documented fields as they were stored, with bytes for pictures, the remote's
//! own names for earlier jobs, characters and models, and no callback.

use atelier_contract::body::Fields;
use atelier_contract::brief::Source;
use atelier_contract::family::SubmitEndpoint;
use atelier_contract::fields::ImageHeader;
use atelier_contract::models::CATALOGUE_FIELD;
use atelier_contract::operation::Request;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde_json::Value;

use super::notes::RelayNotes;
use crate::backend::{Fault, Work};
use crate::http::{MultipartForm, VendorRequest};

/// The smallest picture, to find out whether a field takes pictures inline.
const PIXEL: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
/// How requests spell the field that names a model.
const SPELLINGS: [&str; 2] = ["model", "modelName"];
/// What a model of the operator's may have words of its own for.
const WORDS: [&str; 4] = ["size", "seconds", "duration", "quality"];
/// How a stored request names a picture that came inline.
const KEPT: &str = "inline:";

/// The call that submits a piece of work.
pub(super) fn call(
    submit: &SubmitEndpoint,
    path: String,
    work: &Work,
) -> Result<VendorRequest, Fault> {
    let request = (submit.parse_stored)(work.request.clone())
        .map_err(|refusal| Fault::ours(format!("stored request: {}", refusal.message)))?;
    // Only what the operation itself documents: what was resolved beside it is the service's own.
    let mut fields = request.to_fields();
    fields.retain(|name, _| !matches!(&**name, "hookUrl" | "hook_url" | CATALOGUE_FIELD));
    name_parent(&mut fields, work)?;
    name_characters(&mut fields, request.as_ref(), work)?;
    let pictures = pictures(submit, &fields, work)?;
    name_model(&mut fields, request.as_ref(), work);
    if submit.files.is_empty() {
        return Ok(as_json(path, fields, &pictures));
    }
    Ok(as_form(submit, path, fields, &pictures))
}

/// A picture that goes along as bytes, and where it stands in the request.
struct InlineImage<'a> {
    pointer: String,
    bytes: &'a Bytes,
    is_mask: bool,
}

/// The model by the name that the remote has for it, and with it what the caller said of sizes and lengths in words that only this
/// model knows. The remote knows nothing of it where no route names it: it gets what stands in for it here.
fn name_model(fields: &mut Fields, request: &dyn Request, work: &Work) {
    let Some(model) = &work.brief.vendor_model else {
        return;
    };
    let asked = request.as_asked();
    for name in WORDS {
        if let Some(said) = asked.get(name) {
            fields.insert(name.to_owned(), said.clone());
        }
    }
    let spelling = SPELLINGS.iter().find(|name| fields.contains_key(**name));
    let spelling = spelling.copied().unwrap_or(SPELLINGS[0]);
    fields.insert(spelling.to_owned(), model.as_str().into());
}

/// The parent by the identifier the remote gave it.
fn name_parent(fields: &mut Fields, work: &Work) -> Result<(), Fault> {
    let Some(parent) = work.parent.as_deref() else {
        return Ok(());
    };
    for (name, value) in fields.iter_mut() {
        if value.as_str() == Some(parent.id.as_str()) {
            let notes = RelayNotes::of(parent).ok_or_else(|| made_elsewhere(name))?;
            *value = notes.job_id.into();
        }
    }
    Ok(())
}

/// Characters by the names the remote gave them.
fn name_characters(fields: &mut Fields, request: &dyn Request, work: &Work) -> Result<(), Fault> {
    for job in &work.cited {
        let ours = job.output().and_then(|output| output.alias.as_deref());
        let Some(ours) = ours else { continue };
        let theirs = RelayNotes::of(job).and_then(|notes| notes.username);
        let theirs = theirs.ok_or_else(|| made_elsewhere("prompt"))?;
        for (field, _) in request.prompts() {
            if let Some(Value::String(text)) = fields.get_mut(&field) {
                *text = renamed(text, ours, &theirs);
            }
        }
    }
    Ok(())
}

fn made_elsewhere(field: &str) -> Fault {
    Fault {
        field: Some(field.to_owned()),
        ..Fault::unusable("names something that another back end made")
    }
}

/// The text with `@ours`, in any case and as a whole name, written as `@theirs`.
fn renamed(text: &str, ours: &str, theirs: &str) -> String {
    let goes_on = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('@') {
        let (before, name) = rest.split_at(at + 1);
        out.push_str(before);
        rest = name;
        if let (Some(start), Some(after)) = (name.get(..ours.len()), name.get(ours.len()..))
            && start.eq_ignore_ascii_case(ours)
            && !after.starts_with(goes_on)
        {
            out.push_str(theirs);
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

/// Every picture of the request that can go along as bytes. One in a field that only takes addresses stays one.
fn pictures<'a>(
    submit: &SubmitEndpoint,
    fields: &Fields,
    work: &'a Work,
) -> Result<Vec<InlineImage<'a>>, Fault> {
    let document = Value::Object(fields.clone());
    let mut texts = Vec::new();
    collect_texts(&document, &mut String::new(), &mut texts);
    let mut found = Vec::new();
    for (pointer, text) in texts {
        let Some((bytes, is_mask)) = picture_of(work, text) else {
            continue;
        };
        if text.starts_with(KEPT) || takes_bytes(submit, &document, &pointer) {
            let missing = || Fault::ours("a picture of the request is not here");
            found.push(InlineImage {
                pointer,
                bytes: bytes.ok_or_else(missing)?,
                is_mask,
            });
        }
    }
    Ok(found)
}

fn collect_texts<'a>(value: &'a Value, pointer: &mut String, found: &mut Vec<(String, &'a str)>) {
    let length = pointer.len();
    match value {
        Value::String(text) => found.push((pointer.clone(), text)),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                pointer.push('/');
                pointer.push_str(&index.to_string());
                collect_texts(item, pointer, found);
                pointer.truncate(length);
            }
        }
        Value::Object(fields) => {
            for (name, item) in fields {
                pointer.push('/');
                pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
                collect_texts(item, pointer, found);
                pointer.truncate(length);
            }
        }
        _ => {}
    }
}

/// The picture that a text of the request names: its bytes, when they are here, and whether it is the mask.
fn picture_of<'a>(work: &'a Work, text: &str) -> Option<(Option<&'a Bytes>, bool)> {
    let is_it = |source: &Source| source.image.to_text() == text;
    if work.brief.mask.as_ref().is_some_and(is_it) {
        return Some((work.mask.as_ref(), true));
    }
    let index = work.brief.sources.iter().position(is_it)?;
    Some((work.sources.get(index), false))
}

/// Whether the contract takes a picture inline at a place: a picture put there comes out under its hash.
fn takes_bytes(submit: &SubmitEndpoint, document: &Value, pointer: &str) -> bool {
    let mut probe = document.clone();
    if let Some(place) = probe.pointer_mut(pointer) {
        *place = PIXEL.into();
    }
    let Value::Object(fields) = probe else {
        return false;
    };
    let Ok(parsed) = (submit.parse_stored)(fields) else {
        return false;
    };
    let read = Value::Object(parsed.to_fields());
    let text = read.pointer(pointer).and_then(Value::as_str);
    text.is_some_and(|text| text.starts_with(KEPT))
}

fn media_type(bytes: &[u8]) -> &'static str {
    ImageHeader::read(bytes).map_or("image/png", |header| header.media_type)
}

fn as_json(path: String, fields: Fields, pictures: &[InlineImage<'_>]) -> VendorRequest {
    let mut document = Value::Object(fields);
    for picture in pictures {
        let encoded = STANDARD.encode(picture.bytes);
        // The interface wants masks bare and every other picture with its prefix.
        let text = if picture.is_mask {
            encoded
        } else {
            format!("data:{};base64,{encoded}", media_type(picture.bytes))
        };
        if let Some(place) = document.pointer_mut(&picture.pointer) {
            *place = text.into();
        }
    }
    VendorRequest::post_json(path, &document)
}

fn as_form(
    submit: &SubmitEndpoint,
    path: String,
    mut fields: Fields,
    pictures: &[InlineImage<'_>],
) -> VendorRequest {
    fields.retain(|name, _| !submit.files.contains(&name.as_str()));
    let mut form = MultipartForm::of(&fields);
    for picture in pictures {
        let name = picture.pointer.split('/').nth(1).unwrap_or_default();
        let media_type = media_type(picture.bytes);
        let extension = media_type.rsplit('/').next().unwrap_or("bin");
        let file_name = format!("{name}.{extension}");
        form = form.file(name, &file_name, media_type, picture.bytes.clone());
    }
    let (body, content_type) = form.finish();
    VendorRequest::new(http::Method::POST, path).body(body, content_type)
}

#[cfg(test)]
mod tests {
    use super::renamed;

    #[test]
    fn a_character_is_renamed_as_a_whole_name_only() {
        assert_eq!(
            renamed("@Fox_1 meets @fox_12, me@fox_1.", "fox_1", "owl"),
            "@owl meets @fox_12, me@owl."
        );
        assert_eq!(renamed("a @ b @é", "x", "y"), "a @ b @é");
    }
}
