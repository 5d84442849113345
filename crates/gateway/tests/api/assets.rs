//! Result files: whole, in part, known already, gone after their time, and never to anybody with a changed address; the
//! same on local files and on an S3 server.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::asset_store::AssetStore;
use crate::gateway::{Account, Answer, Gateway, client, send};

each_asset_store!(
    a_file_is_handed_out_whole_in_part_or_not_again,
    a_changed_address_opens_nothing,
    a_file_that_was_lost_is_gone_for_good,
    a_drawing_is_never_an_active_document,
    an_address_is_gone_after_its_time_and_so_is_the_file,
    a_crash_between_storing_and_settling_leaves_no_orphan_and_no_job_without_its_file,
);

/// A finished picture: the job as fetch shows it.
async fn finished(gateway: &Gateway, caller: &Account) -> Value {
    let body = json!({ "prompt": "a small boat" });
    let accepted = gateway.post(&caller.key, "/artgen/v1/imagine", body).await;
    let id = accepted.json["data"]["jobId"].as_str().expect("an id");
    until_finished(gateway, caller, id).await
}

async fn until_finished(gateway: &Gateway, caller: &Account, id: &str) -> Value {
    let deadline = Instant::now() + Duration::from_mins(1);
    loop {
        let body = json!({ "jobId": id });
        let job = gateway.post(&caller.key, "/artgen/v1/fetch", body).await;
        if job.json["status"] == "SUCCESS" {
            return job.json;
        }
        assert_ne!(job.json["status"], "FAILED", "{}", job.json);
        assert!(Instant::now() < deadline, "{}", job.json);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// The address of a finished picture.
async fn picture(gateway: &Gateway) -> String {
    let caller = gateway.account(10).await;
    let job = finished(gateway, &caller).await;
    job["originImage"].as_str().expect("an address").to_owned()
}

async fn a_file_is_handed_out_whole_in_part_or_not_again(asset_store: AssetStore) {
    let gateway = asset_store.options().spawn().await;
    let url = picture(&gateway).await;
    let client = client();
    let ask = async |method: Method, headers: &[(&str, &str)]| -> Answer {
        let request = client.request(method, &url);
        let add = |request: reqwest::RequestBuilder, (name, value): &(&str, &str)| {
            request.header(*name, *value)
        };
        send(headers.iter().fold(request, add)).await
    };
    let whole = ask(Method::GET, &[]).await;
    assert_eq!(
        (whole.status.as_u16(), whole.header("content-type")),
        (200, "image/png")
    );
    assert!(whole.bytes.starts_with(b"\x89PNG"));
    assert_eq!(whole.header("x-content-type-options"), "nosniff");
    assert_eq!(
        whole.header("content-security-policy"),
        "sandbox; default-src 'none'"
    );
    assert!(
        whole
            .header("cache-control")
            .starts_with("private, max-age=")
    );

    let head = ask(Method::HEAD, &[]).await;
    assert_eq!((head.status.as_u16(), head.bytes.len()), (200, 0));
    assert_eq!(head.header("content-length"), whole.bytes.len().to_string());

    for range in ["bytes=10-19", "bytes=99999999-"] {
        let head = ask(Method::HEAD, &[("Range", range)]).await;
        assert_eq!(head.status, 200, "a part needs its bytes");
        assert_eq!(head.header("content-length"), whole.bytes.len().to_string());
    }

    let part = ask(Method::GET, &[("Range", "bytes=10-19")]).await;
    assert_eq!(
        (part.status.as_u16(), &part.bytes[..]),
        (206, &whole.bytes[10..20])
    );
    assert_eq!(
        part.header("content-range"),
        format!("bytes 10-19/{}", whole.bytes.len())
    );
    let tail = ask(Method::GET, &[("Range", "bytes=-5")]).await;
    assert_eq!(tail.bytes, whole.bytes[whole.bytes.len() - 5..]);
    assert_eq!(
        ask(Method::GET, &[("Range", "bytes=99999999-")])
            .await
            .status,
        416
    );
    let many = vec!["0-0"; 1000].join(",");
    let many = ask(Method::GET, &[("Range", &format!("bytes={many}"))]).await;
    assert_eq!(
        (many.status.as_u16(), many.bytes.len()),
        (200, whole.bytes.len())
    );

    let etag = whole.header("etag").to_owned();
    let known = ask(Method::GET, &[("If-None-Match", &etag)]).await;
    assert_eq!((known.status.as_u16(), known.bytes.len()), (304, 0));
    let stale = ask(
        Method::GET,
        &[("Range", "bytes=0-0"), ("If-Range", "\"old\"")],
    )
    .await;
    assert_eq!(stale.status, 200);
}

async fn a_file_that_was_lost_is_gone_for_good(asset_store: AssetStore) {
    let gateway = asset_store.options().spawn().await;
    let url = picture(&gateway).await;
    let key = url
        .split_once("/assets/")
        .and_then(|rest| rest.1.split_once('?'));
    let files = asset_store.files(&gateway);
    files.delete(key.expect("a key").0).await.expect("lost");
    send(client().get(&url))
        .await
        .assert_refused(410, "expired");
}

async fn a_changed_address_opens_nothing(asset_store: AssetStore) {
    let gateway = asset_store.options().spawn().await;
    let url = picture(&gateway).await;
    let client = client();
    let (path, query) = url.split_once('?').expect("a signed address");
    let expiry = query
        .split('&')
        .find_map(|part| part.strip_prefix("e="))
        .expect("an expiry");
    let wrong = [
        path.to_owned(),
        url.replace(
            expiry,
            &format!("{}", expiry.parse::<i64>().expect("a number") + 1),
        ),
        url.replace(".png?", ".svg?"),
        url.replace("&s=", "&s=A"),
        format!("{}/assets/%2e%2e/master.key?{query}", gateway.base_url),
    ];
    for url in wrong {
        let answer = send(client.get(&url)).await;
        // The client tidies the last one before it asks.
        let expected = if url.contains("%2e") { 404 } else { 403 };
        assert_eq!(answer.status, expected, "{url}");
        assert_eq!(answer.json["status"], "FAILED");
    }
    assert_eq!(send(client.get(&url)).await.status, 200);
}

async fn a_drawing_is_never_an_active_document(asset_store: AssetStore) {
    let gateway = asset_store.options().spawn().await;
    let caller = gateway.account(100).await;
    let image = finished(&gateway, &caller).await["originImage"].clone();
    // The service's own picture, read from the asset store without a request.
    let body = json!({ "image": image });
    let answer = gateway
        .post(&caller.key, "/design/images/vectorize", body)
        .await;
    let url = answer.json["data"]["images"][0]["url"].as_str();
    let url = url.unwrap_or_else(|| panic!("{}", answer.json));
    let drawing = send(client().get(url)).await;
    assert_eq!(drawing.status, 200);
    assert!(String::from_utf8_lossy(&drawing.bytes).contains("<svg"));
    let expected = [
        ("content-type", "image/svg+xml"),
        ("content-disposition", "attachment"),
        ("content-security-policy", "sandbox; default-src 'none'"),
        ("x-content-type-options", "nosniff"),
    ];
    for (name, value) in expected {
        assert_eq!(drawing.header(name), value, "{name}");
    }
}

async fn an_address_is_gone_after_its_time_and_so_is_the_file(asset_store: AssetStore) {
    let at_once = || {
        asset_store
            .options()
            .set("RETENTION_ANSWER_MINUTES", "0")
            .set("JOBS_SWEEP_MS", "200")
    };
    // The first process dies between deleting the file and forgetting its row.
    let mut gateway = at_once()
        .set("CRASH_AT", "sweeper.before_forget")
        .spawn()
        .await;
    let caller = gateway.account(100).await;
    let body = json!({ "model": "art-2", "prompt": "a boat", "size": "256x256" });
    let answer = gateway
        .request(Method::POST, "/v1/images/generations")
        .header("SVC-API-KEY", &caller.key)
        .header("Idempotency-Key", "expiry")
        .json(&body);
    let _ = answer.send().await;
    gateway.ended(Duration::from_secs(30));
    let gateway = gateway.restart(at_once());
    let answer = gateway
        .post(&caller.key, "/v1/images/generations", body)
        .await;
    let url = answer.json["data"][0]["url"].as_str();
    let url = url.unwrap_or_else(|| panic!("{}", answer.json)).to_owned();
    send(client().get(&url))
        .await
        .assert_refused(410, "expired");
    let deadline = Instant::now() + Duration::from_secs(20);
    while !asset_store.stored(&gateway).await.is_empty() {
        assert!(
            Instant::now() < deadline,
            "{:?}",
            asset_store.stored(&gateway).await
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    send(client().get(&url))
        .await
        .assert_refused(410, "expired");
}

async fn a_crash_between_storing_and_settling_leaves_no_orphan_and_no_job_without_its_file(
    asset_store: AssetStore,
) {
    let lively = || {
        let options = asset_store.options().set("JOBS_LEASE_S", "2");
        options.set("JOBS_RENEW_S", "1")
    };
    let mut gateway = lively()
        .set("CRASH_AT", "runner.file_stored:2")
        .spawn()
        .await;
    let caller = gateway.account(100).await;
    let body = json!({ "prompt": "a small boat", "getUImages": true });
    let call = gateway.request(Method::POST, "/artgen/v1/imagine");
    let call = call.header("SVC-API-KEY", &caller.key).json(&body);
    let id = send(call).await.json["data"]["jobId"]
        .as_str()
        .expect("an id")
        .to_owned();
    gateway.ended(Duration::from_mins(1));
    let left = asset_store.stored(&gateway).await;
    let some = (2..=5).contains(&left.len());
    assert!(some, "two of five files were stored at least: {left:?}");
    let gateway = gateway.restart(lively());
    let job = until_finished(&gateway, &caller, &id).await;
    let origin = job["originImage"].as_str().expect("an address");
    assert_eq!(send(client().get(origin)).await.status, 200);
    let all = asset_store.stored(&gateway).await;
    assert_eq!(all.len(), 5 + left.len(), "five and the orphans: {all:?}");

    let tidy = lively().set("RETENTION_ORPHAN_MINUTES", "0");
    let gateway = gateway.restart(tidy.set("JOBS_TIDY_S", "1"));
    let deadline = Instant::now() + Duration::from_secs(20);
    while asset_store.stored(&gateway).await.len() > 5 {
        assert!(
            Instant::now() < deadline,
            "{:?}",
            asset_store.stored(&gateway).await
        );
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let job = until_finished(&gateway, &caller, &id).await;
    let images = job["images"].as_array().expect("four images").iter();
    for url in images.chain([&job["originImage"], &job["cdnImage"]]) {
        let url = url.as_str().expect("an address");
        let path = url.split_once("/assets/").expect("an asset").1;
        let url = format!("{}/assets/{path}", gateway.base_url);
        let answer = send(client().get(&url)).await;
        assert_eq!(answer.status, 200, "{url}: {}", answer.json);
    }
}

#[tokio::test]
async fn the_key_of_addresses_is_changed_under_a_running_service() {
    let asset_store = AssetStore::Folder;
    let gateway = asset_store.options().set("JOBS_RENEW_S", "1").spawn().await;
    let before = picture(&gateway).await;
    assert!(before.contains("k=1&"), "{before}");
    let said = gateway.command(&["local", "rotate-address-key"]);
    assert_eq!(said.trim(), "URL key 2 signs from now on");
    let deadline = Instant::now() + Duration::from_secs(20);
    let after = loop {
        let url = picture(&gateway).await;
        if url.contains("k=2&") {
            break url;
        }
        assert!(Instant::now() < deadline, "{url}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    };
    for url in [before, after] {
        assert_eq!(send(client().get(&url)).await.status, 200, "{url}");
    }
}
