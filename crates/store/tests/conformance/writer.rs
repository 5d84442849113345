//! The writer: bad changes hurt only themselves, a full queue says so, closing loses nothing.

use atelier_store::{AcceptOutcome, Error, Guard, Options, SettleOutcome, Store};

use crate::rig::{Rig, options, quota, spawn};

each_db!(
    a_poisoned_change_does_not_fail_its_neighbours,
    a_full_queue_is_busy_and_holds_nothing,
    what_ends_waits_for_a_full_queue,
    closing_commits_what_waits,
    what_was_answered_is_there_after_opening_again,
);

async fn a_poisoned_change_does_not_fail_its_neighbours(rig: Rig) {
    let account = rig.account(1_000, 1_000).await;
    let taken = rig.waiting(&account, 1).await;
    let tasks: Vec<_> = (0..60)
        .map(|number| {
            let (rig, mut accept) = (rig.clone(), rig.accept(&account, 1));
            let poison = number % 20 == 7;
            if poison {
                // The database refuses a second job with this id, and with it the whole batch.
                accept.job.id.clone_from(&taken);
            }
            spawn(async move { (poison, rig.store.jobs().accept(accept).await) })
        })
        .collect();
    for task in tasks {
        let (poison, answer) = task.await.expect("it ends");
        match answer {
            Ok(AcceptOutcome::New { .. }) => assert!(!poison),
            Err(Error::Conflict(_)) => assert!(poison),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(rig.purse(&account).await, (quota(942), quota(58)));
}

/// A second node whose queue is full at once.
async fn narrow(rig: &Rig) -> Store {
    let options = Options {
        batch_most: 1,
        queue_most: 4,
        ..options()
    };
    Store::open(&rig.url, options).await.expect("a second node")
}

async fn a_full_queue_is_busy_and_holds_nothing(rig: Rig) {
    let account = rig.account(10_000, 100_000).await;
    let store = narrow(&rig).await;
    let tasks: Vec<_> = (0..200)
        .map(|_| {
            let (store, accept) = (store.clone(), rig.accept(&account, 1));
            spawn(async move { store.jobs().accept(accept).await })
        })
        .collect();
    let (mut new, mut busy) = (0, 0);
    for task in tasks {
        match task.await.expect("it ends") {
            Ok(AcceptOutcome::New { .. }) => new += 1,
            Err(Error::Busy) => busy += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!(busy > 0, "the queue was never full");
    assert_eq!(rig.purse(&account).await, (quota(10_000 - new), quota(new)));
    // Nor may what callers send along wait without end.
    let notes = (0..100).map(|_| store.assets().note_inputs(Vec::new()));
    let noted = futures_util::future::join_all(notes).await;
    let refused = |one: &Result<_, Error>| matches!(one, Err(Error::Busy));
    assert!(noted.iter().any(refused), "pictures wait for a full queue");
    store.close().await;
}

/// Thousands of jobs may end at the same instant, and none of their endings may be refused.
async fn what_ends_waits_for_a_full_queue(rig: Rig) {
    let account = rig.account(10_000, 100_000).await;
    let store = narrow(&rig).await;
    let mut tasks = Vec::new();
    for _ in 0..100 {
        let id = rig.running(&account, 1).await;
        let ending = rig.success(&id, Guard::Fence(1), 1);
        let store = store.clone();
        tasks.push(async move { store.jobs().settle(ending).await });
    }
    for settled in futures_util::future::join_all(tasks).await {
        assert!(matches!(settled, Ok(SettleOutcome::Done(_))), "{settled:?}");
    }
    assert_eq!(rig.purse(&account).await, (quota(9_900), quota(0)));
    store.close().await;
}

async fn closing_commits_what_waits(rig: Rig) {
    let account = rig.account(1_000, 1_000).await;
    let store = Store::open(&rig.url, options())
        .await
        .expect("a second node");
    let tasks: Vec<_> = (0..100)
        .map(|_| {
            let (store, accept) = (store.clone(), rig.accept(&account, 1));
            spawn(async move { store.jobs().accept(accept).await })
        })
        .collect();
    tokio::task::yield_now().await;
    store.ready().await.expect("a write is committed");
    store.close().await;
    let mut new = 0;
    for task in tasks {
        match task.await.expect("it ends") {
            Ok(AcceptOutcome::New { .. }) => new += 1,
            Err(Error::Busy) => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(rig.purse(&account).await, (quota(1_000 - new), quota(new)));
    assert!(matches!(
        store.jobs().accept(rig.accept(&account, 1)).await,
        Err(Error::Busy)
    ));
    assert!(store.ping().await.is_err());
    assert!(store.ready().await.is_err());
}

async fn what_was_answered_is_there_after_opening_again(rig: Rig) {
    let account = rig.account(10, 10).await;
    let store = Store::open(&rig.url, options())
        .await
        .expect("a second node");
    let accept = rig.accept(&account, 1);
    let id = accept.job.id.clone();
    store.jobs().accept(accept).await.expect("accepted");
    store.close().await;
    let store = Store::open(&rig.url, options())
        .await
        .expect("opened again");
    assert!(
        store
            .jobs()
            .find(&account, &id)
            .await
            .expect("a read")
            .is_some()
    );
    store.close().await;
}
