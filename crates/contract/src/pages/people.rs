//! People: who is a member of an account and as what, and who is invited.

use schemars::JsonSchema;
use serde::Deserialize;

use super::keys::{KeyLimit, KeyTerms, NewKey};
use super::list::{PageNumber, PageSize};
use crate::fields::{Count, MailAddress, Text, words};
use crate::refusal::Refusal;
use crate::scopes::Scopes;

words! {
    /// What a member may do in an account.
    pub MemberRole = Member {
        /// Everything, also invite others and remove them.
        Owner "owner",
        /// Submit and read, with keys of its own.
        Member "member",
        /// Read.
        Viewer "viewer",
    }
}

impl MemberRole {
    /// The same in the words of keys.
    pub fn scopes(self) -> Scopes {
        let words: &[&str] = match self {
            Self::Owner => return Scopes::ALL,
            Self::Member => &["submit", "read", "keys"],
            Self::Viewer => &["read"],
        };
        Scopes::of_words(words.iter().copied()).unwrap_or(Scopes::NONE)
    }
}

words! {
    /// The language in which somebody is written to.
    pub Language = English {
        /// English.
        English "en",
        /// German.
        German "de",
        /// Chinese.
        Chinese "zh",
    }
}

/// Somebody to be invited.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct NewInvitation {
    /// Where the invitation is sent.
    pub email: MailAddress,
    /// What the new member may do: `owner`, `member` or `viewer`.
    #[serde(default)]
    pub role: MemberRole,
    /// The language of the e-mail.
    #[serde(default)]
    pub language: Language,
}

/// What a member shall be; what is left out stays, and null takes it away.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemberPatch {
    /// What the member may do: `owner`, `member` or `viewer`.
    #[serde(default)]
    pub role: Option<MemberRole>,
    /// How much the member may spend, with its keys, at most once for each window.
    #[serde(default)]
    pub limits: Option<Vec<KeyLimit>>,
    /// The operations it may use, as `artgen.imagine` or `artgen.*`.
    #[serde(default)]
    pub operations: Option<Vec<String>>,
    /// The models it may use, as `image-1` or `image-*`; operations that name none are refused.
    #[serde(default)]
    pub models: Option<Vec<String>>,
    /// The addresses and networks that it may come from, as `203.0.113.0/24`.
    #[serde(default)]
    pub addresses: Option<Vec<String>>,
    /// Submits in a second, those of its keys included.
    #[serde(default)]
    pub submits_per_second: Option<Count<1, 100_000, 1>>,
    /// Unfinished jobs that it may have in a queue, those of its keys included.
    #[serde(default)]
    pub max_queue: Option<Count<1, 1_000_000, 1>>,
}

impl MemberPatch {
    /// What the member may spend and do: what it may now, with this changed.
    pub fn terms_over(self, old: KeyTerms) -> Result<KeyTerms, Refusal> {
        let given = NewKey {
            limits: self.limits,
            operations: self.operations,
            models: self.models,
            addresses: self.addresses,
            submits_per_second: self.submits_per_second,
            max_queue: self.max_queue,
            ..NewKey::default()
        };
        given.terms_over(old)
    }
}

/// Somebody who asks for a link to sign in.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct LinkWish {
    /// Where the link is sent.
    pub email: MailAddress,
    /// The language of the e-mail, unless the person has chosen one.
    #[serde(default)]
    pub language: Language,
}

/// What a person changes of themselves.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct PersonPatch {
    /// What others see: at most 100 characters.
    #[serde(default)]
    pub name: Option<Text<100>>,
    /// The language of e-mail.
    #[serde(default)]
    pub language: Option<Language>,
}

/// The account that a session shall stand for.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct AccountChoice {
    /// Identifier of an account that the person is a member of.
    pub id: Text<64>,
}

/// Which people to list.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct PeopleQuery {
    /// Number of the page, from 1.
    #[serde(default)]
    pub page: PageNumber,
    /// People on a page, at most 100.
    #[serde(default)]
    pub limit: PageSize,
    /// Only people with this in their address or name, in any case; an identifier finds its person.
    #[serde(default)]
    pub q: Option<Text<254>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scopes::Scope;

    #[test]
    fn a_role_is_a_set_of_scopes() {
        let may = |role: MemberRole| role.scopes().to_string();
        assert_eq!(may(MemberRole::Owner), "all");
        assert_eq!(may(MemberRole::Member), "submit,read,keys");
        assert_eq!(may(MemberRole::Viewer), "read");
        assert!(!MemberRole::Member.scopes().allow(Scope::Account));
    }
}
