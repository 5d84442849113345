//! `Stripe-Signature`: a time and HMAC-SHA256 over it and the body, as it came.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// How old, or how far ahead, the time of a signature may be.
const WINDOW_S: i64 = 300;
/// Signatures that are looked at: while a secret is changed there are two.
const MOST: usize = 8;

/// Whether a body is Stripe's and was sent a short while ago. Comparing takes the same time whatever is compared.
pub(super) fn is_signed(secret: &str, header: &str, body: &[u8], now_s: i64) -> bool {
    if secret.is_empty() {
        return false;
    }
    let fields = || {
        header
            .split(',')
            .filter_map(|field| field.trim().split_once('='))
    };
    let Some((_, time)) = fields().find(|(name, _)| *name == "t") else {
        return false;
    };
    let is_fresh = time
        .parse::<i64>()
        .is_ok_and(|time| now_s.abs_diff(time) <= WINDOW_S.unsigned_abs());
    let mut is_ours = false;
    for (_, given) in fields().filter(|(name, _)| *name == "v1").take(MOST) {
        is_ours |= matches(secret, time, body, given);
    }
    is_ours && is_fresh
}

fn matches(secret: &str, time: &str, body: &[u8], given: &str) -> bool {
    let Some(given) = bytes(given) else {
        return false;
    };
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("a key of any length");
    mac.update(time.as_bytes());
    mac.update(b".");
    mac.update(body);
    mac.verify_slice(&given).is_ok()
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digits = hex.as_bytes().chunks(2);
    let byte = |two: &[u8]| {
        let two = std::str::from_utf8(two).ok().filter(|two| two.len() == 2)?;
        u8::from_str_radix(two, 16).ok()
    };
    digits.map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "whsec_test_secret";
    const BODY: &[u8] = b"{\n  \"id\": \"evt_test_webhook\",\n  \"object\": \"event\"\n}";
    // As `printf '%s' "1790000000.$BODY" | openssl dgst -sha256 -hmac whsec_test_secret` has it.
    const GOOD: &str = "320737380c79be93f93f11bb965cb3d9126baa88332f6a3591731c4bc50597fa";

    #[test]
    fn a_signature_is_good_for_its_body_and_a_while() {
        let header = format!(
            "t=1790000000,v1={GOOD},v0=6ffbb59b2300aae63f272406069a9788598b792a944a07aba816edb039989a39"
        );
        let at = |now_s| is_signed(SECRET, &header, BODY, now_s);
        assert!(at(1_790_000_000) && at(1_790_000_300) && at(1_789_999_700));
        assert!(!at(1_790_000_301) && !at(1_789_999_699));
        assert!(!is_signed("whsec_other", &header, BODY, 1_790_000_000));
        assert!(!is_signed("", &header, BODY, 1_790_000_000));
        assert!(!is_signed(SECRET, &header, b"{}", 1_790_000_000));
        let two = format!("t=1790000000,v1=00,v1={GOOD}");
        assert!(is_signed(SECRET, &two, BODY, 1_790_000_000));
        for wrong in [
            String::new(),
            format!("v1={GOOD}"),
            format!("t=1790000001,v1={GOOD}"),
            format!("t=1790000000,v0={GOOD}"),
            format!("t=1790000000,v1={}", &GOOD[..62]),
            format!("t=1790000000,v1={}é", &GOOD[..62]),
        ] {
            assert!(!is_signed(SECRET, &wrong, BODY, 1_790_000_000), "{wrong}");
        }
    }
}
