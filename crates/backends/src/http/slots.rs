//! How many requests may be under way: to one destination, and in all. One slow receiver fills only its own places.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};
use url::{Position, Url};

type Destinations = Arc<Mutex<HashMap<String, Arc<Semaphore>>>>;

/// Places per destination and in all.
#[derive(Clone)]
pub(crate) struct RequestSlots {
    each: usize,
    all: Arc<Semaphore>,
    destinations: Destinations,
}

/// The right to have one request under way.
pub(crate) struct RequestSlot {
    key: String,
    destinations: Destinations,
    one: Option<OwnedSemaphorePermit>,
    _all: OwnedSemaphorePermit,
}

impl RequestSlots {
    pub(crate) fn new(each: usize, all: usize) -> Self {
        Self {
            each,
            all: Arc::new(Semaphore::new(all)),
            destinations: Arc::default(),
        }
    }

    /// A place for the address, or `None` when none came free in time. The destination's own place is taken first, so
    /// that those who wait for a full destination hold nothing that others need.
    pub(crate) async fn take(&self, url: &Url, wait: Duration) -> Option<RequestSlot> {
        let key = url[Position::BeforeHost..Position::AfterPort].to_owned();
        self.take_for(key, wait).await
    }

    /// A place for whatever a text names.
    pub(crate) async fn take_for(&self, key: String, wait: Duration) -> Option<RequestSlot> {
        let semaphore = {
            let mut map = self
                .destinations
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let fresh = || Arc::new(Semaphore::new(self.each));
            Arc::clone(map.entry(key.clone()).or_insert_with(fresh))
        };
        let permits = async {
            let one = semaphore.acquire_owned().await.ok()?;
            let all = Arc::clone(&self.all).acquire_owned().await.ok()?;
            Some((one, all))
        };
        let taken = timeout(wait, permits).await.ok().flatten();
        let Some((one, all)) = taken else {
            forget_idle(&self.destinations, &key);
            return None;
        };
        Some(RequestSlot {
            key,
            destinations: Arc::clone(&self.destinations),
            one: Some(one),
            _all: all,
        })
    }
}

/// Places for reading callers' addresses: each account has its own at every destination and a share of all of them, so that
/// files of one that hardly come keep nobody else from the same host.
#[derive(Clone)]
pub(crate) struct FetchSlots {
    own: RequestSlots,
    shares: RequestSlots,
    destinations: RequestSlots,
}

/// The right to read one address.
pub(crate) struct FetchSlot {
    _own: RequestSlot,
    _share: Option<RequestSlot>,
    _destination: RequestSlot,
}

impl FetchSlots {
    /// So many of one account from one destination, of all accounts from one, and in all, of which an account has a quarter.
    pub(crate) fn new(each: usize, destination: usize, all: usize) -> Self {
        Self {
            own: RequestSlots::new(each, all),
            shares: RequestSlots::new(all.div_ceil(4), all),
            destinations: RequestSlots::new(destination, all),
        }
    }

    /// A place for an account at an address, or `None` when none came free in time; what is read for nobody has no share.
    pub(crate) async fn take(&self, whose: &str, url: &Url, wait: Duration) -> Option<FetchSlot> {
        let destination = &url[Position::BeforeHost..Position::AfterPort];
        let own = format!("{whose} {destination}");
        let end = Instant::now() + wait;
        let left = || end.saturating_duration_since(Instant::now());
        // What is an account's alone comes first, so that those who wait hold nothing that others need.
        let share = match whose {
            "" => None,
            whose => Some(self.shares.take_for(whose.to_owned(), left()).await?),
        };
        let own = self.own.take_for(own, left()).await?;
        let destination = self.destinations.take(url, left()).await?;
        Some(FetchSlot {
            _own: own,
            _share: share,
            _destination: destination,
        })
    }
}

impl Drop for RequestSlot {
    fn drop(&mut self) {
        self.one.take();
        forget_idle(&self.destinations, &self.key);
    }
}

/// Drops the entry of a destination that nobody uses or waits for, so that the map does not grow with every host.
fn forget_idle(destinations: &Destinations, key: &str) {
    let mut map = destinations.lock().unwrap_or_else(PoisonError::into_inner);
    if map
        .get(key)
        .is_some_and(|semaphore| Arc::strong_count(semaphore) == 1)
    {
        map.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_millis(20);

    fn url(text: &str) -> Url {
        Url::parse(text).expect("an address")
    }

    #[tokio::test]
    async fn files_of_one_account_that_hardly_come_leave_the_same_host_to_another() {
        let reading = FetchSlots::new(2, 10, 100);
        let host = url("http://cdn.org/a");
        let first = reading.take("greedy", &host, SOON).await.expect("first");
        let _second = reading.take("greedy", &host, SOON).await.expect("second");
        assert!(reading.take("greedy", &host, SOON).await.is_none());
        let other = reading.take("other", &url("http://cdn.org/b"), SOON).await;
        assert!(other.is_some(), "another account reads from the same host");
        drop(first);
        assert!(reading.take("greedy", &host, SOON).await.is_some());
    }

    #[tokio::test]
    async fn one_account_with_many_hosts_leaves_places_to_another() {
        let reading = FetchSlots::new(2, 10, 8);
        let at = |number: usize| url(&format!("http://host{number}.org/"));
        let mut held = Vec::new();
        for number in 0..8 {
            held.extend(reading.take("greedy", &at(number), SOON).await);
        }
        assert_eq!(held.len(), 2, "a quarter of all");
        assert!(reading.take("other", &at(0), SOON).await.is_some());
        assert!(reading.take("", &at(0), SOON).await.is_some(), "a vendor's");
    }

    #[tokio::test]
    async fn a_full_destination_leaves_others_alone_and_is_forgotten_afterwards() {
        let places = RequestSlots::new(2, 100);
        let dead = url("http://dead.org:8080/a");
        let first = places.take(&dead, SOON).await.expect("first");
        let second = places.take(&dead, SOON).await.expect("second");
        assert!(
            places
                .take(&url("http://dead.org:8080/b"), SOON)
                .await
                .is_none()
        );
        assert!(places.take(&url("http://live.org/"), SOON).await.is_some());
        drop(first);
        assert!(places.take(&dead, SOON).await.is_some());
        drop(second);
        assert!(places.destinations.lock().expect("map").is_empty());
    }
}
