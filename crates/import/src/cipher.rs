//! What LiteLLM keeps sealed: values in either of its two forms, under the SHA-256 of its salt key.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use crypto_secretbox::XSalsa20Poly1305;
use crypto_secretbox::aead::{Aead as _, KeyInit as _};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use sha2::{Digest as _, Sha256};

/// What a value of the newer form begins with.
const NEWER: &str = "v2:gcm:";
const NEWER_NONCE: usize = 12;
const OLDER_NONCE: usize = 24;

/// The text of a sealed value; nothing when the key is another one, or the value is not sealed.
pub(crate) fn open(sealed: &str, salt_key: &str) -> Option<String> {
    let key = Sha256::digest(salt_key.as_bytes());
    let plain = if let Some(rest) = sealed.strip_prefix(NEWER) {
        let bytes = URL_SAFE.decode(rest).ok()?;
        let (nonce, text) = bytes.split_at_checked(NEWER_NONCE)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let cipher = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &key).ok()?);
        let mut text = text.to_vec();
        let plain = cipher.open_in_place(nonce, Aad::empty(), &mut text).ok()?;
        plain.to_vec()
    } else {
        let bytes = URL_SAFE.decode(sealed).or_else(|_| STANDARD.decode(sealed));
        let bytes = bytes.ok()?;
        let (nonce, text) = bytes.split_at_checked(OLDER_NONCE)?;
        let nonce: [u8; OLDER_NONCE] = nonce.try_into().ok()?;
        let cipher = XSalsa20Poly1305::new_from_slice(&key).ok()?;
        cipher.decrypt(&nonce.into(), text).ok()?
    };
    String::from_utf8(plain).ok()
}

/// Whether a value looks like one that is sealed: nothing that a person writes is so long and all base64.
pub(crate) fn is_sealed(value: &str) -> bool {
    if value.starts_with(NEWER) {
        return true;
    }
    // A nonce and a tag, before there is any text.
    let least = OLDER_NONCE + 16;
    let decoded = URL_SAFE.decode(value).or_else(|_| STANDARD.decode(value));
    decoded.is_ok_and(|bytes| bytes.len() >= least) && !value.starts_with("sk-")
}

/// A name for a key that shows nothing of it.
pub(crate) fn name_of(key: &str) -> String {
    let hash = Sha256::digest(key.as_bytes());
    let mut name = String::new();
    for byte in hash.iter().take(8) {
        let _ = write!(name, "{byte:02x}");
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLDER_SAMPLE: &str =
        "qx684icjW5IHCp2zZcN5Xzr6rlcmUzPrFKpbC3FlunmAua-ROHtGrBimEIrEnTW4SvFsqVT6iyLyCA==";
    const NEWER_SAMPLE: &str =
        "v2:gcm:v1zTJdpzEieP4S9sleADMsXdqIIYKiM6GLm619dZEVvC6XhfjbGrWf8d8cOjJA==";

    /// Sealed by PyNaCl 1.6.2 and by cryptography 50.0.2, as LiteLLM does it.
    #[test]
    fn both_forms_are_opened_with_the_key_and_with_no_other() {
        for sealed in [OLDER_SAMPLE, NEWER_SAMPLE] {
            assert!(is_sealed(sealed), "{sealed}");
            assert_eq!(
                open(sealed, "sk-salt").as_deref(),
                Some("openai/gpt-image-1")
            );
            assert_eq!(open(sealed, "sk-other"), None);
        }
        for plain in [
            "openai/gpt-image-1",
            "https://api.example.com/v1",
            "sk-1234567890",
            "",
        ] {
            assert!(!is_sealed(plain), "{plain}");
        }
    }
}
