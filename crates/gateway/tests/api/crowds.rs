//! Strangers of many networks together keep nobody out either: not by guessing keys, not by bodies that they never finish.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use atelier_engine::key;
use reqwest::Method;
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::gateway::{Gateway, Options, send};
use crate::strangers::{PATIENCE, Stranger, assert_open, head};

/// More networks than shares there are: each may have an eighth.
const NETWORKS: u8 = 12;
/// Guesses of one network that are under way at once.
const GUESSES: usize = 40;

/// Guesses keys from many networks until it is dropped.
struct Guessers {
    _tasks: JoinSet<()>,
    answered: Arc<AtomicU64>,
}

impl Guessers {
    fn start(gateway: &Gateway, path: &str) -> Self {
        let mut tasks = JoinSet::new();
        let answered: Arc<AtomicU64> = Arc::default();
        for last in 2..2 + NETWORKS {
            let client = reqwest::Client::builder()
                .no_proxy()
                .local_address(Some(Ipv4Addr::new(127, 0, 0, last).into()))
                .build()
                .expect("a client");
            for _ in 0..GUESSES {
                let url = format!("{}{path}", gateway.base_url);
                let (client, answered) = (client.clone(), Arc::clone(&answered));
                tasks.spawn(async move {
                    loop {
                        let guess = client.get(&url).header("svc-api-key", key::generate());
                        if guess.send().await.is_ok() {
                            answered.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                });
            }
        }
        Self {
            _tasks: tasks,
            answered,
        }
    }

    /// Waits until each has been answered a few times, so that all of them have guessed too much.
    async fn have_guessed(&self) {
        let enough = async {
            while self.answered.load(Ordering::Relaxed) < 3 * u64::from(NETWORKS) * GUESSES as u64 {
                sleep(Duration::from_millis(50)).await;
            }
        };
        timeout(6 * PATIENCE, enough).await.expect("guesses");
    }
}

/// Signs in with a key, on a connection of its own.
async fn sign_in(gateway: &Gateway, key: &str) -> u16 {
    let url = format!("{}/console/session", gateway.base_url);
    let request = crate::gateway::client().post(url);
    let answer = send(request.json(&json!({ "secret": key }))).await;
    answer.status.as_u16()
}

/// The promise: however many networks guess keys, who has one is answered, whether it was used before or not, and so is the
/// operator.
#[tokio::test]
async fn keys_that_many_networks_guess_keep_nobody_out() {
    let gateway = Options::default()
        .set("LIMITS_REQUESTS", "64")
        .set("LIMITS_WRONG_KEYS_PER_MINUTE", "1")
        .spawn()
        .await;
    let caller = gateway.account(10).await;
    let mut newcomers = Vec::new();
    for _ in 0..5 {
        newcomers.push(gateway.account(10).await);
    }
    let guessers = Guessers::start(&gateway, "/artgen/v1/info");
    guessers.have_guessed().await;
    for newcomer in &newcomers {
        assert_open(&gateway, &caller.key).await;
        let info = gateway.get(&newcomer.key, "/artgen/v1/info").await;
        assert_eq!(info.status, 200, "a key's first use: {}", info.json);
        assert_eq!(sign_in(&gateway, &newcomer.key).await, 200);
    }
}

/// The promise: however many networks begin bodies that they never finish, others read pages that need no key, sign in, and
/// vendors say that a job is worth a look.
#[tokio::test]
async fn bodies_that_many_networks_never_finish_close_no_open_page() {
    let gateway = Options::default()
        .set("LIMITS_REQUESTS", "64")
        .set("LIMITS_BODY_GRACE_S", "60")
        .spawn()
        .await;
    let caller = gateway.account(10).await;
    for path in ["/console/session", "/hooks/v1/some/word"] {
        let mut crowd = Vec::new();
        for last in 2..2 + NETWORKS {
            let mut stranger = Stranger::at(&gateway, last, 65_535).await;
            for _ in 0..20 {
                let post = head(&gateway, "POST", path)
                    .header("content-type", "application/json")
                    .header("content-length", "1000");
                stranger.ask(post.body(()).expect("a request"), false).await;
            }
            crowd.push(stranger);
        }
        sleep(Duration::from_secs(1)).await;
        for _ in 0..3 {
            let page = send(gateway.request(Method::GET, "/docs")).await;
            assert_eq!(page.status, 200, "{path}: {}", page.json);
            assert_eq!(sign_in(&gateway, &caller.key).await, 200, "{path}");
            let post = gateway.request(Method::POST, "/hooks/v1/some/word");
            let hook = send(post.json(&json!({ "done": true }))).await;
            assert_eq!(hook.status, 404, "nobody was given this word");
        }
        drop(crowd);
    }
}
