//! Leasing: waiting jobs for which a place is free are taken in hand.

use atelier_store::LeaseRequest;

use crate::crash;
use crate::floor::beside::{ShortSeen, leaves};
use crate::floor::context::Context;
use crate::floor::earlier::earlier;
use crate::floor::give_back::{Why, give_back};
use crate::floor::job::{Leased, RunningJob};
use crate::floor::pool::choice::{Choice, Wish};
use crate::floor::pool::open_kinds::OpenKinds;
use crate::house::House;

/// Jobs leased in one go, at most.
const LEASE_MOST: usize = 128;
/// A job that no worker account can take now although others could be taken looks again after this.
const LOOK_AGAIN_MS: i64 = 500;
/// One that another was faster than looks again after this: a kind of work may seem open to it for as long as it is not.
const LOOK_SOON_MS: i64 = 50;

/// Leases waiting jobs; gives `begin` each that has a place, and says how many were leased.
pub(super) async fn lease(
    context: &Context,
    mut begin: impl FnMut(RunningJob),
) -> Result<usize, atelier_store::Error> {
    let (house, pool) = (&context.house, &context.pool);
    if house.stopping.is_cancelled() {
        return Ok(0);
    }
    let now_ms = house.steady_ms();
    if pool.room(&[]) == 0 {
        return Ok(0);
    }
    let OpenKinds { wide, narrow } = pool.open(house.store.waiting_kinds().await?, now_ms);
    let kinds: Vec<String> = narrow.iter().map(|one| one.kind.clone()).collect();
    let kinds = [kinds, wide.clone()].concat();
    let limit = pool.room(&kinds).min(LEASE_MOST) as i64;
    if kinds.is_empty() || limit == 0 {
        return Ok(0);
    }
    let request = LeaseRequest {
        owner: house.node.clone(),
        until_ms: now_ms + house.settings.lease_ms,
        now_ms,
        ahead_ms: house.clock.ahead_ms(),
        kinds: wide,
        narrow,
        limit,
    };
    let rows = house.store.lease_next(request).await?;
    let count = rows.len();
    let mut back = Vec::new();
    for row in rows {
        crash::point("runner.leased");
        let leased = Leased::from(row);
        let earlier = earlier(house, &leased).await;
        let wish = leased.wish(&earlier);
        // Several may have been leased at once, and the last place is another matter than the first.
        let seen = &mut ShortSeen::default();
        let leaves = leaves(context, &wish, &leased.account_id, seen).await;
        let wish = Wish { leaves, ..wish };
        let taken = pool.take(&wish, leased.account_id.shared(), now_ms);
        match taken {
            Ok(slot) => begin(RunningJob::new(
                leased,
                slot,
                &context.register,
                house.steady_ms(),
            )),
            Err(choice) => {
                let picky = leased.model.is_some()
                    || leased.follows.is_some()
                    || !earlier.unable.is_empty();
                back.push((leased, choice, picky));
            }
        }
    }
    // In the order in which others lock jobs.
    back.sort_by(|one, other| one.0.id.as_str().cmp(other.0.id.as_str()));
    // Together: each would have to wait for the whole queue before it.
    let back = back.iter();
    let back = back.map(|(leased, choice, picky)| hand_back(house, leased, *choice, *picky));
    futures_util::future::join_all(back).await;
    Ok(count)
}

/// Another job was faster to the place, or none suits this very job: the lease is given back.
pub(super) async fn hand_back(house: &House, leased: &Leased, choice: Choice, picky: bool) {
    let now_ms = house.steady_ms();
    let not_before_ms = match choice {
        // The next look mostly finds no kind of work open unless a place is free; a particular worker may stay busy for long.
        Choice::Wait(until_ms) if picky => until_ms.max(now_ms + LOOK_AGAIN_MS),
        Choice::Wait(_) | Choice::Take(_) => now_ms + LOOK_SOON_MS,
        Choice::Nobody => now_ms + 10 * LOOK_AGAIN_MS,
    };
    if let Err(error) = give_back(house, leased, not_before_ms, Why::no_place()).await {
        tracing::warn!(%error, job = %leased.id, "a lease was not given back; it will run out");
    }
}
