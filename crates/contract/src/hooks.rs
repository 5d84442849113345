//! Addresses that vendors may post to. The last part of one is a word that lets a vendor speak about one attempt of a job, so
//! it is written down nowhere: neither where a request for it is told of, nor where a vendor says the address again.

use std::borrow::Cow;

/// Where such addresses begin; the back end and the word follow.
pub const HOOK_PATH: &str = "/hooks/v1/";

/// What stands where a word stood.
const HIDDEN: &str = "[hidden]";
/// The parts of [`HOOK_PATH`].
const PARTS: [&str; 2] = ["hooks", "v1"];
/// A slash, as it stands in addresses, in JSON, in queries, and in queries of queries.
const SLASHES: [&str; 5] = ["/", "\\/", "%2f", "%2F", "%252F"];
/// Digits of the proof at the end of a word.
const PROOF: usize = 32;

/// The path of a request without the word of a hook, however much else follows it. Of a path that names a hook in another
/// spelling nothing is told but that.
pub fn hide_in_path(path: &str) -> Cow<'_, str> {
    if let Some(start) = word_at(path) {
        return format!("{}{HIDDEN}", &path[..start]).into();
    }
    // Hardly any path has these, and nothing is copied for the others.
    if path
        .bytes()
        .any(|byte| byte == b'%' || byte.is_ascii_uppercase())
    {
        let plain = spelled_plainly(path);
        if word_at(&plain).is_some() {
            return format!("{HOOK_PATH}{HIDDEN}").into();
        }
        if hide_proofs(&plain).is_some() {
            return format!("/{HIDDEN}").into();
        }
    }
    hide_proofs(path).map_or(Cow::Borrowed(path), Cow::Owned)
}

/// A path in lower case, with what was written as `%` and digits put back, also where that was done twice. It is for looking at:
/// it may have line ends.
fn spelled_plainly(path: &str) -> String {
    decoded(&decoded(path)).to_ascii_lowercase()
}

/// A text with what was written as `%` and digits put back, where that is ASCII.
fn decoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let digits = rest.get(at + 1..at + 3);
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let (letter, length) = match byte.filter(u8::is_ascii) {
            Some(byte) => (char::from(byte), 3),
            None => ('%', 1),
        };
        out.push(letter);
        rest = &rest[at + length..];
    }
    out.push_str(rest);
    out
}

/// A text without the words of hooks: what follows the address of one, and everything that ends as a word does.
pub fn hide_hook_words(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = word_at(rest) {
        out.push_str(&rest[..start]);
        out.push_str(HIDDEN);
        // What was hidden before is not hidden twice.
        let word = &rest[start..];
        let word = word.strip_prefix(HIDDEN).unwrap_or(word);
        let ends = |c: char| c.is_whitespace() || "\"'`<>()[]{},;|&?#\\".contains(c);
        rest = &word[word.find(ends).unwrap_or(word.len())..];
    }
    let text = if out.is_empty() {
        Cow::Borrowed(text)
    } else {
        out.push_str(rest);
        Cow::Owned(out)
    };
    match hide_proofs(&text) {
        Some(hidden) => Cow::Owned(hidden),
        None => text,
    }
}

/// Where the word of the first address of a hook begins.
fn word_at(text: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(found) = text[from..].find(PARTS[0]) {
        from += found + PARTS[0].len();
        let Some(at) = slash(text, from)
            .filter(|at| text[*at..].starts_with(PARTS[1]))
            .and_then(|at| slash(text, at + PARTS[1].len()))
        else {
            continue;
        };
        let plain = |c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_';
        let backend = text[at..].find(plain).unwrap_or(text.len() - at);
        if let Some(word) = slash(text, at + backend) {
            return Some(word);
        }
    }
    None
}

/// Where a slash ends that stands here.
fn slash(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    let found = SLASHES.iter().find(|one| rest.starts_with(**one));
    found.map(|one| at + one.len())
}

/// The same without what ends like a word, if anything does: the number of an attempt, a dot, the proof.
fn hide_proofs(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let is_proof = |dot: usize| {
        let digits = bytes[dot + 1..].iter();
        dot > 0
            && bytes[dot - 1].is_ascii_digit()
            && digits.take_while(|byte| byte.is_ascii_hexdigit()).count() == PROOF
    };
    let mut out: Option<String> = None;
    let mut kept = 0;
    for (dot, _) in text.match_indices('.').filter(|(dot, _)| is_proof(*dot)) {
        let out = out.get_or_insert_default();
        out.push_str(&text[kept..=dot]);
        out.push_str(HIDDEN);
        kept = dot + 1 + PROOF;
    }
    let mut out = out?;
    out.push_str(&text[kept..]);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORD: &str = "01a1edb5-d00e-74ad-9839-6d8037ed2688-1.764df7048bef4c6ea0f2a144a99b9794";

    #[test]
    fn a_path_is_told_without_the_word_and_what_follows_it() {
        for (path, told) in [
            ("/hooks/v1/b-1/WORD", "/hooks/v1/b-1/[hidden]"),
            ("/hooks/v1/b-1/WORD/", "/hooks/v1/b-1/[hidden]"),
            ("//hooks/v1/b-1/a,b/c", "//hooks/v1/b-1/[hidden]"),
            ("/x/hooks%2Fv1/b/WORD", "/x/hooks%2Fv1/b/[hidden]"),
            ("/hooks/v1/b-1", "/hooks/v1/b-1"),
            ("/hooks/v2/b/c", "/hooks/v2/b/c"),
            ("/artgen/v1/imagine", "/artgen/v1/imagine"),
            // Misspelt.
            ("/HOOKS/v1/b-1/a-word", "/hooks/v1/[hidden]"),
            ("/Hooks/V1/b-1/WORD", "/hooks/v1/[hidden]"),
            ("/%68ooks/v1/b-1/a-word", "/hooks/v1/[hidden]"),
            ("/%2568ooks/%76%31/b-1/a-word", "/hooks/v1/[hidden]"),
            ("/hooks/v1/%C3%A9/WORD", "/[hidden]"),
            (
                "/hook/v1/b-1/WORD",
                "/hook/v1/b-1/01a1edb5-d00e-74ad-9839-6d8037ed2688-1.[hidden]",
            ),
            ("/x/1%2E764df7048bef4c6ea0f2a144a99b9794", "/[hidden]"),
            ("/x/%", "/x/%"),
            ("/x/%zz%C3%A9%2", "/x/%zz%C3%A9%2"),
            ("/Jobs/V1", "/Jobs/V1"),
        ] {
            assert_eq!(hide_in_path(&path.replace("WORD", WORD)), told);
        }
    }

    #[test]
    fn a_text_is_told_without_words_in_any_spelling() {
        for (text, told) in [
            (
                "no http://a/hooks/v1/b/WORD, says http://a/hooks/v1/b/WORD.",
                "no http://a/hooks/v1/b/[hidden], says http://a/hooks/v1/b/[hidden]",
            ),
            (
                r#"{"m":"http:\/\/a\/hooks\/v1\/b\/WORD"}"#,
                r#"{"m":"http:\/\/a\/hooks\/v1\/b\/[hidden]"}"#,
            ),
            (
                "x?w=http%3A%2F%2Fa%2Fhooks%2Fv1%2Fb%2FWORD&y=1",
                "x?w=http%3A%2F%2Fa%2Fhooks%2Fv1%2Fb%2F[hidden]&y=1",
            ),
            // Cut off in the middle.
            (
                "http://a/hooks/v1/b/01a1edb5-1.764",
                "http://a/hooks/v1/b/[hidden]",
            ),
            (
                "the word WORD is wrong",
                "the word 01a1edb5-d00e-74ad-9839-6d8037ed2688-1.[hidden] is wrong",
            ),
            // Hidden before.
            (
                "path=/hooks/v1/b/[hidden] took 1 ms",
                "path=/hooks/v1/b/[hidden] took 1 ms",
            ),
            ("hooks, hooks/ and hooks/v1", "hooks, hooks/ and hooks/v1"),
            ("größe 1.5 hooks/v1/ä", "größe 1.5 hooks/v1/ä"),
        ] {
            assert_eq!(hide_hook_words(&text.replace("WORD", WORD)), told);
        }
    }
}
