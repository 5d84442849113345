//! kill -9 at a random instant under load.

use std::collections::HashSet;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::gateway::{Account, Gateway, Options};

/// A receiver that takes every callback and remembers the bodies.
pub(crate) struct Receiver {
    pub(crate) url: String,
    got: Arc<Mutex<Vec<Value>>>,
}

impl Receiver {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/", listener.local_addr().expect("bound"));
        let got: Arc<Mutex<Vec<Value>>> = Arc::default();
        let log = got.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let log = log.clone();
                std::thread::spawn(move || take(stream.expect("a connection"), &log));
            }
        });
        Self { url, got }
    }

    /// The jobs heard of.
    fn jobs(&self) -> HashSet<String> {
        let got = self.got.lock().expect("no panic under the lock");
        got.iter()
            .filter_map(|body| body["jobId"].as_str().map(str::to_owned))
            .collect()
    }
}

fn take(mut stream: std::net::TcpStream, log: &Mutex<Vec<Value>>) {
    let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
    let (mut bytes, mut chunk) = (Vec::new(), [0; 8192]);
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                line.to_ascii_lowercase()
                    .strip_prefix("content-length:")?
                    .trim()
                    .parse::<usize>()
                    .ok()
            });
            if body.len() >= length.unwrap_or(0) {
                if let Ok(body) = serde_json::from_str(body) {
                    log.lock().expect("no panic under the lock").push(body);
                }
                let _ = stream.write_all(
                    b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
                );
                return;
            }
        }
        match stream.read(&mut chunk) {
            Ok(0) | Err(_) => return,
            Ok(count) => bytes.extend_from_slice(&chunk[..count]),
        }
    }
}

pub(crate) async fn roomy_account(gateway: &Gateway) -> Account {
    let account = gateway.account(10_000).await;
    let patch = json!({ "max_queue": 1000 });
    gateway
        .operate(
            Method::PATCH,
            &format!("/admin/v1/accounts/{}", account.id),
            Some(patch),
        )
        .await;
    account
}

/// Waits until no job is unfinished and every hold is resolved; then checks the ledger from outside.
pub(crate) async fn settled(gateway: &Gateway, account: &Account, within: Duration) -> Vec<Value> {
    let deadline = Instant::now() + within;
    loop {
        let mut jobs = Vec::new();
        for page in 1.. {
            let answer = gateway
                .get(&account.key, &format!("/jobs/v1?page={page}&limit=100"))
                .await;
            let items = answer.json["data"].as_array().expect("a list").clone();
            if items.is_empty() {
                break;
            }
            jobs.extend(items);
        }
        let open = jobs
            .iter()
            .filter(|job| !matches!(job["status"].as_str(), Some("SUCCESS" | "FAILED")))
            .count();
        if open == 0 {
            // Read last: a balance of an earlier moment may still hold what has been settled since.
            let (free, held) = gateway.balance(&account.key).await;
            let spent: f64 = jobs
                .iter()
                .map(|job| job["quota"].as_f64().expect("a number"))
                .sum();
            assert!((free + spent - 10_000.0).abs() < 0.0005, "{free} + {spent}");
            assert!(held.abs() < 0.0005, "{held} is still held");
            return jobs;
        }
        assert!(
            Instant::now() < deadline,
            "{open} jobs are still open:\n{}",
            gateway.printed()
        );
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
}

pub(crate) async fn until_heard(receiver: &Receiver, ids: &HashSet<String>, within: Duration) {
    let deadline = Instant::now() + within;
    while !receiver.jobs().is_superset(ids) {
        assert!(
            Instant::now() < deadline,
            "{} of {} callbacks",
            receiver.jobs().len(),
            ids.len()
        );
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

#[tokio::test]
async fn kill_nine_in_the_middle_of_two_hundred_jobs_loses_nothing() {
    let gateway = Gateway::spawn().await;
    let account = roomy_account(&gateway).await;
    let receiver = Receiver::start();
    let submit = |number: usize| {
        // A delay keeps many jobs in hand at the moment of the kill; one in five ends with a picture.
        let end = if number.is_multiple_of(5) {
            ""
        } else {
            "[[fail: on purpose]]"
        };
        let prompt = format!("boat {number} {end} [[delay 1s]]");
        let body = json!({ "prompt": prompt, "hookUrl": receiver.url });
        gateway.post(&account.key, "/artgen/v1/imagine", body)
    };
    let answers = join_all((0..200).map(submit)).await;
    let ids: HashSet<String> = answers
        .iter()
        .map(|answer| {
            answer.json["data"]["jobId"]
                .as_str()
                .unwrap_or_else(|| panic!("{}", answer.json))
                .to_owned()
        })
        .collect();
    assert_eq!(ids.len(), 200);
    tokio::time::sleep(Duration::from_millis(1500)).await;
    let gateway = gateway.restart(lively());
    let jobs = settled(&gateway, &account, Duration::from_mins(4)).await;
    let listed: HashSet<String> = jobs
        .iter()
        .map(|job| job["jobId"].as_str().expect("an id").to_owned())
        .collect();
    assert_eq!(listed, ids, "every accepted job exists, and no other");
    until_heard(&receiver, &ids, Duration::from_mins(1)).await;
}

/// Settings under which a dead node's jobs are taken up quickly on any database.
pub(crate) fn lively() -> Options {
    Options::default()
        .set("JOBS_LEASE_S", "3")
        .set("JOBS_RENEW_S", "1")
        .set("CALLBACKS_SCHEDULE_S", "1,1,1,1")
}
