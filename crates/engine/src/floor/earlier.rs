//! What became of a job at those who were asked before.

use atelier_store::UNABLE;

use crate::floor::job::Leased;
use crate::floor::pool::choice::Earlier;
use crate::house::House;
use crate::names::WorkerName;

/// Who cannot do a job and who failed at it twice. Nobody was asked when this is its first lease.
pub(super) async fn earlier(house: &House, leased: &Leased) -> Earlier {
    let mut earlier = Earlier::default();
    if leased.fence <= 1 {
        return earlier;
    }
    // Not knowing costs one more refusal.
    let attempts = house.store.failed_attempts(&leased.id).await;
    let mut failed = Vec::new();
    for (worker, state) in attempts.unwrap_or_default() {
        let worker = WorkerName::read(&worker);
        if state == UNABLE {
            earlier.unable.push(worker.backend().clone());
        } else if failed.contains(&worker) {
            earlier.failing.push(worker);
        } else {
            failed.push(worker);
        }
    }
    earlier
}
