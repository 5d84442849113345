//! Somebody has proved that an address is theirs, or who they are at a provider: the person, the account and the session that follow
//! from that.

use atelier_contract::fields::MailAddress;
use atelier_contract::pages::people::{Language, MemberRole};
use atelier_contract::{AccountId, Code, Quota, Refusal};
use atelier_store::{
    Credit, CreditKind, Membership, NewAccount, NewPerson, Person, PersonOutcome, SignUp,
    SignUpOutcome, Welcome,
};

use super::browser::SignInBrowser;
use super::service::SignIns;
use crate::admin::{PersonEntry, older_node};
use crate::context::unavailable;
use crate::people::members::new_member;
use crate::people::people_deps::LACKS;

/// What an account is told about the quota that it begins with.
const WELCOME: &str = "welcome";

/// How somebody came in.
pub(super) struct Entrance {
    /// What they proved it with: the session ends with that.
    pub(super) means: String,
    pub(super) browser: SignInBrowser,
}

/// Somebody who is signed in now.
#[derive(Clone, Debug)]
pub struct SignedIn {
    /// The word of the session.
    pub word: String,
    pub person_id: String,
}

impl SignIns {
    /// Makes whoever has proved an address a person, if they may be one, and lets them in.
    pub(super) async fn arrive(
        &self,
        address: &MailAddress,
        language: Language,
        entrance: Entrance,
    ) -> Result<SignedIn, Refusal> {
        let person = self.person_of(address, language).await?;
        self.let_in(&person, address, entrance).await
    }

    /// The person with an address, which is proved to be theirs; made if somebody with that address may become one.
    pub(super) async fn person_of(
        &self,
        address: &MailAddress,
        language: Language,
    ) -> Result<Person, Refusal> {
        if !self.may_enter(address).await? {
            return Err(not_invited());
        }
        self.ensure_person(address, language).await
    }

    /// The same for somebody who may become one for another reason.
    pub(super) async fn ensure_person(
        &self,
        address: &MailAddress,
        language: Language,
    ) -> Result<Person, Refusal> {
        let context = &self.deps.context;
        let new = NewPerson {
            id: context.ids().uuid(),
            email: address.as_str().to_owned(),
            email_key: address.key(),
            name: String::new(),
            language: language.word().to_owned(),
            verified_ms: Some(context.now_ms()),
            now_ms: context.now_ms(),
            alive_since_ms: context.alive_since_ms(),
        };
        let made = context.store().people().ensure(new).await;
        match made.map_err(unavailable)? {
            PersonOutcome::Done(person) => Ok(person),
            PersonOutcome::OlderNode(node) => Err(older_node(&node, LACKS)),
        }
    }

    /// Whether somebody with an address is a person, is invited, or may sign up.
    pub(super) async fn may_enter(&self, address: &MailAddress) -> Result<bool, Refusal> {
        let (context, key) = (&self.deps.context, address.key());
        let store = context.store();
        // Both are asked whatever the first one says: nobody learns from the time it takes.
        let (people, invitations) = (store.people(), store.people().invitations());
        let (known, invited) = tokio::join!(
            people.by_email(&key),
            invitations.to(&key, context.now_ms())
        );
        let (known, invited) = (known.map_err(unavailable)?, invited.map_err(unavailable)?);
        let may = context.settings().people.may_sign_up(address, false);
        Ok(known.is_some() || !invited.is_empty() || may)
    }

    /// Opens a session for a person; one who is a member of nothing opens an account first, if they may.
    pub(super) async fn let_in(
        &self,
        person: &Person,
        address: &MailAddress,
        entrance: Entrance,
    ) -> Result<SignedIn, Refusal> {
        let mut memberships = self.memberships(&person.id).await?;
        if memberships.is_empty() && self.sign_up(person, address).await? {
            memberships = self.memberships(&person.id).await?;
        }
        let Entrance { means, browser } = entrance;
        let entry = PersonEntry {
            person_id: person.id.clone(),
            membership: memberships.into_iter().next(),
            means,
            agent: browser.agent,
            network: browser.network,
        };
        let sessions = self.deps.admin.sessions();
        let earlier = browser.earlier.as_deref();
        Ok(SignedIn {
            word: sessions.open_person(entry, earlier).await?,
            person_id: person.id.clone(),
        })
    }

    async fn memberships(&self, person_id: &str) -> Result<Vec<Membership>, Refusal> {
        self.deps.admin.sessions().memberships(person_id).await
    }

    /// Opens an account for somebody who may have one; whether it did. Whoever is invited into an account decides about that first, and
    /// an operator needs none.
    async fn sign_up(&self, person: &Person, address: &MailAddress) -> Result<bool, Refusal> {
        let (context, key) = (&self.deps.context, address.key());
        let store = context.store();
        let invited = store
            .people()
            .invitations()
            .to(&key, context.now_ms())
            .await;
        let invited = invited.map_err(unavailable)?;
        let mut into = invited.iter().map(|one| &one.invitation.account_id);
        let to_open = invited
            .iter()
            .find(|one| one.invitation.account_id.is_none());
        if into.any(Option::is_some) {
            return Ok(false);
        }
        let operator = store.admin().operator_of_person(&person.id).await;
        let is_operator = operator.map_err(unavailable)?.is_some();
        let may = context
            .settings()
            .people
            .may_sign_up(address, to_open.is_some());
        if !may || is_operator {
            return Ok(false);
        }
        let account_id = context.ids().uuid();
        let owner = new_member(
            &self.deps,
            &account_id,
            &person.id,
            MemberRole::Owner,
            "sign_up",
        );
        let act = context.own_act(
            &AccountId::new(account_id.clone()),
            &owner.id,
            "account.create",
            &account_id,
            "",
        );
        let sign_up = SignUp {
            welcome: self.welcome(&account_id, address),
            account: NewAccount {
                id: account_id,
                email: address.as_str().to_owned(),
                email_verified_ms: Some(context.now_ms()),
                balance: Quota::ZERO,
                max_queue: context.settings().jobs.max_queue,
                ledger_id: context.ids().uuid(),
                now_ms: context.now_ms(),
            },
            owner,
        };
        let opened = store.people().sign_up(sign_up, Some(act)).await;
        match opened.map_err(unavailable)? {
            SignUpOutcome::Done { .. } => {
                if let Some(used) = to_open {
                    let gone = store
                        .people()
                        .invitations()
                        .decline(&key, &used.invitation.id)
                        .await;
                    gone.map_err(unavailable)?;
                }
                Ok(true)
            }
            // An account with this address is somebody else's until they invite its owner.
            SignUpOutcome::Taken => Ok(false),
            SignUpOutcome::NoPerson => Err(not_invited()),
        }
    }

    /// What a new account is given, once for each person as far as addresses can tell.
    fn welcome(&self, account_id: &str, address: &MailAddress) -> Option<Welcome> {
        let context = &self.deps.context;
        let amount = context.settings().people.welcome_quota;
        (amount > Quota::ZERO).then(|| Welcome {
            address_hash: context.keyring().address_digest(&address.folded()),
            credit: Credit {
                id: context.ids().uuid(),
                account_id: account_id.to_owned(),
                amount,
                kind: CreditKind::Grant,
                reason: WELCOME.to_owned(),
                idempotency_key: Some(WELCOME.to_owned()),
                end: None,
                now_ms: context.now_ms(),
            },
        })
    }
}

/// What is told of whoever may not come in. Nobody but the owner of the address is told.
pub(super) fn not_invited() -> Refusal {
    let message = "nobody with this address may sign in here; ask for an invitation";
    Refusal::new(Code::Forbidden, message)
}
