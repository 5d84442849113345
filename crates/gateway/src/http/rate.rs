//! How often an account may call, over all its keys, how often it may change itself, how often a key may sign in, how often a
//! network may ask for pages that need no key, and how many wrong keys it may try. The answer to every call says how much is
//! left, in the fields of the IETF draft on rate limits.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hash};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use atelier_contract::settings::Limits;
use atelier_engine::limits::LimitOverrides;
use foldhash::quality::RandomState;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use tokio::time::Instant;

use crate::network;

const LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const SHARDS: usize = 16;
/// A shard that has grown to this many buckets drops those that are full again.
const CROWDED: usize = 4096;

/// What a call counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallKind {
    /// It makes work.
    Submit,
    /// Everything else.
    Call,
}

/// All limits.
pub(crate) struct Rates {
    /// Accounts whose rates are their own.
    allowances: Arc<LimitOverrides>,
    submits: Policy,
    calls: Policy,
    wrong: Buckets<IpAddr>,
    /// Whether any network ever had too many: hardly ever, and every call asks.
    any_guessed: AtomicBool,
    wrong_pace: Pace,
    open: Buckets<IpAddr>,
    open_pace: Pace,
    acts: Buckets<String>,
    /// Sessions of the console by key, as many as acts: any key may sign in, and shall use up nothing of the account's.
    sessions: Buckets<String>,
    acts_pace: Pace,
}

/// A rate with its name on the wire.
struct Policy {
    name: &'static str,
    pace: Pace,
    header: HeaderValue,
    buckets: Buckets<String>,
}

/// So many calls in a span, and so many at once.
#[derive(Clone, Copy)]
pub(super) struct Pace {
    /// How long it takes until one more call is given; `None` for no limit.
    interval: Option<Duration>,
    burst: u32,
}

impl Pace {
    pub(super) fn new(calls: u32, span: Duration, burst: u32) -> Self {
        Self {
            interval: span.checked_div(calls),
            burst: burst.max(1),
        }
    }

    /// As many calls at once, in proportion, for one who may make so many per second.
    fn of(self, per_second: u32) -> Self {
        let usual = self.interval.unwrap_or(Duration::from_secs(1)).as_nanos();
        let burst = u128::from(self.burst) * usual * u128::from(per_second) / 1_000_000_000;
        let burst = u32::try_from(burst).unwrap_or(u32::MAX).max(per_second);
        Self::new(per_second, Duration::from_secs(1), burst)
    }
}

/// Where an account stands after a call.
#[derive(Clone, Debug)]
pub(super) struct RateStatus {
    policy: HeaderValue,
    limit: HeaderValue,
    /// Seconds to wait, when the call was one too many.
    pub(super) wait_s: Option<u64>,
}

impl RateStatus {
    /// Says it in an answer.
    pub(super) fn tell(&self, headers: &mut HeaderMap) {
        headers.insert(POLICY, self.policy.clone());
        headers.insert(LIMIT, self.limit.clone());
    }
}

impl Rates {
    /// The configured limits.
    pub(crate) fn new(limits: &Limits, allowances: &Arc<LimitOverrides>) -> Self {
        let wrong = limits.wrong_keys_per_minute;
        Self {
            allowances: Arc::clone(allowances),
            submits: Policy::new("submits", limits.submits_per_second, limits.submits_burst),
            calls: Policy::new("calls", limits.calls_per_second, limits.calls_burst),
            wrong: Buckets::default(),
            any_guessed: AtomicBool::new(false),
            wrong_pace: Pace::new(wrong, Duration::from_mins(1), wrong),
            open: Buckets::default(),
            open_pace: Pace::new(
                limits.open_per_second,
                Duration::from_secs(1),
                limits.open_burst,
            ),
            acts: Buckets::default(),
            sessions: Buckets::default(),
            acts_pace: Pace::new(
                limits.acts_per_hour,
                Duration::from_hours(1),
                limits.acts_burst,
            ),
        }
    }

    /// Counts a call; nothing when calls of this kind have no limit.
    pub(super) fn call(&self, kind: CallKind, account_id: &str) -> Option<RateStatus> {
        let own = self.allowances.of(account_id);
        let (policy, own) = match kind {
            CallKind::Submit => (&self.submits, own.submits_per_second),
            CallKind::Call => (&self.calls, own.calls_per_second),
        };
        policy.call(account_id, own)
    }

    /// Counts further submits of an account as far as its rate allows; how many.
    pub(super) fn submits(&self, account_id: &str, wanted: usize) -> usize {
        let own = self.allowances.of(account_id).submits_per_second;
        let usual = self.submits.pace;
        let pace = own.map_or(usual, |own| usual.of(own));
        self.submits.buckets.take_some(account_id, pace, wanted)
    }

    /// Counts an act of an account on itself; the number of seconds to wait when there were too many.
    pub(super) fn act(&self, account_id: &str) -> Result<(), u64> {
        let level = self.acts.take(account_id, self.acts_pace);
        level.and_then(|level| level.wait_s).map_or(Ok(()), Err)
    }

    /// Counts a session that a key opens; the number of seconds to wait when there were too many.
    pub(super) fn session(&self, key_id: &str) -> Result<(), u64> {
        let level = self.sessions.take(key_id, self.acts_pace);
        level.and_then(|level| level.wait_s).map_or(Ok(()), Err)
    }

    /// Whether a network may try another key; the number of seconds to wait when it had too many wrong ones. Nothing is counted.
    pub(super) fn may_try(&self, peer: IpAddr) -> Result<(), u64> {
        if !self.any_guessed.load(Ordering::Relaxed) {
            return Ok(());
        }
        let wait_s = self.wrong.look(&network::of(peer), self.wrong_pace);
        wait_s.map_or(Ok(()), Err)
    }

    /// Counts a wrong key; the number of seconds to wait when there were too many.
    pub(super) fn wrong_key(&self, peer: IpAddr) -> Result<(), u64> {
        let level = self.wrong.take(&network::of(peer), self.wrong_pace);
        let wait_s = level.and_then(|level| level.wait_s);
        if wait_s.is_some() {
            self.any_guessed.store(true, Ordering::Relaxed);
        }
        wait_s.map_or(Ok(()), Err)
    }

    /// Counts a page that needs no key; the number of seconds to wait when there were too many.
    pub(super) fn open_page(&self, peer: IpAddr) -> Result<(), u64> {
        let level = self.open.take(&network::of(peer), self.open_pace);
        level.and_then(|level| level.wait_s).map_or(Ok(()), Err)
    }
}

impl Policy {
    fn new(name: &'static str, per_second: u32, burst: u32) -> Self {
        let pace = Pace::new(per_second, Duration::from_secs(1), burst);
        Self {
            name,
            pace,
            header: policy(name, pace.burst, per_second),
            buckets: Buckets::default(),
        }
    }

    /// Counts a call of an account, which may have a rate of its own.
    fn call(&self, account_id: &str, own: Option<u32>) -> Option<RateStatus> {
        let pace = own.map_or(self.pace, |own| self.pace.of(own));
        let level = self.buckets.take(account_id, pace)?;
        let limit = limit(self.name, level);
        Some(RateStatus {
            policy: own.map_or_else(
                || self.header.clone(),
                |own| policy(self.name, pace.burst, own),
            ),
            limit: HeaderValue::try_from(limit).unwrap_or(HeaderValue::from_static("")),
            wait_s: level.wait_s,
        })
    }
}

/// How it is told what is left; every call is told.
fn limit(name: &str, level: Level) -> String {
    let (mut left, mut full_in_s) = (itoa::Buffer::new(), itoa::Buffer::new());
    [
        "\"",
        name,
        "\";r=",
        left.format(level.left),
        ";t=",
        full_in_s.format(level.full_in_s),
    ]
    .concat()
}

/// How a rate is told.
fn policy(name: &str, burst: u32, per_second: u32) -> HeaderValue {
    let window = burst.div_ceil(per_second.max(1));
    let header = format!("\"{name}\";q={burst};w={window}");
    HeaderValue::try_from(header).unwrap_or(HeaderValue::from_static(""))
}

/// What a bucket holds after a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Level {
    left: u64,
    full_in_s: u64,
    wait_s: Option<u64>,
}

/// Buckets that are each kept as the moment at which they are full again: a call moves it by one interval, and is given
/// unless it would then lie more than a whole bucket ahead.
pub(super) struct Buckets<K> {
    shards: [Mutex<HashMap<K, Instant, RandomState>>; SHARDS],
    hasher: RandomState,
}

impl<K> Default for Buckets<K> {
    fn default() -> Self {
        Self {
            shards: std::array::from_fn(|_| Mutex::default()),
            hasher: RandomState::default(),
        }
    }
}

impl<K: Hash + Eq> Buckets<K> {
    fn take<Q>(&self, key: &Q, pace: Pace) -> Option<Level>
    where
        K: std::borrow::Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        let interval = pace.interval?;
        Some(self.at(key, |full_at, now| take(full_at, now, interval, pace.burst)))
    }

    /// How many seconds it takes until one is given; nothing is taken.
    fn look<Q>(&self, key: &Q, pace: Pace) -> Option<u64>
    where
        K: std::borrow::Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        let interval = pace.interval?;
        self.at(key, |full_at, now| {
            let mut untouched = *full_at;
            take(&mut untouched, now, interval, pace.burst).wait_s
        })
    }

    /// Takes as many as there are of those that are wanted; how many.
    fn take_some<Q>(&self, key: &Q, pace: Pace, wanted: usize) -> usize
    where
        K: std::borrow::Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        let Some(interval) = pace.interval else {
            return wanted;
        };
        self.at(key, |full_at, now| {
            let taken = (0..wanted)
                .take_while(|_| take(full_at, now, interval, pace.burst).wait_s.is_none());
            taken.count()
        })
    }

    /// Takes one that may be given later: how long to wait for it.
    pub(super) fn wait_for<Q>(&self, key: &Q, pace: Pace) -> Duration
    where
        K: std::borrow::Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        let Some(interval) = pace.interval else {
            return Duration::ZERO;
        };
        self.at(key, |full_at, now| {
            *full_at = (*full_at).max(now) + interval;
            (*full_at - now).saturating_sub(interval * pace.burst)
        })
    }

    fn at<Q, T>(&self, key: &Q, change: impl FnOnce(&mut Instant, Instant) -> T) -> T
    where
        K: std::borrow::Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        let now = Instant::now();
        let shard = &self.shards[self.hasher.hash_one(key) as usize % SHARDS];
        let mut buckets = shard.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(full_at) = buckets.get_mut(key) {
            return change(full_at, now);
        }
        let mut full_at = now;
        let changed = change(&mut full_at, now);
        // A bucket that is full is as good as none.
        if full_at > now {
            if buckets.len() >= CROWDED {
                buckets.retain(|_, full_at| *full_at > now);
            }
            buckets.insert(key.to_owned(), full_at);
        }
        changed
    }
}

fn take(full_at: &mut Instant, now: Instant, interval: Duration, burst: u32) -> Level {
    let whole = interval * burst;
    let next = (*full_at).max(now) + interval;
    let too_far = (next - now).saturating_sub(whole);
    let given = too_far.is_zero();
    if given {
        *full_at = next;
    }
    let missing = full_at.saturating_duration_since(now);
    let left = whole.saturating_sub(missing).as_nanos() / interval.as_nanos().max(1);
    Level {
        left: u64::try_from(left).unwrap_or(u64::MAX),
        full_in_s: seconds(missing),
        wait_s: (!given).then(|| seconds(too_far)),
    }
}

/// Whole seconds, rather too many than too few.
fn seconds(span: Duration) -> u64 {
    span.as_secs() + u64::from(span.subsec_nanos() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(buckets: &Buckets<String>, key: &str, pace: Pace) -> bool {
        buckets
            .take(key, pace)
            .is_some_and(|level| level.wait_s.is_none())
    }

    #[tokio::test(start_paused = true)]
    async fn a_bucket_gives_its_burst_and_then_its_rate() {
        let buckets = Buckets::<String>::default();
        let pace = Pace::new(2, Duration::from_secs(1), 3);
        let given = |key: &str| given(&buckets, key, pace);
        assert_eq!((0..5).filter(|_| given("a")).count(), 3);
        let level = buckets.take("a", pace).expect("a limit");
        assert_eq!((level.left, level.full_in_s, level.wait_s), (0, 2, Some(1)));
        assert!(given("b"));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!((0..5).filter(|_| given("a")).count(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_look_takes_nothing() {
        let buckets = Buckets::<String>::default();
        let pace = Pace::new(2, Duration::from_secs(1), 2);
        for _ in 0..5 {
            assert_eq!(buckets.look("a", pace), None);
        }
        assert!(given(&buckets, "a", pace) && given(&buckets, "a", pace));
        for _ in 0..5 {
            assert_eq!(buckets.look("a", pace), Some(1));
        }
        assert_eq!(buckets.look("b", pace), None);
        tokio::time::advance(Duration::from_millis(500)).await;
        assert_eq!(buckets.look("a", pace), None);
        assert!(given(&buckets, "a", pace) && !given(&buckets, "a", pace));
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_says_what_is_left() {
        let policy = Policy::new("submits", 20, 100);
        let standing = policy.call("a", None).expect("a limit");
        let mut headers = HeaderMap::new();
        standing.tell(&mut headers);
        assert_eq!(headers[POLICY], "\"submits\";q=100;w=5");
        assert_eq!(headers[LIMIT], "\"submits\";r=99;t=1");
        assert!(Policy::new("calls", 0, 1).call("a", None).is_none());
        // One who has a rate of its own has as many at once as that is worth, from now on.
        let own = policy.call("a", Some(40)).expect("a limit");
        own.tell(&mut headers);
        assert_eq!(headers[POLICY], "\"submits\";q=200;w=5");
        // The call before was worth two of these.
        assert_eq!(headers[LIMIT], "\"submits\";r=197;t=1");
        let slow = Policy::new("calls", 0, 1).call("b", Some(1));
        assert!(slow.is_some_and(|one| one.wait_s.is_none()));
    }

    /// The other way to say the same: tokens that come back one by one, each call takes one.
    #[tokio::test(start_paused = true)]
    async fn buckets_give_what_counted_tokens_give() {
        let mut dice = fastrand::Rng::with_seed(11);
        for _ in 0..200 {
            // Rates whose interval is a whole number of milliseconds, so that tokens can be counted in them.
            let per_second = [1_u32, 2, 5, 10, 20, 50, 100][dice.usize(0..7)];
            let (interval_ms, burst) = (1000 / u64::from(per_second), dice.u32(1..30));
            let buckets = Buckets::<String>::default();
            let pace = Pace::new(per_second, Duration::from_secs(1), burst);
            let whole = u64::from(burst) * interval_ms;
            let mut tokens = whole;
            for call in 0..100 {
                let pause_ms = dice.u64(0..3) * dice.u64(0..4 * interval_ms);
                tokio::time::advance(Duration::from_millis(pause_ms)).await;
                tokens = whole.min(tokens + pause_ms);
                let expected = tokens >= interval_ms;
                if expected {
                    tokens -= interval_ms;
                }
                let level = buckets.take("a", pace).expect("a limit");
                let context = format!("{per_second} a second, {burst} at once, call {call}");
                assert_eq!(level.wait_s.is_none(), expected, "{context}");
                assert_eq!(level.left, tokens / interval_ms, "{context}");
                assert_eq!(
                    level.full_in_s,
                    (whole - tokens).div_ceil(1000),
                    "{context}"
                );
            }
        }
    }
}
