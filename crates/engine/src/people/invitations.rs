//! Invitations: written by e-mail to an address, and accepted by whoever proves that it is theirs.

use atelier_contract::fields::MailAddress;
use atelier_contract::pages::people::{Language, MemberRole};
use atelier_contract::{AccountId, Code, Refusal};
use atelier_store::{
    AcceptInvitationOutcome, Acceptee, Invitation, InviteOutcome, Member, NewInvitation,
    PendingInvitation, Person,
};

use super::letters::{self, LetterContext};
use super::members::{invited_by, new_member};
use super::people_deps::{LACKS, PeopleDeps};
use crate::admin::{KeyHolder, older_node};
use crate::context::unavailable;
use crate::crash;
use crate::key;
use crate::settings::SignUpMode;

/// How long an invitation can be accepted.
const INVITED_MS: i64 = 7 * 24 * 3_600_000;
/// Invitations that an account may have, and that operators may have written to open one.
const INVITATIONS_MOST: i64 = 100;

/// Who is to be invited.
#[derive(Clone, Debug)]
pub struct InvitationRequest {
    pub email: MailAddress,
    pub role: MemberRole,
    pub language: Language,
}

/// Who is asked to join.
pub struct Invitations {
    deps: PeopleDeps,
}

impl Invitations {
    pub(super) fn new(deps: PeopleDeps) -> Self {
        Self { deps }
    }

    /// Invites somebody into an account, or, without one, to open one. Whoever invites is not told the word of the e-mail: it proves
    /// whose the address is.
    pub async fn create(
        &self,
        account: Option<(&AccountId, &str)>,
        request: InvitationRequest,
        by: KeyHolder<'_>,
    ) -> Result<Invitation, Refusal> {
        let context = &self.deps.context;
        if account.is_none() && context.settings().people.signup == SignUpMode::Closed {
            let message = "nobody may open an account here (people.signup is closed); invite into an account instead";
            return Err(Refusal::new(Code::Conflict, message));
        }
        let account_id = account.map(|(id, _)| id.to_string());
        let (word, now_ms) = (key::generate_session(), context.now_ms());
        let invitation = Invitation {
            id: context.ids().uuid(),
            account_id: account_id.clone(),
            email: request.email.as_str().to_owned(),
            role: request.role,
            invited_by: invited_by(by),
            created_ms: now_ms,
            expires_ms: now_ms + INVITED_MS,
        };
        let new = NewInvitation {
            invitation: invitation.clone(),
            email_key: request.email.key(),
            hash: key::hash(&word),
            most: INVITATIONS_MOST,
            alive_since_ms: context.alive_since_ms(),
        };
        let act = self.act(
            by,
            "invitation.create",
            account.map(|(id, _)| id),
            &invitation.id,
        );
        let added = context
            .store()
            .people()
            .invitations()
            .add(new, Some(act))
            .await;
        crash::point("admin.acted");
        match added.map_err(unavailable)? {
            InviteOutcome::Done => {}
            InviteOutcome::Already => {
                return Err(Refusal::field(
                    Code::Conflict,
                    "email",
                    "is the address of a member already",
                ));
            }
            InviteOutcome::TooMany => {
                let message = format!(
                    "there are {INVITATIONS_MOST} invitations already; take one back first"
                );
                return Err(Refusal::new(Code::Conflict, message));
            }
            InviteOutcome::OlderNode(node) => return Err(older_node(&node, LACKS)),
            InviteOutcome::NoAccount => {
                return Err(Refusal::new(Code::NotFound, "no such account"));
            }
        }
        let letter = letters::invitation(
            &LetterContext {
                to: request.email,
                language: request.language,
                base_url: &context.settings().urls.base,
            },
            account.map(|(_, name)| name),
            request.role,
            &word,
        );
        self.deps.mail.post(letter, invitation.expires_ms);
        Ok(invitation)
    }

    /// The invitations into an account that are not over, the latest first; without one those that let an account be opened.
    pub async fn list(&self, account_id: Option<&AccountId>) -> Result<Vec<Invitation>, Refusal> {
        let context = &self.deps.context;
        let account_id = account_id.map(AccountId::as_str);
        let listed = context.store().people().invitations();
        let listed = listed.list(account_id, context.now_ms()).await;
        listed.map_err(unavailable)
    }

    /// Takes an invitation back.
    pub async fn withdraw(
        &self,
        account_id: Option<&AccountId>,
        id: &str,
        by: KeyHolder<'_>,
    ) -> Result<(), Refusal> {
        let context = &self.deps.context;
        let act = self.act(by, "invitation.remove", account_id, id);
        let account_id = account_id.map(AccountId::as_str);
        let invitations = context.store().people().invitations();
        let gone = invitations.withdraw(account_id, id, Some(act)).await;
        crash::point("admin.acted");
        if gone.map_err(unavailable)? {
            return Ok(());
        }
        Err(no_invitation())
    }

    /// The invitations of a person who can accept them: the address is proved to be theirs.
    pub async fn to(&self, person: &Person) -> Result<Vec<PendingInvitation>, Refusal> {
        let Some(email) = proved(person) else {
            return Ok(Vec::new());
        };
        let context = &self.deps.context;
        let listed = context.store().people().invitations();
        let listed = listed.to(&email.key(), context.now_ms()).await;
        listed.map_err(unavailable)
    }

    /// Makes a person a member of the account that an invitation names.
    pub async fn accept(&self, person: &Person, id: &str) -> Result<Member, Refusal> {
        let email = proved(person).ok_or_else(no_invitation)?;
        let pending = self.to(person).await?;
        let found = pending.iter().map(|pending| &pending.invitation);
        let found = found.clone().find(|invitation| invitation.id == id);
        let account_id = found.and_then(|invitation| invitation.account_id.as_deref());
        let account_id = account_id.ok_or_else(no_invitation)?;
        let member = new_member(
            &self.deps,
            account_id,
            &person.id,
            MemberRole::Viewer,
            "invitation",
        );
        let context = &self.deps.context;
        let (owner, member_id) = (AccountId::new(account_id.to_owned()), member.id.clone());
        let act = context.own_act(&owner, &member_id, "member.join", &member_id, "");
        let acceptee = Acceptee {
            invitation_id: id.to_owned(),
            email_key: email.key(),
            member,
        };
        let accepted = context.store().people().invitations();
        let accepted = accepted.accept(acceptee, Some(act)).await;
        crash::point("admin.acted");
        match accepted.map_err(unavailable)? {
            AcceptInvitationOutcome::Done(member) => Ok(member),
            AcceptInvitationOutcome::NoInvitation => Err(no_invitation()),
            AcceptInvitationOutcome::TooMany => Err(Refusal::new(
                Code::Conflict,
                "the account has as many members as it may have",
            )),
            AcceptInvitationOutcome::OlderNode(node) => Err(older_node(&node, LACKS)),
        }
    }

    /// Declines an invitation.
    pub async fn decline(&self, person: &Person, id: &str) -> Result<(), Refusal> {
        let email = proved(person).ok_or_else(no_invitation)?;
        let invitations = self.deps.context.store().people().invitations();
        let gone = invitations.decline(&email.key(), id).await;
        if gone.map_err(unavailable)? {
            return Ok(());
        }
        Err(no_invitation())
    }

    fn act(
        &self,
        by: KeyHolder<'_>,
        action: &str,
        account_id: Option<&AccountId>,
        id: &str,
    ) -> atelier_store::AuditRow {
        let context = &self.deps.context;
        match (by, account_id) {
            (KeyHolder::Caller(caller), Some(account_id)) => {
                context.own_act(account_id, &caller.key_id, action, id, "")
            }
            // Whose the address is stands in no list that is kept: it goes with the person.
            (by, account_id) => {
                let account = account_id.map_or("", AccountId::as_str);
                context.act(&invited_by(by), action, id, account)
            }
        }
    }
}

/// The address of a person, if it is proved to be theirs.
fn proved(person: &Person) -> Option<MailAddress> {
    person.verified_ms?;
    MailAddress::parse(person.email.as_deref()?)
}

pub(super) fn no_invitation() -> Refusal {
    Refusal::new(
        Code::NotFound,
        "no such invitation; it may have been taken back, or be over",
    )
}
