//! The caller's own name for a call, by which a repetition is known.

use atelier_contract::{Code, Refusal};
use hyper::header::{HeaderMap, HeaderName};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const LONGEST_KEY: usize = 255;

/// The caller's own name for this call, if it gave one.
pub(crate) fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Refusal> {
    let mut given = headers.get_all(IDEMPOTENCY_KEY).iter();
    let (key, second) = (given.next(), given.next());
    let Some(key) = key else { return Ok(None) };
    let key = key.as_bytes();
    let usable = (1..=LONGEST_KEY).contains(&key.len()) && key.iter().all(u8::is_ascii_graphic);
    if !usable || second.is_some() {
        return Err(Refusal::field(
            Code::InvalidParameter,
            "Idempotency-Key",
            "must be one header of 1 to 255 visible ASCII characters",
        ));
    }
    Ok(Some(String::from_utf8_lossy(key).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idempotency_key_is_one_header_of_visible_characters() {
        let read = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(
                    IDEMPOTENCY_KEY,
                    hyper::header::HeaderValue::from_bytes(value.as_bytes()).expect("a header"),
                );
            }
            idempotency_key(&headers)
        };
        assert_eq!(read(&[]), Ok(None));
        assert_eq!(read(&["a"]), Ok(Some("a".into())));
        assert!(read(&[&"k".repeat(255)]).is_ok());
        for wrong in [
            &[""][..],
            &["a b"],
            &["😀"],
            &["a", "a"],
            &[&"k".repeat(256)],
        ] {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
    }
}
