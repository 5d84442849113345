//! Signatures of asset addresses. Pure functions over keys, text and a time; comparing takes the same time whatever is
//! compared.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// Why a signed address does not open anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressFault {
    /// It was never signed by this service, or not in this form.
    BadSignature,
    /// It was, but its time is over.
    Expired,
}

/// Signs asset addresses and checks them. The first key signs; all of them are good for checking, so that keys can be
/// changed while addresses of the old one live on.
#[derive(Clone)]
pub struct AddressSigner {
    keys: Vec<(String, [u8; 32])>,
}

impl AddressSigner {
    /// Takes the keys with their ids, the current one first. There must be one at least.
    pub fn new(keys: Vec<(String, [u8; 32])>) -> Self {
        assert!(!keys.is_empty(), "an address signer needs a key");
        Self { keys }
    }

    /// The query that makes `path` good until a time.
    pub fn sign(&self, path: &str, expires_s: i64) -> String {
        let (id, key) = &self.keys[0];
        let signature = URL_SAFE_NO_PAD.encode(address_mac(key, path, expires_s, id));
        format!("e={expires_s}&k={id}&s={signature}")
    }

    /// Whether the key that a query names is among them; a query that names none is known well enough.
    pub fn knows(&self, query: &str) -> bool {
        read(query).is_none_or(|(_, id, _)| self.keys.iter().any(|(known, _)| known == id))
    }

    /// Checks the query of an address: first who signed it, then whether its time is over, so that only addresses
    /// that were once good are told apart from the rest.
    pub fn verify(&self, path: &str, query: &str, now_s: i64) -> Result<(), AddressFault> {
        let (expires_s, id, signature) = read(query).ok_or(AddressFault::BadSignature)?;
        let key = self.keys.iter().find(|(known, _)| known == id);
        let (_, key) = key.ok_or(AddressFault::BadSignature)?;
        let given = URL_SAFE_NO_PAD.decode(signature);
        let given = given.map_err(|_| AddressFault::BadSignature)?;
        let expected = address_mac(key, path, expires_s, id);
        if !bool::from(subtle::ConstantTimeEq::ct_eq(&expected[..], &given[..])) {
            return Err(AddressFault::BadSignature);
        }
        if now_s >= expires_s {
            return Err(AddressFault::Expired);
        }
        Ok(())
    }
}

impl std::fmt::Debug for AddressSigner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ids: Vec<&str> = self.keys.iter().map(|(id, _)| id.as_str()).collect();
        f.debug_tuple("AddressSigner").field(&ids).finish()
    }
}

/// Expiry, key id and signature of a query. Each must be there once; what others append is none of our business.
fn read(query: &str) -> Option<(i64, &str, &str)> {
    let one = |name: &str| {
        let mut found = query
            .split('&')
            .filter_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
        let value = found.next()?;
        found.next().is_none().then_some(value)
    };
    let text = one("e")?;
    let expires_s: i64 = text.parse().ok()?;
    // `+5` and `05` are the same number; only one of the forms is an address.
    (expires_s.to_string() == text).then_some((expires_s, one("k")?, one("s")?))
}

fn address_mac(key: &[u8], path: &str, expires_s: i64, id: &str) -> [u8; 32] {
    mac(
        key,
        &[
            b"v1|",
            path.as_bytes(),
            b"|",
            expires_s.to_string().as_bytes(),
            b"|",
            id.as_bytes(),
        ],
    )
}

fn mac(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("every length is a key");
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "2026/11/0190/0.png";

    fn signer(ids: &[&str]) -> AddressSigner {
        let key = |id: &&str| ((*id).to_owned(), [id.len() as u8 + id.as_bytes()[0]; 32]);
        AddressSigner::new(ids.iter().map(key).collect())
    }

    #[test]
    fn an_address_is_good_until_its_second_and_gone_from_it_on() {
        let query = signer(&["1"]).sign(PATH, 1000);
        assert_eq!(signer(&["1"]).verify(PATH, &query, 999), Ok(()));
        let late = signer(&["1"]).verify(PATH, &query, 1000);
        assert_eq!(late, Err(AddressFault::Expired));
    }

    #[test]
    fn any_change_of_an_address_is_a_bad_signature_even_after_its_time() {
        let signer = signer(&["1"]);
        let query = signer.sign(PATH, 1000);
        let refused = |path: &str, query: &str| {
            for now_s in [0, 999, 5000] {
                let fault = signer.verify(path, query, now_s);
                assert_eq!(fault, Err(AddressFault::BadSignature), "{path}?{query}");
            }
        };
        refused("2026/11/0190/1.png", &query);
        refused("2026/11/0190/0.png/", &query);
        refused(PATH, &query.replace("e=1000", "e=1001"));
        refused(PATH, &query.replace("e=1000", "e=01000"));
        refused(PATH, &query.replace("e=1000", "e=+1000"));
        refused(PATH, &query.replace("k=1", "k=2"));
        refused(PATH, &query.replace("k=1", "k="));
        refused(PATH, &format!("{query}&e=9999"));
        refused(PATH, &format!("{query}="));
        refused(PATH, &query[..query.len() - 1]);
        refused(PATH, "");
        refused(PATH, "e=1000&k=1&s=");
        let start = query.find("s=").expect("a signature") + 2;
        for place in start..query.len() {
            let mut bytes = query.clone().into_bytes();
            bytes[place] = if bytes[place] == b'A' { b'B' } else { b'A' };
            refused(PATH, &String::from_utf8(bytes).expect("ascii"));
        }
    }

    #[test]
    fn what_others_append_to_an_address_does_no_harm() {
        let query = signer(&["1"]).sign(PATH, 1000);
        let longer = format!("utm_source=mail&{query}&x");
        assert_eq!(signer(&["1"]).verify(PATH, &longer, 0), Ok(()));
    }

    #[test]
    fn keys_rotate_by_id() {
        let old = signer(&["a"]).sign(PATH, 1000);
        let both = signer(&["b", "a"]);
        assert_eq!(both.verify(PATH, &old, 0), Ok(()));
        assert!(both.sign(PATH, 1000).contains("k=b"));
        assert!(both.knows(&old) && both.knows("x=1") && !signer(&["b"]).knows(&old));
        let retired = signer(&["b"]).verify(PATH, &old, 0);
        assert_eq!(retired, Err(AddressFault::BadSignature));
    }

    #[test]
    fn nothing_of_a_key_is_printed() {
        assert_eq!(
            format!("{:?}", signer(&["a", "b"])),
            r#"AddressSigner(["a", "b"])"#
        );
    }
}
