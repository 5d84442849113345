//! What a request has been granted on its way in: a place among those that are answered, first in the name of its
//! network and then of its account, and what is left of the account's rate.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use atelier_contract::{AccountId, Code, Refusal};
use atelier_engine::Caller;
use atelier_fairness::share::{AcquireError, FairPermit, FairSemaphore};
use hyper::header::HeaderMap;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::body_share::BodyShare;
use super::denial::Denial;
use super::rate::{CallKind, RateStatus, Rates};
use super::request_slots::RequestSlots;

/// How long whoever asks too much waits to be told so: otherwise a caller that does not heed it would have as much of the
/// processor in refusals as others have in answers.
const REFUSED_AFTER_MS: std::ops::Range<u64> = 250..500;

/// What is told of codes that nobody made.
const TOO_MANY_CODES: &str = "too many wrong codes within the hour; wait";
const TOO_MANY_ACTS: &str = "this account changed too much of itself (keys, hosted accounts, secrets) within the hour; wait";

const NO_TURN: &str =
    "what was asked for together before this is still worked on; try again shortly";

const NETWORK_FULL: &str = "too many requests of this network at once";

/// How long a request waits for a place where all are taken: whoever has least is next, and a place is held for milliseconds.
const TURN: Duration = Duration::from_secs(2);
/// How many requests of one network, or with one key, wait for a place at once.
const WAITING: usize = 8;

/// What is known of a request's key, token or session before anybody is asked about it.
pub(super) enum Credential {
    /// It is the token of the configuration: there is nothing to look up.
    Root,
    /// It was known here lately; in whose name it is looked up again.
    Known(Arc<str>),
    Unknown,
}

/// The grants of one request.
pub(crate) struct Admission {
    network: Arc<str>,
    account: OnceLock<Arc<str>>,
    /// Since when the caller waits for its answer.
    waits_since: OnceLock<Instant>,
    granted: Mutex<Grants>,
    /// What took how long so far, when anybody wants to know.
    laps: Option<Mutex<Timings>>,
}

struct Timings {
    since: Instant,
    spent: Vec<(&'static str, Duration)>,
}

#[derive(Default)]
struct Grants {
    /// What it counts as; nothing as long as it needs no place.
    kind: Option<CallKind>,
    place: Option<FairPermit>,
    /// Where its place is from as long as it is not known who calls, and in whose name.
    turn: Option<(Arc<FairSemaphore>, Arc<str>)>,
    /// Whether its page needs no key.
    open: bool,
    /// Whether it has proved to be no stranger's all the same.
    vouched: bool,
    standing: Option<RateStatus>,
    share: BodyShare,
}

impl Admission {
    /// Of a request that has just arrived from a network.
    pub(super) fn new(network: Arc<str>, timed: bool) -> Arc<Self> {
        let laps = || {
            Mutex::new(Timings {
                since: Instant::now(),
                spent: Vec::new(),
            })
        };
        Arc::new(Self {
            laps: timed.then(laps),
            network,
            account: OnceLock::new(),
            waits_since: OnceLock::new(),
            granted: Mutex::default(),
        })
    }

    /// The request is for a page that needs no key: it has a place when its body is there, see [`Self::begin_open`].
    pub(super) fn arrive_open(&self, kind: CallKind) {
        let mut granted = self.granted();
        (granted.kind, granted.open) = (Some(kind), true);
    }

    /// Takes a place until it is looked up who calls: in the name of the network, of those that nobody needs who is known, or in
    /// the name of whoever was known lately.
    pub(super) async fn arrive(
        &self,
        request_slots: &RequestSlots,
        kind: CallKind,
        credential: Credential,
    ) -> Result<(), Denial> {
        self.granted().kind = Some(kind);
        match credential {
            Credential::Root => Ok(()),
            Credential::Known(whose) => self.have_turn(&request_slots.known_lookups, &whose).await,
            Credential::Unknown => self.have_turn(&request_slots.lookups, &self.network).await,
        }
    }

    /// Room for the body of a page that needs no key, until it is there.
    pub(super) fn await_body(
        &self,
        request_slots: &RequestSlots,
    ) -> Result<Option<FairPermit>, Denial> {
        if !self.granted().open {
            return Ok(None);
        }
        let room = request_slots.open_bodies.try_take(&self.network, 1);
        room.map(Some)
            .map_err(|full| capacity_denial(full, NETWORK_FULL))
    }

    /// Takes a place for a page that needs no key, in the name of the network, unless it is known who asks.
    pub(super) async fn begin_open(&self, request_slots: &RequestSlots) -> Result<(), Denial> {
        let wants = {
            let granted = self.granted();
            granted.open && granted.place.is_none()
        };
        if wants {
            self.have_turn(&request_slots.open, &self.network).await?;
        }
        Ok(())
    }

    /// Waits without a place, among few of the same network, and then for its turn again.
    pub(super) async fn pause(
        &self,
        request_slots: &RequestSlots,
        pause: Duration,
    ) -> Result<(), Denial> {
        let turn = {
            let mut granted = self.granted();
            granted.place = None;
            granted.turn.clone()
        };
        let room = request_slots.guesses.try_take(&self.network, 1);
        let room = room.map_err(|full| capacity_denial(full, NETWORK_FULL))?;
        sleep(pause).await;
        drop(room);
        match turn {
            Some((request_slots, whose)) => self.have_turn(&request_slots, &whose).await,
            None => Ok(()),
        }
    }

    /// Takes one of these places; where all are taken, it waits a little. Whoever has its share has no more for waiting.
    async fn have_turn(
        &self,
        request_slots: &Arc<FairSemaphore>,
        whose: &Arc<str>,
    ) -> Result<(), Denial> {
        let place = match request_slots.try_take(whose, 1) {
            Ok(place) => place,
            Err(AcquireError::Whole) if request_slots.waiting(whose) < WAITING => {
                let turn = timeout(TURN, request_slots.take(whose, 1)).await;
                turn.map_err(|_| capacity_denial(AcquireError::Whole, NETWORK_FULL))?
            }
            Err(_) => return Err(capacity_denial(AcquireError::Share, NETWORK_FULL)),
        };
        let mut granted = self.granted();
        granted.place = Some(place);
        granted.turn = Some((Arc::clone(request_slots), Arc::clone(whose)));
        Ok(())
    }

    /// Takes a place in the name of an account that is known already, and counts the request.
    pub(super) fn enter(
        &self,
        request_slots: &RequestSlots,
        rates: &Rates,
        kind: CallKind,
        account_id: &AccountId,
    ) -> Result<(), Denial> {
        let account = self.account.get_or_init(|| Arc::clone(account_id.shared()));
        let place = request_slots.accounts.try_take(account, 1);
        let place = place
            .map_err(|full| capacity_denial(full, "too many requests of this account at once"))?;
        let mut granted = self.granted();
        granted.kind = Some(kind);
        granted.place = Some(place);
        granted.standing = rates.call(kind, account_id);
        let wait_s = granted.standing.as_ref().and_then(|one| one.wait_s);
        match wait_s {
            Some(seconds) => Err(Denial::too_many_requests(
                "too many requests of this account",
                seconds,
            )),
            None => Ok(()),
        }
    }

    /// The request is of this account: counts it and gives it a place of the account's for the one it came with.
    pub(super) fn admit(
        &self,
        request_slots: &RequestSlots,
        rates: &Rates,
        account_id: &AccountId,
    ) -> Result<(), Denial> {
        let account = self.account.get_or_init(|| Arc::clone(account_id.shared()));
        let mut granted = self.granted();
        let kind = granted.kind.unwrap_or(CallKind::Call);
        granted.standing = rates.call(kind, account_id);
        let wait_s = granted.standing.as_ref().and_then(|one| one.wait_s);
        if let Some(seconds) = wait_s {
            return Err(Denial::too_many_requests(
                "too many requests of this account",
                seconds,
            ));
        }
        if granted.kind.is_some() {
            let place = request_slots.accounts.try_take(account, 1);
            let place = place.map_err(|full| {
                capacity_denial(full, "too many requests of this account at once")
            })?;
            (granted.place, granted.turn) = (Some(place), None);
        }
        Ok(())
    }

    /// The request is of an operator of this name: it has a place that callers cannot take.
    pub(super) fn admit_operator(
        &self,
        request_slots: &RequestSlots,
        name: &str,
    ) -> Result<(), Denial> {
        let mut granted = self.granted();
        if granted.kind.is_some() {
            let place = request_slots.operators.try_take(&name.into(), 1);
            let place = place.map_err(|full| {
                capacity_denial(full, "too many requests of this operator at once")
            })?;
            (granted.place, granted.turn) = (Some(place), None);
        }
        Ok(())
    }

    /// Counts something that the account does to itself and that stands in its list of acts.
    pub(crate) fn act(&self, rates: &Rates) -> Result<(), Denial> {
        let counted = self.account().map_or(Ok(()), |account| rates.act(account));
        counted.map_err(|seconds| Denial::too_many_requests(TOO_MANY_ACTS, seconds))
    }

    /// Counts a voucher code as a wrong one until it is known to be right.
    pub(crate) fn guess(&self, rates: &Rates, peer: IpAddr) -> Result<(), Denial> {
        let account = self.account().unwrap_or_default();
        let counted = rates.guess(account, peer);
        counted.map_err(|seconds| Denial::too_many_requests(TOO_MANY_CODES, seconds))
    }

    /// A voucher code was right.
    pub(crate) fn guessed(&self, rates: &Rates, peer: IpAddr) {
        rates.guessed(self.account().unwrap_or_default(), peer);
    }

    /// Counts calls that came together as one; how many of so many are within the rate, the one they came in included.
    pub(crate) fn submits(&self, rates: &Rates, caller: &Caller, wanted: usize) -> usize {
        let more = wanted.saturating_sub(1);
        let policy = caller.policy.as_deref();
        let more = policy.map_or(more, |policy| rates.key_submits(policy, more));
        let account = self.account().unwrap_or_default();
        wanted.min(1 + rates.submits(account, more))
    }

    /// Whether anybody may have sent it: what is read for it is nobody's.
    pub(super) fn is_open(&self) -> bool {
        let granted = self.granted();
        granted.open && !granted.vouched
    }

    /// Its address proves that whoever sends it is no stranger.
    pub(super) fn vouch(&self) {
        self.granted().vouched = true;
    }

    /// The account, once it is known.
    pub(super) fn account(&self) -> Option<&str> {
        self.account.get().map(|account| &**account)
    }

    /// A step of the answer is done: what it took is remembered, for requests that turn out slow.
    pub(crate) fn lap(&self, name: &'static str) {
        if let Some(laps) = &self.laps {
            let mut laps = laps.lock().unwrap_or_else(PoisonError::into_inner);
            let took = laps.since.elapsed();
            laps.since = Instant::now();
            laps.spent.push((name, took));
        }
    }

    /// Where the time of a request went, in words.
    pub(super) fn spent(&self, whole: Duration) -> String {
        let Some(laps) = &self.laps else {
            return String::new();
        };
        let laps = laps.lock().unwrap_or_else(PoisonError::into_inner);
        let known: Duration = laps.spent.iter().map(|(_, took)| *took).sum();
        let rest = ("answered", whole.saturating_sub(known));
        let all = laps.spent.iter().copied().chain([rest]);
        let words = all.map(|(name, took)| format!("{name} {} ms", took.as_millis()));
        words.collect::<Vec<_>>().join(", ")
    }

    /// Since when the caller waits for its answer: since its body was there, or else since this was asked first. Whatever is
    /// waited for on the way to the answer is part of the time that it is answered within. What a caller takes to send its
    /// body is its own.
    pub(crate) fn waits_since(&self) -> Instant {
        *self.waits_since.get_or_init(Instant::now)
    }

    /// In whose name things are taken: the account's as soon as it is known.
    pub(crate) fn holder(&self) -> &Arc<str> {
        self.account.get().unwrap_or(&self.network)
    }

    /// Keeps what the body takes until the request is answered.
    pub(super) fn keep(&self, share: BodyShare) {
        self.granted().share = share;
    }

    /// What follows is heavy, however small the body was: waits for a place for it, so long at most after the caller began to
    /// wait.
    pub(crate) async fn burden(
        &self,
        work: &Arc<FairSemaphore>,
        within: Duration,
    ) -> Result<(), Refusal> {
        let until = self.waits_since() + within;
        let place = timeout_at(until, work.take(self.holder(), 1)).await;
        let place = place.map_err(|_| Refusal::new(Code::Overloaded, NO_TURN))?;
        self.granted().share.burden(place);
        Ok(())
    }

    /// Works on what was read of the body, off the runtime's threads when it is large. The share is given back at the end
    /// unless it is kept again.
    pub(crate) async fn spend<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Refusal> {
        let share = std::mem::take(&mut self.granted().share);
        share.spend(work).await.map(|(done, _)| done)
    }

    /// The request was one too many: everything it was granted is given back, and it is answered a moment later.
    pub(super) async fn delay_rejection(&self) {
        {
            let mut granted = self.granted();
            (granted.place, granted.share) = (None, BodyShare::default());
        }
        // Not all at the same moment, or others would meet them all at once.
        sleep(Duration::from_millis(fastrand::u64(REFUSED_AFTER_MS))).await;
    }

    /// The answer is made: the place is free for the next request, however long the caller takes over the answer.
    pub(super) fn release_slot(&self) {
        drop(self.take_slot());
    }

    /// The place, for an answer that begins before it is made and gives it back by itself.
    pub(super) fn take_slot(&self) -> Option<FairPermit> {
        self.granted().place.take()
    }

    /// Says in an answer what is left of the rate.
    pub(super) fn tell(&self, headers: &mut HeaderMap) {
        if let Some(standing) = &self.granted().standing {
            standing.tell(headers);
        }
    }

    fn granted(&self) -> MutexGuard<'_, Grants> {
        self.granted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why something shared was not given: the caller's own share is used up, or everybody's.
pub(crate) fn capacity_denial(full: AcquireError, message: &str) -> Denial {
    match full {
        AcquireError::Share => Denial::too_many_requests(message, 1),
        AcquireError::Whole => Refusal::new(
            Code::Overloaded,
            "too much is being asked of the service at once; try again shortly",
        )
        .into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The promise: whoever waits for a turn is answered, however long the one before takes.
    #[tokio::test]
    async fn nobody_waits_for_a_turn_without_end() {
        let work = FairSemaphore::fixed("work", 8, 1);
        let admission = Admission::new("a network".into(), false);
        let other = work.take(admission.holder(), 1).await;
        let refused = admission.burden(&work, Duration::from_millis(10)).await;
        assert_eq!(refused.expect_err("no turn").code, Code::Overloaded);
        drop(other);
        let taken = admission.burden(&work, Duration::from_secs(10)).await;
        taken.expect("a turn");
        assert_eq!(work.held(admission.holder()), 1);
    }
}
