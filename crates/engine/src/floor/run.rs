//! Work on a leased job until it is over or with its vendor.

use std::time::Duration;

use atelier_backends::{Fault, Made};
use tokio::sync::SemaphorePermit;

use crate::floor::begin::{Begun, begin};
use crate::floor::context::Context;
use crate::floor::fail::{UNKNOWN, fail, fail_or_retry, not_made};
use crate::floor::finish::finish_at_once;
use crate::floor::job::RunningJob;
use crate::floor::lease::hand_back;
use crate::floor::pool::choice::Choice;
use crate::floor::settle::broken;

/// A start that nobody waits for any more still gets this long to name its ticket, so that it can be cancelled.
pub(super) const LATE_TICKET: Duration = Duration::from_secs(30);

/// A result of more bytes keeps its place until it is stored: memory is what the places bound then.
const SMALL_RESULT_BYTES: usize = 256 * 1024;

/// Has a worker account begin a job; gives it back when its vendor has to be asked about it from now on.
pub(super) async fn run(context: &Context, job: RunningJob) -> Option<RunningJob> {
    let stop = job.stop();
    let begun = {
        // What is over soon or not yet begun has its memory to itself: a job may be worked on for long.
        let mut attempt = Box::pin(begin(context, &job));
        let left = leave(context, &job);
        tokio::pin!(left);
        let mut rests = false;
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => {
                    // Cancelled, or the lease is gone: whoever did that has settled or will.
                    if job.slot.recorded() && let Ok(Ok(Begun::Ticket(_, ticket))) =
                        tokio::time::timeout(LATE_TICKET, attempt).await
                    {
                        job.backend().cancel(&ticket).await;
                    }
                    return None;
                }
                begun = &mut attempt => break begun,
                () = &mut left => {
                    // What was written down is found by whoever takes the job up; the rest is nobody's try.
                    if !job.slot.recorded() {
                        let now = Choice::Wait(context.house.steady_ms());
                        Box::pin(hand_back(&context.house, &job.leased, now, false)).await;
                    }
                    return None;
                }
                now = job.signals().progress.rests_unlike(rests) => {
                    rests = now;
                    job.slot.step_aside(rests);
                    context.house.wakes.work.notify_one();
                }
            }
        }
    };
    Box::pin(end(context, job, begun)).await
}

/// Acts on what came of the beginning. In hand until it is settled: the lease is renewed and progress does not fall back
/// while files are stored.
async fn end(
    context: &Context,
    mut job: RunningJob,
    begun: Result<Begun, Fault>,
) -> Option<RunningJob> {
    let (house, leased) = (&context.house, &job.leased);
    match begun {
        Ok(Begun::Ticket(work, ticket)) => {
            job.signals().set_paid(false);
            return Some(job.at_vendor(work, Some(ticket)));
        }
        Ok(Begun::LookUp(work, asked_ms)) => {
            return Some(job.asked_at(asked_ms).at_vendor(work, None));
        }
        Ok(Begun::Done(made, work)) => {
            let asked = work.brief.count;
            job.work = Some(work);
            let _ending = give_place_back(context, &job, &made);
            finish_at_once(context, &job, (made, asked)).await;
        }
        Ok(Begun::Unknown) => fail(house, leased, broken(UNKNOWN)).await,
        Ok(Begun::Repeat(fault)) => fail_or_retry(house, leased, &fault).await,
        Ok(Begun::Lost) => {}
        Ok(Begun::Full) => hand_back(house, leased, Choice::Wait(house.steady_ms()), true).await,
        Ok(Begun::NotHere(why)) => {
            tracing::warn!(job = %leased.id, why, "another node has to work on a job");
            hand_back(house, leased, Choice::Nobody, true).await;
        }
        Err(fault) => not_made(context, leased, job.worker(), &fault).await,
    }
    None
}

/// The work inside this process is done: its place goes to the next job while the disk takes the result, provided that the
/// result is small and there is room for one more that waits. A vendor's place is counted by the store until the end.
fn give_place_back<'a>(
    context: &'a Context,
    job: &RunningJob,
    made: &Made,
) -> Option<SemaphorePermit<'a>> {
    let bytes: usize = made.files.iter().map(|file| file.bytes.len()).sum();
    if job.slot.recorded() || bytes > SMALL_RESULT_BYTES {
        return None;
    }
    let ending = context.endings.try_acquire().ok()?;
    job.slot.step_aside(true);
    context.house.wakes.work.notify_one();
    Some(ending)
}

/// The process is about to end, and somebody else can go on with the job: its lease is handed back. A call that costs
/// and that nobody can find again goes on, and so does work whose caller waits here for the answer.
async fn leave(context: &Context, job: &RunningJob) {
    let house = &context.house;
    house.stopping.cancelled().await;
    if job.signals().is_paid() || house.wakes.is_watched(job.id()) {
        std::future::pending::<()>().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::floor::question;

    fn bytes<J, F: Future>(_: impl Fn(&'static Context, J) -> F) -> usize {
        size_of::<F>()
    }

    /// Jobs are worked on by the thousand, and each is moved to its task once.
    #[test]
    fn what_waits_for_a_job_is_small() {
        let (working, asking) = (bytes(run), bytes(question::ask));
        let beginning = bytes::<&'static RunningJob, _>(begin);
        assert!(working <= 2_048, "{working} bytes to work on a job");
        assert!(asking <= 2_048, "{asking} bytes to ask about a job");
        assert!(beginning <= 3_072, "{beginning} bytes to begin a job");
    }
}
