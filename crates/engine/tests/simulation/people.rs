//! People of the accounts: an owner and a member by whose key the account's jobs come. The operator changes what the member may spend and
//! removes it one day; strangers open accounts, each of them twice at once, and are welcomed once.

use std::sync::Arc;
use std::time::Duration;

use atelier_contract::fields::MailAddress;
use atelier_contract::pages::keys::{KeyLimit, KeyTerms};
use atelier_contract::pages::people::{Language, MemberRole};
use atelier_contract::{Code, LimitWindow, Quota, Refusal};
use atelier_engine::{
    Caller, Engine, InvitationRequest, KeyHolder, KeyRequest, MemberRequest, PersonEntry,
};
use atelier_store::{
    Credit, CreditKind, NewAccount, NewMember, NewPerson, Person, PersonOutcome, SignUp,
    SignUpOutcome, Store, Welcome,
};
use tokio::time::sleep;

use crate::world::{Shared, lock};

const BY: KeyHolder<'static> = KeyHolder::Operator("root");
/// What a stranger is given, in thousandths.
const WELCOME: i64 = 2_000;
/// Strangers who may come.
const STRANGERS: usize = 4;

/// The member of an account by whose key its jobs come.
#[derive(Clone)]
pub(crate) struct WorkingMember {
    caller: Caller,
    id: String,
    secret: String,
    /// Whether it was answered that it is one no more.
    removed: bool,
}

async fn person(engine: &Engine, store: &Store, email: &str) -> Result<Person, Refusal> {
    let new = NewPerson {
        id: format!("person of {email}"),
        email: email.to_owned(),
        email_key: email.to_owned(),
        name: String::new(),
        language: "en".to_owned(),
        verified_ms: Some(engine.now_ms()),
        now_ms: engine.now_ms(),
        alive_since_ms: engine.now_ms(),
    };
    match store.people().ensure(new).await {
        Ok(PersonOutcome::Done(person)) => Ok(person),
        other => Err(Refusal::new(Code::Internal, format!("{other:?}"))),
    }
}

/// The key of a new member of a caller's account, most often; the account's own key otherwise.
pub(crate) async fn set_up(
    world: &Shared,
    engine: &Engine,
    store: &Store,
    caller: Caller,
) -> Result<Caller, Refusal> {
    let is_member = lock(world).percent() < 60;
    if !is_member {
        return Ok(caller);
    }
    let account = &caller.account_id;
    let mut entry = None;
    for role in [MemberRole::Owner, MemberRole::Member] {
        let email = format!("{}@{account}.example.com", role.word());
        let request = InvitationRequest {
            email: MailAddress::parse(&email).expect("an address"),
            role,
            language: Language::English,
        };
        let invitations = engine.people().invitations();
        let person = person(engine, store, &email).await?;
        let into = Some((account, "an account"));
        let invitation = invitations.create(into, request, BY).await?;
        let member = invitations.accept(&person, &invitation.id).await?;
        entry = Some((person.id, member.id));
    }
    let (person_id, id) = entry.expect("two members");
    let sessions = engine.admin().sessions();
    let membership = sessions.memberships(&person_id).await?.into_iter().next();
    let entry = PersonEntry {
        person_id,
        membership,
        means: "link".to_owned(),
        agent: "a browser".to_owned(),
        network: "192.0.2.0".to_owned(),
    };
    let word = sessions.open_person(entry, None).await?;
    let principal = sessions.visitor(&word, "").await?;
    let nobody = || Refusal::new(Code::Internal, "a session of nobody");
    let visitor = principal.and_then(|principal| principal.caller);
    let visitor = visitor.ok_or_else(nobody)?;
    let may = || Ok::<(), Refusal>(());
    let wish = KeyRequest::named("a member's");
    let (_, secret) = engine.admin().keys().issue_own(&visitor, wish, may).await?;
    let caller = engine.admin().callers().authenticate(&secret).await?;
    let member = WorkingMember {
        caller: caller.clone(),
        id,
        secret: secret.clone(),
        removed: false,
    };
    limit(world, engine, &member).await?;
    lock(world).members.push(member);
    Ok(caller)
}

/// Limits what a member may spend.
async fn limit(world: &Shared, engine: &Engine, member: &WorkingMember) -> Result<(), Refusal> {
    let most = lock(world).dice.i64(10..150);
    let terms = KeyTerms {
        limits: vec![KeyLimit {
            window: LimitWindow::Day,
            quota: Quota::from_thousandths(most * 1000),
        }],
        ..KeyTerms::default()
    };
    let edit = |seen: &atelier_engine::records::MemberProfile| {
        Ok(MemberRequest {
            role: seen.member.role,
            terms: terms.clone(),
        })
    };
    let may = || Ok::<(), Refusal>(());
    let members = engine.people().members();
    let account = &member.caller.account_id;
    members.change(account, &member.id, &edit, BY, may).await
}

/// The operator changes what members may spend, and removes some.
pub(crate) async fn manage(world: Shared, engine: Arc<Engine>) {
    loop {
        let (pause_ms, what) = {
            let mut world = lock(&world);
            (world.dice.u64(3_000..60_000), world.percent())
        };
        sleep(Duration::from_millis(pause_ms)).await;
        let (calm, members) = {
            let world = lock(&world);
            (world.is_calm(), world.members.clone())
        };
        if calm || members.is_empty() {
            return;
        }
        let place = what as usize % members.len();
        let member = &members[place];
        let (what, done) = if what < 85 {
            ("limit", limit(&world, &engine, member).await)
        } else {
            let account = &member.caller.account_id;
            let removed = engine.people().members();
            let removed = removed.remove(account, &member.id, BY).await;
            lock(&world).members[place].removed |= removed.is_ok();
            ("remove", removed)
        };
        let said = done.map_or_else(|refusal| format!("{:?}", refusal.code), |()| "done".into());
        lock(&world).note(&format!("member {place} {what}: {said}"));
    }
}

/// Strangers open accounts now and then, each of them in two browsers at once.
pub(crate) async fn sign_up(world: Shared, engine: Arc<Engine>, store: Store) {
    loop {
        let (pause_ms, stranger) = {
            let mut world = lock(&world);
            (
                world.dice.u64(5_000..60_000),
                world.dice.usize(0..STRANGERS),
            )
        };
        sleep(Duration::from_millis(pause_ms)).await;
        if lock(&world).is_calm() {
            return;
        }
        let both = (
            open_account(&world, &engine, &store, stranger),
            open_account(&world, &engine, &store, stranger),
        );
        let (one, other) = tokio::join!(both.0, both.1);
        lock(&world).note(&format!("stranger {stranger}: {one} and {other}"));
    }
}

/// Opens an account for a stranger by an address that looks like another one each time, as a sign-in does.
async fn open_account(world: &Shared, engine: &Engine, store: &Store, stranger: usize) -> String {
    let (tag, ids) = {
        let mut world = lock(world);
        let ids = world.ids.clone();
        (world.dice.u32(0..3), ids)
    };
    let email = format!("stranger-{stranger}+{tag}@example.com");
    let Ok(person) = person(engine, store, &email).await else {
        return "not now".to_owned();
    };
    let (account_id, now_ms) = (ids.uuid(), engine.now_ms());
    let opened = SignUp {
        account: NewAccount {
            id: account_id.clone(),
            email,
            email_verified_ms: Some(now_ms),
            balance: Quota::ZERO,
            max_queue: 8,
            ledger_id: ids.uuid(),
            now_ms,
        },
        owner: NewMember {
            id: ids.uuid(),
            account_id: account_id.clone(),
            person_id: person.id,
            role: MemberRole::Owner,
            origin: "sign_up".to_owned(),
            hash: ids.uuid(),
            most: 10,
            now_ms,
            alive_since_ms: now_ms,
        },
        welcome: Some(Welcome {
            address_hash: format!("stranger {stranger}"),
            credit: Credit {
                id: ids.uuid(),
                account_id,
                amount: Quota::from_thousandths(WELCOME),
                kind: CreditKind::Grant,
                reason: format!("welcome, stranger {stranger}"),
                idempotency_key: Some("welcome".to_owned()),
                end: None,
                now_ms,
            },
        }),
    };
    match store.people().sign_up(opened, None).await {
        Ok(SignUpOutcome::Done { welcomed, .. }) => format!("welcomed: {welcomed}"),
        Ok(SignUpOutcome::Taken) => "taken".to_owned(),
        Ok(SignUpOutcome::NoPerson) => "no person".to_owned(),
        Err(_) => "no answer".to_owned(),
    }
}

/// Removed members are gone with their keys, the others work, owners stay, and each stranger was welcomed once.
pub(crate) async fn check(world: &Shared, engine: &Engine) -> Result<(), String> {
    let members = lock(world).members.clone();
    for member in members {
        let account = &member.caller.account_id;
        let listed = engine.people().members().list(account).await;
        let listed = listed.map_err(|no| no.message)?;
        let roles: Vec<_> = listed.iter().map(|one| one.member.role).collect();
        let works = engine.admin().callers();
        let works = works.authenticate(&member.secret).await.is_ok();
        let is_there = listed.iter().any(|one| one.member.id == member.id);
        // What was cut off before it was answered may be either, but never half.
        let right = works == is_there && !(member.removed && is_there);
        let mut world = lock(world);
        if !right {
            world.accuse(format!("member {}: works {works}, {roles:?}", member.id));
        }
        if !roles.contains(&MemberRole::Owner) {
            world.accuse(format!("account {account} has no owner"));
        }
    }
    let rows = engine.admin().accounts().ledger(None, 1, 10_000).await;
    let (rows, _) = rows.map_err(|no| no.message)?;
    for stranger in 0..STRANGERS {
        let reason = format!("welcome, stranger {stranger}");
        let given = rows.iter().filter(|row| row.reason == reason).count();
        if given > 1 {
            let said = format!("stranger {stranger} was welcomed {given} times");
            lock(world).accuse(said);
        }
    }
    Ok(())
}
