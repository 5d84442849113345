//! Signatures of callbacks, in the Standard Webhooks scheme: what the service signs with, and what a receiver checks with.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// What every callback secret begins with.
const SECRET_PREFIX: &str = "whsec_";

/// The `webhook-signature` of a callback: one signature for each live secret, so that receivers may change theirs while
/// two are valid. Text that is not a callback secret signs nothing.
pub fn sign_webhook(secrets: &[&str], id: &str, timestamp_s: i64, body: &[u8]) -> String {
    let timestamp = timestamp_s.to_string();
    let signatures: Vec<String> = secrets
        .iter()
        .filter_map(|secret| webhook_secret_bytes(secret))
        .map(|secret| {
            let mut mac = Hmac::<Sha256>::new_from_slice(&secret).expect("every length is a key");
            for part in [id.as_bytes(), b".", timestamp.as_bytes(), b".", body] {
                mac.update(part);
            }
            format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
        })
        .collect();
    signatures.join(" ")
}

/// A callback secret in its written form; the scheme asks for 24 to 64 random bytes.
pub fn new_webhook_secret(random: &[u8]) -> String {
    format!("{SECRET_PREFIX}{}", STANDARD.encode(random))
}

/// The bytes of a callback secret, or `None` when the text is none.
pub fn webhook_secret_bytes(secret: &str) -> Option<Vec<u8>> {
    let bytes = STANDARD.decode(secret.strip_prefix(SECRET_PREFIX)?).ok()?;
    (!bytes.is_empty()).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schemes_own_example_gives_its_own_signature() {
        let signature = sign_webhook(
            &["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1614265330,
            br#"{"test": 2432232314}"#,
        );
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_secret_is_written_and_read_back() {
        let secret = new_webhook_secret(&[7; 32]);
        assert!(secret.starts_with("whsec_"));
        assert_eq!(webhook_secret_bytes(&secret), Some(vec![7; 32]));
        for bad in ["", "whsec_", "whsec_!", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"] {
            assert_eq!(webhook_secret_bytes(bad), None, "{bad}");
            assert_eq!(sign_webhook(&[bad], "id", 1, b"x"), "");
        }
    }
}
