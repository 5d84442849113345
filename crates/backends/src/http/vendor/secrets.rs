//! What must not be repeated: a vendor that echoes a credential finds its echo blotted out wherever its words are kept.

use std::sync::{Arc, PoisonError, RwLock};

use atelier_contract::hooks::hide_hook_words;

/// Shorter texts are no secrets, and blotting them out would leave nothing to read.
const LEAST_CHARACTERS: usize = 4;
/// Secrets that pass and are remembered: the one in use, and those before it.
const MOST_PASSING: usize = 4;
/// What stands where a secret stood.
const BLOT: &str = "[hidden]";

/// The secrets of one worker account.
#[derive(Clone, Default)]
pub(crate) struct Secrets {
    all: Arc<[String]>,
    /// The latest of those that pass, such as tokens.
    passing: Arc<RwLock<Vec<String>>>,
}

impl Secrets {
    /// The same with one more secret, in each form in which a vendor may repeat it.
    pub(super) fn with(&self, secret: &str) -> Self {
        let mut all = self.all.to_vec();
        // Also the secret alone, without the word that says how it is meant, and a password without its user.
        let alone = secret.split_once([' ', ':']).map(|(_, rest)| rest);
        for secret in std::iter::once(secret).chain(alone) {
            let quoted = serde_json::Value::from(secret).to_string();
            let quoted = quoted[1..quoted.len() - 1].to_owned();
            let forms = [secret.to_owned(), quoted.replace('/', "\\/"), quoted];
            for form in forms {
                if form.chars().count() >= LEAST_CHARACTERS && !all.contains(&form) {
                    all.push(form);
                }
            }
        }
        all.sort_by_key(|form| std::cmp::Reverse(form.len()));
        Self {
            all: all.into(),
            passing: Arc::clone(&self.passing),
        }
    }

    /// Hides a secret that passes from now on; a few of its kind are remembered.
    pub(crate) fn learn(&self, secret: &str) {
        let mut passing = self.passing.write().unwrap_or_else(PoisonError::into_inner);
        passing.insert(0, secret.to_owned());
        passing.truncate(MOST_PASSING);
    }

    /// A text without any secret, and without the word of an address that the vendor may post to.
    pub(crate) fn hide(&self, text: &str) -> String {
        let blotted = |text: String, secret: &String| text.replace(secret.as_str(), BLOT);
        let text = hide_hook_words(text).into_owned();
        let passing = self.passing.read().unwrap_or_else(PoisonError::into_inner);
        self.all.iter().chain(&*passing).fold(text, blotted)
    }

    /// The length in bytes of the longest secret.
    pub(super) fn longest(&self) -> usize {
        let passing = self.passing.read().unwrap_or_else(PoisonError::into_inner);
        let longest = passing.iter().chain(self.all.first()).map(String::len);
        longest.max().unwrap_or(0)
    }
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("hidden")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_secret_is_blotted_out_and_nothing_else() {
        let secrets = Secrets::default()
            .with("Bearer sk-a/\"b")
            .with("painter:hunter2")
            .with("x");
        for (text, left) in [
            ("key sk-a/\"b is wrong", "key [hidden] is wrong"),
            (r#"{"m":"sk-a\/\"b"}"#, r#"{"m":"[hidden]"}"#),
            (r#"{"m":"Bearer sk-a/\"b"}"#, r#"{"m":"[hidden]"}"#),
            ("hunter2? painter:hunter2!", "[hidden]? [hidden]!"),
            ("box of x", "box of x"),
            (
                "no way to https://a/hooks/v1/b/word-1.2",
                "no way to https://a/hooks/v1/b/[hidden]",
            ),
        ] {
            assert_eq!(secrets.hide(text), left);
        }
    }
}
