//! The choice, case by case and on a great many random pools.

use atelier_backends::{Class, Fault};

use super::*;

const NOW: i64 = 1_800_000_000_000;
const OPERATION: &str = "artgen.imagine";

fn candidate(name: &str, rank: i64) -> Candidate {
    Candidate {
        name: WorkerName::read(name),
        backend: WorkerName::read(name).backend().clone(),
        rank,
        operations: HashSet::from([OPERATION]),
        weight: 1,
        concurrency: 2,
        ..Candidate::default()
    }
}

fn requirements() -> Requirements<'static> {
    Requirements {
        operation: OPERATION,
        speed: Speed::Fast,
        model: None,
        routing: ModelRouting::default(),
        lane: RoutingConstraint::Any,
        follows: None,
        price: Quota::from_thousandths(1_000),
        past_failures: PastFailures::NONE,
        first: false,
        long: false,
        headroom: Headroom::Nothing,
    }
}

fn ill(mut candidate: Candidate, class: Class) -> Candidate {
    let times = if class == Class::Retry { 5 } else { 1 };
    for _ in 0..times {
        candidate.health.fault(&Fault::vendor(class, ""), NOW);
    }
    candidate
}

fn chosen(requirements: &Requirements<'_>, candidates: &[Candidate]) -> Option<String> {
    match choose(requirements, candidates.iter(), NOW) {
        Choice::Take(place) => Some(candidates[place].name.to_string()),
        _ => None,
    }
}

#[test]
fn the_first_back_end_in_order_is_taken_whatever_the_order_of_the_list() {
    let candidates = [
        candidate("c/1", 3),
        candidate("a/1", 1),
        candidate("b/1", 2),
    ];
    assert_eq!(chosen(&requirements(), &candidates).as_deref(), Some("a/1"));
}

#[test]
fn one_that_cannot_do_the_job_is_passed_over_and_calls_no_last_resort_in() {
    let past_failures = PastFailures {
        unable: vec!["a".into()],
        ..PastFailures::default()
    };
    let picky = Requirements {
        past_failures: &past_failures,
        ..requirements()
    };
    let candidates = [
        candidate("a/1", 1),
        candidate("a/2", 1),
        candidate("b/1", 2),
    ];
    assert_eq!(chosen(&picky, &candidates).as_deref(), Some("b/1"));
    let mut context = candidate("house", 9);
    let fall_back = [candidate("a/1", 1), context.clone()];
    assert_eq!(
        chosen(&picky, &fall_back).as_deref(),
        Some("house"),
        "as told"
    );
    context.last_resort = true;
    let last_resort = [candidate("a/1", 1), context];
    assert_eq!(choose(&picky, last_resort.iter(), NOW), Choice::Nobody);
}

#[test]
fn one_that_failed_twice_gets_the_job_only_when_nobody_else_is_free() {
    let past_failures = PastFailures {
        failing: vec![WorkerName::read("a/1")],
        ..PastFailures::default()
    };
    let retried = Requirements {
        past_failures: &past_failures,
        ..requirements()
    };
    let candidates = [
        candidate("a/1", 1),
        candidate("a/2", 1),
        candidate("b/1", 2),
    ];
    assert_eq!(chosen(&retried, &candidates).as_deref(), Some("a/2"));
    assert_eq!(
        chosen(&retried, &[candidate("a/1", 1), candidate("b/1", 2)]).as_deref(),
        Some("b/1")
    );
    assert_eq!(chosen(&retried, &candidates[..1]).as_deref(), Some("a/1"));
    let busy = [
        candidate("a/1", 1),
        Candidate {
            busy: 2,
            ..candidate("b/1", 2)
        },
    ];
    assert_eq!(chosen(&retried, &busy).as_deref(), Some("a/1"));
}

#[test]
fn what_follows_a_job_waits_for_a_maker_that_was_told_to_rest() {
    let first = WorkerName::read("a/1");
    for mode in [Mode::Paused, Mode::Draining] {
        let follow = Requirements {
            lane: RoutingConstraint::At("a"),
            follows: Some(&first),
            ..requirements()
        };
        let candidates = [
            Candidate {
                mode,
                ..candidate("a/1", 1)
            },
            candidate("a/2", 1),
        ];
        assert_eq!(choose(&follow, candidates.iter(), NOW), Choice::Nobody);
        assert_eq!(
            chosen(&requirements(), &candidates).as_deref(),
            Some("a/2"),
            "others do not mind"
        );
    }
    // Another server of the same caller never made it.
    let owned = |name: &str| Candidate {
        owner: Some("me".into()),
        ..candidate(name, 1)
    };
    let mine = Requirements {
        lane: RoutingConstraint::Own("me"),
        follows: Some(&first),
        ..requirements()
    };
    assert_eq!(choose(&mine, [owned("b/1")].iter(), NOW), Choice::Nobody);
    let candidates = [owned("b/1"), owned("a/1")];
    assert_eq!(chosen(&mine, &candidates).as_deref(), Some("a/1"));
}

#[test]
fn an_ill_back_end_is_passed_over_and_a_busy_one_is_waited_for() {
    for class in [Class::Rate, Class::Quota, Class::Dead, Class::Retry] {
        let candidates = [ill(candidate("a/1", 1), class), candidate("b/1", 2)];
        assert_eq!(
            chosen(&requirements(), &candidates).as_deref(),
            Some("b/1"),
            "{class:?}"
        );
    }
    let mut full = candidate("a/1", 1);
    full.busy = 2;
    let candidates = [full.clone(), candidate("b/1", 2)];
    assert_eq!(
        choose(&requirements(), candidates.iter(), NOW),
        Choice::Wait(NOW)
    );
    let mut paced = candidate("a/1", 1);
    paced.pace = Pace::new(1, 0);
    paced.pace.push(NOW - 1_000);
    let candidates = [paced, candidate("b/1", 2)];
    assert_eq!(
        choose(&requirements(), candidates.iter(), NOW),
        Choice::Wait(NOW + 59_000)
    );
    let candidates = [full, candidate("a/2", 1)];
    assert_eq!(
        chosen(&requirements(), &candidates).as_deref(),
        Some("a/2"),
        "its neighbour is free"
    );
}

#[test]
fn a_follow_up_goes_to_the_worker_that_made_its_parent() {
    let second = WorkerName::read("a/2");
    let follow = Requirements {
        lane: RoutingConstraint::At("a"),
        follows: Some(&second),
        ..requirements()
    };
    let mut busy = candidate("a/2", 1);
    busy.busy = 2;
    let candidates = [
        candidate("a/1", 1),
        candidate("a/2", 1),
        candidate("b/1", 0),
    ];
    assert_eq!(chosen(&follow, &candidates).as_deref(), Some("a/2"));
    let candidates = [candidate("a/1", 1), busy, candidate("b/1", 0)];
    assert_eq!(choose(&follow, candidates.iter(), NOW), Choice::Wait(NOW));
    let candidates = [
        candidate("a/1", 1),
        ill(candidate("a/2", 1), Class::Dead),
        candidate("b/1", 0),
    ];
    assert_eq!(
        chosen(&follow, &candidates).as_deref(),
        Some("a/1"),
        "the same back end"
    );
    let candidates = [ill(candidate("a/2", 1), Class::Dead), candidate("b/1", 0)];
    assert_eq!(choose(&follow, candidates.iter(), NOW), Choice::Nobody);
}

#[test]
fn a_callers_own_accounts_serve_nobody_else_and_nobody_else_serves_it() {
    let mut own = candidate("o/1", 0);
    own.owner = Some("caller".into());
    let candidates = [own, candidate("a/1", 1)];
    assert_eq!(chosen(&requirements(), &candidates).as_deref(), Some("a/1"));
    let mine = Requirements {
        lane: RoutingConstraint::Own("caller"),
        ..requirements()
    };
    assert_eq!(chosen(&mine, &candidates).as_deref(), Some("o/1"));
    let anothers = Requirements {
        lane: RoutingConstraint::Own("stranger"),
        ..requirements()
    };
    assert_eq!(choose(&anothers, candidates.iter(), NOW), Choice::Nobody);
    let sneaky = Requirements {
        lane: RoutingConstraint::At("o"),
        ..requirements()
    };
    assert_eq!(choose(&sneaky, candidates.iter(), NOW), Choice::Nobody);
}

#[test]
fn the_last_resort_serves_only_what_nobody_else_serves() {
    let mut last = candidate("embedded", 1000);
    last.last_resort = true;
    last.operations.insert("facegen.swap");
    let candidates = [ill(candidate("a/1", 1), Class::Rate), last];
    assert_eq!(
        chosen(&requirements(), &candidates),
        None,
        "the vendor is waited for"
    );
    let swap = Requirements {
        operation: "facegen.swap",
        ..requirements()
    };
    assert_eq!(chosen(&swap, &candidates).as_deref(), Some("embedded"));
    let follow = Requirements {
        lane: RoutingConstraint::At("embedded"),
        ..requirements()
    };
    assert_eq!(chosen(&follow, &candidates).as_deref(), Some("embedded"));
}

#[test]
fn every_limit_of_a_worker_is_kept() {
    let refused = |change: fn(&mut Candidate), requirements: Requirements<'_>| {
        let mut one = candidate("a/1", 1);
        change(&mut one);
        chosen(&requirements, std::slice::from_ref(&one)).is_none()
    };
    let model = Requirements {
        model: Some("big"),
        ..requirements()
    };
    assert!(refused(|one| one.models = vec!["small".into()], model));
    assert!(!refused(|one| one.models = vec!["big".into()], model));
    assert!(!refused(
        |one| one.models = vec!["small".into()],
        requirements()
    ));
    assert!(refused(
        |one| one.speeds = vec![Speed::Relax],
        requirements()
    ));
    assert!(refused(|one| one.mode = Mode::Draining, requirements()));
    assert!(refused(|one| one.mode = Mode::Paused, requirements()));
    assert!(refused(|one| one.concurrency = 0, requirements()));
    assert!(refused(
        |one| one.spend_cap = Some(Quota::from_thousandths(999)),
        requirements()
    ));
    assert!(!refused(
        |one| one.spend_cap = Some(Quota::from_thousandths(1_000)),
        requirements()
    ));
    // 2027-01-15 08:00 UTC is outside.
    assert!(refused(
        |one| one.hours = Hours::parse("09:00-10:00").expect("a span"),
        requirements()
    ));
}

#[test]
fn weight_shares_the_work() {
    let mut candidates = [candidate("a/1", 1), candidate("a/2", 1)];
    candidates[0].weight = 3;
    for candidate in &mut candidates {
        candidate.concurrency = 100;
    }
    for _ in 0..40 {
        match choose(&requirements(), candidates.iter(), NOW) {
            Choice::Take(place) => candidates[place].busy += 1,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((candidates[0].busy, candidates[1].busy), (30, 10));
}

/// A small generator; the same numbers every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % sides
    }
}

fn any_candidate(dice: &mut Dice) -> Candidate {
    let (backend, worker) = (dice.roll(3), dice.roll(3));
    let mut one = candidate(&format!("b{backend}/{worker}"), backend as i64);
    one.busy = dice.roll(4) as usize;
    one.weight = 1 + dice.roll(3) as i64;
    one.last_resort = dice.roll(5) == 0;
    one.owner = (dice.roll(4) == 0).then(|| format!("o{}", dice.roll(2)));
    one.mode = [Mode::Active, Mode::Active, Mode::Active, Mode::Draining][dice.roll(4) as usize];
    if dice.roll(3) == 0 {
        one.speeds = vec![Speed::Relax];
    }
    if dice.roll(4) == 0 {
        one.spend_cap = Some(Quota::ZERO);
    }
    if dice.roll(3) == 0 {
        one.pace = Pace::new(1, 0);
        one.pace.push(NOW - 30_000);
    }
    let classes = [Class::Rate, Class::Quota, Class::Dead, Class::Retry];
    if dice.roll(2) == 0 {
        one = ill(one, classes[dice.roll(4) as usize]);
    }
    one
}

#[test]
fn whatever_the_pool_a_choice_breaks_no_rule_and_misses_no_chance() {
    let mut dice = Dice(42);
    for round in 0..20_000 {
        let count = dice.roll(6);
        let candidates: Vec<Candidate> = (0..count).map(|_| any_candidate(&mut dice)).collect();
        let (backend, account) = (format!("b{}", dice.roll(3)), dice.roll(3).to_string());
        let follows = WorkerName::account(&backend, &account);
        let lane = match dice.roll(3) {
            0 => RoutingConstraint::Any,
            1 => RoutingConstraint::At(follows.backend()),
            _ => RoutingConstraint::Own("o1"),
        };
        let requirements = Requirements {
            speed: [Speed::Fast, Speed::Relax][dice.roll(2) as usize],
            lane,
            follows: (lane != RoutingConstraint::Any).then_some(&follows),
            ..requirements()
        };
        let suits = |candidate: &&Candidate| {
            candidate.could(&requirements) && candidate.mode == Mode::Active
        };
        let free =
            |candidate: &&Candidate| candidate.readiness(&requirements, NOW) == Readiness::Free;
        match choose(&requirements, candidates.iter(), NOW) {
            Choice::Take(place) => {
                let one = &candidates[place];
                assert!(suits(&one) && free(&one), "round {round}");
                assert!(one.busy < one.concurrency && one.health.fitness(NOW) == Fitness::Fit);
                let owner = one.owner.as_deref();
                match lane {
                    RoutingConstraint::Own(wanted) => assert_eq!(owner, Some(wanted)),
                    RoutingConstraint::At(backend) => {
                        assert_eq!((owner, one.backend.as_str()), (None, backend));
                    }
                    RoutingConstraint::Any => assert_eq!(owner, None),
                }
                let better = candidates.iter().filter(suits).any(|other| {
                    other.rank < one.rank
                        && matches!(
                            other.readiness(&requirements, NOW),
                            Readiness::Free | Readiness::Busy(_)
                        )
                        && !other.last_resort
                });
                assert!(
                    !better || requirements.follows.is_some(),
                    "round {round}: out of order"
                );
            }
            Choice::Wait(until) => {
                assert!(until >= NOW && candidates.iter().any(|one| suits(&one)));
            }
            Choice::Nobody => {
                let chance = candidates.iter().filter(suits).filter(free).count();
                let first = candidates.iter().filter(suits).any(|one| !one.last_resort);
                let rests = candidates
                    .iter()
                    .any(|one| Some(&one.name) == requirements.follows && one.mode != Mode::Active);
                let reason = chance == 0 || first || rests;
                assert!(reason, "round {round}: a chance was missed");
            }
        }
        // The same snapshot gives the same choice.
        assert_eq!(
            choose(&requirements, candidates.iter(), NOW),
            choose(&requirements, candidates.iter(), NOW)
        );
    }
}

/// The promise: a crowd of one account at the embedded engine keeps no other account from beginning.
#[test]
fn a_spare_slot_is_for_whoever_has_none() {
    let full = Candidate {
        spare: 1,
        busy: 2,
        ..candidate("a/1", 1)
    };
    let usual = requirements();
    let first = Requirements {
        first: true,
        ..usual
    };
    assert_eq!(choose(&usual, [&full].into_iter(), NOW), Choice::Wait(NOW));
    assert_eq!(choose(&first, [&full].into_iter(), NOW), Choice::Take(0));
    let fuller = Candidate { busy: 3, ..full };
    assert_eq!(
        choose(&first, [&fuller].into_iter(), NOW),
        Choice::Wait(NOW)
    );
}

/// The promise: work that takes no time waits for no place and takes none: what takes time finds as many as before.
#[test]
fn quick_work_needs_no_place_and_keeps_nobody_from_one() {
    let mut full = Candidate {
        busy: 2,
        ..candidate("a/1", 1)
    };
    let usual = requirements();
    assert_eq!(choose(&usual, [&full].into_iter(), NOW), Choice::Wait(NOW));
    let operation = *full.operations.get(usual.operation).expect("it serves it");
    for _ in 0..8 {
        full.quick.took(operation, 1);
    }
    assert_eq!(choose(&usual, [&full].into_iter(), NOW), Choice::Take(0));
    assert!(!full.has_slot(&usual));
    let crowded = Candidate {
        ahead: INSTANT_JOBS_MOST,
        ..full.clone()
    };
    assert_eq!(
        choose(&usual, [&crowded].into_iter(), NOW),
        Choice::Wait(NOW)
    );
    let other = Candidate { busy: 1, ..crowded };
    assert_eq!(choose(&usual, [&other].into_iter(), NOW), Choice::Take(0));
    assert!(other.has_slot(&usual), "a crowd ahead takes no place");
}
