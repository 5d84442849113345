//! Sealing of secrets before they are stored: XChaCha20-Poly1305, bound to the place they are stored in, with the id
//! of the key in front so that keys can be changed one record at a time.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};

/// The form this file writes.
const VERSION: &str = "v1";
/// The bytes of a nonce; so many that random ones never meet.
const NONCE_BYTES: usize = 24;

/// A sealed text that does not open: another key, another place, or changed. Which of them is nobody's business.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the sealed value cannot be opened")]
pub struct UnsealError;

/// A key and the id that stands in front of what it sealed.
#[derive(Clone)]
pub struct SealKey {
    pub id: String,
    pub bytes: [u8; 32],
}

/// Seals with the current key; opens with that and with older ones.
#[derive(Clone)]
pub struct Sealer {
    current: SealKey,
    older: Vec<SealKey>,
}

impl Sealer {
    /// Takes the current key and those it has replaced.
    pub fn new(current: SealKey, older: Vec<SealKey>) -> Self {
        Self { current, older }
    }

    /// Seals a secret for one place. `place` is what identifies the record and must be the same at opening; `nonce`
    /// must be fresh and random each time.
    pub fn seal(&self, secret: &[u8], place: &[u8], nonce: [u8; NONCE_BYTES]) -> String {
        let SealKey { id, bytes: key } = &self.current;
        let bound = bound(id, place);
        let payload = Payload {
            msg: secret,
            aad: &bound,
        };
        let sealed = cipher(key)
            .encrypt(&XNonce::from(nonce), payload)
            .expect("a secret is far below the cipher's limit");
        let mut bytes = nonce.to_vec();
        bytes.extend(sealed);
        format!("{VERSION}:{id}:{}", STANDARD_NO_PAD.encode(bytes))
    }

    /// Opens what was sealed for the same place.
    pub fn open(&self, sealed: &str, place: &[u8]) -> Result<Vec<u8>, UnsealError> {
        let (id, encoded) = parts(sealed).ok_or(UnsealError)?;
        let mut keys = std::iter::once(&self.current).chain(&self.older);
        let key = keys.find(|key| key.id == id).ok_or(UnsealError)?;
        let bytes = STANDARD_NO_PAD.decode(encoded).map_err(|_| UnsealError)?;
        let (nonce, rest) = bytes
            .split_first_chunk::<NONCE_BYTES>()
            .ok_or(UnsealError)?;
        let bound = bound(id, place);
        let payload = Payload {
            msg: rest,
            aad: &bound,
        };
        cipher(&key.bytes)
            .decrypt(&XNonce::from(*nonce), payload)
            .map_err(|_| UnsealError)
    }

    /// Whether a sealed text should be sealed anew because its key has been replaced.
    pub fn is_outdated(&self, sealed: &str) -> bool {
        parts(sealed).is_none_or(|(id, _)| id != self.current.id)
    }
}

impl std::fmt::Debug for Sealer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Sealer").field(&self.current.id).finish()
    }
}

fn cipher(key: &[u8; 32]) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(key.into())
}

/// Version, key and place, so that none of them can be swapped under a sealed text.
fn bound(id: &str, place: &[u8]) -> Vec<u8> {
    let mut bound = format!("{VERSION}:{id}:").into_bytes();
    bound.extend_from_slice(place);
    bound
}

fn parts(sealed: &str) -> Option<(&str, &str)> {
    sealed
        .strip_prefix(VERSION)?
        .strip_prefix(':')?
        .split_once(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(id: &str) -> SealKey {
        SealKey {
            id: id.to_owned(),
            bytes: [id.as_bytes()[0]; 32],
        }
    }

    #[test]
    fn a_secret_comes_back_only_in_its_own_place() {
        let sealer = Sealer::new(key("a"), Vec::new());
        let sealed = sealer.seal(b"whsec_top", b"account|1", [9; 24]);
        assert!(sealed.starts_with("v1:a:"));
        assert!(!sealed.contains("whsec"));
        assert_eq!(
            sealer.open(&sealed, b"account|1"),
            Ok(b"whsec_top".to_vec())
        );
        assert_eq!(sealer.open(&sealed, b"account|2"), Err(UnsealError));
        let other = sealer.seal(b"whsec_top", b"account|1", [8; 24]);
        assert_ne!(sealed, other);
    }

    #[test]
    fn every_changed_character_breaks_the_seal() {
        let sealer = Sealer::new(key("a"), Vec::new());
        let sealed = sealer.seal(b"secret", b"place", [1; 24]);
        for place in 0..sealed.len() {
            let mut bytes = sealed.clone().into_bytes();
            bytes[place] = if bytes[place] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(bytes).expect("ascii");
            assert_eq!(sealer.open(&changed, b"place"), Err(UnsealError), "{place}");
        }
        for short in ["", "v1", "v1:a", "v1:a:", "v1:a:AAAA", "v2:a:AAAA"] {
            assert_eq!(sealer.open(short, b"place"), Err(UnsealError), "{short}");
        }
    }

    #[test]
    fn older_keys_open_and_only_the_current_one_seals() {
        let sealed = Sealer::new(key("a"), Vec::new()).seal(b"secret", b"p", [1; 24]);
        let rotated = Sealer::new(key("b"), vec![key("a")]);
        assert_eq!(rotated.open(&sealed, b"p"), Ok(b"secret".to_vec()));
        assert!(rotated.is_outdated(&sealed));
        let again = rotated.seal(b"secret", b"p", [2; 24]);
        assert!(again.starts_with("v1:b:"));
        assert!(!rotated.is_outdated(&again));
        let retired = Sealer::new(key("b"), Vec::new());
        assert_eq!(retired.open(&sealed, b"p"), Err(UnsealError));
        let relabelled = sealed.replace("v1:a:", "v1:b:");
        assert_eq!(rotated.open(&relabelled, b"p"), Err(UnsealError));
    }

    #[test]
    fn nothing_of_a_key_is_printed() {
        assert_eq!(
            format!("{:?}", Sealer::new(key("a"), Vec::new())),
            r#"Sealer("a")"#
        );
    }
}
