//! Quota: held at acceptance, spent on success, returned on failure, never negative, never twice.

use atelier_contract::{Code, JobState};
use serde_json::json;

use crate::rig::Rig;

#[tokio::test]
async fn a_success_is_paid_once() {
    let rig = Rig::new().await;
    let caller = rig.account(10).await;
    let id = rig.imagine(&caller, "hang a fox").await.expect("accepted");
    assert_eq!(
        rig.purse(&caller).await,
        ("6".into(), "4".into()),
        "held while it runs"
    );
    rig.engine
        .jobs()
        .cancel(&caller.account_id, &id)
        .await
        .expect("cancelled");
    rig.settle_down().await;
    assert_eq!(
        rig.purse(&caller).await,
        ("10".into(), "0".into()),
        "a cancelled job costs nothing"
    );

    let id = rig.imagine(&caller, "a fox").await.expect("accepted");
    rig.settle_down().await;
    let job = rig.job(&caller, &id).await;
    assert_eq!(
        (job.state, job.quota.to_string()),
        (JobState::Succeeded, "4".into())
    );
    assert_eq!(rig.purse(&caller).await, ("6".into(), "0".into()));
    rig.check_books().await;
}

#[tokio::test]
async fn a_failure_returns_the_whole_hold() {
    let rig = Rig::new().await;
    let caller = rig.account(10).await;
    let id = rig.imagine(&caller, "fail a fox").await.expect("accepted");
    rig.settle_down().await;
    let job = rig.job(&caller, &id).await;
    assert_eq!(job.state, JobState::Failed);
    assert_eq!(job.message.as_deref(), Some("[Image denied] not this"));
    assert_eq!(job.quota.to_string(), "0");
    assert_eq!(rig.purse(&caller).await, ("10".into(), "0".into()));
    rig.check_books().await;
}

#[tokio::test]
async fn what_the_balance_does_not_cover_is_refused_and_nothing_is_held() {
    let rig = Rig::new().await;
    let caller = rig.account(3).await;
    let refusal = rig.imagine(&caller, "a fox").await.expect_err("too dear");
    assert_eq!(refusal.code, Code::InsufficientQuota);
    assert_eq!(rig.purse(&caller).await, ("3".into(), "0".into()));
    rig.check_books().await;
}

#[tokio::test]
async fn the_same_idempotency_key_gives_the_same_job_and_one_hold() {
    let rig = Rig::new().await;
    let caller = rig.account(100).await;
    let body = json!({ "prompt": "hang a fox" });
    let first = rig
        .submit(&caller, body.clone(), Some("k1"))
        .await
        .expect("accepted");
    let again = rig
        .submit(&caller, body.clone(), Some("k1"))
        .await
        .expect("replayed");
    assert_eq!(first, again);
    assert_eq!(rig.purse(&caller).await.1, "4");
    let other = rig
        .submit(&caller, json!({ "prompt": "an owl" }), Some("k1"))
        .await;
    assert_eq!(
        other.expect_err("another body").code,
        Code::IdempotencyMismatch
    );
    let stranger = rig.account(100).await;
    let theirs = rig
        .submit(&stranger, body, Some("k1"))
        .await
        .expect("another account's key is another key");
    assert_ne!(theirs, first);
    for (caller, id) in [(&caller, &first), (&stranger, &theirs)] {
        rig.engine
            .jobs()
            .cancel(&caller.account_id, id)
            .await
            .expect("cancelled");
    }
    rig.check_books().await;
}

#[tokio::test]
async fn a_banned_word_is_refused_by_name() {
    let rig = Rig::new().await;
    let caller = rig.account(10).await;
    let refusal = rig
        .imagine(&caller, "some GORE please")
        .await
        .expect_err("banned");
    assert_eq!(
        (refusal.code, refusal.message.as_str()),
        (Code::BannedPrompt, "prompt: banned prompt words: [gore]")
    );
}
