//! Words and codes of sign-in links, which stand in addresses: whoever has one may be let in, so no log has them.

use std::borrow::Cow;

use super::request::decoded;

/// What comes before a word or a code, in lower case.
const LINK: &str = "auth/v1/link/";
/// What every word begins with, in lower case, and the fewest characters that follow.
const WORD: &str = "se_";
const WORD_LEAST: usize = 16;
/// What stands where a word stood.
const HIDDEN: &str = "[hidden]";

/// An address, or part of one, without the words and codes of sign-in links. Of one that names a link in another spelling nothing is told
/// but that.
pub(super) fn hide_link_words(text: &str) -> Cow<'_, str> {
    if let Some(place) = word_at(text) {
        return Cow::Owned(format!("{}{HIDDEN}", &text[..place]));
    }
    // Hardly any address has these, and nothing is copied for the others.
    if text.contains('%') && word_at(&decoded(&decoded(text))).is_some() {
        return Cow::Borrowed(HIDDEN);
    }
    Cow::Borrowed(text)
}

/// Where the first word or code begins.
fn word_at(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let after_link = found(bytes, LINK).map(|place| place + LINK.len());
    let after_link = after_link.filter(|place| *place < bytes.len());
    let mut from = 0;
    let mut word = None;
    while let Some(place) = found(&bytes[from..], WORD).map(|place| from + place) {
        from = place + WORD.len();
        let rest = bytes[from..].iter();
        if rest.take_while(|byte| byte.is_ascii_alphanumeric()).count() >= WORD_LEAST {
            word = Some(place);
            break;
        }
    }
    after_link.into_iter().chain(word).min()
}

/// Where something begins, in any case.
fn found(bytes: &[u8], what: &str) -> Option<usize> {
    let mut windows = bytes.windows(what.len());
    windows.position(|window| window.eq_ignore_ascii_case(what.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_told_without_the_word_of_a_link() {
        for (text, told) in [
            ("/auth/v1/link/SECRET", "/auth/v1/link/[hidden]"),
            ("/auth/v1/link/12345678", "/auth/v1/link/[hidden]"),
            ("/auth/v1/link/1234%205678", "/auth/v1/link/[hidden]"),
            ("//AUTH/v1/LINK/SECRET/", "//AUTH/v1/LINK/[hidden]"),
            ("/auth/v1/links/SECRET", "/auth/v1/links/[hidden]"),
            ("/auth/v1/%6Cink/12345678", "[hidden]"),
            ("/auth/v1/%256Cink/12345678", "[hidden]"),
            ("/x/se%5FabcdefABCDEF0123456789", "[hidden]"),
            (
                "http://localhost:8080/auth/v1/link/SECRET",
                "http://localhost:8080/auth/v1/link/[hidden]",
            ),
            ("/auth/v1/link", "/auth/v1/link"),
            ("/auth/v1/link/", "/auth/v1/link/"),
            (
                "/auth/v1/oidc/company/callback",
                "/auth/v1/oidc/company/callback",
            ),
            ("/house_of_cards/se_", "/house_of_cards/se_"),
            ("/artgen/v1/imagine", "/artgen/v1/imagine"),
            ("/x/%C3%A9%zz", "/x/%C3%A9%zz"),
        ] {
            let text = text.replace("SECRET", "se_abcdefABCDEF0123456789");
            assert_eq!(hide_link_words(&text), told, "{text}");
        }
    }
}
