//! Places of requests that are being answered. Those who are known have places that nobody else can take: accounts theirs,
//! operators theirs. Pages that need no key have few, and so have keys and tokens while it is looked up whose they are; there
//! a network stands for whoever calls, and whoever was known lately has places apart. Nobody has one while it only waits: for a
//! body, or because its network guessed too much. A place is given back as soon as the answer is made.

use std::sync::Arc;

use atelier_fairness::share::FairSemaphore;

/// What strangers, lookups and operators have beside the places of accounts: one for so many of those.
const BESIDE: u64 = 8;

/// The least they have, so that a network has a handful even where there are few places.
const LEAST: u64 = 64;

/// What one network may have of what only waits: as much as it may have of the places beside.
const OF_ONE_NETWORK: u64 = 8;

/// How many requests are answered at once, by who sends them.
pub(crate) struct RequestSlots {
    pub(crate) accounts: Arc<FairSemaphore>,
    pub(crate) operators: Arc<FairSemaphore>,
    /// Of requests with a key, a token or a session that is being looked up. Nothing of the body is read meanwhile.
    pub(crate) lookups: Arc<FairSemaphore>,
    /// The same of one that was known here lately, in the name of its account or its own.
    pub(crate) known_lookups: Arc<FairSemaphore>,
    /// Of pages that need no key.
    pub(crate) open: Arc<FairSemaphore>,
    /// Requests that wait because their network guessed too much; they have no place meanwhile.
    pub(super) guesses: Arc<FairSemaphore>,
    /// Bodies that arrive for pages that need no key; those have a place only afterwards.
    pub(super) open_bodies: Arc<FairSemaphore>,
}

impl RequestSlots {
    /// So many for accounts, and in proportion for the others.
    pub(crate) fn new(requests: u64) -> Self {
        let beside = (requests / BESIDE).max(LEAST);
        let of_one = beside / OF_ONE_NETWORK;
        Self {
            accounts: FairSemaphore::fixed("requests", requests, 1),
            operators: FairSemaphore::fixed("operator_requests", beside, 1),
            lookups: FairSemaphore::fixed("key_lookups", beside, 1),
            known_lookups: FairSemaphore::fixed("known_key_lookups", beside, 1),
            open: FairSemaphore::fixed("open_requests", beside, 1),
            guesses: FairSemaphore::each("guesses", of_one),
            open_bodies: FairSemaphore::each("open_bodies", of_one),
        }
    }

    /// How many requests are being answered.
    pub(crate) fn taken(&self) -> u64 {
        let all = [
            &self.accounts,
            &self.operators,
            &self.lookups,
            &self.known_lookups,
            &self.open,
        ];
        all.into_iter()
            .map(|request_slots| request_slots.taken())
            .sum()
    }
}
