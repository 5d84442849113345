//! Receivers that misbehave cost bounded time and memory, and delay nobody else.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::Duration;

use futures_util::StreamExt as _;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::gateway::{Account, Gateway, Options};
use crate::outside::{Mailbox, Outside, read};

/// A try may take 10 seconds; the rest is for a busy machine.
const TRY: Duration = Duration::from_secs(30);
/// What misbehaving receivers may add to the memory of the service, in KiB.
const MOST_KIB: u64 = 24 * 1024;

/// Takes the request and never says a word.
fn silent(mut stream: TcpStream) {
    read(&mut stream);
    std::thread::sleep(Duration::from_mins(2));
}

/// Answers one byte a second, within the head and for ever.
fn dripping(mut stream: TcpStream) {
    read(&mut stream);
    for byte in b"HTTP/1.1 200 OK\r\nx-slow: ".iter().chain([&b'a'; 600]) {
        if stream.write_all(&[*byte]).is_err() {
            return;
        }
        std::thread::sleep(Duration::from_secs(1));
    }
}

/// Says that it took the callback and sends far more than anybody would keep.
fn flooding(mut stream: TcpStream) {
    read(&mut stream);
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 10000000000\r\n\r\n";
    let _ = stream.write_all(head.as_bytes());
    let piece = vec![b'x'; 1024 * 1024];
    for _ in 0..10_000 {
        if stream.write_all(&piece).is_err() {
            return;
        }
    }
}

/// Sends a head that never ends.
fn long_headed(mut stream: TcpStream) {
    read(&mut stream);
    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
    let line = format!("x-more: {}\r\n", "y".repeat(8_000));
    while stream.write_all(line.as_bytes()).is_ok() {}
}

async fn roomy(gateway: &Gateway) -> Account {
    let account = gateway.account(10_000).await;
    let path = format!("/admin/v1/accounts/{}", account.id);
    let patch = json!({ "max_queue": 10_000 });
    gateway.operate(Method::PATCH, &path, Some(patch)).await;
    account
}

/// Submits jobs that end at once and have a callback; their ids.
async fn finish(gateway: &Gateway, key: &str, hook: &str, count: usize) -> Vec<String> {
    let submit = |_| async {
        let body = json!({ "prompt": "a boat [[fail: it is over]]", "hookUrl": hook });
        let answer = gateway.post(key, "/artgen/v1/imagine", body).await;
        assert_eq!(answer.status, 200, "{}", answer.json);
        answer.json["data"]["jobId"]
            .as_str()
            .expect("an id")
            .to_owned()
    };
    let submits = futures_util::stream::iter(0..count).map(submit);
    submits.buffer_unordered(32).collect().await
}

/// The callback of a job once a try of it is over, with its log.
async fn tried(gateway: &Gateway, key: &str, job: &str, within: Duration) -> Value {
    let deadline = Instant::now() + within;
    loop {
        let path = format!("/account/v1/callbacks/cb_{job}");
        let shown = gateway.get(key, &path).await.json["data"].clone();
        if shown["log"].as_array().is_some_and(|log| !log.is_empty()) {
            return shown;
        }
        assert!(Instant::now() < deadline, "no try is over: {shown}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

#[tokio::test]
async fn silent_dripping_and_flooding_receivers_cost_bounded_time_and_memory() {
    let gateway = Gateway::spawn().await;
    let account = roomy(&gateway).await;
    let key = &account.key;
    let mailbox = Mailbox::start();
    let warm = finish(&gateway, key, &mailbox.url(), 20).await;
    mailbox.heard_of(&warm, Duration::from_secs(20)).await;
    let before_kib = gateway.peak_memory_kib();

    let begin = Instant::now();
    let receivers = [silent, dripping, flooding, long_headed].map(Outside::start);
    let mut jobs = Vec::new();
    // Together with those of the mailbox they fit into what one account may have under way: one that had to wait would find
    // its route closed, and its try would not be over within the test. Tries at the last one fail at once, and ten of them
    // would close its route before all have begun.
    for (receiver, count) in receivers.iter().zip([12, 12, 12, 8]) {
        jobs.push(finish(&gateway, key, &receiver.url("/"), count).await);
    }
    let meanwhile = finish(&gateway, key, &mailbox.url(), 10).await;
    // Far less than the ten seconds that each of the others is waited for.
    mailbox.heard_of(&meanwhile, Duration::from_secs(8)).await;

    let mut logs = Vec::new();
    for ids in &jobs {
        let mut tries = Vec::new();
        for id in ids {
            let within = (TRY * 4).saturating_sub(begin.elapsed());
            let shown = tried(&gateway, key, id, within).await;
            tries.push((shown["log"][0].clone(), shown["status"].clone()));
        }
        logs.push(tries);
    }
    let [silent, dripping, flooding, long_headed] = &logs[..] else {
        panic!("four receivers");
    };
    for (log, state) in silent.iter().chain(dripping) {
        assert_eq!(log["error"], "the receiver took too long", "{log}");
        let took_ms = log["durationMs"].as_u64().expect("a number");
        assert!((9_900..40_000).contains(&took_ms), "{log}");
        assert_eq!(state, "due", "it is tried again");
    }
    for (log, state) in flooding {
        assert_eq!((&log["status"], state), (&json!(200), &json!("delivered")));
        let kept = log["answer"].as_str().expect("the start of the answer");
        assert!(
            kept.starts_with("xxx") && kept.len() <= 1024,
            "{}",
            kept.len()
        );
    }
    for (log, _) in long_headed {
        assert_eq!(log["status"], Value::Null, "{log}");
    }
    let grown_kib = gateway.peak_memory_kib().saturating_sub(before_kib);
    eprintln!("44 callbacks to misbehaving receivers: peak memory +{grown_kib} KiB");
    assert!(grown_kib < MOST_KIB, "memory grew by {grown_kib} KiB");
}

#[tokio::test]
async fn five_hundred_callbacks_to_a_dead_receiver_do_not_delay_fifty_to_a_live_one() {
    let gateway = Options::default().set("STUDIO_SLOTS", "600").spawn().await;
    let account = roomy(&gateway).await;
    let dead = Outside::start(silent);
    finish(&gateway, &account.key, &dead.url("/"), 500).await;
    let mailbox = Mailbox::start();
    let begin = Instant::now();
    let live = finish(&gateway, &account.key, &mailbox.url(), 50).await;
    // A dead one is waited for ten seconds.
    mailbox.heard_of(&live, Duration::from_secs(8)).await;
    eprintln!(
        "50 live callbacks beside 500 dead ones: {:?}",
        begin.elapsed()
    );
    // One account has 32 places at a host, and a receiver that is silent is left alone.
    assert!(
        dead.connections() <= 64,
        "{} at the dead one",
        dead.connections()
    );
}

#[tokio::test]
async fn an_account_with_many_dead_receivers_does_not_delay_another_accounts_live_one() {
    let gateway = Options::default().set("STUDIO_SLOTS", "600").spawn().await;
    let (unlucky, lucky) = (roomy(&gateway).await, roomy(&gateway).await);
    // Each is a host of its own with places of its own: together they would take every place there is.
    let dead: Vec<Outside> = (0..20).map(|_| Outside::start(silent)).collect();
    for one in &dead {
        finish(&gateway, &unlucky.key, &one.url("/"), 20).await;
    }
    let mailbox = Mailbox::start();
    let begin = Instant::now();
    let live = finish(&gateway, &lucky.key, &mailbox.url(), 50).await;
    // A dead one is waited for ten seconds.
    mailbox.heard_of(&live, Duration::from_secs(8)).await;
    eprintln!(
        "50 live callbacks beside 400 dead ones: {:?}",
        begin.elapsed()
    );
    let asked: usize = dead.iter().map(Outside::connections).sum();
    assert!(
        asked <= 64,
        "an account has a quarter of all places: {asked}"
    );
}
