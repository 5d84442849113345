//! Lists of long prompts are megabytes of text. They are written apart from what answers others, few of one account at once.

use std::cell::Cell;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::Duration;

use crate::gateway::{Gateway, Options, send};
use crate::stopwatch::Stopwatch;

const JOBS: usize = 30;
const AT_ONCE: usize = 10;
/// More than are written and wait for that.
const LISTS: usize = 24;
/// Long enough on a machine that stands still for seconds; where the lists were written in place, others waited for minutes.
const SOON: Duration = Duration::from_secs(10);

/// Asks for a list, and says with which status it is answered.
async fn list(gateway: &Gateway, key: &str) -> String {
    let mut line = TcpStream::connect(&gateway.addresses[0])
        .await
        .expect("a connection");
    let asked = format!("GET /mj/task/list HTTP/1.1\r\nHost: x\r\nSVC-API-KEY: {key}\r\n\r\n");
    line.write_all(asked.as_bytes()).await.expect("sent");
    let mut head = [0; 12];
    line.read_exact(&mut head).await.expect("a status");
    String::from_utf8_lossy(&head[9..]).into_owned()
}

#[tokio::test]
async fn long_lists_of_one_account_delay_nobody_else() {
    let options = Options::default().set("JOBS_MAX_QUEUE", "1000");
    let gateway = options.spawn().await;
    let (account, other) = (gateway.account(10_000).await, gateway.account(10).await);
    let words = "\u{1f3d4}".repeat(31_900);
    let one = |number: usize| {
        let prompt = format!("{number} [[fail: x]] {words}");
        let request = json!({ "prompt": prompt, "translation": false });
        json!({ "operation": "artgen.imagine", "request": request })
    };
    let requests: Vec<Value> = (0..JOBS).map(one).collect();
    // Few at once: what cannot be looked at in time is refused, and a debug build takes long for so many words.
    for some in requests.chunks(AT_ONCE) {
        let body = json!({ "requests": some });
        let made = gateway.post(&account.key, "/jobs/v1/batch", body).await;
        assert_eq!(made.status, 200, "{}", made.json);
    }
    let (over, mut meanwhile) = (Cell::new(false), 0);
    let lists = async {
        let lists = (0..LISTS).map(|_| list(&gateway, &account.key));
        let statuses = futures_util::future::join_all(lists).await;
        over.set(true);
        statuses
    };
    let others = async {
        while !over.get() {
            for path in ["/healthz", "/artgen/v1/info"] {
                let asked = gateway
                    .request(Method::GET, path)
                    .header("SVC-API-KEY", &other.key);
                let begun = Stopwatch::start();
                assert_eq!(send(asked).await.status, 200, "{path}");
                assert!(begun.elapsed() < SOON, "{path}: {:?}", begun.elapsed());
                meanwhile += usize::from(!over.get());
            }
        }
    };
    let (statuses, ()) = tokio::join!(lists, others);
    assert!(meanwhile >= 4, "{meanwhile} calls while lists were written");
    let count = |wanted: &str| statuses.iter().filter(|status| **status == wanted).count();
    assert!(count("200") >= 2, "{statuses:?}");
    assert!(count("429") >= 1, "{statuses:?}");
    assert_eq!(count("200") + count("429"), LISTS, "{statuses:?}");
    let short = gateway.get(&account.key, "/jobs/v1?limit=1").await;
    assert_eq!(short.status, 200, "{}", short.json);
}
