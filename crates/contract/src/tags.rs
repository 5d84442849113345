//! What callers tag their work with: a few names and what each says.

use std::collections::BTreeMap;

use crate::refusal::{Code, Refusal};

/// The header that has them.
pub const TAGS: &str = "X-Atelier-Tags";
/// How many a request may have.
const MOST: usize = 8;
/// Characters of a name, and of what it says.
const LONGEST: usize = 64;

/// Reads the tags of a header, as a JSON object of texts.
pub fn read_tags(text: &str) -> Result<String, Refusal> {
    let wrong = |message: String| Refusal::field(Code::InvalidParameter, TAGS, message);
    let mut tags = BTreeMap::new();
    for part in text.split(',') {
        let pair = part
            .split_once('=')
            .map(|(name, value)| (name.trim(), value.trim()));
        let Some((name, value)) = pair.filter(|(name, value)| is_name(name) && !value.is_empty())
        else {
            let message = "must be like `project=a,customer=b`: names of letters, digits, `.`, `_` and `-`, each with a value";
            return Err(wrong(message.to_owned()));
        };
        for long in [name, value] {
            if long.chars().count() > LONGEST {
                return Err(wrong(format!(
                    "a name or value has more than {LONGEST} characters"
                )));
            }
        }
        if tags.insert(name, value).is_some() {
            return Err(wrong(format!("`{name}` is given twice")));
        }
        if tags.len() > MOST {
            return Err(wrong(format!("must be at most {MOST} tags")));
        }
    }
    Ok(serde_json::to_string(&tags).unwrap_or_default())
}

fn is_name(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    !text.is_empty() && text.bytes().all(allowed)
}

/// Reads a filter by a tag, `name:value`.
pub fn read_tag_filter(text: &str) -> Result<(String, String), Refusal> {
    let pair = text
        .split_once(':')
        .filter(|(name, value)| is_name(name) && !value.is_empty());
    let pair = pair.ok_or_else(|| Refusal::invalid("tag", "must be like `project:a`"))?;
    Ok((pair.0.to_owned(), pair.1.to_owned()))
}

/// Refuses what is no name of a tag.
pub fn check_tag_name(field: &str, name: &str) -> Result<(), Refusal> {
    if is_name(name) && name.len() <= LONGEST {
        return Ok(());
    }
    let message = "after `tag:` must be the name of a tag";
    Err(Refusal::invalid(field, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_names_and_values() {
        let read = |text: &str| read_tags(text).ok();
        assert_eq!(
            read("b=2, a = x y ").as_deref(),
            Some(r#"{"a":"x y","b":"2"}"#)
        );
        assert_eq!(read("a=b=c").as_deref(), Some(r#"{"a":"b=c"}"#));
        assert_eq!(read("a=\"}").as_deref(), Some(r#"{"a":"\"}"}"#));
        let eight: Vec<String> = (0..8).map(|number| format!("t{number}=x")).collect();
        assert!(read(&eight.join(",")).is_some());
        assert!(read(&format!("a={}", "ü".repeat(64))).is_some());
        let long = "n".repeat(65);
        for wrong in [
            "",
            "a",
            "=b",
            "a=",
            "a=1,a=2",
            "a=1,,b=2",
            "a b=1",
            "ü=1",
            "a=1,",
            &format!("{long}=1"),
            &format!("a={long}"),
            &format!("{},t8=x", eight.join(",")),
        ] {
            let refusal = read_tags(wrong).expect_err(wrong);
            assert_eq!(
                (refusal.code, refusal.field.as_deref()),
                (Code::InvalidParameter, Some(TAGS))
            );
        }
    }

    #[test]
    fn a_filter_names_a_tag_and_what_it_says() {
        assert_eq!(read_tag_filter("a:b:c"), Ok(("a".into(), "b:c".into())));
        for wrong in ["", "a", ":b", "a:", "a b:c"] {
            assert!(read_tag_filter(wrong).is_err(), "{wrong}");
        }
    }
}
