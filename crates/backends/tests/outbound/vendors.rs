//! Servers of vendors that drip, flood or lie: each costs bounded time, and all of them together bounded memory. They
//! are reached as jobs reach them, through a worker account.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use atelier_backends::backend::{Backend, BoxFuture, FileReader, ProgressTracker};
use atelier_backends::http::{Limits, OutboundClient, VendorRequest};
use atelier_backends::{Class, Fault, PollOutcome, Secret, Setup, Work, WorkOutput};
use atelier_contract::JobId;
use atelier_contract::brief::{Brief, Task};
use bytes::Bytes;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::servers::{Server, answer, names, outbound, read_request};
use crate::still_time::StillTime;
use crate::stopwatch::Stopwatch;

const MIB: usize = 1024 * 1024;

fn limits() -> Limits {
    Limits {
        place: Duration::from_millis(300),
        vendor_file: 4 * MIB as u64,
        vendor_memory: 6 * MIB as u64,
        stranger_file: MIB as u64,
        stranger_memory: 3 * MIB as u64,
        ..Limits::default()
    }
}

/// A worker account for videos, at an operator's address or one that a caller brought.
fn worker(outbound: &OutboundClient, url: &str, trusted: bool) -> Arc<dyn Backend> {
    let vendor = atelier_backends::vendor_named("openai").expect("openai");
    let setup = Setup {
        http: outbound.vendor(url, trusted).expect("an address"),
        credential: Secret::new("sk-very-secret"),
        settings: json!({"video_model": "m"}),
    };
    vendor.connect(setup).expect("good settings")
}

fn work() -> Work {
    let read: FileReader = Arc::new(|_| -> BoxFuture<'static, Result<Bytes, Fault>> {
        Box::pin(async { Err(Fault::unusable("no files")) })
    });
    Work {
        job_id: JobId::new("a"),
        attempt_id: "a-1".into(),
        whose: "somebody".into(),
        long: false,
        reserved: atelier_fairness::reservation::Reservation::default(),
        operation: "vidgen_partner.generations".into(),
        request: serde_json::Map::new(),
        brief: Brief::new(Task::Animate),
        sources: Vec::new(),
        hints: Vec::new(),
        mask: None,
        video: None,
        parent: None,
        cited: Vec::new(),
        read,
        progress: ProgressTracker::default(),
        cancelled: CancellationToken::new(),
        hook_url: None,
    }
}

async fn polled(worker: &Arc<dyn Backend>) -> Result<WorkOutput, (bool, Fault)> {
    match worker.poll(&work(), &json!({"video": "v"})).await {
        Ok(PollOutcome::Done(made)) => Ok(made),
        Ok(PollOutcome::Failed(fault)) => Err((true, fault)),
        Ok(PollOutcome::Running(_) | PollOutcome::Step(_)) => panic!("it is completed"),
        Err(fault) => Err((false, fault)),
    }
}

/// A server that has a completed video of so many bytes.
fn studio(size: usize) -> Server {
    Server::allowed(move |mut stream| {
        let head = read_request(&mut stream);
        let body: Vec<u8> = if head.contains("/content") {
            [&b"\0\0\0\x20ftypisom"[..], &vec![7; size - 12]].concat()
        } else {
            json!({"id": "v", "status": "completed"}).to_string().into()
        };
        let _ = stream.write_all(&answer("200 OK", "connection: close\r\n", &body));
    })
}

/// A call that costs never meets a connection that is about to close: it has one of its own, unless the vendor says that it
/// keeps them, and then only soon after another call.
#[tokio::test]
async fn what_costs_shares_a_connection_only_where_the_vendor_says_so() {
    let time = StillTime::begin();
    for (line, expected) in [("", 4), ("connection: keep-alive\r\n", 3)] {
        let server = Server::allowed(move |mut stream| {
            while !read_request(&mut stream).is_empty() {
                let _ = stream.write_all(&answer("200 OK", line, b"{}"));
            }
        });
        let outbound = outbound(limits());
        let http = outbound.vendor(&server.url("/"), true).expect("an address");
        let submit = async || {
            let call = VendorRequest::post_json("pictures", &json!({}));
            http.submit(call).await.expect("an answer");
        };
        // The first is not known to be kept; the second is, and serves the third.
        for _ in 0..3 {
            submit().await;
        }
        time.pass(Duration::from_millis(700)).await;
        submit().await;
        assert_eq!(server.connections(), expected, "{line:?}");
    }
}

#[tokio::test]
async fn files_of_all_worker_accounts_share_one_memory_and_give_it_back() {
    let client = outbound(limits());
    let server = studio(4 * MIB);
    let workers = [(); 3].map(|()| worker(&client, &server.url("/"), true));
    let first = polled(&workers[0]).await.expect("a video");
    assert_eq!(first.files[0].bytes.len(), 4 * MIB);
    let (ended, fault) = polled(&workers[1]).await.expect_err("no room");
    assert!(!ended, "it is asked for again: {fault:?}");
    assert_eq!(
        fault.class,
        Class::Service,
        "no worker is to blame: {fault:?}"
    );
    let small = studio(1000);
    polled(&worker(&client, &small.url("/"), true))
        .await
        .expect("what is small never waits");
    // A part of it is enough to keep the whole in memory.
    let part = first.files[0].bytes.slice(..10);
    drop(first);
    assert!(polled(&workers[1]).await.is_err());
    drop(part);
    polled(&workers[2]).await.expect("there is room again");
}

#[tokio::test]
async fn strangers_have_a_memory_of_their_own_and_smaller_files() {
    let client = outbound(limits());
    let server = studio(MIB);
    let stranger = worker(&client, &server.url("/"), false);
    let mut kept = Vec::new();
    for _ in 0..3 {
        kept.push(polled(&stranger).await.expect("a video"));
    }
    let (ended, fault) = polled(&stranger).await.expect_err("no room");
    assert_eq!((ended, fault.class), (false, Class::Service));
    polled(&worker(&client, &server.url("/"), true))
        .await
        .expect("operators' back ends are not touched");
    drop(kept);
    let large = studio(MIB + 1);
    let (ended, fault) = polled(&worker(&client, &large.url("/"), false))
        .await
        .expect_err("too large");
    assert_eq!((ended, fault.class), (true, Class::Gone), "{fault:?}");
    polled(&worker(&client, &large.url("/"), true))
        .await
        .expect("an operator's back end may");
}

#[tokio::test]
async fn a_server_that_drips_its_answer_does_not_hold_a_place() {
    let client = outbound(Limits {
        stall: Duration::from_millis(500),
        ..limits()
    });
    for dripped in ["/content", "/videos/v "] {
        let server = Server::allowed(move |mut stream| {
            let head = read_request(&mut stream);
            if !head.contains(dripped) {
                let body = json!({"id": "v", "status": "completed"}).to_string();
                let _ = stream.write_all(&answer("200 OK", "", body.as_bytes()));
                return;
            }
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 900000\r\n\r\n");
            for _ in 0..1200 {
                if stream.write_all(b"z").is_err() {
                    return;
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        let began = Stopwatch::start();
        let (ended, fault) = polled(&worker(&client, &server.url("/"), true))
            .await
            .expect_err("too slow");
        assert_eq!((ended, fault.class), (false, Class::Retry), "{fault:?}");
        let took = began.elapsed();
        assert!(took < Duration::from_secs(20), "{dripped} took {took:?}");
    }
}

/// A caller who registers addresses learns nothing about the network behind the service.
#[tokio::test]
async fn a_stranger_cannot_tell_a_forbidden_address_from_a_name_that_is_not_there() {
    let (resolver, _) = names(&[("inner.atelier-test.org", &[&["10.1.2.3"]])]);
    let client = outbound(limits())
        .with_resolver(resolver)
        .expect("a client");
    let mut details = Vec::new();
    for name in ["inner.atelier-test.org", "nothing.atelier-test.org"] {
        let stranger = worker(&client, &format!("http://{name}/"), false);
        let probed = stranger.probe().await.expect_err("not reached");
        let (ended, polled) = polled(&stranger).await.expect_err("not reached");
        assert!(!ended);
        details.push((probed.detail, probed.class, polled.detail, polled.class));
    }
    assert_eq!(details[0], details[1]);

    let server = Server::allowed(|mut stream| {
        let head = read_request(&mut stream);
        let name = if head.contains("one") {
            "inner"
        } else {
            "nothing"
        };
        let url = format!("http://{name}.atelier-test.org/f");
        let body = json!({"data": [{"url": url}]}).to_string();
        let _ = stream.write_all(&answer("200 OK", "", body.as_bytes()));
    });
    let results = ["one/", "two/"].map(|path| {
        let vendor = atelier_backends::vendor_named("openai").expect("openai");
        let http = client.vendor(&server.url(&format!("/{path}")), false);
        let setup = Setup {
            http: http.expect("an address"),
            credential: Secret::default(),
            settings: json!({"image_model": "m"}),
        };
        vendor.connect(setup).expect("good settings")
    });
    let mut details = Vec::new();
    for worker in results {
        let mut work = work();
        work.operation = "imgmodel.chat".into();
        work.brief = Brief::new(Task::Draw);
        let fault = worker.start(work).await.expect_err("not reached");
        details.push((fault.detail, fault.class, fault.taken));
    }
    assert_eq!(details[0], details[1]);
}

/// A few megabytes of JSON can become a hundred once they are understood: a stranger's do not add up.
#[tokio::test]
async fn words_of_strangers_are_weighed_by_what_they_become() {
    let client = outbound(limits());
    let many: Value = vec![0; 500_000].into();
    let body = json!({"id": "v", "status": "queued", "x": many}).to_string();
    let server = Server::saying(answer("200 OK", "", body.as_bytes()));
    let trusted = worker(&client, &server.url("/"), true);
    let fine = trusted.poll(&work(), &json!({"video": "v"})).await;
    assert!(matches!(fine, Ok(PollOutcome::Running(_))));
    let stranger = worker(&client, &server.url("/"), false);
    let fault = stranger.poll(&work(), &json!({"video": "v"})).await;
    assert!(fault.is_err());
}
