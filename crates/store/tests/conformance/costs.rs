//! What vendors took: with the attempt, for the worker account and against what callers paid, once, in the commit that
//! settles.

use atelier_store::{
    Attempt, AttemptStart, BackendChange, Cost, Guard, MarginRow, SettleOutcome, Settlement,
    StartLimits, TakingRow, WorkerUpsert,
};

use crate::rig::{NOW, Rig, quota, sql};
use crate::workers::{backend, put, put_backend, put_worker, worker};

each_db!(
    a_cost_is_kept_with_its_attempt_and_added_up,
    a_cost_counts_once_also_when_its_job_ended_without_it,
    what_some_models_brought_is_told_by_the_hour,
    what_callers_pay_on_their_own_accounts_is_no_margin,
    what_was_nobodys_job_counts_for_the_worker_account_alone,
    what_was_taken_can_be_counted_anew_and_goes_with_its_account,
    nothing_of_a_settlement_that_fails_is_counted,
);

const HOUR: i64 = (NOW + 5_000) / 3_600_000;

async fn own_backend(rig: &Rig, owner: Option<&str>) {
    put_backend(rig, backend("b", owner)).await;
    put_worker(rig, worker("w", "b", owner)).await;
}

/// A job that is in the hands of the worker account.
async fn at_vendor(rig: &Rig, account: &str, attempt: &str) -> String {
    let id = rig.running(account, 6).await;
    let begun = rig.store.attempts().begin(Attempt {
        id: attempt.into(),
        job_id: id.clone(),
        fence: 1,
        worker: "b/w".into(),
        limits: StartLimits::default(),
        now_ms: NOW,
    });
    assert_eq!(begun.await.expect("an answer"), AttemptStart::Yes);
    id
}

fn paid(rig: &Rig, id: &str, attempt: &str, micros: i64) -> Settlement {
    Settlement {
        cost: Some(Cost {
            attempt_id: attempt.into(),
            micros,
            currency: "USD".into(),
        }),
        model: "painter".into(),
        ..rig.success(id, Guard::Fence(1), 4)
    }
}

async fn costs(rig: &Rig) -> Vec<(String, i64)> {
    let workers = rig.store.workers().list().await.expect("a read");
    workers.into_iter().flat_map(|row| row.costs).collect()
}

async fn margins(rig: &Rig) -> Vec<MarginRow> {
    rig.store.statistics().margins(HOUR).await.expect("a read")
}

async fn a_cost_is_kept_with_its_attempt_and_added_up(rig: Rig) {
    own_backend(&rig, None).await;
    let account = rig.account(100, 10).await;
    for (attempt, micros) in [("one", 40_000), ("two", 2)] {
        let id = at_vendor(&rig, &account, attempt).await;
        let settled = rig.settle(paid(&rig, &id, attempt, micros)).await;
        assert!(matches!(settled, SettleOutcome::Done(_)));
        let attempts = rig.store.attempts().list(None, &id).await.expect("a read");
        assert_eq!(
            (attempts[0].cost, attempts[0].currency.as_deref()),
            (Some(micros), Some("USD"))
        );
    }
    let silent = at_vendor(&rig, &account, "silent").await;
    let unpriced = Settlement {
        model: "painter".into(),
        ..rig.success(&silent, Guard::Fence(1), 3)
    };
    rig.settle(unpriced).await;
    assert_eq!(costs(&rig).await, [("USD".to_owned(), 40_002)]);
    let row = |currency: &str, jobs, paid, cost| MarginRow {
        vendor: "relay".into(),
        backend: "name of b".into(),
        operation: "artgen.imagine".into(),
        model: "painter".into(),
        currency: currency.into(),
        jobs,
        quota: quota(paid),
        cost,
    };
    assert_eq!(
        margins(&rig).await,
        [row("", 1, 3, 0), row("USD", 2, 8, 40_002)]
    );
    let later = rig
        .store
        .statistics()
        .margins(HOUR + 1)
        .await
        .expect("a read");
    assert_eq!(later, []);
    let retention = rig.store.retention();
    let forgotten = retention.forget_takings(HOUR, 10).await;
    assert_eq!(forgotten.expect("an answer"), 0, "not yet");
    let forgotten = rig.store.retention().forget_takings(HOUR + 1, 10).await;
    assert_eq!(forgotten.expect("an answer"), 2);
    assert_eq!(margins(&rig).await, []);
}

async fn a_cost_counts_once_also_when_its_job_ended_without_it(rig: Rig) {
    own_backend(&rig, None).await;
    let account = rig.account(100, 10).await;
    let id = at_vendor(&rig, &account, "late").await;
    rig.settle(rig.failure(&id, Guard::Unfinished)).await;
    for _ in 0..2 {
        let late = rig.settle(paid(&rig, &id, "late", 7)).await;
        assert_eq!(late, SettleOutcome::Lost, "it was cancelled");
    }
    assert_eq!(costs(&rig).await, [("USD".to_owned(), 7)]);
    let rows = margins(&rig).await;
    assert_eq!(
        (rows.len(), rows[0].jobs, rows[0].quota, rows[0].cost),
        (1, 0, quota(0), 7)
    );
}

async fn what_some_models_brought_is_told_by_the_hour(rig: Rig) {
    own_backend(&rig, None).await;
    let account = rig.account(100, 10).await;
    for (attempt, model, ahead) in [("a", "painter", 0), ("b", "painter", 1), ("c", "other", 1)] {
        let id = at_vendor(&rig, &account, attempt).await;
        let settlement = paid(&rig, &id, attempt, 7);
        let settlement = Settlement {
            model: model.into(),
            now_ms: settlement.now_ms + ahead * 3_600_000,
            ..settlement
        };
        let settled = rig.settle(settlement).await;
        assert!(matches!(settled, SettleOutcome::Done(_)));
    }
    let row = |hour| TakingRow {
        backend_id: "b".into(),
        model: "painter".into(),
        hour,
        currency: "USD".into(),
        jobs: 1,
        quota: quota(4),
        cost: 7,
    };
    let told = async |since| {
        let models = ["painter".to_owned(), "nobody's".to_owned()];
        let told = rig.store.statistics().takings(&models, since).await;
        told.expect("a read")
    };
    assert_eq!(told(HOUR).await, [row(HOUR + 1), row(HOUR)]);
    assert_eq!(told(HOUR + 1).await, [row(HOUR + 1)]);
}

async fn what_callers_pay_on_their_own_accounts_is_no_margin(rig: Rig) {
    let account = rig.account(100, 10).await;
    own_backend(&rig, Some(&account)).await;
    let id = at_vendor(&rig, &account, "own").await;
    rig.settle(paid(&rig, &id, "own", 9)).await;
    assert_eq!(margins(&rig).await, []);
    assert_eq!(costs(&rig).await, [("USD".to_owned(), 9)]);
}

async fn what_was_nobodys_job_counts_for_the_worker_account_alone(rig: Rig) {
    own_backend(&rig, None).await;
    for micros in [3, 4] {
        let added = rig.store.workers().add_cost("w", "USD", micros).await;
        added.expect("added");
    }
    assert_eq!(costs(&rig).await, [("USD".to_owned(), 7)]);
    assert_eq!(margins(&rig).await, []);
    let gone = rig.store.workers().add_cost("nobody", "USD", 5).await;
    gone.expect("there is nobody to count for");
    assert_eq!(costs(&rig).await, [("USD".to_owned(), 7)]);
}

async fn what_was_taken_can_be_counted_anew_and_goes_with_its_account(rig: Rig) {
    own_backend(&rig, None).await;
    let account = rig.account(100, 10).await;
    let id = at_vendor(&rig, &account, "first").await;
    rig.settle(paid(&rig, &id, "first", 5)).await;
    let anew = BackendChange {
        workers: vec![WorkerUpsert {
            clear_spent: true,
            ..put(worker("w", "b", None))
        }],
        ..BackendChange::default()
    };
    rig.store
        .workers()
        .apply_backend_change(anew, None)
        .await
        .expect("arranged");
    assert_eq!(costs(&rig).await, []);
    assert_eq!(margins(&rig).await[0].cost, 5, "what was taken was taken");
    let id = at_vendor(&rig, &account, "second").await;
    rig.settle(paid(&rig, &id, "second", 6)).await;
    let removed = rig.store.workers().remove(None, "w", None).await;
    removed.expect("removed");
    put_worker(&rig, worker("w", "b", None)).await;
    assert_eq!(costs(&rig).await, []);
}

async fn nothing_of_a_settlement_that_fails_is_counted(rig: Rig) {
    own_backend(&rig, None).await;
    let account = rig.account(100, 10).await;
    let id = at_vendor(&rig, &account, "broken").await;
    sql(&rig.url, "DROP TABLE taking").await.expect("dropped");
    let failed = rig.store.jobs().settle(paid(&rig, &id, "broken", 5)).await;
    assert!(failed.is_err(), "the ledger cannot be written");
    assert_eq!(costs(&rig).await, []);
    let attempts = rig.store.attempts().list(None, &id).await.expect("a read");
    assert_eq!(attempts[0].cost, None);
    assert_eq!(
        rig.purse(&account).await,
        (quota(94), quota(6)),
        "still held"
    );
}
