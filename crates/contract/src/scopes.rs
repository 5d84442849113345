//! What a key may do: some of the scopes, or all of them.

use std::fmt;

/// One thing a key may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Submits, cancels, sends files.
    Submit,
    /// Fetches, lists, follows events, asks for prices.
    Read,
    /// Keys, secrets, callbacks, custody.
    Account,
}

impl Scope {
    /// Every scope, in the order of the documents.
    pub const ALL: [Self; 3] = [Self::Submit, Self::Read, Self::Account];

    /// The word on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Submit => "submit",
            Self::Read => "read",
            Self::Account => "account",
        }
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// The word for every scope, those to come included.
const ALL: &str = "all";

/// A set of scopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scopes(u8);

impl Scopes {
    /// Everything a key can do.
    pub const ALL: Self = Self(u8::MAX);

    /// Nothing at all.
    pub const NONE: Self = Self(0);

    /// Whether a scope is among them.
    pub const fn allow(self, scope: Scope) -> bool {
        self.0 & scope.bit() != 0
    }

    /// Whether these hold every scope of the others.
    pub const fn cover(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    /// The scopes of a list of words; `None` when it is empty or has an unknown word.
    pub fn of_words<'a>(words: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let mut scopes = Self::NONE;
        for word in words {
            if word == ALL {
                scopes = Self::ALL;
                continue;
            }
            let scope = Scope::ALL.into_iter().find(|scope| scope.word() == word)?;
            scopes.0 |= scope.bit();
        }
        (scopes != Self::NONE).then_some(scopes)
    }

    /// Reads what [`fmt::Display`] wrote.
    pub fn parse(text: &str) -> Option<Self> {
        Self::of_words(text.split(','))
    }

    /// The words on the wire.
    pub fn words(self) -> Vec<&'static str> {
        if self == Self::ALL {
            return vec![ALL];
        }
        let held = Scope::ALL.into_iter().filter(|scope| self.allow(*scope));
        held.map(Scope::word).collect()
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words().join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scopes(words: &str) -> Scopes {
        Scopes::parse(words).expect("known words")
    }

    #[test]
    fn scopes_are_read_as_they_are_written() {
        for words in [
            "all",
            "submit",
            "submit,read",
            "read,account",
            "submit,read,account",
        ] {
            assert_eq!(scopes(words).to_string(), words);
        }
        assert_eq!(scopes("read,submit,read"), scopes("submit,read"));
        assert_eq!(scopes("read,all"), Scopes::ALL);
        for wrong in ["", "admin", "read,", "Read", "read, submit"] {
            assert_eq!(Scopes::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_set_covers_no_more_than_it_has() {
        let both = scopes("submit,read");
        assert!(both.allow(Scope::Read) && !both.allow(Scope::Account));
        assert!(both.cover(scopes("read")) && both.cover(both));
        assert!(!both.cover(scopes("read,account")) && !both.cover(Scopes::ALL));
        // Naming every scope of today is not all: a scope to come is not among them.
        assert!(!scopes("submit,read,account").cover(Scopes::ALL));
        assert!(Scope::ALL.into_iter().all(|scope| Scopes::ALL.allow(scope)));
    }
}
