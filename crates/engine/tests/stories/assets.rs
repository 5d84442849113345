//! The asset store is swept with care: nothing of anybody else's is deleted, and an asset store in trouble holds up nobody.

use atelier_store::NewAsset;
use bytes::Bytes;

use crate::rig::Rig;

const HOUR_MS: i64 = 3_600_000;

async fn put(rig: &Rig, key: &str) {
    let content = Bytes::from_static(b"x");
    rig.files.put(key, content).await.expect("stored");
}

async fn is_there(rig: &Rig, key: &str) -> bool {
    rig.files.size(key).await.expect("a look").is_some()
}

/// One slow round, and the deletions that follow from it.
async fn tidy(rig: &Rig) {
    rig.engine.tidy().step().await.expect("tidied");
    while rig.engine.assets().expire_step().await.expect("deleted") {}
}

async fn expired(rig: &Rig, keys: impl Iterator<Item = String>) {
    let now_ms = rig.clock.now_ms();
    let rows = keys.map(|key| NewAsset {
        key,
        job_id: String::new(),
        account_id: String::new(),
        media_type: "image/png".into(),
        bytes: 1,
        expires_ms: now_ms - 1,
        created_ms: now_ms - HOUR_MS,
    });
    rig.store
        .assets()
        .note_inputs(rows.collect())
        .await
        .expect("noted");
}

#[tokio::test]
async fn other_data_beside_the_asset_store_is_never_touched() {
    let rig = Rig::new().await;
    rig.read_machine_clock();
    tidy(&rig).await;
    for key in [
        "photos/cat.png",
        "backup.sql",
        "output/1.png",
        "out/lost/1.png",
    ] {
        put(&rig, key).await;
    }
    rig.clock.advance(2 * HOUR_MS);
    tidy(&rig).await;
    assert!(!is_there(&rig, "out/lost/1.png").await, "our own orphan");
    for key in ["photos/cat.png", "backup.sql", "output/1.png"] {
        assert!(is_there(&rig, key).await, "{key}");
    }
}

#[tokio::test]
async fn two_installations_in_one_asset_store_delete_nothing_of_each_other() {
    let first = Rig::new().await;
    let second = Rig::keeping(first.files.clone()).await;
    for rig in [&first, &second] {
        rig.read_machine_clock();
        tidy(rig).await;
        let caller = rig.account(100).await;
        rig.imagine(&caller, "a fox").await.expect("accepted");
        rig.settle_down().await;
    }
    let both = first.stored().await;
    assert_eq!(both.len(), 2);
    for rig in [&first, &second] {
        rig.clock.advance(2 * HOUR_MS);
        tidy(rig).await;
    }
    assert_eq!(first.stored().await, both);
    // What has expired is deleted all the same, each by its owner.
    first.clock.advance(48 * HOUR_MS);
    tidy(&first).await;
    assert_eq!(first.stored().await.len(), 1);
}

#[tokio::test]
async fn an_empty_database_deletes_nothing_it_does_not_know_until_it_is_told_to() {
    let rig = Rig::new().await;
    put(&rig, "out/somebody/1.png").await;
    put(&rig, "in/somebody/2").await;
    rig.read_machine_clock();
    rig.clock.advance(2 * HOUR_MS);
    for _ in 0..2 {
        tidy(&rig).await;
        assert_eq!(rig.stored().await.len(), 2);
    }
    let unknown = "installs/unknown";
    assert!(is_there(&rig, unknown).await, "a mark for the operator");
    rig.files
        .delete(unknown)
        .await
        .expect("the operator agrees");
    tidy(&rig).await;
    assert_eq!(rig.stored().await, Vec::<String>::new());
}

#[tokio::test]
async fn files_that_cannot_be_deleted_hold_up_no_others() {
    let rig = Rig::new().await;
    let keys = (0..300).map(|number| format!("out/job/{number}.png"));
    for key in keys.clone() {
        put(&rig, &key).await;
    }
    // A folder under the name of a file cannot be deleted as a file; its row is the first in line.
    put(&rig, "out/bad/below").await;
    expired(&rig, std::iter::once("out/bad".to_owned())).await;
    rig.clock.advance(1);
    expired(&rig, keys).await;
    for _ in 0..3 {
        rig.engine.assets().expire_step().await.expect("deleted");
    }
    assert_eq!(rig.stored().await, ["out/bad/below"]);
    let row = rig.store.assets().find("out/bad").await.expect("a read");
    assert!(row.is_some(), "it is not forgotten");
}
