//! Whether what was posted to the hook of an attempt is the vendor's.

use schemars::JsonSchema;
use serde::Deserialize;

use super::keyed_hash::{HashAlgorithm, HashText};
use crate::clock;
use crate::field_error::FieldError;
use crate::hooks::{self, WebhookRequest};
use crate::vendor::Secret;

/// How posts are signed. Where they are not, the address of the hook, which nobody can guess, is the proof.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum WebhookSettings {
    /// They are not.
    #[default]
    Address,
    /// By the scheme that many vendors share (Standard Webhooks: `webhook-id`, `webhook-timestamp`, `webhook-signature`).
    Standard,
    /// By a hash of the body with a secret.
    Hmac {
        /// The line of the head that carries the hash.
        header: String,
        /// What stands before it, such as `sha256=`.
        #[serde(default)]
        prefix: String,
        #[serde(default)]
        algorithm: HashAlgorithm,
        #[serde(default)]
        text: HashText,
        /// The line that carries the time of the post, which is hashed before the body with a dot between; none when empty.
        #[serde(default)]
        timestamp: String,
    },
}

/// The same with the secret.
pub(super) struct WebhookCheck {
    settings: WebhookSettings,
    secret: Secret,
}

impl WebhookCheck {
    pub(super) fn new(settings: WebhookSettings, secret: &str) -> Result<Self, FieldError> {
        if let WebhookSettings::Hmac { header, .. } = &settings
            && header.is_empty()
        {
            return Err(FieldError::new("settings.webhook.header", "must be given"));
        }
        Ok(Self {
            settings,
            secret: Secret::new(secret),
        })
    }

    /// Whether a post is the vendor's.
    pub(super) fn fits(&self, post: &WebhookRequest) -> bool {
        let secret = self.secret.reveal();
        match &self.settings {
            WebhookSettings::Address => true,
            _ if secret.is_empty() => false,
            WebhookSettings::Standard => hooks::is_signed(post, secret, clock::seconds()),
            WebhookSettings::Hmac {
                header,
                prefix,
                algorithm,
                text,
                timestamp,
            } => {
                let signature = post.header(header);
                let Some(hash) = signature.strip_prefix(prefix.as_str()) else {
                    return false;
                };
                let Some(hash) = text.read(hash) else {
                    return false;
                };
                let mut bytes = Vec::new();
                if !timestamp.is_empty() {
                    if !post.is_fresh(timestamp, clock::seconds()) {
                        return false;
                    }
                    bytes.extend_from_slice(post.header(timestamp).as_bytes());
                    bytes.push(b'.');
                }
                bytes.extend_from_slice(&post.body);
                algorithm.fits(secret.as_bytes(), &bytes, &hash)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use serde_json::{Value, json};

    use super::*;

    fn check(settings: Value) -> WebhookCheck {
        let settings = serde_json::from_value(settings).expect("settings");
        WebhookCheck::new(settings, "topsecret").expect("a check")
    }

    fn post(lines: &[(&'static str, String)]) -> WebhookRequest {
        let mut post = WebhookRequest {
            body: Bytes::from_static(b"{\"a\":1}"),
            ..WebhookRequest::default()
        };
        for (name, value) in lines {
            post.headers.insert(*name, value.parse().expect("a value"));
        }
        post
    }

    #[test]
    fn a_hash_of_the_body_is_a_proof_and_nothing_else_is() {
        let signed = check(json!({"by": "hmac", "header": "x-signature", "prefix": "sha256="}));
        let hash = HashAlgorithm::Sha256.of(b"topsecret", b"{\"a\":1}");
        let line = format!("sha256={}", HashText::Hex.write(&hash));
        assert!(signed.fits(&post(&[("x-signature", line.clone())])));
        assert!(!signed.fits(&post(&[])));
        assert!(!signed.fits(&post(&[("x-signature", line.replace("sha256=", ""))])));
        let mut other = post(&[("x-signature", line)]);
        other.body = Bytes::from_static(b"{\"a\":2}");
        assert!(!signed.fits(&other));
        let bare = WebhookCheck::new(signed.settings.clone(), "").expect("a check");
        assert!(!bare.fits(&post(&[])), "without a secret nothing is signed");
        assert!(check(json!({"by": "address"})).fits(&post(&[])));
    }

    #[test]
    fn a_post_with_a_time_is_taken_while_it_is_fresh() {
        let signed = check(
            json!({"by": "hmac", "header": "x-signature", "text": "base64", "timestamp": "x-time"}),
        );
        let posted = |time: u64| {
            let over = format!("{time}.{{\"a\":1}}");
            let hash = HashAlgorithm::Sha256.of(b"topsecret", over.as_bytes());
            let signature = HashText::Base64.write(&hash);
            post(&[("x-signature", signature), ("x-time", time.to_string())])
        };
        assert!(signed.fits(&posted(clock::seconds())));
        assert!(!signed.fits(&posted(clock::seconds() - 1000)));
    }
}
