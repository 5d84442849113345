//! The signers that operators describe: a field of the query, and a hash over the call.

use http::{HeaderName, HeaderValue};
use jiff::Timestamp;
use ring::rand::{SecureRandom as _, SystemRandom};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::keyed_hash::{HashAlgorithm, HashText};
use super::text::TextTemplate;
use crate::backend::{Class, Fault};
use crate::field_error::FieldError;
use crate::hex::hex;
use crate::http::{RequestSigner, UnsignedCall};
use crate::vendor::Secret;

/// A credential in the query.
pub(super) struct QuerySigner {
    pub(super) name: String,
    pub(super) key: Secret,
}

impl RequestSigner for QuerySigner {
    fn sign(&self, call: &mut UnsignedCall<'_>, _: u64) -> Result<(), Fault> {
        let is_there = call.url.query_pairs().any(|(name, _)| name == *self.name);
        // Addresses that the vendor gave may have it already.
        if !is_there {
            call.url
                .query_pairs_mut()
                .append_pair(&self.name, self.key.reveal());
        }
        Ok(())
    }
}

/// A hash over the call, with what goes along.
pub(super) struct HashSigner {
    pub(super) key: String,
    pub(super) secret: Secret,
    pub(super) algorithm: HashAlgorithm,
    pub(super) text: HashText,
    pub(super) over: TextTemplate,
    pub(super) headers: Vec<(HeaderName, TextTemplate)>,
    pub(super) query: Vec<(String, TextTemplate)>,
}

impl HashSigner {
    /// Refuses a signature that is sent nowhere.
    pub(super) fn check(&self, place: &str) -> Result<(), FieldError> {
        let texts = self.headers.iter().map(|(_, text)| text);
        let mut texts = texts.chain(self.query.iter().map(|(_, text)| text));
        if texts.any(|text| text.names().any(|name| name == "signature")) {
            return Ok(());
        }
        Err(FieldError::new(
            place,
            "must have {{signature}} in one of them, or in query",
        ))
    }
}

impl RequestSigner for HashSigner {
    fn sign(&self, call: &mut UnsignedCall<'_>, now: u64) -> Result<(), Fault> {
        if self.secret.is_empty() {
            let why = "the credential must be a pair, key:secret";
            return Err(Fault::vendor(Class::Dead, why));
        }
        let mut nonce = [0; 12];
        SystemRandom::new()
            .fill(&mut nonce)
            .map_err(|_| Fault::internal("the machine gives no random bytes"))?;
        let nonce = hex(&nonce);
        let at = Timestamp::from_second(now as i64).unwrap_or_default();
        let host = call.url.host_str().unwrap_or_default();
        let host = match call.url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
        let value = |name: &str| match name {
            "key" => json!(self.key),
            "method" => json!(call.method.as_str()),
            "host" => json!(host),
            "path" => json!(call.url.path()),
            "query" => json!(call.url.query().unwrap_or_default()),
            "body" => json!(String::from_utf8_lossy(call.body)),
            "body_sha256" => json!(hex(&Sha256::digest(call.body))),
            "timestamp" => json!(now),
            "timestamp_ms" => json!(now * 1000),
            "date" => json!(at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()),
            "nonce" => json!(nonce),
            _ => Value::Null,
        };
        let over = self.over.text(&value, |_, text| text).unwrap_or_default();
        let hash = self
            .algorithm
            .of(self.secret.reveal().as_bytes(), over.as_bytes());
        let signature = self.text.write(&hash);
        let value = |name: &str| match name {
            "signature" => json!(signature),
            other => value(other),
        };
        let text = |text: &TextTemplate| text.text(&value, |_, text| text).unwrap_or_default();
        let lines: Vec<_> = self
            .headers
            .iter()
            .map(|(name, line)| (name.clone(), text(line)))
            .collect();
        let fields: Vec<_> = self
            .query
            .iter()
            .map(|(name, field)| (name, text(field)))
            .collect();
        for (name, line) in lines {
            let mut line = HeaderValue::from_str(&line)
                .map_err(|_| Fault::ours("a signature cannot be sent as a header"))?;
            line.set_sensitive(true);
            call.headers.insert(name, line);
        }
        if !fields.is_empty() {
            call.url.query_pairs_mut().extend_pairs(fields);
        }
        Ok(())
    }
}
