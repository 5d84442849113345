//! One mechanism for everything that many callers share: request places, memory of bodies, event streams, downloads,
//! heavy work.
//!
//! A holder (an account, or a network before its key is known) may take whatever is idle, up to its share. As soon as
//! somebody waits, what is given back goes to the waiting holder that has least, never to one that just asks again.
//! What is not given back within seconds has a share well below the whole; what is, has the whole for a share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::oneshot;

use crate::limits::LimitOverrides;

/// Holders that have nothing at the moment are remembered, because most come again; so many at least before they are
/// forgotten.
const REMEMBERED: usize = 1024;

/// The part of the whole that one holder may keep of what is not given back by itself: one in so many.
const FIXED_SHARE: u64 = 8;

/// Something that is shared, in whatever unit it is counted.
pub struct FairSemaphore {
    name: &'static str,
    whole: u64,
    share: u64,
    /// What a share is at least, whatever an operator says: enough for one part of the largest kind.
    least: u64,
    allowances: OnceLock<Arc<LimitOverrides>>,
    state: Mutex<State>,
}

impl std::fmt::Debug for FairSemaphore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {} {}", self.taken(), self.whole, self.name)
    }
}

#[derive(Default)]
struct State {
    taken: u64,
    /// What holders have; nothing, for some that had something before.
    parts: HashMap<Arc<str>, u64, foldhash::quality::RandomState>,
    /// With so many holders, those that have nothing are forgotten.
    crowded: usize,
    waiting: Vec<Waiter>,
    /// When holders had their last turn, as long as anybody waits.
    turns: HashMap<Arc<str>, u64>,
    turn: u64,
}

struct Waiter {
    holder: Arc<str>,
    amount: u64,
    turn: oneshot::Sender<FairPermit>,
}

/// Why nothing can be taken now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcquireError {
    /// The holder has its share.
    Share,
    /// The whole is taken, or somebody else is next.
    Whole,
}

/// A part that is given back when this is dropped.
pub struct FairPermit {
    shares: Arc<FairSemaphore>,
    holder: Arc<str>,
    amount: u64,
}

/// Who holds what, for operators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    pub name: &'static str,
    /// All there is.
    pub whole: u64,
    /// The most one holder may have.
    pub share: u64,
    pub taken: u64,
    /// How many wait for a part.
    pub waiting: usize,
    /// Everybody who holds something, those with most first.
    pub holders: Vec<(Arc<str>, u64)>,
}

impl FairSemaphore {
    /// Something of which one holder may have all while it is idle, because it comes back within seconds.
    pub fn elastic(name: &'static str, whole: u64) -> Arc<Self> {
        Self::new(name, whole, whole, whole)
    }

    /// Something that is not given back by itself: one holder has an eighth, but always enough for one part of the
    /// largest kind.
    pub fn fixed(name: &'static str, whole: u64, largest: u64) -> Arc<Self> {
        Self::new(name, whole, (whole / FIXED_SHARE).max(largest), largest)
    }

    /// So many for each holder, however many holders there are: of what costs the whole next to nothing.
    pub fn each(name: &'static str, share: u64) -> Arc<Self> {
        Self::new(name, u64::MAX, share, share)
    }

    /// Goes by what an operator gives single holders of it; what comes back within seconds is everybody's all the same.
    pub fn set_limits(&self, allowances: &Arc<LimitOverrides>) {
        let _ = self.allowances.set(Arc::clone(allowances));
    }

    /// The most that a holder may have.
    pub fn share_of(&self, holder: &str) -> u64 {
        let own = self.allowances.get().map(|all| all.of(holder));
        match own.and_then(|own| own.share_percent) {
            Some(percent) => (self.whole / 100 * u64::from(percent)
                + self.whole % 100 * u64::from(percent) / 100)
                .clamp(self.least, self.whole),
            None => self.share,
        }
    }

    fn new(name: &'static str, whole: u64, share: u64, least: u64) -> Arc<Self> {
        let whole = whole.max(1);
        Arc::new(Self {
            name,
            whole,
            share: share.clamp(1, whole),
            least: least.clamp(1, whole),
            allowances: OnceLock::new(),
            state: Mutex::default(),
        })
    }

    /// Takes a part now, or says why not.
    pub fn try_take(
        self: &Arc<Self>,
        holder: &Arc<str>,
        amount: u64,
    ) -> Result<FairPermit, AcquireError> {
        self.take_free(&mut self.state(), holder, amount)?;
        Ok(self.part(Arc::clone(holder), amount))
    }

    /// Waits for its turn. More than a share is never given, so nobody waits for ever.
    pub async fn take(self: &Arc<Self>, holder: &Arc<str>, amount: u64) -> FairPermit {
        let amount = amount.min(self.share_of(holder));
        let turn = {
            let mut state = self.state();
            if self.take_free(&mut state, holder, amount).is_ok() {
                drop(state);
                return self.part(Arc::clone(holder), amount);
            }
            let (turn, answer) = oneshot::channel();
            state.waiting.push(Waiter {
                holder: Arc::clone(holder),
                amount,
                turn,
            });
            answer
        };
        match turn.await {
            Ok(part) => part,
            // Senders are only dropped after they were used; there is nothing to hold in any other case.
            Err(_) => self.part(Arc::clone(holder), 0),
        }
    }

    pub fn usage(&self) -> Usage {
        let state = self.state();
        let parts = state.parts.iter().filter(|(_, amount)| **amount > 0);
        let mut holders: Vec<_> = parts
            .map(|(who, amount)| (Arc::clone(who), *amount))
            .collect();
        holders.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        let waiting = state.waiting.iter();
        Usage {
            name: self.name,
            whole: self.whole,
            share: self.share,
            taken: state.taken,
            waiting: waiting.filter(|one| !one.turn.is_closed()).count(),
            holders,
        }
    }

    /// Whether a holder has more than one part, or waits for another.
    pub fn has_more(&self, holder: &Arc<str>) -> bool {
        let state = self.state();
        let mut waiting = state.waiting.iter();
        state.part_of(holder) > 1
            || waiting.any(|one| one.holder == *holder && !one.turn.is_closed())
    }

    /// How many parts a holder waits for.
    pub fn waiting(&self, holder: &Arc<str>) -> usize {
        let state = self.state();
        let waiting = state.waiting.iter();
        waiting
            .filter(|one| one.holder == *holder && !one.turn.is_closed())
            .count()
    }

    /// What a holder has.
    pub fn held(&self, holder: &Arc<str>) -> u64 {
        self.state().part_of(holder)
    }

    /// What is taken, all together.
    pub fn taken(&self) -> u64 {
        self.state().taken
    }

    fn part(self: &Arc<Self>, holder: Arc<str>, amount: u64) -> FairPermit {
        FairPermit {
            shares: Arc::clone(self),
            holder,
            amount,
        }
    }

    fn take_free(
        &self,
        state: &mut State,
        holder: &Arc<str>,
        amount: u64,
    ) -> Result<(), AcquireError> {
        let share = self.share_of(holder);
        // Nearly always somebody who was here before takes what nobody waits for: one look is enough then.
        if state.waiting.is_empty()
            && state.taken + amount <= self.whole
            && let Some(part) = state.parts.get_mut(holder)
        {
            if *part + amount > share {
                return Err(AcquireError::Share);
            }
            *part += amount;
            state.taken += amount;
            return Ok(());
        }
        if state.part_of(holder) + amount > share {
            return Err(AcquireError::Share);
        }
        if state.taken + amount > self.whole {
            return Err(AcquireError::Whole);
        }
        state.waiting.retain(|one| !one.turn.is_closed());
        if !state.waiting.is_empty() && self.next_in(state).is_some() {
            return Err(AcquireError::Whole);
        }
        state.add(holder, amount);
        Ok(())
    }

    /// The place in the queue of whoever is next: of those below their share the one that holds least, of these the
    /// one whose last turn is longest ago, and of its requests the oldest.
    fn next_in(&self, state: &State) -> Option<usize> {
        let queue = state.waiting.iter().enumerate();
        let may = queue.filter(|(_, one)| {
            let held = state.part_of(&one.holder);
            // Whoever has nothing gets what it waits for, even when its share has become smaller since.
            held == 0 || held + one.amount <= self.share_of(&one.holder)
        });
        let next = may.min_by_key(|(place, one)| {
            let last_turn = state.turns.get(&one.holder).copied().unwrap_or(0);
            (state.part_of(&one.holder), last_turn, *place)
        });
        next.map(|(place, _)| place)
    }

    /// Takes a part back and hands what is free to those who wait.
    fn give_back(self: &Arc<Self>, holder: &Arc<str>, amount: u64) {
        let mut turns = Vec::new();
        {
            let mut state = self.state();
            state.subtract(holder, amount);
            state.waiting.retain(|one| !one.turn.is_closed());
            if state.waiting.is_empty() {
                if !state.turns.is_empty() {
                    state.turns.clear();
                }
                return;
            }
            // Whoever gives back has just had a turn.
            state.had_turn(holder);
            while let Some(place) = self.next_in(&state) {
                // Nobody overtakes whoever is next, or a large part would never be free.
                if state.taken + state.waiting[place].amount > self.whole {
                    break;
                }
                let next = state.waiting.remove(place);
                state.add(&next.holder, next.amount);
                state.had_turn(&next.holder);
                turns.push((next.turn, self.part(next.holder, next.amount)));
            }
        }
        for (turn, part) in turns {
            // Whoever has gone away gives its part back at once.
            drop(turn.send(part));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn part_of(&self, holder: &Arc<str>) -> u64 {
        self.parts.get(holder).copied().unwrap_or(0)
    }

    fn add(&mut self, holder: &Arc<str>, amount: u64) {
        self.taken += amount;
        if let Some(part) = self.parts.get_mut(holder) {
            *part += amount;
            return;
        }
        if self.parts.len() >= self.crowded.max(REMEMBERED) {
            self.parts.retain(|_, part| *part > 0);
            // Twice what is left, so that forgetting costs each newcomer next to nothing.
            self.crowded = 2 * self.parts.len();
        }
        self.parts.insert(Arc::clone(holder), amount);
    }

    fn had_turn(&mut self, holder: &Arc<str>) {
        self.turn += 1;
        self.turns.insert(Arc::clone(holder), self.turn);
    }

    fn subtract(&mut self, holder: &Arc<str>, amount: u64) {
        self.taken -= amount;
        if let Some(part) = self.parts.get_mut(holder) {
            *part -= amount;
        }
    }
}

impl FairPermit {
    /// Grows to so much, or stays as it is.
    pub fn grow_to(&mut self, amount: u64) -> Result<(), AcquireError> {
        let more = amount.saturating_sub(self.amount);
        if more > 0 {
            let mut state = self.shares.state();
            self.shares.take_free(&mut state, &self.holder, more)?;
            self.amount += more;
        }
        Ok(())
    }

    /// Takes so much of it, or what there is, as a part of its own.
    #[must_use]
    pub fn split(&mut self, amount: u64) -> Self {
        let amount = amount.min(self.amount);
        self.amount -= amount;
        self.shares.part(Arc::clone(&self.holder), amount)
    }

    /// Gives back what is more than so much.
    pub fn shrink_to(&mut self, amount: u64) {
        let surplus = self.amount.saturating_sub(amount);
        drop(self.split(surplus));
    }
}

impl Drop for FairPermit {
    fn drop(&mut self) {
        if self.amount > 0 {
            self.shares.give_back(&self.holder, self.amount);
        }
    }
}

#[cfg(test)]
mod tests;
