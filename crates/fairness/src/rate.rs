//! Rates: token buckets by holder.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hash};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use foldhash::quality::RandomState;
use tokio::time::Instant;

const SHARDS: usize = 16;
/// A shard that has grown to this many buckets drops those that are full again.
const CROWDED: usize = 4096;

/// So many calls in a span, and so many at once.
#[derive(Clone, Copy)]
pub struct Rate {
    /// How long it takes until one more call is given; `None` for no limit.
    interval: Option<Duration>,
    burst: u32,
}

impl Rate {
    /// So many calls in a span, none for no limit, and so many at once.
    pub fn new(calls: u32, span: Duration, burst: u32) -> Self {
        Self {
            interval: span.checked_div(calls),
            burst: burst.max(1),
        }
    }

    /// How many calls may come at once.
    pub fn burst(self) -> u32 {
        self.burst
    }

    /// As many calls at once, in proportion, for one who may make so many per second.
    #[must_use]
    pub fn of(self, per_second: u32) -> Self {
        let usual = self.interval.unwrap_or(Duration::from_secs(1)).as_nanos();
        let burst = u128::from(self.burst) * usual * u128::from(per_second) / 1_000_000_000;
        let burst = u32::try_from(burst).unwrap_or(u32::MAX).max(per_second);
        Self::new(per_second, Duration::from_secs(1), burst)
    }
}

/// What a bucket holds after a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BucketLevel {
    /// Calls that may still come at once.
    pub left: u64,
    /// Seconds until the bucket is full again.
    pub full_in_s: u64,
    /// Seconds to wait, when the call was one too many.
    pub wait_s: Option<u64>,
}

/// Token buckets, each kept as the moment at which it is full again: a call moves it by one interval, and is given
/// unless it would then lie more than a whole bucket ahead.
pub struct TokenBuckets<K> {
    shards: [Mutex<HashMap<K, Instant, RandomState>>; SHARDS],
    hasher: RandomState,
}

impl<K> Default for TokenBuckets<K> {
    fn default() -> Self {
        Self {
            shards: std::array::from_fn(|_| Mutex::default()),
            hasher: RandomState::default(),
        }
    }
}

impl<K: Hash + Eq> TokenBuckets<K> {
    /// Takes one; nothing when there is no limit.
    pub fn take<Q>(&self, key: &Q, rate: Rate) -> Option<BucketLevel>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        let interval = rate.interval?;
        Some(self.at(key, |full_at, now| take(full_at, now, interval, rate.burst)))
    }

    /// How many seconds it takes until one is given; nothing is taken.
    pub fn look<Q>(&self, key: &Q, rate: Rate) -> Option<u64>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        let interval = rate.interval?;
        self.at(key, |full_at, now| {
            let mut untouched = *full_at;
            take(&mut untouched, now, interval, rate.burst).wait_s
        })
    }

    /// Gives one back that was taken for nothing.
    pub fn give_back<Q>(&self, key: &Q, rate: Rate)
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        if let Some(interval) = rate.interval {
            self.at(key, |full_at, _| {
                *full_at = full_at.checked_sub(interval).unwrap_or(*full_at);
            });
        }
    }

    /// Takes as many as there are of those that are wanted; how many.
    pub fn take_some<Q>(&self, key: &Q, rate: Rate, wanted: usize) -> usize
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        let Some(interval) = rate.interval else {
            return wanted;
        };
        self.at(key, |full_at, now| {
            let taken = (0..wanted)
                .take_while(|_| take(full_at, now, interval, rate.burst).wait_s.is_none());
            taken.count()
        })
    }

    /// Takes one that may be given later: how long to wait for it.
    pub fn wait_for<Q>(&self, key: &Q, rate: Rate) -> Duration
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        let Some(interval) = rate.interval else {
            return Duration::ZERO;
        };
        self.at(key, |full_at, now| {
            *full_at = (*full_at).max(now) + interval;
            (*full_at - now).saturating_sub(interval * rate.burst)
        })
    }

    fn at<Q, T>(&self, key: &Q, change: impl FnOnce(&mut Instant, Instant) -> T) -> T
    where
        K: Borrow<Q>,
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

#[inline]
fn take(full_at: &mut Instant, now: Instant, interval: Duration, burst: u32) -> BucketLevel {
    let whole = interval * burst;
    let next = (*full_at).max(now) + interval;
    let too_far = (next - now).saturating_sub(whole);
    let given = too_far.is_zero();
    if given {
        *full_at = next;
    }
    let missing = full_at.saturating_duration_since(now);
    let left = whole.saturating_sub(missing).as_nanos() / interval.as_nanos().max(1);
    BucketLevel {
        left: u64::try_from(left).unwrap_or(u64::MAX),
        full_in_s: seconds(missing),
        wait_s: (!given).then(|| seconds(too_far)),
    }
}

/// Whole seconds, rather too many than too few.
#[inline]
fn seconds(span: Duration) -> u64 {
    span.as_secs() + u64::from(span.subsec_nanos() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(buckets: &TokenBuckets<String>, key: &str, rate: Rate) -> bool {
        buckets
            .take(key, rate)
            .is_some_and(|level| level.wait_s.is_none())
    }

    #[tokio::test(start_paused = true)]
    async fn a_bucket_gives_its_burst_and_then_its_rate() {
        let buckets = TokenBuckets::<String>::default();
        let rate = Rate::new(2, Duration::from_secs(1), 3);
        let given = |key: &str| given(&buckets, key, rate);
        assert_eq!((0..5).filter(|_| given("a")).count(), 3);
        let level = buckets.take("a", rate).expect("a limit");
        assert_eq!((level.left, level.full_in_s, level.wait_s), (0, 2, Some(1)));
        assert!(given("b"));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!((0..5).filter(|_| given("a")).count(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_look_takes_nothing() {
        let buckets = TokenBuckets::<String>::default();
        let rate = Rate::new(2, Duration::from_secs(1), 2);
        for _ in 0..5 {
            assert_eq!(buckets.look("a", rate), None);
        }
        assert!(given(&buckets, "a", rate) && given(&buckets, "a", rate));
        for _ in 0..5 {
            assert_eq!(buckets.look("a", rate), Some(1));
        }
        assert_eq!(buckets.look("b", rate), None);
        tokio::time::advance(Duration::from_millis(500)).await;
        assert_eq!(buckets.look("a", rate), None);
        assert!(given(&buckets, "a", rate) && !given(&buckets, "a", rate));
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_given_back_can_be_taken_again() {
        let buckets = TokenBuckets::<String>::default();
        let rate = Rate::new(2, Duration::from_hours(1), 2);
        for _ in 0..5 {
            assert!(given(&buckets, "a", rate));
            buckets.give_back("a", rate);
        }
        assert!(given(&buckets, "a", rate) && given(&buckets, "a", rate));
        assert!(!given(&buckets, "a", rate), "and no more than that");
        // A bucket that is full takes nothing in.
        buckets.give_back("b", rate);
        assert!(given(&buckets, "b", rate) && given(&buckets, "b", rate));
        assert!(!given(&buckets, "b", rate));
    }

    /// The other way to say the same: tokens that come back one by one, each call takes one.
    #[tokio::test(start_paused = true)]
    async fn buckets_give_what_counted_tokens_give() {
        let mut dice = fastrand::Rng::with_seed(11);
        for _ in 0..200 {
            // Rates whose interval is a whole number of milliseconds, so that tokens can be counted in them.
            let per_second = [1_u32, 2, 5, 10, 20, 50, 100][dice.usize(0..7)];
            let (interval_ms, burst) = (1000 / u64::from(per_second), dice.u32(1..30));
            let buckets = TokenBuckets::<String>::default();
            let rate = Rate::new(per_second, Duration::from_secs(1), burst);
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
                let level = buckets.take("a", rate).expect("a limit");
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
