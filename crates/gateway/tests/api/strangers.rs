//! Whoever has no key cannot keep those out who have one: neither by answers that are not taken, nor by bodies that do not
//! come, nor by many addresses of one network, nor by sessions that are made up.

use std::net::SocketAddr;
use std::process::Command;
use std::time::Duration;

use atelier_engine::key;
use bytes::Bytes;
use h2::client::{ResponseFuture, SendRequest};
use h2::{Ping, PingPong};
use hyper::http;
use reqwest::Method;
use tokio::net::TcpSocket;
use tokio::time::{Instant, sleep, timeout};

use crate::backends::finished;
use crate::gateway::{Gateway, Options, send};
use crate::stopwatch::Stopwatch;

needs!(postgres: sessions_at_the_page_of_health_are_looked_up_in_the_places_of_their_network);

/// Longer than an answer takes, however busy the machine is.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// One stranger's connection, and what it has asked for.
pub(crate) struct Stranger {
    client: Option<SendRequest<Bytes>>,
    pings: PingPong,
    asked: Vec<(ResponseFuture, h2::SendStream<Bytes>)>,
}

impl Stranger {
    /// Speaks HTTP/2 from 127.0.0.N with windows of so many bytes.
    #[expect(
        clippy::disallowed_methods,
        reason = "the connection ends with the test"
    )]
    pub(crate) async fn at(gateway: &Gateway, last: u8, window: u32) -> Self {
        let socket = TcpSocket::new_v4().expect("a socket");
        let own = SocketAddr::from(([127, 0, 0, last], 0));
        socket.bind(own).expect("an address of this machine");
        let address = gateway.addresses[0].parse().expect("an address");
        let stream = socket.connect(address).await.expect("a connection");
        let mut builder = h2::client::Builder::new();
        builder
            .initial_window_size(window)
            .initial_connection_window_size(65_535);
        let (client, mut connection) = builder.handshake::<_, Bytes>(stream).await.expect("HTTP/2");
        let pings = connection.ping_pong().expect("asked for once");
        tokio::task::spawn(async move {
            let _ = connection.await;
        });
        Self {
            client: Some(client),
            pings,
            asked: Vec::new(),
        }
    }

    /// Asks for something; a body that is not `complete` never comes.
    pub(crate) async fn ask(&mut self, request: http::Request<()>, complete: bool) {
        let client = self.client.take().expect("a client");
        let mut client = client.ready().await.expect("ready");
        let asked = client.send_request(request, complete);
        self.asked.push(asked.expect("a stream"));
        self.client = Some(client);
    }

    /// Waits until the service has read all that was asked for so far.
    async fn heard(&mut self) {
        let ping = self.pings.ping(Ping::opaque());
        let pong = timeout(PATIENCE, ping).await.expect("a pong in time");
        pong.expect("a pong");
    }

    /// The statuses of what is answered by then.
    async fn answered(self, by: Instant) -> Vec<u16> {
        let mut all = Vec::new();
        for (answer, _body) in self.asked {
            if let Ok(Ok(answer)) = tokio::time::timeout_at(by, answer).await {
                all.push(answer.status().as_u16());
            }
        }
        all
    }
}

pub(crate) fn head(gateway: &Gateway, method: &str, path: &str) -> http::request::Builder {
    http::Request::builder()
        .method(method)
        .uri(format!("{}{path}", gateway.base_url))
}

/// Everybody who is known is answered, on connections of their own.
pub(crate) async fn assert_open(gateway: &Gateway, key: &str) {
    for _ in 0..3 {
        let begin = Stopwatch::start();
        let client = crate::gateway::client();
        let url = |path: &str| format!("{}{path}", gateway.base_url);
        let info = client
            .get(url("/artgen/v1/info"))
            .header("SVC-API-KEY", key);
        let answer = send(info).await;
        assert_eq!(answer.status, 200, "a caller: {}", answer.json);
        let stats = client
            .get(url("/admin/v1/stats"))
            .bearer_auth(crate::gateway::ADMIN_TOKEN);
        let answer = send(stats).await;
        assert_eq!(answer.status, 200, "an operator: {}", answer.json);
        assert!(begin.elapsed() < PATIENCE, "{:?}", begin.elapsed());
    }
}

#[tokio::test]
async fn answers_that_strangers_do_not_take_hold_no_place() {
    let gateway = Options::default()
        .set("LIMITS_REQUESTS", "512")
        .spawn()
        .await;
    let caller = gateway.account(10).await;
    let mut crowd = Vec::new();
    for last in 2..=10 {
        let mut stranger = Stranger::at(&gateway, last, 0).await;
        for _ in 0..100 {
            let document = head(&gateway, "GET", "/openapi.json").body(());
            stranger.ask(document.expect("a request"), true).await;
        }
        crowd.push(stranger);
    }
    for stranger in &mut crowd {
        stranger.heard().await;
    }
    assert_open(&gateway, &caller.key).await;
    // Nor from other strangers.
    let page = send(gateway.request(Method::GET, "/console/")).await;
    assert_eq!(page.status, 200, "{}", page.json);
    drop(crowd);
}

#[tokio::test]
async fn bodies_that_strangers_do_not_send_keep_nobody_out_who_is_known() {
    let gateway = Options::default()
        .set("LIMITS_REQUESTS", "512")
        .set("LIMITS_BODY_MEMORY_MIB", "64")
        .spawn()
        .await;
    let caller = gateway.account(10).await;
    for path in ["/console/session", "/hooks/v1/some/word"] {
        let mut crowd = Vec::new();
        for last in 2..=11 {
            let mut stranger = Stranger::at(&gateway, last, 65_535).await;
            for _ in 0..100 {
                let post = head(&gateway, "POST", path)
                    .header("content-type", "application/json")
                    .header("content-length", "262144");
                stranger.ask(post.body(()).expect("a request"), false).await;
            }
            crowd.push(stranger);
        }
        for stranger in &mut crowd {
            stranger.heard().await;
        }
        assert_open(&gateway, &caller.key).await;
        let body = serde_json::json!({ "operation": "artgen.imagine", "request": { "prompt": "x".repeat(20_000) } });
        let quote = gateway.post(&caller.key, "/account/v1/quote", body).await;
        assert_eq!(quote.status, 200, "{path}: {}", quote.json);
        drop(crowd);
    }
}

#[tokio::test]
async fn the_addresses_of_one_network_are_one_stranger() {
    let gateway = Options::default()
        .set("LIMITS_REQUESTS", "64")
        .set("LIMITS_BODY_GRACE_S", "60")
        .set("PROXIES_TRUSTED", "127.0.0.0/8")
        .spawn()
        .await;
    let unfinished = |from: String| {
        head(&gateway, "POST", "/console/session")
            .header("content-type", "application/json")
            .header("x-forwarded-for", from)
            .body(())
            .expect("a request")
    };
    let mut crowd = Stranger::at(&gateway, 1, 65_535).await;
    for last in 1..=9 {
        for _ in 0..2 {
            let from = format!("2001:db8::{last}");
            crowd.ask(unfinished(from), false).await;
        }
    }
    // Addresses of IPv4 that are written as those of IPv6 are of IPv4.
    for last in 1..=9 {
        let from = format!("::ffff:192.0.2.{last}");
        crowd.ask(unfinished(from), false).await;
    }
    let answered = crowd
        .answered(Instant::now() + Duration::from_secs(6))
        .await;
    assert_eq!(answered, vec![429; 10], "a network has 8 places of 64");
}

#[tokio::test]
async fn pages_that_need_no_key_have_a_rate() {
    let gateway = Options::default()
        .set("LIMITS_OPEN_PER_SECOND", "1")
        .set("LIMITS_OPEN_BURST", "20")
        .spawn()
        .await;
    let caller = gateway.account(10).await;
    let begun = Instant::now();
    let mut crowd = Stranger::at(&gateway, 2, 65_535).await;
    for _ in 0..10 {
        for path in ["/", "/docs", "/console/nowhere.js", "/console/session"] {
            let page = head(&gateway, "GET", path).body(());
            crowd.ask(page.expect("a request"), true).await;
        }
    }
    let answered = crowd.answered(Instant::now() + PATIENCE).await;
    assert_eq!(answered.len(), 40, "every one is answered");
    let refused = answered.iter().filter(|status| **status == 429).count();
    // Each second allows one more.
    let more = 1 + begun.elapsed().as_secs() as usize;
    assert!(
        (20_usize.saturating_sub(more)..=20).contains(&refused),
        "{refused} of 40 were refused"
    );
    // Health, other networks, and whoever is known.
    for path in ["/healthz", "/readyz", "/docs"] {
        let answer = send(gateway.request(Method::GET, path)).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.json);
    }
    for _ in 0..30 {
        let health = send(gateway.request(Method::GET, "/healthz")).await;
        assert_eq!(health.status, 200);
        let info = gateway.get(&caller.key, "/artgen/v1/info").await;
        assert_eq!(info.status, 200, "{}", info.json);
    }
}

/// The promise: whoever asks for files without taking their bytes has the rate of pages that need no key. Who takes them has a
/// higher one, because small files weigh nothing where bytes are paced.
#[tokio::test]
async fn files_that_are_asked_for_without_their_bytes_have_a_rate() {
    let gateway = Options::default()
        .set("LIMITS_OPEN_PER_SECOND", "1")
        .set("LIMITS_OPEN_BURST", "20")
        .spawn()
        .await;
    let caller = gateway.account(100).await;
    let id = gateway.imagine(&caller.key, "a lake").await;
    let job = finished(&gateway, &caller.key, &id).await;
    let url = job["files"][0]["url"].as_str().expect("an address");
    let (_, file) = url.split_once("/assets/").expect("a signed address");
    let (whole, small) = (format!("/assets/{file}"), format!("/thumbs/{file}"));
    let mut crowd = Stranger::at(&gateway, 2, 65_535).await;
    for _ in 0..10 {
        let heads = [
            head(&gateway, "HEAD", &whole),
            head(&gateway, "HEAD", &small),
            head(&gateway, "GET", &whole).header("if-none-match", "*"),
            head(&gateway, "GET", &whole).header("range", "bytes=999999999-"),
        ];
        for one in heads {
            crowd.ask(one.body(()).expect("a request"), true).await;
        }
    }
    let answered = crowd.answered(Instant::now() + PATIENCE).await;
    assert_eq!(answered.len(), 40, "every one is answered");
    let refused = answered.iter().filter(|status| **status == 429).count();
    assert!((10..=20).contains(&refused), "{refused} of 40 were refused");
    let mut taker = Stranger::at(&gateway, 2, 65_535).await;
    for _ in 0..30 {
        let picture = head(&gateway, "GET", &small).body(());
        taker.ask(picture.expect("a request"), true).await;
    }
    let answered = taker.answered(Instant::now() + PATIENCE).await;
    assert_eq!(answered, vec![200; 30]);
    // Fifty at once, and five every two seconds.
    let mut taker = Stranger::at(&gateway, 2, 65_535).await;
    for _ in 0..60 {
        let picture = head(&gateway, "GET", &small).body(());
        taker.ask(picture.expect("a request"), true).await;
    }
    let answered = taker.answered(Instant::now() + PATIENCE).await;
    assert_eq!(answered.len(), 60, "every one is answered");
    let refused = answered.iter().filter(|status| **status == 429).count();
    assert!((10..=40).contains(&refused), "{refused} of 60 were refused");
}

/// The promise: whoever asks whether the service is well under sessions that are made up is told, and each of them counts as a
/// wrong key of its network. Others wait for none of it.
#[tokio::test]
async fn made_up_sessions_at_the_page_of_health_are_wrong_keys() {
    let gateway = Options::default()
        .set("NAMES", "media.example.com")
        .set("LIMITS_WRONG_KEYS_PER_MINUTE", "5")
        .spawn()
        .await;
    let caller = gateway.account(10).await;
    let mut crowd = Vec::new();
    for _ in 0..5 {
        let mut stranger = Stranger::at(&gateway, 2, 65_535).await;
        for _ in 0..100 {
            let session = format!("atelier_session={}", key::generate_session());
            let ready = head(&gateway, "GET", "/readyz").header("cookie", session);
            stranger.ask(ready.body(()).expect("a request"), true).await;
        }
        crowd.push(stranger);
    }
    let mut times = Vec::new();
    for _ in 0..9 {
        let asked = Stopwatch::start();
        let info = gateway.get(&caller.key, "/artgen/v1/info").await;
        assert_eq!(info.status, 200, "{}", info.json);
        times.push(asked.elapsed());
    }
    // A machine that stands still delays one or two of them.
    times.sort_unstable();
    assert!(times[4] < Duration::from_millis(250), "{times:?}");
    let by = Instant::now() + PATIENCE;
    for stranger in crowd {
        assert_eq!(stranger.answered(by).await, vec![200; 100]);
    }
    // From the same network a key is one wrong one too many, from another it is the first.
    let made_up = key::generate();
    let mut stranger = Stranger::at(&gateway, 2, 65_535).await;
    let guess = head(&gateway, "GET", "/artgen/v1/info").header("svc-api-key", &made_up);
    stranger.ask(guess.body(()).expect("a request"), true).await;
    let answered = stranger.answered(Instant::now() + PATIENCE).await;
    assert_eq!(answered, [429]);
    let guess = gateway.get(&made_up, "/artgen/v1/info").await;
    guess.assert_refused(401, "unauthorized");
}

/// The promise: of those that ask under a session whether the service is well, no more are looked up at once than their network has
/// places for; the others are told without. The store is held up for it, which needs a server.
async fn sessions_at_the_page_of_health_are_looked_up_in_the_places_of_their_network() {
    let gateway = Options::default()
        .set("NAMES", "media.example.com")
        .set("LIMITS_REQUESTS", "64")
        .set("LIMITS_WRONG_KEYS_PER_MINUTE", "0")
        .spawn()
        .await;
    let url = gateway.database();
    let hold =
        "BEGIN; LOCK TABLE console_session IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(10); COMMIT";
    let psql = |text: &'static str| {
        let url = url.clone();
        tokio::task::spawn_blocking(move || {
            Command::new("psql")
                .args([url.as_str(), "-qAtc", text])
                .output()
        })
    };
    let held = psql(hold);
    let granted = "SELECT count(*) FROM pg_locks WHERE relation = 'console_session'::regclass \
         AND mode = 'AccessExclusiveLock' AND granted";
    loop {
        let looked = psql(granted).await.expect("no panic").expect("psql runs");
        if looked.stdout.starts_with(b"1") {
            break;
        }
        sleep(Duration::from_millis(20)).await;
    }
    let mut crowd = Stranger::at(&gateway, 2, 65_535).await;
    for _ in 0..40 {
        let session = format!("atelier_session={}", key::generate_session());
        let ready = head(&gateway, "GET", "/readyz").header("cookie", session);
        crowd.ask(ready.body(()).expect("a request"), true).await;
    }
    let by = Instant::now() + Duration::from_secs(5);
    assert_eq!(crowd.answered(by).await, vec![200; 32], "8 of 64 places");
    let held = held.await.expect("no panic").expect("psql runs");
    assert!(held.status.success(), "{held:?}");
}

#[tokio::test]
async fn an_answer_that_nobody_takes_is_given_up() {
    let gateway = Options::default()
        .set("LIMITS_WRITE_TIMEOUT_S", "1")
        .spawn()
        .await;
    let mut stranger = Stranger::at(&gateway, 2, 0).await;
    let document = head(&gateway, "GET", "/openapi.json").body(());
    stranger.ask(document.expect("a request"), true).await;
    let (answer, _) = stranger.asked.remove(0);
    let answer = answer.await.expect("an answer");
    let mut body = answer.into_body();
    let ended = timeout(PATIENCE, body.data()).await;
    let ended = ended.expect("it is not left open for ever");
    assert!(!matches!(ended, Some(Ok(_))), "{ended:?}");
}

#[tokio::test]
async fn answers_that_one_account_does_not_take_leave_memory_to_the_others() {
    let gateway = Options::default()
        .set("LIMITS_ANSWER_MEMORY_MIB", "2")
        .set("LIMITS_WRITE_TIMEOUT_S", "60")
        .set("STUDIO_SLOTS", "1")
        .spawn()
        .await;
    let (greedy, other) = (gateway.account(100).await, gateway.account(100).await);
    let long = format!("{} [[stall]]", "lake ".repeat(6_000));
    let mut paths = Vec::new();
    for account in [&greedy, &other] {
        let id = gateway.imagine(&account.key, &long).await;
        paths.push(format!("/jobs/v1/{id}"));
    }
    let mut crowd = Vec::new();
    for _ in 0..2 {
        let mut untaken = Stranger::at(&gateway, 2, 0).await;
        for _ in 0..60 {
            let shown = head(&gateway, "GET", &paths[0]).header("svc-api-key", &greedy.key);
            untaken.ask(shown.body(()).expect("a request"), true).await;
        }
        crowd.push(untaken);
    }
    // Its share is full when some of its answers wait for it.
    let full = async {
        loop {
            let memory = gateway.share("answer_memory").await;
            let taken = memory["taken"].as_u64().expect("bytes");
            assert!(taken <= 262_144, "{taken} bytes of 256 KiB");
            if memory["waiting"].as_u64() > Some(0) {
                break;
            }
            sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(PATIENCE, full).await.expect("its share is taken");
    let shown = gateway.get(&other.key, &paths[1]).await;
    assert_eq!(shown.status, 200, "{}", shown.json);
    let (mut given, mut refused) = (0, 0);
    let by = Instant::now() + Duration::from_secs(8);
    for untaken in crowd {
        for status in untaken.answered(by).await {
            match status {
                200 => given += 1,
                429 => refused += 1,
                other => panic!("{other}"),
            }
        }
    }
    // Eight fill the share; eight wait for it, and have it when the first are let go here, as have a few that came only then.
    assert!(
        given <= 30 && refused >= 90,
        "{given} given, {refused} refused"
    );
}
