//! Custody: a caller's own accounts serve that caller and nobody else, and the caller's custody jobs run nowhere else.

use atelier_contract::{Code, JobState, Refusal};
use atelier_engine::{Caller, CustodyRequest};
use serde_json::{Value, json};

use crate::rig::{Rig, worker};
use crate::stage::Stage;
use crate::vendors::cast;

/// A body describes the place and the account at it.
fn request(body: &Value) -> CustodyRequest {
    CustodyRequest {
        backend: body.clone().into(),
        worker: worker(body),
    }
}

/// Nobody counts what callers do here.
const ALWAYS: fn() -> Result<(), Refusal> = || Ok(());

pub(crate) async fn register(rig: &Rig, caller: &Caller, stage: &str, name: &str) -> String {
    let body = json!({
        "vendor": "stage",
        "base_url": "http://127.0.0.1:9",
        "settings": { "stage": stage },
        "name": name,
        "credential": name,
    });
    let made = rig
        .engine
        .admin()
        .custody()
        .register(&caller.account_id, request(&body), ALWAYS)
        .await;
    let made = made.expect("registered");
    assert!(json!(made).get("credential").is_none());
    made.worker.id
}

#[tokio::test]
async fn custody_jobs_run_on_the_callers_own_accounts_only() {
    let (stage, rig) = (Stage::named("own"), Rig::with_vendors().await);
    let (owner, stranger) = (rig.account(100).await, rig.account(100).await);
    let body = |prompt: &str| json!({ "prompt": prompt });
    let none = rig
        .call(&owner, "artgen.imagine", body("plain"), true)
        .await;
    let none = none.expect_err("no account yet");
    assert_eq!(
        (none.code, none.message.as_str()),
        (Code::NoAvailableAccount, "No available accounts")
    );
    cast(&rig, "own", "unknown", &["operator"]).await;
    register(&rig, &owner, "own", "mine").await;
    let still = rig
        .call(&stranger, "artgen.imagine", body("plain 0"), true)
        .await;
    assert_eq!(
        still.expect_err("not theirs").code,
        Code::NoAvailableAccount
    );

    for number in 1..=6 {
        let prompt = format!("plain {number}");
        let job = rig
            .call(&owner, "artgen.imagine", body(&prompt), true)
            .await
            .expect("accepted");
        rig.until_final(&owner, &job).await;
        assert_eq!(rig.state(&owner, &job).await, JobState::Succeeded);
    }
    assert!(
        stage
            .books()
            .taken
            .iter()
            .all(|(worker, _)| worker == "mine")
    );
    assert_eq!(
        rig.purse(&owner).await,
        ("100".into(), "0".into()),
        "the custody price is zero"
    );

    for number in 7..=9 {
        for caller in [&owner, &stranger] {
            let job = rig
                .imagine(caller, &format!("plain {number}"))
                .await
                .expect("accepted");
            rig.until_final(caller, &job).await;
        }
    }
    let books = stage.books().taken.clone();
    assert!(
        books[6..].iter().all(|(worker, _)| worker == "operator"),
        "{books:?}"
    );

    rig.check_books().await;
}

#[tokio::test]
async fn a_caller_sees_changes_and_removes_its_own_accounts_only() {
    let (_stage, rig) = (Stage::named("own-rows"), Rig::with_vendors().await);
    let (owner, stranger) = (rig.account(100).await, rig.account(100).await);
    let id = register(&rig, &owner, "own-rows", "mine").await;
    assert!(
        rig.engine
            .admin()
            .custody()
            .list(&stranger.account_id)
            .await
            .expect("a list")
            .is_empty()
    );
    let foreign = rig
        .engine
        .admin()
        .custody()
        .remove(&stranger.account_id, &id)
        .await
        .expect_err("not theirs");
    assert_eq!(foreign.code, Code::NotFound);
    let shown = rig.engine.admin().backends().list().await.expect("a list");
    assert!(
        !json!(shown).to_string().contains(&id),
        "not among the operator's"
    );
    let changed = request(&json!({ "state": "paused" }));
    rig.engine
        .admin()
        .custody()
        .change(&owner.account_id, &id, &changed, ALWAYS)
        .await
        .expect("changed");
    let paused = rig
        .call(&owner, "artgen.imagine", json!({ "prompt": "plain" }), true)
        .await
        .expect_err("paused");
    assert_eq!(paused.code, Code::NoAvailableAccount);
    rig.engine
        .admin()
        .custody()
        .remove(&owner.account_id, &id)
        .await
        .expect("removed");
    rig.check_books().await;
}

#[tokio::test]
async fn a_custody_follow_up_needs_a_parent_of_the_same_account() {
    let (stage, rig) = (Stage::named("own-follow"), Rig::with_vendors().await);
    let owner = rig.account(100).await;
    cast(&rig, "own-follow", "unknown", &["operator"]).await;
    register(&rig, &owner, "own-follow", "mine").await;
    let ours = rig.imagine(&owner, "plain 1").await.expect("accepted");
    rig.until_final(&owner, &ours).await;
    let action = |parent: &atelier_contract::JobId| json!({ "jobId": parent.as_str(), "action": "upsample1" });
    let refused = rig.call(&owner, "artgen.action", action(&ours), true).await;
    assert_eq!(
        refused.expect_err("made elsewhere").code,
        Code::ActionNotAvailable
    );
    let own = rig
        .call(
            &owner,
            "artgen.imagine",
            json!({ "prompt": "plain 2" }),
            true,
        )
        .await
        .expect("accepted");
    rig.until_final(&owner, &own).await;
    let follow = rig
        .call(&owner, "artgen.action", action(&own), true)
        .await
        .expect("accepted");
    rig.until_final(&owner, &follow).await;
    assert_eq!(
        stage.books().taken.last().map(|one| one.0.clone()),
        Some("mine".into())
    );
    let refused = rig.call(&owner, "artgen.action", action(&own), false).await;
    assert_eq!(
        refused.expect_err("not the operator's").code,
        Code::NoAvailableAccount
    );
    rig.check_books().await;
}

#[tokio::test]
async fn a_callers_address_obeys_the_rules_for_strangers_addresses() {
    let _stage = Stage::named("own-address");
    let rig = Rig::with_vendors().await;
    let caller = rig.account(0).await;
    for address in [
        "http://10.0.0.1/",
        "http://169.254.169.254/",
        "http://[::1]:99999/",
        "ftp://x/",
    ] {
        let body = json!({
            "vendor": "stage",
            "base_url": address,
            "settings": { "stage": "own-address" },
            "name": "x",
            "credential": "x",
        });
        let mut counted = false;
        let refused = rig
            .engine
            .admin()
            .custody()
            .register(&caller.account_id, request(&body), || {
                counted = true;
                ALWAYS()
            })
            .await;
        assert!(!counted, "{address}: what is refused is no act");
        let refused = refused.expect_err(address);
        assert_eq!(
            refused.field.as_deref(),
            Some("base_url"),
            "{address}: {refused}"
        );
    }
}
