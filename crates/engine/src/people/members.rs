//! Members of an account: listed, changed and removed by its owners, by its free keys, or by an operator.

use std::collections::HashMap;

use atelier_contract::pages::keys::KeyTerms;
use atelier_contract::pages::people::MemberRole;
use atelier_contract::{AccountId, Code, Refusal};
use atelier_store::{
    AddMemberOutcome, MemberChange, MemberChangeOutcome, MemberProfile, Membership, NewMember,
    RemoveMemberOutcome,
};

use super::people_deps::{LACKS, PeopleDeps};
use crate::admin::{Caller, KeyHolder, MEMBER, is_free, older_node, to_store};
use crate::context::unavailable;
use crate::crash;
use crate::key;

/// Members that an account may have.
const MEMBERS_MOST: i64 = 1_000;
/// How often a change is tried that others cross.
const CROSSED_MOST: usize = 3;

/// What a member shall be.
#[derive(Clone, Debug)]
pub struct MemberRequest {
    pub role: MemberRole,
    /// What it may spend and do.
    pub terms: KeyTerms,
}

/// How a member is changed: from what it is to what it shall be. It may be asked more than once.
pub type MemberEdit<'a> =
    &'a (dyn Fn(&MemberProfile) -> Result<MemberRequest, Refusal> + Send + Sync);

/// Members of accounts.
pub struct Members {
    deps: PeopleDeps,
}

impl Members {
    pub(super) fn new(deps: PeopleDeps) -> Self {
        Self { deps }
    }

    /// The members of an account, the first one first.
    pub async fn list(&self, account_id: &AccountId) -> Result<Vec<MemberProfile>, Refusal> {
        let members = self.deps.context.store().people().members();
        members.list(account_id).await.map_err(unavailable)
    }

    /// One member of an account.
    pub async fn one(&self, account_id: &AccountId, id: &str) -> Result<MemberProfile, Refusal> {
        let members = self.deps.context.store().people().members();
        let found = members.find(account_id, id).await;
        found.map_err(unavailable)?.ok_or_else(no_member)
    }

    /// What some members of an account are called, of removed ones as well.
    pub async fn names(
        &self,
        account_id: &AccountId,
        ids: &[&str],
    ) -> Result<HashMap<String, String>, Refusal> {
        let members = self.deps.context.store().people().members();
        let names = members.names(account_id, ids).await;
        Ok(names.map_err(unavailable)?.into_iter().collect())
    }

    /// The accounts that a person is a member of.
    pub async fn of_person(&self, person_id: &str) -> Result<Vec<Membership>, Refusal> {
        let members = self.deps.context.store().people().members();
        members.of_person(person_id).await.map_err(unavailable)
    }

    /// Refuses a caller who may not say who is a member. A key that belongs to a member may not: it would widen what is above it.
    pub async fn check_manager(&self, by: KeyHolder<'_>) -> Result<(), Refusal> {
        let KeyHolder::Caller(caller) = by else {
            return Ok(());
        };
        if caller.is_owner() {
            return Ok(());
        }
        let keys = self.deps.admin.keys().working(&caller.account_id).await?;
        if is_free(&keys, caller) {
            return Ok(());
        }
        let message = "members are looked after by owners who are signed in, and by keys of the account that are below no other, have \
             no limits and do not expire";
        Err(Refusal::new(Code::Forbidden, message))
    }

    /// Changes what a member may do and spend, on every node at once. Whether it may is asked once, when nothing else speaks against it.
    pub async fn change<E: From<Refusal>>(
        &self,
        account_id: &AccountId,
        id: &str,
        edit: MemberEdit<'_>,
        by: KeyHolder<'_>,
        may: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        self.check_manager(by).await?;
        let (context, mut may) = (&self.deps.context, Some(may));
        for _ in 0..CROSSED_MOST {
            let seen = self.one(account_id, id).await?;
            let wanted = edit(&seen)?;
            may.take().map_or(Ok(()), |may| may())?;
            let change = MemberChange {
                seen,
                role: wanted.role,
                terms: to_store(&wanted.terms),
                now_ms: context.now_ms(),
                alive_since_ms: context.alive_since_ms(),
            };
            let act = Some(by.act(context, "member.change", account_id, id));
            let changed = context.store().people().members().change(change, act).await;
            crash::point("admin.acted");
            match changed.map_err(unavailable)? {
                MemberChangeOutcome::Done => {
                    self.deps.admin.callers().void_account(account_id);
                    return Ok(());
                }
                MemberChangeOutcome::Crossed => {}
                MemberChangeOutcome::LastOwner => return Err(last_owner().into()),
                MemberChangeOutcome::NoMember => return Err(no_member().into()),
                MemberChangeOutcome::OlderNode(node) => {
                    return Err(older_node(&node, LACKS).into());
                }
            }
        }
        let message = "the member is being changed by somebody else; look at it again";
        Err(Refusal::new(Code::Conflict, message).into())
    }

    /// Makes a person a member of an account, because of what a provider says of them.
    #[cfg_attr(not(feature = "people"), expect(dead_code, reason = "for providers"))]
    pub(super) async fn enroll(
        &self,
        account_id: &AccountId,
        person_id: &str,
        role: MemberRole,
        origin: &str,
    ) -> Result<(), Refusal> {
        let context = &self.deps.context;
        let new = new_member(&self.deps, account_id, person_id, role, origin);
        let act = context.own_act(account_id, &new.id, "member.join", &new.id, origin);
        let added = context.store().people().members().add(new, Some(act)).await;
        match added.map_err(unavailable)? {
            AddMemberOutcome::Done(_) | AddMemberOutcome::Already(_) => Ok(()),
            AddMemberOutcome::TooMany => Err(Refusal::new(
                Code::Conflict,
                "the account has as many members as it may have",
            )),
            AddMemberOutcome::OlderNode(node) => Err(older_node(&node, LACKS)),
            AddMemberOutcome::NoAccount => Err(Refusal::new(Code::NotFound, "no such account")),
        }
    }

    /// Gives a member the role that a provider says; the last owner stays one.
    #[cfg_attr(not(feature = "people"), expect(dead_code, reason = "for providers"))]
    pub(super) async fn take_role(
        &self,
        account_id: &AccountId,
        id: &str,
        role: MemberRole,
    ) -> Result<(), Refusal> {
        let context = &self.deps.context;
        for _ in 0..CROSSED_MOST {
            let seen = self.one(account_id, id).await?;
            let change = MemberChange {
                role,
                terms: seen.head.terms.clone(),
                seen,
                now_ms: context.now_ms(),
                alive_since_ms: context.alive_since_ms(),
            };
            let act = context.own_act(account_id, id, "member.change", id, role.word());
            let changed = context
                .store()
                .people()
                .members()
                .change(change, Some(act))
                .await;
            match changed.map_err(unavailable)? {
                MemberChangeOutcome::Done => {
                    self.deps.admin.callers().void_account(account_id);
                    return Ok(());
                }
                MemberChangeOutcome::Crossed => {}
                MemberChangeOutcome::LastOwner => return Ok(()),
                MemberChangeOutcome::NoMember => return Err(no_member()),
                MemberChangeOutcome::OlderNode(node) => return Err(older_node(&node, LACKS)),
            }
        }
        Err(Refusal::new(
            Code::Conflict,
            "the member is being changed; try again",
        ))
    }

    /// Removes a member, with its keys and sessions, on every node at once; its jobs go on.
    pub async fn remove(
        &self,
        account_id: &AccountId,
        id: &str,
        by: KeyHolder<'_>,
    ) -> Result<(), Refusal> {
        self.check_manager(by).await?;
        let act = by.act(&self.deps.context, "member.remove", account_id, id);
        self.end(account_id, id, act).await
    }

    /// Has somebody leave an account.
    pub async fn leave(&self, person_id: &str, account_id: &AccountId) -> Result<(), Refusal> {
        let all = self.of_person(person_id).await?;
        let mut own = all.iter().map(|one| &one.member);
        let own = own.find(|own| own.account_id == account_id.as_str());
        let own = own.ok_or_else(no_member)?;
        let context = &self.deps.context;
        let act = context.own_act(account_id, &own.id, "member.leave", &own.id, "");
        self.end(account_id, &own.id, act).await
    }

    async fn end(
        &self,
        account_id: &AccountId,
        id: &str,
        act: atelier_store::AuditRow,
    ) -> Result<(), Refusal> {
        let context = &self.deps.context;
        let members = context.store().people().members();
        let removed = members
            .remove(account_id, id, context.now_ms(), Some(act))
            .await;
        crash::point("admin.acted");
        match removed.map_err(unavailable)? {
            RemoveMemberOutcome::Done(hashes) => {
                for hash in &hashes {
                    self.deps.admin.callers().void_key(hash);
                }
                Ok(())
            }
            RemoveMemberOutcome::LastOwner => Err(last_owner()),
            RemoveMemberOutcome::NoMember => Err(no_member()),
        }
    }

    /// Ends every session that stands for a member; its keys go on.
    pub async fn sign_out(
        &self,
        account_id: &AccountId,
        id: &str,
        by: KeyHolder<'_>,
    ) -> Result<u64, Refusal> {
        self.check_manager(by).await?;
        self.one(account_id, id).await?;
        let sessions = self.deps.context.store().people().sessions();
        let ended = sessions.close_member(account_id, id).await;
        ended.map_err(unavailable)
    }
}

/// A member that is not stored yet: a head whose secret nobody knows.
pub(super) fn new_member(
    deps: &PeopleDeps,
    account_id: &str,
    person_id: &str,
    role: MemberRole,
    origin: &str,
) -> NewMember {
    let context = &deps.context;
    NewMember {
        id: format!("{MEMBER}{}", context.ids().uuid()),
        account_id: account_id.to_owned(),
        person_id: person_id.to_owned(),
        role,
        origin: origin.to_owned(),
        hash: key::hash(&key::generate()),
        most: MEMBERS_MOST,
        now_ms: context.now_ms(),
        alive_since_ms: context.alive_since_ms(),
    }
}

pub(super) fn no_member() -> Refusal {
    Refusal::new(Code::NotFound, "no such member")
}

fn last_owner() -> Refusal {
    let message = "nobody else is an owner of the account; make another member one first";
    Refusal::new(Code::Conflict, message)
}

/// Who does something to a member in the name of a caller.
pub(super) fn invited_by(by: KeyHolder<'_>) -> String {
    match by {
        KeyHolder::Caller(Caller { key_id, .. }) => key_id.to_string(),
        KeyHolder::Operator(name) | KeyHolder::Visitor(name) => name.to_owned(),
    }
}
