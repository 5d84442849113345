//! Signatures of the epay protocol: MD5 over all fields that say something, in the order of their names, and the merchant's key. MD5 is
//! what the protocol has; the key is what no one else knows.

use std::fmt::Write as _;

use md5::{Digest as _, Md5};
use subtle::ConstantTimeEq as _;
use url::form_urlencoded;

/// Fields that are not signed.
const UNSIGNED: [&str; 2] = ["sign", "sign_type"];

/// The fields of a query or of a form, as they were sent.
pub(super) fn query_pairs(text: &str) -> Vec<(String, String)> {
    form_urlencoded::parse(text.as_bytes())
        .into_owned()
        .collect()
}

/// Whether someone who knows the key sent these fields. A field that is there twice could be read in two ways.
pub(super) fn is_signed(pairs: &[(String, String)], key: &str) -> bool {
    let mut names: Vec<&str> = pairs.iter().map(|(name, _)| &**name).collect();
    names.sort_unstable();
    if names.windows(2).any(|two| two[0] == two[1]) {
        return false;
    }
    let Some((_, given)) = pairs.iter().find(|(name, _)| name == "sign") else {
        return false;
    };
    let fields = pairs.iter().map(|(name, value)| (&**name, &**value));
    let wanted = sign(fields.collect(), key);
    let given = given.to_ascii_lowercase();
    bool::from(wanted.as_bytes().ct_eq(given.as_bytes()))
}

/// The URL that a payer is sent to.
pub(super) fn address(base_url: &str, fields: &[(&str, &str)], key: &str) -> String {
    let signature = sign(fields.to_vec(), key);
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(fields);
    query.append_pair("sign", &signature);
    query.append_pair("sign_type", "MD5");
    format!("{base_url}submit.php?{}", query.finish())
}

/// What is kept of a notification.
pub(super) fn without_sign(pairs: &[(String, String)]) -> String {
    let kept = pairs.iter().filter(|(name, _)| name != "sign");
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(kept);
    query.finish()
}

fn sign(mut fields: Vec<(&str, &str)>, key: &str) -> String {
    fields.retain(|(name, value)| !value.is_empty() && !UNSIGNED.contains(name));
    fields.sort_unstable();
    let said: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let digest = Md5::digest(format!("{}{key}", said.join("&")).as_bytes());
    digest.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a text takes everything");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "89unJUB8HZ54Hj7x4nUj56HN4nUzUJ8i";

    #[test]
    fn fields_are_signed_in_the_order_of_their_names() {
        // As `printf 'money=1.00&name=VIP&pid=1001KEY' | md5sum` has it.
        let signed = sign(
            vec![
                ("pid", "1001"),
                ("name", "VIP"),
                ("money", "1.00"),
                ("param", ""),
                ("sign_type", "MD5"),
            ],
            "KEY",
        );
        assert_eq!(signed, "b787c027befe974295237dec01d0dff7");
    }

    #[test]
    fn what_was_changed_is_not_signed() {
        let address = address(
            "https://pay.example.com/",
            &[("pid", "1001"), ("money", "1.00"), ("name", "a b&c")],
            KEY,
        );
        let query = address.split_once('?').expect("a query").1;
        let pairs = query_pairs(query);
        assert!(is_signed(&pairs, KEY));
        assert!(!is_signed(&pairs, "another"));
        for place in 0..pairs.len() {
            let mut changed = pairs.clone();
            changed[place].1.push('0');
            let counts = changed[place].0 != "sign_type";
            assert_eq!(is_signed(&changed, KEY), !counts, "{changed:?}");
        }
        let mut twice = pairs.clone();
        twice.push(("money".into(), "9.00".into()));
        assert!(!is_signed(&twice, KEY));
        assert!(!is_signed(&[], KEY));
    }
}
