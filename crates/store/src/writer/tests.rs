//! The writer survives what a change does to it.

use crate::{DeliveryResult, DeliveryState, Error, Options, Store};

#[tokio::test]
async fn a_panic_fails_its_change_and_nothing_else() {
    let name = format!("atelier-writer-{}.db", std::process::id());
    let path = std::env::temp_dir().join(name);
    let url = format!("sqlite:{}", path.display());
    let store = Store::open(&url, Options::default())
        .await
        .expect("the store opens");
    let wrong = store
        .core
        .change((), |_, ()| Box::pin(async { panic!("a bug in a change") }));
    let right = store.settings().put("a", "1");
    let (wrong, right): (Result<(), Error>, _) = tokio::join!(wrong, right);
    assert!(matches!(wrong, Err(Error::Conflict(_))), "{wrong:?}");
    right.expect("the neighbour is committed");
    store
        .settings()
        .put("b", "2")
        .await
        .expect("the writer goes on");
    assert_eq!(store.settings().list("").await.expect("a list").len(), 2);
    store.close().await;
    for ending in ["", "-wal", "-shm"] {
        std::fs::remove_file(format!("{}{ending}", path.display())).ok();
    }
}

#[tokio::test]
async fn only_claims_and_tries_may_be_forgotten_by_the_machine() {
    let name = format!("atelier-durable-{}.db", std::process::id());
    let path = std::env::temp_dir().join(name);
    let url = format!("sqlite:{}", path.display());
    let store = Store::open(&url, Options::default())
        .await
        .expect("the store opens");
    // The level inside a transaction of any other kind: 2 is FULL, every commit is synced.
    let level = async || {
        let asked = store.core.change((), |conn, ()| {
            Box::pin(async move { conn.maybe::<i64>("PRAGMA synchronous", &[]).await })
        });
        asked.await.expect("an answer")
    };
    assert_eq!(level().await, Some(2));
    let tried = DeliveryResult {
        id: "cb_unknown".into(),
        attempts: 1,
        state: DeliveryState::Delivered,
        failures: 0,
        status: Some(200),
        error: None,
        duration_ms: 1,
        answer_start: String::new(),
        now_ms: 0,
    };
    assert!(!store.deliveries().finish(tried).await.expect("an answer"));
    assert_eq!(level().await, Some(2), "durable again after a try");
    store.close().await;
    for ending in ["", "-wal", "-shm"] {
        std::fs::remove_file(format!("{}{ending}", path.display())).ok();
    }
}
