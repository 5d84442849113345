//! One queue per route. A scan looks at the first callback of each route that has free slots, not at every callback that waits.
//! The route that was served longest ago comes first, so that no route of an account keeps the account's other routes from its
//! slots.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::route::Route;

/// The queues of the routes that have callbacks waiting.
pub(crate) struct RouteQueues<L> {
    /// By position: the lowest is served next.
    by_position: BTreeMap<u64, (Route, VecDeque<L>)>,
    positions: HashMap<Route, u64>,
    next: u64,
}

impl<L> Default for RouteQueues<L> {
    fn default() -> Self {
        Self {
            by_position: BTreeMap::new(),
            positions: HashMap::new(),
            next: 0,
        }
    }
}

impl<L> RouteQueues<L> {
    /// Appends a callback to the queue of its route.
    pub(crate) fn push(&mut self, route: Route, item: L) {
        let queue = self
            .positions
            .get(&route)
            .and_then(|position| self.by_position.get_mut(position));
        match queue {
            Some((_, items)) => items.push_back(item),
            None => self.append(route, VecDeque::from([item])),
        }
    }

    /// Visits every queue once, by position; `look` returns whether it took something from it.
    pub(crate) fn look(&mut self, mut look: impl FnMut(&Route, &mut VecDeque<L>) -> bool) {
        let mut changed = Vec::new();
        for (position, (route, items)) in &mut self.by_position {
            if look(route, items) || items.is_empty() {
                changed.push(*position);
            }
        }
        for position in changed {
            let Some((route, items)) = self.by_position.remove(&position) else {
                continue;
            };
            self.positions.remove(&route);
            if !items.is_empty() {
                self.append(route, items);
            }
        }
    }

    /// Removes and returns everything, by position.
    pub(crate) fn drain(&mut self) -> Vec<L> {
        self.positions.clear();
        let queues = std::mem::take(&mut self.by_position).into_values();
        queues.flat_map(|(_, items)| items).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_position.is_empty()
    }

    /// Adds a queue behind all others.
    fn append(&mut self, route: Route, items: VecDeque<L>) {
        self.positions.insert(route.clone(), self.next);
        self.by_position.insert(self.next, (route, items));
        self.next += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(account: &str, host: &str) -> Route {
        Route {
            account_id: account.into(),
            host: host.into(),
        }
    }

    /// Takes one item from each queue that may be served, as long as there are places.
    fn take(
        queues: &mut RouteQueues<u32>,
        mut places: usize,
        may: impl Fn(&Route) -> bool,
    ) -> Vec<u32> {
        let mut taken = Vec::new();
        queues.look(|route, items| {
            if places == 0 || !may(route) {
                return false;
            }
            places -= 1;
            taken.extend(items.pop_front());
            true
        });
        taken
    }

    #[test]
    fn every_route_has_its_turn_and_keeps_its_order() {
        let mut queues = RouteQueues::default();
        for (host, item) in [("b", 20), ("a", 10), ("c", 30), ("a", 11), ("b", 21)] {
            queues.push(route("a", host), item);
        }
        assert_eq!(take(&mut queues, 1, |_| true), [20]);
        assert_eq!(take(&mut queues, 1, |_| true), [10], "not the first again");
        assert_eq!(take(&mut queues, 2, |_| true), [30, 21]);
        assert_eq!(
            take(&mut queues, 9, |_| true),
            [11],
            "empty queues are gone"
        );
        assert!(queues.is_empty());
        queues.push(route("a", "a"), 12);
        assert_eq!(queues.drain(), [12]);
    }

    #[test]
    fn an_account_with_few_places_serves_all_its_routes_whoever_else_is_served() {
        let mut queues = RouteQueues::default();
        for number in 0..10 {
            for host in ["a1", "a2", "a3"] {
                queues.push(route("a", host), number);
            }
            queues.push(route("z", "z"), number);
        }
        let mut served = Vec::new();
        for _ in 0..6 {
            assert_eq!(take(&mut queues, 1, |route| route.host == "z").len(), 1);
            // One place of the account becomes free at a time.
            let mut free = true;
            queues.look(|route, items| {
                let may = free && route.host != "z";
                if may {
                    free = false;
                    served.push(route.host.clone());
                    items.pop_front();
                }
                may
            });
        }
        assert_eq!(served, ["a1", "a2", "a3", "a1", "a2", "a3"]);
    }
}
