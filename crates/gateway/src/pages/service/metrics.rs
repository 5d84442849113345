//! Counters in the text form that Prometheus reads.

use std::fmt::{Display, Write as _};
use std::sync::Arc;

use atelier_contract::pages::stats::WorkerStats;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::Counters;
use crate::http::received::Received;
use crate::http::reply;
use atelier_engine::shares::Usage;

/// How much the service does.
pub(crate) async fn show(app: Arc<App>, _: Received, (): ()) -> Result<Counters, Denial> {
    let mut text = String::with_capacity(1024);
    let _ = writeln!(text, "# TYPE atelier_http_answers_total counter");
    for (class, count) in app.counts.by_class() {
        let _ = writeln!(
            text,
            "atelier_http_answers_total{{class=\"{class}xx\"}} {count}"
        );
    }
    gauge(
        &mut text,
        "atelier_http_requests_in_flight",
        app.places.taken(),
    );
    shares(&mut text, &app);
    invariants(&mut text, &app);
    // A store that is away must not take the counters with it.
    if let Ok(stats) = app.engine.office().reports().stats().await {
        gauge(&mut text, "atelier_jobs_waiting", stats.waiting);
        gauge(&mut text, "atelier_jobs_running", stats.running);
        gauge(&mut text, "atelier_jobs_in_hand", stats.in_hand);
        gauge(&mut text, "atelier_callbacks_due", stats.callbacks_due);
        gauge(&mut text, "atelier_up_seconds", stats.up_ms / 1000);
        gauge(&mut text, "atelier_jobs_at_vendors", stats.at_vendors);
        workers(&mut text, &stats.backends);
    }
    let media_type = "text/plain; version=0.0.4; charset=utf-8";
    Ok(Counters(reply::text(media_type, text)))
}

/// Invariants that are looked at all the time, some accounts after the other: zero while all is well.
fn invariants(text: &mut String, app: &App) {
    let (broken, accounts) = app.engine.auditor().broken();
    let _ = writeln!(text, "# TYPE atelier_broken_invariants gauge");
    for (invariant, count) in broken {
        let _ = writeln!(
            text,
            "atelier_broken_invariants{{invariant=\"{invariant}\"}} {count}"
        );
    }
    let _ = writeln!(
        text,
        "# TYPE atelier_audited_accounts_total counter\natelier_audited_accounts_total {accounts}"
    );
}

/// How much is taken of what all accounts share, and how much the largest holder has.
fn shares(text: &mut String, app: &App) {
    let all: Vec<_> = app.shares().map(|shares| shares.usage()).collect();
    for (name, number) in [
        ("whole", (|one| one.whole) as fn(&Usage) -> u64),
        ("taken", |one| one.taken),
        ("waiting", |one| one.waiting as u64),
        ("largest", |one| {
            one.holders.first().map_or(0, |held| held.1)
        }),
    ] {
        let _ = writeln!(text, "# TYPE atelier_share_{name} gauge");
        for one in &all {
            let (of, number) = (one.name, number(one));
            let _ = writeln!(text, "atelier_share_{name}{{of=\"{of}\"}} {number}");
        }
    }
}

/// What each worker account does. Callers' own ones are left out: their number grows with the callers.
fn workers(text: &mut String, all: &[WorkerStats]) {
    let mut gauges = |name: &str, value: fn(&WorkerStats) -> Option<f64>| {
        let _ = writeln!(text, "# TYPE {name} gauge");
        for one in all.iter().filter(|one| !one.custody) {
            if let Some(value) = value(one) {
                let worker = &one.name;
                let _ = writeln!(text, "{name}{{worker=\"{worker}\"}} {value}");
            }
        }
    };
    gauges("atelier_worker_busy", |one| Some(one.busy as f64));
    gauges("atelier_worker_slots", |one| Some(one.slots as f64));
    gauges("atelier_worker_usable", |one| {
        Some(f64::from(u8::from(one.usable)))
    });
    gauges("atelier_worker_average_seconds", |one| one.average_execute);
}

fn gauge(text: &mut String, name: &str, value: impl Display) {
    let _ = writeln!(text, "# TYPE {name} gauge\n{name} {value}");
}
