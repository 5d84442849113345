//! Many at once: exactly as many win as may.

use atelier_store::{
    AcceptOutcome, Claim, Credit, CreditKind, CreditOutcome, DeliveryResult, DeliveryState, Guard,
    Idempotency, SettleOutcome, Store,
};
use std::collections::BTreeSet;

use crate::rig::{NOW, Rig, options, quota, spawn};

each_db!(
    quota_for_fifty_admits_fifty_of_sixty_four,
    a_queue_of_ten_admits_ten_of_sixty_four,
    capture_against_release_has_one_winner,
    one_key_used_at_once_makes_one_job,
    every_waiting_job_is_leased_once,
    one_credit_key_used_at_once_counts_once,
    two_stores_on_one_database_keep_one_set_of_books,
    a_job_is_deleted_while_its_callback_is_written_down,
);

async fn join<T: Send + 'static>(tasks: Vec<tokio::task::JoinHandle<T>>) -> Vec<T> {
    let mut all = Vec::new();
    for task in tasks {
        all.push(task.await.expect("it ends"));
    }
    all
}

/// Accepts in parallel from accounts' jobs; how many were admitted.
async fn admitted(rig: &Rig, account_id: &str, times: usize, price: i64) -> usize {
    let tasks = (0..times)
        .map(|_| {
            let (rig, accept) = (rig.clone(), rig.accept(account_id, price));
            spawn(async move { rig.take(accept).await })
        })
        .collect();
    let answers = join(tasks).await;
    answers
        .iter()
        .filter(|answer| matches!(answer, AcceptOutcome::New { .. }))
        .count()
}

async fn quota_for_fifty_admits_fifty_of_sixty_four(rig: Rig) {
    let account = rig.account(100, 1_000).await;
    assert_eq!(admitted(&rig, &account, 64, 2).await, 50);
    assert_eq!(rig.purse(&account).await, (quota(0), quota(100)));
    assert_eq!(admitted(&rig, &account, 64, 2).await, 0);
}

async fn a_queue_of_ten_admits_ten_of_sixty_four(rig: Rig) {
    let account = rig.account(100, 10).await;
    assert_eq!(admitted(&rig, &account, 64, 1).await, 10);
    assert_eq!(rig.purse(&account).await, (quota(90), quota(10)));
}

async fn capture_against_release_has_one_winner(rig: Rig) {
    let account = rig.account(1_000, 1_000).await;
    let mut jobs = Vec::new();
    for _ in 0..50 {
        jobs.push(rig.running(&account, 2).await);
    }
    let mut tasks = Vec::new();
    for job in &jobs {
        let settlements = [
            rig.success(job, Guard::Fence(1), 2),
            rig.failure(job, Guard::Unfinished),
            rig.failure(job, Guard::Fence(1)),
        ];
        for settlement in settlements {
            let rig = rig.clone();
            tasks.push(spawn(async move { rig.settle(settlement).await }));
        }
    }
    let answers = join(tasks).await;
    for (three, job) in answers.chunks(3).zip(&jobs) {
        let won = three
            .iter()
            .filter(|answer| matches!(answer, SettleOutcome::Done(_)))
            .count();
        assert_eq!(won, 1, "{job}");
    }
    let (balance, frozen) = rig.purse(&account).await;
    let (rows, _) = rig
        .store
        .ledger()
        .list(Some(&account), 0, 1_000)
        .await
        .expect("a page");
    let captured = rows.iter().filter(|row| row.kind == "capture").count() as i64;
    assert_eq!((balance, frozen), (quota(1_000 - 2 * captured), quota(0)));
}

async fn one_key_used_at_once_makes_one_job(rig: Rig) {
    let account = rig.account(1_000, 1_000).await;
    let tasks = (0..100)
        .map(|_| {
            let (rig, mut accept) = (rig.clone(), rig.accept(&account, 2));
            accept.idempotency = Some(Idempotency {
                key: "k".into(),
                fingerprint: "f".into(),
                keep_after_ms: 0,
            });
            spawn(async move {
                let own = accept.job.id.clone();
                match rig.take(accept).await {
                    AcceptOutcome::New { .. } => (true, own),
                    AcceptOutcome::Replayed { job_id } => (false, job_id),
                    other => panic!("{other:?}"),
                }
            })
        })
        .collect();
    let answers = join(tasks).await;
    assert_eq!(answers.iter().filter(|(new, _)| *new).count(), 1);
    assert_eq!(
        answers
            .iter()
            .map(|(_, id)| id)
            .collect::<BTreeSet<_>>()
            .len(),
        1
    );
    assert_eq!(rig.purse(&account).await, (quota(998), quota(2)));
}

async fn every_waiting_job_is_leased_once(rig: Rig) {
    let account = rig.account(1_000, 1_000).await;
    assert_eq!(admitted(&rig, &account, 64, 1).await, 64);
    let second = Store::open(&rig.url, options())
        .await
        .expect("a second node");
    let second = Rig {
        store: second,
        url: rig.url.clone(),
    };
    let tasks = (0..16)
        .map(|number| {
            let rig = if number % 2 == 0 {
                rig.clone()
            } else {
                second.clone()
            };
            spawn(async move { rig.lease(&format!("node-{number}"), NOW, 8).await })
        })
        .collect();
    let mut leased: Vec<String> = join(tasks)
        .await
        .into_iter()
        .flatten()
        .map(|job| job.id)
        .collect();
    // A node may pass over rows another one is just taking; they are there the next time.
    leased.extend(
        rig.lease("last", NOW, 64)
            .await
            .into_iter()
            .map(|job| job.id),
    );
    let distinct: BTreeSet<&String> = leased.iter().collect();
    assert_eq!((leased.len(), distinct.len()), (64, 64));
    second.store.close().await;
}

async fn one_credit_key_used_at_once_counts_once(rig: Rig) {
    let account = rig.account(0, 10).await;
    let tasks = (0..32)
        .map(|_| {
            let credit = Credit {
                id: rig.id("ledger"),
                account_id: account.clone(),
                amount: quota(5),
                kind: CreditKind::Grant,
                reason: String::new(),
                idempotency_key: Some("invoice".into()),
                end: None,
                now_ms: NOW,
            };
            let store = rig.store.clone();
            spawn(async move {
                store
                    .ledger()
                    .credit(credit, None)
                    .await
                    .expect("an answer")
            })
        })
        .collect();
    let answers = join(tasks).await;
    let done = answers
        .iter()
        .filter(|answer| matches!(answer, CreditOutcome::Done(_)))
        .count();
    assert_eq!(done, 1);
    assert_eq!(rig.purse(&account).await, (quota(5), quota(0)));
}

async fn two_stores_on_one_database_keep_one_set_of_books(rig: Rig) {
    let second = Store::open(&rig.url, options())
        .await
        .expect("a second node");
    let second = Rig {
        store: second,
        url: rig.url.clone(),
    };
    let mut accounts = Vec::new();
    for _ in 0..4 {
        accounts.push(rig.account(50, 1_000).await);
    }
    let tasks = (0..320)
        .map(|number| {
            let rig = if number % 2 == 0 {
                rig.clone()
            } else {
                second.clone()
            };
            let account = accounts[number % 4].clone();
            spawn(async move {
                let accept = rig.accept(&account, 1);
                let id = accept.job.id.clone();
                let new = matches!(rig.take(accept).await, AcceptOutcome::New { .. });
                if new && number % 3 == 0 {
                    rig.settle(rig.success(&id, Guard::Unfinished, 1)).await;
                }
                usize::from(new)
            })
        })
        .collect();
    let admitted: usize = join(tasks).await.into_iter().sum();
    assert_eq!(admitted, 200, "each account had quota for fifty");
    for account in &accounts {
        assert_eq!(rig.purse(account).await.0, quota(0));
    }
    second.store.close().await;
}

/// Another node writes the try of a callback down while the job it is about is deleted: both are answered, and nothing is left.
async fn a_job_is_deleted_while_its_callback_is_written_down(rig: Rig) {
    /// When the callback is due.
    const LATER: i64 = NOW + 6_000;
    let account = rig.account(1_000, 1_000).await;
    let other = Store::open(&rig.url, options()).await.expect("a store");
    for _ in 0..60 {
        let mut accept = rig.accept(&account, 1);
        accept.job.hook_url = Some("https://example.com/hook".into());
        let job = accept.job.id.clone();
        rig.take(accept).await;
        rig.settle(rig.success(&job, Guard::Unfinished, 1)).await;
        let claim = Claim {
            now_ms: LATER,
            for_ms: 60_000,
            limit: 10,
            per_route: 10,
            routes: Vec::new(),
            per_account: 10,
            accounts: Vec::new(),
        };
        let claimed = other.deliveries().claim(&claim, || LATER).await;
        let delivery = claimed.expect("claimed").pop().expect("one is owed");
        let result = DeliveryResult {
            id: delivery.id.clone(),
            attempts: delivery.attempts,
            state: DeliveryState::Delivered,
            failures: 0,
            status: Some(200),
            error: None,
            duration_ms: 1,
            answer_start: String::new(),
            now_ms: LATER,
        };
        let recorded = other.deliveries().finish(result);
        let deleted = rig.store.jobs().delete(&account, &job, &[], LATER);
        let (recorded, deleted) = futures_util::future::join(recorded, deleted).await;
        recorded.expect("a try that came too late is no fault");
        assert!(deleted.expect("deleted"), "{job}");
    }
    other.close().await;
}
