//! The choice, case by case and on a great many random pools.

use atelier_backends::{Class, Fault};

use super::*;

const NOW: i64 = 1_800_000_000_000;
const OPERATION: &str = "artgen.imagine";

fn desk(name: &str, rank: i64) -> Desk {
    Desk {
        name: name.to_owned(),
        backend: name.split('/').next().unwrap_or_default().to_owned(),
        rank,
        operations: HashSet::from([OPERATION]),
        weight: 1,
        concurrency: 2,
        ..Desk::default()
    }
}

fn wish() -> Wish<'static> {
    Wish {
        operation: OPERATION,
        speed: Speed::Fast,
        model: None,
        lane: Lane::Any,
        follows: None,
        price: Quota::from_thousandths(1_000),
        earlier: Earlier::NONE,
    }
}

fn ill(mut desk: Desk, class: Class) -> Desk {
    let times = if class == Class::Retry { 5 } else { 1 };
    for _ in 0..times {
        desk.health.fault(&Fault::vendor(class, ""), NOW);
    }
    desk
}

fn chosen<'a>(wish: &Wish<'_>, desks: &'a [Desk]) -> Option<&'a str> {
    match choose(wish, desks.iter(), NOW) {
        Choice::Take(place) => Some(&desks[place].name),
        _ => None,
    }
}

#[test]
fn the_first_back_end_in_order_is_taken_whatever_the_order_of_the_list() {
    let desks = [desk("c/1", 3), desk("a/1", 1), desk("b/1", 2)];
    assert_eq!(chosen(&wish(), &desks), Some("a/1"));
}

#[test]
fn one_that_cannot_do_the_job_is_passed_over_and_calls_no_last_resort_in() {
    let earlier = Earlier {
        unable: vec!["a".to_owned()],
        ..Earlier::default()
    };
    let picky = Wish {
        earlier: &earlier,
        ..wish()
    };
    let desks = [desk("a/1", 1), desk("a/2", 1), desk("b/1", 2)];
    assert_eq!(chosen(&picky, &desks), Some("b/1"));
    let mut house = desk("house", 9);
    let fall_back = [desk("a/1", 1), house.clone()];
    assert_eq!(chosen(&picky, &fall_back), Some("house"), "as told");
    house.last_resort = true;
    let last_resort = [desk("a/1", 1), house];
    assert_eq!(choose(&picky, last_resort.iter(), NOW), Choice::Nobody);
}

#[test]
fn one_that_failed_twice_gets_the_job_only_when_nobody_else_is_free() {
    let earlier = Earlier {
        failing: vec!["a/1".to_owned()],
        ..Earlier::default()
    };
    let retried = Wish {
        earlier: &earlier,
        ..wish()
    };
    let desks = [desk("a/1", 1), desk("a/2", 1), desk("b/1", 2)];
    assert_eq!(chosen(&retried, &desks), Some("a/2"));
    assert_eq!(
        chosen(&retried, &[desk("a/1", 1), desk("b/1", 2)]),
        Some("b/1")
    );
    assert_eq!(chosen(&retried, &desks[..1]), Some("a/1"));
    let busy = [
        desk("a/1", 1),
        Desk {
            busy: 2,
            ..desk("b/1", 2)
        },
    ];
    assert_eq!(chosen(&retried, &busy), Some("a/1"));
}

#[test]
fn what_follows_a_job_waits_for_a_maker_that_was_told_to_rest() {
    for mode in [Mode::Paused, Mode::Draining] {
        let follow = Wish {
            lane: Lane::At("a"),
            follows: Some("a/1"),
            ..wish()
        };
        let desks = [
            Desk {
                mode,
                ..desk("a/1", 1)
            },
            desk("a/2", 1),
        ];
        assert_eq!(choose(&follow, desks.iter(), NOW), Choice::Nobody);
        assert_eq!(chosen(&wish(), &desks), Some("a/2"), "others do not mind");
    }
    // Another server of the same caller never made it.
    let owned = |name: &str| Desk {
        owner: Some("me".into()),
        ..desk(name, 1)
    };
    let mine = Wish {
        lane: Lane::Own("me"),
        follows: Some("a/1"),
        ..wish()
    };
    assert_eq!(choose(&mine, [owned("b/1")].iter(), NOW), Choice::Nobody);
    let desks = [owned("b/1"), owned("a/1")];
    assert_eq!(chosen(&mine, &desks), Some("a/1"));
}

#[test]
fn an_ill_back_end_is_passed_over_and_a_busy_one_is_waited_for() {
    for class in [Class::Rate, Class::Quota, Class::Dead, Class::Retry] {
        let desks = [ill(desk("a/1", 1), class), desk("b/1", 2)];
        assert_eq!(chosen(&wish(), &desks), Some("b/1"), "{class:?}");
    }
    let mut full = desk("a/1", 1);
    full.busy = 2;
    let desks = [full.clone(), desk("b/1", 2)];
    assert_eq!(choose(&wish(), desks.iter(), NOW), Choice::Wait(NOW));
    let mut paced = desk("a/1", 1);
    paced.pace = Pace::new(1, 0);
    paced.pace.push(NOW - 1_000);
    let desks = [paced, desk("b/1", 2)];
    assert_eq!(
        choose(&wish(), desks.iter(), NOW),
        Choice::Wait(NOW + 59_000)
    );
    let desks = [full, desk("a/2", 1)];
    assert_eq!(
        chosen(&wish(), &desks),
        Some("a/2"),
        "its neighbour is free"
    );
}

#[test]
fn a_follow_up_goes_to_the_worker_that_made_its_parent() {
    let follow = Wish {
        lane: Lane::At("a"),
        follows: Some("a/2"),
        ..wish()
    };
    let mut busy = desk("a/2", 1);
    busy.busy = 2;
    let desks = [desk("a/1", 1), desk("a/2", 1), desk("b/1", 0)];
    assert_eq!(chosen(&follow, &desks), Some("a/2"));
    let desks = [desk("a/1", 1), busy, desk("b/1", 0)];
    assert_eq!(choose(&follow, desks.iter(), NOW), Choice::Wait(NOW));
    let desks = [
        desk("a/1", 1),
        ill(desk("a/2", 1), Class::Dead),
        desk("b/1", 0),
    ];
    assert_eq!(chosen(&follow, &desks), Some("a/1"), "the same back end");
    let desks = [ill(desk("a/2", 1), Class::Dead), desk("b/1", 0)];
    assert_eq!(choose(&follow, desks.iter(), NOW), Choice::Nobody);
}

#[test]
fn a_callers_own_accounts_serve_nobody_else_and_nobody_else_serves_it() {
    let mut own = desk("o/1", 0);
    own.owner = Some("caller".into());
    let desks = [own, desk("a/1", 1)];
    assert_eq!(chosen(&wish(), &desks), Some("a/1"));
    let mine = Wish {
        lane: Lane::Own("caller"),
        ..wish()
    };
    assert_eq!(chosen(&mine, &desks), Some("o/1"));
    let anothers = Wish {
        lane: Lane::Own("stranger"),
        ..wish()
    };
    assert_eq!(choose(&anothers, desks.iter(), NOW), Choice::Nobody);
    let sneaky = Wish {
        lane: Lane::At("o"),
        ..wish()
    };
    assert_eq!(choose(&sneaky, desks.iter(), NOW), Choice::Nobody);
}

#[test]
fn the_last_resort_serves_only_what_nobody_else_serves() {
    let mut last = desk("embedded", 1000);
    last.last_resort = true;
    last.operations.insert("facegen.swap");
    let desks = [ill(desk("a/1", 1), Class::Rate), last];
    assert_eq!(chosen(&wish(), &desks), None, "the vendor is waited for");
    let swap = Wish {
        operation: "facegen.swap",
        ..wish()
    };
    assert_eq!(chosen(&swap, &desks), Some("embedded"));
    let follow = Wish {
        lane: Lane::At("embedded"),
        ..wish()
    };
    assert_eq!(chosen(&follow, &desks), Some("embedded"));
}

#[test]
fn every_limit_of_a_worker_is_kept() {
    let refused = |change: fn(&mut Desk), wish: Wish<'_>| {
        let mut one = desk("a/1", 1);
        change(&mut one);
        chosen(&wish, std::slice::from_ref(&one)).is_none()
    };
    let model = Wish {
        model: Some("big"),
        ..wish()
    };
    assert!(refused(|one| one.models = vec!["small".into()], model));
    assert!(!refused(|one| one.models = vec!["big".into()], model));
    assert!(!refused(|one| one.models = vec!["small".into()], wish()));
    assert!(refused(|one| one.speeds = vec![Speed::Relax], wish()));
    assert!(refused(|one| one.mode = Mode::Draining, wish()));
    assert!(refused(|one| one.mode = Mode::Paused, wish()));
    assert!(refused(|one| one.concurrency = 0, wish()));
    assert!(refused(
        |one| one.spend_cap = Some(Quota::from_thousandths(999)),
        wish()
    ));
    assert!(!refused(
        |one| one.spend_cap = Some(Quota::from_thousandths(1_000)),
        wish()
    ));
    // 2027-01-15 08:00 UTC is outside.
    assert!(refused(
        |one| one.hours = Hours::parse("09:00-10:00").expect("a span"),
        wish()
    ));
}

#[test]
fn weight_shares_the_work() {
    let mut desks = [desk("a/1", 1), desk("a/2", 1)];
    desks[0].weight = 3;
    for desk in &mut desks {
        desk.concurrency = 100;
    }
    for _ in 0..40 {
        match choose(&wish(), desks.iter(), NOW) {
            Choice::Take(place) => desks[place].busy += 1,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((desks[0].busy, desks[1].busy), (30, 10));
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

fn any_desk(dice: &mut Dice) -> Desk {
    let (backend, worker) = (dice.roll(3), dice.roll(3));
    let mut one = desk(&format!("b{backend}/{worker}"), backend as i64);
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
        let desks: Vec<Desk> = (0..count).map(|_| any_desk(&mut dice)).collect();
        let follows = format!("b{}/{}", dice.roll(3), dice.roll(3));
        let lane = match dice.roll(3) {
            0 => Lane::Any,
            1 => Lane::At(follows.split('/').next().unwrap_or_default()),
            _ => Lane::Own("o1"),
        };
        let wish = Wish {
            speed: [Speed::Fast, Speed::Relax][dice.roll(2) as usize],
            lane,
            follows: (lane != Lane::Any).then_some(follows.as_str()),
            ..wish()
        };
        let suits = |desk: &&Desk| desk.could(&wish) && desk.mode == Mode::Active;
        let free = |desk: &&Desk| desk.standing(&wish, NOW) == Standing::Free;
        match choose(&wish, desks.iter(), NOW) {
            Choice::Take(place) => {
                let one = &desks[place];
                assert!(suits(&one) && free(&one), "round {round}");
                assert!(one.busy < one.concurrency && one.health.fitness(NOW) == Fitness::Fit);
                let owner = one.owner.as_deref();
                match lane {
                    Lane::Own(wanted) => assert_eq!(owner, Some(wanted)),
                    Lane::At(backend) => assert_eq!((owner, one.backend.as_str()), (None, backend)),
                    Lane::Any => assert_eq!(owner, None),
                }
                let better = desks.iter().filter(suits).any(|other| {
                    other.rank < one.rank
                        && matches!(
                            other.standing(&wish, NOW),
                            Standing::Free | Standing::Busy(_)
                        )
                        && !other.last_resort
                });
                assert!(
                    !better || wish.follows.is_some(),
                    "round {round}: out of order"
                );
            }
            Choice::Wait(until) => assert!(until >= NOW && desks.iter().any(|one| suits(&one))),
            Choice::Nobody => {
                let chance = desks.iter().filter(suits).filter(free).count();
                let first = desks.iter().filter(suits).any(|one| !one.last_resort);
                let rests = desks
                    .iter()
                    .any(|one| Some(one.name.as_str()) == wish.follows && one.mode != Mode::Active);
                let reason = chance == 0 || first || rests;
                assert!(reason, "round {round}: a chance was missed");
            }
        }
        // The same snapshot gives the same choice.
        assert_eq!(
            choose(&wish, desks.iter(), NOW),
            choose(&wish, desks.iter(), NOW)
        );
    }
}
