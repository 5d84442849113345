//! Deletion: words and files go, the ledger and the counts of what was used stay.

use atelier_contract::JobState;
use atelier_store::{Asset, Guard, JobFilter, JobPage};

use crate::rig::{NOW, Rig, quota, sql};

each_db!(
    a_deleted_job_is_gone_for_its_owner_and_its_ledger_rows_stay,
    an_account_without_unfinished_jobs_can_be_deleted,
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
    rig.store.note_inputs(vec![file]).await.expect("noted");
    let delete = async |account: &str, job: &str| {
        let files = ["out/a".to_owned()];
        let deleted = rig.store.delete_job(account, job, &files, NOW).await;
        deleted.expect("answered")
    };
    assert!(!delete("another", &job).await, "it is not theirs");
    assert!(!delete(&id, &open).await, "it has not finished");
    let (_, before) = rig.store.ledger(Some(&id), 0, 100).await.expect("rows");
    assert!(delete(&id, &job).await);
    assert!(!delete(&id, &job).await, "once");
    assert_eq!(rig.store.job(&id, &job).await.expect("read"), None);
    let filter = JobFilter {
        account_id: Some(id.clone()),
        limit: 10,
        ..JobFilter::default()
    };
    let JobPage { rows, total, .. } = rig.store.jobs(filter).await.expect("read");
    assert_eq!((rows.len(), total), (1, 1));
    let marks = rig.store.job_marks(&id, 0).await.expect("marks");
    assert_eq!(marks.len(), 1);
    let left = rig
        .store
        .job_of_anyone(&job)
        .await
        .expect("read")
        .expect("a row");
    assert_eq!((left.state, left.quota), (JobState::Succeeded, quota(3)));
    assert_eq!((&*left.request, left.message), ("{}", None));
    let (_, after) = rig.store.ledger(Some(&id), 0, 100).await.expect("rows");
    assert_eq!(after, before);
    let condemned = rig.store.condemn_assets(NOW, NOW - 1, 10).await;
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
    let busy = rig.store.delete_account(&id, NOW, None).await;
    assert!(busy.is_err(), "it has an unfinished job");
    rig.settle(rig.failure(&job, Guard::Unfinished)).await;
    let delete = async |id: &str| {
        let deleted = rig.store.delete_account(id, NOW, None).await;
        deleted.expect("answered")
    };
    assert!(delete(&id).await);
    assert!(!delete("nobody").await);
    let left = rig.store.account(&id).await.expect("read").expect("a row");
    assert!(left.disabled && left.email == format!("deleted-{id}"));
    assert_eq!(rig.store.job(&id, &job).await.expect("read"), None);
    assert_eq!(rig.purse(&id).await, (quota(10), quota(0)));
}
