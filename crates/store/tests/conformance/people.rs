//! People, members and invitations: who is what, what goes with whom, and what is left of whoever was deleted.

use atelier_contract::LimitWindow;
use atelier_contract::pages::operators::OperatorRole;
use atelier_contract::pages::people::MemberRole;
use atelier_store::{
    AcceptInvitationOutcome, AcceptOutcome, Acceptee, AddKeyOutcome, AddMemberOutcome, Attribution,
    AuditRow, Credit, CreditKind, Guard, IdentityRow, Invitation, InviteOutcome, KeyTerms, Member,
    MemberChange, MemberChangeOutcome, NewAccount, NewInvitation, NewKey, NewMember, NewOperator,
    NewPerson, Person, PersonOutcome, PersonRemoval, PersonRemovalOutcome, PersonSession,
    RemoveMemberOutcome, SessionRow, SignInRow, SignUp, SignUpOutcome, Store, Welcome,
};

use crate::rig::{NOW, Rig, number, options, quota, spawn, sql};
use crate::spending::{check, limits, reached, spent};

each_db!(
    a_member_spends_within_its_limits_whichever_way,
    a_member_who_is_removed_leaves_nothing_that_works,
    the_last_owner_stays,
    a_change_that_crosses_another_is_not_made,
    two_nodes_make_a_person_a_member_once,
    only_the_address_that_was_invited_accepts,
    an_account_has_so_many_invitations_and_members,
    an_address_is_welcomed_once,
    of_a_person_who_was_deleted_nothing_says_who_it_was,
    an_account_that_is_deleted_has_no_members,
    sessions_of_a_person_are_listed_and_end_with_the_membership,
    a_person_is_one_operator_at_a_time,
    older_programs_and_people_keep_apart,
    what_new_accounts_were_given_stays_written_down,
    a_sign_in_is_finished_once_by_the_browser_that_began_it,
    a_provider_knows_one_person_by_a_subject,
    what_was_begun_and_not_finished_is_forgotten,
);

fn person(rig: &Rig, email: &str) -> NewPerson {
    NewPerson {
        id: rig.id("person"),
        email: email.to_owned(),
        email_key: email.to_lowercase(),
        name: email.split('@').next().unwrap_or_default().into(),
        language: "en".into(),
        verified_ms: Some(NOW),
        now_ms: NOW,
        alive_since_ms: NOW - 60_000,
    }
}

pub(crate) async fn known(rig: &Rig, email: &str) -> Person {
    let made = rig.store.people().ensure(person(rig, email)).await;
    match made.expect("an answer") {
        PersonOutcome::Done(person) => person,
        other @ PersonOutcome::OlderNode(_) => panic!("{other:?}"),
    }
}

fn new(rig: &Rig, account_id: &str, person: &Person, role: MemberRole) -> NewMember {
    let id = rig.id("member");
    NewMember {
        hash: format!("hash of {id}"),
        id,
        account_id: account_id.to_owned(),
        person_id: person.id.clone(),
        role,
        origin: "invitation".into(),
        most: 5,
        now_ms: NOW,
        alive_since_ms: NOW - 60_000,
    }
}

pub(crate) async fn member(rig: &Rig, account_id: &str, email: &str, role: MemberRole) -> Member {
    let person = known(rig, email).await;
    let new = new(rig, account_id, &person, role);
    let added = rig.store.people().members().add(new, None).await;
    match added.expect("an answer") {
        AddMemberOutcome::Done(member) => member,
        other => panic!("{other:?}"),
    }
}

/// A key that belongs to a member; its hash.
pub(crate) async fn key(rig: &Rig, member: &Member) -> (String, String) {
    let id = rig.id("key");
    let new = NewKey {
        id: id.clone(),
        account_id: member.account_id.clone(),
        hash: format!("hash of {id}"),
        prefix: "at_1234".into(),
        name: "laptop".into(),
        scopes: "submit".into(),
        now_ms: NOW,
        expires_ms: None,
        most: 100,
        above: Some(member.id.clone()),
        terms: KeyTerms::default(),
        note: None,
        member_id: Some(member.id.clone()),
        alive_since_ms: NOW - 60_000,
    };
    let hash = new.hash.clone();
    let added = rig.store.keys().add(new, None).await.expect("an answer");
    assert_eq!(added, AddKeyOutcome::Done);
    (id, hash)
}

pub(crate) async fn session(rig: &Rig, member: &Member, means: &str) -> SessionRow {
    let row = SessionRow {
        hash: rig.id("session"),
        key_hash: Some(format!("hash of {}", member.id)),
        operator_hash: None,
        bound_hash: None,
        link: false,
        created_ms: NOW,
        seen_ms: NOW,
        person: Some(PersonSession {
            person_id: member.person_id.clone(),
            means: means.to_owned(),
            agent: "a browser".into(),
            network: "192.0.2.1".into(),
        }),
    };
    let opened = rig
        .store
        .people()
        .sessions()
        .open(row.clone(), None, None)
        .await;
    assert!(opened.expect("an answer"));
    row
}

async fn works(rig: &Rig, hash: &str) -> bool {
    let found = rig.store.keys().account_for(hash, NOW).await;
    found.expect("a read").is_some()
}

fn act(rig: &Rig, action: &str) -> AuditRow {
    AuditRow {
        id: rig.id("act"),
        time_ms: NOW,
        actor: "root".into(),
        action: action.into(),
        target: String::new(),
        detail: String::new(),
        account_id: None,
    }
}

async fn change(
    rig: &Rig,
    member: &Member,
    role: MemberRole,
    terms: KeyTerms,
) -> MemberChangeOutcome {
    let seen = rig
        .store
        .people()
        .members()
        .find(&member.account_id, &member.id)
        .await
        .expect("a read")
        .expect("a member");
    let change = MemberChange {
        seen,
        role,
        terms,
        now_ms: NOW,
        alive_since_ms: NOW - 60_000,
    };
    let changed = rig.store.people().members().change(change, None).await;
    changed.expect("an answer")
}

/// The promise: what a member submits from the console and with its keys counts together, in the windows of keys.
async fn a_member_spends_within_its_limits_whichever_way(rig: Rig) {
    let account = rig.account(100, 10).await;
    member(&rig, &account, "owner@example.com", MemberRole::Owner).await;
    let ada = member(&rig, &account, "ada@example.com", MemberRole::Member).await;
    let (key_id, _) = key(&rig, &ada).await;
    let terms = limits(&[(LimitWindow::Day, 10)]);
    let changed = change(&rig, &ada, MemberRole::Member, terms).await;
    assert_eq!(changed, MemberChangeOutcome::Done);
    let by = |key_id: Option<&str>, price: i64| {
        let mut accept = rig.accept(&account, price);
        accept.job.attribution = Attribution {
            key_id: key_id.map(str::to_owned),
            key_above: Some(ada.id.clone()),
            member_id: Some(ada.id.clone()),
            ..Attribution::default()
        };
        accept
    };
    let session_job = by(None, 4);
    let id = session_job.job.id.clone();
    assert!(matches!(
        rig.take(session_job).await,
        AcceptOutcome::New { .. }
    ));
    assert!(matches!(
        rig.take(by(Some(&key_id), 6)).await,
        AcceptOutcome::New { .. }
    ));
    for over in [by(None, 1), by(Some(&key_id), 1)] {
        let limit = reached(&rig.take(over).await).expect("too much");
        assert_eq!((limit.quota, limit.spent), (quota(10), quota(10)));
    }
    rig.settle(rig.failure(&id, Guard::Unfinished)).await;
    assert_eq!(
        spent(&rig, &account, &ada.id, NOW).await,
        [(LimitWindow::Day, 6)]
    );
    // Others of the account spend what they like.
    assert!(matches!(
        rig.take(rig.accept(&account, 50)).await,
        AcceptOutcome::New { .. }
    ));
    check(&rig).await;
}

async fn a_member_who_is_removed_leaves_nothing_that_works(rig: Rig) {
    let account = rig.account(100, 10).await;
    let owner = member(&rig, &account, "owner@example.com", MemberRole::Owner).await;
    let ada = member(&rig, &account, "ada@example.com", MemberRole::Member).await;
    let (_, hash) = key(&rig, &ada).await;
    let head = format!("hash of {}", ada.id);
    let row = session(&rig, &ada, "link").await;
    let kept = session(&rig, &owner, "link").await;
    assert!(works(&rig, &hash).await && works(&rig, &head).await);
    let mut accept = rig.accept(&account, 4);
    accept.job.attribution.member_id = Some(ada.id.clone());
    let job = accept.job.id.clone();
    rig.take(accept).await;
    // Neither is a key that somebody may list, revoke or change.
    let keys = rig.store.keys();
    let listed = keys.list(&account, NOW).await.expect("a list");
    assert_eq!(listed.len(), 1, "{listed:?}");
    let revoked = keys.revoke(&account, &ada.id, NOW, None).await;
    assert!(revoked.expect("an answer").is_empty());

    let gone = rig
        .store
        .people()
        .members()
        .remove(&account, &ada.id, NOW, Some(act(&rig, "member.remove")))
        .await
        .expect("an answer");
    let RemoveMemberOutcome::Done(mut hashes) = gone else {
        panic!("{gone:?}");
    };
    hashes.sort();
    let mut all = vec![hash.clone(), head.clone()];
    all.sort();
    assert_eq!(hashes, all);
    assert!(!works(&rig, &hash).await && !works(&rig, &head).await);
    let found = rig.store.people().sessions().find(&row.hash).await;
    assert_eq!(found.expect("a read"), None);
    let found = rig.store.people().sessions().find(&kept.hash).await;
    assert_eq!(found.expect("a read"), Some(kept));
    let again = rig
        .store
        .people()
        .members()
        .remove(&account, &ada.id, NOW, None)
        .await;
    assert_eq!(again.expect("an answer"), RemoveMemberOutcome::NoMember);
    // Its job goes on, and it is still known whose it was.
    rig.settle(rig.success(&job, Guard::Unfinished, 4)).await;
    let names = rig
        .store
        .people()
        .members()
        .names(&account, &[&ada.id])
        .await;
    let names = names.expect("names");
    assert_eq!(names, [(ada.id.clone(), "ada".to_owned())]);
    let listed = rig.store.people().members().list(&account).await;
    assert_eq!(listed.expect("a list").len(), 1);
    // Whoever was removed may come back, as somebody new.
    let back = member(&rig, &account, "ada@example.com", MemberRole::Viewer).await;
    assert_ne!(back.id, ada.id);
    assert_eq!(back.person_id, ada.person_id);
}

async fn the_last_owner_stays(rig: Rig) {
    let account = rig.account(1, 10).await;
    let first = member(&rig, &account, "first@example.com", MemberRole::Owner).await;
    let second = member(&rig, &account, "second@example.com", MemberRole::Member).await;
    let remove = async |member: &Member| {
        let removed = rig
            .store
            .people()
            .members()
            .remove(&account, &member.id, NOW, None);
        removed.await.expect("an answer")
    };
    let become_what = async |member: &Member, role: MemberRole| {
        change(&rig, member, role, KeyTerms::default()).await
    };
    assert_eq!(remove(&first).await, RemoveMemberOutcome::LastOwner);
    assert_eq!(
        become_what(&first, MemberRole::Viewer).await,
        MemberChangeOutcome::LastOwner
    );
    let owned = |leaves_accounts: bool| PersonRemoval {
        person_id: first.person_id.clone(),
        leaves_accounts,
        now_ms: NOW,
    };
    for leaves_accounts in [false, true] {
        let deleted = rig
            .store
            .people()
            .delete(owned(leaves_accounts), None)
            .await;
        let stays = PersonRemovalOutcome::LastOwner(vec![account.clone()]);
        assert_eq!(deleted.expect("an answer"), stays, "{leaves_accounts}");
    }
    assert_eq!(
        become_what(&second, MemberRole::Owner).await,
        MemberChangeOutcome::Done
    );
    let scopes = rig
        .store
        .keys()
        .account_for(&format!("hash of {}", second.id), NOW)
        .await
        .expect("a read")
        .map(|(_, (key, _))| key.scopes);
    assert_eq!(scopes.as_deref(), Some("all"));
    assert_eq!(
        become_what(&first, MemberRole::Viewer).await,
        MemberChangeOutcome::Done
    );
    assert!(matches!(remove(&first).await, RemoveMemberOutcome::Done(_)));
    assert_eq!(remove(&second).await, RemoveMemberOutcome::LastOwner);
}

async fn a_change_that_crosses_another_is_not_made(rig: Rig) {
    let account = rig.account(1, 10).await;
    member(&rig, &account, "owner@example.com", MemberRole::Owner).await;
    let ada = member(&rig, &account, "ada@example.com", MemberRole::Member).await;
    let seen = rig
        .store
        .people()
        .members()
        .find(&account, &ada.id)
        .await
        .expect("a read")
        .expect("a member");
    let wish = |role: MemberRole| MemberChange {
        seen: seen.clone(),
        role,
        terms: KeyTerms::default(),
        now_ms: NOW,
        alive_since_ms: NOW - 60_000,
    };
    let made = async |change: MemberChange| {
        let made = rig.store.people().members().change(change, None).await;
        made.expect("an answer")
    };
    assert_eq!(
        made(wish(MemberRole::Viewer)).await,
        MemberChangeOutcome::Done
    );
    assert_eq!(
        made(wish(MemberRole::Owner)).await,
        MemberChangeOutcome::Crossed
    );
    let mut limited = wish(MemberRole::Viewer);
    limited.seen.member.role = MemberRole::Viewer;
    limited.seen.head.scopes = "read".into();
    limited.terms = limits(&[(LimitWindow::Total, 1)]);
    assert_eq!(made(limited.clone()).await, MemberChangeOutcome::Done);
    assert_eq!(made(limited).await, MemberChangeOutcome::Crossed);
}

async fn two_nodes_make_a_person_a_member_once(rig: Rig) {
    let account = rig.account(1, 10).await;
    let other = Store::open(&rig.url, options()).await.expect("opened");
    let tasks: Vec<_> = (0..12)
        .map(|turn| {
            let node = Rig {
                store: [&rig.store, &other][turn % 2].clone(),
                url: rig.url.clone(),
            };
            let account = account.clone();
            spawn(async move {
                let person = known(&node, "ada@example.com").await;
                let new = new(&node, &account, &person, MemberRole::Owner);
                (
                    person.id,
                    node.store.people().members().add(new, None).await,
                )
            })
        })
        .collect();
    let (mut people, mut done) = (Vec::new(), 0);
    for task in tasks {
        let (person, added) = task.await.expect("it ends");
        people.push(person);
        match added.expect("an answer") {
            AddMemberOutcome::Done(_) => done += 1,
            AddMemberOutcome::Already(_) => {}
            other => panic!("{other:?}"),
        }
    }
    people.dedup();
    assert_eq!((people.len(), done), (1, 1));
    other.close().await;
}

fn invitation(rig: &Rig, account_id: Option<&str>, email: &str) -> NewInvitation {
    let id = rig.id("invitation");
    NewInvitation {
        hash: format!("hash of {id}"),
        invitation: Invitation {
            id,
            account_id: account_id.map(str::to_owned),
            email: email.to_owned(),
            role: MemberRole::Viewer,
            invited_by: "owner".into(),
            created_ms: NOW,
            expires_ms: NOW + 1_000,
        },
        email_key: email.to_lowercase(),
        most: 2,
        alive_since_ms: NOW - 60_000,
    }
}

async fn only_the_address_that_was_invited_accepts(rig: Rig) {
    let account = rig.account(1, 10).await;
    member(&rig, &account, "owner@example.com", MemberRole::Owner).await;
    let invite = async |new: &NewInvitation| {
        let added = rig
            .store
            .people()
            .invitations()
            .add(new.clone(), Some(act(&rig, "invitation.create")));
        added.await.expect("an answer")
    };
    let sent = invitation(&rig, Some(&account), "Ada@example.com");
    assert_eq!(invite(&sent).await, InviteOutcome::Done);
    let ada = known(&rig, "ada@example.com").await;
    let eve = known(&rig, "eve@example.com").await;
    let accept = async |id: &str, person: &Person, now_ms: i64| {
        let acceptee = Acceptee {
            invitation_id: id.to_owned(),
            email_key: person.email.clone().unwrap_or_default(),
            member: NewMember {
                now_ms,
                ..new(&rig, &account, person, MemberRole::Owner)
            },
        };
        rig.store
            .people()
            .invitations()
            .accept(acceptee, Some(act(&rig, "member.join")))
            .await
            .expect("an answer")
    };
    // Neither somebody else, nor too late, nor for another account.
    let id = &sent.invitation.id;
    let none = AcceptInvitationOutcome::NoInvitation;
    assert_eq!(accept(id, &eve, NOW).await, none);
    assert_eq!(accept(id, &ada, NOW + 1_000).await, none);
    assert_eq!(accept("made-up", &ada, NOW).await, none);
    let found = rig
        .store
        .people()
        .invitations()
        .of_word(&sent.hash, NOW)
        .await
        .expect("a read");
    let found = found.expect("an invitation");
    assert_eq!(found.invitation, sent.invitation);
    assert!(
        found
            .account
            .is_some_and(|email| email.ends_with("@example.com"))
    );
    let over = rig
        .store
        .people()
        .invitations()
        .of_word(&sent.hash, NOW + 1_000)
        .await;
    assert_eq!(over.expect("a read"), None);
    // A second one to the same address takes the place of the first.
    let second = invitation(&rig, Some(&account), "ada@example.com");
    assert_eq!(invite(&second).await, InviteOutcome::Done);
    assert_eq!(accept(id, &ada, NOW).await, none);
    let listed = rig
        .store
        .people()
        .invitations()
        .list(Some(&account), NOW)
        .await
        .expect("a list");
    assert_eq!(listed, [second.invitation.clone()]);
    let pending = rig
        .store
        .people()
        .invitations()
        .to("ada@example.com", NOW)
        .await;
    assert_eq!(pending.expect("a list").len(), 1);
    let joined = accept(&second.invitation.id, &ada, NOW).await;
    let AcceptInvitationOutcome::Done(member) = joined else {
        panic!("{joined:?}");
    };
    // The role is the one of the invitation, whatever whoever accepts asks for.
    assert_eq!(member.role, MemberRole::Viewer);
    assert_eq!(accept(&second.invitation.id, &ada, NOW).await, none, "once");
    let again = invitation(&rig, Some(&account), "ADA@example.com");
    assert_eq!(invite(&again).await, InviteOutcome::Already);
    // Whoever is invited may decline, and whoever invited take it back; nobody else.
    let eves = invitation(&rig, Some(&account), "eve@example.com");
    assert_eq!(invite(&eves).await, InviteOutcome::Done);
    let id = &eves.invitation.id;
    assert!(
        !rig.store
            .people()
            .invitations()
            .decline("ada@example.com", id)
            .await
            .expect("an answer")
    );
    assert!(
        !rig.store
            .people()
            .invitations()
            .withdraw(None, id, None)
            .await
            .expect("an answer")
    );
    assert!(
        rig.store
            .people()
            .invitations()
            .decline("eve@example.com", id)
            .await
            .expect("an answer")
    );
    assert_eq!(invite(&eves).await, InviteOutcome::Done);
    let withdrawn = rig
        .store
        .people()
        .invitations()
        .withdraw(Some(&account), id, Some(act(&rig, "invitation.remove")))
        .await;
    assert!(withdrawn.expect("an answer"));
    let (acts, _) = rig.store.admin().audit_rows(0, 20).await.expect("a page");
    let count = |action: &str| acts.iter().filter(|act| act.action == action).count();
    assert_eq!(
        (
            count("invitation.create"),
            count("member.join"),
            count("invitation.remove")
        ),
        (4, 1, 1)
    );
}

async fn an_account_has_so_many_invitations_and_members(rig: Rig) {
    let account = rig.account(1, 10).await;
    let invite = async |account_id: Option<&str>, email: &str| {
        let new = invitation(&rig, account_id, email);
        let added = rig.store.people().invitations().add(new, None).await;
        added.expect("an answer")
    };
    let own = Some(&*account);
    assert_eq!(invite(own, "a@example.com").await, InviteOutcome::Done);
    assert_eq!(invite(own, "b@example.com").await, InviteOutcome::Done);
    assert_eq!(invite(own, "c@example.com").await, InviteOutcome::TooMany);
    assert_eq!(
        invite(own, "b@example.com").await,
        InviteOutcome::Done,
        "the same again"
    );
    assert_eq!(
        invite(None, "c@example.com").await,
        InviteOutcome::Done,
        "another list"
    );
    assert_eq!(
        invite(Some("nobody"), "c@example.com").await,
        InviteOutcome::NoAccount
    );
    member(&rig, &account, "owner@example.com", MemberRole::Owner).await;
    for number in 0..4 {
        let email = format!("{number}@example.com");
        member(&rig, &account, &email, MemberRole::Member).await;
    }
    let person = known(&rig, "one@example.com").await;
    let sixth = new(&rig, &account, &person, MemberRole::Member);
    let added = rig.store.people().members().add(sixth, None).await;
    assert_eq!(added.expect("an answer"), AddMemberOutcome::TooMany);
    // Members are not keys: an account has as many of those as before.
    let first = rig
        .store
        .people()
        .members()
        .list(&account)
        .await
        .expect("a list");
    key(&rig, &first[0].member).await;
}

pub(crate) fn sign_up(rig: &Rig, person: &Person, address_hash: &str) -> SignUp {
    let id = rig.id("account");
    let email = person.email.clone().unwrap_or_default();
    SignUp {
        account: NewAccount {
            id: id.clone(),
            email,
            email_verified_ms: Some(NOW),
            balance: quota(0),
            max_queue: 10,
            ledger_id: rig.id("ledger"),
            now_ms: NOW,
        },
        owner: new(rig, &id, person, MemberRole::Owner),
        welcome: Some(Welcome {
            address_hash: address_hash.to_owned(),
            credit: Credit {
                id: rig.id("credit"),
                account_id: id,
                amount: quota(5),
                kind: CreditKind::Grant,
                reason: "welcome".into(),
                idempotency_key: Some("welcome".into()),
                end: None,
                now_ms: NOW,
            },
        }),
    }
}

/// The promise: whatever an address is made to look like, it is given once what new accounts are given.
async fn an_address_is_welcomed_once(rig: Rig) {
    let ada = known(&rig, "ada@example.com").await;
    let second = known(&rig, "ada+2@example.com").await;
    let open = async |person: &Person, hash: &str| {
        let opened = rig
            .store
            .people()
            .sign_up(sign_up(&rig, person, hash), None)
            .await;
        opened.expect("an answer")
    };
    let opened = open(&ada, "digest").await;
    let SignUpOutcome::Done { owner, welcomed } = opened else {
        panic!("{opened:?}");
    };
    let balance = async |owner: Member| {
        let account = rig.store.accounts().find(&owner.account_id).await;
        account.expect("an answer").expect("an account").balance
    };
    assert!(welcomed);
    assert_eq!(owner.role, MemberRole::Owner);
    assert_eq!(balance(owner).await, quota(5));
    assert_eq!(open(&ada, "digest").await, SignUpOutcome::Taken);
    let opened = open(&second, "digest").await;
    let SignUpOutcome::Done { owner, welcomed } = opened else {
        panic!("{opened:?}");
    };
    assert_eq!((balance(owner).await, welcomed), (quota(0), false));
    let mut gone = sign_up(&rig, &ada, "other");
    gone.owner.person_id = "nobody".into();
    let opened = rig
        .store
        .people()
        .sign_up(gone, None)
        .await
        .expect("an answer");
    assert_eq!(opened, SignUpOutcome::NoPerson);
    let rows = number(&rig.url, "SELECT COUNT(*) FROM account").await;
    assert_eq!(rows, 2);
}

async fn of_a_person_who_was_deleted_nothing_says_who_it_was(rig: Rig) {
    let account = rig.account(100, 10).await;
    member(&rig, &account, "owner@example.com", MemberRole::Owner).await;
    let ada = member(&rig, &account, "ada@example.com", MemberRole::Member).await;
    let own = rig.account(1, 10).await;
    let alone = known(&rig, "ada@example.com").await;
    let new = new(&rig, &own, &alone, MemberRole::Owner);
    rig.store
        .people()
        .members()
        .add(new, None)
        .await
        .expect("an answer");
    let (_, hash) = key(&rig, &ada).await;
    let row = session(&rig, &ada, "link").await;
    let mut accept = rig.accept(&account, 4);
    accept.job.attribution.member_id = Some(ada.id.clone());
    let job = accept.job.id.clone();
    rig.take(accept).await;
    rig.settle(rig.success(&job, Guard::Unfinished, 4)).await;
    let sent = invitation(&rig, Some(&own), "ada@example.com");
    rig.store
        .people()
        .invitations()
        .add(sent, None)
        .await
        .expect("an answer");
    assert!(
        rig.store
            .people()
            .rename(&ada.person_id, "Ada L", "de")
            .await
            .expect("done")
    );
    rig.store
        .people()
        .saw(&ada.person_id, NOW + 3)
        .await
        .expect("noted");
    let (found, total) = rig.store.people().list("ADA", 0, 10).await.expect("a page");
    assert_eq!((found.len(), total), (1, 1));
    assert_eq!(
        (
            found[0].name.as_str(),
            found[0].language.as_str(),
            found[0].seen_ms
        ),
        ("Ada L", "de", Some(NOW + 3))
    );
    let removal = |leaves_accounts: bool| PersonRemoval {
        person_id: ada.person_id.clone(),
        leaves_accounts,
        now_ms: NOW + 9,
    };
    let refused = rig
        .store
        .people()
        .delete(removal(false), None)
        .await
        .expect("an answer");
    assert_eq!(refused, PersonRemovalOutcome::LastOwner(vec![own.clone()]));
    let deleted = rig
        .store
        .people()
        .delete(removal(true), Some(act(&rig, "person.delete")))
        .await
        .expect("an answer");
    let PersonRemovalOutcome::Done(ended) = deleted else {
        panic!("{deleted:?}");
    };
    assert_eq!(ended.len(), 3, "two heads and a key: {ended:?}");
    assert!(!works(&rig, &hash).await);
    let found = rig.store.people().sessions().find(&row.hash).await;
    assert_eq!(found.expect("a read"), None);
    let left = rig
        .store
        .people()
        .find(&ada.person_id)
        .await
        .expect("a read");
    let left = left.expect("the row stays");
    assert_eq!(
        (left.email, left.name.as_str(), left.deleted_ms),
        (None, "", Some(NOW + 9))
    );
    let again = rig.store.people().delete(removal(true), None).await;
    assert_eq!(again.expect("an answer"), PersonRemovalOutcome::NoPerson);
    let by_email = rig.store.people().by_email("ada@example.com").await;
    assert_eq!(by_email.expect("a read"), None);
    for table in ["person", "invitation", "account_act"] {
        let columns = match table {
            "person" => "COALESCE(email, '') || COALESCE(email_key, '') || name",
            "invitation" => "email || email_key",
            _ => "actor || target || detail",
        };
        let sql = format!("SELECT COUNT(*) FROM {table} WHERE LOWER({columns}) LIKE '%ada%'");
        assert_eq!(number(&rig.url, &sql).await, 0, "{table}");
    }
    // The ledger stays, with whoever it was under the same name.
    let rows = format!("SELECT COUNT(*) FROM ledger WHERE member_id = '{}'", ada.id);
    assert_eq!(number(&rig.url, &rows).await, 2);
    let anew = known(&rig, "ada@example.com").await;
    assert_ne!(anew.id, ada.person_id);
}

async fn an_account_that_is_deleted_has_no_members(rig: Rig) {
    let account = rig.account(1, 10).await;
    let owner = member(&rig, &account, "owner@example.com", MemberRole::Owner).await;
    let row = session(&rig, &owner, "link").await;
    let sent = invitation(&rig, Some(&account), "ada@example.com");
    let invited = rig.store.people().invitations().add(sent, None).await;
    assert_eq!(invited.expect("an answer"), InviteOutcome::Done);
    let of = rig
        .store
        .people()
        .members()
        .of_person(&owner.person_id)
        .await
        .expect("a list");
    assert_eq!(of.len(), 1);
    assert_eq!(of[0].head_hash, format!("hash of {}", owner.id));
    let deleted = rig.store.accounts().delete(&account, NOW, None).await;
    assert!(deleted.expect("an answer"));
    let of = rig
        .store
        .people()
        .members()
        .of_person(&owner.person_id)
        .await
        .expect("a list");
    assert!(of.is_empty());
    let listed = rig.store.people().members().list(&account).await;
    assert!(listed.expect("a list").is_empty());
    let found = rig.store.people().sessions().find(&row.hash).await;
    assert_eq!(found.expect("a read"), None);
    let listed = rig
        .store
        .people()
        .invitations()
        .list(Some(&account), NOW)
        .await;
    assert!(listed.expect("a list").is_empty());
}

async fn sessions_of_a_person_are_listed_and_end_with_the_membership(rig: Rig) {
    let account = rig.account(1, 10).await;
    let owner = member(&rig, &account, "owner@example.com", MemberRole::Owner).await;
    let ada = member(&rig, &account, "ada@example.com", MemberRole::Member).await;
    let first = session(&rig, &ada, "link").await;
    let second = session(&rig, &ada, "oidc:company").await;
    let other = session(&rig, &owner, "link").await;
    let of = rig
        .store
        .people()
        .sessions()
        .of_person(&ada.person_id)
        .await
        .expect("a list");
    assert_eq!(of.len(), 2);
    assert_eq!(
        of[0].person,
        first
            .person
            .clone()
            .filter(|_| of[0] == first)
            .or(second.person.clone())
    );
    let is_open = async |row: &SessionRow| {
        let found = rig.store.people().sessions().find(&row.hash).await;
        found.expect("a read").is_some()
    };
    assert!(is_open(&first).await && is_open(&second).await && is_open(&other).await);
    let third = session(&rig, &ada, "link").await;
    let ended = rig
        .store
        .people()
        .sessions()
        .close_member(&account, &ada.id)
        .await;
    assert_eq!(ended.expect("ended"), 3);
    assert!(!is_open(&first).await && !is_open(&second).await);
    assert!(!is_open(&third).await && is_open(&other).await);
    // Everywhere means every account, too.
    let (one, two) = (
        session(&rig, &ada, "link").await,
        SessionRow {
            hash: rig.id("session"),
            key_hash: None,
            ..session(&rig, &ada, "link").await
        },
    );
    let opened = rig
        .store
        .people()
        .sessions()
        .open(two.clone(), None, None)
        .await;
    assert!(opened.expect("an answer"));
    rig.store
        .people()
        .sessions()
        .close(&one.hash, true)
        .await
        .expect("ended");
    assert!(!is_open(&one).await && !is_open(&two).await && is_open(&other).await);
}

async fn a_person_is_one_operator_at_a_time(rig: Rig) {
    let ada = known(&rig, "ada@example.com").await;
    let operator = |name: &str, role: OperatorRole| NewOperator {
        id: rig.id("operator"),
        name: name.into(),
        role,
        hash: format!("hash of {name}"),
        prefix: String::new(),
        person_id: Some(ada.id.clone()),
        now_ms: NOW,
    };
    let add = async |new: NewOperator| {
        let added = rig
            .store
            .admin()
            .add_operator(new, act(&rig, "operator.create"));
        added.await
    };
    let found = async || {
        rig.store
            .admin()
            .operator_of_person(&ada.id)
            .await
            .expect("a read")
    };
    assert_eq!(found().await, None);
    add(operator("ada", OperatorRole::Viewer))
        .await
        .expect("made");
    assert_eq!(found().await.as_deref(), Some("hash of ada"));
    add(operator("ada", OperatorRole::Operator))
        .await
        .expect_err("a name is used once");
    assert_eq!(found().await.as_deref(), Some("hash of ada"), "as before");
    add(operator("ada-2", OperatorRole::Operator))
        .await
        .expect("made");
    assert_eq!(found().await.as_deref(), Some("hash of ada-2"));
    let rows = rig.store.admin().operators().await.expect("a list");
    let live: Vec<&str> = rows
        .iter()
        .filter(|row| row.revoked_ms.is_none() && row.person_id.is_some())
        .map(|row| row.name.as_str())
        .collect();
    assert_eq!(live, ["ada-2"]);
    let removal = PersonRemoval {
        person_id: ada.id.clone(),
        leaves_accounts: false,
        now_ms: NOW,
    };
    let deleted = rig.store.people().delete(removal, None).await;
    assert_eq!(
        deleted.expect("an answer"),
        PersonRemovalOutcome::Done(Vec::new())
    );
    assert_eq!(found().await, None);
}

/// The promise: nobody becomes a person while a program works that would take its session for a key's.
async fn older_programs_and_people_keep_apart(rig: Rig) {
    let widens = "SELECT widens FROM schema_version WHERE name = '0063_people'";
    let older = format!(
        "INSERT INTO node (id, started_ms, seen_ms, detail, knows) \
         SELECT 'older', 1, {NOW}, '{{}}', version - 1 FROM schema_version WHERE name = '0063_people'"
    );
    sql(&rig.url, &older).await.expect("noted");
    assert_eq!(number(&rig.url, widens).await, 1, "older ones may start");
    let account = rig.account(1, 10).await;
    let own_keys = NewKey {
        id: rig.id("key"),
        account_id: account.clone(),
        hash: rig.id("hash"),
        prefix: String::new(),
        name: "first".into(),
        scopes: "submit,keys".into(),
        now_ms: NOW,
        expires_ms: None,
        most: 10,
        above: None,
        terms: KeyTerms::default(),
        note: None,
        member_id: None,
        alive_since_ms: NOW - 60_000,
    };
    if rig.store.is_postgres() {
        let made = rig
            .store
            .people()
            .ensure(person(&rig, "ada@example.com"))
            .await;
        let refused = PersonOutcome::OlderNode("older".into());
        assert_eq!(made.expect("an answer"), refused);
        let sent = invitation(&rig, Some(&account), "ada@example.com");
        let invited = rig.store.people().invitations().add(sent, None).await;
        let refused = InviteOutcome::OlderNode("older".into());
        assert_eq!(invited.expect("an answer"), refused);
        let added = rig.store.keys().add(own_keys.clone(), None).await;
        let refused = AddKeyOutcome::OlderNode("older".into());
        assert_eq!(added.expect("an answer"), refused);
        let rows = number(&rig.url, "SELECT COUNT(*) FROM person").await;
        assert_eq!((rows, number(&rig.url, widens).await), (0, 1));
        rig.store.nodes().forget("older").await.expect("stopped");
    }
    known(&rig, "ada@example.com").await;
    assert_eq!(number(&rig.url, widens).await, 0, "older ones do not start");
    let added = rig.store.keys().add(own_keys, None).await;
    assert_eq!(added.expect("an answer"), AddKeyOutcome::Done);
}

async fn what_new_accounts_were_given_stays_written_down(rig: Rig) {
    let ada = known(&rig, "ada@example.com").await;
    let opened = rig
        .store
        .people()
        .sign_up(sign_up(&rig, &ada, "digest"), None)
        .await;
    assert!(matches!(opened, Ok(SignUpOutcome::Done { .. })));
    for forbidden in [
        "UPDATE welcome SET address_hash = 'other'",
        "DELETE FROM welcome",
    ] {
        sql(&rig.url, forbidden).await.expect_err(forbidden);
    }
}

fn begun(rig: &Rig, browser: &str, kind: &str, created_ms: i64) -> SignInRow {
    SignInRow {
        hash: rig.id("word"),
        kind: kind.into(),
        browser_hash: browser.into(),
        person_id: None,
        email: Some("ada@example.com".into()),
        language: "de".into(),
        state: Some("sealed".into()),
        tries: 0,
        created_ms,
    }
}

async fn begin(rig: &Rig, browser: &str, kind: &str, created_ms: i64) -> SignInRow {
    let row = begun(rig, browser, kind, created_ms);
    let begun = rig.store.people().sign_ins().begin(row.clone()).await;
    begun.expect("begun");
    row
}

async fn a_sign_in_is_finished_once_by_the_browser_that_began_it(rig: Rig) {
    let row = begin(&rig, "browser", "link", NOW).await;
    let find = async |since_ms: i64| {
        let found = rig
            .store
            .people()
            .sign_ins()
            .find(&row.hash, since_ms)
            .await;
        found.expect("a read")
    };
    assert_eq!(find(NOW - 1).await, Some(row.clone()));
    assert_eq!(find(NOW).await, None, "it is over");
    let take = async |browser: &str, since_ms: i64| {
        let taken = rig
            .store
            .people()
            .sign_ins()
            .take(&row.hash, browser, since_ms);
        taken.await.expect("an answer")
    };
    assert_eq!(take("another", NOW - 1).await, None);
    assert_eq!(take("browser", NOW).await, None);
    let typed = async |browser: &str, kind: &str, since_ms: i64| {
        let begun = rig
            .store
            .people()
            .sign_ins()
            .try_code(browser, kind, since_ms);
        begun.await.expect("counted")
    };
    assert_eq!(typed("another", "link", NOW - 1).await, []);
    assert_eq!(typed("browser", "oidc:a", NOW - 1).await, []);
    assert_eq!(typed("browser", "link", NOW).await, [], "it is over");
    let counted = typed("browser", "link", NOW - 1).await;
    let tried = SignInRow {
        tries: 1,
        ..row.clone()
    };
    assert_eq!(counted, [tried.clone()]);
    assert_eq!(take("browser", NOW - 1).await, Some(tried));
    assert_eq!(take("browser", NOW - 1).await, None, "once");
    // One browser has few that are not finished; the oldest give way.
    for number in 0..12 {
        begin(&rig, "browser", "link", NOW + number).await;
    }
    let other = begin(&rig, "browser", "oidc:a", NOW + 12).await;
    let of = typed("browser", "link", NOW - 1).await;
    let latest = of.iter().map(|row| row.created_ms).max();
    assert_eq!((of.len(), latest), (9, Some(NOW + 11)));
    assert!(!of.contains(&other));
}

async fn a_provider_knows_one_person_by_a_subject(rig: Rig) {
    let ada = known(&rig, "ada@example.com").await;
    let eve = known(&rig, "eve@example.com").await;
    let link = async |person: &Person, issuer: &str| {
        let identity = IdentityRow {
            issuer: issuer.into(),
            subject: "7".into(),
            id: rig.id("identity"),
            person_id: person.id.clone(),
            provider: "company".into(),
            created_ms: NOW,
            used_ms: None,
        };
        let linked = rig.store.people().link_identity(identity).await;
        linked.expect("an answer")
    };
    assert!(link(&ada, "https://one.example").await);
    assert!(!link(&eve, "https://one.example").await, "somebody has it");
    assert!(link(&eve, "https://two.example").await);
    let by = async |issuer: &str, subject: &str| {
        let found = rig.store.people().by_identity(issuer, subject).await;
        found.expect("a read").map(|person| person.id)
    };
    assert_eq!(by("https://one.example", "7").await, Some(ada.id.clone()));
    assert_eq!(by("https://two.example", "7").await, Some(eve.id));
    assert_eq!(by("https://one.example", "8").await, None);
    let removal = PersonRemoval {
        person_id: ada.id,
        leaves_accounts: false,
        now_ms: NOW,
    };
    let deleted = rig.store.people().delete(removal, None).await;
    assert!(matches!(deleted, Ok(PersonRemovalOutcome::Done(_))));
    assert_eq!(by("https://one.example", "7").await, None);
}

async fn what_was_begun_and_not_finished_is_forgotten(rig: Rig) {
    begin(&rig, "browser", "link", NOW).await;
    let young = begin(&rig, "browser", "link", NOW + 5).await;
    let forgotten = rig.store.retention().forget_sign_ins(NOW + 5, 10).await;
    assert_eq!(forgotten.expect("forgotten"), 1);
    let left = rig.store.people().sign_ins().find(&young.hash, 0).await;
    assert!(left.expect("a read").is_some());
    let account = rig.account(1, 10).await;
    for email in ["a@example.com", "b@example.com"] {
        let mut sent = invitation(&rig, Some(&account), email);
        sent.invitation.expires_ms += i64::from(email.starts_with('b'));
        let added = rig.store.people().invitations().add(sent, None).await;
        assert_eq!(added.expect("an answer"), InviteOutcome::Done);
    }
    let forgotten = rig.store.retention().forget_invitations(NOW + 1_001, 10);
    assert_eq!(forgotten.await.expect("forgotten"), 1);
    let left = rig
        .store
        .people()
        .invitations()
        .list(Some(&account), NOW)
        .await;
    assert_eq!(left.expect("a list").len(), 1);
}
