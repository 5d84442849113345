//! Receivers and image hosts that stall, drip, flood or babble: each costs bounded time, and none delays another.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::servers::{Server, answer, names, outbound, png, read_request};
use crate::stopwatch::Stopwatch;
use atelier_backends::guard::Policy;
use atelier_backends::http::{CallbackOutcome, Limits, OutboundClient, OutboundError};
use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::future::join_all;
use futures_util::stream::FuturesUnordered;

/// For what is to arrive: a machine that stands still for seconds is within them.
fn limits() -> Limits {
    Limits {
        answer: Duration::from_secs(10),
        image_bytes: 1024 * 1024,
        ..Limits::default()
    }
}

/// For what is to be given up, so that the tests wait little.
fn short_limits() -> Limits {
    Limits {
        callback: Duration::from_secs(1),
        image: Duration::from_secs(1),
        ..limits()
    }
}

/// No wait is longer, whatever the machine does beside it.
const PATIENCE: Duration = Duration::from_secs(20);
/// Servers that are silent or drip go on for longer than anybody is waited for.
const SILENCE: Duration = Duration::from_mins(1);

async fn post(client: &OutboundClient, server: &Server) -> CallbackOutcome {
    let started = Stopwatch::start();
    let outcome = client
        .post_callback(&server.url("/hook"), &[], Bytes::from_static(b"{}"))
        .await;
    assert!(started.elapsed() < PATIENCE, "took {:?}", started.elapsed());
    outcome
}

async fn image(client: &OutboundClient, server: &Server) -> Result<(u32, u32), OutboundError> {
    let started = Stopwatch::start();
    let fetched = client.fetch_image(&server.url("/image")).await;
    assert!(started.elapsed() < PATIENCE, "took {:?}", started.elapsed());
    fetched
        .map(|image| (image.width, image.height))
        .map_err(|fault| fault.trouble)
}

/// Sends pieces until the other side has had enough or [`SILENCE`] has passed.
fn drip(mut stream: TcpStream, piece: &[u8], pause: Duration) {
    for _ in 0..SILENCE.div_duration_f32(pause) as usize {
        if stream.write_all(piece).is_err() {
            return;
        }
        std::thread::sleep(pause);
    }
}

/// Says nothing until the other side hangs up.
fn silent(mut stream: TcpStream) {
    let _ = stream.set_read_timeout(Some(SILENCE));
    while stream.read(&mut [0; 1024]).is_ok_and(|size| size > 0) {}
}

/// A server that floods the line, how much of it was taken, and whether the line was cut.
struct Flood {
    server: Server,
    sent: Arc<AtomicU64>,
    is_cut: Arc<AtomicBool>,
}

impl Flood {
    fn start(head: &'static str) -> Self {
        let (sent, is_cut) = (
            Arc::new(AtomicU64::new(0)),
            Arc::new(AtomicBool::new(false)),
        );
        let (count, cut) = (Arc::clone(&sent), Arc::clone(&is_cut));
        let server = Server::allowed(move |mut stream| {
            read_request(&mut stream);
            let mut piece = head.as_bytes().to_vec();
            while stream.write_all(&piece).is_ok() {
                count.fetch_add(piece.len() as u64, Ordering::SeqCst);
                piece = vec![b'x'; 64 * 1024];
            }
            cut.store(true, Ordering::SeqCst);
        });
        Self {
            server,
            sent,
            is_cut,
        }
    }

    /// The bytes that were sent before the line was cut.
    async fn sent_until_cut(&self) -> u64 {
        let cut = async {
            while !self.is_cut.load(Ordering::SeqCst) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let cut = tokio::time::timeout(PATIENCE, cut).await;
        cut.expect("the line is cut");
        self.sent.load(Ordering::SeqCst)
    }
}

#[tokio::test]
async fn every_status_is_reported_and_only_two_hundreds_deliver() {
    let client = outbound(limits());
    for status in [
        200, 201, 204, 299, 300, 301, 302, 307, 400, 401, 404, 408, 410, 418, 429, 500, 502, 503,
        504, 599,
    ] {
        let server = Server::saying(answer(&format!("{status} Word"), "", b""));
        let outcome = post(&client, &server).await;
        assert_eq!(outcome.status, Some(status));
        assert_eq!(
            outcome.delivered(),
            (200..300).contains(&status),
            "{status}"
        );
        assert_eq!(outcome.error, None);
    }
    let early = b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n";
    let late = [&early[..], &answer("200 OK", "", b"")].concat();
    assert!(post(&client, &Server::saying(late)).await.delivered());
    let upgrade = b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n";
    assert!(
        !post(&client, &Server::saying(&upgrade[..]))
            .await
            .delivered()
    );
}

#[tokio::test]
async fn a_wish_to_wait_and_the_start_of_the_answer_are_kept() {
    let client = outbound(limits());
    let long = format!("sorry \u{7} {}", "x".repeat(5000));
    let server = Server::saying(answer("503 Busy", "retry-after: 120\r\n", long.as_bytes()));
    let outcome = post(&client, &server).await;
    assert_eq!(outcome.retry_after_s, Some(120));
    assert_eq!(outcome.answer_start.chars().count(), 1024);
    assert!(outcome.answer_start.starts_with("sorry \u{fffd} x"));
    // A date, from a receiver that says what time it has, and from one that does not.
    let until = "retry-after: Fri, 01 Jan 2100 00:01:00 GMT\r\n";
    let dated = format!("{until}date: Fri, 01 Jan 2100 00:00:00 GMT\r\n");
    let server = Server::saying(answer("503 Busy", &dated, b""));
    assert_eq!(post(&client, &server).await.retry_after_s, Some(60));
    let server = Server::saying(answer("503 Busy", until, b""));
    let wait_s = post(&client, &server).await.retry_after_s;
    assert!(wait_s.is_some_and(|wait_s| wait_s > 3600), "{wait_s:?}");
}

#[tokio::test]
async fn a_receiver_that_stalls_or_drips_its_head_times_out() {
    let client = outbound(short_limits());
    let silent = Server::allowed(silent);
    let dripping = Server::allowed(|stream| drip(stream, b"H", Duration::from_millis(100)));
    let hinting = Server::allowed(|mut stream| {
        read_request(&mut stream);
        let hint = b"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(20);
        drip(stream, &hint, Duration::from_millis(5));
    });
    for server in [&silent, &hinting] {
        let outcome = post(&client, server).await;
        assert_eq!(
            outcome.error.as_deref(),
            Some(OutboundError::TimedOut.words())
        );
        assert!(outcome.duration_ms >= 1000);
        assert!(!outcome.blocked);
    }
    assert!(post(&client, &dripping).await.error.is_some());
    assert_eq!(image(&client, &silent).await, Err(OutboundError::TimedOut));
}

#[tokio::test]
async fn once_the_status_is_known_the_rest_of_the_answer_costs_little() {
    let client = outbound(Limits {
        answer: Duration::from_millis(200),
        ..limits()
    });
    let dripping = Server::allowed(|mut stream| {
        read_request(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n");
        drip(stream, b"z", Duration::from_millis(50));
    });
    let outcome = post(&client, &dripping).await;
    assert!(outcome.delivered(), "{outcome:?}");
    assert!(outcome.answer_start.len() < 200, "ten seconds of it");
    let flood = Flood::start("HTTP/1.1 200 OK\r\ncontent-length: 10000000000\r\n\r\n");
    assert!(post(&client, &flood.server).await.delivered());
    let taken = flood.sent_until_cut().await;
    assert!(
        taken < 16_000_000,
        "{taken} bytes were sent before the line was cut"
    );
}

#[tokio::test]
async fn babble_and_floods_in_place_of_a_head_are_refused() {
    let client = outbound(limits());
    let many = "x-header: 1\r\n".repeat(100_000);
    let large = format!("x: {}\r\n", "y".repeat(10_000_000));
    let heads: Vec<(&str, Vec<u8>)> = vec![
        ("another protocol", b"SSH-2.0-OpenSSH_9.2\r\n".to_vec()),
        ("no head at all", b"<html>hello</html>".to_vec()),
        ("nothing", Vec::new()),
        ("half a head", b"HTTP/1.1 200 OK\r\ncontent-le".to_vec()),
        ("many headers", answer("200 OK", &many, b"")),
        ("one large header", answer("200 OK", &large, b"")),
        (
            "a wrong length",
            b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n".to_vec(),
        ),
        (
            "two lengths",
            b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx".to_vec(),
        ),
        (
            "random bytes",
            (0..9999_u32).map(|n| (n * 197 + n / 7) as u8).collect(),
        ),
    ];
    for (what, head) in heads {
        let server = Server::saying(head);
        let outcome = post(&client, &server).await;
        assert_eq!(
            outcome.error.as_deref(),
            Some(OutboundError::Protocol.words()),
            "{what}: {outcome:?}"
        );
        assert_eq!(
            image(&client, &server).await,
            Err(OutboundError::Protocol),
            "{what}"
        );
    }
}

#[tokio::test]
async fn images_are_judged_by_their_bytes_and_header() {
    let client = outbound(limits());
    let good = Server::saying(answer(
        "200 OK",
        "content-type: text/html\r\n",
        &png(640, 480),
    ));
    assert_eq!(image(&client, &good).await, Ok((640, 480)));
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let pieces: Vec<u8> = png(7, 9)
        .iter()
        .flat_map(|byte| [b'1', b'\r', b'\n', *byte, b'\r', b'\n'])
        .collect();
    let chunked = Server::saying([chunked.as_bytes(), &pieces, b"0\r\n\r\n"].concat());
    assert_eq!(image(&client, &chunked).await, Ok((7, 9)));
    let bad: Vec<(&str, Vec<u8>)> = vec![
        ("a pixel bomb", png(65_535, 65_535)),
        ("an impossible size", png(u32::MAX, u32::MAX)),
        ("no pixels", png(0, 10)),
        ("a page", b"<html><img src=x></html>".to_vec()),
        (
            "a drawing",
            b"<svg xmlns='http://www.w3.org/2000/svg'/>".to_vec(),
        ),
        (
            "packed bytes",
            b"\x1f\x8b\x08\0\0\0\0\0\0\xff0123456789".to_vec(),
        ),
        ("a stump", b"\x89PNG\r\n\x1a\n".to_vec()),
        ("nothing", Vec::new()),
    ];
    for (what, body) in bad {
        let server = Server::saying(answer("200 OK", "content-type: image/png\r\n", &body));
        assert_eq!(
            image(&client, &server).await,
            Err(OutboundError::NotAnImage),
            "{what}"
        );
    }
    let missing = Server::saying(answer("404 Not Found", "", &png(1, 1)));
    assert_eq!(
        image(&client, &missing).await,
        Err(OutboundError::Status(404))
    );
    let partial = Server::saying(answer("206 Partial Content", "", &png(1, 1)));
    assert_eq!(
        image(&client, &partial).await,
        Err(OutboundError::Status(206))
    );
}

#[tokio::test]
async fn an_image_that_is_too_large_slow_or_cut_off_fails_in_time() {
    let client = outbound(limits());
    let claimed = "HTTP/1.1 200 OK\r\ncontent-length: 9000000000\r\n\r\n";
    let claims = Flood::start(claimed);
    assert_eq!(
        image(&client, &claims.server).await,
        Err(OutboundError::TooLarge)
    );
    let endless = Flood::start("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n\u{fffd}");
    assert_eq!(
        image(&client, &endless.server).await,
        Err(OutboundError::NotAnImage)
    );
    assert!(endless.sent_until_cut().await < 16_000_000);
    let unending = Server::allowed(|mut stream| {
        read_request(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        let _ = stream.write_all(&png(9, 9));
        drip(stream, &vec![0; 200_000], Duration::from_millis(1));
    });
    assert_eq!(
        image(&client, &unending).await,
        Err(OutboundError::TooLarge)
    );
    let slow = Server::allowed(|mut stream| {
        read_request(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        let _ = stream.write_all(&png(9, 9));
        drip(stream, b"0", Duration::from_millis(50));
    });
    let hurried = outbound(short_limits());
    assert_eq!(image(&hurried, &slow).await, Err(OutboundError::TimedOut));
    let mut short = b"HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n".to_vec();
    short.extend(png(9, 9));
    assert_eq!(
        image(&client, &Server::saying(short)).await,
        Err(OutboundError::Protocol)
    );
}

#[tokio::test]
async fn a_file_flows_up_to_its_limit_and_not_beyond() {
    let client = outbound(limits());
    let body = vec![7; 300_000];
    let server = Server::saying(answer("200 OK", "content-type: video/mp4\r\n", &body));
    let file = client
        .fetch_file(&server.url("/"), 300_000)
        .await
        .expect("a file");
    assert_eq!(file.length, Some(300_000));
    assert_eq!(file.media_type.as_deref(), Some("video/mp4"));
    let pieces: Vec<_> = file.collect().await;
    let size: usize = pieces
        .into_iter()
        .map(|piece| piece.expect("a piece").len())
        .sum();
    assert_eq!(size, 300_000);
    let over = client.fetch_file(&server.url("/"), 299_999).await;
    assert_eq!(
        over.err().map(|fault| fault.trouble),
        Some(OutboundError::TooLarge)
    );
    let endless = Flood::start("HTTP/1.1 200 OK\r\n\r\n");
    let file = client
        .fetch_file(&endless.server.url("/"), 1_000_000)
        .await
        .expect("a start");
    let pieces: Vec<_> = file.collect().await;
    let last = pieces.last().expect("a piece").as_ref();
    assert_eq!(last.expect_err("a limit").trouble, OutboundError::TooLarge);
    let stalled = Server::allowed(|mut stream| {
        read_request(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nstart");
        silent(stream);
    });
    let hurried = outbound(Limits {
        stall: Duration::from_millis(500),
        ..limits()
    });
    let started = Stopwatch::start();
    let file = hurried
        .fetch_file(&stalled.url("/"), 1000)
        .await
        .expect("a start");
    let pieces: Vec<_> = file.collect().await;
    let last = pieces.last().expect("a piece").as_ref();
    assert_eq!(last.expect_err("a stall").trouble, OutboundError::TimedOut);
    assert!(started.elapsed() < PATIENCE);
}

#[tokio::test]
async fn a_file_that_hardly_comes_is_given_up_although_it_never_pauses() {
    let client = outbound(Limits {
        stall: Duration::from_secs(1),
        slowest: 1_000,
        ..limits()
    });
    let dripping = Server::allowed(|mut stream| {
        read_request(&mut stream);
        // Bytes that come fast at first buy no time for the rest.
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        let _ = stream.write_all(&[7; 5_000]);
        while stream.write_all(b"x").is_ok() {
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    let started = Stopwatch::start();
    let file = client.fetch_file(&dripping.url("/"), 1_000_000).await;
    let pieces: Vec<_> = file.expect("a start").collect().await;
    let last = pieces.last().expect("a piece").as_ref();
    assert_eq!(last.expect_err("too slow").trouble, OutboundError::TimedOut);
    assert!(started.elapsed() < PATIENCE);
}

#[tokio::test]
async fn many_names_of_one_receiver_have_no_more_places_than_its_address() {
    let addresses: &[&[&str]] = &[&["127.0.0.2"]];
    let hosts = ["a.example.org", "b.example.org", "c.example.org"];
    let script = hosts.map(|host| (host, addresses));
    let (resolver, _) = names(&script);
    let silent = Server::allowed(silent);
    let port = silent.address.port();
    // Who waits for a place gives up long before those who have one.
    let limits = Limits {
        callback: 2 * PATIENCE,
        place: Duration::from_secs(1),
        per_receiver: 2,
        per_address: 3,
        ..limits()
    };
    let allow = [format!("127.0.0.2/32:{port}")];
    let policy = Policy::from_settings(&[port], Some(&allow), true, &[], &[]).expect("a policy");
    let client = OutboundClient::new(policy, limits).expect("a client");
    let client = client.with_resolver(resolver).expect("a client");
    let posts = hosts.iter().flat_map(|host| [*host; 2]).map(|host| {
        let (client, url) = (client.clone(), format!("http://{host}:{port}/hook"));
        async move { client.post_callback(&url, &[], Bytes::new()).await }
    });
    let posts: FuturesUnordered<_> = posts.collect();
    let ended: Vec<CallbackOutcome> = posts.take(3).collect().await;
    assert!(ended.iter().all(|outcome| outcome.busy), "{ended:?}");
    silent.until_connections(3).await;
    assert_eq!(silent.connections(), 3, "{ended:?}");
}

#[tokio::test]
async fn five_hundred_callbacks_to_a_dead_receiver_do_not_delay_fifty_to_a_live_one() {
    // The live ones would wait for the first dead ones if they waited for any, so the limits are long beside what they need.
    let silence = Duration::from_secs(6);
    let client = outbound(Limits {
        callback: 2 * silence,
        place: silence,
        answer: silence,
        ..limits()
    });
    let dead = Server::allowed(move |stream| {
        std::thread::sleep(silence);
        drop(stream);
    });
    let live = Server::saying(answer("200 OK", "", b"ok"));
    let doomed = async {
        let posts = (0..500).map(|_| {
            let url = dead.url("/hook");
            let client = client.clone();
            async move { client.post_callback(&url, &[], Bytes::new()).await }
        });
        join_all(posts).await
    };
    let healthy = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let started = Stopwatch::start();
        let url = live.url("/hook");
        let posts = (0..50).map(|_| client.post_callback(&url, &[], Bytes::from_static(b"{}")));
        let outcomes = join_all(posts).await;
        (started.elapsed(), outcomes)
    };
    let (lost, (took, arrived)) = tokio::join!(doomed, healthy);
    assert!(
        arrived.iter().all(CallbackOutcome::delivered),
        "{arrived:?}"
    );
    assert!(took < silence / 2, "the live receiver waited {took:?}");
    assert!(lost.iter().all(|outcome| outcome.error.is_some()));
    let at_once = client.limits().per_receiver;
    assert!(
        dead.connections() <= 2 * at_once,
        "{} at the dead one",
        dead.connections()
    );
}
