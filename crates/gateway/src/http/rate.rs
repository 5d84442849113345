//! How often a key may call, and how many wrong keys an address may try.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::config::Limits;

const SHARDS: usize = 16;
/// A shard that has grown to this many buckets drops those that are full again.
const CROWDED: usize = 4096;

/// Both limits.
pub(crate) struct Rates {
    keys: Buckets<String>,
    wrong: Buckets<IpAddr>,
}

impl Rates {
    /// The configured limits.
    pub(crate) fn new(limits: &Limits) -> Self {
        let per_minute = limits.wrong_keys_per_minute;
        Self {
            keys: Buckets::new(
                f64::from(limits.key_per_second),
                f64::from(limits.key_burst),
            ),
            wrong: Buckets::new(f64::from(per_minute) / 60.0, f64::from(per_minute)),
        }
    }

    /// Counts a call; the number of seconds to wait when there were too many.
    pub(super) fn call(&self, key_id: &str) -> Result<(), u64> {
        self.keys.take(key_id)
    }

    /// Counts a wrong key; the number of seconds to wait when there were too many.
    pub(super) fn wrong_key(&self, peer: IpAddr) -> Result<(), u64> {
        self.wrong.take(&household(peer))
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

    fn take<Q>(&self, key: &Q) -> Result<(), u64>
    where
        K: std::borrow::Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        if self.per_second <= 0.0 {
            return Ok(());
        }
        let now = Instant::now();
        let shard = &self.shards[self.hasher.hash_one(key) as usize % SHARDS];
        let mut buckets = shard.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bucket) = buckets.get_mut(key) {
            return bucket.take(now, self.per_second, self.burst);
        }
        if buckets.len() >= CROWDED {
            let refill = Duration::from_secs_f64(self.burst / self.per_second);
            buckets.retain(|_, bucket| now - bucket.filled < refill);
        }
        let mut bucket = Bucket {
            tokens: self.burst,
            filled: now,
        };
        let taken = bucket.take(now, self.per_second, self.burst);
        buckets.insert(key.to_owned(), bucket);
        taken
    }
}

impl Bucket {
    fn take(&mut self, now: Instant, per_second: f64, burst: f64) -> Result<(), u64> {
        let gained = (now - self.filled).as_secs_f64() * per_second;
        self.tokens = (self.tokens + gained).min(burst);
        self.filled = now;
        if self.tokens >= 1.0 {
            self.tokens -= 1.0;
            return Ok(());
        }
        Err(((1.0 - self.tokens) / per_second).ceil() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_bucket_gives_its_burst_and_then_its_rate() {
        let buckets = Buckets::<String>::new(2.0, 3.0);
        let taken = (0..5).filter(|_| buckets.take("a").is_ok()).count();
        assert_eq!(taken, 3);
        assert_eq!(buckets.take("a"), Err(1));
        assert_eq!(buckets.take("b"), Ok(()));
        tokio::time::advance(Duration::from_secs(1)).await;
        let taken = (0..5).filter(|_| buckets.take("a").is_ok()).count();
        assert_eq!(taken, 2);
    }

    #[test]
    fn one_household_has_many_addresses() {
        let one: IpAddr = "2001:db8:1:2::1".parse().expect("an address");
        let other: IpAddr = "2001:db8:1:2:ffff::9".parse().expect("an address");
        assert_eq!(household(one), household(other));
    }
}
