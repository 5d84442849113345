//! How many requests may be under way: to one destination, and in all. One slow receiver fills only its own places.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use url::{Position, Url};

type Destinations = Arc<Mutex<HashMap<String, Arc<Semaphore>>>>;

/// Places per destination and in all.
#[derive(Clone)]
pub(crate) struct Places {
    each: usize,
    all: Arc<Semaphore>,
    destinations: Destinations,
}

/// The right to have one request under way.
pub(crate) struct Place {
    key: String,
    destinations: Destinations,
    one: Option<OwnedSemaphorePermit>,
    _all: OwnedSemaphorePermit,
}

impl Places {
    pub(crate) fn new(each: usize, all: usize) -> Self {
        Self {
            each,
            all: Arc::new(Semaphore::new(all)),
            destinations: Arc::default(),
        }
    }

    /// A place for the address, or `None` when none came free in time. The destination's own place is taken first, so
    /// that those who wait for a full destination hold nothing that others need.
    pub(crate) async fn take(&self, url: &Url, wait: Duration) -> Option<Place> {
        let key = url[Position::BeforeHost..Position::AfterPort].to_owned();
        self.take_for(key, wait).await
    }

    /// A place for whatever a text names.
    pub(crate) async fn take_for(&self, key: String, wait: Duration) -> Option<Place> {
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
        Some(Place {
            key,
            destinations: Arc::clone(&self.destinations),
            one: Some(one),
            _all: all,
        })
    }
}

impl Drop for Place {
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
    async fn a_full_destination_leaves_others_alone_and_is_forgotten_afterwards() {
        let places = Places::new(2, 100);
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
