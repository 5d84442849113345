//! Hashes with a secret, as vendors write them.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::hmac::{self, Key};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::hex::{bytes_of, hex};

/// A hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum HashAlgorithm {
    Sha1,
    #[default]
    Sha256,
    Sha384,
    Sha512,
}

/// How the bytes of a hash are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum HashText {
    #[default]
    Hex,
    Base64,
    Base64url,
}

impl HashAlgorithm {
    /// The hash of bytes with a secret.
    pub(super) fn of(self, secret: &[u8], bytes: &[u8]) -> Vec<u8> {
        hmac::sign(&self.key(secret), bytes).as_ref().to_vec()
    }

    /// Whether a hash is that of bytes with a secret; how long it takes says nothing.
    pub(super) fn fits(self, secret: &[u8], bytes: &[u8], hash: &[u8]) -> bool {
        hmac::verify(&self.key(secret), bytes, hash).is_ok()
    }

    fn key(self, secret: &[u8]) -> Key {
        let algorithm = match self {
            Self::Sha1 => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
            Self::Sha256 => hmac::HMAC_SHA256,
            Self::Sha384 => hmac::HMAC_SHA384,
            Self::Sha512 => hmac::HMAC_SHA512,
        };
        Key::new(algorithm, secret)
    }
}

impl HashText {
    /// The text of a hash.
    pub(super) fn write(self, hash: &[u8]) -> String {
        match self {
            Self::Hex => hex(hash),
            Self::Base64 => STANDARD.encode(hash),
            Self::Base64url => URL_SAFE_NO_PAD.encode(hash),
        }
    }

    /// The hash of a text.
    pub(super) fn read(self, text: &str) -> Option<Vec<u8>> {
        match self {
            Self::Hex => bytes_of(text),
            Self::Base64 => STANDARD.decode(text).ok(),
            Self::Base64url => URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second example of RFC 4231, and of RFC 2202 for the oldest hash.
    #[test]
    fn the_examples_of_the_standards_come_out() {
        let (secret, text) = (b"Jefe", b"what do ya want for nothing?");
        for (algorithm, hash) in [
            (
                HashAlgorithm::Sha1,
                "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79",
            ),
            (
                HashAlgorithm::Sha256,
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
        ] {
            let made = algorithm.of(secret, text);
            assert_eq!(HashText::Hex.write(&made), hash);
            assert!(algorithm.fits(secret, text, &made) && !algorithm.fits(b"x", text, &made));
            for form in [HashText::Hex, HashText::Base64, HashText::Base64url] {
                assert_eq!(form.read(&form.write(&made)).as_deref(), Some(&*made));
            }
        }
        assert_eq!(HashText::Hex.read("zz"), None);
    }
}
