//! Files: recorded, extended, expired, forgotten.

use atelier_store::{Asset, DELETING_MS};

use crate::rig::{NOW, Rig};

each_db!(
    an_input_is_recorded_and_only_lives_longer,
    expired_files_are_condemned_until_forgotten,
    an_input_that_is_being_deleted_is_recorded_only_afterwards,
    an_orphan_becomes_an_expired_file_and_a_known_one_does_not,
    keys_without_a_row_are_told_apart,
    files_are_walked_in_the_order_of_their_keys,
    an_input_that_a_job_waits_for_is_known,
    inputs_of_a_refused_call_expire_and_those_of_others_do_not,
);

fn input(key: &str, expires_ms: i64) -> Asset {
    Asset {
        key: key.into(),
        job_id: String::new(),
        account_id: "account".into(),
        media_type: "image/png".into(),
        bytes: 7,
        expires_ms,
        created_ms: NOW,
    }
}

async fn an_input_is_recorded_and_only_lives_longer(rig: Rig) {
    assert_eq!(rig.store.assets().find("in/a").await.expect("a read"), None);
    let twice = vec![
        input("in/a", NOW + 10),
        input("in/a", NOW + 20),
        input("in/b", NOW + 1),
    ];
    rig.store.assets().note_inputs(twice).await.expect("noted");
    assert_eq!(
        rig.store.assets().find("in/a").await.expect("a read"),
        Some(input("in/a", NOW + 20))
    );
    rig.store
        .assets()
        .note_inputs(vec![input("in/a", NOW + 5)])
        .await
        .expect("noted");
    // By a moment, so that whoever recorded it before can tell.
    assert_eq!(
        rig.store.assets().find("in/a").await.expect("a read"),
        Some(input("in/a", NOW + 21))
    );
    rig.store
        .assets()
        .note_inputs(vec![input("in/a", NOW + 50)])
        .await
        .expect("noted");
    assert_eq!(
        rig.store.assets().find("in/a").await.expect("a read"),
        Some(input("in/a", NOW + 50))
    );
    rig.store
        .assets()
        .note_inputs(Vec::new())
        .await
        .expect("nothing to do");
}

/// Condemned at a time, with what was condemned ten minutes before taken up again.
async fn condemn(rig: &Rig, now_ms: i64, limit: i64) -> Vec<String> {
    let keys = rig.store.assets().condemn(now_ms, now_ms - 600_000, limit);
    let mut keys = keys.await.expect("condemned");
    keys.sort();
    keys
}

async fn note(rig: &Rig, key: &str, now_ms: i64) -> bool {
    let again = Asset {
        created_ms: now_ms,
        ..input(key, now_ms + 1_000_000)
    };
    rig.store
        .assets()
        .note_inputs(vec![again])
        .await
        .expect("noted")
        .is_some()
}

async fn expired_files_are_condemned_until_forgotten(rig: Rig) {
    let files = vec![
        input("in/c", NOW + 3),
        input("in/d", NOW + 1),
        input("in/e", NOW + 2),
    ];
    rig.store.assets().note_inputs(files).await.expect("noted");
    assert!(condemn(&rig, NOW + 1, 10).await.is_empty());
    assert_eq!(condemn(&rig, NOW + 9, 1).await, ["in/d"], "longest first");
    assert_eq!(condemn(&rig, NOW + 9, 10).await, ["in/c", "in/e"], "once");
    let gone = ["in/d".to_owned(), "in/x".to_owned()];
    rig.store
        .assets()
        .forget(&gone, NOW + 9)
        .await
        .expect("forgotten");
    assert_eq!(rig.store.assets().find("in/d").await.expect("a read"), None);
    // The others could not be deleted: they do not stand in the way, and have their turn again later.
    rig.store
        .assets()
        .note_inputs(vec![input("in/f", NOW + 20)])
        .await
        .expect("noted");
    assert_eq!(condemn(&rig, NOW + 500_000, 10).await, ["in/f"]);
    assert_eq!(
        condemn(&rig, NOW + 700_000, 10).await,
        ["in/c", "in/e"],
        "after a while"
    );
}

async fn an_input_that_is_being_deleted_is_recorded_only_afterwards(rig: Rig) {
    for key in ["in/a", "in/b", "in/c"] {
        assert!(note(&rig, key, NOW).await);
    }
    let end = NOW + 1_000_001;
    assert!(note(&rig, "in/a", end - 1).await);
    assert_eq!(condemn(&rig, end, 10).await, ["in/b", "in/c"]);
    assert!(!note(&rig, "in/b", end + 1).await, "its file is going");
    let gone = ["in/a".to_owned(), "in/b".to_owned()];
    rig.store
        .assets()
        .forget(&gone, end)
        .await
        .expect("forgotten");
    let kept = rig.store.assets().find("in/a").await.expect("a read");
    assert!(kept.is_some(), "it was never condemned");
    assert!(note(&rig, "in/b", end + 2).await);
    // Whoever condemned it had its time; from now on the key belongs to the one who stores it.
    assert!(!note(&rig, "in/c", end + DELETING_MS).await);
    assert!(note(&rig, "in/c", end + DELETING_MS + 1).await);
    rig.store
        .assets()
        .forget(&["in/c".into()], end)
        .await
        .expect("too late");
    assert!(
        rig.store
            .assets()
            .find("in/c")
            .await
            .expect("a read")
            .is_some()
    );
}

async fn an_orphan_becomes_an_expired_file_and_a_known_one_does_not(rig: Rig) {
    assert!(note(&rig, "in/a", NOW).await);
    let keys = ["in/a", "in/x", "out/y"].map(str::to_owned);
    let noted = rig
        .store
        .assets()
        .note_orphans(&keys, NOW)
        .await
        .expect("noted");
    assert_eq!(noted, 2);
    assert!(note(&rig, "in/x", NOW + 1).await, "wanted again in time");
    assert_eq!(condemn(&rig, NOW + 2, 10).await, ["out/y"]);
    let row = rig.store.assets().find("in/x").await.expect("a read");
    assert_eq!(row.expect("a row").media_type, "image/png");
}

async fn keys_without_a_row_are_told_apart(rig: Rig) {
    rig.store
        .assets()
        .note_inputs(vec![input("in/a", NOW), input("in/b", NOW)])
        .await
        .expect("noted");
    let keys = ["in/x", "in/a", "in/y", "in/b"].map(str::to_owned);
    let unknown = rig.store.assets().unknown(&keys).await.expect("a list");
    assert_eq!(unknown, ["in/x", "in/y"]);
    assert!(
        rig.store
            .assets()
            .unknown(&[])
            .await
            .expect("a list")
            .is_empty()
    );
}

async fn files_are_walked_in_the_order_of_their_keys(rig: Rig) {
    assert_eq!(rig.store.assets().stored_bytes().await.expect("a read"), 0);
    let some = ["in/c", "in/a", "in/b"].map(|key| input(key, NOW + 10));
    rig.store
        .assets()
        .note_inputs(some.to_vec())
        .await
        .expect("noted");
    assert_eq!(
        rig.store.assets().stored_bytes().await.expect("a read"),
        3 * 7
    );
    let page = rig.store.assets().list_after("", 2).await.expect("a page");
    let keys: Vec<&str> = page.iter().map(|one| &*one.key).collect();
    assert_eq!(keys, ["in/a", "in/b"]);
    let page = rig
        .store
        .assets()
        .list_after("in/b", 2)
        .await
        .expect("a page");
    assert_eq!(page, [input("in/c", NOW + 10)]);
}

async fn an_input_that_a_job_waits_for_is_known(rig: Rig) {
    let account = rig.account(10, 10).await;
    let job = rig.waiting(&account, 1).await;
    let found = rig.store.jobs().unfinished_with(&account, "quoted").await;
    assert_eq!(found.expect("a read"), Some(job));
    let found = rig.store.jobs().unfinished_with(&account, "hash").await;
    assert_eq!(found.expect("a read"), None);
}

async fn inputs_of_a_refused_call_expire_and_those_of_others_do_not(rig: Rig) {
    let known = input("in/known", NOW + 10);
    rig.store
        .assets()
        .note_inputs(vec![known])
        .await
        .expect("noted");
    let later = |key: &str| Asset {
        created_ms: NOW + 1,
        ..input(key, NOW + 11)
    };
    let refused = vec![later("in/known"), later("in/fresh"), later("in/shared")];
    let noted = rig.store.assets().note_inputs(refused.clone()).await;
    let noted = noted.expect("noted").expect("none is being deleted");
    assert_eq!(noted.len(), 3);
    // Somebody else sends one of them meanwhile.
    let again = Asset {
        created_ms: NOW + 2,
        ..input("in/shared", NOW + 12)
    };
    rig.store
        .assets()
        .note_inputs(vec![again])
        .await
        .expect("noted");
    let dropped = rig
        .store
        .assets()
        .drop_inputs(&refused)
        .await
        .expect("dropped");
    assert_eq!(dropped, 1);
    let gone = rig.store.assets().condemn(NOW + 5, NOW, 10).await;
    assert_eq!(gone.expect("condemned"), ["in/fresh"]);
}
