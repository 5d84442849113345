//! API keys, operators' tokens and words of sessions: `at_`, `op_` or `se_`, 32 random base62 characters, a six-character checksum. Only the hash
//! is kept.

use atelier_contract::hex;
use sha2::{Digest, Sha256};

use crate::ids::random_bytes;

const KEY: &str = "at_";
const OPERATOR: &str = "op_";
const SESSION: &str = "se_";
const SECRET: usize = 32;
const CHECK: usize = 6;
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

pub fn generate() -> String {
    with_prefix(KEY)
}

/// A fresh token of an operator.
pub fn generate_operator() -> String {
    with_prefix(OPERATOR)
}

/// A fresh word of a session.
pub fn generate_session() -> String {
    with_prefix(SESSION)
}

fn with_prefix(prefix: &str) -> String {
    let mut secret = String::with_capacity(SECRET);
    while secret.len() < SECRET {
        // 248 is the largest multiple of 62 below 256: what lies above it would favour some characters.
        let usable = random_bytes::<64>().into_iter().filter(|byte| *byte < 248);
        secret.extend(
            usable
                .map(|byte| ALPHABET[byte as usize % 62] as char)
                .take(SECRET - secret.len()),
        );
    }
    let check = checksum(secret.as_bytes()).map(char::from);
    format!("{prefix}{secret}{}", String::from_iter(check))
}

/// Whether text can be a key at all, so that a typing error costs no lookup.
pub fn well_formed(key: &str) -> bool {
    is_formed(KEY, key)
}

/// Whether text can be an operator's token at all.
pub fn well_formed_operator(token: &str) -> bool {
    is_formed(OPERATOR, token)
}

/// Whether text can be the word of a session at all.
pub fn well_formed_session(word: &str) -> bool {
    is_formed(SESSION, word)
}

fn is_formed(prefix: &str, text: &str) -> bool {
    text.strip_prefix(prefix).is_some_and(|rest| {
        let rest = rest.as_bytes();
        rest.len() == SECRET + CHECK
            && rest.is_ascii()
            && checksum(&rest[..SECRET]) == rest[SECRET..]
    })
}

/// What is stored instead of the key.
pub fn hash(key: &str) -> String {
    hex(&Sha256::digest(key.as_bytes()))
}

/// Whether text may be a key in the spelling of another program: whatever is none of ours.
pub fn may_be_foreign(text: &str) -> bool {
    let own = [KEY, OPERATOR, SESSION];
    !text.is_empty() && !own.iter().any(|prefix| text.starts_with(prefix))
}

/// What is stored instead of a key that is known by what stands between `sk-` and the first dash, whatever stands around it: it is
/// the key of no program that knows keys whole.
pub fn hash_of_cut(cut: &str) -> String {
    hash(&format!("cut\0{cut}"))
}

/// What would be stored of a key if it is one that is cut; nothing when nothing is left of it.
pub fn cut_hash(key: &str) -> Option<String> {
    let key = key.strip_prefix("sk-").unwrap_or(key);
    let cut = key.split('-').next().unwrap_or_default();
    (!cut.is_empty()).then(|| hash_of_cut(cut))
}

/// The start of a key, shown so that people can tell their keys apart.
pub fn display_prefix(key: &str) -> String {
    key.chars().take(9).collect()
}

fn checksum(secret: &[u8]) -> [u8; CHECK] {
    let mut rest = u64::from(crc32fast::hash(secret));
    let mut check = [b'0'; CHECK];
    for place in check.iter_mut().rev() {
        *place = ALPHABET[(rest % 62) as usize];
        rest /= 62;
    }
    check
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fresh_key_is_well_formed_and_a_typing_error_is_not() {
        let key = generate();
        assert_eq!(key.len(), 41);
        assert!(well_formed(&key));
        let mut wrong = key.into_bytes();
        wrong[10] = if wrong[10] == b'a' { b'b' } else { b'a' };
        assert!(!well_formed(&String::from_utf8(wrong).expect("ascii")));
        assert!(!well_formed("at_"));
        assert!(!well_formed(""));
    }

    #[test]
    fn a_key_is_no_token_and_a_token_is_no_key() {
        let (key, token) = (generate(), generate_operator());
        assert!(well_formed_operator(&token) && !well_formed_operator(&key));
        assert!(!well_formed(&token));
    }

    /// As new-api and one-api read it: `sk-` may be missing, and what stands behind a dash is none of it.
    #[test]
    fn a_key_that_is_cut_counts_in_every_spelling() {
        let plain = cut_hash("Abc123");
        assert_eq!(plain, Some(hash_of_cut("Abc123")));
        for spelling in ["sk-Abc123", "sk-Abc123-7", "Abc123-7-x"] {
            assert_eq!(cut_hash(spelling), plain, "{spelling}");
        }
        for other in ["sk-abc123", "sk-Abc12", "Sk-Abc123"] {
            assert_ne!(cut_hash(other), plain, "{other}");
        }
        assert_eq!(cut_hash("sk-"), None);
        assert_ne!(plain, Some(hash("Abc123")), "it is no hash of a whole key");
        assert!(may_be_foreign("sk-Abc123") && !may_be_foreign("at_Abc123") && !may_be_foreign(""));
    }

    #[test]
    fn two_keys_differ() {
        assert_ne!(generate(), generate());
    }
}
