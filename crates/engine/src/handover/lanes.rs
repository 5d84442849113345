//! Letters that wait, each behind those of its own route: whoever has places for some routes looks at their first letters, and
//! not at all that wait. The lane that has waited longest since it was served is shown first, so that no route of an account keeps
//! the account's other routes from its places.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::Route;

/// A lane for each route that has letters.
pub(crate) struct Lanes<L> {
    /// By the number of their turn.
    by_turn: BTreeMap<u64, (Route, VecDeque<L>)>,
    turns: HashMap<Route, u64>,
    next: u64,
}

impl<L> Default for Lanes<L> {
    fn default() -> Self {
        Self {
            by_turn: BTreeMap::new(),
            turns: HashMap::new(),
            next: 0,
        }
    }
}

impl<L> Lanes<L> {
    /// Puts a letter behind the others of its route.
    pub(crate) fn push(&mut self, route: Route, letter: L) {
        let lane = self
            .turns
            .get(&route)
            .and_then(|turn| self.by_turn.get_mut(turn));
        match lane {
            Some((_, letters)) => letters.push_back(letter),
            None => self.append(route, VecDeque::from([letter])),
        }
    }

    /// Shows every lane once, in turn; `look` says whether it served this one.
    pub(crate) fn look(&mut self, mut look: impl FnMut(&Route, &mut VecDeque<L>) -> bool) {
        let mut changed = Vec::new();
        for (turn, (route, letters)) in &mut self.by_turn {
            if look(route, letters) || letters.is_empty() {
                changed.push(*turn);
            }
        }
        for turn in changed {
            let Some((route, letters)) = self.by_turn.remove(&turn) else {
                continue;
            };
            self.turns.remove(&route);
            if !letters.is_empty() {
                self.append(route, letters);
            }
        }
    }

    /// Everything.
    pub(crate) fn drain(&mut self) -> Vec<L> {
        self.turns.clear();
        let lanes = std::mem::take(&mut self.by_turn).into_values();
        lanes.flat_map(|(_, letters)| letters).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_turn.is_empty()
    }

    /// A lane whose turn comes after all others.
    fn append(&mut self, route: Route, letters: VecDeque<L>) {
        self.turns.insert(route.clone(), self.next);
        self.by_turn.insert(self.next, (route, letters));
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

    /// Takes one letter from each of some lanes in turn, as long as there are places.
    fn take(lanes: &mut Lanes<u32>, mut places: usize, may: impl Fn(&Route) -> bool) -> Vec<u32> {
        let mut taken = Vec::new();
        lanes.look(|route, letters| {
            if places == 0 || !may(route) {
                return false;
            }
            places -= 1;
            taken.extend(letters.pop_front());
            true
        });
        taken
    }

    #[test]
    fn every_lane_has_its_turn_and_keeps_its_order() {
        let mut lanes = Lanes::default();
        for (host, letter) in [("b", 20), ("a", 10), ("c", 30), ("a", 11), ("b", 21)] {
            lanes.push(route("a", host), letter);
        }
        assert_eq!(take(&mut lanes, 1, |_| true), [20]);
        assert_eq!(take(&mut lanes, 1, |_| true), [10], "not the first again");
        assert_eq!(take(&mut lanes, 2, |_| true), [30, 21]);
        assert_eq!(take(&mut lanes, 9, |_| true), [11], "empty lanes are gone");
        assert!(lanes.is_empty());
        lanes.push(route("a", "a"), 12);
        assert_eq!(lanes.drain(), [12]);
    }

    #[test]
    fn an_account_with_few_places_serves_all_its_routes_whoever_else_is_served() {
        let mut lanes = Lanes::default();
        for number in 0..10 {
            for host in ["a1", "a2", "a3"] {
                lanes.push(route("a", host), number);
            }
            lanes.push(route("z", "z"), number);
        }
        let mut served = Vec::new();
        for _ in 0..6 {
            assert_eq!(take(&mut lanes, 1, |route| route.host == "z").len(), 1);
            // One place of the account becomes free at a time.
            let mut free = true;
            lanes.look(|route, letters| {
                let may = free && route.host != "z";
                if may {
                    free = false;
                    served.push(route.host.clone());
                    letters.pop_front();
                }
                may
            });
        }
        assert_eq!(served, ["a1", "a2", "a3", "a1", "a2", "a3"]);
    }
}
