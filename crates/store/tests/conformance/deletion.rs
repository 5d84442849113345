//! Deletion: words and files go, the ledger and the counts of what was used stay.

use atelier_contract::JobState;
use atelier_store::{AcceptOutcome, AccountPatch, Asset, Guard, JobFilter, JobPage};

use crate::rig::{NOW, Rig, number, quota, sql};

each_db!(
    a_deleted_job_is_gone_for_its_owner_and_its_ledger_rows_stay,
    an_account_without_unfinished_jobs_can_be_deleted,
    words_are_counted_until_they_are_removed,
);

async fn a_deleted_job_is_gone_for_its_owner_and_its_ledger_rows_stay(rig: Rig) {
    let id = rig.account(10, 10).await;
    let (job, open) = (rig.running(&id, 4).await, rig.waiting(&id, 1).await);
    rig.settle(rig.success(&job, Guard::Unfinished, 3)).await;
    let file = Asset {
        key: "out/a".into(),
        job_id: job.clone(),
        account_id: id.clone(),
        media_type: "image/png".into(),
        bytes: 7,
        expires_ms: NOW + 1000,
        created_ms: NOW,
    };
    rig.store
        .assets()
        .note_inputs(vec![file])
        .await
        .expect("noted");
    let delete = async |account: &str, job: &str| {
        let files = ["out/a".to_owned()];
        let deleted = rig.store.jobs().delete(account, job, &files, NOW).await;
        deleted.expect("answered")
    };
    assert!(!delete("another", &job).await, "it is not theirs");
    assert!(!delete(&id, &open).await, "it has not finished");
    let (_, before) = rig
        .store
        .ledger()
        .list(Some(&id), 0, 100)
        .await
        .expect("rows");
    assert!(delete(&id, &job).await);
    assert!(!delete(&id, &job).await, "once");
    assert_eq!(rig.store.jobs().find(&id, &job).await.expect("read"), None);
    let filter = JobFilter {
        account_id: Some(id.clone()),
        limit: 10,
        ..JobFilter::default()
    };
    let JobPage { rows, total, .. } = rig.store.jobs().list(filter).await.expect("read");
    assert_eq!((rows.len(), total), (1, 1));
    let marks = rig.store.jobs().summaries(&id, 0).await.expect("marks");
    assert_eq!(marks.len(), 1);
    let left = rig
        .store
        .jobs()
        .find_of_any_account(&job)
        .await
        .expect("read")
        .expect("a row");
    assert_eq!((left.state, left.quota), (JobState::Succeeded, quota(3)));
    assert_eq!((&*left.request, left.message), ("{}", None));
    let (_, after) = rig
        .store
        .ledger()
        .list(Some(&id), 0, 100)
        .await
        .expect("rows");
    assert_eq!(after, before);
    let condemned = rig.store.assets().condemn(NOW, NOW - 1, 10).await;
    assert_eq!(condemned.expect("condemned"), ["out/a"]);
    let forged = format!("UPDATE job SET request = 'x' WHERE id = '{job}'");
    assert!(
        sql(&rig.url, &forged).await.is_err(),
        "it never changes again"
    );
}

async fn an_account_without_unfinished_jobs_can_be_deleted(rig: Rig) {
    let id = rig.account(10, 10).await;
    let job = rig.waiting(&id, 4).await;
    let busy = rig.store.accounts().delete(&id, NOW, None).await;
    assert!(busy.is_err(), "it has an unfinished job");
    rig.settle(rig.failure(&job, Guard::Unfinished)).await;
    let delete = async |id: &str| {
        let deleted = rig.store.accounts().delete(id, NOW, None).await;
        deleted.expect("answered")
    };
    let noted = AccountPatch {
        notes: Some(Some("pays by the year".into())),
        ..AccountPatch::default()
    };
    let noted = rig.store.accounts().update(&id, noted, None).await;
    assert!(noted.expect("done").expect("there").notes.is_some());
    assert!(delete(&id).await);
    assert!(!delete("nobody").await);
    let left = rig
        .store
        .accounts()
        .find(&id)
        .await
        .expect("read")
        .expect("a row");
    assert!(left.disabled && left.email == format!("deleted-{id}"));
    assert_eq!(left.notes, None);
    assert_eq!(rig.store.jobs().find(&id, &job).await.expect("read"), None);
    assert_eq!(rig.purse(&id).await, (quota(10), quota(0)));
}

async fn words_are_counted_until_they_are_removed(rig: Rig) {
    let id = rig.account(100, 10).await;
    let words = async || {
        let sql = format!("SELECT words FROM account WHERE id = '{id}'");
        number(&rig.url, &sql).await
    };
    let mut accept = rig.accept(&id, 1);
    accept.job.request = r#"{"prompt":"a lake"}"#.into();
    accept.max_storage = 19;
    let first = accept.job.id.clone();
    assert!(matches!(rig.take(accept).await, AcceptOutcome::New { .. }));
    assert_eq!(words().await, 19);
    let mut full = rig.accept(&id, 1);
    full.max_storage = 19;
    let refused = AcceptOutcome::StorageFull { max_storage: 19 };
    assert_eq!(rig.take(full).await, refused);
    let second = rig.waiting(&id, 1).await;
    let both = words().await;
    rig.settle(rig.failure(&first, Guard::Unfinished)).await;
    rig.settle(rig.failure(&second, Guard::Unfinished)).await;
    assert_eq!(words().await, both);
    let before = rig.job(&first).await;
    // Only of jobs that failed long ago, once, and nothing but the words.
    let forget = async |before_ms| {
        rig.store
            .retention()
            .forget_failed_words(before_ms, 1)
            .await
    };
    assert_eq!(forget(0).await.expect("forgotten"), 0);
    assert_eq!(forget(i64::MAX).await.expect("forgotten"), 1);
    assert_eq!(forget(i64::MAX).await.expect("forgotten"), 1);
    assert_eq!(forget(i64::MAX).await.expect("forgotten"), 0);
    assert_eq!(words().await, 0);
    let mut after = rig.job(&first).await;
    assert_eq!(&*after.request, r#"{"prompt":""}"#);
    after.request.clone_from(&before.request);
    assert_eq!(after, before);
    for change in [
        "message = 'x'",
        "request = 'a'",
        "request = '{}', request_bytes = 0",
    ] {
        let forged = format!("UPDATE job SET {change} WHERE id = '{first}'");
        assert!(sql(&rig.url, &forged).await.is_err(), "{change}");
    }
    let deleted = rig.store.jobs().delete(&id, &second, &[], NOW).await;
    assert!(deleted.expect("answered"));
    assert_eq!(words().await, 0);
    let third = rig.waiting(&id, 1).await;
    rig.settle(rig.success(&third, Guard::Unfinished, 1)).await;
    assert!(words().await > 0);
    let forged = format!("UPDATE job SET request = 'a', request_bytes = 0 WHERE id = '{third}'");
    assert!(sql(&rig.url, &forged).await.is_err(), "it did not fail");
    let deleted = rig.store.jobs().delete(&id, &third, &[], NOW).await;
    assert!(deleted.expect("answered"));
    assert_eq!(words().await, 0);
}
