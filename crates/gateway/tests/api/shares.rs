//! What many share, one account cannot take: an attacker takes all it can, and another caller does not notice.

use std::cell::Cell;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use hyper::http;
use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

use crate::backends::finished;
use crate::gateway::{Gateway, Options, send};
use crate::stopwatch::Stopwatch;

const MIB: usize = 1024 * 1024;

async fn connect(gateway: &Gateway) -> TcpStream {
    TcpStream::connect(&gateway.addresses[0])
        .await
        .expect("a connection")
}

/// The head of a POST with a key and a length.
fn post(path: &str, key: &str, length: usize) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nSVC-API-KEY: {key}\r\nContent-Length: {length}\r\n\r\n"
    )
}

/// Speaks HTTP/2 with windows of so many bytes; what opens streams.
#[expect(
    clippy::disallowed_methods,
    reason = "the connection ends with the test"
)]
async fn http2(gateway: &Gateway, window: u32) -> h2::client::SendRequest<Bytes> {
    let stream = connect(gateway).await;
    let mut builder = h2::client::Builder::new();
    builder
        .initial_window_size(window)
        .initial_connection_window_size(65_535);
    let (client, connection) = builder.handshake::<_, Bytes>(stream).await.expect("HTTP/2");
    tokio::task::spawn(async move {
        let _ = connection.await;
    });
    client
}

/// A head for HTTP/2.
fn head(gateway: &Gateway, method: &str, path: &str, key: &str) -> http::Request<()> {
    http::Request::builder()
        .method(method)
        .uri(format!("{}{path}", gateway.base_url))
        .header("svc-api-key", key)
        .body(())
        .expect("a request")
}

#[tokio::test]
async fn a_body_of_tiny_values_stays_small_in_memory() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(10).await;
    let before = gateway.peak_memory_kib();
    for (item, bytes) in [
        ("{}", MIB),
        ("{}", 8 * MIB),
        ("[]", 8 * MIB),
        (r#"{"a":1}"#, 8 * MIB),
    ] {
        let items = vec![item; bytes / (item.len() + 1)].join(",");
        let body = format!(r#"{{"operation":"facegen.swap","request":{{"a":[{items}]}}}}"#);
        let answer = gateway
            .request(Method::POST, "/account/v1/quote")
            .header("SVC-API-KEY", &caller.key)
            .header("Content-Type", "application/json")
            .body(body);
        send(answer).await.assert_refused(400, "invalid_body");
    }
    let grown = gateway.peak_memory_kib() - before;
    eprintln!("four bodies of tiny values took {} MiB", grown / 1024);
    assert!(grown < 64 * 1024, "{} MiB", grown / 1024);
}

#[tokio::test]
async fn bytes_that_came_fast_buy_no_idle_time() {
    let gateway = Options::default()
        .set("LIMITS_BODY_GRACE_S", "5")
        .spawn()
        .await;
    let (attacker, other) = (gateway.account(10).await, gateway.account(10).await);
    let most = 64 * MIB;
    let mut silent = connect(&gateway).await;
    let head = post("/account/v1/quote", &attacker.key, most);
    silent.write_all(head.as_bytes()).await.expect("written");
    silent
        .write_all(&vec![b' '; 48 * MIB])
        .await
        .expect("written");
    let begin = Stopwatch::start();
    let mut text = Vec::new();
    let closed = timeout(Duration::from_mins(1), silent.read_to_end(&mut text)).await;
    let (text, waited) = (String::from_utf8_lossy(&text), begin.elapsed());
    assert!(closed.is_ok(), "it still waits after {waited:?}: {text}");
    // At the slowest rate, what came would buy most of an hour.
    assert!(waited < Duration::from_secs(20), "{waited:?}: {text}");
    assert!(text.starts_with("HTTP/1.1 408"), "{text}");
    // What it held is free again.
    let image = "A".repeat(30 * MIB);
    let body = json!({ "operation": "facegen.swap", "request": { "targetImage": image, "swapImage": "x" } });
    for key in [&attacker.key, &other.key] {
        let answer = gateway.post(key, "/account/v1/quote", body.clone()).await;
        assert!(
            !matches!(answer.status.as_u16(), 429 | 503),
            "{}",
            answer.json
        );
    }
}

#[tokio::test]
async fn silent_large_bodies_of_one_account_leave_memory_to_the_others() {
    let gateway = Gateway::spawn().await;
    let (attacker, other) = (gateway.account(10).await, gateway.account(10).await);
    let mut crowd = Vec::new();
    for _ in 0..8 {
        let mut stream = connect(&gateway).await;
        let head = post("/account/v1/quote", &attacker.key, 64 * MIB);
        let _ = stream.write_all(head.as_bytes()).await;
        // A refusal may come before everything is written.
        let _ = stream.write_all(&vec![b' '; 63 * MIB]).await;
        crowd.push(stream);
    }
    let image = "A".repeat(8 * MIB);
    let body = json!({ "operation": "facegen.swap", "request": { "targetImage": image, "swapImage": "x" } });
    let answer = gateway.post(&other.key, "/account/v1/quote", body).await;
    assert_eq!(answer.status, 400, "{}", answer.json);
    assert_ne!(answer.json["code"], "overloaded");
    let taken = gateway.peak_memory_kib() / 1024;
    eprintln!("eight silent bodies: at most {taken} MiB");
}

#[tokio::test]
async fn unfinished_requests_of_one_key_keep_nobody_out() {
    let gateway = Options::default()
        .set("LIMITS_REQUESTS", "800")
        .set("LIMITS_BODY_GRACE_S", "60")
        .spawn()
        .await;
    let (attacker, other) = (gateway.account(10).await, gateway.account(10).await);
    let (mut clients, mut open) = (Vec::new(), Vec::new());
    for _ in 0..9 {
        let client = http2(&gateway, 65_535).await;
        let mut client = client.ready().await.expect("ready");
        for _ in 0..100 {
            let head = head(&gateway, "POST", "/facegen/v1/swap", &attacker.key);
            open.push(client.send_request(head, false).expect("a stream"));
            client = client.ready().await.expect("ready");
        }
        clients.push(client);
    }
    // The account itself has its share and no more.
    let answers = open.into_iter().map(|(answer, body)| async move {
        let status = answer.await.map(|answer| answer.status().as_u16());
        (status.ok(), body)
    });
    let mut answers: FuturesUnordered<_> = answers.collect();
    let mut refused = Vec::new();
    let crowded = async {
        while refused.len() < 800 {
            let answer = answers.next().await.expect("900 have asked");
            assert_eq!(answer.0, Some(429));
            refused.push(answer);
        }
    };
    let crowded = timeout(Duration::from_secs(30), crowded).await;
    assert!(crowded.is_ok(), "{} are refused", refused.len());
    let more = timeout(Duration::from_millis(200), answers.next()).await;
    assert!(more.is_err(), "100 of 900 are an eighth of 800");
    let answer = gateway.get(&other.key, "/artgen/v1/info").await;
    assert_eq!(answer.status, 200, "{}", answer.json);
    for path in ["/healthz", "/readyz"] {
        let answer = send(gateway.request(Method::GET, path)).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.json);
    }
}

#[tokio::test]
async fn health_is_told_when_every_place_is_taken() {
    let gateway = Options::default()
        .set("LIMITS_REQUESTS", "1")
        .set("LIMITS_BODY_GRACE_S", "60")
        .spawn()
        .await;
    let caller = gateway.account(10).await;
    let mut waiting = connect(&gateway).await;
    let head = post("/facegen/v1/swap", &caller.key, 100);
    waiting.write_all(head.as_bytes()).await.expect("written");
    let full = async {
        loop {
            sleep(Duration::from_millis(300)).await;
            let info = gateway.get(&caller.key, "/artgen/v1/info").await;
            if matches!(info.status.as_u16(), 429 | 503) {
                return;
            }
        }
    };
    let full = timeout(Duration::from_secs(30), full).await;
    full.expect("the only place is taken");
    for path in ["/healthz", "/readyz"] {
        let answer = send(gateway.request(Method::GET, path)).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.json);
    }
}

#[tokio::test]
async fn event_streams_of_one_account_leave_some_for_another() {
    let gateway = Options::default()
        .set("LIMITS_EVENT_STREAMS", "16")
        .spawn()
        .await;
    let (attacker, other) = (gateway.account(100).await, gateway.account(100).await);
    let mut streams = Vec::new();
    for (account, most) in [(&attacker, 2), (&other, 2)] {
        let id = gateway.imagine(&account.key, "a lake [[stall]]").await;
        let mut open = 0;
        for _ in 0..20 {
            let request = gateway
                .request(Method::GET, &format!("/jobs/v1/{id}/events"))
                .header("SVC-API-KEY", &account.key);
            let answer = request.send().await.expect("an answer");
            if answer.status() == 200 {
                open += 1;
                streams.push(answer);
            } else {
                assert_eq!(answer.status(), 429);
            }
        }
        assert_eq!(open, most);
    }
}

#[tokio::test]
async fn answers_that_nobody_reads_hold_no_file() {
    let gateway = Options::default()
        .set("LIMITS_WRITE_TIMEOUT_S", "2")
        .set("LIMITS_DOWNLOADS", "64")
        .spawn()
        .await;
    let caller = gateway.account(100).await;
    let id = gateway.imagine(&caller.key, "a lake").await;
    let deadline = Instant::now() + Duration::from_secs(30);
    let url = loop {
        let job = gateway
            .get(&caller.key, &format!("/jobs/v1/{id}"))
            .await
            .json["data"]
            .clone();
        if let Some(url) = job["files"][0]["url"].as_str() {
            break url.to_owned();
        }
        assert!(Instant::now() < deadline, "{job}");
        sleep(Duration::from_millis(100)).await;
    };
    let path = url
        .strip_prefix(&gateway.base_url)
        .expect("our own")
        .to_owned();
    let files = || open_assets(gateway.process_id());
    let mut clients = Vec::new();
    for _ in 0..3 {
        let mut client = http2(&gateway, 0).await;
        let mut answers = Vec::new();
        for _ in 0..40 {
            let opened = client.ready().await.expect("ready");
            client = opened;
            let head = head(&gateway, "GET", &path, &caller.key);
            answers.push(client.send_request(head, true).expect("a stream"));
        }
        clients.push((client, answers));
    }
    let until = async |is_so: &dyn Fn() -> bool| {
        let so = async {
            while !is_so() {
                sleep(Duration::from_millis(100)).await;
            }
        };
        timeout(Duration::from_mins(1), so).await.is_ok()
    };
    let most = Cell::new(0);
    let files = || {
        let open = files();
        most.set(most.get().max(open));
        open
    };
    assert!(until(&|| files() > 0).await, "some are open");
    let alive = send(gateway.request(Method::GET, "/healthz")).await;
    assert_eq!(alive.status, 200);
    // Each round of eight is cut after two seconds; whoever waits ten seconds for a turn is refused.
    let quiet = Cell::new(0);
    let is_closed = || {
        quiet.set(if files() == 0 { quiet.get() + 1 } else { 0 });
        // Between two rounds there may be none for a moment.
        quiet.get() >= 20
    };
    assert!(
        until(&is_closed).await,
        "files that nobody reads are closed"
    );
    let most = most.get();
    assert!(
        most <= 8,
        "{most} files were open for one address; an eighth of 64 is 8"
    );
}

/// How many files below the folder of results a process has open, besides the spool.
fn open_assets(process: u32) -> usize {
    let entries = std::fs::read_dir(format!("/proc/{process}/fd")).expect("the process runs");
    let links = entries.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
    links
        .filter(|link| link.to_string_lossy().contains("/assets/"))
        .filter(|link| !link.to_string_lossy().contains("/.spool/"))
        .count()
}

#[tokio::test]
async fn jobs_that_only_wait_take_no_places_of_the_engine() {
    let gateway = Options::default().set("STUDIO_SLOTS", "2").spawn().await;
    let (attacker, other) = (gateway.account(100).await, gateway.account(100).await);
    for number in 0..10 {
        let prompt = format!("a lake {number} [[stall]]");
        gateway.imagine(&attacker.key, &prompt).await;
    }
    // As many as the engine has places.
    let begun = |stats: &serde_json::Value| stats["inHand"].as_u64() >= Some(2);
    gateway.until_stats("some are in hand", begun).await;
    let begin = Stopwatch::start();
    let id = gateway.imagine(&other.key, "a fox").await;
    let job = finished(&gateway, &other.key, &id).await;
    assert_eq!(job["status"], "SUCCESS", "{job}");
    assert!(
        begin.elapsed() < Duration::from_secs(20),
        "{:?}",
        begin.elapsed()
    );
}
