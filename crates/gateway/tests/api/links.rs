//! Links: whoever has one sees a file, until it ends or is taken back.

use reqwest::Method;
use serde_json::{Value, json};

use crate::backends::finished;
use crate::gateway::{Account, Gateway, send};

async fn made(gateway: &Gateway, account: &Account) -> String {
    let body = json!({ "prompt": "a lighthouse" });
    let answer = gateway.post(&account.key, "/artgen/v1/imagine", body).await;
    let id = answer.json["data"]["jobId"].as_str().expect("a job");
    finished(gateway, &account.key, id).await;
    id.to_owned()
}

async fn link(gateway: &Gateway, account: &Account, job: &str) -> Value {
    let path = format!("/jobs/v1/{job}/links");
    let answer = gateway.post(&account.key, &path, json!({})).await;
    assert_eq!(answer.status, 200, "{}", answer.json);
    answer.json["data"].clone()
}

fn path_of(link: &Value) -> String {
    let url = link["url"].as_str().expect("an address");
    let (_, path) = url.split_once("/shared/").expect("an address of a link");
    format!("/shared/{path}")
}

/// The promise: a link shows its file to whoever has it and to nobody else, and taking it back is at once, also for who
/// has seen it before.
#[tokio::test]
async fn a_link_shows_a_file_until_it_is_taken_back() {
    let gateway = Gateway::spawn().await;
    let (owner, other) = (gateway.account(100).await, gateway.account(100).await);
    let job = made(&gateway, &owner).await;
    let one = link(&gateway, &owner, &job).await;
    let ask = async |path: &str| send(gateway.request(Method::GET, path)).await;
    let shown = ask(&path_of(&one)).await;
    assert_eq!(shown.status, 200);
    assert_eq!(shown.header("content-type"), "image/png");
    assert!(shown.header("cache-control").contains("max-age=0"));
    let forged = path_of(&one).replace("&s=", "&s=x");
    ask(&forged).await.assert_refused(403, "forbidden");
    // The signature of a file is none of a link, and the other way round.
    let query = path_of(&one);
    let (_, query) = query.split_once('?').expect("a query");
    let id = one["id"].as_str().expect("an id");
    let file = format!("/assets/shared/{id}?{query}");
    ask(&file).await.assert_refused(410, "expired");
    let list = gateway.get(&owner.key, "/links/v1").await;
    assert_eq!(list.json["data"][0], one, "{}", list.json);
    assert_eq!(list.json["data"][0]["jobId"], job);
    let theirs = gateway.get(&other.key, "/links/v1").await;
    assert_eq!(theirs.json["total"], 0);
    let end = format!("/links/v1/{id}");
    let by = async |account: &Account| {
        let request = gateway.request(Method::DELETE, &end);
        send(request.header("SVC-API-KEY", &account.key)).await
    };
    by(&other).await.assert_refused(404, "not_found");
    assert_eq!(by(&owner).await.status, 200);
    by(&owner).await.assert_refused(404, "not_found");
    let known = gateway
        .request(Method::GET, &path_of(&one))
        .header("if-none-match", shown.header("etag"));
    send(known).await.assert_refused(410, "expired");
}

/// The promise: a file has one link at the most, and a link does not outlive its file.
#[tokio::test]
async fn a_link_ends_with_the_next_one_and_with_its_file() {
    let gateway = Gateway::spawn().await;
    let (owner, other) = (gateway.account(100).await, gateway.account(100).await);
    let job = made(&gateway, &owner).await;
    let path = format!("/jobs/v1/{job}/links");
    for (account, wish, status, code) in [
        (&other, json!({}), 400, "job_not_found"),
        (&owner, json!({ "file": 99 }), 400, "invalid_parameter"),
        (&owner, json!({ "expiresIn": 59 }), 400, "invalid_parameter"),
    ] {
        let refused = gateway.post(&account.key, &path, wish).await;
        refused.assert_refused(status, code);
    }
    let ask = async |link: &Value| send(gateway.request(Method::GET, &path_of(link))).await;
    let first = link(&gateway, &owner, &job).await;
    let second = link(&gateway, &owner, &job).await;
    ask(&first).await.assert_refused(410, "expired");
    assert_eq!(ask(&second).await.status, 200);
    let list = gateway.get(&owner.key, "/links/v1").await;
    assert_eq!(list.json["total"], 1, "{}", list.json);
    let remove = gateway.request(Method::DELETE, &format!("/jobs/v1/{job}"));
    let removed = send(remove.header("SVC-API-KEY", &owner.key)).await;
    assert_eq!(removed.status, 200, "{}", removed.json);
    ask(&second).await.assert_refused(410, "expired");
    let list = gateway.get(&owner.key, "/links/v1").await;
    assert_eq!(list.json["total"], 0);
}
