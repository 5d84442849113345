//! Deletion: of a finished job by its owner, of an account by the operator. What was paid for stays in the ledger.

use reqwest::Method;
use serde_json::json;

use crate::backends::finished;
use crate::gateway::{Answer, Gateway, send};

async fn delete(gateway: &Gateway, key: &str, path: &str) -> Answer {
    send(gateway.request(Method::DELETE, path).bearer_auth(key)).await
}

#[tokio::test]
async fn a_deleted_job_is_gone_with_its_files_and_its_ledger_rows_stay() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(100).await;
    let (id, open) = (
        gateway.imagine(&account.key, "a fox").await,
        gateway.imagine(&account.key, "a lake [[stall]]").await,
    );
    let job = finished(&gateway, &account.key, &id).await;
    let url = job["files"][0]["url"].as_str().expect("a file");
    let fetch = format!("/artgen/v1/fetch?jobId={id}");
    // Read once, so that a remembered body would be seen.
    assert_eq!(gateway.get(&account.key, &fetch).await.status, 200);
    let ledger = gateway.get(&account.key, "/account/v1/ledger").await.json;
    let busy = delete(&gateway, &account.key, &format!("/jobs/v1/{open}")).await;
    busy.assert_refused(409, "conflict");
    let path = format!("/jobs/v1/{id}");
    assert_eq!(delete(&gateway, &account.key, &path).await.status, 200);
    for path in [&path, &fetch] {
        let answer = gateway.get(&account.key, path).await;
        answer.assert_refused(400, "job_not_found");
    }
    delete(&gateway, &account.key, &path)
        .await
        .assert_refused(400, "job_not_found");
    assert_eq!(reqwest::get(url).await.expect("an answer").status(), 410);
    assert_eq!(gateway.get(&account.key, "/jobs/v1").await.json["total"], 1);
    let after = gateway.get(&account.key, "/account/v1/ledger").await.json;
    assert_eq!(after, ledger);
}

/// What was read of a job for those that follow it is believed for a moment, but not beyond its deletion.
#[tokio::test]
async fn a_deleted_job_is_followed_no_more() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(100).await;
    let id = gateway.imagine(&account.key, "a fox").await;
    finished(&gateway, &account.key, &id).await;
    let follow = || gateway.post(&account.key, "/artgen/v1/seed", json!({"jobId": id}));
    assert_eq!(follow().await.status, 200);
    let path = format!("/jobs/v1/{id}");
    assert_eq!(delete(&gateway, &account.key, &path).await.status, 200);
    follow().await.assert_refused(400, "job_not_found");
}

#[tokio::test]
async fn an_account_is_deleted_by_the_operator_when_it_has_no_unfinished_job() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(100).await;
    let open = gateway.imagine(&account.key, "a lake [[stall]]").await;
    let path = format!("/admin/v1/accounts/{}", account.id);
    let busy = gateway.operate(Method::DELETE, &path, None).await;
    busy.assert_refused(409, "conflict");
    let cancel = format!("/jobs/v1/{open}/cancel");
    assert_eq!(
        gateway.post(&account.key, &cancel, json!({})).await.status,
        200
    );
    let gone = gateway.operate(Method::DELETE, &path, None).await;
    assert_eq!(gone.status, 200, "{}", gone.json);
    let info = gateway.get(&account.key, "/artgen/v1/info").await;
    info.assert_refused(401, "unauthorized");
    let left = gateway.operate(Method::GET, &path, None).await.json["data"].clone();
    assert_eq!(left["disabled"], true);
    assert_eq!(left["email"], format!("deleted-{}", account.id));
    let audit = gateway
        .operate(Method::GET, "/admin/v1/audit", None)
        .await
        .json;
    assert_eq!(audit["data"][0]["action"], "account.delete");
}
