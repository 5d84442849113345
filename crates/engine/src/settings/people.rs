//! Who may become a person here, and by which providers people sign in.

use std::collections::BTreeMap;

use atelier_contract::fields::MailAddress;
use atelier_contract::pages::people::MemberRole;
use atelier_contract::{Quota, Secret};
use serde::{Deserialize, Deserializer, de};

/// Who may open an account without an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SignUpMode {
    /// Nobody.
    Closed,
    /// Whoever an operator invites.
    Invited,
    /// Whoever has an address at one of some domains, and whoever is invited.
    Domains,
    /// Everybody who has an address.
    Open,
}

/// The section `[people]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeopleSettings {
    pub signup: SignUpMode,
    /// The domains of `domains`, in lower case.
    pub domains: Vec<String>,
    /// What a new account is given, once for each address.
    #[serde(deserialize_with = "gift")]
    pub welcome_quota: Quota,
    /// Providers of OpenID Connect that people sign in at.
    pub oidc: Vec<OidcSettings>,
}

/// A provider of OpenID Connect.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OidcSettings {
    /// Its name in addresses.
    pub name: String,
    /// What its button says; the name when absent.
    #[serde(default)]
    pub title: String,
    pub issuer: String,
    pub client_id: String,
    #[serde(default)]
    pub client_secret: Secret,
    /// What is asked for besides `openid`; `email` and `profile` when absent.
    #[serde(default = "usual_scopes")]
    pub scopes: Vec<String>,
    /// The claim that lists somebody's groups; empty for none.
    #[serde(default)]
    pub groups_claim: String,
    /// The account that its people become members of, by identifier or e-mail address; empty for accounts of their own.
    #[serde(default)]
    pub account: String,
    /// Groups there and the roles here; `*` is everybody.
    #[serde(default)]
    pub roles: BTreeMap<String, MemberRole>,
    /// Groups there and the price groups of the accounts here.
    #[serde(default)]
    pub groups: BTreeMap<String, String>,
}

fn usual_scopes() -> Vec<String> {
    ["email", "profile"].map(str::to_owned).to_vec()
}

impl OidcSettings {
    /// What its button says.
    pub fn title(&self) -> &str {
        if self.title.is_empty() {
            &self.name
        } else {
            &self.title
        }
    }

    /// The role of somebody with such groups: the mightiest, none when no group has one.
    pub fn role(&self, groups: &[String]) -> Option<MemberRole> {
        let own = groups.iter().map(String::as_str).chain(["*"]);
        let roles: Vec<MemberRole> = own
            .filter_map(|group| self.roles.get(group).copied())
            .collect();
        [MemberRole::Owner, MemberRole::Member, MemberRole::Viewer]
            .into_iter()
            .find(|role| roles.contains(role))
    }

    /// The price group of somebody with such groups: the first of theirs that has one.
    pub fn price_group(&self, groups: &[String]) -> Option<&str> {
        let own = groups.iter().map(String::as_str).chain(["*"]);
        let mut found = own.filter_map(|group| self.groups.get(group));
        found.next().map(String::as_str)
    }
}

/// Quota that is not less than nothing.
fn gift<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Quota, D::Error> {
    let quota = Quota::deserialize(deserializer)?;
    if quota < Quota::ZERO {
        return Err(de::Error::custom("must be 0 or more"));
    }
    Ok(quota)
}

impl PeopleSettings {
    /// Whether somebody with an address may open an account, invited by an operator or not.
    pub(crate) fn may_sign_up(&self, address: &MailAddress, invited: bool) -> bool {
        let at_home = || {
            let host = address.host().to_lowercase();
            self.domains
                .iter()
                .any(|domain| domain.eq_ignore_ascii_case(&host))
        };
        match self.signup {
            SignUpMode::Closed => false,
            SignUpMode::Invited => invited,
            SignUpMode::Domains => invited || at_home(),
            SignUpMode::Open => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whom_the_mode_lets_in_signs_up() {
        let may = |signup: SignUpMode, address: &str, invited: bool| {
            let settings = PeopleSettings {
                signup,
                domains: vec!["example.com".into()],
                welcome_quota: Quota::ZERO,
                oidc: Vec::new(),
            };
            let address = MailAddress::parse(address).expect("an address");
            settings.may_sign_up(&address, invited)
        };
        let (own, other) = ("ada@Example.com", "ada@example.org");
        let below = "ada@sub.example.com";
        let like = "ada@notexample.com";
        for (mode, expected) in [
            (SignUpMode::Closed, [false; 4]),
            (SignUpMode::Invited, [false; 4]),
            (SignUpMode::Domains, [true, false, false, false]),
            (SignUpMode::Open, [true; 4]),
        ] {
            assert_eq!(
                [own, other, below, like].map(|one| may(mode, one, false)),
                expected
            );
        }
        for (mode, expected) in [
            (SignUpMode::Closed, false),
            (SignUpMode::Invited, true),
            (SignUpMode::Domains, true),
            (SignUpMode::Open, true),
        ] {
            assert_eq!(may(mode, other, true), expected);
        }
    }
}
