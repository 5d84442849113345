//! The URLs of a service that others reach although no setting says under which URL: they start as the caller's own request did,
//! and never lead back to whoever follows them.

use reqwest::Method;
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};

use crate::backends::finished;
use crate::gateway::{Account, Answer, Gateway, Options, send};
use crate::outside::Mailbox;

/// A listener for everybody, beside the main one.
const EVERYWHERE: &str = r#"[{ address = "0.0.0.0:0", role = "main" }]"#;

async fn unnamed() -> Gateway {
    let options = Options::default()
        .set("LISTENERS", EVERYWHERE)
        .set("NAMES", "nas.lan")
        .set("ANSWERS_KEEP_ALIVE_S", "1")
        .set("OUTBOUND_ALLOW", "127.0.0.0/8");
    options.more_listeners(1).spawn().await
}

/// Where the service believes that it can be reached.
fn guess(gateway: &Gateway) -> String {
    let printed = gateway.printed();
    let (_, rest) = printed.split_once("console         ").expect("a link");
    let (base, _) = rest.split_once("/console/").expect("a link");
    base.to_owned()
}

/// A request as somebody sends it who reached the service under a host.
async fn at(gateway: &Gateway, caller: &Account, host: &str, path: &str) -> Answer {
    let request = gateway.request(Method::GET, path);
    send(
        request
            .header("host", host)
            .header("SVC-API-KEY", &caller.key),
    )
    .await
}

/// Every URL of the service in an answer starts so.
fn start_all_as(body: &str, base: &str) {
    let mut seen = 0;
    for (at, _) in body
        .match_indices("/assets/")
        .chain(body.match_indices("/shared/"))
    {
        assert!(body[..at].ends_with(base), "{base}: {body}");
        seen += 1;
    }
    assert!(seen > 0, "{body}");
}

fn text(answer: &Answer) -> String {
    String::from_utf8_lossy(&answer.bytes).into_owned()
}

/// The promise: a caller is given URLs that work where the caller is, however they are asked for, and the service warns that it has to
/// guess them.
#[tokio::test]
async fn urls_start_as_the_request_of_the_caller_did() {
    let gateway = unnamed().await;
    let base = guess(&gateway);
    assert!(
        gateway
            .printed()
            .contains("base_url: not set although the service listens on 0.0.0.0")
    );
    let caller = gateway.account(1000).await;
    let job = gateway.imagine(&caller.key, "a lighthouse").await;
    finished(&gateway, &caller.key, &job).await;
    let linked = gateway
        .post(&caller.key, &format!("/jobs/v1/{job}/links"), json!({}))
        .await;
    assert_eq!(linked.status, 200, "{}", linked.json);
    // The second time something may be remembered of the first.
    for _ in 0..2 {
        for path in [
            format!("/artgen/v1/fetch?jobId={job}"),
            format!("/jobs/v1/{job}"),
            "/jobs/v1?limit=5".to_owned(),
            format!("/jobs/v1/{job}/events"),
            "/artgen/v1/fetch-list".to_owned(),
            format!("/mj/task/{job}/fetch"),
            "/links/v1".to_owned(),
        ] {
            for (host, base) in [
                ("nas.lan:9999", "http://nas.lan:9999"),
                ("192.0.2.7", "http://192.0.2.7"),
                ("elsewhere.example", &base),
                // The caller is on this machine, and may hand the URL on.
                ("localhost:8080", &base),
            ] {
                start_all_as(&text(&at(&gateway, &caller, host, &path).await), base);
            }
        }
    }
    let unfollowed = at(
        &gateway,
        &caller,
        "nas.lan",
        &format!("/artgen/v1/fetch?jobId={job}"),
    )
    .await;
    let url = unfollowed.json["originImage"]
        .as_str()
        .expect("a URL")
        .to_owned();
    let path = url.strip_prefix("http://nas.lan").expect("that host");
    assert_eq!(send(gateway.request(Method::GET, path)).await.status, 200);
    // A file of its own is known again, whichever way somebody reached it.
    let described = gateway
        .post(&caller.key, "/artgen/v1/describe", json!({ "url": url }))
        .await;
    let described = described.json["data"]["jobId"]
        .as_str()
        .expect("a job")
        .to_owned();
    let described = finished(&gateway, &caller.key, &described).await;
    assert_eq!(described["status"], "SUCCESS", "{described}");
}

/// The promise: the same holds of what is answered while the caller waits, at once and late, of uploads and of callbacks.
#[tokio::test]
async fn urls_of_waiting_calls_uploads_and_callbacks_are_no_loopback_addresses() {
    let gateway = unnamed().await;
    let base = guess(&gateway);
    let caller = gateway.account(1000).await;
    let ask = |path: &str| {
        let request = gateway.request(Method::POST, path);
        request
            .header("host", "nas.lan")
            .header("SVC-API-KEY", &caller.key)
    };
    for prompt in ["a boat", "[[delay 3s]] a boat"] {
        let body = json!({ "model": "art-3", "prompt": prompt });
        let answer = send(ask("/v1/images/generations").json(&body)).await;
        start_all_as(&text(&answer), "http://nas.lan");
    }
    let body = json!({ "model": "image-1", "prompt": "a boat", "async": true });
    let pending = send(ask("/v1/images/generations").json(&body)).await;
    assert_eq!(pending.status, 202, "{}", pending.json);
    assert!(
        pending
            .header("location")
            .starts_with("http://nas.lan/jobs/v1/"),
        "{:?}",
        pending.headers
    );
    let file = Part::bytes(include_bytes!("../../console/tiles/art-images.webp").to_vec())
        .file_name("a.webp");
    let form = Form::new().part("file", file.mime_str("image/webp").expect("a type"));
    let uploaded = send(ask("/files/v1").multipart(form)).await;
    start_all_as(&text(&uploaded), "http://nas.lan");
    let mailbox = Mailbox::start();
    let body = json!({ "prompt": "a lighthouse", "hookUrl": mailbox.url() });
    let job = send(ask("/artgen/v1/imagine").json(&body)).await;
    let job = job.json["data"]["jobId"]
        .as_str()
        .expect("a job")
        .to_owned();
    let got: Value = mailbox.told_of(&job).await;
    start_all_as(&got.to_string(), &base);
    let overview = gateway
        .operate(Method::GET, "/admin/v1/overview", None)
        .await;
    assert_eq!(
        overview.json["data"]["warnings"][0]["setting"], "base_url",
        "{}",
        overview.json
    );
}
