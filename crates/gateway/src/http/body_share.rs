//! What a body takes of what is shared, from before it is read until nobody needs it any more: memory, and one of the
//! places for heavy work when it is large.

use std::sync::Arc;
use std::time::Duration;

use atelier_contract::family::SMALL_BODY;
use atelier_contract::{Code, Refusal};

use atelier_fairness::background::{self, ThreadPriority};
use atelier_fairness::share::{AcquireError, FairPermit, FairSemaphore};
use tokio::time::{Instant, timeout_at};

/// The most that a page reads that needs no key: what vendors post is not larger.
pub(crate) const MOST_OPEN: usize = 4 * SMALL_BODY;

/// A body of so few bytes is no burden.
const FREE: u64 = 4096;

/// How long a large body waits for its place, of the time within which its caller is answered.
const WEIGHED_WITHIN: Duration = Duration::from_secs(5);

const NO_PLACE: &str = "too many large requests are worked on at once; try again shortly";

/// What one body has taken; it is given back when this is dropped.
#[derive(Default)]
pub(super) struct BodyShare {
    memory: Option<FairPermit>,
    work: Option<FairPermit>,
}

impl BodyShare {
    /// Makes it large enough for so many bytes.
    pub(super) fn cover(
        &mut self,
        memory: &Arc<FairSemaphore>,
        holder: &Arc<str>,
        bytes: u64,
    ) -> Result<(), AcquireError> {
        match &mut self.memory {
            Some(part) => part.grow_to(bytes),
            None if bytes <= FREE => Ok(()),
            none => {
                *none = Some(memory.try_take(holder, bytes)?);
                Ok(())
            }
        }
    }

    /// Waits for a place for heavy work when so many bytes are much; a refusal when none comes in time for a caller that waits
    /// since then.
    pub(super) async fn weigh(
        &mut self,
        work: &Arc<FairSemaphore>,
        holder: &Arc<str>,
        bytes: usize,
        since: Instant,
    ) -> Result<(), Refusal> {
        if bytes > SMALL_BODY {
            let place = timeout_at(since + WEIGHED_WITHIN, work.take(holder, 1)).await;
            let place = place.map_err(|_| Refusal::new(Code::Overloaded, NO_PLACE))?;
            self.work = Some(place);
        }
        Ok(())
    }

    /// What is done with it is heavy, however small it is.
    pub(super) fn burden(&mut self, work: FairPermit) {
        self.work = Some(work);
    }

    /// Does something with the body. What is heavy runs on a thread of its own, so that decoding and hashing megabytes
    /// holds up no other request; its share stays taken for as long as it runs, whether anybody waits for it or not.
    pub(super) async fn spend<T: Send + 'static>(
        self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<(T, Self), Refusal> {
        if self.work.is_none() {
            return Ok((work.await, self));
        }
        let done = background::spawn_waiting(async move { (work.await, self) });
        done.await.map_err(broken)
    }

    /// Works something out of the body, without waiting for anything. What is heavy gives way to other requests.
    pub(super) async fn work_out<T: Send + 'static>(
        self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<(T, Self), Refusal> {
        if self.work.is_none() {
            return Ok((work(), self));
        }
        let done = background::spawn(ThreadPriority::Single, move || (work(), self));
        done.await.map_err(broken)
    }
}

fn broken(_: tokio::task::JoinError) -> Refusal {
    Refusal::new(Code::Internal, "the body could not be worked on")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The promise: a large body that finds every place taken is refused in time, whatever those before it wait for.
    #[tokio::test]
    async fn nobody_waits_for_a_place_without_end() {
        let work = FairSemaphore::elastic("work", 1);
        let holder: Arc<str> = "a network".into();
        let other = work.take(&holder, 1).await;
        let since = Instant::now() - WEIGHED_WITHIN;
        let mut share = BodyShare::default();
        let small = share.weigh(&work, &holder, SMALL_BODY, since).await;
        small.expect("needs no place");
        let refused = share.weigh(&work, &holder, SMALL_BODY + 1, since).await;
        assert_eq!(refused.expect_err("no place").code, Code::Overloaded);
        drop(other);
        let taken = share.weigh(&work, &holder, SMALL_BODY + 1, since).await;
        taken.expect("a place is free");
        assert_eq!(work.held(&holder), 1);
    }
}
