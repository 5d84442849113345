//! People, members and invitations.

use atelier_contract::body::{self, Fields};
use atelier_contract::pages::keys::{KeyTerms, TAKEN_AWAY};
use atelier_contract::pages::people::{MemberPatch, MemberRole};
use atelier_contract::time::timestamp;
use atelier_contract::{Code, Refusal};
use atelier_engine::records::{
    Invitation, KeySpending, MemberProfile, Membership, PendingInvitation, Person, SessionRow,
};
use atelier_engine::{MemberRequest, session_id, stored_terms};
use schemars::JsonSchema;
use serde::Serialize;

use super::keys::{LimitRow, limit_rows};

/// A member of an account.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Member")]
pub(crate) struct MemberRow {
    /// Identifier of the member; jobs and the ledger name it.
    pub(crate) id: String,
    /// Identifier of the person.
    pub(crate) person_id: String,
    /// Where the person is written to.
    pub(crate) email: String,
    /// What the person calls themselves; may be empty.
    pub(crate) name: String,
    /// What the member may do: `owner`, `member` or `viewer`.
    pub(crate) role: MemberRole,
    /// How they became a member: `invitation`, `sign_up`, or `oidc:` and the name of a provider.
    pub(crate) origin: String,
    /// When they became one, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub(crate) created_at: String,
    /// When the person last signed in.
    pub(crate) seen_at: Option<String>,
    /// How much the member may spend, and has spent with its keys.
    pub(crate) limits: Vec<LimitRow>,
    /// The operations that the member may use; all when absent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) operations: Vec<String>,
    /// The models that the member may use; all when absent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) models: Vec<String>,
    /// The networks that the member may come from; all when absent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) addresses: Vec<String>,
    /// Submits in a second, those of its keys included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) submits_per_second: Option<u32>,
    /// Unfinished jobs that the member may have in a queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_queue: Option<i64>,
}

impl MemberRow {
    /// A member with what it has spent, at a moment.
    pub(crate) fn new(profile: MemberProfile, spending: &[KeySpending], now_ms: i64) -> Self {
        let MemberProfile {
            member,
            person,
            head,
        } = profile;
        let KeyTerms {
            limits,
            rules,
            max_queue,
        } = stored_terms(&head).unwrap_or_default();
        Self {
            limits: limit_rows(&member.id, limits, spending, now_ms),
            id: member.id,
            person_id: person.id,
            email: person.email.unwrap_or_default(),
            name: person.name,
            role: member.role,
            origin: member.origin,
            created_at: timestamp(member.created_ms),
            seen_at: person.seen_ms.map(timestamp),
            operations: rules.operations,
            models: rules.models,
            addresses: rules.addresses.iter().map(ToString::to_string).collect(),
            submits_per_second: rules.submits_per_second,
            max_queue,
        }
    }
}

/// A change of a member: what is given is changed, and null takes away.
pub(crate) struct MemberChange {
    fields: Fields,
}

impl MemberChange {
    /// Reads the fields of a body.
    pub(crate) fn read(fields: Fields) -> Result<Self, Refusal> {
        let mut of_keys = ["expiresAt", "expiresIn", "scopes", "note"].into_iter();
        if let Some(name) = of_keys.find(|name| fields.contains_key(*name)) {
            let message = "is for keys; a member has a role, limits and rules";
            return Err(Refusal::field(Code::InvalidParameter, name, message));
        }
        body::read::<MemberPatch>(fields.clone())?;
        Ok(Self { fields })
    }

    /// What a member becomes by it.
    pub(crate) fn over(&self, seen: &MemberProfile) -> Result<MemberRequest, Refusal> {
        let mut old = stored_terms(&seen.head)?;
        let is_null = |name: &&str| {
            let value = self.fields.get(*name);
            value.is_some_and(serde_json::Value::is_null)
        };
        for field in TAKEN_AWAY.iter().filter(|name| is_null(name)) {
            old.take_away(field);
        }
        let given: MemberPatch = body::read(self.fields.clone())?;
        Ok(MemberRequest {
            role: given.role.unwrap_or(seen.member.role),
            terms: given.terms_over(old)?,
        })
    }
}

/// An invitation that was not accepted yet.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Invitation")]
pub(crate) struct InvitationRow {
    /// Identifier of the invitation.
    pub(crate) id: String,
    /// Where it was sent.
    pub(crate) email: String,
    /// What whoever accepts it may do: `owner`, `member` or `viewer`.
    pub(crate) role: MemberRole,
    /// The member, key or operator that invited.
    pub(crate) invited_by: String,
    /// When it was sent, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub(crate) created_at: String,
    /// Until when it can be accepted.
    pub(crate) expires_at: String,
}

impl From<Invitation> for InvitationRow {
    fn from(invitation: Invitation) -> Self {
        Self {
            id: invitation.id,
            email: invitation.email,
            role: invitation.role,
            invited_by: invitation.invited_by,
            created_at: timestamp(invitation.created_ms),
            expires_at: timestamp(invitation.expires_ms),
        }
    }
}

/// An account that a person is a member of.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Membership")]
pub(crate) struct MembershipRow {
    /// Identifier of the account.
    pub(crate) id: String,
    /// The account's e-mail address.
    pub(crate) email: String,
    /// What the person may do there: `owner`, `member` or `viewer`.
    pub(crate) role: MemberRole,
    /// Identifier of the member.
    pub(crate) member_id: String,
}

impl From<Membership> for MembershipRow {
    fn from(own: Membership) -> Self {
        Self {
            id: own.member.account_id,
            email: own.account,
            role: own.member.role,
            member_id: own.member.id,
        }
    }
}

/// An invitation of the person who asks.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "OwnInvitation")]
pub(crate) struct OwnInvitationRow {
    /// Identifier of the invitation.
    pub(crate) id: String,
    /// The e-mail address of the account; null of an invitation to open one.
    pub(crate) account: Option<String>,
    /// What the person would be there.
    pub(crate) role: MemberRole,
    /// Until when it can be accepted.
    pub(crate) expires_at: String,
}

impl From<PendingInvitation> for OwnInvitationRow {
    fn from(pending: PendingInvitation) -> Self {
        Self {
            id: pending.invitation.id,
            account: pending.account,
            role: pending.invitation.role,
            expires_at: timestamp(pending.invitation.expires_ms),
        }
    }
}

/// A person.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Person")]
pub(crate) struct PersonRow {
    /// Identifier of the person.
    pub(crate) id: String,
    /// Where the person is written to.
    pub(crate) email: String,
    /// Whether it is proved that the address is theirs.
    pub(crate) email_verified: bool,
    /// What others see; may be empty.
    pub(crate) name: String,
    /// The language of e-mail: `en`, `de` or `zh`.
    pub(crate) language: String,
    /// When they became known, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub(crate) created_at: String,
    /// When they last signed in.
    pub(crate) seen_at: Option<String>,
}

impl From<Person> for PersonRow {
    fn from(person: Person) -> Self {
        Self {
            id: person.id,
            email: person.email.unwrap_or_default(),
            email_verified: person.verified_ms.is_some(),
            name: person.name,
            language: person.language,
            created_at: timestamp(person.created_ms),
            seen_at: person.seen_ms.map(timestamp),
        }
    }
}

/// Who is signed in.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Me {
    /// The person.
    pub(crate) person: PersonRow,
    /// The accounts that they are a member of, the first one first.
    pub(crate) accounts: Vec<MembershipRow>,
    /// What they are invited to.
    pub(crate) invitations: Vec<OwnInvitationRow>,
}

/// A person with the accounts that they are a member of.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PersonAccounts {
    /// The person.
    #[serde(flatten)]
    pub(crate) person: PersonRow,
    /// The accounts, the first one first.
    pub(crate) accounts: Vec<MembershipRow>,
}

/// A session of the person who asks.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "PersonSession")]
pub(crate) struct PersonSessionRow {
    /// Identifier of the session, to end it by.
    pub(crate) id: String,
    /// Whether it is the one that asks.
    pub(crate) current: bool,
    /// What it was opened with: `link`, or `oidc:` and the name of a provider.
    pub(crate) means: String,
    /// The browser, by its own word.
    pub(crate) agent: String,
    /// The network that it was opened from.
    pub(crate) network: String,
    /// When it was opened, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub(crate) created_at: String,
    /// When it was last used, to the minute.
    pub(crate) seen_at: String,
}

impl PersonSessionRow {
    /// A session as the one with an identifier sees it.
    pub(crate) fn new(row: SessionRow, current: &str) -> Self {
        let id = session_id(&row).to_owned();
        let person = row.person;
        let text = |text: Option<String>| text.unwrap_or_default();
        Self {
            current: id == current,
            id,
            means: text(person.as_ref().map(|one| one.means.clone())),
            agent: text(person.as_ref().map(|one| one.agent.clone())),
            network: text(person.map(|one| one.network)),
            created_at: timestamp(row.created_ms),
            seen_at: timestamp(row.seen_ms),
        }
    }
}
