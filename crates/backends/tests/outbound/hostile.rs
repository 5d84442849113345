//! Hostile addresses, names and redirects against the real client: the outcome is the expected one, and the canaries
//! on the machine's own addresses never see a connection.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::servers::{Server, answer, ip, names, png, read_request};
use crate::stopwatch::Stopwatch;
use atelier_backends::guard::{Policy, Purpose};
use atelier_backends::http::{Limits, OutboundClient, OutboundError};
use bytes::Bytes;

/// Where nobody may go, in many spellings; `PORT` becomes the canaries' port.
const HOSTILE: &[&str] = &[
    "http://127.0.0.1:PORT/",
    "http://127.255.255.254:PORT/",
    "http://127.0.0.53:PORT/",
    "http://127.1:PORT/",
    "http://127.0.1:PORT/",
    "http://2130706433:PORT/",
    "http://0x7f000001:PORT/",
    "http://0x7f.0x0.0x0.0x1:PORT/",
    "http://0x7f.1:PORT/",
    "http://0177.0.0.1:PORT/",
    "http://①②⑦.⓪.⓪.①:PORT/",
    "http://127。0。0。1:PORT/",
    "http://127.0.0.1.:PORT/",
    "http://0.0.0.0:PORT/",
    "http://0:PORT/",
    "http://localhost:PORT/",
    "http://LOCALHOST:PORT/",
    "http://localhost.:PORT/",
    "http://lo\u{ad}calhost:PORT/",
    "http://[::1]:PORT/",
    "http://[::]:PORT/",
    "http://[0:0:0:0:0:0:0:1]:PORT/",
    "http://[::127.0.0.1]:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://[::ffff:7f00:1]:PORT/",
    "http://[64:ff9b::7f00:1]:PORT/",
    "http://[2002:7f00:1::]:PORT/",
    "http://10.0.0.1:PORT/",
    "http://169.254.169.254:PORT/latest/meta-data/",
    "http://168.63.129.16:PORT/",
    "http://[fd00:ec2::254]:PORT/",
    "http://intranet:PORT/",
    "http://metadata.google.internal:PORT/",
    "http://example.org@127.0.0.1:PORT/",
    "http://127.0.0.1:PORT@example.org/",
    "http://@127.0.0.1:PORT/",
    "http://example.org\\@127.0.0.1:PORT/",
    "http:\\\\127.0.0.1:PORT\\",
    "http:///127.0.0.1:PORT/",
    "http:127.0.0.1:PORT/",
    " http://127.0.0.1:PORT/",
    "http://127.0.0.1\t:PORT/",
    "http://127.0.0.1%00.example.org:PORT/",
    "gopher://127.0.0.1:PORT/_PING",
    "ftp://127.0.0.1:PORT/",
    "file:///etc/passwd",
    "http+unix://%2fvar%2frun%2fdocker.sock/",
    "http://8.8.8.8:0/",
    "http://8.8.8.8:22/",
];

/// Canaries on one port of several addresses, and a receiver that may be reached on the same port of 127.0.0.2.
struct Ground {
    canaries: Vec<Server>,
    sink: Server,
    port: u16,
}

impl Ground {
    fn new(receive: impl Fn(std::net::TcpStream) + Send + Sync + 'static) -> Self {
        let sink = Server::allowed(receive);
        let port = sink.address.port();
        let canaries = ["127.0.0.1", "127.0.0.53", "127.255.255.254", "::1"]
            .into_iter()
            .filter_map(|address| Server::start((ip(address), port), drop))
            .collect::<Vec<_>>();
        assert!(canaries.len() >= 2, "too few canaries could be set up");
        Self {
            canaries,
            sink,
            port,
        }
    }

    fn taking_everything() -> Self {
        Self::new(|mut stream| {
            read_request(&mut stream);
            let _ = std::io::Write::write_all(&mut stream, &answer("200 OK", "", &png(8, 8)));
        })
    }

    /// The port itself is allowed, so that only the rule for addresses stands before the canaries.
    fn client(&self) -> OutboundClient {
        let allow = [format!("127.0.0.2/32:{}", self.port)];
        let policy = Policy::from_settings(&[self.port], Some(&allow), true, &[], &[]);
        let limits = Limits {
            lookup: Duration::from_millis(500),
            image: Duration::from_secs(5),
            ..Limits::default()
        };
        OutboundClient::new(policy.expect("a policy"), limits).expect("a client")
    }

    fn at(&self, host: &str) -> String {
        format!("http://{host}:{}/", self.port)
    }

    fn assert_untouched(&self) {
        for canary in &self.canaries {
            assert_eq!(canary.connections(), 0, "{} was reached", canary.address);
        }
    }
}

async fn troubles(client: &OutboundClient, url: &str) -> (bool, OutboundError, OutboundError) {
    let callback = client
        .post_callback(url, &[], Bytes::from_static(b"{}"))
        .await;
    assert_eq!(callback.status, None, "{url}");
    assert_eq!(callback.answer_start, "", "{url}");
    let image = client.fetch_image(url).await.expect_err(url);
    let file = client.fetch_file(url, 1000).await.err().expect(url);
    (callback.blocked, image.trouble, file.trouble)
}

#[tokio::test]
async fn no_hostile_address_is_ever_connected_to() {
    let ground = Ground::taking_everything();
    let client = ground.client();
    for row in HOSTILE {
        let url = row.replace("PORT", &ground.port.to_string());
        let refused = client.policy().check_url(&url, Purpose::Callback);
        assert!(refused.is_err(), "{url} was let through at submit");
        let outcome = troubles(&client, &url).await;
        assert_eq!(
            outcome,
            (true, OutboundError::Blocked, OutboundError::Blocked),
            "{url}"
        );
    }
    ground.assert_untouched();
    assert_eq!(ground.sink.connections(), 0);
    let reached = client
        .post_callback(&ground.at("127.0.0.2"), &[], Bytes::new())
        .await;
    assert!(reached.delivered(), "the ground itself works: {reached:?}");
}

#[tokio::test]
async fn a_name_that_leads_inside_is_accepted_at_submit_and_blocked_at_connect() {
    let ground = Ground::taking_everything();
    let rows: &[(&str, &[&[&str]])] = &[
        ("inside.org", &[&["127.0.0.1"]]),
        ("six.org", &[&["::1"]]),
        ("public-and-six.org", &[&["8.8.8.8", "::1"]]),
        ("mixed.org", &[&["8.8.8.8", "10.0.0.1"]]),
        ("mixed-back.org", &[&["127.0.0.53", "8.8.8.8"]]),
        ("good-and-bad.org", &[&["127.0.0.2", "127.0.0.1"]]),
        ("mapped.org", &[&["::ffff:127.0.0.1"]]),
        ("metadata.org", &[&["169.254.169.254"]]),
        ("127.0.0.1.nip.org", &[&["127.0.0.1"]]),
        ("nowhere.org", &[&["0.0.0.0"]]),
    ];
    let client = ground
        .client()
        .with_resolver(names(rows).0)
        .expect("a client");
    for (name, _) in rows {
        let url = ground.at(name);
        let accepted = client.policy().check_url(&url, Purpose::Callback);
        assert!(accepted.is_ok(), "{url} was refused at submit");
        let outcome = troubles(&client, &url).await;
        assert_eq!(
            outcome,
            (true, OutboundError::Blocked, OutboundError::Blocked),
            "{url}"
        );
    }
    ground.assert_untouched();
    assert_eq!(
        ground.sink.connections(),
        0,
        "a good answer among bad ones was used"
    );
}

#[tokio::test]
async fn a_name_that_changes_its_mind_gains_nothing() {
    let ground = Ground::taking_everything();
    let turns: Vec<&[&str]> = (0..20)
        .map(|turn| {
            if turn % 2 == 0 {
                &["127.0.0.2"][..]
            } else {
                &["127.0.0.1"][..]
            }
        })
        .collect();
    let (resolver, lookups) = names(&[("rebind.org", &turns)]);
    let client = ground.client().with_resolver(resolver).expect("a client");
    for turn in 0..20 {
        let outcome = client
            .post_callback(&ground.at("rebind.org"), &[], Bytes::from_static(b"{}"))
            .await;
        assert_eq!(outcome.delivered(), turn % 2 == 0, "{outcome:?}");
        assert_eq!(outcome.blocked, turn % 2 == 1, "{outcome:?}");
    }
    ground.assert_untouched();
    assert_eq!(ground.sink.connections(), 10);
    assert_eq!(
        lookups.load(Ordering::SeqCst),
        20,
        "one look-up for each connection"
    );
}

#[tokio::test]
async fn odd_answers_of_the_name_system_fail_in_time() {
    let ground = Ground::taking_everything();
    let many = vec!["127.0.0.2"; 17];
    let lots = vec!["127.0.0.2"; 500];
    let rows: &[(&str, &[&[&str]])] = &[
        ("many.org", &[&many]),
        ("lots.org", &[&lots]),
        ("none.org", &[&[]]),
    ];
    let client = ground
        .client()
        .with_resolver(names(rows).0)
        .expect("a client");
    for name in ["many.org", "lots.org", "none.org", "nxdomain.org"] {
        let outcome = troubles(&client, &ground.at(name)).await;
        assert_eq!(
            outcome,
            (false, OutboundError::Unresolved, OutboundError::Unresolved),
            "{name}"
        );
    }
    let silent = atelier_backends::http::Resolver::scripted(std::sync::Arc::new(|_| {
        Box::pin(std::future::pending())
    }));
    let client = client.with_resolver(silent).expect("a client");
    let started = Stopwatch::start();
    let outcome = client
        .post_callback(&ground.at("slow.org"), &[], Bytes::new())
        .await;
    assert!(outcome.error.is_some() && !outcome.blocked);
    assert!(
        started.elapsed() < Duration::from_secs(8),
        "{:?}",
        started.elapsed()
    );
    assert_eq!(ground.sink.connections(), 0);
}

/// A receiver that redirects to what the path says, percent-decoded.
fn redirecting(status: &'static str) -> Ground {
    Ground::new(move |mut stream| {
        let head = read_request(&mut stream);
        let path = head.split(' ').nth(1).unwrap_or_default();
        let reply = match path.split_once("?to=") {
            Some((_, target)) => {
                let query = format!("to={}", target.replace('+', "%2B"));
                let to = url::form_urlencoded::parse(query.as_bytes())
                    .next()
                    .map(|(_, value)| value.into_owned())
                    .unwrap_or_default();
                answer(status, &format!("location: {to}\r\n"), b"")
            }
            None => answer("200 OK", "", &png(30, 20)),
        };
        let _ = std::io::Write::write_all(&mut stream, &reply);
    })
}

fn towards(ground: &Ground, target: &str) -> String {
    let encoded: String = url::form_urlencoded::byte_serialize(target.as_bytes()).collect();
    format!(
        "{}?to={}",
        ground.at("127.0.0.2"),
        encoded.replace('+', "%20")
    )
}

#[tokio::test]
async fn a_redirect_is_judged_like_a_submitted_address() {
    let ground = redirecting("302 Found");
    let client = ground.client();
    let port = ground.port.to_string();
    // Without slashes the target is a path on the same host, so it leads nowhere else.
    let ascii = HOSTILE
        .iter()
        .filter(|row| row.is_ascii() && !row.contains('\t') && !row.starts_with("http:1"));
    let further = [
        "//127.0.0.1:PORT/",
        "//169.254.169.254/",
        "\\\\127.0.0.1:PORT\\",
        "/\\127.0.0.1:PORT/",
    ];
    for row in ascii.chain(&further) {
        let target = row.trim().replace("PORT", &port);
        let fault = client.fetch_image(&towards(&ground, &target)).await;
        assert!(fault.is_err(), "{target} was followed");
        let fault = client.fetch_file(&towards(&ground, &target), 1000).await;
        assert!(fault.is_err(), "{target} was followed");
    }
    ground.assert_untouched();
}

#[tokio::test]
async fn three_redirects_are_followed_and_a_fourth_is_not() {
    let ground = redirecting("307 Temporary Redirect");
    let client = ground.client();
    let mut url = "/picture.png".to_owned();
    for hops in 1..=4 {
        url = towards(&ground, &url);
        let fetched = client.fetch_image(&url).await;
        match fetched {
            Ok(image) if hops <= 3 => assert_eq!((image.width, image.height), (30, 20)),
            Err(fault) if hops == 4 => assert_eq!(fault.trouble, OutboundError::Redirect),
            other => panic!("{hops} redirects: {other:?}"),
        }
    }
}

#[tokio::test]
async fn redirects_without_end_or_target_fail() {
    let here = Ground::new(|mut stream| {
        read_request(&mut stream);
        let reply = answer("302 Found", "location: /again\r\n", b"");
        let _ = std::io::Write::write_all(&mut stream, &reply);
    });
    let fault = here
        .client()
        .fetch_image(&here.at("127.0.0.2"))
        .await
        .expect_err("a loop");
    assert_eq!(fault.trouble, OutboundError::Redirect);
    assert_eq!(here.sink.connections(), 4);
    let lost = Server::saying(answer("302 Found", "", b""));
    let fault = crate::servers::outbound(Limits::default())
        .fetch_image(&lost.url("/"))
        .await;
    assert_eq!(
        fault.expect_err("no target").trouble,
        OutboundError::Redirect
    );
}

#[tokio::test]
async fn a_callback_never_follows_a_redirect() {
    for status in [
        "301 Moved",
        "302 Found",
        "303 See Other",
        "307 Temporary Redirect",
        "308 Permanent Redirect",
    ] {
        let ground = redirecting(status);
        let target = ground.at("127.0.0.1");
        let outcome = ground
            .client()
            .post_callback(&towards(&ground, &target), &[], Bytes::from_static(b"{}"))
            .await;
        assert_eq!(outcome.status, status[..3].parse().ok(), "{outcome:?}");
        assert!(!outcome.delivered());
        ground.assert_untouched();
        assert_eq!(ground.sink.connections(), 1);
    }
}

#[tokio::test]
async fn the_caller_learns_the_same_sentence_whatever_was_behind_the_address() {
    let secret = b"<html>internal build server, root password hunter2</html>";
    let html = Server::saying(answer("200 OK", "content-type: image/png\r\n", secret));
    let missing = Server::saying(answer("404 Not Found", "", secret));
    let broken = Server::saying(answer("500 Internal Server Error", "", secret));
    let garbage = Server::saying(&b"SSH-2.0-OpenSSH_9.2\r\n"[..]);
    let client = crate::servers::outbound(Limits::default());
    let closed = "http://127.0.0.2:1/".to_owned();
    let blocked = "http://127.0.0.1:1/".to_owned();
    let mut texts = std::collections::HashSet::new();
    for url in [
        html.url("/"),
        missing.url("/"),
        broken.url("/"),
        garbage.url("/"),
        closed,
        blocked,
    ] {
        let fault = client.fetch_image(&url).await.expect_err(&url);
        texts.insert(fault.to_string());
    }
    let texts: Vec<String> = texts.into_iter().collect();
    assert_eq!(texts, ["no usable file could be read from this address"]);
}

#[tokio::test]
async fn a_path_keeps_its_encoding_and_adds_no_header() {
    let (send, heads) = std::sync::mpsc::channel();
    let send = std::sync::Mutex::new(send);
    let sink = Server::allowed(move |mut stream| {
        let head = read_request(&mut stream);
        let _ = send.lock().expect("the sender").send(head);
        let _ = std::io::Write::write_all(&mut stream, &answer("204 No Content", "", b""));
    });
    let client = crate::servers::outbound(Limits::default());
    let headers = [("webhook-id", "msg_1".to_owned())];
    let url = sink.url("/%0d%0aX-Injected:1#fragment");
    let outcome = client
        .post_callback(&url, &headers, Bytes::from_static(b"{}"))
        .await;
    assert!(outcome.delivered(), "{outcome:?}");
    let head = heads.recv().expect("a request").to_ascii_lowercase();
    assert!(
        head.starts_with("post /%0d%0ax-injected:1 http/1.1\r\n"),
        "{head}"
    );
    let mut lines: Vec<&str> = head
        .lines()
        .skip(1)
        .map(|line| line.split(':').next().unwrap_or(""))
        .collect();
    lines.sort_unstable();
    let expected = [
        "accept-encoding",
        "content-length",
        "content-type",
        "host",
        "user-agent",
        "webhook-id",
    ];
    assert_eq!(lines, expected);
}

#[tokio::test]
async fn a_header_value_cannot_break_out() {
    let ground = Ground::taking_everything();
    let headers = [("webhook-id", "a\r\nX-Injected: 1".to_owned())];
    let outcome = ground
        .client()
        .post_callback(&ground.at("127.0.0.2"), &headers, Bytes::new())
        .await;
    assert!(outcome.error.is_some());
    assert_eq!(ground.sink.connections(), 0);
}
