//! The browser that somebody signs in with: it is known again by a word that it was given when it began.

use crate::key;

/// How long a sign-in can be finished that was begun.
pub(crate) const SIGN_IN_MS: i64 = 15 * 60_000;

/// The browser that somebody signs in with, as far as it says who it is.
#[derive(Clone, Debug)]
pub struct SignInBrowser {
    /// The word that it was given when it began to sign in.
    pub word: String,
    /// What it calls itself.
    pub agent: String,
    /// The network that it comes from.
    pub network: String,
    /// The session that it has.
    pub earlier: Option<String>,
}

impl SignInBrowser {
    /// A word for a browser that has none.
    pub fn new_word() -> String {
        key::generate_session()
    }

    /// Whether a text can be such a word.
    pub fn is_word(text: &str) -> bool {
        key::well_formed_session(text)
    }

    pub(super) fn hash(&self) -> String {
        key::hash(&self.word)
    }
}

/// What a provider led somebody back with.
#[derive(Clone, Debug, Default)]
pub struct ProviderReturn {
    /// The word that they were led there with.
    pub state: String,
    pub code: String,
    /// The provider's own word of who it is, if it gives one.
    pub issuer: Option<String>,
    /// Why it let nobody in.
    pub error: Option<String>,
}
