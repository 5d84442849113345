//! Addresses: of images the service reads, and of callbacks it posts to. Only the form is judged here; whether the
//! service may go there is the outbound policy's business.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::Value;

/// No address on the wire is longer.
const MOST_CHARACTERS: usize = 2048;

/// Whether text has the form of an http or https address. What the parser would silently strip is refused.
fn check<E: de::Error>(text: &str) -> Result<(), E> {
    let refuse = |why: &str| Err(E::custom(format_args!("must be an http or https URL{why}")));
    if text.chars().count() > MOST_CHARACTERS {
        return refuse(" of at most 2048 characters");
    }
    if text
        .chars()
        .any(|c| c.is_control() || c == ' ' || c == '\\')
    {
        return refuse(" without spaces, backslashes or control characters");
    }
    match url::Url::parse(text) {
        Ok(url) if !matches!(url.scheme(), "http" | "https") => refuse(""),
        Ok(url) if !url.username().is_empty() || url.password().is_some() => {
            refuse(" without a user name")
        }
        Ok(url) if url.host().is_none() => refuse(" with a host"),
        Ok(_) => Ok(()),
        Err(_) => refuse(""),
    }
}

macro_rules! address {
    ($(#[$doc:meta])* $name:ident, $schema:literal, $widget:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// An address of the right form.
            pub fn new(text: &str) -> Option<Self> {
                let good = check::<serde::de::value::Error>(text).is_ok();
                good.then(|| Self(text.to_owned()))
            }

            /// The address as it was given.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                match Value::deserialize(deserializer)? {
                    Value::String(text) => check(&text).map(|()| Self(text)),
                    other => Err(de::Error::custom(format_args!(
                        "must be an http or https URL, is {}",
                        super::values::kind(&other)
                    ))),
                }
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                $schema.into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "format": "uri", "maxLength": 2048, "x-widget": $widget })
            }
        }
    };
}

address!(
    /// Address of an image that the service fetches.
    ImageUrl, "ImageUrl", "image"
);
address!(
    /// URL that receives the result.
    HookUrl, "HookUrl", "address"
);

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_an_http_address_is_refused() {
        let bad = [
            "ftp://example.com/a.png",
            "file:///etc/passwd",
            "example.com/a.png",
            "http://user@example.com/",
            "http://exam\nple.com/",
            "http://example.com\\@evil/",
            " http://example.com/",
            "http://",
        ];
        for text in bad {
            assert!(
                serde_json::from_value::<ImageUrl>(json!(text)).is_err(),
                "{text}"
            );
        }
        assert!(serde_json::from_value::<ImageUrl>(json!("https://example.com/a.png?x=1")).is_ok());
    }

    #[test]
    fn a_callback_address_is_not_a_switch() {
        let error = serde_json::from_value::<HookUrl>(json!(true)).expect_err("true");
        assert_eq!(
            error.to_string(),
            "must be an http or https URL, is a boolean"
        );
    }
}
