//! A process that stands still between its last look at its lease and the first byte of an order: by then the job is another
//! node's, and nothing is ordered.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use atelier_backends::guard::Policy;
use atelier_backends::http::{Limits, Outbound, Resolver};
use atelier_contract::JobState;
use atelier_engine::{Clock, Engine};
use serde_json::json;

use crate::formats::FORMATS;
use crate::local::{Local, request};
use crate::rig::{Rig, worker};

const UNKNOWN: &str = "[Internal error] the outcome at the back end is unknown";
/// Longer than a lease.
const FROZEN_MS: i64 = 31_000;

/// What happens while the process stands still.
#[derive(Default)]
struct Freeze {
    armed: AtomicBool,
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
        let floor = self.other.get().expect("another node").floor();
        floor.load_pool().await.expect("loaded");
        floor.sweep_step().await.expect("swept");
    }
}

#[tokio::test]
async fn what_another_node_has_taken_up_is_not_ordered_by_one_that_stood_still() {
    let freeze: Arc<Freeze> = Arc::default();
    let during = Arc::clone(&freeze);
    // The name of the vendor is looked up after the intent was written down.
    let resolver = Resolver::scripted(Arc::new(move |_| {
        let during = Arc::clone(&during);
        Box::pin(async move {
            during.pass().await;
            Ok(vec![IpAddr::V4(Ipv4Addr::LOCALHOST)])
        })
    }));
    let policy = Policy::from_settings(&[], None, true, &[], &[]).expect("a policy");
    let outbound = Outbound::new(policy, Limits::default()).expect("a client");
    let outbound = outbound.with_resolver(resolver).expect("a client");
    let rig = Rig::with_vendors_reaching(outbound).await;
    assert!(freeze.clock.set(rig.clock.clone()).is_ok());
    assert!(freeze.other.set(rig.second_node()).is_ok());

    let mut all = FORMATS.iter();
    let format = all.find(|one| one.vendor == "xai").expect("in the table");
    let local = Local::speaking(format);
    let base = local.stand.url("/v1").replace("127.0.0.1", "vendor.test");
    let backends = rig.engine.office().backends();
    let change = json!({ "vendor": "xai", "name": "x", "base_url": base });
    let made = backends.create("root", change.into()).await;
    let id = made.expect("a back end").id;
    let change = worker(&json!({ "name": "main", "credential": "sk-very-secret" }));
    let made = backends.create_worker("root", &id, change).await;
    made.expect("a worker account");

    let caller = rig.account(1_000).await;
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
