//! Receipts: what a job cost its account and which files it made, chained for each account, signed as compact JWS. What is hashed and signed
//! is the text itself, byte for byte.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::hex;
use crate::models::PriceLine;
use crate::quota::Quota;

/// The algorithm of the signatures: Ed25519.
pub const ALGORITHM: &str = "EdDSA";

/// What a receipt says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReceiptPayload {
    /// The version of this form, 1.
    pub v: u32,
    /// The job.
    pub job: String,
    /// The account that paid.
    pub account: String,
    /// The operation, as in `artgen.imagine`.
    pub operation: String,
    /// The model that the job named.
    pub model: Option<String>,
    /// What was charged.
    pub quota: Quota,
    /// The lines of the price, where the model has one.
    pub lines: Vec<PriceLine>,
    /// SHA-256 of each file that was made, in hexadecimal digits.
    pub files: Vec<String>,
    /// When it was charged, by RFC 3339 in UTC.
    pub time: String,
    /// The hash of the account's receipt before this one; null of the first.
    pub previous: Option<String>,
}

impl ReceiptPayload {
    /// The text that is hashed and signed.
    pub fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The hash of a receipt's text, in hexadecimal digits.
pub fn receipt_hash(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

/// What stands before the payload of a signed receipt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedHead {
    /// The algorithm, `EdDSA`.
    pub alg: String,
    /// The key that signed it.
    pub kid: String,
}

/// A signed receipt in its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedReceipt {
    /// Its algorithm and key.
    pub head: SignedHead,
    /// The text of its payload.
    pub text: String,
    /// What is signed: the first two parts as they stand.
    pub signed: String,
    /// The signature itself.
    pub signature: Vec<u8>,
}

impl SignedReceipt {
    /// What a key signs for a payload.
    pub fn unsigned(kid: &str, text: &str) -> String {
        let head = SignedHead {
            alg: ALGORITHM.into(),
            kid: kid.into(),
        };
        let head = serde_json::to_string(&head).unwrap_or_default();
        let part = |text: &str| URL_SAFE_NO_PAD.encode(text);
        format!("{}.{}", part(&head), part(text))
    }

    /// The whole, once it is signed.
    pub fn whole(unsigned: &str, signature: &[u8]) -> String {
        format!("{unsigned}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    /// Reads a compact JWS; `None` when it is none, or of another algorithm.
    pub fn read(whole: &str) -> Option<Self> {
        let (signed, signature) = whole.trim().rsplit_once('.')?;
        let (head, text) = signed.split_once('.')?;
        let decode = |part: &str| URL_SAFE_NO_PAD.decode(part).ok();
        let head: SignedHead = serde_json::from_slice(&decode(head)?).ok()?;
        let read = Self {
            text: String::from_utf8(decode(text)?).ok()?,
            signed: signed.to_owned(),
            signature: decode(signature)?,
            head,
        };
        (read.head.alg == ALGORITHM).then_some(read)
    }

    /// What it says.
    pub fn payload(&self) -> Option<ReceiptPayload> {
        serde_json::from_str(&self.text).ok()
    }
}

/// A public key, as JSON Web Keys have Ed25519.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReceiptKey {
    /// `OKP`.
    pub kty: String,
    /// `Ed25519`.
    pub crv: String,
    /// `EdDSA`.
    pub alg: String,
    /// `sig`.
    #[serde(rename = "use")]
    pub use_for: String,
    /// The name that signatures have it by.
    pub kid: String,
    /// The key in base64url.
    pub x: String,
}

impl ReceiptKey {
    /// A key of 32 bytes under its name.
    pub fn new(kid: &str, public: &[u8]) -> Self {
        Self {
            kty: "OKP".into(),
            crv: "Ed25519".into(),
            alg: ALGORITHM.into(),
            use_for: "sig".into(),
            kid: kid.into(),
            x: URL_SAFE_NO_PAD.encode(public),
        }
    }

    /// The bytes of the key.
    pub fn public(&self) -> Option<Vec<u8>> {
        URL_SAFE_NO_PAD.decode(&self.x).ok()
    }
}

/// All keys that receipts were ever signed with, as a JSON Web Key Set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReceiptKeys {
    /// The newest first.
    pub keys: Vec<ReceiptKey>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signed_receipt_is_read_as_it_was_written() {
        let payload = ReceiptPayload {
            v: 1,
            job: "job".into(),
            account: "account".into(),
            operation: "artgen.imagine".into(),
            model: Some("fox-1".into()),
            quota: Quota::from_thousandths(1_500),
            lines: Vec::new(),
            files: vec!["ab".repeat(32)],
            time: "2026-10-05T12:00:00.123Z".into(),
            previous: None,
        };
        let text = payload.text();
        assert!(
            text.starts_with(r#"{"v":1,"job":"job","account":"#),
            "{text}"
        );
        let unsigned = SignedReceipt::unsigned("key", &text);
        let whole = SignedReceipt::whole(&unsigned, &[7; 64]);
        let read = SignedReceipt::read(&format!("{whole}\n")).expect("a receipt");
        assert_eq!((&read.signed, &read.text), (&unsigned, &text));
        assert_eq!(read.signature, [7; 64]);
        assert_eq!(read.payload(), Some(payload));
        let none = SignedReceipt::unsigned("key", &text)
            .replace("eyJhbGciOiJFZERTQSI", "eyJhbGciOiJub25lIiwi");
        for wrong in [
            "",
            "a.b",
            "a.b.c",
            &*format!("{none}.AAAA"),
            &*whole.replace('.', ""),
        ] {
            assert_eq!(SignedReceipt::read(wrong), None, "{wrong}");
        }
        let key = ReceiptKey::new("key", &[3; 32]);
        assert_eq!(key.public(), Some(vec![3; 32]));
        assert_eq!(receipt_hash("").len(), 64);
    }
}
