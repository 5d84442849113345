//! What a key may do: some of the scopes, or all of them.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// One thing a key may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Submits, cancels, sends files.
    Submit,
    /// Fetches, lists, follows events, asks for prices.
    Read,
    /// Keys below its own.
    Keys,
    /// Keys, secrets, callbacks, custody, members.
    Account,
}

impl Scope {
    /// Every scope, in the order of the documents.
    pub const ALL: [Self; 4] = [Self::Submit, Self::Read, Self::Keys, Self::Account];

    /// The word on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Submit => "submit",
            Self::Read => "read",
            Self::Keys => "keys",
            Self::Account => "account",
        }
    }

    const fn bit(self) -> u8 {
        match self {
            Self::Submit => 1,
            Self::Read => 2,
            Self::Account => 4,
            Self::Keys => 8,
        }
    }

    /// The bits of this one and of what it includes: whoever may change all keys of an account may change its own.
    const fn bits(self) -> u8 {
        match self {
            Self::Account => self.bit() | Self::Keys.bit(),
            _ => self.bit(),
        }
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

    /// The empty set: a key that may do nothing.
    pub const NONE: Self = Self(0);

    /// Whether a scope is among them.
    pub const fn allow(self, scope: Scope) -> bool {
        self.0 & scope.bit() != 0
    }

    /// Whether these hold every scope of the others.
    pub const fn cover(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    /// Those that are among both.
    #[must_use]
    pub const fn common(self, others: Self) -> Self {
        Self(self.0 & others.0)
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
            scopes.0 |= scope.bits();
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
        let included = |scope: &Scope| *scope == Scope::Keys && self.allow(Scope::Account);
        held.filter(|scope| !included(scope))
            .map(Scope::word)
            .collect()
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words().join(","))
    }
}

impl Serialize for Scopes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.words().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Scopes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wrong = || de::Error::custom("must be a list of submit, read, keys, account or all");
        let words = Vec::<String>::deserialize(deserializer).map_err(|_| wrong())?;
        Self::of_words(words.iter().map(String::as_str)).ok_or_else(wrong)
    }
}

impl JsonSchema for Scopes {
    fn schema_name() -> Cow<'static, str> {
        "Scopes".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words: Vec<&str> = Scope::ALL
            .into_iter()
            .map(Scope::word)
            .chain([ALL])
            .collect();
        json_schema!({
            "type": "array",
            "items": { "type": "string", "enum": words },
            "minItems": 1,
        })
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
            "submit,read,keys",
            "submit,read,account",
        ] {
            assert_eq!(scopes(words).to_string(), words);
        }
        assert_eq!(scopes("read,submit,read"), scopes("submit,read"));
        assert_eq!(scopes("read,all"), Scopes::ALL);
        assert_eq!(scopes("keys,account"), scopes("account"));
        for wrong in ["", "admin", "read,", "Read", "read, submit"] {
            assert_eq!(Scopes::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn scopes_travel_as_a_list_of_words() {
        let read = |text: &str| serde_json::from_str::<Scopes>(text).ok();
        assert_eq!(read(r#"["read","submit"]"#), Some(scopes("submit,read")));
        assert_eq!(
            serde_json::to_string(&Scopes::ALL).ok().as_deref(),
            Some(r#"["all"]"#)
        );
        for wrong in ["[]", r#"["write"]"#, r#""read""#, "[1]", "null"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_set_covers_no_more_than_it_has() {
        let both = scopes("submit,read");
        assert!(both.allow(Scope::Read) && !both.allow(Scope::Account));
        assert!(both.cover(scopes("read")) && both.cover(both));
        assert!(!both.cover(scopes("read,account")) && !both.cover(Scopes::ALL));
        // What changes all keys of an account changes its own, and not the other way round.
        assert!(scopes("account").cover(scopes("keys")) && scopes("account").allow(Scope::Keys));
        assert!(!scopes("keys").cover(scopes("account")));
        // Naming every scope of today is not all: a scope to come is not among them.
        assert!(!scopes("submit,read,account").cover(Scopes::ALL));
        assert!(Scope::ALL.into_iter().all(|scope| Scopes::ALL.allow(scope)));
    }
}
