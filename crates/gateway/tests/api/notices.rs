//! Notices from outside: what is told to whom, once on any number of nodes, in the shape that each address takes.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use atelier_contract::webhook::sign_webhook;
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::gateway::{Answer, Gateway, Options, send};
use crate::outside::{Outside, Request, answer, read};

const SUBSCRIPTIONS: &str = "/account/v1/notices/subscriptions";
const OPERATORS: &str = "/admin/v1/notices/subscriptions";
const PICTURES: usize = 14;

/// What was posted.
#[derive(Debug)]
pub(crate) struct Post {
    head: String,
    body: Vec<u8>,
    pub(crate) told: Value,
}

impl Post {
    fn of(request: &Request) -> Self {
        Self {
            head: request.head.clone(),
            told: serde_json::from_slice(&request.body).expect("JSON"),
            body: request.body.clone(),
        }
    }

    fn header(&self, name: &str) -> &str {
        let mut lines = self.head.lines();
        let found = lines.find_map(|line| {
            let (given, value) = line.split_once(':')?;
            given.eq_ignore_ascii_case(name).then(|| value.trim())
        });
        found.unwrap_or_default()
    }

    fn text(&self, name: &str) -> &str {
        self.told[name].as_str().expect("a text")
    }

    /// Checks its signature as receivers do.
    fn verify(&self, secret: &Answer) {
        let secret = text(&secret.json["data"]["secret"]);
        let at = self.header("webhook-timestamp").parse().expect("a time");
        let signature = sign_webhook(&[&secret], self.header("webhook-id"), at, &self.body);
        assert_eq!(self.header("webhook-signature"), signature);
    }
}

/// What is posted to an address is kept whole.
pub(crate) struct Inbox {
    pub(crate) outside: Outside,
    got: Arc<Mutex<Vec<Request>>>,
}

impl Inbox {
    pub(crate) fn start() -> Self {
        let got: Arc<Mutex<Vec<Request>>> = Arc::default();
        let log = got.clone();
        let outside = Outside::start(move |mut stream| {
            if let Some(request) = read(&mut stream) {
                log.lock().expect("no panic under the lock").push(request);
                answer(&mut stream, "200 OK", "", b"");
            }
        });
        Self { outside, got }
    }

    /// What came to a path.
    pub(crate) fn posts(&self, path: &str) -> Vec<Post> {
        let got = self.got.lock().expect("no panic under the lock");
        let of_path = got.iter().filter(|request| request.path() == path);
        of_path.map(Post::of).collect()
    }

    fn count(&self) -> usize {
        self.got.lock().expect("no panic under the lock").len()
    }

    pub(crate) async fn until(&self, count: usize) {
        let deadline = Instant::now() + Duration::from_mins(1);
        while self.count() < count {
            assert!(Instant::now() < deadline, "{} of {count}", self.count());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

/// Something that costs 1 and ends well; whether it was accepted.
async fn picture(gateway: &Gateway, key: &str) -> bool {
    let body = json!({ "prompt": "a fox", "model": "image-1", "quality": "low" });
    let request = gateway.request(Method::POST, "/v1/images/generations");
    let answer = send(request.header("SVC-API-KEY", key).json(&body)).await;
    if answer.status != 200 {
        answer.assert_refused(400, "key_limit");
    }
    answer.status == 200
}

/// A key that may spend so much a day.
async fn limited(gateway: &Gateway, owner: &str, quota: u32) -> String {
    let limits = [json!({ "window": "day", "quota": quota })];
    let wish = json!({ "name": "shop", "limits": limits });
    let issued = gateway.post(owner, "/account/v1/keys", wish).await;
    text(&issued.json["data"]["api_key"])
}

async fn subscribe(gateway: &Gateway, key: &str, wish: Value) -> String {
    let made = gateway.post(key, SUBSCRIPTIONS, wish).await;
    assert_eq!(made.status, 200, "{}", made.json);
    text(&made.json["data"]["id"])
}

/// The promise: 80 % and 100 % of a limit are posted once each to whoever subscribed, though every node of the service has a part in it.
/// On PostgreSQL there are three nodes.
#[tokio::test]
async fn a_limit_is_posted_at_eighty_and_a_hundred_percent_once_each() {
    let first = Gateway::spawn().await;
    let mut others = Vec::new();
    for _ in 0..2 {
        if let Some(beside) = Options::default().beside(&first) {
            others.push(beside.spawn().await);
        }
    }
    let nodes: Vec<&Gateway> = std::iter::once(&first).chain(&others).collect();
    let (owner, inbox) = (first.account(100).await, Inbox::start());
    let key = limited(&first, &owner.key, 10).await;
    for (kind, channel, language) in [
        (json!("limit_80"), "webhook", "en"),
        (json!("limit_100"), "slack", "de"),
        (Value::Null, "discord", "zh"),
    ] {
        let address = inbox.outside.url(&format!("/{channel}"));
        let wish =
            json!({ "kind": kind, "channel": channel, "language": language, "address": address });
        subscribe(&first, &owner.key, wish).await;
    }
    let calls = (0..PICTURES).map(|number| picture(nodes[number % nodes.len()], &key));
    let accepted = join_all(calls).await.into_iter().filter(|one| *one).count();
    assert_eq!(accepted, 10, "what the limit allows");
    inbox.until(4).await;
    // Every node has looked often by then.
    tokio::time::sleep(Duration::from_secs(8)).await;
    println!("{} nodes, {} posts", nodes.len(), inbox.count());
    let secret = first.get(&owner.key, "/account/v1/callbacks/secret").await;
    posted(&inbox, &secret);
    listed(&first, &owner.key).await;
}

fn posted(inbox: &Inbox, secret: &Answer) {
    let webhook = inbox.posts("/webhook");
    assert_eq!(webhook.len(), 1, "80 % is posted once: {webhook:?}");
    let post = &webhook[0];
    assert_eq!(
        (post.text("kind"), post.told["facts"]["spent"].as_str()),
        ("limit_80", Some("8"))
    );
    assert!(post.text("text").contains("may spend 10 a day"), "{post:?}");
    assert!(
        post.text("link").ends_with("/console/account?part=keys"),
        "{post:?}"
    );
    post.verify(secret);
    let slack = inbox.posts("/slack");
    assert_eq!(slack.len(), 1, "100 % is posted once: {slack:?}");
    assert!(slack[0].text("text").starts_with('*') && slack[0].text("text").contains("shop"));
    assert_eq!(
        slack[0].header("webhook-signature"),
        "",
        "nothing of ours goes there"
    );
    let discord = inbox.posts("/discord");
    assert_eq!(discord.len(), 2, "each is posted once: {discord:?}");
    assert!(discord.iter().all(|post| {
        let content = post.text("content");
        content.starts_with("**") && content.contains("shop")
    }));
}

async fn listed(gateway: &Gateway, key: &str) {
    let path = "/account/v1/notices";
    let found = gateway.get(key, &format!("{path}?language=de")).await;
    let rows = found.json["data"].as_array().expect("rows");
    let kinds: Vec<String> = rows.iter().map(|row| text(&row["kind"])).collect();
    assert_eq!(kinds, ["limit_100", "limit_80"], "the latest first");
    for row in rows {
        let sent = row["sent"].as_array().expect("posts");
        assert_eq!(sent.len(), 2, "{row}");
        let good = |post: &Value| post["status"] == "delivered" && post["attempts"] == 1;
        assert!(sent.iter().all(good), "{row}");
    }
    let filtered = gateway.get(key, &format!("{path}?kind=limit_80")).await;
    assert_eq!(filtered.json["total"], 1);
    let stranger = gateway.account(1).await;
    let theirs = gateway.get(&stranger.key, path).await;
    assert_eq!(theirs.json["total"], 0);
    let of_operators = gateway
        .operate(Method::GET, "/admin/v1/notices", None)
        .await;
    assert!(
        !of_operators.json.to_string().contains("limit_80"),
        "{}",
        of_operators.json
    );
    let metrics = gateway.operate(Method::GET, "/metrics", None).await;
    let metrics = String::from_utf8_lossy(&metrics.bytes).into_owned();
    assert!(
        metrics.contains("atelier_notice_tries_total{"),
        "they are counted"
    );
}

/// The promise: a subscription that nobody could be told by is refused, with the field that is wrong.
#[tokio::test]
async fn subscriptions_that_make_no_sense_are_refused() {
    let gateway = Gateway::spawn().await;
    let owner = gateway.account(10).await;
    let good = json!({ "channel": "webhook", "address": "https://example.com/" });
    for (wrong, code, field) in [
        (
            json!({ "channel": "pigeon" }),
            "invalid_parameter",
            "channel",
        ),
        (json!({ "address": null }), "missing_parameter", "address"),
        (
            json!({ "address": "no address" }),
            "address_not_allowed",
            "address",
        ),
        (json!({ "kind": "disk_low" }), "invalid_parameter", "kind"),
        (json!({ "quiet": "22-7" }), "invalid_parameter", "quiet"),
        (
            json!({ "kind": "balance_low" }),
            "missing_parameter",
            "below",
        ),
        (json!({ "jobs": 1 }), "invalid_parameter", "jobs"),
        (
            json!({ "language": "tlh" }),
            "invalid_parameter",
            "language",
        ),
    ] {
        let mut wish = good.clone();
        let fields = wish.as_object_mut().expect("an object");
        fields.extend(wrong.as_object().expect("an object").clone());
        let refused = gateway.post(&owner.key, SUBSCRIPTIONS, wish).await;
        refused.assert_refused(400, code);
        assert_eq!(refused.json["param"], field, "{wrong}");
    }
    let wrong =
        json!({ "kind": "limit_80", "channel": "webhook", "address": "https://example.com/" });
    let refused = gateway.operate(Method::POST, OPERATORS, Some(wrong)).await;
    refused.assert_refused(400, "invalid_parameter");
}

/// The promise: subscriptions can be tried, show no secret, and are gone when they are ended, by their owner alone.
#[tokio::test]
async fn subscriptions_are_made_tried_and_ended() {
    let gateway = Gateway::spawn().await;
    let (owner, other) = (gateway.account(10).await, gateway.account(10).await);
    let inbox = Inbox::start();
    let address = inbox.outside.url("/services/T0/B0/a-long-secret");
    let wish = json!({ "kind": "balance_low", "below": 5, "channel": "slack", "quiet": "22:00-07:00 +02:00", "address": address });
    let id = subscribe(&gateway, &owner.key, wish).await;
    let path = format!("{SUBSCRIPTIONS}/{id}");
    let listed = gateway.get(&owner.key, SUBSCRIPTIONS).await;
    let row = &listed.json["data"][0];
    assert_eq!(
        (&row["below"], &row["quiet"]),
        (&json!(5), &json!("22:00-07:00 +02:00"))
    );
    assert!(!row.to_string().contains("a-long-secret"), "{row}");
    let sample = async |key: &str| {
        gateway
            .post(key, &format!("{path}/sample"), json!({}))
            .await
    };
    let sent = sample(&owner.key).await;
    assert_eq!(sent.json["data"]["delivered"], true, "{}", sent.json);
    inbox.until(1).await;
    sample(&other.key).await.assert_refused(404, "not_found");
    let end = async |key: &str| {
        send(
            gateway
                .request(Method::DELETE, &path)
                .header("SVC-API-KEY", key),
        )
        .await
    };
    end(&other.key).await.assert_refused(404, "not_found");
    assert_eq!(end(&owner.key).await.status, 200);
    end(&owner.key).await.assert_refused(404, "not_found");
    let left = gateway.get(&owner.key, SUBSCRIPTIONS).await;
    assert_eq!(left.json["data"], json!([]));
    let acts = gateway
        .get(&owner.key, "/account/v1/acts")
        .await
        .json
        .to_string();
    assert!(
        acts.contains("notice.subscribe") && acts.contains("notice.unsubscribe"),
        "{acts}"
    );
}

/// The promise: the operators' notices are theirs, signed with a secret of their own, and may go to private addresses.
#[tokio::test]
async fn operators_subscribe_to_what_concerns_them() {
    let gateway = Gateway::spawn().await;
    let inbox = Inbox::start();
    let wish = json!({ "channel": "webhook", "address": inbox.outside.url("/ops") });
    let made = gateway.operate(Method::POST, OPERATORS, Some(wish)).await;
    assert_eq!(made.status, 200, "{}", made.json);
    let one = format!("{OPERATORS}/{}", text(&made.json["data"]["id"]));
    let sample = format!("{one}/sample");
    let sample = gateway.operate(Method::POST, &sample, Some(json!({})));
    let sample = sample.await;
    assert_eq!(sample.json["data"]["delivered"], true, "{}", sample.json);
    inbox.until(1).await;
    let secret = gateway
        .operate(Method::GET, "/admin/v1/notices/secret", None)
        .await;
    inbox.posts("/ops")[0].verify(&secret);
    let ended = gateway.operate(Method::DELETE, &one, None).await;
    assert_eq!(ended.status, 200);
    let acts = gateway
        .operate(Method::GET, "/admin/v1/audit?limit=100", None)
        .await;
    let acts = acts.json.to_string();
    assert!(
        acts.contains("notice.subscribe") && acts.contains("notice.unsubscribe"),
        "{acts}"
    );
}
