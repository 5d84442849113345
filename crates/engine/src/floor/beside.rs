//! Short work beside long work of the same account: what long work leaves of a vendor's slots.

use atelier_store::ShortWork;

use crate::floor::context::Context;
use crate::floor::pool::choice::{Leaves, Wish};

/// What a job leaves to short work of its account. The store is asked where the last slot is at stake, and always where other
/// nodes may have begun something that this one does not know of yet.
pub(super) async fn leaves(context: &Context, wish: &Wish<'_>, account_id: &str) -> Leaves {
    if !wish.long {
        return Leaves::Nothing;
    }
    let (house, now_ms) = (&context.house, context.house.steady_ms());
    let shared = house.store.is_postgres();
    let Some((leaves, short)) = context.pool.gives_way(wish, shared, now_ms) else {
        return Leaves::Nothing;
    };
    let short = ShortWork {
        since_ms: short.since_ms.saturating_add(house.clock.ahead_ms()),
        ..short
    };
    let found = house.store.has_short_work(account_id, &short, now_ms);
    match found.await {
        Ok(true) => leaves,
        Ok(false) => Leaves::Nothing,
        Err(error) => {
            tracing::debug!(%error, "nobody knows whether there is short work");
            Leaves::Nothing
        }
    }
}
