//! Which kinds of work have a free place now: what a node may lease for.

use std::collections::BTreeSet;

use atelier_contract::{FAMILIES, Quota, Speed};
use atelier_store::work_kind;

use crate::floor::lane::Lane;
use crate::floor::pool::choice::{Candidate, Choice, Earlier, Wish, choose};

/// Every speed.
pub(crate) const SPEEDS: [Speed; 3] = [Speed::Turbo, Speed::Fast, Speed::Relax];

/// Operation, speed and lane, where a place is free.
pub(crate) fn open(candidates: &[&Candidate], now_ms: i64) -> Vec<String> {
    let mut lanes = BTreeSet::from([Lane::Any]);
    for one in candidates {
        lanes.insert(match &one.owner {
            Some(owner) => Lane::Own(owner),
            None => Lane::At(&one.backend),
        });
    }
    let mut open = Vec::new();
    for lane in lanes {
        let members: Vec<&Candidate> = candidates
            .iter()
            .copied()
            .filter(|one| one.is_in(lane))
            .collect();
        add(&mut open, lane, &members, now_ms);
    }
    open
}

fn add(open: &mut Vec<String>, which: Lane<'_>, members: &[&Candidate], now_ms: i64) {
    let text = which.text();
    for submit in FAMILIES.iter().flat_map(|family| family.submits) {
        if !members
            .iter()
            .any(|one| one.operations.contains(submit.name))
        {
            continue;
        }
        for speed in SPEEDS {
            let wish = Wish {
                operation: submit.name,
                speed,
                model: None,
                lane: which,
                follows: None,
                price: Quota::ZERO,
                earlier: Earlier::NONE,
                first: false,
            };
            let choice = choose(&wish, members.iter().copied(), now_ms);
            if matches!(choice, Choice::Take(_)) {
                open.push(work_kind(submit.name, speed, &text));
            }
        }
    }
}
