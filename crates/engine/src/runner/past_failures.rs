//! What became of a job at those who were asked before.

use atelier_store::UNABLE;

use crate::context::Context;
use crate::names::WorkerName;
use crate::runner::job::LeasedJob;
use crate::runner::pool::choice::PastFailures;

/// Who cannot do a job and who failed at it twice. Nobody was asked when this is its first lease.
pub(super) async fn load_past_failures(context: &Context, leased: &LeasedJob) -> PastFailures {
    let mut past_failures = PastFailures::default();
    if leased.fence <= 1 {
        return past_failures;
    }
    // Not knowing costs one more refusal.
    let attempts = context.store().attempts().failed(&leased.id).await;
    let mut failed = Vec::new();
    for (worker, state) in attempts.unwrap_or_default() {
        let worker = WorkerName::read(&worker);
        if state == UNABLE {
            past_failures.unable.push(worker.backend().clone());
        } else if failed.contains(&worker) {
            past_failures.failing.push(worker);
        } else {
            failed.push(worker);
        }
    }
    past_failures
}
