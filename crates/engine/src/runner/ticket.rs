//! Tickets: what finds a work at its vendor again, written down before anything else is done with it.

use std::time::Duration;

use serde_json::Value;

use crate::context::Context;
use crate::runner::job::LeasedJob;

/// Waits between tries to write a ticket down or to store a result, in milliseconds.
pub(super) const PAUSES_MS: [u64; 5] = [200, 500, 1_000, 2_000, 4_000];

/// Writes down what is about to be ordered; an error is no leave to order it. False when the job is another node's by now.
pub(super) async fn write_intent(
    context: &Context,
    leased: &LeasedJob,
    attempt_id: &str,
    ticket: &Value,
) -> Result<bool, atelier_store::Error> {
    let (text, now_ms) = (ticket.to_string(), context.now_ms());
    let store = context.store();
    store
        .attempts()
        .record_ticket(&leased.id, leased.fence, attempt_id, &text, now_ms)
        .await
}

/// Writes a ticket down, patiently: the vendor has the work. False when the job is another node's by now.
pub(super) async fn write_down(
    context: &Context,
    leased: &LeasedJob,
    attempt_id: &str,
    ticket: &Value,
) -> bool {
    let text = ticket.to_string();
    let mut pauses = PAUSES_MS.into_iter();
    loop {
        let now_ms = context.now_ms();
        let written = context
            .store()
            .attempts()
            .record_ticket(&leased.id, leased.fence, attempt_id, &text, now_ms)
            .await;
        match (written, pauses.next()) {
            (Ok(ours), _) => return ours,
            (Err(error), None) => {
                // It is polled all the same; only a crash before its end would lose the trace.
                tracing::error!(%error, job = %leased.id, %ticket, "a vendor's task id could not be stored");
                return true;
            }
            (Err(_), Some(pause)) => tokio::time::sleep(Duration::from_millis(pause)).await,
        }
    }
}
