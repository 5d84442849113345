//! A database that goes silent without hanging up: whoever submits is answered in time, and what is said is true.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::backends::finished;
use crate::gateway::{Account, Gateway, Options};
use crate::stopwatch::Stopwatch;

needs!(
    postgres:
    a_submit_is_answered_within_fifteen_seconds_while_the_database_is_silent,
    a_batch_is_answered_within_fifteen_seconds_and_remembers_no_silence,
    large_submits_are_answered_within_fifteen_seconds_while_the_database_is_silent,
);

/// Whoever submits is answered within this time, whatever is silent.
const ANSWERED: Duration = Duration::from_secs(15);
/// How often a connection looks whether it is to be silent.
const LOOK: Duration = Duration::from_millis(20);

/// Stands before a server; connections with a lower number than this carry nothing any more.
struct Proxy {
    address: String,
    silent_below: Arc<AtomicU64>,
    made: Arc<AtomicU64>,
    _tasks: JoinSet<()>,
}

impl Proxy {
    async fn before(server: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let (silent_below, made): (Arc<AtomicU64>, Arc<AtomicU64>) = Default::default();
        let (silent, count) = (Arc::clone(&silent_below), Arc::clone(&made));
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                let number = count.fetch_add(1, Ordering::SeqCst);
                let silent = Arc::clone(&silent);
                let server = TcpStream::connect(server.clone()).await.expect("a server");
                connections.spawn(carry(client, server, number, silent));
            }
        });
        Self {
            address,
            silent_below,
            made,
            _tasks: tasks,
        }
    }

    /// Connections made so far are silent for ever; new ones work.
    fn forget_old(&self) {
        let made = self.made.load(Ordering::SeqCst);
        self.silent_below.store(made, Ordering::SeqCst);
    }

    /// Everything is silent, also what is yet to come.
    fn freeze(&self) {
        self.silent_below.store(u64::MAX, Ordering::SeqCst);
    }
}

/// Carries bytes both ways; holds both ends open while it is to be silent.
async fn carry(mut client: TcpStream, mut server: TcpStream, number: u64, silent: Arc<AtomicU64>) {
    let (mut up, mut down) = (vec![0; 16 << 10], vec![0; 16 << 10]);
    loop {
        if silent.load(Ordering::SeqCst) > number {
            tokio::time::sleep(LOOK).await;
            continue;
        }
        let done = tokio::select! {
            read = client.read(&mut up) => passed(read, &up, &mut server).await,
            read = server.read(&mut down) => passed(read, &down, &mut client).await,
            () = tokio::time::sleep(LOOK) => false,
        };
        if done {
            return;
        }
    }
}

/// Passes on what was read; whether that was the end.
async fn passed(read: std::io::Result<usize>, bytes: &[u8], to: &mut TcpStream) -> bool {
    match read {
        Ok(length @ 1..) => to.write_all(&bytes[..length]).await.is_err(),
        _ => true,
    }
}

/// A node whose database is reached through a proxy, beside another one.
async fn behind_proxy(first: &Gateway) -> (Proxy, Gateway) {
    let options = Options::default().beside(first).expect("on PostgreSQL");
    let mut url = url::Url::parse(&first.database()).expect("an address");
    let server = format!(
        "{}:{}",
        url.host_str().expect("a host"),
        url.port().unwrap_or(5432)
    );
    let proxy = Proxy::before(server).await;
    let (host, port) = proxy.address.split_once(':').expect("a port");
    url.set_host(Some(host)).expect("a host");
    url.set_port(port.parse().ok()).expect("a port");
    let options = options
        .set("DATABASE", url.as_str())
        .set("LIMITS_SUBMITS_PER_SECOND", "0")
        .set("LIMITS_LARGE_REQUESTS", "1");
    let second = options.spawn().await;
    (proxy, second)
}

/// Posts something, and is answered in time: the status and the document.
async fn answered(gateway: &Gateway, account: &Account, path: &str, body: &Value) -> (u16, Value) {
    let begun = Stopwatch::start();
    let answer = gateway
        .request(Method::POST, path)
        .header("SVC-API-KEY", &account.key)
        .json(body)
        .send()
        .await
        .expect("an answer");
    let status = answer.status().as_u16();
    let document = answer.json().await.expect("a document");
    let took = begun.elapsed();
    assert!(took < ANSWERED, "{status} after {took:?}: {document}");
    (status, document)
}

/// Submits, and is answered in time: the status and the document.
async fn submitted(gateway: &Gateway, account: &Account) -> (u16, Value) {
    let body = json!({ "prompt": "a fox" });
    answered(gateway, account, "/artgen/v1/imagine", &body).await
}

/// Fifty requests that follow some jobs in turn.
fn fifty(parents: &[String]) -> Value {
    let follow = |parent: &String| {
        let request = json!({ "jobId": parent, "action": "upsample1" });
        json!({ "operation": "artgen.action", "request": request })
    };
    let requests: Vec<Value> = parents.iter().cycle().take(50).map(follow).collect();
    json!({ "requests": requests })
}

async fn a_submit_is_answered_within_fifteen_seconds_while_the_database_is_silent() {
    let first = Gateway::spawn().await;
    let (proxy, second) = behind_proxy(&first).await;
    let account = first.account(1_000).await;
    assert_eq!(submitted(&second, &account).await.0, 200);

    // Half-open: what there was is silent, and the server answers anew.
    proxy.forget_old();
    let at_once = (0..4).map(|_| submitted(&second, &account));
    for (status, document) in join_all(at_once).await {
        assert!(matches!(status, 200 | 503), "{status}: {document}");
    }
    assert_eq!(submitted(&second, &account).await.0, 200, "replaced");

    // Nothing answers any more.
    proxy.freeze();
    for _ in 0..2 {
        let (status, document) = submitted(&second, &account).await;
        assert!(status >= 500, "{status}: {document}");
    }
    drop(second);
    first.command(&["audit"]);
}

/// The promise: many requests together are answered as soon as one is, and a silence is the answer of none of them for ever.
async fn a_batch_is_answered_within_fifteen_seconds_and_remembers_no_silence() {
    let first = Gateway::spawn().await;
    let (proxy, second) = behind_proxy(&first).await;
    let account = first.account(10_000).await;
    let path = format!("/admin/v1/accounts/{}", account.id);
    let wish = json!({ "max_queue": 10_000 });
    let changed = first.operate(Method::PATCH, &path, Some(wish)).await;
    assert_eq!(changed.status, 200, "{}", changed.json);
    let mut parents = Vec::new();
    for _ in 0..8 {
        parents.push(first.imagine(&account.key, "a fox").await);
    }
    for parent in &parents {
        let job = finished(&first, &account.key, parent).await;
        assert_eq!(job["status"], "SUCCESS", "{job}");
    }
    // Those of the second half are read when nothing answers any more.
    let (half_open, frozen) = parents.split_at(4);
    assert_eq!(submitted(&second, &account).await.0, 200);

    proxy.forget_old();
    let mut tries = 0;
    let told = loop {
        let body = fifty(half_open);
        let (status, document) = answered(&second, &account, "/jobs/v1/batch", &body).await;
        if status == 200 {
            break document;
        }
        tries += 1;
        assert!(status >= 500 && tries < 20, "{status}: {document}");
    };
    let answers = told["data"]["answers"].as_array().expect("answers");
    assert_eq!(answers.len(), 50);
    for answer in answers {
        assert_ne!(answer["code"], "overloaded", "{answer}");
    }

    // The key is remembered for a moment, so that the batch itself meets the silence.
    assert_eq!(submitted(&second, &account).await.0, 200, "replaced");
    proxy.freeze();
    for _ in 0..2 {
        let body = fifty(frozen);
        let (status, document) = answered(&second, &account, "/jobs/v1/batch", &body).await;
        assert!(status >= 500, "{status}: {document}");
    }
    drop(second);
    first.command(&["audit"]);
}

/// The promise: whoever waits for a place for a large body is answered as soon as anybody is, whatever those before it wait for.
async fn large_submits_are_answered_within_fifteen_seconds_while_the_database_is_silent() {
    let first = Gateway::spawn().await;
    let (proxy, second) = behind_proxy(&first).await;
    let account = first.account(1_000).await;
    let body = json!({
        "prompt": "a fox",
        "model": "anime-diffusion-4-5-full",
        "unused": "x".repeat(300 << 10),
    });
    let large = || answered(&second, &account, "/animegen/text-to-image", &body);
    assert_eq!(large().await.0, 200);

    proxy.freeze();
    for (status, document) in join_all((0..5).map(|_| large())).await {
        assert!(status >= 500, "{status}: {document}");
    }
    drop(second);
    first.command(&["audit"]);
}
