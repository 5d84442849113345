//! Looking after jobs by looking: overdue ones end, those of silent nodes are found, those in hand are kept. It works
//! after any crash.

use std::collections::HashSet;

use atelier_contract::FaultKind;
use atelier_store::{Guard, JobRow};
use futures_util::future::join_all;

use crate::runner::runner_core::RunnerCore;
use crate::runner::settle::{failed, settle};

/// Rows looked at in one step, per kind.
pub(super) const AT_ONCE: i64 = 200;
/// How many times as many jobs of silent nodes are looked at in one step: those that only another node can take up must
/// not hide the others.
pub(super) const LOOKS: usize = 10;

/// Ends overdue jobs, all at once, so that they share commits; tells `stop` of each, and says how many.
pub(super) async fn time_out(
    core: &RunnerCore,
    stop: impl Fn(&str),
) -> Result<usize, atelier_store::Error> {
    let context = &core.context;
    let overdue = context
        .store()
        .queue()
        .overdue(context.steady_ms(), AT_ONCE)
        .await?;
    let ends = overdue.iter().map(async |id| {
        let settled = settle(core, id, Guard::Unfinished, failed(FaultKind::TimedOut, "")).await?;
        if settled.is_some() {
            stop(id);
        }
        Ok(usize::from(settled.is_some()))
    });
    join_all(ends).await.into_iter().sum()
}

/// Where in the list of jobs of silent nodes the next look begins.
pub(super) type SweepCursor = Option<(i64, String)>;

/// Jobs whose nodes went silent, and where the next look begins: behind these, or at the first when there are no more.
pub(super) async fn expired_jobs(
    core: &RunnerCore,
    from: SweepCursor,
) -> Result<(Vec<JobRow>, SweepCursor), atelier_store::Error> {
    let context = &core.context;
    let expired =
        context
            .store()
            .queue()
            .expired_leases(context.steady_ms(), from.as_ref(), AT_ONCE);
    let mut rows = expired.await?;
    let last = rows.last().filter(|_| rows.len() == AT_ONCE as usize);
    let next = last.and_then(|row| Some((row.lease_until_ms?, row.id.clone())));
    // A lease of our own ran out while we were busy, not dead: renewing it is the renewer's business.
    rows.retain(|row| {
        let ours = row.lease_owner.as_deref() == Some(context.node());
        !(ours && core.register.holds(&row.id))
    });
    Ok((rows, next))
}

/// What this node no longer has.
#[derive(Default)]
pub(super) struct LostJobs {
    /// Ended elsewhere, by a cancel or a time-out: its vendor may stop.
    pub(super) ended: Vec<String>,
    /// Taken up elsewhere: its vendor must not stop.
    pub(super) taken: Vec<(String, i64)>,
}

/// Says that this node still works on what it has in hand; which jobs it has lost.
pub(super) async fn renew(core: &RunnerCore) -> Result<LostJobs, atelier_store::Error> {
    let (context, leases) = (&core.context, core.register.leases());
    let mut gone = LostJobs::default();
    if leases.is_empty() {
        return Ok(gone);
    }
    let until_ms = context.steady_ms() + context.settings().jobs.lease_s.ms();
    let ours = context
        .store()
        .queue()
        .renew_leases(context.node(), &leases, until_ms)
        .await?;
    core.register.renewed(&ours, until_ms);
    let ours: HashSet<_> = ours.into_iter().collect();
    for (lost, fence) in leases.into_iter().filter(|(id, _)| !ours.contains(id)) {
        let row = context.store().jobs().find_of_any_account(&lost).await?;
        if row.is_none_or(|row| row.state.is_final()) {
            gone.ended.push(lost);
        } else {
            gone.taken.push((lost, fence));
        }
    }
    Ok(gone)
}

/// Writes down which jobs are worked on by now, and progress that changed.
pub(super) async fn write_progress(core: &RunnerCore) -> Result<(), atelier_store::Error> {
    let (context, now_ms) = (&core.context, core.context.now_ms());
    let notes = core.register.unwritten(now_ms);
    if notes.is_empty() {
        return Ok(());
    }
    let written = context
        .store()
        .attempts()
        .write_progress(notes.clone(), now_ms)
        .await;
    if written.is_err() {
        core.register.mark_unwritten(&notes);
        return written;
    }
    for note in &notes {
        context.wake_job(&note.job_id.as_str().into());
    }
    Ok(())
}
