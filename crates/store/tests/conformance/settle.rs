//! Settling: once, whole, for ever.

use atelier_contract::{FaultKind, JobState};
use atelier_store::{Asset, Guard, Outcome, Period, SettleOutcome, Settlement};

use crate::rig::{NOW, Rig, quota, sql};

each_db!(
    success_spends_what_was_used_and_returns_the_rest,
    more_than_the_price_is_never_charged,
    failure_returns_everything,
    jobs_from_before_tell_by_their_message_why_they_failed,
    a_waiting_job_can_be_failed_but_not_by_fence,
    a_final_job_never_changes,
    success_records_files_and_owes_a_delivery,
    what_is_answered_is_what_is_stored,
    an_unknown_job_is_lost,
);

async fn success_spends_what_was_used_and_returns_the_rest(rig: Rig) {
    let account = rig.account(10, 10).await;
    let id = rig.running(&account, 6).await;
    let SettleOutcome::Done(row) = rig.settle(rig.success(&id, Guard::Fence(1), 4)).await else {
        panic!("it settles");
    };
    assert_eq!(
        (row.state, row.progress, row.quota),
        (JobState::Succeeded, 100, quota(4))
    );
    assert_eq!(
        (row.finished_ms, row.lease_owner),
        (Some(NOW + 5_000), None)
    );
    assert_eq!(rig.purse(&account).await, (quota(6), quota(0)));
}

async fn more_than_the_price_is_never_charged(rig: Rig) {
    let account = rig.account(10, 10).await;
    let id = rig.running(&account, 6).await;
    let SettleOutcome::Done(row) = rig.settle(rig.success(&id, Guard::Fence(1), 60)).await else {
        panic!("it settles");
    };
    assert_eq!(row.quota, quota(6));
    assert_eq!(rig.purse(&account).await, (quota(4), quota(0)));
}

async fn failure_returns_everything(rig: Rig) {
    let account = rig.account(10, 10).await;
    let id = rig.running(&account, 6).await;
    let SettleOutcome::Done(row) = rig.settle(rig.failure(&id, Guard::Fence(1))).await else {
        panic!("it settles");
    };
    assert_eq!((row.state, row.quota), (JobState::Failed, quota(0)));
    assert_eq!(row.message.as_deref(), Some("Job Timeout"));
    assert_eq!(row.fault, Some(FaultKind::TimedOut));
    assert_eq!(rig.job(&id).await.fault, Some(FaultKind::TimedOut));
    assert_eq!(rig.purse(&account).await, (quota(10), quota(0)));
}

async fn jobs_from_before_tell_by_their_message_why_they_failed(rig: Rig) {
    let account = rig.account(10, 10).await;
    let id = rig.running(&account, 6).await;
    let denied = Settlement {
        outcome: Outcome::Failed {
            fault: FaultKind::Internal,
            message: "[Image denied] x".into(),
        },
        ..rig.failure(&id, Guard::Fence(1))
    };
    rig.settle(denied).await;
    let forgotten = "ALTER TABLE job DROP COLUMN fault; ALTER TABLE job ADD COLUMN fault TEXT";
    sql(&rig.url, forgotten).await.expect("as it was before");
    assert_eq!(rig.job(&id).await.fault, Some(FaultKind::Denied));
}

async fn a_waiting_job_can_be_failed_but_not_by_fence(rig: Rig) {
    let account = rig.account(10, 10).await;
    let id = rig.waiting(&account, 6).await;
    assert_eq!(
        rig.settle(rig.failure(&id, Guard::Fence(0))).await,
        SettleOutcome::Lost
    );
    assert!(matches!(
        rig.settle(rig.failure(&id, Guard::Unfinished)).await,
        SettleOutcome::Done(_)
    ));
    assert!(rig.lease("node", NOW, 10).await.is_empty());
}

async fn a_final_job_never_changes(rig: Rig) {
    let account = rig.account(10, 10).await;
    let id = rig.running(&account, 6).await;
    rig.settle(rig.success(&id, Guard::Fence(1), 4)).await;
    let before = rig.job(&id).await;
    for guard in [Guard::Fence(1), Guard::Fence(2), Guard::Unfinished] {
        assert_eq!(
            rig.settle(rig.failure(&id, guard)).await,
            SettleOutcome::Lost
        );
    }
    for change in [
        "state = 0",
        "quota = 0",
        "alias = 'x'",
        "updated_ms = 0",
        "output = '{}'",
    ] {
        let refused = sql(&rig.url, &format!("UPDATE job SET {change}")).await;
        let refused = refused.expect_err(change).to_string();
        assert!(refused.contains("a final job never changes"), "{refused}");
    }
    assert_eq!(rig.job(&id).await, before);
    assert_eq!(rig.purse(&account).await, (quota(6), quota(0)));
}

fn asset(key: &str, job_id: &str, account_id: &str) -> Asset {
    Asset {
        key: key.into(),
        job_id: job_id.into(),
        account_id: account_id.into(),
        media_type: "image/png".into(),
        bytes: 12_345,
        expires_ms: NOW + 86_400_000,
        created_ms: NOW,
    }
}

async fn success_records_files_and_owes_a_delivery(rig: Rig) {
    let account = rig.account(10, 10).await;
    let mut accept = rig.accept(&account, 2);
    accept.job.hook_url = Some("https://hooks.example.com:8443/x?y=1".into());
    let id = accept.job.id.clone();
    rig.take(accept).await;
    let files = vec![asset("a/1", &id, &account), asset("a/2", &id, &account)];
    let settlement = Settlement {
        outcome: Outcome::Succeeded {
            output: "{}".into(),
            alias: Some("hero".into()),
            quota: quota(2),
            assets: files.clone(),
            hashes: None,
        },
        ..rig.success(&id, Guard::Unfinished, 2)
    };
    assert!(matches!(
        rig.settle(settlement).await,
        SettleOutcome::Done(_)
    ));
    for file in files {
        assert_eq!(
            rig.store.assets().find(&file.key).await.expect("a read"),
            Some(file)
        );
    }
    let (owed, total) = rig
        .store
        .deliveries()
        .list(Some(&account), None, Period::default(), 0, 10)
        .await
        .expect("a page");
    assert_eq!(total, 1);
    assert_eq!(
        (owed[0].id.clone(), owed[0].host.as_str()),
        (format!("cb_{id}"), "hooks.example.com:8443")
    );
    assert_eq!((owed[0].state.as_str(), owed[0].attempts), ("due", 0));
    assert_eq!(owed[0].next_ms, NOW + 5_000);
}

async fn what_is_answered_is_what_is_stored(rig: Rig) {
    let account = rig.account(10, 10).await;
    for success in [true, false] {
        let id = rig.running(&account, 2).await;
        rig.begin(&id, 1, &rig.id("attempt")).await;
        let settlement = if success {
            rig.success(&id, Guard::Fence(1), 1)
        } else {
            rig.failure(&id, Guard::Fence(1))
        };
        let SettleOutcome::Done(row) = rig.settle(settlement).await else {
            panic!("it settles");
        };
        assert_eq!(row, rig.job(&id).await);
    }
}

async fn an_unknown_job_is_lost(rig: Rig) {
    assert_eq!(
        rig.settle(rig.failure("nothing", Guard::Unfinished)).await,
        SettleOutcome::Lost
    );
}
