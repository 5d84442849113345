//! Which kinds of work have a free place now: what a node may lease for.

use std::collections::BTreeSet;

use atelier_contract::Quota;
use atelier_store::{Narrow, ShortWork, read_work_kind};

use crate::floor::lane::Lane;
use crate::floor::length::is_long;
use crate::floor::pool::choice::{Candidate, Choice, Earlier, Leaves, Wish, choose};

/// Short work that came no longer ago still has a slot left free.
pub(crate) const LATELY_MS: i64 = 60_000;

/// Kinds of work that have a free place.
#[derive(Debug, Default)]
pub(crate) struct OpenKinds {
    /// Those whose jobs may all be leased.
    pub(crate) wide: Vec<String>,
    /// Those whose long jobs give way to short work of their account.
    pub(crate) narrow: Vec<Narrow>,
}

/// Of some kinds of work those for which a place is free.
pub(crate) fn open(kinds: Vec<String>, candidates: &[&Candidate], now_ms: i64) -> OpenKinds {
    let mut open = OpenKinds::default();
    for kind in kinds {
        let Some(wish) = wish_of(&kind) else {
            continue;
        };
        let members = || {
            candidates
                .iter()
                .copied()
                .filter(|one| one.is_in(wish.lane))
        };
        if !matches!(choose(&wish, members(), now_ms), Choice::Take(_)) {
            continue;
        }
        // Of a kind that is short, those that came together with others are long.
        let long = Wish { long: true, ..wish };
        match gives_way(&long, &members(), now_ms) {
            None => open.wide.push(kind),
            Some((_, short)) => open.narrow.push(Narrow {
                long: wish.long,
                short,
                kind,
            }),
        }
    }
    open
}

/// The short work that long work gives way to at the place it would have now, and what it leaves if there is some; `None` when
/// there is room for both.
pub(crate) fn gives_way<'a>(
    wish: &Wish<'_>,
    candidates: &(impl Iterator<Item = &'a Candidate> + Clone),
    now_ms: i64,
) -> Option<(Leaves, ShortWork)> {
    let has_place = |leaves: Leaves| {
        let wish = Wish { leaves, ..*wish };
        matches!(choose(&wish, candidates.clone(), now_ms), Choice::Take(_))
    };
    if !wish.long || has_place(Leaves::One) {
        return None;
    }
    let short = short_work(wish, candidates.clone(), now_ms - LATELY_MS);
    if short.operations.is_empty() {
        return None;
    }
    if !has_place(Leaves::OneOfSeveral) {
        return Some((Leaves::OneOfSeveral, short));
    }
    // Of a single slot nothing can be left; only what waits has it first.
    let waits = ShortWork {
        since_ms: i64::MAX,
        ..short
    };
    Some((Leaves::One, waits))
}

/// The short work that those who could do a job could do as well.
pub(crate) fn short_work<'a>(
    wish: &Wish<'_>,
    candidates: impl Iterator<Item = &'a Candidate>,
    since_ms: i64,
) -> ShortWork {
    let (mut operations, mut lanes) = (BTreeSet::new(), BTreeSet::new());
    for one in candidates.filter(|one| one.beside == 0 && one.could(wish)) {
        let short = one.operations.iter().filter(|name| !is_long(name, false));
        operations.extend(short.copied());
        match &one.owner {
            Some(owner) => {
                lanes.insert(Lane::Own(owner).text());
            }
            None => lanes.extend([Lane::Any.text(), Lane::At(&one.backend).text()]),
        }
    }
    ShortWork {
        operations: operations.into_iter().collect(),
        lanes: lanes.into_iter().collect(),
        since_ms,
    }
}

/// What any job of a kind asks for.
fn wish_of(kind: &str) -> Option<Wish<'_>> {
    let (operation, speed, lane) = read_work_kind(kind)?;
    Some(Wish {
        operation,
        speed,
        model: None,
        lane: Lane::read(lane),
        follows: None,
        price: Quota::ZERO,
        earlier: Earlier::NONE,
        first: false,
        long: is_long(operation, false),
        leaves: Leaves::Nothing,
    })
}
