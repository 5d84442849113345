//! How often an account may call, over all its keys, and how many wrong keys an address may try. The answer to every
//! call says how much is left, in the fields of the IETF draft on rate limits.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use tokio::time::Instant;

use crate::config::Limits;

const LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const SHARDS: usize = 16;
/// A shard that has grown to this many buckets drops those that are full again.
const CROWDED: usize = 4096;

/// What a call counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It makes work.
    Submit,
    /// Everything else.
    Call,
}

/// All limits.
pub(crate) struct Rates {
    submits: Policy,
    calls: Policy,
    wrong: Buckets<IpAddr>,
}

/// A rate with its name on the wire.
struct Policy {
    name: &'static str,
    header: HeaderValue,
    buckets: Buckets<String>,
}

/// Where an account stands after a call.
#[derive(Clone, Debug)]
pub(super) struct Standing {
    policy: HeaderValue,
    limit: HeaderValue,
    /// Seconds to wait, when the call was one too many.
    pub(super) wait_s: Option<u64>,
}

impl Standing {
    /// Says it in an answer.
    pub(super) fn tell(&self, headers: &mut HeaderMap) {
        headers.insert(POLICY, self.policy.clone());
        headers.insert(LIMIT, self.limit.clone());
    }
}

impl Rates {
    /// The configured limits.
    pub(crate) fn new(limits: &Limits) -> Self {
        let per_minute = f64::from(limits.wrong_keys_per_minute);
        Self {
            submits: Policy::new("submits", limits.submits_per_second, limits.submits_burst),
            calls: Policy::new("calls", limits.calls_per_second, limits.calls_burst),
            wrong: Buckets::new(per_minute / 60.0, per_minute),
        }
    }

    /// Counts a call; nothing when calls of this kind have no limit.
    pub(super) fn call(&self, kind: Kind, account_id: &str) -> Option<Standing> {
        let policy = match kind {
            Kind::Submit => &self.submits,
            Kind::Call => &self.calls,
        };
        policy.call(account_id)
    }

    /// Counts a wrong key; the number of seconds to wait when there were too many.
    pub(super) fn wrong_key(&self, peer: IpAddr) -> Result<(), u64> {
        let level = self.wrong.take(&household(peer));
        level.and_then(|level| level.wait_s).map_or(Ok(()), Err)
    }
}

impl Policy {
    fn new(name: &'static str, per_second: u32, burst: u32) -> Self {
        let burst = burst.max(1);
        let window = burst.div_ceil(per_second.max(1));
        let header = format!("\"{name}\";q={burst};w={window}");
        Self {
            name,
            header: HeaderValue::try_from(header).unwrap_or(HeaderValue::from_static("")),
            buckets: Buckets::new(f64::from(per_second), f64::from(burst)),
        }
    }

    fn call(&self, account_id: &str) -> Option<Standing> {
        let level = self.buckets.take(account_id)?;
        let limit = format!("\"{}\";r={};t={}", self.name, level.left, level.full_in_s);
        Some(Standing {
            policy: self.header.clone(),
            limit: HeaderValue::try_from(limit).unwrap_or(HeaderValue::from_static("")),
            wait_s: level.wait_s,
        })
    }
}

/// One household has one IPv4 address or a /64 of IPv6.
fn household(peer: IpAddr) -> IpAddr {
    match peer {
        IpAddr::V4(_) => peer,
        IpAddr::V6(address) => {
            Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into()
        }
    }
}

struct Bucket {
    tokens: f64,
    filled: Instant,
}

/// What a bucket holds after a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Level {
    left: u64,
    full_in_s: u64,
    wait_s: Option<u64>,
}

struct Buckets<K> {
    per_second: f64,
    burst: f64,
    shards: [Mutex<HashMap<K, Bucket>>; SHARDS],
    hasher: RandomState,
}

impl<K: Hash + Eq> Buckets<K> {
    fn new(per_second: f64, burst: f64) -> Self {
        let shards = std::array::from_fn(|_| Mutex::default());
        Self {
            per_second,
            burst: burst.max(1.0),
            shards,
            hasher: RandomState::new(),
        }
    }

    fn take<Q>(&self, key: &Q) -> Option<Level>
    where
        K: std::borrow::Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        if self.per_second <= 0.0 {
            return None;
        }
        let now = Instant::now();
        let shard = &self.shards[self.hasher.hash_one(key) as usize % SHARDS];
        let mut buckets = shard.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bucket) = buckets.get_mut(key) {
            return Some(bucket.take(now, self.per_second, self.burst));
        }
        if buckets.len() >= CROWDED {
            let refill = Duration::from_secs_f64(self.burst / self.per_second);
            buckets.retain(|_, bucket| now - bucket.filled < refill);
        }
        let mut bucket = Bucket {
            tokens: self.burst,
            filled: now,
        };
        let level = bucket.take(now, self.per_second, self.burst);
        buckets.insert(key.to_owned(), bucket);
        Some(level)
    }
}

impl Bucket {
    fn take(&mut self, now: Instant, per_second: f64, burst: f64) -> Level {
        let gained = (now - self.filled).as_secs_f64() * per_second;
        self.tokens = (self.tokens + gained).min(burst);
        self.filled = now;
        let given = self.tokens >= 1.0;
        if given {
            self.tokens -= 1.0;
        }
        Level {
            left: self.tokens as u64,
            full_in_s: ((burst - self.tokens) / per_second).ceil() as u64,
            wait_s: (!given).then(|| ((1.0 - self.tokens) / per_second).ceil() as u64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(buckets: &Buckets<String>, key: &str) -> bool {
        buckets
            .take(key)
            .is_some_and(|level| level.wait_s.is_none())
    }

    #[tokio::test(start_paused = true)]
    async fn a_bucket_gives_its_burst_and_then_its_rate() {
        let buckets = Buckets::<String>::new(2.0, 3.0);
        assert_eq!((0..5).filter(|_| given(&buckets, "a")).count(), 3);
        let level = buckets.take("a").expect("a limit");
        assert_eq!((level.left, level.full_in_s, level.wait_s), (0, 2, Some(1)));
        assert!(given(&buckets, "b"));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!((0..5).filter(|_| given(&buckets, "a")).count(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_says_what_is_left() {
        let policy = Policy::new("submits", 20, 100);
        let standing = policy.call("a").expect("a limit");
        let mut headers = HeaderMap::new();
        standing.tell(&mut headers);
        assert_eq!(headers[POLICY], "\"submits\";q=100;w=5");
        assert_eq!(headers[LIMIT], "\"submits\";r=99;t=1");
        assert!(Policy::new("calls", 0, 1).call("a").is_none());
    }

    #[test]
    fn one_household_has_many_addresses() {
        let one: IpAddr = "2001:db8:1:2::1".parse().expect("an address");
        let other: IpAddr = "2001:db8:1:2:ffff::9".parse().expect("an address");
        assert_eq!(household(one), household(other));
    }

    /// The usual way to say the same: each call moves the moment at which the bucket is full by one interval, and is given
    /// unless that moment would lie more than a burst ahead.
    #[tokio::test(start_paused = true)]
    async fn buckets_give_what_the_generic_cell_rate_algorithm_gives() {
        let mut dice = fastrand::Rng::with_seed(11);
        for _ in 0..200 {
            // Rates whose interval is a whole number of milliseconds, so that neither side rounds.
            let per_second = [1_u64, 2, 5, 10, 20, 50, 100][dice.usize(0..7)];
            let (interval_ms, burst) = (1000 / per_second, dice.u64(1..30));
            let buckets = Buckets::<String>::new(per_second as f64, burst as f64);
            let (mut now_ms, mut full_at_ms) = (0, 0);
            for _ in 0..100 {
                let pause_ms = dice.u64(0..3) * dice.u64(0..4 * interval_ms);
                tokio::time::advance(Duration::from_millis(pause_ms)).await;
                now_ms += pause_ms;
                let next_full_ms = u64::max(full_at_ms, now_ms) + interval_ms;
                let expected = next_full_ms <= now_ms + burst * interval_ms;
                if expected {
                    full_at_ms = next_full_ms;
                }
                let context = format!("{per_second} a second, {burst} at once, after {now_ms} ms");
                assert_eq!(given(&buckets, "a"), expected, "{context}");
            }
        }
    }
}
