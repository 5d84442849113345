//! What nodes tell each other: that something is worth a look. A lost hint costs a while, never a job.

use atelier_contract::{AccountId, JobId};

/// Something that changed, as the nodes that share a store tell each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Hint {
    /// A job waits.
    Work,
    /// A callback is due.
    Callbacks,
    /// A back end or worker account changed.
    Pool,
    Prices,
    /// The operator's models changed.
    Models,
    /// Groups of accounts changed.
    Groups,
    /// There is a new key for addresses.
    AddressKeys,
    Job(JobId),
    /// A vendor says that a job is worth a question.
    Poll(JobId),
    /// The key with this hash was revoked.
    Key(String),
    /// What holds for all keys of this account was changed.
    Account(AccountId),
    /// A final job of an account was deleted: `account/job`.
    Gone(String),
}

/// Makes a hint of a name.
type HintBuilder = fn(String) -> Hint;

/// The words of hints that say no more than themselves.
const PLAIN_HINTS: &[(&str, Hint)] = &[
    ("work", Hint::Work),
    ("hook", Hint::Callbacks),
    ("pool", Hint::Pool),
    ("prices", Hint::Prices),
    ("models", Hint::Models),
    ("groups", Hint::Groups),
    ("address-key", Hint::AddressKeys),
];
/// The words of hints that name something.
const NAMED_HINTS: &[(&str, HintBuilder)] = &[
    ("job", |id| Hint::Job(id.into())),
    ("poll", |id| Hint::Poll(id.into())),
    ("key", Hint::Key),
    ("account", |id| Hint::Account(id.into())),
    ("gone", Hint::Gone),
];

impl Hint {
    /// The text that is sent.
    pub(crate) fn encode(&self) -> String {
        match self {
            Self::Job(id) => format!("job:{id}"),
            Self::Poll(id) => format!("poll:{id}"),
            Self::Key(hash) => format!("key:{hash}"),
            Self::Account(id) => format!("account:{id}"),
            Self::Gone(name) => format!("gone:{name}"),
            plain => {
                let known = PLAIN_HINTS.iter().find(|(_, hint)| hint == plain);
                known.map_or_else(String::new, |(word, _)| (*word).to_owned())
            }
        }
    }

    /// What a text means; `None` for what only newer nodes know.
    pub(crate) fn decode(text: &str) -> Option<Self> {
        if let Some((word, name)) = text.split_once(':') {
            let known = NAMED_HINTS.iter().find(|(one, _)| *one == word);
            return known.map(|(_, hint)| hint(name.to_owned()));
        }
        let known = PLAIN_HINTS.iter().find(|(word, _)| *word == text);
        known.map(|(_, hint)| hint.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hint_is_understood_by_those_who_hear_it() {
        let plain = PLAIN_HINTS.iter().map(|(_, hint)| hint.clone());
        let named = NAMED_HINTS.iter().map(|(_, hint)| hint("a:b".into()));
        for hint in plain.chain(named) {
            let text = hint.encode();
            assert!(!text.is_empty());
            assert_eq!(Hint::decode(&text), Some(hint));
        }
        for unknown in ["from-a-newer-node", "from:a-newer-node"] {
            assert_eq!(Hint::decode(unknown), None);
        }
    }
}
