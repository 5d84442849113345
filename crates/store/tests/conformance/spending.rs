//! What keys spend: nothing beyond their limits, whoever asks and where; and who spent what is found again.

use atelier_contract::LimitWindow;
use atelier_store::{
    AcceptOutcome, Acceptance, AddKeyOutcome, Attribution, Guard, JobFilter, Key, KeyChange,
    KeyChangeOutcome, KeyLimit, KeyLimitReached, KeyRotation, KeyTerms, LedgerFilter, NewKey,
    RotateOutcome, SpenderFilter, Store, UsageKind, UsageQuestion,
};

use crate::fill::Fill;
use crate::rig::{NOW, Rig, number, options, quota, spawn, sql};

const DAY_MS: i64 = 86_400_000;

each_db!(
    a_limit_set_after_a_clock_was_put_back_counts_where_jobs_count,
    with_a_key_ends_what_is_below_it,
    the_list_of_keys_has_an_end,
    usage_by_a_tag_says_how_far_it_looked,
    a_limit_worth_a_hundred_admits_a_hundred_at_several_nodes,
    a_release_returns_to_the_window_it_was_held_in,
    a_window_that_has_ended_stays_so_when_a_clock_is_put_back,
    what_a_key_spends_counts_for_those_above_it,
    a_new_limit_counts_what_was_spent_before_it,
    a_limit_below_what_is_spent_refuses_until_the_window_ends,
    a_key_with_a_queue_of_two_has_two_unfinished_jobs,
    revoking_a_key_ends_all_below_it,
    a_new_secret_changes_nothing_but_the_secret,
    of_two_changes_of_a_key_one_stands,
    older_programs_and_limits_keep_apart,
    who_spent_what_is_found_again,
    windows_that_ended_long_ago_are_forgotten,
);

pub(crate) fn limits(some: &[(LimitWindow, i64)]) -> KeyTerms {
    let limit = |(window, most): &(LimitWindow, i64)| KeyLimit {
        window: *window,
        quota: quota(*most),
    };
    KeyTerms {
        limits: some.iter().map(limit).collect(),
        ..KeyTerms::default()
    }
}

/// Stores a key below others; its id.
pub(crate) async fn key(rig: &Rig, account_id: &str, above: &[&str], terms: KeyTerms) -> String {
    let id = rig.id("key");
    let new = NewKey {
        id: id.clone(),
        account_id: account_id.to_owned(),
        hash: format!("hash of {id}"),
        prefix: "at_1234".into(),
        name: format!("name of {id}"),
        scopes: "all".into(),
        now_ms: NOW,
        expires_ms: None,
        most: 100,
        above: (!above.is_empty()).then(|| above.join(" ")),
        terms,
        note: None,
        alive_since_ms: NOW - 60_000,
    };
    let added = rig.store.keys().add(new, None).await.expect("an answer");
    assert_eq!(added, AddKeyOutcome::Done);
    id
}

/// A job that comes by a key.
pub(crate) fn by(rig: &Rig, account_id: &str, keys: &[&str], price: i64) -> Acceptance {
    let mut accept = rig.accept(account_id, price);
    let (own, above) = keys.split_last().expect("a key");
    accept.job.attribution = Attribution {
        key_id: Some((*own).to_owned()),
        key_above: (!above.is_empty()).then(|| above.join(" ")),
        ..Attribution::default()
    };
    accept
}

async fn seen(rig: &Rig, account_id: &str, key_id: &str) -> Key {
    let keys = rig
        .store
        .keys()
        .list(account_id, NOW)
        .await
        .expect("a list");
    let found = keys.into_iter().find(|key| key.id == key_id);
    found.expect("the key")
}

async fn change(rig: &Rig, account_id: &str, key_id: &str, terms: KeyTerms) -> KeyChangeOutcome {
    let seen = seen(rig, account_id, key_id).await;
    let change = KeyChange {
        wanted: Key {
            terms,
            ..seen.clone()
        },
        seen,
        now_ms: NOW,
        alive_since_ms: NOW - 60_000,
    };
    let changed = rig.store.keys().change(change, None).await;
    changed.expect("an answer")
}

/// What a key has spent in a window that a moment is in.
async fn spent(rig: &Rig, account_id: &str, key_id: &str, at_ms: i64) -> Vec<(LimitWindow, i64)> {
    let all = rig
        .store
        .keys()
        .spending(account_id, at_ms)
        .await
        .expect("a read");
    let mut found: Vec<(LimitWindow, i64)> = all
        .iter()
        .filter(|one| one.key_id == key_id && one.from_ms <= at_ms)
        .map(|one| (one.window, one.spent.thousandths() / 1000))
        .collect();
    found.sort_by_key(|(window, _)| window.word());
    found
}

async fn check(rig: &Rig) {
    let faults = rig
        .store
        .invariants()
        .check_books()
        .await
        .expect("an audit");
    assert!(faults.is_empty(), "{faults:?}");
}

fn reached(outcome: &AcceptOutcome) -> Option<KeyLimitReached> {
    match outcome {
        AcceptOutcome::KeyLimit(reached) => Some(*reached),
        _ => None,
    }
}

/// The promise: 64 callers at three nodes with one key, whose limit is worth 100 jobs, get exactly 100 in.
async fn a_limit_worth_a_hundred_admits_a_hundred_at_several_nodes(rig: Rig) {
    let account = rig.account(1_000, 1_000).await;
    let key = key(
        &rig,
        &account,
        &[],
        limits(&[(LimitWindow::Day, 100), (LimitWindow::Month, 500)]),
    )
    .await;
    let mut nodes = vec![rig.clone()];
    for _ in 0..2 {
        let store = Store::open(&rig.url, options()).await.expect("a node");
        nodes.push(Rig {
            store,
            url: rig.url.clone(),
        });
    }
    let callers: Vec<_> = (0..64)
        .map(|number| {
            let (node, account, key) = (nodes[number % 3].clone(), account.clone(), key.clone());
            spawn(async move {
                let mut admitted = 0;
                for _ in 0..3 {
                    let accept = by(&node, &account, &[&key], 1);
                    let id = accept.job.id.clone();
                    match node.take(accept).await {
                        AcceptOutcome::New { .. } => {
                            admitted += 1;
                            node.settle(node.success(&id, Guard::Unfinished, 1)).await;
                        }
                        AcceptOutcome::KeyLimit(reached) => {
                            assert_eq!(
                                (reached.window, reached.quota, reached.spent),
                                (LimitWindow::Day, quota(100), quota(100))
                            );
                        }
                        other => panic!("{other:?}"),
                    }
                }
                admitted
            })
        })
        .collect();
    let mut admitted = 0;
    for caller in callers {
        admitted += caller.await.expect("it ends");
    }
    assert_eq!(admitted, 100);
    assert_eq!(rig.purse(&account).await, (quota(900), quota(0)));
    let all = [(LimitWindow::Day, 100), (LimitWindow::Month, 100)];
    assert_eq!(spent(&rig, &account, &key, NOW).await, all);
    check(&rig).await;
    for node in nodes.into_iter().skip(1) {
        node.store.close().await;
    }
}

async fn a_release_returns_to_the_window_it_was_held_in(rig: Rig) {
    let account = rig.account(1_000, 1_000).await;
    let key = key(&rig, &account, &[], limits(&[(LimitWindow::Day, 5)])).await;
    let (_, midnight) = LimitWindow::Day.span(NOW);
    let at = |created_ms: i64| {
        let mut accept = by(&rig, &account, &[&key], 5);
        accept.job.created_ms = created_ms;
        accept
    };
    let (first, last) = (at(midnight - 2), at(midnight));
    let (id, next_id) = (first.job.id.clone(), last.job.id.clone());
    assert!(matches!(rig.take(first).await, AcceptOutcome::New { .. }));
    let full = rig.take(at(midnight - 1)).await;
    assert_eq!(reached(&full).map(|limit| limit.until_ms), Some(midnight));
    assert!(
        matches!(rig.take(last).await, AcceptOutcome::New { .. }),
        "a new day"
    );
    let mut failure = rig.failure(&id, Guard::Unfinished);
    failure.now_ms = midnight + 5;
    rig.settle(failure).await;
    assert_eq!(
        spent(&rig, &account, &key, midnight - 1).await,
        [(LimitWindow::Day, 0)]
    );
    assert_eq!(
        spent(&rig, &account, &key, midnight).await,
        [(LimitWindow::Day, 5)]
    );
    let mut success = rig.success(&next_id, Guard::Unfinished, 2);
    success.now_ms = midnight + DAY_MS;
    rig.settle(success).await;
    assert_eq!(
        spent(&rig, &account, &key, midnight).await,
        [(LimitWindow::Day, 2)]
    );
    check(&rig).await;
}

async fn a_window_that_has_ended_stays_so_when_a_clock_is_put_back(rig: Rig) {
    let account = rig.account(1_000, 1_000).await;
    let key = key(&rig, &account, &[], limits(&[(LimitWindow::Day, 5)])).await;
    let (_, midnight) = LimitWindow::Day.span(NOW);
    let at = |created_ms: i64, price: i64| {
        let mut accept = by(&rig, &account, &[&key], price);
        accept.job.created_ms = created_ms;
        accept
    };
    assert!(matches!(
        rig.take(at(midnight + 1, 4)).await,
        AcceptOutcome::New { .. }
    ));
    let back = at(midnight - 60_000, 1);
    let id = back.job.id.clone();
    assert!(matches!(rig.take(back).await, AcceptOutcome::New { .. }));
    assert_eq!(
        spent(&rig, &account, &key, midnight + 1).await,
        [(LimitWindow::Day, 5)]
    );
    let full = rig.take(at(midnight - 50_000, 1)).await;
    assert_eq!(
        reached(&full).map(|limit| limit.until_ms),
        Some(midnight + DAY_MS)
    );
    rig.settle(rig.failure(&id, Guard::Unfinished)).await;
    assert_eq!(
        spent(&rig, &account, &key, midnight + 1).await,
        [(LimitWindow::Day, 4)]
    );
    check(&rig).await;
}

async fn what_a_key_spends_counts_for_those_above_it(rig: Rig) {
    let account = rig.account(1_000, 1_000).await;
    let top = key(&rig, &account, &[], limits(&[(LimitWindow::Total, 10)])).await;
    let middle = key(&rig, &account, &[&top], KeyTerms::default()).await;
    let low = key(
        &rig,
        &account,
        &[&top, &middle],
        limits(&[(LimitWindow::Week, 8)]),
    )
    .await;
    let line = [top.as_str(), &middle, &low];
    assert!(matches!(
        rig.take(by(&rig, &account, &line, 6)).await,
        AcceptOutcome::New { .. }
    ));
    let own = rig.take(by(&rig, &account, &line, 3)).await;
    assert_eq!(
        reached(&own).map(|limit| limit.window),
        Some(LimitWindow::Week)
    );
    assert!(matches!(
        rig.take(by(&rig, &account, &line[..2], 3)).await,
        AcceptOutcome::New { .. }
    ));
    let above = rig.take(by(&rig, &account, &line, 2)).await;
    assert_eq!(
        reached(&above).map(|limit| (limit.window, limit.spent)),
        Some((LimitWindow::Total, quota(9)))
    );
    let asked = by(&rig, &account, &line, 2);
    let refused = rig.store.jobs().precheck_refusal(&asked.job, 1_000_000);
    assert_eq!(refused.await.expect("a look"), Some(above));
    assert_eq!(
        spent(&rig, &account, &top, NOW).await,
        [(LimitWindow::Total, 9)]
    );
    assert_eq!(
        spent(&rig, &account, &low, NOW).await,
        [(LimitWindow::Week, 6)]
    );
    check(&rig).await;
}

async fn a_new_limit_counts_what_was_spent_before_it(rig: Rig) {
    let account = rig.account(1_000, 1_000).await;
    let top = key(&rig, &account, &[], KeyTerms::default()).await;
    let low = key(&rig, &account, &[&top], KeyTerms::default()).await;
    let done = by(&rig, &account, &[&top, &low], 5);
    let id = done.job.id.clone();
    rig.take(done).await;
    rig.settle(rig.success(&id, Guard::Unfinished, 3)).await;
    rig.take(by(&rig, &account, &[&top], 4)).await;
    let mut early = by(&rig, &account, &[&top], 2);
    early.job.created_ms = LimitWindow::Day.span(NOW).0 - 1;
    rig.take(early).await;
    let both = limits(&[(LimitWindow::Day, 8), (LimitWindow::Total, 100)]);
    assert!(matches!(
        change(&rig, &account, &top, both).await,
        KeyChangeOutcome::Done(_)
    ));
    let expected = [(LimitWindow::Day, 7), (LimitWindow::Total, 9)];
    assert_eq!(spent(&rig, &account, &top, NOW).await, expected);
    let full = rig.take(by(&rig, &account, &[&top], 2)).await;
    assert_eq!(reached(&full).map(|limit| limit.spent), Some(quota(7)));
    check(&rig).await;
    // What no longer counts is forgotten, and is counted anew when it does again.
    change(&rig, &account, &top, KeyTerms::default()).await;
    assert_eq!(spent(&rig, &account, &top, NOW).await, []);
    rig.take(by(&rig, &account, &[&top], 1)).await;
    change(&rig, &account, &top, limits(&[(LimitWindow::Day, 8)])).await;
    assert_eq!(
        spent(&rig, &account, &top, NOW).await,
        [(LimitWindow::Day, 8)]
    );
    check(&rig).await;
}

async fn a_limit_below_what_is_spent_refuses_until_the_window_ends(rig: Rig) {
    let account = rig.account(1_000, 1_000).await;
    let key = key(&rig, &account, &[], limits(&[(LimitWindow::Day, 9)])).await;
    rig.take(by(&rig, &account, &[&key], 9)).await;
    change(&rig, &account, &key, limits(&[(LimitWindow::Day, 2)])).await;
    let free = rig.take(by(&rig, &account, &[&key], 0)).await;
    assert_eq!(
        reached(&free).map(|limit| (limit.quota, limit.spent)),
        Some((quota(2), quota(9)))
    );
    let mut next = by(&rig, &account, &[&key], 2);
    next.job.created_ms = NOW + DAY_MS;
    assert!(matches!(rig.take(next).await, AcceptOutcome::New { .. }));
    check(&rig).await;
}

async fn a_key_with_a_queue_of_two_has_two_unfinished_jobs(rig: Rig) {
    let account = rig.account(1_000, 1_000).await;
    let key = key(&rig, &account, &[], KeyTerms::default()).await;
    let first = by(&rig, &account, &[&key], 1);
    let id = first.job.id.clone();
    rig.take(first).await;
    let terms = KeyTerms {
        max_queue: Some(2),
        ..KeyTerms::default()
    };
    change(&rig, &account, &key, terms).await;
    assert!(matches!(
        rig.take(by(&rig, &account, &[&key], 1)).await,
        AcceptOutcome::New { .. }
    ));
    let full = AcceptOutcome::QueueFull { max_queue: 2 };
    assert_eq!(rig.take(by(&rig, &account, &[&key], 1)).await, full);
    let mut other = by(&rig, &account, &[&key], 1);
    other.job.queue = "vidgen".into();
    assert!(
        matches!(rig.take(other).await, AcceptOutcome::New { .. }),
        "another queue"
    );
    assert!(
        matches!(
            rig.take(rig.accept(&account, 1)).await,
            AcceptOutcome::New { .. }
        ),
        "nobody's"
    );
    rig.settle(rig.success(&id, Guard::Unfinished, 1)).await;
    assert!(matches!(
        rig.take(by(&rig, &account, &[&key], 1)).await,
        AcceptOutcome::New { .. }
    ));
    check(&rig).await;
    change(&rig, &account, &key, KeyTerms::default()).await;
    assert!(matches!(
        rig.take(by(&rig, &account, &[&key], 1)).await,
        AcceptOutcome::New { .. }
    ));
    check(&rig).await;
}

async fn revoking_a_key_ends_all_below_it(rig: Rig) {
    let account = rig.account(1, 10).await;
    let top = key(&rig, &account, &[], KeyTerms::default()).await;
    let middle = key(&rig, &account, &[&top], KeyTerms::default()).await;
    let low = key(&rig, &account, &[&top, &middle], KeyTerms::default()).await;
    let keys = rig.store.keys();
    let found = keys
        .account_for(&format!("hash of {low}"), NOW)
        .await
        .expect("a read");
    let (_, (_, above)) = found.expect("a caller");
    let above: Vec<&str> = above.iter().map(|key| key.id.as_str()).collect();
    assert_eq!(above, [&top, &middle]);
    let mut revoked = keys
        .revoke(&account, &middle, NOW, None)
        .await
        .expect("revoked");
    revoked.sort_unstable();
    let mut expected = vec![format!("hash of {middle}"), format!("hash of {low}")];
    expected.sort_unstable();
    assert_eq!(revoked, expected);
    let works = async |id: &str| {
        let found = keys.account_for(&format!("hash of {id}"), NOW).await;
        found.expect("a read").is_some()
    };
    assert!(works(&top).await && !works(&middle).await && !works(&low).await);
    // As an older program revokes it, which knows nothing of keys below.
    let other = key(&rig, &account, &[&top], KeyTerms::default()).await;
    let text = format!("UPDATE api_key SET revoked_ms = 1 WHERE id = '{top}'");
    sql(&rig.url, &text).await.expect("revoked");
    assert!(!works(&other).await);
    let new = NewKey {
        id: rig.id("key"),
        account_id: account.clone(),
        hash: "late".into(),
        prefix: "at_1234".into(),
        name: "late".into(),
        scopes: "all".into(),
        now_ms: NOW,
        expires_ms: None,
        most: 100,
        above: Some(top.clone()),
        terms: KeyTerms::default(),
        note: None,
        alive_since_ms: 0,
    };
    let added = keys.add(new, None).await.expect("an answer");
    assert_eq!(added, AddKeyOutcome::NoParent);
}

async fn a_new_secret_changes_nothing_but_the_secret(rig: Rig) {
    let account = rig.account(100, 10).await;
    let id = key(&rig, &account, &[], limits(&[(LimitWindow::Total, 5)])).await;
    let low = key(&rig, &account, &[&id], KeyTerms::default()).await;
    rig.take(by(&rig, &account, &[&id], 4)).await;
    let rotate = |hash: &str, until_ms: i64, most: i64| KeyRotation {
        account_id: account.clone(),
        key_id: id.clone(),
        hash: hash.to_owned(),
        prefix: "at_new".into(),
        old_id: rig.id("old"),
        old_until_ms: until_ms,
        now_ms: NOW,
        most,
    };
    let keys = rig.store.keys();
    let many = rig.store.keys().rotate(rotate("new", NOW + 10, 2), None);
    let many = many.await.expect("an answer");
    assert_eq!(many, RotateOutcome::TooMany);
    let old = format!("hash of {id}");
    let done = keys
        .rotate(rotate("new", NOW + 10, 100), None)
        .await
        .expect("an answer");
    assert_eq!(done, RotateOutcome::Done(old.clone()));
    let who = async |hash: &str, at_ms: i64| {
        let found = keys.account_for(hash, at_ms).await.expect("a read");
        found.map(|(_, (key, _))| key.id)
    };
    assert_eq!(who("new", NOW).await.as_deref(), Some(&*id));
    assert_eq!(
        who(&old, NOW + 9).await.as_deref(),
        Some(&*id),
        "for a while"
    );
    assert_eq!(who(&old, NOW + 10).await, None);
    assert_eq!(
        who(&format!("hash of {low}"), NOW).await.as_deref(),
        Some(&*low)
    );
    assert_eq!(
        keys.list(&account, NOW).await.expect("a list").len(),
        2,
        "no key more"
    );
    let full = rig.take(by(&rig, &account, &[&id], 2)).await;
    assert_eq!(reached(&full).map(|limit| limit.spent), Some(quota(4)));
    let done = keys
        .rotate(rotate("newest", NOW, 100), None)
        .await
        .expect("an answer");
    assert_eq!(done, RotateOutcome::Done("new".into()));
    assert_eq!(who("new", NOW).await, None, "at once");
    let gone = keys
        .revoke(&account, &id, NOW, None)
        .await
        .expect("revoked");
    assert_eq!(gone.len(), 3, "both secrets, and the key below: {gone:?}");
    assert_eq!(who(&old, NOW).await, None);
    check(&rig).await;
}

async fn of_two_changes_of_a_key_one_stands(rig: Rig) {
    let account = rig.account(100, 10).await;
    let id = key(&rig, &account, &[], KeyTerms::default()).await;
    let seen = seen(&rig, &account, &id).await;
    let change = |most: i64| KeyChange {
        wanted: Key {
            terms: limits(&[(LimitWindow::Day, most)]),
            ..seen.clone()
        },
        seen: seen.clone(),
        now_ms: NOW,
        alive_since_ms: 0,
    };
    let keys = rig.store.keys();
    let both = tokio::join!(keys.change(change(1), None), keys.change(change(2), None));
    let both = [both.0.expect("an answer"), both.1.expect("an answer")];
    assert!(both.contains(&KeyChangeOutcome::Crossed), "{both:?}");
    assert!(
        both.iter()
            .any(|one| matches!(one, KeyChangeOutcome::Done(_))),
        "{both:?}"
    );
    keys.revoke(&account, &id, NOW, None)
        .await
        .expect("revoked");
    let gone = keys.change(change(3), None).await.expect("an answer");
    assert_eq!(gone, KeyChangeOutcome::NoKey);
}

/// The promise: while a program that keeps to no limits is at work no key has any, and none starts once one does.
async fn older_programs_and_limits_keep_apart(rig: Rig) {
    let widens = "SELECT widens FROM schema_version WHERE name = '0044_keys'";
    let account = rig.account(100, 10).await;
    let plain = key(&rig, &account, &[], KeyTerms::default()).await;
    key(&rig, &account, &[&plain], KeyTerms::default()).await;
    assert_eq!(
        number(&rig.url, widens).await,
        1,
        "keys below others are none"
    );
    let older = format!(
        "INSERT INTO node (id, started_ms, seen_ms, detail, knows) VALUES ('older', 1, {NOW}, '{{}}', 37)"
    );
    sql(&rig.url, &older).await.expect("noted");
    let refused = change(&rig, &account, &plain, limits(&[(LimitWindow::Day, 1)])).await;
    if rig.store.is_postgres() {
        assert_eq!(refused, KeyChangeOutcome::OlderNode("older".into()));
        assert_eq!(
            seen(&rig, &account, &plain).await.terms,
            KeyTerms::default()
        );
        assert_eq!(number(&rig.url, widens).await, 1, "older ones may start");
        rig.store.nodes().forget("older").await.expect("stopped");
        key(
            &rig,
            &account,
            &[],
            KeyTerms {
                rules: Some("{}".into()),
                ..KeyTerms::default()
            },
        )
        .await;
    } else {
        assert!(
            matches!(refused, KeyChangeOutcome::Done(_)),
            "one process has the database"
        );
    }
    assert_eq!(number(&rig.url, widens).await, 0, "older ones do not start");
}

async fn who_spent_what_is_found_again(rig: Rig) {
    let account = rig.account(1_000, 1_000).await;
    let keys = [
        key(&rig, &account, &[], KeyTerms::default()).await,
        key(&rig, &account, &[], KeyTerms::default()).await,
    ];
    let mut ids = Vec::new();
    for place in 0..6 {
        let mut accept = by(&rig, &account, &[&keys[place % 2]], 3);
        accept.job.attribution.model = (place > 1).then(|| format!("model-{}", place % 2));
        accept.job.attribution.tags = (place > 3).then(|| r#"{"a":"x","b":"1"}"#.to_owned());
        accept.job.attribution.user = (place == 5).then(|| "me".to_owned());
        let id = accept.job.id.clone();
        rig.take(accept).await;
        rig.settle(rig.success(&id, Guard::Unfinished, 2)).await;
        ids.push(id);
    }
    // As a program from before there were keys on jobs accepts it.
    let plain = rig.waiting(&account, 1).await;
    rig.settle(rig.success(&plain, Guard::Unfinished, 1)).await;
    usage_is_grouped(&rig, &account, &keys).await;
    lists_are_filtered(&rig, &account, &keys).await;
    let row = rig.job(&ids[5]).await;
    assert_eq!(row.attribution.user.as_deref(), Some("me"));
    // Its tags go with its words; that it was spent, and by whom, stays.
    let words = number(&rig.url, "SELECT words FROM account").await;
    assert!(
        rig.store
            .jobs()
            .delete(&account, &ids[5], &[], NOW)
            .await
            .expect("deleted")
    );
    assert!(number(&rig.url, "SELECT words FROM account").await < words);
    let row = rig.job(&ids[5]).await.attribution;
    assert_eq!(
        (row.tags, row.user, row.key_id),
        (None, None, Some(keys[1].clone()))
    );
    check(&rig).await;
}

/// What one of the keys spent.
fn of_key(keys: &[String; 2], place: usize) -> SpenderFilter {
    SpenderFilter {
        key_id: Some(keys[place].clone()),
        ..SpenderFilter::default()
    }
}

async fn usage_is_grouped(rig: &Rig, account: &str, keys: &[String; 2]) {
    let question = |by: UsageKind, of: SpenderFilter, wide: i64| UsageQuestion {
        account_id: account.to_owned(),
        by,
        of,
        from_ms: NOW - wide,
        to_ms: NOW + wide,
    };
    // Whole hours that were added up, and parts of one that are counted.
    for wide in [50 * 3_600_000, 6_000] {
        let groups = async |by: UsageKind, of: SpenderFilter| {
            let found = rig
                .store
                .statistics()
                .usage_by(&question(by, of, wide))
                .await;
            let groups = found.expect("usage").groups.into_iter();
            let mut groups: Vec<_> = groups
                .map(|one| (one.id, one.jobs, one.quota.thousandths() / 1000))
                .collect();
            groups.sort();
            groups
        };
        let some = |id: &str, jobs: i64, quota: i64| (Some(id.to_owned()), jobs, quota);
        let mut expected = vec![(None, 1, 1), some(&keys[0], 3, 6), some(&keys[1], 3, 6)];
        expected.sort();
        assert_eq!(
            groups(UsageKind::Key, SpenderFilter::default()).await,
            expected
        );
        let expected = [(None, 3, 5), some("model-0", 2, 4), some("model-1", 2, 4)];
        assert_eq!(
            groups(UsageKind::Model, SpenderFilter::default()).await,
            expected
        );
        assert_eq!(
            groups(UsageKind::Operation, SpenderFilter::default()).await,
            [some("artgen.imagine", 7, 13)]
        );
        assert_eq!(
            groups(UsageKind::Model, of_key(keys, 1)).await,
            [(None, 1, 2), some("model-1", 2, 4)]
        );
        let expected = [(None, 5, 9), some("x", 2, 4)];
        assert_eq!(
            groups(UsageKind::Tag("a".into()), SpenderFilter::default()).await,
            expected
        );
        let tagged = SpenderFilter {
            tag: Some(("b".into(), "1".into())),
            ..of_key(keys, 0)
        };
        assert_eq!(groups(UsageKind::Key, tagged).await, [some(&keys[0], 1, 2)]);
        let none = SpenderFilter {
            tag: Some(("b".into(), "X".into())),
            ..SpenderFilter::default()
        };
        assert_eq!(groups(UsageKind::Key, none).await, []);
    }
}

async fn lists_are_filtered(rig: &Rig, account: &str, keys: &[String; 2]) {
    let list = async |of: SpenderFilter, to_ms: Option<i64>| {
        let filter = JobFilter {
            account_id: Some(account.to_owned()),
            of,
            created_to_ms: to_ms,
            ..JobFilter::page(1, 10)
        };
        rig.store.jobs().list(filter).await.expect("a page").total
    };
    assert_eq!(list(of_key(keys, 0), None).await, 3);
    let user = SpenderFilter {
        user: Some("me".into()),
        ..SpenderFilter::default()
    };
    assert_eq!(list(user.clone(), None).await, 1);
    assert_eq!(list(SpenderFilter::default(), Some(NOW)).await, 0);
    assert_eq!(list(SpenderFilter::default(), Some(NOW + 1)).await, 7);
    let ledger = async |of: SpenderFilter, from_ms: Option<i64>, to_ms: Option<i64>| {
        let filter = LedgerFilter {
            account_id: account.to_owned(),
            of,
            from_ms,
            to_ms,
            offset: 0,
            limit: 100,
        };
        let (rows, total) = rig.store.ledger().filtered(&filter).await.expect("a page");
        assert_eq!(rows.len() as i64, total);
        total
    };
    assert_eq!(
        ledger(of_key(keys, 0), None, None).await,
        6,
        "holds and captures"
    );
    assert_eq!(ledger(user, None, None).await, 2);
    let all = SpenderFilter {
        operation: Some("artgen.imagine".into()),
        ..SpenderFilter::default()
    };
    assert_eq!(ledger(all.clone(), None, None).await, 14);
    assert_eq!(ledger(all.clone(), Some(NOW + DAY_MS), None).await, 0);
    assert_eq!(ledger(all, None, Some(NOW)).await, 0);
}

async fn windows_that_ended_long_ago_are_forgotten(rig: Rig) {
    let account = rig.account(1_000, 1_000).await;
    let id = key(&rig, &account, &[], limits(&[(LimitWindow::Day, 9)])).await;
    let done = by(&rig, &account, &[&id], 1);
    let job = done.job.id.clone();
    rig.take(done).await;
    let windows = "SELECT COUNT(*) FROM key_window";
    let retention = rig.store.retention();
    let forget = |at_ms| rig.store.retention().forget_key_windows(at_ms, 10);
    assert_eq!(
        forget(NOW + 3 * DAY_MS).await.expect("an answer"),
        0,
        "a job is unfinished"
    );
    rig.settle(rig.success(&job, Guard::Unfinished, 1)).await;
    assert_eq!(forget(NOW).await.expect("an answer"), 0, "not yet");
    // The latest stays, or a clock that is put back would begin it anew.
    assert_eq!(forget(NOW + 3 * DAY_MS).await.expect("an answer"), 0);
    let mut next = by(&rig, &account, &[&id], 1);
    next.job.created_ms = NOW + DAY_MS;
    assert!(matches!(rig.take(next).await, AcceptOutcome::New { .. }));
    assert_eq!(forget(NOW + 3 * DAY_MS).await.expect("an answer"), 1);
    let back = rig.take(by(&rig, &account, &[&id], 9)).await;
    assert_eq!(reached(&back).map(|limit| limit.spent), Some(quota(1)));
    rig.store
        .keys()
        .revoke(&account, &id, NOW, None)
        .await
        .expect("revoked");
    assert_eq!(number(&rig.url, windows).await, 1);
    assert_eq!(
        retention.forget_keys(NOW + 1, 10).await.expect("an answer"),
        1
    );
    assert_eq!(number(&rig.url, windows).await, 0);
    assert_eq!(
        number(&rig.url, "SELECT counting_keys FROM account").await,
        0
    );
    check(&rig).await;
}

/// The promise: a limit holds from the moment it is set, also where the clock was put back and jobs count in windows to come.
async fn a_limit_set_after_a_clock_was_put_back_counts_where_jobs_count(rig: Rig) {
    let account = rig.account(1_000, 1_000).await;
    let day = || limits(&[(LimitWindow::Day, 100)]);
    let top = key(&rig, &account, &[], KeyTerms::default()).await;
    let middle = key(&rig, &account, &[&top], day()).await;
    let low = key(&rig, &account, &[&top, &middle], KeyTerms::default()).await;
    let mut early = by(&rig, &account, &[&top, &middle], 4);
    early.job.created_ms = NOW + DAY_MS;
    assert!(matches!(rig.take(early).await, AcceptOutcome::New { .. }));
    let line = [top.as_str(), &middle, &low];
    let now = rig.take(by(&rig, &account, &line, 1)).await;
    assert!(matches!(now, AcceptOutcome::New { .. }));
    // Of a key above and of one below the one whose window began too early.
    for (limited, most, spent) in [(&top, 6, 5), (&low, 2, 1)] {
        let limit = limits(&[(LimitWindow::Day, most)]);
        change(&rig, &account, limited, limit).await;
        let full = rig.take(by(&rig, &account, &line, 2)).await;
        let full = reached(&full).expect("the limit is reached");
        assert_eq!((full.quota, full.spent), (quota(most), quota(spent)));
        change(&rig, &account, limited, KeyTerms::default()).await;
    }
    check(&rig).await;
}

/// The promise: a key that ends sooner from now on takes those below it along, and no row of theirs is counted for ever.
async fn with_a_key_ends_what_is_below_it(rig: Rig) {
    let account = rig.account(1, 10).await;
    let top = key(&rig, &account, &[], KeyTerms::default()).await;
    let low = key(&rig, &account, &[&top], KeyTerms::default()).await;
    let other = key(&rig, &account, &[], KeyTerms::default()).await;
    let seen_top = seen(&rig, &account, &top).await;
    let change = KeyChange {
        wanted: Key {
            expires_ms: Some(NOW + 60_000),
            ..seen_top.clone()
        },
        seen: seen_top,
        now_ms: NOW,
        alive_since_ms: NOW - 60_000,
    };
    let changed = rig.store.keys().change(change, None).await;
    assert!(matches!(changed, Ok(KeyChangeOutcome::Done(_))));
    assert_eq!(
        seen(&rig, &account, &low).await.expires_ms,
        Some(NOW + 60_000)
    );
    assert_eq!(seen(&rig, &account, &other).await.expires_ms, None);
    let working = rig.store.keys().working(&account, NOW + 60_000).await;
    let working: Vec<String> = working
        .expect("a list")
        .into_iter()
        .map(|key| key.id)
        .collect();
    assert_eq!(working, [other]);
}

/// The promise: however many keys have ended, those that work are found, and a list is never longer than one can be.
async fn the_list_of_keys_has_an_end(rig: Rig) {
    let account = rig.account(1, 10).await;
    let works = key(&rig, &account, &[], KeyTerms::default()).await;
    let ended = format!(
        "WITH RECURSIVE many(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many WHERE n < 320) \
         INSERT INTO api_key (id, account_id, hash, prefix, name, scopes, created_ms, expires_ms) \
         SELECT 'ended-' || n, '{account}', 'hash-' || n, 'p', 'name ' || n, 'all', n, {NOW} - n FROM many"
    );
    sql(&rig.url, &ended).await.expect("written");
    let keys = rig.store.keys();
    let working = keys.working(&account, NOW).await.expect("a list");
    assert_eq!(working.len(), 1);
    let all = keys.list(&account, NOW).await.expect("a list");
    assert_eq!(all.len(), 301);
    assert!(all.iter().any(|key| key.id == works));
    assert!(all.iter().any(|key| key.id == "ended-1"));
    assert!(!all.iter().any(|key| key.id == "ended-320"));
    keys.revoke(&account, "ended-7", NOW, None)
        .await
        .expect("revoked");
    let asked = ["ended-7", "nobody"];
    let names = rig.store.keys().names(&account, &asked).await;
    let expected = [("ended-7".to_owned(), "name 7".to_owned())];
    assert_eq!(names.expect("a read"), expected);
}

/// The promise: a look for what hardly any job has ends like any other, and says since when it holds.
async fn usage_by_a_tag_says_how_far_it_looked(rig: Rig) {
    let account = rig.account(10, 10).await;
    let many = Fill {
        account_id: &account,
        name: "many",
        jobs: 100_500,
        state: 2,
        apart_ms: 1,
        ..Fill::default()
    };
    many.into(&rig.url).await;
    let asked = UsageQuestion {
        account_id: account,
        by: UsageKind::Tag("project".into()),
        of: SpenderFilter {
            user: Some("nobody".into()),
            ..SpenderFilter::default()
        },
        from_ms: NOW - DAY_MS,
        to_ms: NOW + DAY_MS,
    };
    let found = rig.store.statistics().usage_by(&asked).await;
    let found = found.expect("a look");
    assert!(found.groups.is_empty());
    assert!(found.from_ms > NOW - DAY_MS, "it looked at no more");
}
