//! The writer survives what a change does to it.

use crate::{Error, Options, Store};

#[tokio::test]
async fn a_panic_fails_its_change_and_nothing_else() {
    let name = format!("atelier-writer-{}.db", std::process::id());
    let path = std::env::temp_dir().join(name);
    let url = format!("sqlite:{}", path.display());
    let store = Store::open(&url, Options::default())
        .await
        .expect("the store opens");
    let wrong = store.change((), |_, ()| Box::pin(async { panic!("a bug in a change") }));
    let right = store.put_setting("a", "1");
    let (wrong, right): (Result<(), Error>, _) = tokio::join!(wrong, right);
    assert!(matches!(wrong, Err(Error::Conflict(_))), "{wrong:?}");
    right.expect("the neighbour is committed");
    store
        .put_setting("b", "2")
        .await
        .expect("the writer goes on");
    assert_eq!(store.settings("").await.expect("a list").len(), 2);
    store.close().await;
    for ending in ["", "-wal", "-shm"] {
        std::fs::remove_file(format!("{}{ending}", path.display())).ok();
    }
}
