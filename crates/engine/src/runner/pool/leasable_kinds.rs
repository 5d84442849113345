//! Which kinds of work have a free place now: what a node may lease for.

use std::collections::BTreeSet;

use atelier_contract::Quota;
use atelier_store::{ShortWork, YieldRule, read_work_kind};

use crate::runner::length::is_long;
use crate::runner::pool::choice::{
    Candidate, Choice, Headroom, PastFailures, Requirements, choose,
};
use crate::runner::pool::routes::ModelRouting;
use crate::runner::routing::RoutingConstraint;

/// Short work that came no longer ago still has a slot left free.
pub(crate) const RECENT_MS: i64 = 60_000;

/// Kinds of work that have a free place.
#[derive(Debug, Default)]
pub(crate) struct LeasableKinds {
    /// Those whose jobs may all be leased.
    pub(crate) wide: Vec<String>,
    /// Those whose long jobs give way to short work of their account.
    pub(crate) narrow: Vec<YieldRule>,
}

/// Of some kinds of work those for which a place is free.
pub(crate) fn leasable_kinds(
    kinds: Vec<String>,
    candidates: &[&Candidate],
    now_ms: i64,
) -> LeasableKinds {
    let mut open = LeasableKinds::default();
    for kind in kinds {
        let Some(requirements) = requirements_of(&kind) else {
            continue;
        };
        let members = || {
            candidates
                .iter()
                .copied()
                .filter(|one| one.is_in(requirements.lane))
        };
        if !matches!(choose(&requirements, members(), now_ms), Choice::Take(_)) {
            continue;
        }
        // Of a kind that is short, those that came together with others are long.
        let long = Requirements {
            long: true,
            ..requirements
        };
        match required_headroom(&long, &members(), now_ms) {
            None => open.wide.push(kind),
            Some((_, short)) => open.narrow.push(YieldRule {
                long: requirements.long,
                short,
                kind,
            }),
        }
    }
    open
}

/// The short work that long work gives way to at the place it would have now, and what it leaves if there is some; `None` when
/// there is room for both.
pub(crate) fn required_headroom<'a>(
    requirements: &Requirements<'a>,
    candidates: &(impl Iterator<Item = &'a Candidate> + Clone),
    now_ms: i64,
) -> Option<(Headroom, ShortWork)> {
    let has_slot = |headroom: Headroom| {
        let requirements = Requirements {
            headroom,
            ..*requirements
        };
        matches!(
            choose(&requirements, candidates.clone(), now_ms),
            Choice::Take(_)
        )
    };
    if !requirements.long || has_slot(Headroom::One) {
        return None;
    }
    let short = short_work(requirements, candidates.clone(), now_ms - RECENT_MS);
    if short.operations.is_empty() {
        return None;
    }
    if !has_slot(Headroom::OneOfSeveral) {
        return Some((Headroom::OneOfSeveral, short));
    }
    // Of a single slot nothing can be left; only what waits has it first.
    let waits = ShortWork {
        since_ms: i64::MAX,
        ..short
    };
    Some((Headroom::One, waits))
}

/// The short work that those who could do a job could do as well.
pub(crate) fn short_work<'a>(
    requirements: &Requirements<'_>,
    candidates: impl Iterator<Item = &'a Candidate>,
    since_ms: i64,
) -> ShortWork {
    let (mut operations, mut lanes) = (BTreeSet::new(), BTreeSet::new());
    for one in candidates.filter(|one| one.beside == 0 && one.could(requirements)) {
        let short = one.operations.iter().filter(|name| !is_long(name, false));
        operations.extend(short.copied());
        match &one.owner {
            Some(owner) => {
                lanes.insert(RoutingConstraint::Own(owner).text());
            }
            None => lanes.extend([
                RoutingConstraint::Any.text(),
                RoutingConstraint::At(&one.backend).text(),
            ]),
        }
    }
    ShortWork {
        operations: operations.into_iter().collect(),
        lanes: lanes.into_iter().collect(),
        since_ms,
    }
}

/// What any job of a kind asks for.
pub(crate) fn requirements_of(kind: &str) -> Option<Requirements<'_>> {
    let (operation, speed, lane) = read_work_kind(kind)?;
    Some(Requirements {
        operation,
        speed,
        model: None,
        routing: ModelRouting::default(),
        lane: RoutingConstraint::read(lane),
        follows: None,
        price: Quota::ZERO,
        past_failures: PastFailures::NONE,
        first: false,
        long: is_long(operation, false),
        headroom: Headroom::Nothing,
    })
}
