//! A process that stands still between its last look at its lease and the first byte of an order, or of a question that is
//! an order: by then the job is another node's, and nothing is ordered.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use atelier_backends::guard::Policy;
use atelier_backends::http::{Limits, OutboundClient, Resolver};
use atelier_contract::JobState;
use atelier_engine::{Clock, Engine};
use serde_json::json;

use crate::formats::FORMATS;
use crate::local::{Act, Format, Kind, Local, after, asks, at, nothing, posts, request};
use crate::rig::{Rig, worker};
use crate::stand::{RecordedRequest, credential, json as document};

const UNKNOWN: &str = "[Internal error] the outcome at the back end is unknown";
/// Longer than a lease.
const FROZEN_MS: i64 = 31_000;

/// What happens while the process stands still.
#[derive(Default)]
struct Freeze {
    armed: AtomicBool,
    over: AtomicBool,
    clock: OnceLock<Clock>,
    other: OnceLock<Arc<Engine>>,
}

impl Freeze {
    /// Time passes, and another node takes up what this one seems to have left.
    async fn pass(&self) {
        if !self.armed.swap(false, Ordering::SeqCst) {
            return;
        }
        self.clock.get().expect("a clock").advance(FROZEN_MS);
        let runner = self.other.get().expect("another node").runner();
        runner.workers().load().await.expect("loaded");
        runner.sweep_step().await.expect("swept");
        self.over.store(true, Ordering::SeqCst);
    }
}

/// A service with one worker account at a vendor and another node beside it; it stands still when it looks the vendor's name
/// up, which it does for every order.
async fn beside_another(format: &Format, local: &Local) -> (Rig, Arc<Freeze>) {
    let freeze: Arc<Freeze> = Arc::default();
    let during = Arc::clone(&freeze);
    let resolver = Resolver::scripted(Arc::new(move |_| {
        let during = Arc::clone(&during);
        Box::pin(async move {
            during.pass().await;
            Ok(vec![IpAddr::V4(Ipv4Addr::LOCALHOST)])
        })
    }));
    let policy = Policy::from_settings(&[], None, true, &[], &[]).expect("a policy");
    let outbound = OutboundClient::new(policy, Limits::default()).expect("a client");
    let outbound = outbound.with_resolver(resolver).expect("a client");
    let rig = Rig::with_vendors_reaching(outbound).await;
    assert!(freeze.clock.set(rig.clock.clone()).is_ok());
    assert!(freeze.other.set(rig.second_node()).is_ok());

    let base = local.stand.url("/v1").replace("127.0.0.1", "vendor.test");
    let backends = rig.engine.admin().backends();
    let change = json!({
        "vendor": format.vendor,
        "name": "x",
        "base_url": base,
        "settings": (format.settings)(),
    });
    let made = backends.create("root", change.into()).await;
    let id = made.expect("a back end").id;
    let credential = credential(format.vendor, &local.stand.url("/v1"));
    let change = worker(&json!({ "name": "main", "credential": credential }));
    let made = backends.create_worker("root", &id, change).await;
    made.expect("a worker account");
    (rig, freeze)
}

fn format_of(vendor: &str) -> &'static Format {
    let mut all = FORMATS.iter();
    all.find(|one| one.vendor == vendor).expect("in the table")
}

#[tokio::test]
async fn what_another_node_has_taken_up_is_not_ordered_by_one_that_stood_still() {
    let format = format_of("xai");
    let local = Local::speaking(format);
    let (rig, freeze) = beside_another(format, &local).await;
    let caller = rig.account(1_000).await;
    // The name of the vendor is looked up after the intent was written down.
    freeze.armed.store(true, Ordering::SeqCst);
    let body = request(format.operation, &local.stand.url("/made.png"));
    let id = rig.call(&caller, format.operation, body, false).await;
    let id = id.expect("accepted");
    rig.until_final(&caller, &id).await;
    rig.rest().await;
    let job = rig.job(&caller, &id).await;
    assert!(
        !freeze.armed.load(Ordering::SeqCst),
        "it stood still: {job:?}"
    );
    assert_eq!(job.state, JobState::Failed);
    assert_eq!(
        job.message.as_deref(),
        Some(UNKNOWN),
        "the other node's word"
    );
    assert_eq!(local.taken(), 0, "nothing was ordered after that");
    assert_eq!(rig.purse(&caller).await, ("1000".into(), "0".into()));
    rig.check_books().await;
}

/// The answer to an order is lost, and its node stands still while it asks about it. Orders are the requests whose lines
/// hold a text; that node sends no second one, and the other one, which goes on, has to send so many in all.
async fn asks_too_late(format: &'static Format, orders: &str, in_all: usize) {
    let local = Local::speaking(format);
    local.be_fronted();
    let (rig, freeze) = beside_another(format, &local).await;
    let caller = rig.account(1_000).await;
    let body = request(format.operation, &local.stand.url("/made.png"));
    let id = rig.call(&caller, format.operation, body, false).await;
    let id = id.expect("accepted");
    // Nothing is asked before the first step of polling.
    for _ in 0..1_000 {
        if local.taken() > 0 {
            break;
        }
        rig.engine.runner().run_step().await.expect("a step");
        rig.until_quiet().await;
    }
    local.be_reached();
    freeze.armed.store(true, Ordering::SeqCst);
    for _ in 0..1_000 {
        if freeze.over.load(Ordering::SeqCst) {
            break;
        }
        // Its lease is not renewed.
        rig.rest().await;
    }
    assert!(freeze.over.load(Ordering::SeqCst), "it stood still");
    // What it was about to send it has sent by now, if at all.
    for _ in 0..20 {
        rig.until_quiet().await;
    }
    let sent = local.stand.asked(orders).len();
    assert_eq!(sent, 1, "nothing was ordered after that");

    rig.engine.renew_step().await.expect("renewed");
    let other = freeze.other.get().expect("another node");
    for _ in 0..1_000 {
        if rig.state(&caller, &id).await.is_final() {
            break;
        }
        rig.rest().await;
        other.runner().poll_step();
        rig.until_quiet().await;
        rig.clock.advance(1_000);
        other.renew_step().await.expect("renewed");
    }
    let job = rig.job(&caller, &id).await;
    assert_eq!(job.state, JobState::Succeeded, "{:?}", job.message);
    assert_eq!(local.stand.asked(orders).len(), in_all);
    assert_eq!(local.taken(), 1, "taken once");
    assert_eq!(job.quota, job.price, "charged once");
    rig.check_books().await;
}

#[tokio::test]
async fn what_another_node_has_taken_up_is_not_ordered_by_one_that_looks_it_up_too_late() {
    // It is looked up by ordering it again under its key, which the other node does.
    asks_too_late(format_of("relay"), "POST ", 2).await;
}

/// A proxy that asks back: nothing begins before its window is confirmed, and the first confirmation seems to be lost.
static ASKS_BACK: Format = Format {
    vendor: "midjourney-proxy",
    dialect: "",
    settings: || json!({ "poll_ms": 100 }),
    operation: "artgen.imagine",
    act: asks_back,
};

fn asks_back(seen: &RecordedRequest) -> Act {
    let at = at(seen);
    if posts(seen, "/submit/modal") {
        let token = seen.json()["taskId"].as_str().map(str::to_owned);
        let reply = |id: &str| document(&json!({ "code": 1, "description": "ok", "result": id }));
        return Act::Take(Kind::Picture, token, Box::new(reply));
    }
    if posts(seen, "/submit/imagine") {
        let window =
            json!({ "code": 21, "description": "window", "result": "w1", "properties": {} });
        return Act::Say(document(&window));
    }
    let Some(id) = after(seen, "/task/") else {
        return nothing();
    };
    asks(
        id,
        &json!({ "id": id, "status": "MODAL" }),
        move |kind| json!({ "status": "SUCCESS", "progress": "100%", "imageUrl": at(kind), "buttons": [] }),
    )
}

#[tokio::test]
async fn what_another_node_has_taken_up_is_not_confirmed_by_one_that_asks_about_it_too_late() {
    // The other node finds that the first confirmation has arrived.
    asks_too_late(&ASKS_BACK, "/submit/modal", 1).await;
}
