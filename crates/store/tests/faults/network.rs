//! PostgreSQL behind connections that go silent without being closed.

use std::time::Duration;

use atelier_store::{AcceptOutcome, Error, Store};
use tokio::time::timeout;

use crate::proxy::Proxy;
use crate::rig::{Rig, on_postgres, options, spawn};
use crate::stopwatch::Stopwatch;

/// Whatever is asked of a store must be answered within this time, and so must a stop.
const BOUND: Duration = Duration::from_secs(30);

/// A second store on the rig's database, behind a proxy.
async fn behind_a_proxy(rig: &Rig) -> (Proxy, Store) {
    let (scheme, rest) = rig.url.split_once("://").expect("a URL");
    let (user, rest) = rest.split_once('@').expect("a role");
    let (server, name) = rest.split_once('/').expect("a database");
    let proxy = Proxy::before(server.to_owned()).await;
    let url = format!("{scheme}://{user}@{}/{name}", proxy.address);
    let store = Store::open(&url, options()).await.expect("a store");
    store.ping().await.expect("it reads");
    store.settings().put("a", "1").await.expect("it writes");
    (proxy, store)
}

mod postgres {
    #[test]
    #[ignore = "needs PostgreSQL"]
    fn a_silent_connection_is_given_up_and_replaced() {
        super::on_postgres(super::a_silent_connection_is_given_up_and_replaced);
    }
    #[test]
    #[ignore = "needs PostgreSQL"]
    fn a_half_open_connection_delays_a_write_by_seconds() {
        super::on_postgres(super::a_half_open_connection_delays_a_write_by_seconds);
    }
    #[test]
    #[ignore = "needs PostgreSQL"]
    fn a_silent_database_is_not_ready_and_does_not_hold_up_a_stop() {
        super::on_postgres(super::a_silent_database_is_not_ready_and_does_not_hold_up_a_stop);
    }
}

/// The promise: a half-open connection delays writes and reads for a while, never for good, and every answer is true.
async fn a_silent_connection_is_given_up_and_replaced(rig: Rig) {
    let account = rig.account(100, 100).await;
    let (proxy, store) = behind_a_proxy(&rig).await;
    proxy.freeze();
    let accepts: Vec<_> = (0..3)
        .map(|_| {
            let (store, accept) = (store.clone(), rig.accept(&account, 1));
            let id = accept.job.id.clone();
            spawn(async move { (id, timeout(BOUND, store.jobs().accept(accept)).await) })
        })
        .collect();
    let reads: Vec<_> = (0..8)
        .map(|_| {
            let store = store.clone();
            spawn(async move { timeout(BOUND, store.ping()).await })
        })
        .collect();
    tokio::time::sleep(Duration::from_secs(2)).await;
    proxy.let_new_ones_pass();
    let mut known = Vec::new();
    for task in accepts {
        let (id, answer) = task.await.expect("it ends");
        match answer.expect("a write is answered in time") {
            Ok(AcceptOutcome::New { .. }) => known.push((id, true)),
            Err(Error::Busy) => known.push((id, false)),
            other => panic!("{other:?}"),
        }
    }
    for task in reads {
        let answer = task.await.expect("it ends");
        // It may have failed; what counts is that it does not wait for good.
        drop(answer.expect("a read is answered in time"));
    }
    store
        .settings()
        .put("b", "2")
        .await
        .expect("it writes again");
    for _ in 0..8 {
        store.ping().await.expect("it reads again");
    }
    for (id, accepted) in known {
        let found = rig
            .store
            .jobs()
            .find_of_any_account(&id)
            .await
            .expect("a read");
        assert_eq!(found.is_some(), accepted, "{id}");
    }
    store.close().await;
}

/// The promise: a connection that was at rest and has gone silent is replaced before whoever waits is answered.
async fn a_half_open_connection_delays_a_write_by_seconds(rig: Rig) {
    let account = rig.account(100, 100).await;
    let (proxy, store) = behind_a_proxy(&rig).await;
    proxy.freeze();
    proxy.let_new_ones_pass();
    let begun = Stopwatch::start();
    let accepted = store.jobs().accept(rig.accept(&account, 1)).await;
    let took = begun.elapsed();
    assert!(
        matches!(accepted, Ok(AcceptOutcome::New { .. })),
        "{accepted:?}"
    );
    assert!(took < Duration::from_secs(9), "{took:?}");
    store.close().await;
}

/// The promise: readiness includes a write, and a stop ends.
async fn a_silent_database_is_not_ready_and_does_not_hold_up_a_stop(rig: Rig) {
    let (proxy, store) = behind_a_proxy(&rig).await;
    store.ready().await.expect("ready");
    proxy.freeze();
    let write = {
        let store = store.clone();
        spawn(async move { store.settings().put("b", "2").await })
    };
    let start = Stopwatch::start();
    tokio::time::sleep(Duration::from_secs(6)).await;
    let asked = Stopwatch::start();
    let ready = timeout(BOUND, store.ready()).await;
    assert!(ready.expect("readiness is told").is_err());
    assert!(asked.elapsed() < Duration::from_secs(6), "told at once");
    let closed = timeout(BOUND, store.close()).await;
    assert!(closed.is_ok(), "a stop ends");
    assert!(start.elapsed() < BOUND);
    write.await.expect("it ends").expect_err("not written");
}
