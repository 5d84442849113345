//! A database that goes silent without hanging up: whoever submits is answered in time, and what is said is true.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::gateway::{Account, Gateway, Options};

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

/// Submits, and is answered in time: the status and the document.
async fn submitted(gateway: &Gateway, account: &Account) -> (u16, serde_json::Value) {
    let begun = Instant::now();
    let answer = gateway
        .request(Method::POST, "/artgen/v1/imagine")
        .header("SVC-API-KEY", &account.key)
        .json(&json!({ "prompt": "a fox" }))
        .send()
        .await
        .expect("an answer");
    let status = answer.status().as_u16();
    let document = answer.json().await.expect("a document");
    let took = begun.elapsed();
    assert!(took < ANSWERED, "{status} after {took:?}: {document}");
    (status, document)
}

#[tokio::test]
async fn a_submit_is_answered_within_fifteen_seconds_while_the_database_is_silent() {
    let first = Gateway::spawn().await;
    let Some(options) = Options::default().beside(&first) else {
        return;
    };
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
    let second = options.set("DATABASE", url.as_str()).spawn().await;
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
