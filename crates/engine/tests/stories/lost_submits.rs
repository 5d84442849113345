//! A vendor that can be asked whether it has a lost submit, and takes its time to enter what it took: a denial counts only
//! once the submit can no longer arrive, so that nothing is ordered twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use atelier_contract::{JobId, JobState};
use atelier_engine::Caller;
use serde_json::json;

use crate::formats::FORMATS;
use crate::kills::connected;
use crate::local::{Format, Local, Silent, picture, request};
use crate::rig::Rig;
use crate::stage::{SUBMIT_LIMIT, Stage};
use crate::stand::{Stand, bytes};
use crate::vendors::cast;

/// Vendors and dialects that can be asked, and for how many seconds after an order they may deny it: what their submits may
/// take, and half a minute.
const SLOW: &[(&str, &str, i64)] = &[
    ("midjourney-proxy", "", 150),
    ("comfyui", "", 60),
    ("roletask", "kling", 330),
];
/// What a submit may take longer than its vendor says.
const MARGIN_S: i64 = 30;

/// So long before that it is looked last; a step may take a second or two.
const EARLY_S: i64 = 5;

/// How the answer to an order gets lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lost {
    /// Whoever stands before the vendor gives up at once.
    Front,
    /// The process is killed while it waits.
    Killed,
}

/// A vendor that can be asked, and takes one start for each result.
fn kling() -> &'static Format {
    let mut all = FORMATS.iter();
    all.find(|one| one.dialect == "kling")
        .expect("in the table")
}

/// One second of a running service.
async fn second(rig: &Rig) {
    rig.rest().await;
    rig.clock.advance(1_000);
    rig.engine.renew_step().await.expect("renewed");
    rig.engine.runner().sweep_step().await.expect("swept");
}

async fn until_taken(rig: &Rig, local: &Local) {
    for _ in 0..1_000 {
        if local.taken() > 0 {
            return;
        }
        rig.rest().await;
    }
    panic!("nothing was ordered");
}

/// Until a time nothing is ordered again, and the job does not end.
async fn stays(rig: &Rig, caller: &Caller, id: &JobId, local: &Local, until_ms: i64, label: &str) {
    let ordered = local.taken();
    while rig.clock.now_ms() < until_ms {
        second(rig).await;
        let (state, taken) = (rig.state(caller, id).await, local.taken());
        let left_ms = until_ms - rig.clock.now_ms();
        let label = format!("{label} with {left_ms} ms to go");
        assert_eq!((state.is_final(), taken), (false, ordered), "{label}");
    }
}

async fn ordered_once(format: &'static Format, lost: Lost, seconds: i64) {
    let label = format!("{} {} {lost:?}", format.vendor, format.dialect);
    let local = Local::speaking(format);
    local.be_slow();
    let mut rig = connected(format.vendor, &(format.settings)(), &local).await;
    let caller = rig.account(1_000).await;
    match lost {
        Lost::Front => local.be_fronted(),
        Lost::Killed => local.be_silent(Silent::Order),
    }
    let body = request(format.operation, &local.stand.url("/made.png"));
    let began_ms = rig.clock.now_ms();
    let id = rig.call(&caller, format.operation, body, false).await;
    let id = id.unwrap_or_else(|refusal| panic!("{label}: {refusal}"));
    until_taken(&rig, &local).await;
    if lost == Lost::Killed {
        rig.restart().await;
        local.be_silent(Silent::Never);
    }
    let until_ms = began_ms + (seconds - EARLY_S) * 1_000;
    assert_eq!(local.taken(), 1, "{label}: ordered once");
    stays(&rig, &caller, &id, &local, until_ms, &label).await;
    local.catch_up();
    rig.until_final(&caller, &id).await;
    let job = rig.job(&caller, &id).await;
    assert_eq!(job.state, JobState::Succeeded, "{label}: {:?}", job.message);
    assert_eq!(local.taken(), 1, "{label}: ordered once");
    assert_eq!(job.quota, job.price, "{label}: charged once");
    assert_eq!(rig.purse(&caller).await.1, "0", "{label}: nothing is held");
    rig.check_books().await;
}

async fn each_ordered_once(lost: Lost) {
    for (vendor, dialect, seconds) in SLOW {
        let mut all = FORMATS.iter();
        let format = all.find(|one| (one.vendor, one.dialect) == (*vendor, *dialect));
        ordered_once(format.expect("in the table"), lost, *seconds).await;
    }
}

#[tokio::test]
async fn what_a_front_gave_up_on_and_the_vendor_enters_later_is_ordered_once() {
    each_ordered_once(Lost::Front).await;
}

#[tokio::test]
async fn what_a_killed_process_ordered_and_the_vendor_enters_later_is_ordered_once() {
    each_ordered_once(Lost::Killed).await;
}

#[tokio::test]
async fn what_never_arrived_is_ordered_again_once_it_no_longer_can() {
    let (stage, rig) = (Stage::named("never arrived"), Rig::with_vendors().await);
    cast(&rig, "never arrived", "look_up", &["one"]).await;
    let caller = rig.account(100).await;
    let limit_s = SUBMIT_LIMIT.as_secs() as i64 + MARGIN_S;
    let until_ms = rig.clock.now_ms() + (limit_s - EARLY_S) * 1_000;
    let id = rig
        .imagine(&caller, "cut-unsent 1")
        .await
        .expect("accepted");
    while rig.clock.now_ms() < until_ms {
        second(&rig).await;
        let left_ms = until_ms - rig.clock.now_ms();
        assert_eq!(stage.books().arrived.len(), 1, "{left_ms} ms to go");
    }
    rig.until_final(&caller, &id).await;
    assert_eq!(rig.state(&caller, &id).await, JobState::Succeeded);
    assert_eq!(stage.books().arrived.len(), 2, "ordered again");
    assert_eq!(stage.taken("cut-unsent 1"), 1, "and taken once");
    assert_eq!(rig.purse(&caller).await, ("96".into(), "0".into()));
    rig.check_books().await;
}

#[tokio::test]
async fn a_part_that_was_ordered_is_taken_while_there_is_time_to_make_it() {
    let format = kling();
    let local = Local::speaking(format);
    // The answer to the first of four starts is lost, and the others are never sent.
    local.be_fronted();
    let rig = connected(format.vendor, &(format.settings)(), &local).await;
    let caller = rig.account(100_000).await;
    let picture = local.stand.url("/made.png");
    let body = json!({ "prompt": "a wave", "imageUrl": picture, "bs": 4, "resolution": "sd" });
    let id = rig.call(&caller, "artgen.video.submit", body, false).await;
    let id = id.expect("accepted");
    until_taken(&rig, &local).await;
    rig.until_final(&caller, &id).await;
    let job = rig.job(&caller, &id).await;
    assert_eq!(job.state, JobState::Succeeded, "{:?}", job.message);
    assert_eq!(local.taken(), 1, "ordered once");
    assert!(job.quota < job.price, "what was not made is not charged");
    assert_eq!(rig.purse(&caller).await.1, "0", "nothing is held");
    rig.check_books().await;
}

/// A job at a vendor whose submits take a minute at most, of so many starts; each is ordered only when its picture is there.
async fn with_starts(local: &Local, starts: u32, picture: &str) -> (Rig, Caller, JobId) {
    let format = kling();
    let mut settings = (format.settings)();
    settings["timeout_seconds"] = json!(60);
    let rig = connected(format.vendor, &settings, local).await;
    let caller = rig.account(100_000).await;
    let body = json!({ "prompt": "a wave", "imageUrl": picture, "bs": starts, "resolution": "sd" });
    let id = rig.call(&caller, "artgen.video.submit", body, false).await;
    (rig, caller, id.expect("accepted"))
}

/// The promise: each of several starts may take as long as its vendor says, so that the last of them may arrive when all of that
/// is over; until then nothing is ordered again.
#[tokio::test]
async fn what_a_killed_process_ordered_in_its_last_start_is_ordered_once() {
    let local = Local::speaking(kling());
    local.be_slow();
    local.be_silent_after(Silent::Order, 3);
    let picture = local.stand.url("/made.png");
    let (mut rig, caller, id) = with_starts(&local, 4, &picture).await;
    let began_ms = rig.clock.now_ms();
    while local.taken() < 4 {
        rig.rest().await;
    }
    // Each of the first three took most of its minute.
    while rig.clock.now_ms() < began_ms + 3 * 55_000 {
        rig.clock.advance(15_000);
        rig.engine.renew_step().await.expect("renewed");
    }
    rig.restart().await;
    local.be_silent(Silent::Never);
    let until_ms = began_ms + (4 * 60 + MARGIN_S - EARLY_S) * 1_000;
    stays(&rig, &caller, &id, &local, until_ms, "the last of four").await;
    local.catch_up();
    rig.until_final(&caller, &id).await;
    assert_eq!(rig.state(&caller, &id).await, JobState::Succeeded);
    assert_eq!(local.taken(), 4, "each was ordered once");
    rig.check_books().await;
}

/// The promise: what goes before an order, such as pictures that are slow to come, is no part of the time in which the order may
/// still arrive.
#[tokio::test]
async fn an_order_that_was_late_may_arrive_as_late() {
    let local = Local::speaking(kling());
    local.be_slow();
    local.be_silent(Silent::Order);
    let is_there = Arc::new(AtomicBool::new(false));
    let comes = Arc::clone(&is_there);
    let pictures = Stand::new(move |_| {
        while !comes.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(5));
        }
        bytes("image/png", picture())
    });
    let (mut rig, caller, id) = with_starts(&local, 1, &pictures.url("/slow.png")).await;
    rig.rest().await;
    rig.clock.advance(25_000);
    rig.engine.renew_step().await.expect("renewed");
    let ordered_ms = rig.clock.now_ms();
    is_there.store(true, Ordering::SeqCst);
    until_taken(&rig, &local).await;
    rig.restart().await;
    local.be_silent(Silent::Never);
    let until_ms = ordered_ms + (60 + MARGIN_S - EARLY_S) * 1_000;
    stays(&rig, &caller, &id, &local, until_ms, "a late order").await;
    local.catch_up();
    rig.until_final(&caller, &id).await;
    assert_eq!(rig.state(&caller, &id).await, JobState::Succeeded);
    assert_eq!(local.taken(), 1, "ordered once");
    rig.check_books().await;
}

#[tokio::test]
async fn what_may_still_arrive_at_the_deadline_ends_there_and_costs_nothing() {
    let format = kling();
    let local = Local::speaking(format);
    local.be_slow();
    local.be_fronted();
    // The vendor says of itself that a submit may take longer than any job.
    let mut settings = (format.settings)();
    settings["timeout_seconds"] = json!(3_600);
    let rig = connected(format.vendor, &settings, &local).await;
    let caller = rig.account(1_000).await;
    let body = request(format.operation, &local.stand.url("/made.png"));
    let id = rig.call(&caller, format.operation, body, false).await;
    let id = id.expect("accepted");
    until_taken(&rig, &local).await;
    rig.until_final(&caller, &id).await;
    assert_eq!(rig.state(&caller, &id).await, JobState::Failed);
    assert_eq!(local.taken(), 1, "ordered once");
    assert_eq!(rig.purse(&caller).await, ("1000".into(), "0".into()));
    rig.check_books().await;
}
