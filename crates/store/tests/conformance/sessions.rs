//! Sessions of the console.

use atelier_store::{OverdueSessions, SessionRow};

use crate::rig::{NOW, Rig};

each_db!(
    a_session_replaces_another_in_one_commit,
    sessions_end_alone_or_with_their_key_or_operator,
    sessions_that_nobody_uses_are_forgotten,
    sessions_and_links_that_are_over_end_together,
    the_oldest_sessions_of_a_key_or_an_operator_end_when_there_are_too_many,
);

fn new(rig: &Rig, key: Option<&str>, operator: Option<&str>) -> SessionRow {
    SessionRow {
        hash: rig.id("session"),
        key_hash: key.map(str::to_owned),
        operator_hash: operator.map(str::to_owned),
        bound_hash: operator.map(str::to_owned),
        link: false,
        created_ms: NOW,
        seen_ms: NOW,
        person: None,
    }
}

async fn open(rig: &Rig, key: Option<&str>, operator: Option<&str>) -> SessionRow {
    let row = new(rig, key, operator);
    let opened = rig
        .store
        .people()
        .sessions()
        .open(row.clone(), None, None)
        .await;
    assert!(opened.expect("an answer"));
    row
}

async fn is_open(rig: &Rig, row: &SessionRow) -> bool {
    let found = rig.store.people().sessions().find(&row.hash).await;
    found.expect("a read").is_some()
}

async fn sessions_and_links_that_are_over_end_together(rig: Rig) {
    let with = async |link: bool, created_ms: i64, seen_ms: i64| {
        let row = SessionRow {
            link,
            created_ms,
            seen_ms,
            ..new(&rig, Some("k"), None)
        };
        let opened = rig
            .store
            .people()
            .sessions()
            .open(row.clone(), None, None)
            .await;
        assert!(opened.expect("an answer"));
        row
    };
    let over = [
        with(true, NOW - 10, NOW - 10).await,
        with(false, NOW - 1_000, NOW).await,
        with(false, NOW - 100, NOW - 100).await,
    ];
    let live = [
        with(true, NOW - 9, NOW - 9).await,
        with(false, NOW - 999, NOW - 99).await,
    ];
    let overdue = OverdueSessions {
        links: NOW - 10,
        people: NOW - 5_000,
        opened: NOW - 1_000,
        seen: NOW - 100,
    };
    let ended = rig.store.people().sessions().end_overdue(overdue).await;
    assert_eq!(ended.expect("an answer"), 3);
    for row in &over {
        assert!(!is_open(&rig, row).await, "{row:?}");
    }
    for row in &live {
        assert!(is_open(&rig, row).await, "{row:?}");
    }
}

async fn a_session_replaces_another_in_one_commit(rig: Rig) {
    let link = SessionRow {
        link: true,
        ..new(&rig, Some("k"), None)
    };
    let opened = rig
        .store
        .people()
        .sessions()
        .open(link.clone(), None, None)
        .await;
    assert!(opened.expect("an answer"));
    let next = new(&rig, Some("k"), None);
    let opened = rig
        .store
        .people()
        .sessions()
        .open(next.clone(), Some(&link.hash), None)
        .await;
    assert!(opened.expect("an answer"));
    assert!(!is_open(&rig, &link).await);
    assert_eq!(
        rig.store
            .people()
            .sessions()
            .find(&next.hash)
            .await
            .expect("a read"),
        Some(next)
    );
    // What was replaced once cannot be replaced again, and nothing is opened in its place.
    let late = new(&rig, Some("k"), None);
    let opened = rig
        .store
        .people()
        .sessions()
        .open(late.clone(), Some(&link.hash), None)
        .await;
    assert!(!opened.expect("an answer"));
    assert!(!is_open(&rig, &late).await);
}

async fn sessions_end_alone_or_with_their_key_or_operator(rig: Rig) {
    let first = open(&rig, Some("k"), None).await;
    let second = open(&rig, Some("k"), Some("root")).await;
    let third = open(&rig, Some("k"), None).await;
    let operator = open(&rig, None, Some("root")).await;
    let stranger = open(&rig, Some("other"), None).await;
    let ended = rig
        .store
        .people()
        .sessions()
        .close(&first.hash, false)
        .await;
    assert_eq!(ended.expect("ended"), 1);
    assert!(is_open(&rig, &third).await);
    let ended = rig
        .store
        .people()
        .sessions()
        .close(&second.hash, true)
        .await;
    assert_eq!(ended.expect("ended"), 3);
    for gone in [&second, &third, &operator] {
        assert!(!is_open(&rig, gone).await);
    }
    assert!(is_open(&rig, &stranger).await);
}

async fn sessions_that_nobody_uses_are_forgotten(rig: Rig) {
    let used = open(&rig, Some("k"), None).await;
    let idle = open(&rig, Some("k"), None).await;
    rig.store
        .people()
        .sessions()
        .touch(&used.hash, NOW + 10)
        .await
        .expect("noted");
    let forgotten = rig.store.retention().forget_sessions(NOW + 5, 10).await;
    assert_eq!(forgotten.expect("forgotten"), 1);
    assert!(is_open(&rig, &used).await && !is_open(&rig, &idle).await);
}

async fn the_oldest_sessions_of_a_key_or_an_operator_end_when_there_are_too_many(rig: Rig) {
    let other = open(&rig, Some("other"), None).await;
    for owner in [(Some("k"), None), (None, Some("root"))] {
        let mut all = Vec::new();
        for number in 0..23 {
            let row = SessionRow {
                created_ms: NOW + number,
                ..new(&rig, owner.0, owner.1)
            };
            let opened = rig
                .store
                .people()
                .sessions()
                .open(row.clone(), None, None)
                .await;
            assert!(opened.expect("an answer"));
            all.push(row);
        }
        let link = SessionRow {
            link: true,
            ..new(&rig, owner.0, owner.1)
        };
        let opened = rig.store.people().sessions().open(link, None, None).await;
        assert!(opened.expect("an answer"));
        for (number, row) in all.iter().enumerate() {
            assert_eq!(is_open(&rig, row).await, number >= 3, "{number}");
        }
    }
    assert!(is_open(&rig, &other).await);
}
