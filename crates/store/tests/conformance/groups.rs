//! Groups of accounts: revisions are only added, one that has accounts stays, and no account is in one that is not there.

use atelier_store::{
    AccountPatch, AuditRow, Error, GROUP_EDITION, GroupSize, Guard, MODEL_EDITION, RevisionChange,
    RevisionDraft, RevisionOutcome, SeenEdition, Store,
};

use crate::rig::{NOW, Rig, number, options, sql};

each_db!(
    revisions_of_a_group_are_only_added,
    an_account_is_in_a_group_that_is_there,
    a_group_with_accounts_stays,
    a_group_is_not_removed_when_models_have_changed_meanwhile,
    the_latest_jobs_of_a_group_are_its_own,
    a_removal_and_a_new_member_at_once_never_both_stand,
    a_change_of_a_group_and_its_act_are_one_commit,
    older_programs_and_groups_keep_apart,
);

fn draft(name: &str, expected_revision: Option<u32>) -> RevisionDraft {
    RevisionDraft {
        name: name.into(),
        definition: "{}".into(),
        removed: false,
        expected_revision,
    }
}

fn removal(name: &str, revision: u32) -> RevisionDraft {
    RevisionDraft {
        removed: true,
        ..draft(name, Some(revision))
    }
}

/// A change of groups as they are now.
async fn change(rig: &Rig, draft: RevisionDraft) -> RevisionChange {
    let seen = rig.store.settings().get(GROUP_EDITION).await;
    RevisionChange {
        drafts: vec![draft],
        seen_edition: seen.expect("a read"),
        seen_beside: None,
        edition: rig.id("edition"),
        changed_ms: NOW,
        alive_since_ms: NOW - 60_000,
    }
}

async fn append(rig: &Rig, draft: RevisionDraft) -> RevisionOutcome {
    let change = change(rig, draft).await;
    let outcome = rig.store.groups().append(change, None).await;
    outcome.expect("an answer")
}

/// Writes a revision of a group.
pub(crate) async fn written(rig: &Rig, name: &str, expected: Option<u32>) {
    let next = expected.map_or(1, |before| before + 1);
    let outcome = append(rig, draft(name, expected)).await;
    assert_eq!(outcome, RevisionOutcome::Written(vec![next]));
}

/// Tries to remove a group that was never changed.
pub(crate) async fn removed(rig: &Rig, name: &str) -> RevisionOutcome {
    append(rig, removal(name, 1)).await
}

fn into_group(group: Option<&str>) -> AccountPatch {
    AccountPatch {
        group: Some(group.map(str::to_owned)),
        ..AccountPatch::default()
    }
}

async fn group_of(rig: &Rig, account: &str) -> Option<String> {
    let found = rig.store.accounts().find(account).await;
    found.expect("a read").expect("an account").group
}

fn act(rig: &Rig) -> AuditRow {
    AuditRow {
        id: rig.id("act"),
        time_ms: NOW,
        actor: "root".into(),
        action: "group.create".into(),
        target: "vip".into(),
        detail: String::new(),
        account_id: None,
    }
}

async fn acts(rig: &Rig) -> i64 {
    let rows = rig.store.admin().audit_rows(0, 100).await;
    rows.expect("a read").1
}

async fn revisions_of_a_group_are_only_added(rig: Rig) {
    written(&rig, "vip", None).await;
    written(&rig, "vip", Some(1)).await;
    let twice = append(&rig, draft("vip", None)).await;
    let there = RevisionOutcome::Conflict {
        name: "vip".into(),
        revision: 2,
    };
    assert_eq!(twice, there);
    let gone = append(&rig, removal("vip", 2)).await;
    assert_eq!(gone, RevisionOutcome::Written(vec![3]));
    let back = append(&rig, draft("vip", None)).await;
    assert_eq!(back, RevisionOutcome::Written(vec![4]), "it goes on");
    let current = rig.store.groups().current().await.expect("a read");
    let current: Vec<(&str, u32, bool)> = current
        .iter()
        .map(|row| (&*row.name, row.revision, row.removed))
        .collect();
    assert_eq!(current, [("vip", 4, false)]);
    let history = rig.store.groups().history("VIP", 2).await.expect("a read");
    let history: Vec<(u32, bool)> = history.iter().map(|r| (r.revision, r.removed)).collect();
    assert_eq!(history, [(4, false), (3, true)]);
    for damage in [
        "UPDATE price_group SET definition = '[]'",
        "DELETE FROM price_group",
    ] {
        let refused = sql(&rig.url, damage).await.expect_err("refused");
        assert!(refused.to_string().contains("never"), "{refused}");
    }
}

async fn an_account_is_in_a_group_that_is_there(rig: Rig) {
    let account = rig.account(3, 10).await;
    assert_eq!(group_of(&rig, &account).await, None);
    let accounts = || rig.store.accounts();
    let act_of_it = act(&rig);
    let refused = accounts()
        .update(&account, into_group(Some("vip")), Some(act_of_it))
        .await;
    assert!(matches!(refused, Err(Error::NoGroup(name)) if name == "vip"));
    assert_eq!(
        (acts(&rig).await, group_of(&rig, &account).await),
        (0, None)
    );
    written(&rig, "vip", None).await;
    let patched = accounts()
        .update(&account, into_group(Some("vip")), None)
        .await;
    let patched = patched.expect("done").expect("an account");
    assert_eq!(patched.group.as_deref(), Some("vip"));
    // What says nothing of a group leaves it.
    let other = AccountPatch {
        max_queue: Some(7),
        ..AccountPatch::default()
    };
    accounts()
        .update(&account, other, None)
        .await
        .expect("done");
    assert_eq!(group_of(&rig, &account).await.as_deref(), Some("vip"));
    accounts()
        .update(&account, into_group(None), None)
        .await
        .expect("done");
    assert_eq!(group_of(&rig, &account).await, None);
    append(&rig, removal("vip", 1)).await;
    let refused = accounts()
        .update(&account, into_group(Some("vip")), None)
        .await;
    assert!(matches!(refused, Err(Error::NoGroup(_))), "it is gone");
}

async fn a_group_with_accounts_stays(rig: Rig) {
    let accounts = [rig.account(3, 10).await, rig.account(3, 10).await];
    written(&rig, "vip", None).await;
    for account in &accounts {
        let patch = into_group(Some("vip"));
        rig.store
            .accounts()
            .update(account, patch, None)
            .await
            .expect("done");
    }
    let size = |accounts| GroupSize {
        key: "vip".into(),
        accounts,
    };
    assert_eq!(rig.store.groups().sizes().await.expect("a read"), [size(2)]);
    let in_use = RevisionOutcome::InUse {
        name: "vip".into(),
        users: 2,
    };
    assert_eq!(append(&rig, removal("vip", 1)).await, in_use);
    // An account that is deleted is in no group.
    let deleted = rig.store.accounts().delete(&accounts[0], NOW, None).await;
    assert!(deleted.expect("an answer"));
    assert_eq!(rig.store.groups().sizes().await.expect("a read"), [size(1)]);
    rig.store
        .accounts()
        .update(&accounts[1], into_group(None), None)
        .await
        .expect("done");
    let gone = append(&rig, removal("vip", 1)).await;
    assert_eq!(gone, RevisionOutcome::Written(vec![2]));
}

/// The promise: whichever comes first, no account is left in a group that is gone.
async fn a_removal_and_a_new_member_at_once_never_both_stand(rig: Rig) {
    let other = Store::open(&rig.url, options()).await.expect("a node");
    let account = rig.account(3, 10).await;
    written(&rig, "vip", None).await;
    let mut revision = 1;
    for _ in 0..10 {
        let gone = change(&rig, removal("vip", revision)).await;
        let (removed, joined) = tokio::join!(
            rig.store.groups().append(gone, None),
            other
                .accounts()
                .update(&account, into_group(Some("vip")), None),
        );
        match removed.expect("an answer") {
            RevisionOutcome::Written(_) => {
                assert!(matches!(joined, Err(Error::NoGroup(_))), "{joined:?}");
                let back = append(&rig, draft("vip", None)).await;
                revision += 2;
                assert_eq!(back, RevisionOutcome::Written(vec![revision]));
            }
            RevisionOutcome::InUse { users, .. } => {
                assert_eq!(users, 1);
                joined.expect("it is in");
                let left = rig
                    .store
                    .accounts()
                    .update(&account, into_group(None), None);
                left.await.expect("done");
            }
            unexpected => panic!("{unexpected:?}"),
        }
    }
    let found = rig
        .store
        .invariants()
        .check_books()
        .await
        .expect("an audit");
    assert!(found.is_empty(), "{found:?}");
    other.close().await;
}

async fn a_change_of_a_group_and_its_act_are_one_commit(rig: Rig) {
    let new = change(&rig, draft("vip", None)).await;
    let outcome = rig.store.groups().append(new, Some(act(&rig))).await;
    assert!(matches!(outcome, Ok(RevisionOutcome::Written(_))));
    assert_eq!(acts(&rig).await, 1);
    let taken = change(&rig, draft("vip", None)).await;
    let outcome = rig.store.groups().append(taken, Some(act(&rig))).await;
    assert!(matches!(outcome, Ok(RevisionOutcome::Conflict { .. })));
    assert_eq!(acts(&rig).await, 1, "what did not happen leaves no act");
}

/// The promise: while a program that knows no groups is at work there is none, and none starts once there is one.
async fn older_programs_and_groups_keep_apart(rig: Rig) {
    let widens = "SELECT widens FROM schema_version WHERE name = '0045_groups'";
    let beat = rig.store.nodes().beat("newer", NOW, NOW, "{}").await;
    beat.expect("noted");
    // One that knows models and no groups.
    let older = format!(
        "INSERT INTO node (id, started_ms, seen_ms, detail, knows) \
         SELECT 'older', 1, {NOW}, '{{}}', version - 1 FROM schema_version WHERE name = '0045_groups'"
    );
    sql(&rig.url, &older).await.expect("noted");
    let new = change(&rig, draft("vip", None)).await;
    let answer = rig.store.groups().append(new, Some(act(&rig))).await;
    let answer = answer.expect("an answer");
    if rig.store.is_postgres() {
        assert_eq!(answer, RevisionOutcome::OlderNode("older".into()));
        assert_eq!(acts(&rig).await, 0);
        assert_eq!(number(&rig.url, widens).await, 1, "older ones may start");
        rig.store.nodes().forget("older").await.expect("stopped");
        written(&rig, "vip", None).await;
    } else {
        let alone = RevisionOutcome::Written(vec![1]);
        assert_eq!(answer, alone, "one process has the database");
    }
    assert_eq!(number(&rig.url, widens).await, 0, "older ones do not start");
}

/// The promise: a model that is sold to a group since somebody looked keeps the group from being removed without another look.
async fn a_group_is_not_removed_when_models_have_changed_meanwhile(rig: Rig) {
    written(&rig, "vip", None).await;
    let looked = rig.store.settings().get(MODEL_EDITION).await;
    let removal_after = async |seen: Option<String>| {
        let removal = RevisionChange {
            seen_beside: Some(SeenEdition(seen)),
            ..change(&rig, removal("vip", 1)).await
        };
        let outcome = rig.store.groups().append(removal, None).await;
        outcome.expect("an answer")
    };
    let model = RevisionChange {
        seen_edition: None,
        ..change(&rig, draft("fox-1", None)).await
    };
    let made = rig.store.models().append(model, None).await;
    assert_eq!(made.expect("an answer"), RevisionOutcome::Written(vec![1]));
    let crossed = removal_after(looked.expect("a read")).await;
    assert_eq!(crossed, RevisionOutcome::Crossed);
    let now = rig.store.settings().get(MODEL_EDITION).await;
    let gone = removal_after(now.expect("a read")).await;
    assert_eq!(gone, RevisionOutcome::Written(vec![2]));
}

/// The promise: what others make takes none of the places of a group's jobs.
async fn the_latest_jobs_of_a_group_are_its_own(rig: Rig) {
    let accounts = [rig.account(30, 10).await, rig.account(30, 10).await];
    written(&rig, "vip", None).await;
    let patch = into_group(Some("vip"));
    let joined = rig.store.accounts().update(&accounts[0], patch, None).await;
    joined.expect("done");
    let mut made = Vec::new();
    for account in [0, 0, 1, 1, 1] {
        let id = rig.waiting(&accounts[account], 1).await;
        rig.settle(rig.success(&id, Guard::Unfinished, 1)).await;
        made.push(id);
    }
    rig.waiting(&accounts[0], 1).await;
    let latest = async |group: Option<&str>, from_ms: i64, limit: i64| {
        let jobs = rig
            .store
            .jobs()
            .latest_of_group(group, from_ms, limit)
            .await;
        let jobs = jobs.expect("a read").into_iter();
        let mut ids: Vec<String> = jobs.map(|job| job.id).collect();
        ids.sort();
        ids
    };
    let own = {
        let mut own = made[..2].to_vec();
        own.sort();
        own
    };
    assert_eq!(latest(Some("vip"), 0, 2).await, own);
    assert_eq!(latest(None, 0, 9).await.len(), 3);
    assert_eq!(latest(Some("vip"), 0, 1).await.len(), 1);
    assert!(latest(Some("vip"), i64::MAX, 9).await.is_empty());
    assert!(latest(Some("other"), 0, 9).await.is_empty());
}
