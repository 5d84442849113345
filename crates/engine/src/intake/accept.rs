//! Acceptance: quota held, job queued and answer remembered in one commit; with a place free, the work begins at once.

use std::sync::Arc;

use atelier_contract::{Code, JobId, Refusal};
use atelier_store::{Accept, Accepted, Idempotency, Lease, NewJob};

use crate::crash;
use crate::floor::{Choice, Earlier, Floor, Lane, Leased, Slot, Wish};
use crate::house::{House, unavailable};
use crate::intake::call::Submitted;
use crate::names::WorkerName;

/// Accepts a job or refuses it.
pub(super) async fn accept(
    house: Arc<House>,
    floor: Arc<Floor>,
    job: NewJob,
    model: Option<String>,
    idempotency: Option<Idempotency>,
) -> Result<Submitted, Refusal> {
    // Born leased: with a slot free, no second commit is needed before the work starts.
    let slot = slot_for(&floor, &job, model.as_deref())?;
    let lease = slot.as_ref().map(|_| Lease {
        owner: house.node.clone(),
        until_ms: job.created_ms + house.settings.lease_ms,
    });
    crash::point("submit.before_accept");
    let accept = Accept {
        job: job.clone(),
        ledger_id: house.ids.uuid(),
        idempotency,
        lease,
    };
    let accepted = house.store.accept(accept).await.map_err(unavailable)?;
    crash::point("submit.accepted");
    let refuse = |code: Code, message: String| Err(Refusal::new(code, message));
    let (job_id, replayed) = match accepted {
        Accepted::New { fence } => {
            let job_id = job.id.clone();
            match slot {
                Some(slot) => floor.start(Leased::born(job, model, fence), slot),
                None => house.wake_work(),
            }
            (job_id, false)
        }
        Accepted::Replayed { job_id } => (job_id, true),
        Accepted::Mismatch => {
            let message =
                "Idempotency-Key: was used with another body; use a new key for a new request";
            return refuse(Code::IdempotencyMismatch, message.into());
        }
        Accepted::QuotaShort { balance } => {
            let price = job.price;
            let message = format!("the request costs {price} quota, the balance is {balance}");
            return refuse(Code::InsufficientQuota, message);
        }
        Accepted::QueueFull { max_queue } => {
            let message = format!(
                "the queue holds {max_queue} unfinished jobs at most; wait for one to finish"
            );
            return refuse(Code::QueueFull, message);
        }
        Accepted::NoAccount => {
            return refuse(Code::Unauthorized, "the account no longer exists".into());
        }
    };
    Ok(Submitted {
        job_id: JobId::new(job_id),
        replayed,
    })
}

/// A place for a new job; none when it has to wait, and a refusal when waiting is of no use.
fn slot_for(floor: &Floor, job: &NewJob, model: Option<&str>) -> Result<Option<Slot>, Refusal> {
    let follows = job.follows.as_deref().map(WorkerName::read);
    let wish = Wish {
        operation: &job.operation,
        speed: job.speed,
        model,
        lane: Lane::read(&job.lane),
        follows: follows.as_ref(),
        price: job.price,
        earlier: Earlier::NONE,
    };
    match floor.take(&wish, job.created_ms) {
        Ok(slot) => Ok(Some(slot)),
        Err(Choice::Wait(until_ms)) if until_ms < job.deadline_ms => Ok(None),
        Err(Choice::Take(_)) => Ok(None),
        Err(Choice::Wait(_) | Choice::Nobody) => Err(Refusal::new(
            Code::NoAvailableAccount,
            "No available accounts",
        )),
    }
}
