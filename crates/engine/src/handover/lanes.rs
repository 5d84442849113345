//! Letters that wait, each behind those of its own route: whoever has places for some routes looks at their first letters, and
//! not at all that wait.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;

use super::Route;

/// A lane for each route that has letters.
pub(crate) struct Lanes<L> {
    lanes: BTreeMap<Route, VecDeque<L>>,
    /// The lane that was looked at last when there was no more to give: the next look begins behind it.
    last: Option<Route>,
}

impl<L> Default for Lanes<L> {
    fn default() -> Self {
        Self {
            lanes: BTreeMap::new(),
            last: None,
        }
    }
}

impl<L> Lanes<L> {
    /// Puts a letter behind the others of its route.
    pub(crate) fn push(&mut self, route: Route, letter: L) {
        self.lanes.entry(route).or_default().push_back(letter);
    }

    /// Shows every lane once, in turn; `look` says whether the turn is to go on behind this one the next time.
    pub(crate) fn look(&mut self, mut look: impl FnMut(&Route, &mut VecDeque<L>) -> bool) {
        let mut last = self.last.clone();
        let spans = match &self.last {
            Some(last) => vec![
                (Bound::Excluded(last), Bound::Unbounded),
                (Bound::Unbounded, Bound::Included(last)),
            ],
            None => vec![(Bound::Unbounded, Bound::Unbounded)],
        };
        for span in spans {
            for (route, letters) in self.lanes.range_mut::<Route, _>(span) {
                if look(route, letters) {
                    last = Some(route.clone());
                }
            }
        }
        self.last = last;
        self.lanes.retain(|_, letters| !letters.is_empty());
    }

    /// Everything.
    pub(crate) fn drain(&mut self) -> Vec<L> {
        std::mem::take(&mut self.lanes)
            .into_values()
            .flatten()
            .collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(host: &str) -> Route {
        Route {
            account_id: "a".into(),
            host: host.into(),
        }
    }

    /// Takes one letter from each lane in turn, as long as there are places.
    fn take(lanes: &mut Lanes<u32>, mut places: usize) -> Vec<u32> {
        let mut taken = Vec::new();
        lanes.look(|_, letters| {
            if places == 0 {
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
            lanes.push(route(host), letter);
        }
        assert_eq!(take(&mut lanes, 1), [10]);
        assert_eq!(take(&mut lanes, 1), [20], "not the first lane again");
        assert_eq!(take(&mut lanes, 2), [30, 11]);
        assert_eq!(take(&mut lanes, 9), [21], "lanes that are empty are gone");
        assert!(lanes.is_empty());
        lanes.push(route("a"), 12);
        assert_eq!(lanes.drain(), [12]);
    }
}
