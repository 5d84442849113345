//! Image inputs that may be an address, a data-URI or bare base64. Bytes given inline are decoded once, judged by
//! their magic bytes and header, and from then on known by their hash: the stored request never carries a file.

use std::borrow::Cow;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::ImageUrl;
use super::values::kind;
use crate::hex::hex;

mod header;

pub use header::ImageHeader;

/// The largest inline image in bytes after decoding.
const MOST_BYTES: usize = 30 * 1024 * 1024;
/// How a stored request names an inline image.
const KEPT_PREFIX: &str = "inline:";

const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Whether text is the name a stored request gives an inline image.
pub(crate) fn is_stored_file_name(text: &str) -> bool {
    text.strip_prefix(KEPT_PREFIX)
        .is_some_and(|hash| hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// An image that came with the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlineData {
    /// SHA-256 of the bytes in hexadecimal; the name it is kept under.
    pub hash: String,
    /// What its header says; `None` once only the hash is left.
    pub header: Option<ImageHeader>,
    /// The bytes; `None` once only the hash is left.
    pub bytes: Option<Arc<[u8]>>,
}

impl InlineData {
    /// Takes the bytes of a file after looking at its header.
    pub fn new(bytes: Vec<u8>) -> Result<Self, &'static str> {
        if bytes.len() > MOST_BYTES {
            return Err("must be at most 30 MiB");
        }
        let header = ImageHeader::read(&bytes)?;
        let hash = hex(&Sha256::digest(&bytes));
        Ok(Self {
            hash,
            header: Some(header),
            bytes: Some(bytes.into()),
        })
    }
}

/// An image as an address or inline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageData {
    /// An address that the service fetches.
    Url(ImageUrl),
    /// Bytes that came with the request.
    Inline(InlineData),
}

impl ImageData {
    /// Decodes a data-URI or bare base64.
    pub fn from_base64(text: &str) -> Result<Self, &'static str> {
        let encoded = match text.split_once(',') {
            Some((prefix, rest))
                if prefix.len() <= 100 && prefix.to_ascii_lowercase().starts_with("data:") =>
            {
                let prefix = prefix.to_ascii_lowercase();
                if !prefix.starts_with("data:image/") || !prefix.ends_with(";base64") {
                    return Err("must be a data-URI of the form data:image/png;base64,…");
                }
                rest
            }
            _ => text,
        };
        let compact: Cow<'_, str> = if encoded.bytes().any(|byte| byte.is_ascii_whitespace()) {
            encoded.split_ascii_whitespace().collect::<String>().into()
        } else {
            encoded.into()
        };
        if compact.len() / 4 * 3 > MOST_BYTES + 3 {
            return Err("must be at most 30 MiB");
        }
        let bytes = LENIENT
            .decode(compact.as_bytes())
            .map_err(|_| "must be base64 of an image file")?;
        InlineData::new(bytes).map(Self::Inline)
    }

    /// The header, when the bytes are here.
    pub fn header(&self) -> Option<ImageHeader> {
        match self {
            Self::Inline(inline) => inline.header,
            Self::Url(_) => None,
        }
    }

    /// The form in results: the address as submitted, or the name of the inline file.
    pub fn to_text(&self) -> String {
        match self {
            Self::Url(url) => url.as_str().to_owned(),
            Self::Inline(inline) => format!("{KEPT_PREFIX}{}", inline.hash),
        }
    }

    fn parse(text: String) -> Result<Self, String> {
        if is_stored_file_name(&text) {
            let hash = text[KEPT_PREFIX.len()..].to_owned();
            return Ok(Self::Inline(InlineData {
                hash,
                header: None,
                bytes: None,
            }));
        }
        if text
            .get(..4)
            .is_some_and(|start| start.eq_ignore_ascii_case("http"))
            && text.contains(':')
        {
            return serde_json::from_value(Value::String(text))
                .map(Self::Url)
                .map_err(|error| error.to_string());
        }
        Self::from_base64(&text).map_err(str::to_owned)
    }
}

/// An image given inline, as a data-URI or bare base64, or as a file that was uploaded here before. Whether an address is
/// one of ours is not to be seen from its form: the brief's rule `kept_only` has it judged where that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlineImage(ImageData);

impl InlineImage {
    /// The image as an input of a brief.
    pub fn data(&self) -> ImageData {
        self.0.clone()
    }
}

impl Serialize for InlineImage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.data().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for InlineImage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(text) => ImageData::parse(text).map(Self).map_err(de::Error::custom),
            other => Err(de::Error::custom(format_args!(
                "must be a data-URI or base64 of an image, is {}",
                kind(&other)
            ))),
        }
    }
}

impl JsonSchema for InlineImage {
    fn schema_name() -> Cow<'static, str> {
        "InlineImage".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "Data-URI or bare base64 of a png, jpeg, webp or gif image, or the URL of a file uploaded to /files/v1.",
            "x-widget": "image",
        })
    }
}

impl Serialize for ImageData {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_text())
    }
}

impl<'de> Deserialize<'de> for ImageData {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(text) => Self::parse(text).map_err(de::Error::custom),
            other => Err(de::Error::custom(format_args!(
                "must be a URL or base64, is {}",
                kind(&other)
            ))),
        }
    }
}

impl JsonSchema for ImageData {
    fn schema_name() -> Cow<'static, str> {
        "ImageData".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "URL, data-URI or bare base64 of a png, jpeg, webp or gif image.",
            "x-widget": "image",
        })
    }
}
