//! One try of a callback: written, signed, posted, and what its answer means.

use atelier_backends::http::CallbackOutcome;
use atelier_contract::Refusal;
use atelier_contract::webhook::sign_webhook;
use atelier_store::{Delivery, DeliveryResult, DeliveryState, JobRow};
use bytes::Bytes;

use crate::assets::Assets;
use crate::context::Context;
use crate::crash;
use crate::render::callback_body;
use crate::tracer::{OpenSpan, SpanKind, TraceContext};

/// A callback that found no place on the way out waits this long.
const BUSY_PAUSE_MS: i64 = 1_000;
/// A receiver may ask for at most this much patience.
const RETRY_AFTER_MOST_S: u64 = 3_600;
/// What is kept of an answer.
const ANSWER_START: usize = 500;

/// Headers and body of a callback.
type CallbackRequest = (Vec<(&'static str, String)>, Bytes);

/// A claimed callback with what is needed to write it.
pub(super) struct ClaimedCallback {
    pub(super) delivery: Delivery,
    pub(super) row: Option<JobRow>,
    pub(super) secrets: Result<Vec<String>, Refusal>,
}

/// Writes a callback and posts it; `None` when it could not even be written.
pub(super) async fn send(
    context: &Context,
    assets: &Assets,
    callback: ClaimedCallback,
) -> Option<CallbackOutcome> {
    let delivery = &callback.delivery;
    let span = callback_span(context, &callback);
    match compose(
        context,
        assets,
        callback.row,
        callback.secrets,
        &delivery.id,
    ) {
        Ok((mut headers, body)) => {
            let parent = span.context().map(TraceContext::header);
            headers.extend(parent.map(|parent| ("traceparent", parent)));
            let posted = context
                .outbound()
                .post_callback(&delivery.url, &headers, body);
            let outcome = posted.await;
            let failed = (!outcome.delivered()).then(|| outcome.error.clone().unwrap_or_default());
            context.tracer().close(span, failed);
            Some(outcome)
        }
        Err(why) => {
            tracing::error!(delivery = %delivery.id, why, "a callback could not be rendered");
            None
        }
    }
}

/// A try of a callback, in the trace of its job.
fn callback_span(context: &Context, callback: &ClaimedCallback) -> OpenSpan {
    let (tracer, delivery) = (context.tracer(), &callback.delivery);
    let row = callback.row.as_ref().filter(|_| tracer.is_on());
    let trace = row.and_then(|row| TraceContext::kept_in(&row.request));
    let above = trace.map(|trace| trace.of_job(&delivery.job_id));
    tracer
        .open(above, "callback", SpanKind::Client, context.now_ms())
        .with("server.address", &delivery.host)
        .with("atelier.try", &delivery.attempts)
}

/// Writes down how a try went and when the next one is due.
pub(super) async fn record(context: &Context, delivery: Delivery, outcome: CallbackOutcome) {
    let now_ms = context.now_ms();
    let state = next_state(context, &delivery, &outcome, context.steady_ms());
    let failed = !outcome.delivered() && !outcome.busy;
    context
        .meters()
        .posted(&delivery, &state, outcome.duration_ms, now_ms);
    let result = DeliveryResult {
        id: delivery.id.clone(),
        attempts: delivery.attempts,
        failures: delivery.failures + i64::from(failed),
        state,
        status: outcome.status.map(i64::from),
        error: outcome.error,
        duration_ms: outcome.duration_ms as i64,
        answer_start: outcome.answer_start.chars().take(ANSWER_START).collect(),
        now_ms,
    };
    if let Err(error) = context.store().deliveries().finish(result).await {
        tracing::warn!(%error, delivery = %delivery.id, "the outcome of a callback could not be stored");
    }
    crash::point("callbacks.recorded");
}

/// The body, signed for this try: fetch's; that of `/jobs/v1` where there is no fetch; midjourney-proxy's for its jobs.
fn compose(
    context: &Context,
    assets: &Assets,
    row: Option<JobRow>,
    secrets: Result<Vec<String>, Refusal>,
    id: &str,
) -> Result<CallbackRequest, String> {
    let job = row.map(|row| assets.job(row)).ok_or("its job is gone")?;
    let body = callback_body(&job).ok_or("its family is gone")?;
    let secrets = secrets.map_err(|refusal| refusal.message)?;
    let timestamp_s = context.clock().machine_ms() / 1000;
    let secrets: Vec<&str> = secrets.iter().map(String::as_str).collect();
    let signature = sign_webhook(&secrets, id, timestamp_s, &body);
    let headers = vec![
        ("webhook-id", id.to_owned()),
        ("webhook-timestamp", timestamp_s.to_string()),
        ("webhook-signature", signature),
    ];
    Ok((headers, body))
}

/// What becomes of a callback after a try: delivered, given up, or due again as the schedule says, or later where the receiver
/// asks for that.
fn next_state(
    context: &Context,
    delivery: &Delivery,
    outcome: &CallbackOutcome,
    steady_ms: i64,
) -> DeliveryState {
    match outcome.status {
        Some(200..=299) => return DeliveryState::Delivered,
        Some(410) => return DeliveryState::Stopped,
        // This service had no place for it: the receiver was never asked.
        None if outcome.busy => {
            return DeliveryState::Due {
                next_ms: steady_ms + BUSY_PAUSE_MS,
            };
        }
        _ => {}
    }
    let schedule = &context.settings().callbacks.schedule_s;
    match schedule.get(delivery.failures.max(0) as usize) {
        None => DeliveryState::Exhausted,
        Some(&pause_s) => {
            let pause_ms = jittered(pause_s * 1000, context.ids().dice());
            let asked_ms = outcome.retry_after_s.unwrap_or(0).min(RETRY_AFTER_MOST_S) * 1000;
            DeliveryState::Due {
                next_ms: steady_ms + pause_ms.max(asked_ms) as i64,
            }
        }
    }
}

/// Spreads a pause over ±20 %, so that receivers that failed together are not asked together.
fn jittered(pause_ms: u64, random: [u8; 2]) -> u64 {
    let share = u64::from(u16::from_le_bytes(random));
    pause_ms * 8 / 10 + pause_ms * 4 / 10 * share / u64::from(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::jittered;

    #[test]
    fn a_pause_is_spread_by_a_fifth_either_way() {
        assert_eq!(jittered(5_000, [0, 0]), 4_000);
        assert_eq!(jittered(5_000, [255, 255]), 6_000);
        let middle = jittered(5_000, [0, 128]);
        assert!((4_990..=5_010).contains(&middle), "{middle}");
    }
}
