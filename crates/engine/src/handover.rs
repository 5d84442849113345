//! From the commit that ends a job straight to the courier: a callback that was claimed by that commit need not be looked
//! for, claimed and read again. What cannot be sent soon is given back to the store, where everybody finds it.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use atelier_store::{Delivery, JobRow};
use tokio::sync::Notify;

/// Callbacks that are on their way to the courier or wait there, at most. The others are owed like any.
const MOST: usize = 2_048;
/// Of one account.
const OF_ONE: usize = MOST / 2;

/// A claimed callback that is not heard of again is due again after this. A try waits for its turn for ten seconds at
/// the most and then takes eleven.
pub(crate) const CLAIM_MS: i64 = 30_000;
/// One that was handed over and has found no place by then is given back to the store.
const WAITS_MS: i64 = 5_000;

/// A callback with the job that it tells of.
pub(crate) struct Handed {
    pub(crate) delivery: Delivery,
    pub(crate) row: JobRow,
    pub(crate) since_ms: i64,
}

impl Handed {
    /// Whether it has waited for too long.
    pub(crate) fn is_late(&self, now_ms: i64) -> bool {
        now_ms - self.since_ms > WAITS_MS
    }
}

/// What is handed over belongs to an account.
pub(crate) trait Letter {
    fn account_id(&self) -> &str;
}

impl Letter for Handed {
    fn account_id(&self) -> &str {
        &self.delivery.account_id
    }
}

/// Callbacks that were handed over and wait to be sent.
pub(crate) struct Handover<L = Handed> {
    /// Somebody takes them.
    open: AtomicBool,
    /// Those that a commit is under way for, and those that wait.
    taken: AtomicUsize,
    waiting: Mutex<Waiting<L>>,
    /// Callbacks may be due in the store that nobody was handed.
    left: AtomicBool,
    /// One was handed over, or there may be a place for one.
    pub(crate) hint: Notify,
}

struct Waiting<L> {
    letters: VecDeque<L>,
    of_account: HashMap<String, usize>,
    /// Those of which their account had too many here; they are given back together.
    too_many: Vec<L>,
}

/// Room for one more; given back unless a callback takes it.
pub(crate) struct Room<'a>(&'a AtomicUsize);

impl Drop for Room<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl<L> Default for Handover<L> {
    fn default() -> Self {
        Self {
            open: AtomicBool::new(false),
            taken: AtomicUsize::new(0),
            waiting: Mutex::new(Waiting {
                letters: VecDeque::new(),
                of_account: HashMap::new(),
                too_many: Vec::new(),
            }),
            // Whatever an earlier process left.
            left: AtomicBool::new(true),
            hint: Notify::new(),
        }
    }
}

impl<L: Letter> Handover<L> {
    /// The courier takes what is handed over from now on, or no longer.
    pub(crate) fn open(&self, open: bool) {
        self.open.store(open, Ordering::Release);
    }

    /// Room for a callback, if there is any and somebody takes it.
    pub(crate) fn room(&self) -> Option<Room<'_>> {
        if !self.open.load(Ordering::Acquire) {
            return None;
        }
        let room = Room(&self.taken);
        (self.taken.fetch_add(1, Ordering::AcqRel) < MOST).then_some(room)
    }

    /// Hands a callback over; it comes back when nobody takes it any more.
    pub(crate) fn give(&self, room: Room<'_>, handed: L) -> Result<(), L> {
        let mut waiting = self.waiting();
        if !self.open.load(Ordering::Acquire) {
            return Err(handed);
        }
        let account = handed.account_id();
        let count = waiting.of_account.get(account).copied().unwrap_or(0);
        if count >= OF_ONE {
            waiting.too_many.push(handed);
        } else {
            waiting.of_account.insert(account.to_owned(), count + 1);
            waiting.letters.push_back(handed);
        }
        drop(waiting);
        // It has the room until it is taken out.
        std::mem::forget(room);
        self.hint.notify_one();
        Ok(())
    }

    /// Has `choose` take out what it wants of all that waits; what it gives back is no longer here.
    pub(crate) fn take(&self, choose: impl FnOnce(&mut VecDeque<L>) -> Vec<L>) -> Vec<L> {
        let mut waiting = self.waiting();
        let taken = choose(&mut waiting.letters);
        for one in &taken {
            let account = one.account_id();
            match waiting.of_account.get_mut(account) {
                Some(count) if *count > 1 => *count -= 1,
                _ => drop(waiting.of_account.remove(account)),
            }
        }
        self.taken.fetch_sub(taken.len(), Ordering::AcqRel);
        taken
    }

    /// Takes out those of which their accounts had too many here.
    pub(crate) fn take_too_many(&self) -> Vec<L> {
        let taken = std::mem::take(&mut self.waiting().too_many);
        self.taken.fetch_sub(taken.len(), Ordering::AcqRel);
        taken
    }

    /// Whether nothing waits here.
    pub(crate) fn is_empty(&self) -> bool {
        let waiting = self.waiting();
        waiting.letters.is_empty() && waiting.too_many.is_empty()
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

    fn waiting(&self) -> MutexGuard<'_, Waiting<L>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Letter for &'static str {
        fn account_id(&self) -> &str {
            self
        }
    }

    fn give(handover: &Handover<&'static str>, account: &'static str) -> bool {
        let room = handover.room();
        room.is_some_and(|room| handover.give(room, account).is_ok())
    }

    #[test]
    fn nothing_is_handed_over_before_somebody_takes_it_and_after_that() {
        let handover: Handover<&'static str> = Handover::default();
        assert!(handover.room().is_none());
        handover.open(true);
        let room = handover.room().expect("room");
        handover.open(false);
        assert!(handover.give(room, "a").is_err());
        assert_eq!(handover.taken.load(Ordering::Acquire), 0, "given back");
    }

    #[test]
    fn no_account_fills_it_and_it_is_bounded() {
        let handover: Handover<&'static str> = Handover::default();
        handover.open(true);
        for _ in 0..OF_ONE {
            assert!(give(&handover, "a"));
        }
        assert!(give(&handover, "a"));
        assert_eq!(
            handover.take_too_many(),
            ["a"],
            "one account has half of it"
        );
        for _ in 0..OF_ONE {
            assert!(give(&handover, "b"));
        }
        assert!(handover.room().is_none(), "it is full");
        let out = handover.take(|letters| letters.drain(..).collect());
        assert_eq!(out.len(), MOST);
        assert!(handover.is_empty());
        assert_eq!(handover.taken.load(Ordering::Acquire), 0);
        assert!(give(&handover, "a"));
    }
}
