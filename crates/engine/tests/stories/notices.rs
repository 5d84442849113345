//! Notices: once for what they are about and their window, on any number of nodes, to whoever subscribed, and not in quiet hours.

use std::collections::BTreeMap;
use std::sync::Arc;

use atelier_contract::pages::keys::KeyLimit;
use atelier_contract::pages::notices::{NewSubscription, NoticeView};
use atelier_contract::pages::statements::Language;
use atelier_contract::webhook::sign_webhook;
use atelier_contract::{Code, LimitWindow, Quota, Refusal};
use atelier_engine::{
    Caller, CreditRequest, Engine, KeyHolder, KeyRequest, MachineLook, NoticeList, NoticeOwner,
    SubscriptionRequest,
};
use atelier_store::{NoticeDelivery, Period};
use serde_json::{Value, json};
use tokio::task::LocalSet;

use crate::receiver::{Receiver, header};
use crate::rig::{Rig, START_MS, settings};
use crate::stage::Stage;
use crate::vendors::{cast, conditions};

const DAY_MS: i64 = 24 * 3_600_000;

fn request(fields: Value) -> SubscriptionRequest {
    let new: NewSubscription = serde_json::from_value(fields).expect("a subscription");
    new.into()
}

async fn subscribe(engine: &Engine, owner: &NoticeOwner, fields: Value) -> Result<String, Refusal> {
    let may = || Ok::<_, Refusal>(());
    let made = engine
        .notices()
        .subscribe(owner, request(fields), may)
        .await;
    made.map(|one| one.id)
}

/// Notices of an owner with what became of them.
pub(crate) async fn told(
    engine: &Engine,
    owner: &NoticeOwner,
) -> Vec<(NoticeView, Vec<NoticeDelivery>)> {
    let asked = NoticeList {
        kind: None,
        period: Period::default(),
        language: Language::En,
        page: 1,
        limit: 100,
    };
    engine.notices().list(owner, asked).await.expect("a list").0
}

async fn kinds(engine: &Engine, owner: &NoticeOwner) -> BTreeMap<String, usize> {
    let mut kinds = BTreeMap::new();
    for (notice, _) in told(engine, owner).await {
        *kinds.entry(notice.kind.word().to_owned()).or_default() += 1;
    }
    kinds
}

/// The body of what a receiver got.
fn body(post: &str) -> Value {
    let (_, body) = post.split_once("\r\n\r\n").expect("a body");
    serde_json::from_str(body).expect("JSON")
}

fn text_of(body: &Value, name: &str) -> String {
    body[name].as_str().expect("a text").to_owned()
}

/// Checks a signature as receivers do.
fn verify(post: &str, secret: &str, rig: &Rig) {
    let (_, body) = post.split_once("\r\n\r\n").expect("a body");
    let (id, signature) = (
        header(post, "webhook-id"),
        header(post, "webhook-signature"),
    );
    let at: i64 = header(post, "webhook-timestamp").parse().expect("a time");
    assert!((rig.clock.now_ms() / 1000 - at).abs() < 60, "{at}");
    assert_eq!(signature, sign_webhook(&[secret], &id, at, body.as_bytes()));
}

/// Has several nodes look and send at once, until nothing is left to do.
async fn all_at_once(rig: &Rig, nodes: &[Arc<Engine>]) {
    for _ in 0..3 {
        let work = nodes.iter().map(|node| async move {
            node.notices().look().await.expect("looked");
            while node.notices().step().await.expect("a step") {}
        });
        futures_util::future::join_all(work).await;
        rig.until_quiet().await;
    }
}

async fn limited(rig: &Rig, caller: &Caller, window: LimitWindow, quota: i64) -> Caller {
    let limit = KeyLimit {
        window,
        quota: Quota::from_thousandths(quota * 1000),
    };
    let mut request = KeyRequest {
        ..KeyRequest::named("the <shop>")
    };
    request.terms.limits = vec![limit];
    let keys = rig.engine.admin().keys();
    let (_, key) = keys
        .issue(&caller.account_id, request, KeyHolder::Operator("root"))
        .await
        .expect("a key");
    rig.engine
        .admin()
        .callers()
        .authenticate(&key)
        .await
        .expect("works")
}

/// The promise: 80 % and 100 % of a limit are told once each, however many nodes look and however often it is reached, and again in the
/// next window.
#[tokio::test]
async fn a_limit_is_told_of_at_eighty_and_a_hundred_percent_once_each() {
    let story = async {
        let rig = Rig::new().await;
        let receiver = Receiver::answering(&[200]).await;
        let owner = rig.account(1_000).await;
        let caller = limited(&rig, &owner, LimitWindow::Day, 20).await;
        let by = NoticeOwner::of_caller(&owner);
        for kind in ["limit_80", "limit_100"] {
            let wish = json!({ "kind": kind, "channel": "webhook", "address": receiver.url });
            subscribe(&rig.engine, &by, wish).await.expect("subscribed");
        }
        let nodes = [
            rig.engine.clone(),
            rig.node_with("two", settings()),
            rig.node_with("three", settings()),
        ];
        // Four each: 12 of 20, then 16, which is four fifths, then all of it.
        for (number, known) in [(3, 0), (1, 1), (1, 2)] {
            for _ in 0..number {
                let node = &nodes[fastrand::usize(..nodes.len())];
                Rig::imagine_at(node, &caller, "a fox")
                    .await
                    .expect("accepted");
            }
            rig.settle_down().await;
            all_at_once(&rig, &nodes).await;
            let found = kinds(&rig.engine, &by).await;
            assert_eq!(found.values().sum::<usize>(), known, "{found:?}");
        }
        // Refusals tell of nothing new.
        for node in &nodes {
            let refused = Rig::imagine_at(node, &caller, "a fox").await;
            assert_eq!(refused.expect_err("refused").code, Code::KeyLimit);
        }
        all_at_once(&rig, &nodes).await;
        assert_eq!(
            kinds(&rig.engine, &by).await,
            BTreeMap::from([("limit_100".into(), 1), ("limit_80".into(), 1)])
        );
        let posts = receiver.posts();
        assert_eq!(posts.len(), 2, "each was posted once: {posts:?}");
        let posted: Vec<String> = posts
            .iter()
            .map(|post| text_of(&body(post), "kind"))
            .collect();
        assert_eq!(posted, ["limit_80", "limit_100"]);
        let secret = rig
            .engine
            .callbacks()
            .secret(&owner.account_id)
            .await
            .expect("a secret");
        for post in &posts {
            verify(post, &secret, &rig);
            let text = text_of(&body(post), "text");
            assert!(
                text.contains("the <shop>") && text.contains("20 a day"),
                "{text}"
            );
        }
        let told_of = told(&rig.engine, &by).await;
        assert!(told_of.iter().all(|(_, sent)| sent.len() == 1
            && sent[0].state == "delivered"
            && sent[0].attempts == 1));
        // The next day has a window of its own.
        rig.clock.advance(DAY_MS);
        for _ in 0..4 {
            rig.imagine(&caller, "a fox").await.expect("accepted");
        }
        rig.settle_down().await;
        all_at_once(&rig, &nodes).await;
        assert_eq!(kinds(&rig.engine, &by).await["limit_80"], 2);
        rig.check_books().await;
    };
    LocalSet::new().run_until(story).await;
}

/// The promise: a limit that a price jumps over is told of when it refuses, also where the limit is of the key above.
#[tokio::test]
async fn a_limit_that_refuses_is_told_of_although_it_was_never_full() {
    let story = async {
        let rig = Rig::new().await;
        let owner = rig.account(1_000).await;
        let caller = limited(&rig, &owner, LimitWindow::Total, 3).await;
        let refused = rig.imagine(&caller, "a fox").await;
        assert_eq!(refused.expect_err("it costs four").code, Code::KeyLimit);
        let by = NoticeOwner::of_caller(&owner);
        all_at_once(&rig, &[rig.engine.clone()]).await;
        let told_of = told(&rig.engine, &by).await;
        assert_eq!(told_of.len(), 1);
        assert!(
            told_of[0].0.action.contains("until you raise the limit"),
            "{}",
            told_of[0].0.action
        );
        assert!(told_of[0].1.is_empty(), "nobody had subscribed");
    };
    LocalSet::new().run_until(story).await;
}

/// The promise: a low balance is told once each time it falls, to whoever named an amount that it fell below.
#[tokio::test]
async fn a_balance_is_told_of_when_it_falls_below_what_somebody_named() {
    let story = async {
        let rig = Rig::new().await;
        let receiver = Receiver::answering(&[200]).await;
        let caller = rig.account(20).await;
        let by = NoticeOwner::of_caller(&caller);
        for below in [5, 15] {
            let wish = json!({ "kind": "balance_low", "below": below, "channel": "slack", "address": receiver.url });
            subscribe(&rig.engine, &by, wish).await.expect("subscribed");
        }
        let nodes = [rig.engine.clone(), rig.second_node()];
        let falls = async |times: usize| {
            for _ in 0..times {
                rig.imagine(&caller, "a fox").await.expect("accepted");
            }
            rig.settle_down().await;
            all_at_once(&rig, &nodes).await;
            receiver.count()
        };
        assert_eq!(falls(1).await, 0, "16");
        assert_eq!(falls(1).await, 1, "12");
        assert_eq!(falls(1).await, 1, "8: nothing new");
        assert_eq!(falls(1).await, 2, "4");
        let credit = async |amount: i64| {
            let request = CreditRequest {
                amount: Quota::from_thousandths(amount * 1000),
                reason: "invoice".into(),
                idempotency_key: None,
                expires_ms: None,
            };
            let credits = rig.engine.admin().credits();
            credits
                .credit("root", &caller.account_id, request)
                .await
                .expect("credited");
            all_at_once(&rig, &nodes).await;
        };
        credit(20).await;
        assert_eq!(
            falls(5).await,
            2,
            "it fell again on the same day, which is told of once"
        );
        rig.clock.advance(DAY_MS);
        credit(20).await;
        assert_eq!(falls(5).await, 4, "4 of 24: on another day");
        let text = text_of(&body(&receiver.posts()[0]), "text");
        assert!(
            text.starts_with("*Balance below 15*\n") && text.contains("is 12 since"),
            "{text}"
        );
    };
    LocalSet::new().run_until(story).await;
}

/// The promise: jobs that fail in a row are told of once for each row, however many there are.
#[tokio::test]
async fn failures_in_a_row_are_told_of_once() {
    let story = async {
        let rig = Rig::new().await;
        let caller = rig.account(1_000).await;
        let by = NoticeOwner::of_caller(&caller);
        let fail = async |prompts: &[&str]| {
            for prompt in prompts {
                rig.imagine(&caller, prompt).await.expect("accepted");
                rig.settle_down().await;
            }
            all_at_once(&rig, &[rig.engine.clone(), rig.second_node()]).await;
            kinds(&rig.engine, &by)
                .await
                .get("jobs_failing")
                .copied()
                .unwrap_or(0)
        };
        fail(&["fail it", "fail it", "fail it"]).await;
        let wish = json!({ "kind": "jobs_failing", "jobs": 3, "channel": "discord", "address": "https://discord.com/api/webhooks/1/secret-token" });
        subscribe(&rig.engine, &by, wish).await.expect("subscribed");
        assert_eq!(
            fail(&["a fox"]).await,
            0,
            "what was before is nobody's business"
        );
        assert_eq!(fail(&["fail it", "fail it"]).await, 0);
        assert_eq!(fail(&["fail it"]).await, 1);
        assert_eq!(
            fail(&["fail it", "fail it", "fail it"]).await,
            1,
            "the same row"
        );
        assert_eq!(fail(&["a fox", "fail it", "fail it", "a fox"]).await, 1);
        assert_eq!(fail(&["fail it", "fail it", "fail it"]).await, 2);
        let listed = rig
            .engine
            .notices()
            .subscriptions(&by)
            .await
            .expect("a list");
        assert_eq!(
            listed[0].shown, "https://discord.com/api/webhoo…",
            "nobody reads the token"
        );
    };
    LocalSet::new().run_until(story).await;
}

/// The promise: keys that end within a week are told of once; those that were never to last longer are not.
#[tokio::test]
async fn a_key_that_ends_soon_is_told_of_once() {
    let story = async {
        let rig = Rig::new().await;
        let caller = rig.account(10).await;
        let by = NoticeOwner::of_caller(&caller);
        let keys = rig.engine.admin().keys();
        for (name, days) in [("long", 30), ("short", 6), ("longer", 60)] {
            let request = KeyRequest {
                expires_ms: Some(rig.clock.now_ms() + days * DAY_MS),
                ..KeyRequest::named(name)
            };
            keys.issue(&caller.account_id, request, KeyHolder::Operator("root"))
                .await
                .expect("a key");
        }
        let nodes = [rig.engine.clone(), rig.second_node()];
        all_at_once(&rig, &nodes).await;
        assert!(kinds(&rig.engine, &by).await.is_empty());
        rig.clock.advance(24 * DAY_MS);
        for _ in 0..3 {
            all_at_once(&rig, &nodes).await;
            rig.clock.advance(DAY_MS);
        }
        let told_of = told(&rig.engine, &by).await;
        assert_eq!(told_of.len(), 1, "{told_of:?}");
        assert_eq!(told_of[0].0.facts["key"], "long");
    };
    LocalSet::new().run_until(story).await;
}

/// The promise: what comes in quiet hours is sent when they end, and a receiver that fails is tried again by the schedule of callbacks.
#[tokio::test]
async fn quiet_hours_and_failures_put_a_notice_off() {
    let story = async {
        let rig = Rig::new().await;
        let quiet = Receiver::answering(&[200]).await;
        let loud = Receiver::answering(&[500, 500, 200]).await;
        let owner = rig.account(1_000).await;
        let caller = limited(&rig, &owner, LimitWindow::Day, 4).await;
        let by = NoticeOwner::of_caller(&owner);
        // It is 08:00.
        let wish = json!({ "channel": "webhook", "address": quiet.url, "quiet": "07:00-09:00" });
        subscribe(&rig.engine, &by, wish).await.expect("subscribed");
        let wish = json!({ "kind": "limit_100", "channel": "webhook", "address": loud.url });
        subscribe(&rig.engine, &by, wish).await.expect("subscribed");
        rig.imagine(&caller, "a fox").await.expect("accepted");
        rig.settle_down().await;
        let nodes = [rig.engine.clone()];
        all_at_once(&rig, &nodes).await;
        assert_eq!(
            (quiet.count(), loud.count()),
            (0, 1),
            "it is quiet; one try, which failed"
        );
        rig.clock.advance(10_000);
        all_at_once(&rig, &nodes).await;
        rig.clock.advance(60_000);
        all_at_once(&rig, &nodes).await;
        assert_eq!(loud.count(), 3, "the third was taken");
        rig.clock.advance(3_600_000);
        all_at_once(&rig, &nodes).await;
        assert_eq!(quiet.count(), 2, "80 % and 100 %");
        rig.clock.advance(DAY_MS / 2);
        all_at_once(&rig, &nodes).await;
        assert_eq!((quiet.count(), loud.count()), (2, 3), "and nothing more");
    };
    LocalSet::new().run_until(story).await;
}

/// The promise: subscriptions are bounded, addresses obey the rules for whoever names them, and what somebody else has is not there.
#[tokio::test]
async fn subscriptions_obey_the_rules() {
    let story = async {
        let rig = Rig::new().await;
        let (one, two) = (rig.account(10).await, rig.account(10).await);
        let (by, other) = (NoticeOwner::of_caller(&one), NoticeOwner::of_caller(&two));
        let operators = NoticeOwner::operators("root");
        let webhook = |kind: &str, address: &str| json!({ "kind": kind, "channel": "webhook", "address": address });
        for (owner, wish, code, field) in [
            (
                &by,
                webhook("limit_80", "http://10.0.0.7/"),
                Code::AddressNotAllowed,
                "address",
            ),
            (
                &by,
                webhook("limit_80", "http://169.254.169.254/"),
                Code::AddressNotAllowed,
                "address",
            ),
            (
                &by,
                webhook("limit_80", "ftp://example.com/"),
                Code::AddressNotAllowed,
                "address",
            ),
            (
                &by,
                webhook("backend_ill", "https://example.com/"),
                Code::InvalidParameter,
                "kind",
            ),
            (
                &operators,
                webhook("limit_80", "https://example.com/"),
                Code::InvalidParameter,
                "kind",
            ),
            (
                &operators,
                webhook("disk_low", "file:///etc/passwd"),
                Code::AddressNotAllowed,
                "address",
            ),
            (
                &by,
                webhook("balance_low", "https://example.com/"),
                Code::MissingParameter,
                "below",
            ),
        ] {
            let refusal = subscribe(&rig.engine, owner, wish.clone())
                .await
                .expect_err("refused");
            assert_eq!(
                (refusal.code, refusal.field.as_deref()),
                (code, Some(field)),
                "{wish}"
            );
        }
        subscribe(
            &rig.engine,
            &operators,
            webhook("disk_low", "http://10.0.0.7/alerts"),
        )
        .await
        .expect("theirs may be private");
        let id = subscribe(
            &rig.engine,
            &by,
            webhook("limit_80", "https://example.com/a"),
        )
        .await
        .expect("subscribed");
        let end = async |owner: &NoticeOwner| {
            rig.engine
                .notices()
                .unsubscribe(owner, &id, || Ok::<_, Refusal>(()))
                .await
        };
        assert_eq!(
            end(&other).await.expect_err("not theirs").code,
            Code::NotFound
        );
        end(&by).await.expect("ended");
        assert_eq!(end(&by).await.expect_err("gone").code, Code::NotFound);
        for number in 0..50 {
            let address = format!("https://example.com/{number}");
            subscribe(&rig.engine, &by, webhook("limit_80", &address))
                .await
                .expect("subscribed");
        }
        let refusal = subscribe(
            &rig.engine,
            &by,
            webhook("limit_80", "https://example.com/x"),
        )
        .await;
        assert_eq!(refusal.expect_err("too many").code, Code::Conflict);
        let kept = rig
            .store
            .settings()
            .list("notice-address:")
            .await
            .expect("settings");
        assert_eq!(kept.len(), 51, "what has ended is not kept");
        assert!(
            kept.iter()
                .all(|(_, sealed)| !sealed.contains("example.com")),
            "addresses are sealed"
        );
    };
    LocalSet::new().run_until(story).await;
}

/// A machine with so much room and with a certificate that ends in ten days.
fn machine(name: &str, free: u64) -> atelier_engine::Settings {
    let mut own = settings();
    let certificates = || {
        vec![
            ("soon.example".to_owned(), START_MS + 10 * DAY_MS),
            ("later.example".to_owned(), START_MS + 60 * DAY_MS),
        ]
    };
    own.machine = MachineLook {
        name: name.to_owned(),
        disk: Some(Arc::new(move || Some((free, 1 << 40)))),
        certificates: Some(Arc::new(certificates)),
    };
    own
}

/// The promise: operators are told once of what stands in the way of work, however many nodes see it, at addresses that may be private.
#[tokio::test]
async fn operators_are_told_of_back_ends_disks_and_certificates_once() {
    let story = async {
        let _stage = Stage::named("ill");
        let rig = Rig::with_vendors().await;
        let (backend, _) = cast(&rig, "ill", "unknown", &["one"]).await;
        let receiver = Receiver::answering(&[200]).await;
        let operators = NoticeOwner::operators("root");
        let wish = json!({ "channel": "webhook", "address": receiver.url, "language": "de" });
        subscribe(&rig.engine, &operators, wish)
            .await
            .expect("subscribed");
        let nodes = [
            rig.engine.clone(),
            rig.node_with("full", machine("full", 1 << 20)),
            rig.node_with("roomy", machine("roomy", 1 << 39)),
        ];
        let look = async || {
            for _ in 0..2 {
                let looks = nodes.iter().map(|node| node.notices().look_around());
                for looked in futures_util::future::join_all(looks).await {
                    looked.expect("looked");
                }
            }
            all_at_once(&rig, &nodes).await;
            kinds(&rig.engine, &operators).await
        };
        let (disk, certificate) = (
            ("disk_low".to_owned(), 1),
            ("certificate_expiring".to_owned(), 1),
        );
        assert_eq!(
            look().await,
            BTreeMap::from([certificate.clone(), disk.clone()])
        );
        let caller = rig.account(100).await;
        let id = rig.imagine(&caller, "banned 1").await.expect("accepted");
        rig.until_final(&caller, &id).await;
        assert_eq!(
            conditions(&rig, &backend).await,
            [("one".to_owned(), "banned".to_owned())]
        );
        let ill = ("backend_ill".to_owned(), 1);
        assert_eq!(look().await, BTreeMap::from([ill, certificate, disk]));
        assert_eq!(receiver.count(), 3);
        let secret = rig.engine.notices().secret().await.expect("a secret");
        for post in receiver.posts() {
            verify(&post, &secret, &rig);
        }
        let texts: Vec<String> = receiver
            .posts()
            .iter()
            .map(|post| text_of(&body(post), "title"))
            .collect();
        assert!(
            texts
                .iter()
                .any(|title| title == "Die Festplatte von full ist fast voll"),
            "{texts:?}"
        );
        let of_caller = kinds(&rig.engine, &NoticeOwner::of_caller(&caller)).await;
        assert!(
            of_caller.is_empty(),
            "callers see none of it: {of_caller:?}"
        );
    };
    LocalSet::new().run_until(story).await;
}
