//! Is it alive, is it ready, how much does it do. No key is needed.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::Value;

use super::{Answer, Received, reply};
use crate::app::App;

/// The process answers.
pub(super) async fn alive(_app: Arc<App>, _received: Received) -> Answer {
    Ok(reply::success("alive"))
}

/// The service can take requests.
pub(super) async fn ready(app: Arc<App>, _received: Received) -> Answer {
    if app.stopping.is_cancelled() {
        return Ok(reply::not_ready("stopping"));
    }
    match app.engine.ready().await {
        Ok(()) => Ok(reply::success(app.engine.pool_state())),
        Err(why) => Ok(reply::not_ready(&why)),
    }
}

/// Counters in the text form that Prometheus reads.
pub(super) async fn metrics(app: Arc<App>, _received: Received) -> Answer {
    let mut text = String::with_capacity(1024);
    let _ = writeln!(text, "# TYPE atelier_http_answers_total counter");
    for (class, count) in app.counts.by_class() {
        let _ = writeln!(
            text,
            "atelier_http_answers_total{{class=\"{class}xx\"}} {count}"
        );
    }
    let in_flight = app.config.limits.requests - app.places.available_permits();
    gauge(&mut text, "atelier_http_requests_in_flight", in_flight);
    // A store that is away must not take the counters with it.
    if let Ok(stats) = app.engine.stats().await {
        let number = |name: &str| stats.get(name).and_then(Value::as_i64).unwrap_or_default();
        gauge(&mut text, "atelier_jobs_waiting", number("waiting"));
        gauge(&mut text, "atelier_jobs_running", number("running"));
        gauge(&mut text, "atelier_jobs_in_hand", number("inHand"));
        gauge(&mut text, "atelier_callbacks_due", number("callbacksDue"));
        gauge(&mut text, "atelier_up_seconds", number("upMs") / 1000);
        gauge(&mut text, "atelier_jobs_at_vendors", number("atVendors"));
        workers(&mut text, &stats);
    }
    Ok(reply::text(
        "text/plain; version=0.0.4; charset=utf-8",
        text,
    ))
}

/// What each worker account does. Callers' own ones are left out: their number grows with the callers.
fn workers(text: &mut String, stats: &Value) {
    let listed = stats["backends"].as_array().into_iter().flatten();
    let shown: Vec<&Value> = listed.filter(|one| one["custody"] != true).collect();
    for (name, field) in [
        ("atelier_worker_busy", "busy"),
        ("atelier_worker_slots", "slots"),
        ("atelier_worker_usable", "usable"),
        ("atelier_worker_average_seconds", "averageExecute"),
    ] {
        let _ = writeln!(text, "# TYPE {name} gauge");
        for one in &shown {
            let value = match &one[field] {
                Value::Bool(flag) => u8::from(*flag).to_string(),
                Value::Number(number) => number.to_string(),
                _ => continue,
            };
            let worker = one["name"].as_str().unwrap_or_default();
            let _ = writeln!(text, "{name}{{worker=\"{worker}\"}} {value}");
        }
    }
}

fn gauge(text: &mut String, name: &str, value: impl std::fmt::Display) {
    let _ = writeln!(text, "# TYPE {name} gauge\n{name} {value}");
}
