//! Where a page is: which days, or parts of a day, hold it, and from which end it is nearer.

/// Where the rows of a page are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageWindow {
    /// The first and the last of its days, or of their parts.
    pub(super) span: (i64, i64),
    /// How long each of those is.
    pub(super) unit_ms: i64,
    /// Rows to skip there.
    pub(super) offset: i64,
    pub(super) jobs: i64,
}

/// A way to a page: from the beginning of its days, or from their end when that is nearer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SeekPlan {
    pub(super) from_end: bool,
    pub(super) offset: i64,
    pub(super) limit: i64,
}

impl PageWindow {
    pub(super) fn way(self, limit: i64) -> SeekPlan {
        let behind = self.jobs - self.offset.saturating_add(limit);
        if behind < self.offset {
            SeekPlan {
                from_end: true,
                offset: behind.max(0),
                limit: limit + behind.min(0),
            }
        } else {
            SeekPlan {
                from_end: false,
                offset: self.offset,
                limit,
            }
        }
    }
}

/// The days, or other pieces of time, that hold a page; `None` when it is beyond the end.
pub(super) fn find_window(
    pieces: &[(i64, i64)],
    unit_ms: i64,
    offset: i64,
    limit: i64,
) -> Option<PageWindow> {
    let (mut before, mut place) = (0, None::<PageWindow>);
    for &(piece, jobs) in pieces {
        let end = before + jobs;
        if end > offset {
            let found = place.get_or_insert(PageWindow {
                span: (piece, piece),
                unit_ms,
                offset: offset - before,
                jobs: 0,
            });
            found.span = (found.span.0.min(piece), found.span.1.max(piece));
            found.jobs += jobs;
            if end >= offset.saturating_add(limit) {
                break;
            }
        }
        before = end;
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY_MS: i64 = 86_400_000;

    #[test]
    fn a_page_is_on_the_days_that_hold_it() {
        let days = || vec![(9, 3), (7, 2), (4, 5)];
        let at = |offset, limit| {
            let found = find_window(&days(), DAY_MS, offset, limit);
            found.map(|place| (place.span, place.offset, place.jobs))
        };
        assert_eq!(at(0, 3), Some(((9, 9), 0, 3)));
        assert_eq!(at(2, 2), Some(((7, 9), 2, 5)));
        assert_eq!(at(3, 2), Some(((7, 7), 0, 2)));
        assert_eq!(at(4, 100), Some(((4, 7), 1, 7)));
        assert_eq!(at(9, 1), Some(((4, 4), 4, 5)));
        assert_eq!(at(10, 1), None);
    }

    #[test]
    fn a_page_is_found_from_the_nearer_end() {
        let way = |offset, limit| {
            let place = PageWindow {
                span: (0, 0),
                unit_ms: DAY_MS,
                offset,
                jobs: 100,
            };
            let way = place.way(limit);
            (way.from_end, way.offset, way.limit)
        };
        assert_eq!(way(0, 20), (false, 0, 20));
        assert_eq!(way(40, 20), (false, 40, 20));
        assert_eq!(way(41, 20), (true, 39, 20));
        assert_eq!(way(80, 20), (true, 0, 20));
        assert_eq!(way(95, 20), (true, 0, 5));
    }
}
