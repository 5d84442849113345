//! What the service says of itself in numbers, in the text form that Prometheus reads. Names and their order are the
//! table's.

mod exposition;
mod process;

use std::sync::Arc;

use atelier_contract::metrics::{Metric, table};
use atelier_contract::pages::stats::WorkerStats;
use atelier_engine::{NodeStats, ServiceStats};
use atelier_fairness::share::Usage;
use hyper::header::{ACCEPT, HeaderMap};

use crate::app::App;
use crate::disk;
use crate::http::denial::Denial;
use crate::http::page::Counters;
use crate::http::reply;
use crate::http::request::IncomingRequest;
use exposition::Exposition;

const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";
/// The form that carries exemplars, for who asks for it.
const OPEN: &str = "application/openmetrics-text";
const OPEN_MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// Invariants of the ledger by which a balance is what its rows say.
const SUMS: &[&str] = &["money.sum", "money.counted", "money.frozen"];

/// How much the service does.
pub(crate) async fn show(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Counters, Denial> {
    let open = takes_open(&received.head.headers);
    let mut page = Exposition::new(open);
    counted(&mut page, &app);
    shares(&mut page, &app);
    invariants(&mut page, &app);
    let reports = app.engine.admin().reports();
    here(&mut page, &reports.here());
    // A store that is away must not take the counters with it.
    let moment = reports.moment().await.ok();
    page.value(&table::STORE_UP, &[], u8::from(moment.is_some()));
    if let Some(moment) = moment {
        owed(&mut page, &moment);
    }
    if let Some((free, whole)) = disk::room(&app.config) {
        page.value(&table::DISK_FREE, &[], free);
        page.value(&table::DISK_SIZE, &[], whole);
    }
    process::show(&mut page);
    let media_type = if open { OPEN_MEDIA_TYPE } else { MEDIA_TYPE };
    Ok(Counters(reply::text(media_type, page.text())))
}

/// Whether who reads takes the form with exemplars.
fn takes_open(headers: &HeaderMap) -> bool {
    let all = headers.get_all(ACCEPT).iter();
    let mut kinds = all
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    kinds.any(|kind| {
        kind.split(';')
            .next()
            .is_some_and(|name| name.trim() == OPEN)
    })
}

/// What was counted since the start.
fn counted(page: &mut Exposition, app: &App) {
    let (commits, waiting) = app.engine.commits();
    page.value(&table::COMMIT_WAITING, &[], waiting);
    page.value(&table::HTTP_IN_FLIGHT, &[], app.request_slots.taken());
    let meters = app.engine.meters();
    let series = meters.series().into_iter().chain(commits);
    for one in series.chain([app.counts.durations()]) {
        page.series(one);
    }
    let own = [app.counts.answers(), app.engine.tracer().counts()];
    for one in meters.counters().into_iter().chain(own) {
        page.counters(one);
    }
    for (vendor, currency, cost) in meters.costs() {
        page.value(&table::VENDOR_COST, &[vendor, &currency], cost);
    }
    for (model, outcome, jobs) in meters.model_jobs() {
        page.value(&table::MODEL_JOBS, &[&model, outcome], jobs);
    }
}

/// What this node does.
fn here(page: &mut Exposition, here: &NodeStats) {
    page.value(&table::JOBS_IN_HAND, &[], here.in_hand);
    page.value(&table::JOBS_AT_VENDORS, &[], here.at_vendors);
    page.value(&table::UP, &[], seconds(here.up_ms));
    page.value(&table::CLOCK_AHEAD, &[], seconds(here.clock_ahead_ms));
    page.value(&table::BUILD, &[env!("CARGO_PKG_VERSION")], 1);
    workers(page, &here.workers);
}

/// What is owed and kept.
fn owed(page: &mut Exposition, moment: &ServiceStats) {
    let counts = [
        (&table::JOBS_WAITING, moment.waiting),
        (&table::JOBS_RUNNING, moment.running),
        (&table::CALLBACKS_DUE, moment.callbacks_due),
        (&table::CALLBACK_FAILING, moment.failing_receivers),
        (&table::STORED, moment.stored_bytes),
    ];
    for (metric, count) in counts {
        page.value(metric, &[], count);
    }
    page.value(&table::HELD, &[], moment.held.thousandths() as f64 / 1000.0);
    let ages = [
        (&table::QUEUE_OLDEST, moment.oldest_waiting_ms),
        (&table::HOLD_OLDEST, moment.oldest_held_ms),
        (&table::CALLBACK_OLDEST, moment.oldest_callback_ms),
    ];
    for (metric, age_ms) in ages {
        page.value(metric, &[], seconds(age_ms));
    }
}

fn seconds(milliseconds: i64) -> f64 {
    milliseconds as f64 / 1000.0
}

/// Invariants that are looked at all the time, some accounts after the other: zero while all is well.
fn invariants(page: &mut Exposition, app: &App) {
    let (broken, accounts) = app.engine.auditor().broken();
    let sums = broken.iter().filter(|(name, _)| SUMS.contains(name));
    let drift = sums.map(|(_, count)| *count).max().unwrap_or(0);
    page.value(&table::LEDGER_DRIFT, &[], drift);
    for (invariant, count) in broken {
        page.value(&table::BROKEN_INVARIANTS, &[invariant], count);
    }
    page.value(&table::AUDITED, &[], accounts);
}

/// How much is taken of what all accounts share, and how much the largest holder has.
fn shares(page: &mut Exposition, app: &App) {
    type Number = fn(&Usage) -> u64;
    let numbers: [(&'static Metric, Number); 4] = [
        (&table::SHARE_WHOLE, |one| one.whole),
        (&table::SHARE_TAKEN, |one| one.taken),
        (&table::SHARE_WAITING, |one| one.waiting as u64),
        (&table::SHARE_LARGEST, |one| {
            one.holders.first().map_or(0, |held| held.1)
        }),
    ];
    for shares in app.shares() {
        let usage = shares.usage();
        for (metric, number) in &numbers {
            page.value(metric, &[usage.name], number(&usage));
        }
    }
}

/// What each worker account does. Callers' own ones are left out: their number grows with the callers.
fn workers(page: &mut Exposition, all: &[WorkerStats]) {
    for one in all.iter().filter(|one| !one.custody) {
        let worker = [one.name.as_str()];
        page.value(&table::WORKER_BUSY, &worker, one.busy);
        page.value(&table::WORKER_SLOTS, &worker, one.slots);
        page.value(&table::WORKER_USABLE, &worker, u8::from(one.usable));
        if let Some(average_s) = one.average_execute {
            page.value(&table::WORKER_AVERAGE, &worker, average_s);
        }
    }
}
