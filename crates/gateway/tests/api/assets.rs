//! Result files: whole, in part, known already, and never to anybody with a changed address.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;

use crate::gateway::{Answer, Gateway, client, send};

/// The address of a finished picture.
async fn picture(gateway: &Gateway) -> String {
    let caller = gateway.account(10).await;
    let body = json!({ "prompt": "a small boat" });
    let accepted = gateway.post(&caller.key, "/artgen/v1/imagine", body).await;
    let id = accepted.json["data"]["jobId"].clone();
    for _ in 0..300 {
        let body = json!({ "jobId": id });
        let job = gateway.post(&caller.key, "/artgen/v1/fetch", body).await;
        if job.json["status"] == "SUCCESS" {
            return job.json["originImage"]
                .as_str()
                .expect("an address")
                .to_owned();
        }
        assert_ne!(job.json["status"], "FAILED", "{}", job.json);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the picture was never finished");
}

#[tokio::test]
async fn a_file_is_handed_out_whole_in_part_or_not_again() {
    let gateway = Gateway::spawn().await;
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

#[tokio::test]
async fn a_changed_address_opens_nothing() {
    let gateway = Gateway::spawn().await;
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
        format!("{}/assets/../master.key?{query}", gateway.base_url),
    ];
    for url in wrong {
        let answer = send(client.get(&url)).await;
        assert!(
            matches!(answer.status.as_u16(), 403 | 404),
            "{url}: {}",
            answer.status
        );
        assert_eq!(answer.json["status"], "FAILED");
    }
    assert_eq!(send(client.get(&url)).await.status, 200);
}
