//! Every vendor of the table, with the process killed at every point of an attempt: nothing is lost that could be kept,
//! and nothing is ordered or charged twice.

use atelier_backends::backend::LostSubmit;
use atelier_contract::{JobId, JobState};
use atelier_engine::Caller;
use serde_json::{Value, json};

use crate::formats::FORMATS;
use crate::local::{Format, Local, Silent, request};
use crate::rig::{Rig, worker};
use crate::stand::{Stand, credential};

const UNKNOWN: &str = "[Internal error] the outcome at the back end is unknown";

/// A service with one worker account at a vendor's local server.
pub(crate) async fn connected(vendor: &str, settings: &Value, local: &Local) -> Rig {
    connected_at(vendor, settings, &local.stand).await
}

/// The same at any server.
pub(crate) async fn connected_at(vendor: &str, settings: &Value, stand: &Stand) -> Rig {
    let rig = Rig::with_vendors().await;
    let change = json!({
        "vendor": vendor,
        "name": "the one",
        "base_url": stand.url("/v1"),
        "settings": settings,
    });
    let backends = rig.engine.admin().backends();
    let made = backends.create("root", change.into()).await;
    let id = made.expect("a back end").id;
    let credential = credential(vendor, &stand.url("/v1"));
    let change = worker(&json!({ "name": "main", "credential": credential }));
    let made = backends.create_worker("root", &id, change).await;
    made.expect("a worker account");
    rig
}

/// Until the vendor says nothing, or the job has ended because there is no such point.
async fn until_silent(rig: &Rig, local: &Local, caller: &Caller, id: &JobId) {
    for _ in 0..1_000 {
        if local.silences() > 0 || rig.state(caller, id).await.is_final() {
            break;
        }
        rig.rest().await;
        rig.clock.advance(1_000);
        rig.engine.renew_step().await.expect("renewed");
    }
}

async fn killed(format: &'static Format, at: Silent) {
    let label = format!("{} {} at {at:?}", format.vendor, format.dialect);
    let local = Local::speaking(format);
    local.be_silent(at);
    let settings = (format.settings)();
    let mut rig = connected(format.vendor, &settings, &local).await;
    let lost = local.stand.worker(format.vendor, settings).lost_submit();
    let caller = rig.account(1_000).await;
    let body = request(format.operation, &local.stand.url("/made.png"));
    // The picture of a request is read from the same server.
    if format.operation == "facegen.swap" && at == Silent::File {
        return;
    }
    let id = rig.call(&caller, format.operation, body, false).await;
    let id = id.unwrap_or_else(|refusal| panic!("{label}: {refusal}"));
    until_silent(&rig, &local, &caller, &id).await;
    let reached = local.silences() > 0;
    let in_call = !local.was_asked();
    rig.restart().await;
    local.be_silent(Silent::Never);
    rig.engine.runner().sweep_step().await.expect("swept");
    rig.until_final(&caller, &id).await;
    let job = rig.job(&caller, &id).await;
    // Without a ticket, only a vendor that can be asked or asked again tells what became of an order.
    let forlorn = reached && in_call && at != Silent::Question && lost == LostSubmit::Unknown;
    if forlorn {
        assert_eq!(job.message.as_deref(), Some(UNKNOWN), "{label}");
    } else {
        assert_eq!(job.state, JobState::Succeeded, "{label}: {:?}", job.message);
    }
    let most = if lost == LostSubmit::Repeat { 2 } else { 1 };
    let taken = local.taken();
    assert!((1..=most).contains(&taken), "{label}: {taken} orders");
    let spent = if forlorn {
        "0".to_owned()
    } else {
        job.price.to_string()
    };
    assert_eq!(job.quota.to_string(), spent, "{label}");
    let left: f64 = rig.purse(&caller).await.0.parse().expect("a number");
    let charged: f64 = spent.parse().expect("a number");
    assert!(
        (left - (1_000.0 - charged)).abs() < 0.0005,
        "{label}: {left}"
    );
    assert_eq!(rig.purse(&caller).await.1, "0", "{label}: nothing is held");
    rig.check_books().await;
}

#[tokio::test]
async fn a_process_killed_while_an_order_is_out_orders_nothing_twice() {
    for format in FORMATS {
        killed(format, Silent::Order).await;
    }
}

#[tokio::test]
async fn a_process_killed_while_it_asks_goes_on_asking() {
    for format in FORMATS {
        killed(format, Silent::Question).await;
    }
}

#[tokio::test]
async fn a_process_killed_while_a_result_comes_fetches_it_again() {
    for format in FORMATS {
        killed(format, Silent::File).await;
    }
}

/// A video of three passes, with the process killed in one of them.
async fn killed_in_pass(format: &'static Format, at: Silent, pass: usize) {
    let label = format!("{} at {at:?} of pass {pass}", format.vendor);
    let local = Local::speaking(format);
    // Each pass is asked about twice.
    let before = if at == Silent::Question {
        2 * pass
    } else {
        pass
    };
    local.be_silent_after(at, before);
    let mut rig = connected(format.vendor, &(format.settings)(), &local).await;
    let caller = rig.account(1_000).await;
    let body = json!({ "prompt": "a long wave", "video_length": "30" });
    let id = rig.call(&caller, "clipgen.generations", body, false).await;
    let id = id.unwrap_or_else(|refusal| panic!("{label}: {refusal}"));
    until_silent(&rig, &local, &caller, &id).await;
    assert!(local.silences() > 0, "{label}");
    let progress = rig.job(&caller, &id).await.progress;
    rig.restart().await;
    local.be_silent(Silent::Never);
    rig.engine.runner().sweep_step().await.expect("swept");
    rig.until_final(&caller, &id).await;
    let job = rig.job(&caller, &id).await;
    let (taken, spent) = (local.taken(), rig.purse(&caller).await);
    if at == Silent::Order {
        // Nobody can ask for an order whose answer was lost: neither it nor those before it are paid for again.
        assert_eq!(job.message.as_deref(), Some(UNKNOWN), "{label}");
        assert_eq!(taken, pass + 1, "{label}");
        assert_eq!(spent, ("1000".into(), "0".into()), "{label}");
    } else {
        assert_eq!(job.state, JobState::Succeeded, "{label}: {:?}", job.message);
        assert_eq!(taken, 3, "{label}: each pass was ordered once");
        assert_eq!(job.quota, job.price, "{label}");
    }
    assert!(usize::from(progress) >= 30 * pass, "{label}: {progress} %");
    rig.check_books().await;
}

#[tokio::test]
async fn a_process_killed_in_any_pass_of_a_long_video_goes_on_from_there_and_orders_no_pass_twice()
{
    for format in FORMATS {
        if ["google", "xai"].contains(&format.vendor) {
            for pass in 0..3 {
                killed_in_pass(format, Silent::Order, pass).await;
                killed_in_pass(format, Silent::Question, pass).await;
            }
        }
    }
}
