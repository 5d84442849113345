//! Work on a leased job until it is over or with its vendor.

use std::time::Duration;

use atelier_backends::backend::LostSubmit;
use atelier_backends::{Fault, WorkOutput};
use tokio::sync::SemaphorePermit;

use crate::runner::abandon::AbandonedJob;
use crate::runner::begin::{JobStart, begin};
use crate::runner::fail::{UNKNOWN, fail_or_retry, not_made};
use crate::runner::finish::{fail_paid, finish_at_once};
use crate::runner::job::RunningJob;
use crate::runner::lease::hand_back;
use crate::runner::poll::vendor_failed;
use crate::runner::pool::choice::Choice;
use crate::runner::runner_core::RunnerCore;
use crate::runner::settle::internal_failure;

/// A start that nobody waits for any more still gets this long to name its ticket, so that it can be cancelled.
pub(super) const LATE_TICKET: Duration = Duration::from_secs(30);

/// A result of more bytes keeps its place until it is stored: memory is what the places bound then.
const SMALL_RESULT_BYTES: usize = 256 * 1024;

/// Has a worker account begin a job; gives it back when its vendor has to be asked about it from now on.
pub(super) async fn run(core: &RunnerCore, job: RunningJob) -> Option<RunningJob> {
    let stop = job.stop();
    let begun = {
        // What is over soon or not yet begun has its memory to itself: a job may be worked on for long.
        let mut attempt = Box::pin(begin(core, &job));
        let left = until_handed_back(core, &job);
        tokio::pin!(left);
        let mut rests = false;
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => {
                    // Cancelled, or the lease is gone: whoever did that has settled or will.
                    if job.slot.recorded() && let Ok(Ok(JobStart::Ticket(work, ticket))) =
                        tokio::time::timeout(LATE_TICKET, attempt).await
                    {
                        Box::pin(AbandonedJob::of(&job, &work, ticket).end(core)).await;
                    }
                    return None;
                }
                begun = &mut attempt => break begun,
                () = &mut left => {
                    // What was written down is found by whoever takes the job up; the rest is nobody's try.
                    if !job.slot.recorded() {
                        let now = Choice::Wait(core.context.steady_ms());
                        Box::pin(hand_back(&core.context, &job.leased, now, false)).await;
                    }
                    return None;
                }
                now = job.signals().progress.idle_changed(rests) => {
                    rests = now;
                    job.slot.step_aside(rests);
                    core.context.wakes().work.notify_one();
                }
            }
        }
    };
    Box::pin(end(core, job, begun)).await
}

/// Acts on what came of the beginning. In hand until it is settled: the lease is renewed and progress does not fall back
/// while files are stored.
async fn end(
    core: &RunnerCore,
    mut job: RunningJob,
    begun: Result<JobStart, Fault>,
) -> Option<RunningJob> {
    let (context, leased) = (&core.context, &job.leased);
    match begun {
        Ok(JobStart::Ticket(work, ticket)) => {
            job.signals().set_paid(false);
            return Some(job.at_vendor(work, Some(ticket)));
        }
        Ok(JobStart::LookUp(work, asked_ms)) => {
            return Some(job.asked_at(asked_ms).at_vendor(work, None));
        }
        Ok(JobStart::Done(made, work)) => {
            let asked = work.brief.count;
            job.work = Some(work);
            let _ending = release_slot_early(core, &job, &made);
            finish_at_once(core, &job, made, asked).await;
        }
        Ok(JobStart::Unknown(cost)) => {
            fail_paid(core, &job, cost.as_ref(), internal_failure(UNKNOWN)).await;
        }
        Ok(JobStart::Repeat(fault)) => fail_or_retry(core, leased, &fault).await,
        Ok(JobStart::Lost) => {}
        Ok(JobStart::Full) => {
            hand_back(context, leased, Choice::Wait(context.steady_ms()), true).await;
        }
        Ok(JobStart::NotHere(why)) => {
            tracing::warn!(job = %leased.id, why, "a job is left to another node");
            hand_back(context, leased, Choice::Nobody, true).await;
        }
        // What costs nothing may always be made anew.
        Err(fault) if fault.cost.is_some() && job.backend().lost_submit() != LostSubmit::Repeat => {
            vendor_failed(core, &job, &fault).await;
        }
        Err(fault) => not_made(core, leased, job.worker(), &fault).await,
    }
    None
}

/// The work inside this process is done: its place goes to the next job while the disk takes the result, provided that the
/// result is small and there is room for one more that waits. A vendor's place is counted by the store until the end.
fn release_slot_early<'a>(
    core: &'a RunnerCore,
    job: &RunningJob,
    made: &WorkOutput,
) -> Option<SemaphorePermit<'a>> {
    let bytes: usize = made.files.iter().map(|file| file.bytes.len()).sum();
    if job.slot.recorded() || bytes > SMALL_RESULT_BYTES {
        return None;
    }
    let ending = core.endings.try_acquire().ok()?;
    job.slot.step_aside(true);
    core.context.wakes().work.notify_one();
    Some(ending)
}

/// The process is about to end, and somebody else can go on with the job: its lease is handed back. A call that costs
/// and that nobody can find again goes on, and so does work whose caller waits here for the answer.
async fn until_handed_back(core: &RunnerCore, job: &RunningJob) {
    let context = &core.context;
    context.stopping().cancelled().await;
    if job.signals().is_paid() || context.wakes().is_watched(job.id()) {
        std::future::pending::<()>().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::poll;

    fn bytes<J, F: Future>(_: impl Fn(&'static RunnerCore, J) -> F) -> usize {
        size_of::<F>()
    }

    /// Jobs are worked on by the thousand, and each is moved to its task once.
    #[test]
    fn what_waits_for_a_job_is_small() {
        let (working, asking) = (bytes(run), bytes(poll::poll));
        let beginning = bytes::<&'static RunningJob, _>(begin);
        assert!(working <= 2_048, "{working} bytes to work on a job");
        assert!(asking <= 2_048, "{asking} bytes to ask about a job");
        assert!(beginning <= 3_072, "{beginning} bytes to begin a job");
    }
}
