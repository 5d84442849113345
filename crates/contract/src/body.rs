//! From bytes to an object, and from an object to a typed request: the leniency every endpoint shares.
//!
//! Duplicate keys and NUL are refused; `null` and `""` mean absent; unknown fields are ignored; every message
//! carries the field's path in wire names. Only texts may be large: everything else a body is made of is counted while
//! it is read, so that a small body cannot become a large value.

mod bounded;
pub(crate) mod typed;

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::refusal::{Code, Refusal};

/// The fields of a request before they have types.
pub type Fields = Map<String, Value>;

/// Both spellings of the callback address; every job-creating endpoint takes either.
const HOOK_SPELLINGS: [&str; 2] = ["hookUrl", "hook_url"];

/// What a body may become besides its texts, in bytes of memory.
pub const USUAL_STRUCTURE: usize = 1024 * 1024;
/// The longest part of a caller's own text that a message repeats, in characters.
const QUOTED: usize = 200;

/// Reads a JSON object. An empty body is an empty object, so that the first missing field is named.
pub fn parse_object(bytes: &[u8]) -> Result<Fields, Refusal> {
    parse_object_within(bytes, USUAL_STRUCTURE)
}

/// Reads a JSON object that may become so many bytes besides its texts.
pub fn parse_object_within(bytes: &[u8], structure: usize) -> Result<Fields, Refusal> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(Fields::new());
    }
    let parsed = bounded::parse(bytes, structure).map_err(|error| {
        let why = error.to_string();
        Refusal::new(
            Code::InvalidBody,
            format!("body: not readable as JSON: {}", shortened(&why)),
        )
    })?;
    match parsed {
        Value::Object(fields) => Ok(fields),
        _ => Err(Refusal::new(
            Code::InvalidBody,
            "body: must be a JSON object",
        )),
    }
}

/// Gives the fields their types.
pub fn read<T: DeserializeOwned>(mut fields: Fields) -> Result<T, Refusal> {
    settle_hook_spelling(&mut fields);
    drop_absent(&mut fields);
    if fields.values().any(holds_kept_name) {
        refuse_kept_names("", &fields)?;
    }
    read_stored(fields)
}

/// Gives the fields of a stored request their types again.
pub fn read_stored<T: DeserializeOwned>(fields: Fields) -> Result<T, Refusal> {
    typed::read(&Value::Object(fields))
        .map_err(|mistake| explain(&mistake.path(), mistake.message()))
}

/// `false` means no callback, and the first spelling wins when both are given.
fn settle_hook_spelling(fields: &mut Fields) {
    for spelling in HOOK_SPELLINGS {
        if fields.get(spelling) == Some(&Value::Bool(false)) {
            fields.remove(spelling);
        }
    }
    if is_given(fields, HOOK_SPELLINGS[0]) {
        fields.remove(HOOK_SPELLINGS[1]);
    } else if is_given(fields, HOOK_SPELLINGS[1]) {
        fields.remove(HOOK_SPELLINGS[0]);
    }
}

/// Fields under their documented names: another spelling counts only where the documented one is absent.
pub(crate) fn settle_spellings(fields: &mut Fields, spellings: &[(&str, &str)]) {
    for (documented, other) in spellings {
        if let Some(value) = fields.remove(*other)
            && !is_given(fields, documented)
        {
            fields.insert((*documented).to_owned(), value);
        }
    }
}

/// The fields of a query under those of a body: what the body gives wins, in whichever spelling it does.
pub(crate) fn merged(mut query: Fields, mut body: Fields, spellings: &[(&str, &str)]) -> Fields {
    // That a body wants no callback is said before its spellings are settled.
    let no_hook = |name: &&str| body.get(*name) == Some(&Value::Bool(false));
    let own_hook = HOOK_SPELLINGS
        .iter()
        .any(|name| is_given(&body, name) || no_hook(name));
    for fields in [&mut query, &mut body] {
        settle_hook_spelling(fields);
        settle_spellings(fields, spellings);
    }
    if own_hook {
        for name in HOOK_SPELLINGS {
            query.remove(name);
        }
    }
    body.retain(|_, value| !is_absent(value));
    query.extend(body);
    query
}

fn is_given(fields: &Fields, name: &str) -> bool {
    fields.get(name).is_some_and(|value| !is_absent(value))
}

fn is_absent(value: &Value) -> bool {
    matches!(value, Value::Null) || matches!(value, Value::String(text) if text.is_empty())
}

fn drop_absent(fields: &mut Fields) {
    fields.retain(|_, value| !is_absent(value));
    for value in fields.values_mut() {
        match value {
            Value::Object(inner) => drop_absent(inner),
            Value::Array(items) => {
                for item in items {
                    if let Value::Object(inner) = item {
                        drop_absent(inner);
                    }
                }
            }
            _ => {}
        }
    }
}

fn holds_kept_name(value: &Value) -> bool {
    match value {
        Value::String(text) => crate::fields::is_stored_file_name(text),
        Value::Object(inner) => inner.values().any(holds_kept_name),
        Value::Array(items) => items.iter().any(holds_kept_name),
        _ => false,
    }
}

/// A stored request names inline files by their hash; a caller must not, or it would cite a file it never sent.
fn refuse_kept_names(path: &str, fields: &Fields) -> Result<(), Refusal> {
    for (key, value) in fields {
        let here = if path.is_empty() {
            key.clone()
        } else {
            format!("{path}.{key}")
        };
        refuse_kept_name(&here, value)?;
    }
    Ok(())
}

fn refuse_kept_name(path: &str, value: &Value) -> Result<(), Refusal> {
    match value {
        Value::String(text) if crate::fields::is_stored_file_name(text) => {
            Err(Refusal::invalid(path, "must not name a stored file"))
        }
        Value::Object(inner) => refuse_kept_names(path, inner),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .try_for_each(|(index, item)| refuse_kept_name(&format!("{path}[{index}]"), item)),
        _ => Ok(()),
    }
}

/// Turns what the deserialiser says into a refusal that names the field.
fn explain(path: &str, message: &str) -> Refusal {
    let message = &*shortened(message);
    if let Some(rest) = message.strip_prefix("missing field `") {
        let field = rest.split('`').next().unwrap_or_default();
        let full = if path.is_empty() {
            field.to_owned()
        } else {
            format!("{path}.{field}")
        };
        return Refusal::missing(&full);
    }
    if path.is_empty() {
        return Refusal::new(Code::InvalidParameter, message);
    }
    if message == BLANK {
        return Refusal::missing(path);
    }
    let message = message.strip_prefix("invalid type: ").map_or_else(
        || message.to_owned(),
        |rest| match rest.split_once(", expected ") {
            Some((is, wanted)) => format!("must be {wanted}, is {is}"),
            None => rest.to_owned(),
        },
    );
    Refusal::invalid(path, message)
}

/// What a field type says of a value that is there but counts as missing.
pub(crate) const BLANK: &str = "is blank";

/// A message without the caller's megabytes: its beginning and its end say what is wrong.
fn shortened(message: &str) -> Cow<'_, str> {
    if message.len() <= 2 * QUOTED {
        return message.into();
    }
    let begin = message.floor_char_boundary(QUOTED);
    let end = message.ceil_char_boundary(message.len() - QUOTED);
    format!("{}...{}", &message[..begin], &message[end..]).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duplicate_key_is_refused_at_any_depth() {
        for body in [r#"{"a":1,"a":2}"#, r#"{"x":[{"a":1,"a":2}]}"#] {
            let refusal = parse_object(body.as_bytes()).expect_err("duplicate");
            assert!(
                refusal.message.contains("duplicate key `a`"),
                "{}",
                refusal.message
            );
        }
    }

    #[test]
    fn a_message_does_not_repeat_megabytes() {
        #[derive(Debug, serde::Deserialize)]
        struct CountField {
            #[expect(dead_code, reason = "only its type matters")]
            count: u32,
        }
        let long = "x".repeat(1_000_000);
        let fields = parse_object(format!(r#"{{"count":"{long}"}}"#).as_bytes()).expect("JSON");
        let refusal = read::<CountField>(fields).expect_err("text is no number");
        assert_eq!(refusal.field.as_deref(), Some("count"));
        assert!(refusal.message.len() < 1000, "{}", refusal.message.len());
        assert!(
            refusal.message.starts_with("count: must be u32, is string"),
            "{}",
            refusal.message
        );
    }

    #[test]
    fn a_nul_in_text_is_refused() {
        assert!(parse_object(br#"{"a":"x\u0000y"}"#).is_err());
    }

    #[test]
    fn what_is_not_an_object_is_refused() {
        for body in ["null", "[]", "1", "\"x\"", "{", "{} {}", "\u{feff}{}"] {
            assert_eq!(
                parse_object(body.as_bytes()).expect_err(body).code,
                Code::InvalidBody
            );
        }
    }

    #[test]
    fn null_and_empty_text_mean_absent() {
        let mut fields =
            parse_object(br#"{"a":null,"b":"","c":{"d":null,"e":1}}"#).expect("an object");
        drop_absent(&mut fields);
        assert_eq!(Value::Object(fields).to_string(), r#"{"c":{"e":1}}"#);
    }
}
