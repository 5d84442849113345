//! Files: recorded, extended, expired, forgotten.

use atelier_store::Asset;

use crate::rig::{NOW, Rig};

each_db!(
    an_input_is_recorded_and_only_lives_longer,
    expired_files_are_listed_until_forgotten,
    keys_without_a_row_are_told_apart,
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
    assert_eq!(rig.store.asset("in/a").await.expect("a read"), None);
    let twice = vec![
        input("in/a", NOW + 10),
        input("in/a", NOW + 20),
        input("in/b", NOW + 1),
    ];
    rig.store.note_inputs(twice).await.expect("noted");
    assert_eq!(
        rig.store.asset("in/a").await.expect("a read"),
        Some(input("in/a", NOW + 20))
    );
    rig.store
        .note_inputs(vec![input("in/a", NOW + 5)])
        .await
        .expect("noted");
    assert_eq!(
        rig.store.asset("in/a").await.expect("a read"),
        Some(input("in/a", NOW + 20))
    );
    rig.store
        .note_inputs(vec![input("in/a", NOW + 50)])
        .await
        .expect("noted");
    assert_eq!(
        rig.store.asset("in/a").await.expect("a read"),
        Some(input("in/a", NOW + 50))
    );
    rig.store
        .note_inputs(Vec::new())
        .await
        .expect("nothing to do");
}

async fn expired_files_are_listed_until_forgotten(rig: Rig) {
    let files = vec![
        input("in/c", NOW + 3),
        input("in/d", NOW + 1),
        input("in/e", NOW + 2),
    ];
    rig.store.note_inputs(files).await.expect("noted");
    assert!(
        rig.store
            .expired_assets(NOW + 1, 10)
            .await
            .expect("rows")
            .is_empty()
    );
    let keys = async |now_ms, limit| -> Vec<String> {
        let rows = rig.store.expired_assets(now_ms, limit).await.expect("rows");
        rows.into_iter().map(|row| row.key).collect()
    };
    assert_eq!(keys(NOW + 3, 10).await, ["in/d", "in/e"]);
    assert_eq!(keys(NOW + 9, 1).await, ["in/d"]);
    rig.store
        .forget_assets(&["in/d".into(), "in/x".into()])
        .await
        .expect("forgotten");
    assert_eq!(keys(NOW + 9, 10).await, ["in/e", "in/c"]);
}

async fn keys_without_a_row_are_told_apart(rig: Rig) {
    rig.store
        .note_inputs(vec![input("in/a", NOW), input("in/b", NOW)])
        .await
        .expect("noted");
    let keys = ["in/x", "in/a", "in/y", "in/b"].map(str::to_owned);
    let unknown = rig.store.unknown_assets(&keys).await.expect("a list");
    assert_eq!(unknown, ["in/x", "in/y"]);
    assert!(
        rig.store
            .unknown_assets(&[])
            .await
            .expect("a list")
            .is_empty()
    );
}
