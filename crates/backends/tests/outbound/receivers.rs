//! Connections to receivers of callbacks are used again for a moment, and nobody is worse off for it.

use std::cell::Cell;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use atelier_backends::guard::Policy;
use atelier_backends::http::{CallbackOutcome, Limits, OutboundClient};
use bytes::Bytes;

use crate::servers::{Server, answer, names, outbound, read_request};
use crate::still_time::StillTime;

async fn post(client: &OutboundClient, url: &str) -> CallbackOutcome {
    client
        .post_callback(url, &[], Bytes::from_static(b"{}"))
        .await
}

/// Answers everything that is asked on a connection.
fn answer_all(mut stream: TcpStream) {
    while !read_request(&mut stream).is_empty() {
        let _ = stream.write_all(&answer("200 OK", "", b"taken"));
    }
}

#[tokio::test]
async fn callbacks_in_a_row_share_a_connection_for_a_moment() {
    let time = StillTime::begin();
    let client = outbound(Limits::default());
    let server = Server::allowed(answer_all);
    let url = server.url("/hook");
    for _ in 0..5 {
        let outcome = post(&client, &url).await;
        assert!(outcome.delivered(), "{outcome:?}");
        assert_eq!(outcome.answer_start, "taken");
    }
    assert_eq!(server.connections(), 1);
    time.pass(Duration::from_millis(600)).await;
    assert!(post(&client, &url).await.delivered());
    assert_eq!(server.connections(), 2, "the first one was too old");
}

#[tokio::test]
async fn a_connection_that_nobody_asks_on_is_closed() {
    let time = StillTime::begin();
    let client = outbound(Limits::default());
    let ended = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&ended);
    let server = Server::allowed(move |stream| {
        answer_all(stream);
        seen.fetch_add(1, Ordering::SeqCst);
    });
    assert!(post(&client, &server.url("/hook")).await.delivered());
    client.close_idle();
    assert!(post(&client, &server.url("/hook")).await.delivered());
    assert_eq!(server.connections(), 1, "it was young and is used again");
    time.pass(Duration::from_millis(600)).await;
    client.close_idle();
    time.until("it is closed", || ended.load(Ordering::SeqCst) == 1)
        .await;
}

/// A receiver may hang up while the next callback is on its way; the callback does not count as failed for that.
#[tokio::test]
async fn a_receiver_that_hangs_up_on_a_kept_connection_is_asked_on_a_new_one() {
    let _time = StillTime::begin();
    let client = outbound(Limits::default());
    let server = Server::allowed(|mut stream| {
        read_request(&mut stream);
        let _ = stream.write_all(&answer("200 OK", "", b"ok"));
        // The next request is read and thrown away.
        let _ = stream.read(&mut [0; 1024]);
    });
    for turn in 1..=3 {
        let outcome = post(&client, &server.url("/hook")).await;
        assert!(outcome.delivered(), "{outcome:?}");
        assert_eq!(server.connections(), turn);
    }
}

/// A receiver that serves one connection after the other comes to all of them: a kept one does not keep it busy.
#[tokio::test]
async fn a_receiver_with_one_thread_comes_to_every_connection() {
    let client = outbound(Limits {
        callback: Duration::from_secs(12),
        place: Duration::from_secs(12),
        ..Limits::default()
    });
    let busy = Arc::new(std::sync::Mutex::new(()));
    let server = Server::allowed(move |stream| {
        let _one = busy.lock().expect("no panic");
        answer_all(stream);
    });
    let url = server.url("/hook");
    let is_over = Cell::new(false);
    let burst = async {
        let outcomes = futures_util::future::join_all((0..8).map(|_| post(&client, &url))).await;
        is_over.set(true);
        outcomes
    };
    // There is always somebody who would use a kept connection again, until the burst has ended.
    let steady = async {
        let mut outcomes = Vec::new();
        while outcomes.len() < 20 || !is_over.get() {
            tokio::time::sleep(Duration::from_millis(50)).await;
            outcomes.push(post(&client, &url).await);
        }
        outcomes
    };
    let (first, later) = tokio::join!(burst, steady);
    let failed = first.iter().chain(&later).filter(|one| !one.delivered());
    assert_eq!(failed.count(), 0);
}

/// The connection that was closed has given its place at the address back before the new one needs it.
#[tokio::test]
async fn a_receiver_with_one_place_is_asked_on_a_new_connection_too() {
    let client = outbound(Limits {
        per_address: 1,
        place: Duration::from_secs(5),
        ..Limits::default()
    });
    let server = Server::allowed(|mut stream| {
        read_request(&mut stream);
        let _ = stream.write_all(&answer("200 OK", "", b"ok"));
        let _ = stream.read(&mut [0; 1024]);
    });
    for _ in 0..3 {
        let outcome = post(&client, &server.url("/hook")).await;
        assert!(outcome.delivered(), "{outcome:?}");
    }
}

/// Whoever never answers is asked once per try, not twice.
#[tokio::test]
async fn a_receiver_that_hangs_up_on_a_new_connection_has_failed() {
    let client = outbound(Limits::default());
    let server = Server::allowed(|mut stream| drop(read_request(&mut stream)));
    let outcome = post(&client, &server.url("/hook")).await;
    assert!(!outcome.delivered(), "{outcome:?}");
    assert_eq!(server.connections(), 1);
}

/// What is kept takes nobody's place: another name of the same address has it at once.
#[tokio::test]
async fn a_kept_connection_takes_no_place() {
    let _time = StillTime::begin();
    let server = Server::allowed(answer_all);
    let port = server.address.port();
    let addresses: &[&[&str]] = &[&["127.0.0.2"]];
    let (resolver, _) = names(&[("a.example.org", addresses), ("b.example.org", addresses)]);
    let limits = Limits {
        per_address: 1,
        place: Duration::from_secs(5),
        ..Limits::default()
    };
    let allow = [format!("127.0.0.2/32:{port}")];
    let policy = Policy::from_settings(&[port], Some(&allow), true, &[], &[]).expect("a policy");
    let client = OutboundClient::new(policy, limits).expect("a client");
    let client = client.with_resolver(resolver).expect("a client");
    for host in ["a", "b", "a", "b"] {
        let outcome = post(&client, &format!("http://{host}.example.org:{port}/hook")).await;
        assert!(outcome.delivered(), "{outcome:?}");
    }
    assert_eq!(server.connections(), 2, "one for each name");
}

/// An answer that is longer than it says, or goes on for ever, spoils nothing for the next callback.
#[tokio::test]
async fn a_connection_with_leftovers_is_not_used_again() {
    let client = outbound(Limits {
        answer: Duration::from_millis(200),
        ..Limits::default()
    });
    let long = Server::allowed(|mut stream| {
        read_request(&mut stream);
        let mut bytes = answer("200 OK", "", b"ok");
        bytes.extend_from_slice(&answer(
            "500 Internal Server Error",
            "",
            b"for the next one",
        ));
        let _ = stream.write_all(&bytes);
        let _ = stream.read(&mut [0; 1024]);
    });
    let endless = Server::allowed(|mut stream| {
        read_request(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9000000\r\n\r\n");
        while stream.write_all(&[b'x'; 1024]).is_ok() {
            std::thread::sleep(Duration::from_millis(10));
        }
    });
    for server in [&long, &endless] {
        for _ in 0..3 {
            let outcome = post(&client, &server.url("/hook")).await;
            assert_eq!(outcome.status, Some(200), "{outcome:?}");
        }
        assert_eq!(server.connections(), 3);
    }
}
