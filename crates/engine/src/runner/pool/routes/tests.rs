//! Routes in the choice of a worker account: shares, ranks, outages and what stays as it was.

use std::collections::{BTreeMap, HashSet};

use atelier_backends::{Class, Fault};
use atelier_contract::{Quota, Speed};

use super::*;
use crate::names::WorkerName;
use crate::runner::pool::choice::{
    Candidate, Choice, Headroom, Mode, PastFailures, Requirements, choose, is_open,
};
use crate::runner::routing::RoutingConstraint;

const NOW: i64 = 1_800_000_000_000;
const OPERATION: &str = "artgen.imagine";
/// Jobs of which shares are counted.
const JOBS: u32 = 10_000;

fn route(backend: &str, weight: u32) -> Route {
    Route {
        backend: backend.to_owned(),
        model: None,
        weight,
        rank: None,
        cost: None,
        stop_loss: None,
        paused: None,
    }
}

fn candidate(name: &str, rank: i64) -> Candidate {
    let name = WorkerName::read(name);
    Candidate {
        backend: name.backend().clone(),
        title: format!("the back end {}", name.backend()),
        name,
        rank,
        operations: HashSet::from([OPERATION]),
        weight: 1,
        concurrency: 2,
        ..Candidate::default()
    }
}

fn requirements<'a>(job_id: &'a str, routes: &'a Routes) -> Requirements<'a> {
    Requirements {
        operation: OPERATION,
        speed: Speed::Fast,
        model: None,
        routing: ModelRouting {
            job_id,
            name: Some("gpt-image-2"),
            routes,
        },
        lane: RoutingConstraint::Any,
        follows: None,
        price: Quota::ZERO,
        past_failures: PastFailures::NONE,
        first: false,
        long: false,
        headroom: Headroom::Nothing,
    }
}

fn chosen(requirements: &Requirements<'_>, candidates: &[Candidate]) -> Option<String> {
    match choose(requirements, candidates.iter(), NOW) {
        Choice::Take(place) => Some(candidates[place].name.to_string()),
        _ => None,
    }
}

fn job_ids() -> impl Iterator<Item = String> {
    (0..JOBS).map(|number| format!("job-{number}"))
}

/// How many of the jobs go to each back end, each of them alone in the house.
fn shares(routes: &Routes, candidates: &[Candidate]) -> BTreeMap<String, u32> {
    let mut shares = BTreeMap::new();
    for id in job_ids() {
        let worker = chosen(&requirements(&id, routes), candidates).expect("somebody is free");
        let backend = WorkerName::read(&worker).backend().to_string();
        *shares.entry(backend).or_default() += 1;
    }
    shares
}

fn ill(mut candidate: Candidate) -> Candidate {
    for _ in 0..5 {
        let fault = Fault::vendor(Class::Retry, "");
        candidate.health.fault(&fault, NOW);
    }
    candidate
}

/// The promise: shares follow the weights within 2 percentage points, also when there is never more than one job, and however
/// many worker accounts a back end has.
#[test]
fn shares_follow_the_weights_at_low_load() {
    let candidates = [
        candidate("a/1", 1),
        candidate("a/2", 1),
        candidate("a/3", 1),
        candidate("b/1", 1),
        candidate("c/1", 1),
    ];
    for weights in [[3, 1, 1], [1, 1, 1], [1, 2, 7], [1, 1, 1000]] {
        let routes = Routes::from(vec![
            route("a", weights[0]),
            route("b", weights[1]),
            route("c", weights[2]),
        ]);
        let found = shares(&routes, &candidates);
        let sum: u32 = weights.iter().sum();
        for (backend, weight) in ["a", "b", "c"].into_iter().zip(weights) {
            let got = found.get(backend).copied().unwrap_or_default();
            let got = f64::from(got) * 100.0 / f64::from(JOBS);
            let wanted = f64::from(weight) * 100.0 / f64::from(sum);
            assert!((got - wanted).abs() <= 2.0, "{weights:?} {backend}: {got}");
        }
    }
}

/// The promise: an outage moves the traffic of the one that is away, and nobody else's; when it is over, everything is as before.
#[test]
fn an_outage_moves_traffic_and_it_comes_back() {
    let routes = Routes::from(vec![route("a", 2), route("b", 1), route("c", 1)]);
    let well = [
        candidate("a/1", 1),
        candidate("b/1", 1),
        candidate("c/1", 1),
    ];
    let [_, b, c] = well.clone();
    let mut outage = [ill(candidate("a/1", 1)), b, c];
    for id in job_ids() {
        let asked = requirements(&id, &routes);
        let before = chosen(&asked, &well).expect("somebody");
        let during = chosen(&asked, &outage).expect("somebody");
        assert_ne!(during, "a/1");
        assert!(before == "a/1" || before == during, "{id} had no reason");
    }
    let moved = shares(&routes, &outage);
    let (b, c) = (moved["b"].abs_diff(JOBS / 2), moved["c"].abs_diff(JOBS / 2));
    assert!(b <= JOBS / 50 && c <= JOBS / 50, "{moved:?}");
    outage[0].health.mark_healthy(NOW);
    for id in job_ids() {
        let asked = requirements(&id, &routes);
        assert_eq!(chosen(&asked, &outage), chosen(&asked, &well));
    }
}

#[test]
fn a_busy_route_leaves_its_jobs_to_a_free_one_of_its_rank() {
    let routes = Routes::from(vec![route("a", 1000), route("b", 1)]);
    let mut busy = candidate("a/1", 1);
    busy.busy = 2;
    let candidates = [busy, candidate("b/1", 1)];
    assert_eq!(shares(&routes, &candidates)["b"], JOBS);
}

#[test]
fn a_routes_rank_replaces_the_back_ends() {
    let mut first = route("b", 1);
    first.rank = Some(0);
    let routes = Routes::from(vec![route("a", 1000), first]);
    let candidates = [candidate("a/1", 1), candidate("b/1", 9)];
    assert_eq!(shares(&routes, &candidates)["b"], JOBS);
    let candidates = [candidate("a/1", 1), ill(candidate("b/1", 9))];
    assert_eq!(shares(&routes, &candidates)["a"], JOBS, "the fall-back");
}

#[test]
fn only_back_ends_that_routes_name_are_asked() {
    let candidates = [candidate("a/1", 1), candidate("b/1", 2)];
    for name in ["b", "the back end b"] {
        let routes = Routes::from(vec![route(name, 1)]);
        let asked = requirements("job", &routes);
        assert_eq!(chosen(&asked, &candidates).as_deref(), Some("b/1"));
    }
    let routes = Routes::from(vec![route("gone", 1)]);
    let asked = requirements("job", &routes);
    let choice = choose(&asked, candidates.iter(), NOW);
    assert_eq!(choice, Choice::Nobody, "as without a back end");
    let asked = requirements("job", Routes::NONE);
    assert_eq!(chosen(&asked, &candidates).as_deref(), Some("a/1"));
}

#[test]
fn a_last_resort_that_a_route_names_is_asked_like_any_other() {
    let mut inside = candidate("embedded", 1);
    inside.last_resort = true;
    let candidates = [candidate("a/1", 1), inside];
    let routes = Routes::from(vec![route("a", 1), route("embedded", 1)]);
    let found = shares(&routes, &candidates);
    assert!(
        found["embedded"].abs_diff(JOBS / 2) <= JOBS / 50,
        "{found:?}"
    );
}

/// What follows a job stays with whoever made that, whatever the routes say by now.
#[test]
fn a_follow_up_stays_with_the_maker_of_its_parent() {
    let (maker, routes) = (WorkerName::read("b/1"), Routes::from(vec![route("a", 1)]));
    let candidates = [candidate("a/1", 1), candidate("b/1", 2)];
    let follow = Requirements {
        lane: RoutingConstraint::At("b"),
        follows: Some(&maker),
        ..requirements("job", &routes)
    };
    assert_eq!(chosen(&follow, &candidates).as_deref(), Some("b/1"));
}

#[test]
fn a_worker_account_may_list_the_model_by_either_name() {
    let routes = Routes::from(vec![route("a", 1)]);
    for (listed, takes) in [("gpt-image-2", true), ("image-1", true), ("art-3", false)] {
        let mut one = candidate("a/1", 1);
        one.models = vec![listed.to_owned()];
        let asked = Requirements {
            model: Some("image-1"),
            ..requirements("job", &routes)
        };
        let found = chosen(&asked, std::slice::from_ref(&one));
        assert_eq!(found.is_some(), takes, "{listed}");
    }
}

#[test]
fn two_names_of_a_model_at_one_back_end_share_by_their_weights() {
    let named = |model: &str, weight| Route {
        model: Some(model.to_owned()),
        ..route("a", weight)
    };
    let routes = Routes::from(vec![named("old", 1), named("new", 3)]);
    let one = candidate("a/1", 1);
    let new = job_ids().filter(|id| {
        let found = one.route(&requirements(id, &routes).routing);
        found.is_some_and(|found| found.route.model.as_deref() == Some("new"))
    });
    let new = new.count() as u32;
    assert!(new.abs_diff(JOBS * 3 / 4) <= JOBS / 50, "{new}");
}

/// The promise: whether anybody would take a job is said without a choice, and as the choice says it.
#[test]
fn whoever_is_open_would_be_chosen_or_waited_for() {
    let full = |mut one: Candidate| {
        one.busy = 2;
        one
    };
    let broke = |mut one: Candidate| {
        one.spend_cap = Some(Quota::ZERO);
        one.spent = Quota::from_thousandths(1);
        one
    };
    let draining = |mut one: Candidate| {
        one.mode = Mode::Draining;
        one
    };
    let (a, b) = (|| candidate("a/1", 1), || candidate("b/1", 2));
    let houses = [
        vec![],
        vec![a()],
        vec![full(a()), b()],
        vec![full(a())],
        vec![ill(a())],
        vec![broke(a()), b()],
        vec![broke(a())],
        vec![draining(a())],
        vec![b()],
    ];
    let routes: [Routes; 3] = [
        Routes::default(),
        vec![route("a", 1)].into(),
        vec![route("gone", 1)].into(),
    ];
    let mut open = 0;
    for house in &houses {
        for routes in &routes {
            let asked = requirements("job", routes);
            let found = is_open(&asked, house.iter(), NOW);
            let choice = choose(&asked, house.iter(), NOW);
            assert_eq!(found, choice != Choice::Nobody, "{house:?} {routes:?}");
            open += u32::from(found);
        }
    }
    assert_eq!(open, 10, "both happen");
}
