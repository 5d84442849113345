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

    #[test]
    fn two_keys_differ() {
        assert_ne!(generate(), generate());
    }
}
