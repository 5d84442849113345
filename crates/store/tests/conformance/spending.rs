//! What keys spend: nothing beyond their limits, whoever asks and where.

use atelier_contract::LimitWindow;
use atelier_store::{
    AcceptOutcome, Acceptance, AddKeyOutcome, Attribution, Guard, Key, KeyChange, KeyChangeOutcome,
    KeyLimit, KeyLimitReached, KeyTerms, NewKey, Store,
};

use crate::rig::{NOW, Rig, number, options, quota, spawn};

const DAY_MS: i64 = 86_400_000;

each_db!(
    a_limit_set_after_a_clock_was_put_back_counts_where_jobs_count,
    a_limit_worth_a_hundred_admits_a_hundred_at_several_nodes,
    a_release_returns_to_the_window_it_was_held_in,
    a_window_that_has_ended_stays_so_when_a_clock_is_put_back,
    what_a_key_spends_counts_for_those_above_it,
    a_new_limit_counts_what_was_spent_before_it,
    a_limit_below_what_is_spent_refuses_until_the_window_ends,
    a_key_with_a_queue_of_two_has_two_unfinished_jobs,
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

pub(crate) async fn seen(rig: &Rig, account_id: &str, key_id: &str) -> Key {
    let keys = rig
        .store
        .keys()
        .list(account_id, NOW)
        .await
        .expect("a list");
    let found = keys.into_iter().find(|key| key.id == key_id);
    found.expect("the key")
}

pub(crate) async fn change(
    rig: &Rig,
    account_id: &str,
    key_id: &str,
    terms: KeyTerms,
) -> KeyChangeOutcome {
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
pub(crate) async fn spent(
    rig: &Rig,
    account_id: &str,
    key_id: &str,
    at_ms: i64,
) -> Vec<(LimitWindow, i64)> {
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

pub(crate) async fn check(rig: &Rig) {
    let faults = rig
        .store
        .invariants()
        .check_books()
        .await
        .expect("an audit");
    assert!(faults.is_empty(), "{faults:?}");
}

pub(crate) fn reached(outcome: &AcceptOutcome) -> Option<KeyLimitReached> {
    match outcome {
        AcceptOutcome::KeyLimit(reached) => Some(reached.clone()),
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
