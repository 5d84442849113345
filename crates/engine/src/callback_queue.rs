//! From the commit that ends a job straight to the callback sender: a callback that was claimed by that commit need not be looked
//! for, claimed and read again. What cannot be sent soon is given back to the store, where everybody finds it.

mod route;
mod route_queues;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use atelier_contract::AccountId;
use atelier_store::{Delivery, JobRow};
use tokio::sync::Notify;

use crate::context::Context;
use crate::hint::Hint;

pub(crate) use route::Route;
pub(crate) use route_queues::RouteQueues;

/// Callbacks that are on their way to the callback sender or wait there, at most. The others are owed like any.
const MOST: usize = 16_384;
/// Bytes of those that wait, at most: what a job was asked for may be long.
const MOST_BYTES: usize = 32 << 20;
/// One account may have this share of both.
const SHARE: usize = 2;

/// A claimed callback that is not heard of again is due again after this.
pub(crate) const CLAIM_MS: i64 = 30_000;
/// A try is not begun when its claim ends sooner than this: somebody else might be sending it before it is answered. With less
/// of a claim left than a try may take at the very most, it may happen still; receivers can tell by the callback's name.
pub(crate) const TRY_MS: i64 = 10_000;
/// One that was handed over and has found no place by then is given back to the store.
const WAITS_MS: i64 = 5_000;

/// A callback with the job that it tells of.
pub(crate) struct QueuedCallback {
    pub(crate) delivery: Delivery,
    pub(crate) row: JobRow,
    pub(crate) since_ms: i64,
}

impl QueuedCallback {
    /// Whether it has waited for too long.
    pub(crate) fn is_late(&self, now_ms: i64) -> bool {
        now_ms - self.since_ms > WAITS_MS
    }
}

/// What is handed over has a route, and takes memory while it waits.
pub(crate) trait QueueItem {
    fn id(&self) -> &str;
    fn route(&self) -> Route;
    fn bytes(&self) -> usize;
}

impl QueueItem for QueuedCallback {
    fn id(&self) -> &str {
        &self.delivery.id
    }

    fn route(&self) -> Route {
        Route::of(&self.delivery)
    }

    fn bytes(&self) -> usize {
        let row = &self.row;
        let texts = [&row.output, &row.message, &row.hook_url];
        let texts = texts.into_iter().flatten().map(String::len).sum::<usize>();
        size_of::<Self>() + row.request.len() + texts + self.delivery.url.len()
    }
}

/// Callbacks that were handed over and wait to be sent.
pub(crate) struct CallbackQueue<L = QueuedCallback> {
    /// Whether somebody takes callbacks from it.
    open: AtomicBool,
    /// Those that a commit is under way for, and those that wait.
    taken: AtomicUsize,
    waiting: Mutex<QueueState<L>>,
    /// Callbacks may be due in the store that nobody was handed.
    left: AtomicBool,
    /// One was handed over, or there may be a place for one.
    pub(crate) hint: Notify,
}

struct QueueState<L> {
    queues: RouteQueues<L>,
    all: Weight,
    of_account: HashMap<AccountId, Weight>,
    /// Those of which there were too many here; they are given back together.
    too_many: Vec<String>,
}

/// How many wait, and how many bytes they are.
#[derive(Clone, Copy, Default)]
struct Weight {
    items: usize,
    bytes: usize,
}

impl Weight {
    fn add(&mut self, bytes: usize) {
        self.items += 1;
        self.bytes += bytes;
    }

    fn remove(&mut self, bytes: usize) {
        self.items -= 1;
        self.bytes -= bytes;
    }

    /// Whether there is room for so many bytes more in a share of everything.
    fn has_room(&self, bytes: usize, share: usize) -> bool {
        self.items < MOST / share && self.bytes + bytes <= MOST_BYTES / share
    }
}

/// Room for one more; given back unless a callback takes it.
pub(crate) struct QueuePermit<'a>(&'a AtomicUsize);

impl Drop for QueuePermit<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl<L> Default for CallbackQueue<L> {
    fn default() -> Self {
        Self {
            open: AtomicBool::new(false),
            taken: AtomicUsize::new(0),
            waiting: Mutex::new(QueueState {
                queues: RouteQueues::default(),
                all: Weight::default(),
                of_account: HashMap::new(),
                too_many: Vec::new(),
            }),
            // Whatever an earlier process left.
            left: AtomicBool::new(true),
            hint: Notify::new(),
        }
    }
}

impl<L: QueueItem> CallbackQueue<L> {
    /// The callback sender takes what is handed over from now on, or no longer.
    pub(crate) fn open(&self, open: bool) {
        self.open.store(open, Ordering::Release);
    }

    /// Room for a callback, if there is any and somebody takes it.
    pub(crate) fn room(&self) -> Option<QueuePermit<'_>> {
        if !self.open.load(Ordering::Acquire) {
            return None;
        }
        let room = QueuePermit(&self.taken);
        (self.taken.fetch_add(1, Ordering::AcqRel) < MOST).then_some(room)
    }

    /// Hands a callback over; it comes back when nobody takes it any more.
    pub(crate) fn give(&self, room: QueuePermit<'_>, queued: L) -> Result<(), L> {
        let mut waiting = self.waiting();
        if !self.open.load(Ordering::Acquire) {
            return Err(queued);
        }
        let (route, bytes) = (queued.route(), queued.bytes());
        let account = waiting.of_account.get(&route.account_id).copied();
        let mut account = account.unwrap_or_default();
        if account.has_room(bytes, SHARE) && waiting.all.has_room(bytes, 1) {
            account.add(bytes);
            waiting.all.add(bytes);
            waiting.of_account.insert(route.account_id.clone(), account);
            waiting.queues.push(route, queued);
            // It has the room until it is taken out.
            std::mem::forget(room);
        } else {
            waiting.too_many.push(queued.id().to_owned());
        }
        drop(waiting);
        self.hint.notify_one();
        Ok(())
    }

    /// Has `choose` take out what it wants of all that waits; what it gives back is no longer here.
    pub(crate) fn take(&self, choose: impl FnOnce(&mut RouteQueues<L>) -> Vec<L>) -> Vec<L> {
        let mut waiting = self.waiting();
        let taken = choose(&mut waiting.queues);
        for one in &taken {
            let (account_id, bytes) = (one.route().account_id, one.bytes());
            waiting.all.remove(bytes);
            match waiting.of_account.get_mut(&account_id) {
                Some(weight) if weight.items > 1 => weight.remove(bytes),
                _ => drop(waiting.of_account.remove(&account_id)),
            }
        }
        self.taken.fetch_sub(taken.len(), Ordering::AcqRel);
        taken
    }

    /// Takes out those of which there were too many here, by their names.
    pub(crate) fn take_too_many(&self) -> Vec<String> {
        std::mem::take(&mut self.waiting().too_many)
    }

    /// Whether nothing waits here.
    pub(crate) fn is_empty(&self) -> bool {
        let waiting = self.waiting();
        waiting.queues.is_empty() && waiting.too_many.is_empty()
    }

    /// A callback is due in the store that nobody was handed.
    pub(crate) fn leave(&self) {
        self.left.store(true, Ordering::Release);
    }

    /// Whether callbacks may be due in the store.
    pub(crate) fn has_left(&self) -> bool {
        self.left.load(Ordering::Acquire)
    }

    /// A look at the store begins: what is left from now on is noted anew.
    pub(crate) fn look(&self) {
        self.left.store(false, Ordering::Release);
    }

    fn waiting(&self) -> MutexGuard<'_, QueueState<L>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CallbackQueue {
    /// A callback is due in the store: somebody should look, here or on another node.
    pub(crate) fn wake(&self, context: &Context) {
        self.leave();
        context.wakes().callbacks.notify_one();
        context.broadcast(Hint::Callbacks);
    }

    /// Gives back a callback that was claimed for its first try and is not sent: it is due at once.
    pub(crate) async fn return_unsent(&self, context: &Context, id: String) {
        let ids = [id];
        if let Err(error) = context
            .store()
            .deliveries()
            .return_unsent(&ids, context.steady_ms())
            .await
        {
            tracing::warn!(%error, delivery = %ids[0], "a callback could not be released; its claim will expire");
        }
        self.wake(context);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of an account, so many bytes long.
    #[derive(Debug, PartialEq)]
    struct TestItem(&'static str, usize);

    impl QueueItem for TestItem {
        fn id(&self) -> &str {
            self.0
        }

        fn route(&self) -> Route {
            Route {
                account_id: self.0.into(),
                host: "host".into(),
            }
        }

        fn bytes(&self) -> usize {
            self.1
        }
    }

    fn give(callback_queue: &CallbackQueue<TestItem>, account: &'static str, bytes: usize) -> bool {
        let room = callback_queue.room();
        room.is_some_and(|room| callback_queue.give(room, TestItem(account, bytes)).is_ok())
    }

    #[test]
    fn nothing_is_handed_over_before_somebody_takes_it_and_after_that() {
        let callback_queue: CallbackQueue<TestItem> = CallbackQueue::default();
        assert!(callback_queue.room().is_none());
        callback_queue.open(true);
        let room = callback_queue.room().expect("room");
        callback_queue.open(false);
        assert!(callback_queue.give(room, TestItem("a", 1)).is_err());
        assert_eq!(
            callback_queue.taken.load(Ordering::Acquire),
            0,
            "given back"
        );
    }

    #[test]
    fn no_account_fills_it_and_it_is_bounded() {
        let callback_queue: CallbackQueue<TestItem> = CallbackQueue::default();
        callback_queue.open(true);
        for _ in 0..=MOST / SHARE {
            assert!(give(&callback_queue, "a", 1));
        }
        let too_many = callback_queue.take_too_many();
        assert_eq!(too_many, ["a"], "one account has half of it");
        for _ in 0..MOST / SHARE {
            assert!(give(&callback_queue, "b", 1));
        }
        assert!(callback_queue.room().is_none(), "it is full");
        let out = callback_queue.take(RouteQueues::drain);
        assert_eq!(out.len(), MOST);
        assert!(callback_queue.is_empty());
        assert_eq!(callback_queue.taken.load(Ordering::Acquire), 0);
        assert!(give(&callback_queue, "a", 1));
    }

    #[test]
    fn long_ones_do_not_fill_the_memory() {
        const LONG: usize = MOST_BYTES / SHARE / 4;
        let callback_queue: CallbackQueue<TestItem> = CallbackQueue::default();
        callback_queue.open(true);
        for _ in 0..5 {
            assert!(give(&callback_queue, "a", LONG));
        }
        assert_eq!(callback_queue.take_too_many(), ["a"]);
        for account in ["b", "b", "b", "b", "c"] {
            assert!(give(&callback_queue, account, LONG));
        }
        assert_eq!(callback_queue.take_too_many(), ["c"], "of all");
        assert_eq!(callback_queue.take(RouteQueues::drain).len(), 8);
        assert!(give(&callback_queue, "c", LONG));
        assert!(
            callback_queue.take_too_many().is_empty(),
            "there is room again"
        );
    }
}
