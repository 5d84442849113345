//! Leasing: waiting jobs for which a place is free are taken in hand.

use atelier_store::LeaseRequest;

use crate::context::Context;
use crate::crash;
use crate::runner::accepted_model::find_model;
use crate::runner::fail::fail;
use crate::runner::headroom::{ShortSeen, headroom_for};
use crate::runner::hopeless::{NOBODY, is_hopeless};
use crate::runner::job::{LeasedJob, RunningJob};
use crate::runner::past_failures::load_past_failures;
use crate::runner::pool::choice::{Choice, Requirements};
use crate::runner::pool::leasable_kinds::LeasableKinds;
use crate::runner::requeue::{RequeueReason, requeue};
use crate::runner::runner_core::RunnerCore;
use crate::runner::settle::internal_failure;

/// Jobs leased in one go, at most.
const LEASE_MOST: usize = 128;
/// A job that no worker account can take now although others could be taken looks again after this.
const LOOK_AGAIN_MS: i64 = 500;
/// One that another was faster than looks again after this: a kind of work may seem open to it for as long as it is not.
const LOOK_SOON_MS: i64 = 50;

/// Leases waiting jobs; gives `begin` each that has a place, and says how many were leased.
pub(super) async fn lease(
    core: &RunnerCore,
    mut begin: impl FnMut(RunningJob),
) -> Result<usize, atelier_store::Error> {
    let (context, pool) = (&core.context, &core.pool);
    if context.stopping().is_cancelled() {
        return Ok(0);
    }
    let now_ms = context.steady_ms();
    if pool.room(&[]) == 0 {
        return Ok(0);
    }
    let LeasableKinds { wide, narrow } =
        pool.leasable(context.store().queue().waiting_kinds().await?, now_ms);
    let kinds: Vec<String> = narrow.iter().map(|one| one.kind.clone()).collect();
    let kinds = [kinds, wide.clone()].concat();
    let limit = pool.room(&kinds).min(LEASE_MOST) as i64;
    if kinds.is_empty() || limit == 0 {
        return Ok(0);
    }
    let request = LeaseRequest {
        owner: context.node().to_owned(),
        until_ms: now_ms + context.settings().jobs.lease_s.ms(),
        now_ms,
        ahead_ms: context.clock().ahead_ms(),
        kinds: wide,
        narrow,
        limit,
    };
    let rows = context.store().queue().lease_next(request).await?;
    let count = rows.len();
    let mut back = Vec::new();
    for row in rows {
        crash::point("runner.leased");
        let mut leased = LeasedJob::from(row);
        if !find_model(core, &mut leased).await {
            back.push((leased, Choice::Wait(now_ms), true));
            continue;
        }
        let past_failures = load_past_failures(context, &leased).await;
        let requirements = leased.requirements(&past_failures);
        // Several may have been leased at once, and the last place is another matter than the first.
        let seen = &mut ShortSeen::default();
        let headroom = headroom_for(core, &requirements, &leased.account_id, seen).await;
        let requirements = Requirements {
            headroom,
            ..requirements
        };
        let taken = pool.take(&requirements, leased.account_id.shared(), now_ms);
        match taken {
            Ok(slot) => begin(RunningJob::new(
                leased,
                slot,
                &core.register,
                context.steady_ms(),
            )),
            Err(choice) => {
                if is_hopeless(core, &requirements, leased.deadline_ms).await {
                    fail(core, &leased, internal_failure(NOBODY)).await;
                    continue;
                }
                let picky = leased.model.is_some()
                    || leased.catalogue_model.is_some()
                    || leased.follows.is_some()
                    || !past_failures.unable.is_empty();
                back.push((leased, choice, picky));
            }
        }
    }
    hand_all_back(context, back).await;
    Ok(count)
}

/// Gives leases back, each with what came of its choice and whether it asks for something particular.
async fn hand_all_back(context: &Context, mut back: Vec<(LeasedJob, Choice, bool)>) {
    // In the order in which others lock jobs.
    back.sort_by(|one, other| one.0.id.as_str().cmp(other.0.id.as_str()));
    // Together: each would have to wait for the whole queue before it.
    let back = back.iter();
    let back = back.map(|(leased, choice, picky)| hand_back(context, leased, *choice, *picky));
    futures_util::future::join_all(back).await;
}

/// Another job was faster to the place, or none suits this very job: the lease is given back.
pub(super) async fn hand_back(context: &Context, leased: &LeasedJob, choice: Choice, picky: bool) {
    let now_ms = context.steady_ms();
    let not_before_ms = match choice {
        // The next look mostly finds no kind of work open unless a place is free; a particular worker may stay busy for long.
        Choice::Wait(until_ms) if picky => until_ms.max(now_ms + LOOK_AGAIN_MS),
        Choice::Wait(_) | Choice::Take(_) => now_ms + LOOK_SOON_MS,
        Choice::Nobody => now_ms + 10 * LOOK_AGAIN_MS,
    };
    if let Err(error) = requeue(context, leased, not_before_ms, RequeueReason::no_slot()).await {
        tracing::warn!(%error, job = %leased.id, "a lease could not be released; it will expire");
    }
}
