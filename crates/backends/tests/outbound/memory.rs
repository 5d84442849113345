//! Sixty-four hosts that never stop sending cost bounded memory.

use std::io::Write as _;
use std::time::Duration;

use crate::servers::{Server, answer, outbound, png, read_request};
use atelier_backends::http::{Limits, OutboundError};
use bytes::Bytes;
use futures_util::future::join_all;

const MIB: u64 = 1024 * 1024;

#[tokio::test]
async fn endless_answers_from_many_hosts_cost_bounded_memory() {
    let client = outbound(Limits {
        image: Duration::from_secs(3),
        image_bytes: 16 * MIB,
        input_memory: 24 * MIB,
        per_destination: 100,
        ..Limits::default()
    });
    let flood = Server::allowed(|mut stream| {
        read_request(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        let _ = stream.write_all(&png(9, 9));
        while stream.write_all(&[0; 16 * 1024]).is_ok() {}
    });
    let warm = client.fetch_image(&flood.url("/")).await;
    assert!(warm.is_err());
    let before = peak_kib();
    let images = join_all((0..64).map(|_| async { client.fetch_image(&flood.url("/")).await }));
    let posts = join_all((0..64).map(|_| async {
        let url = flood.url("/");
        let outcome = client.post_callback(&url, &[], Bytes::new()).await;
        outcome.answer_start.len()
    }));
    let (images, starts) = tokio::join!(images, posts);
    assert!(images.iter().all(Result::is_err));
    assert!(starts.iter().all(|length| *length <= 4096));
    let added = peak_kib().saturating_sub(before);
    // The images' own allowance and a read buffer for each line.
    let most = (24 + 128 / 4) * 1024;
    assert!(added < most, "peak memory grew by {added} KiB");
}

fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let digits = line.expect("a peak").chars().filter(char::is_ascii_digit);
    digits.collect::<String>().parse().expect("a number")
}

#[tokio::test]
async fn the_bytes_of_an_image_keep_their_share_until_they_are_gone() {
    let client = outbound(Limits {
        image: Duration::from_secs(1),
        input_memory: MIB,
        ..Limits::default()
    });
    let mut picture = png(9, 9);
    picture.resize(MIB as usize, 0);
    let server = Server::saying(answer("200 OK", "", &picture));
    let url = server.url("/");
    let first = client.fetch_image(&url).await.expect("an image");
    let copy = first.bytes.clone();
    drop(first);
    let second = client.fetch_image(&url).await;
    let trouble = second.expect_err("no memory is left").trouble;
    assert_eq!(trouble, OutboundError::TimedOut);
    drop(copy);
    client.fetch_image(&url).await.expect("there is room again");
}
