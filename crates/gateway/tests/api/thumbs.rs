//! Small pictures of what cannot be shown: whoever asks for them, with or without a key, delays nobody else's.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};
use reqwest::Method;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::files::{png, upload};
use crate::gateway::{Gateway, send};
use crate::stopwatch::Stopwatch;

/// The sides of a picture that takes long to read.
const SIDE: u32 = 6_000;
/// Requests for the damaged picture, all at once.
const CROWD: usize = 40;

/// A part of a PNG.
fn chunk(name: &[u8], bytes: &[u8], out: &mut Vec<u8>) {
    let length = u32::try_from(bytes.len()).expect("a short part");
    let mut crc = Crc::new();
    crc.update(name);
    crc.update(bytes);
    out.extend(length.to_be_bytes());
    out.extend(name);
    out.extend(bytes);
    out.extend(crc.sum().to_be_bytes());
}

/// A large PNG that looks whole from outside, and whose pixels end before its last rows.
fn damaged() -> Vec<u8> {
    let mut pixels = ZlibEncoder::new(Vec::new(), Compression::fast());
    let row = vec![0; 1 + 3 * SIDE as usize];
    for _ in 0..SIDE - 10 {
        pixels.write_all(&row).expect("memory");
    }
    let mut head = Vec::new();
    head.extend(SIDE.to_be_bytes());
    head.extend(SIDE.to_be_bytes());
    head.extend([8, 2, 0, 0, 0]);
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(b"IHDR", &head, &mut file);
    chunk(b"IDAT", &pixels.finish().expect("memory"), &mut file);
    chunk(b"IEND", &[], &mut file);
    file
}

/// Where the small picture of a new file is.
async fn small(gateway: &Gateway, key: &str, bytes: Vec<u8>) -> String {
    let kept = upload(gateway, key, bytes, "image/png").await;
    assert_eq!(kept.status, 200, "{}", kept.json);
    let url = kept.json["data"]["url"].as_str().expect("an address");
    let (_, path) = url.split_once("/assets/").expect("a signed address");
    format!("/thumbs/{path}")
}

/// The promise: a damaged picture is tried once, however many ask for it, and another account's small picture is made
/// meanwhile.
#[tokio::test]
async fn a_damaged_picture_is_tried_once_and_delays_nobody_elses() {
    let gateway = Arc::new(Gateway::spawn().await);
    let (attacker, other) = (gateway.account(1).await, gateway.account(1).await);
    let bad = small(&gateway, &attacker.key, damaged()).await;
    let good = small(&gateway, &other.key, png(900, 600)).await;
    let begun = Instant::now();
    let mut crowd = JoinSet::new();
    for _ in 0..CROWD {
        let (gateway, bad) = (Arc::clone(&gateway), bad.clone());
        crowd.spawn(async move { send(gateway.request(Method::GET, &bad)).await });
    }
    let first = crowd
        .join_next()
        .await
        .expect("a crowd")
        .expect("an answer");
    let one = begun.elapsed();
    first.assert_refused(404, "not_found");
    let asked = Stopwatch::start();
    let shown = send(gateway.request(Method::GET, &good)).await;
    let took = asked.elapsed();
    assert_eq!(shown.status, 200, "{}", shown.json);
    while let Some(answer) = crowd.join_next().await {
        answer.expect("an answer").assert_refused(404, "not_found");
    }
    let all = begun.elapsed();
    let mut again = Duration::MAX;
    for _ in 0..3 {
        let asked = Stopwatch::start();
        let refused = send(gateway.request(Method::GET, &bad)).await;
        refused.assert_refused(404, "not_found");
        again = again.min(asked.elapsed());
    }
    eprintln!(
        "one try {one:?}, all {CROWD} {all:?}, once more {again:?}; another account's {took:?}"
    );
    assert!(
        all < one * 4 + Duration::from_secs(4),
        "{CROWD} tries took {all:?}, one {one:?}"
    );
    assert!(again < one, "the failure is remembered: {again:?}");
    assert!(
        took < one * 2 + Duration::from_secs(4),
        "another account waited {took:?}"
    );
}

/// The promise: pictures of one account that take long are made one behind the other, and another account's next is
/// made before them; of more than can wait, the last are told when to come again.
#[tokio::test]
async fn many_damaged_pictures_of_one_account_leave_a_place_to_the_others() {
    let gateway = Arc::new(Gateway::spawn().await);
    let (attacker, other) = (gateway.account(1).await, gateway.account(1).await);
    let bytes = damaged();
    let mut bad = Vec::new();
    for _ in 0..24 {
        bad.push(small(&gateway, &attacker.key, bytes.clone()).await);
    }
    let good = small(&gateway, &other.key, png(900, 600)).await;
    let begun = Instant::now();
    let mut crowd = JoinSet::new();
    for path in bad {
        let gateway = Arc::clone(&gateway);
        crowd.spawn(async move { send(gateway.request(Method::GET, &path)).await });
    }
    let mut answers = vec![
        crowd
            .join_next()
            .await
            .expect("a crowd")
            .expect("an answer"),
    ];
    let asked = Instant::now();
    let shown = send(gateway.request(Method::GET, &good)).await;
    let took = asked.elapsed();
    assert_eq!(shown.status, 200, "{}", shown.json);
    while let Some(answer) = crowd.join_next().await {
        answers.push(answer.expect("an answer"));
    }
    let all = begun.elapsed();
    let (full, tried): (Vec<_>, Vec<_>) = answers.iter().partition(|one| one.status == 503);
    eprintln!(
        "{} tried, {} told to wait, in {all:?}; another account's {took:?}",
        tried.len(),
        full.len()
    );
    assert!(!full.is_empty(), "what waits is bounded");
    for answer in full {
        answer.assert_refused(503, "overloaded");
        assert!(!answer.header("retry-after").is_empty());
    }
    for answer in tried {
        answer.assert_refused(404, "not_found");
    }
    assert!(took < all / 2, "another account waited {took:?} of {all:?}");
}
