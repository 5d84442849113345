//! What nodes tell each other: that something is worth a look. A lost hint costs a while, never a job.

/// Something that changed, as the nodes that share a store tell each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Hint {
    /// A job waits.
    Work,
    /// A callback is due.
    Callbacks,
    /// A back end or worker account changed.
    Pool,
    /// A key was revoked.
    Keys,
    /// There is a new key for addresses.
    AddressKeys,
    /// A job changed.
    Job(String),
    /// A vendor says that a job is worth a question.
    Poll(String),
}

/// The words of hints that say no more than themselves.
const WORDS: &[(&str, Hint)] = &[
    ("work", Hint::Work),
    ("hook", Hint::Callbacks),
    ("pool", Hint::Pool),
    ("key", Hint::Keys),
    ("address-key", Hint::AddressKeys),
];
const JOB: &str = "job:";
const POLL: &str = "poll:";

impl Hint {
    /// The text that is sent.
    pub(crate) fn encode(&self) -> String {
        match self {
            Self::Job(id) => format!("{JOB}{id}"),
            Self::Poll(id) => format!("{POLL}{id}"),
            plain => {
                let known = WORDS.iter().find(|(_, hint)| hint == plain);
                known.map_or_else(String::new, |(word, _)| (*word).to_owned())
            }
        }
    }

    /// What a text means; `None` for what only newer nodes know.
    pub(crate) fn decode(text: &str) -> Option<Self> {
        if let Some(id) = text.strip_prefix(JOB) {
            return Some(Self::Job(id.to_owned()));
        }
        if let Some(id) = text.strip_prefix(POLL) {
            return Some(Self::Poll(id.to_owned()));
        }
        let known = WORDS.iter().find(|(word, _)| *word == text);
        known.map(|(_, hint)| hint.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hint_is_understood_by_those_who_hear_it() {
        let plain = WORDS.iter().map(|(_, hint)| hint.clone());
        let named = [Hint::Job("a:b".into()), Hint::Poll("c".into())];
        for hint in plain.chain(named) {
            let text = hint.encode();
            assert!(!text.is_empty());
            assert_eq!(Hint::decode(&text), Some(hint));
        }
        assert_eq!(Hint::decode("from-a-newer-node"), None);
    }
}
