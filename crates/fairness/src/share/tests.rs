//! The sums hold and nobody starves.

use futures_util::FutureExt as _;

use super::*;
use crate::limits::HolderLimits;

fn name(text: &str) -> Arc<str> {
    text.into()
}

#[test]
fn one_may_take_all_that_is_idle_and_a_fixed_share_is_an_eighth() {
    let places = FairSemaphore::elastic("places", 4);
    let all: Vec<_> = (0..4).map(|_| places.try_take(&name("a"), 1)).collect();
    assert!(all.iter().all(Result::is_ok));
    assert_eq!(
        places.try_take(&name("b"), 1).err(),
        Some(AcquireError::Whole)
    );
    let streams = FairSemaphore::fixed("streams", 16, 1);
    let _two = streams.try_take(&name("a"), 2).expect("its share");
    assert_eq!(
        streams.try_take(&name("a"), 1).err(),
        Some(AcquireError::Share)
    );
    assert!(streams.try_take(&name("b"), 2).is_ok());
}

#[test]
fn where_each_has_its_own_nobody_takes_anything_from_others() {
    let waits = FairSemaphore::each("waits", 2);
    let mut all = Vec::new();
    for network in 0..100 {
        let network = name(&network.to_string());
        all.extend((0..2).map(|_| waits.try_take(&network, 1).expect("its own")));
        let full = waits.try_take(&network, 1).err();
        assert_eq!(full, Some(AcquireError::Share));
    }
    assert_eq!(waits.taken(), 200);
}

#[tokio::test]
async fn what_is_given_back_goes_to_another_who_waits() {
    let places = FairSemaphore::elastic("places", 2);
    let first = places.take(&name("a"), 1).await;
    let _second = places.take(&name("a"), 1).await;
    let mut greedy = Box::pin({
        let places = Arc::clone(&places);
        async move { places.take(&name("a"), 1).await }
    });
    assert!(greedy.as_mut().now_or_never().is_none());
    let mut other = Box::pin({
        let places = Arc::clone(&places);
        async move { places.take(&name("b"), 1).await }
    });
    assert!(other.as_mut().now_or_never().is_none());
    drop(first);
    // The greedy one asked first, and yet it is the other's turn; asking anew does not overtake either.
    assert!(places.try_take(&name("a"), 1).is_err());
    assert!(greedy.as_mut().now_or_never().is_none());
    let got = other.as_mut().now_or_never().expect("its turn");
    assert_eq!(places.usage().holders, [(name("a"), 1), (name("b"), 1)]);
    drop(got);
    assert!(greedy.as_mut().now_or_never().is_some());
}

#[tokio::test]
async fn whoever_stops_waiting_blocks_nobody() {
    let places = FairSemaphore::elastic("places", 1);
    let taken = places.take(&name("a"), 1).await;
    let mut gone = Box::pin({
        let places = Arc::clone(&places);
        async move { places.take(&name("b"), 1).await }
    });
    assert!(gone.as_mut().now_or_never().is_none());
    drop(gone);
    drop(taken);
    assert!(places.try_take(&name("c"), 1).is_ok());
    assert_eq!(places.taken(), 0);
}

#[test]
fn a_part_grows_within_the_share() {
    let memory = FairSemaphore::fixed("memory", 80, 10);
    let mut part = memory.try_take(&name("a"), 4).expect("free");
    assert_eq!(part.grow_to(11), Err(AcquireError::Share));
    assert_eq!(part.grow_to(10), Ok(()));
    let _other = memory.try_take(&name("b"), 1).expect("free");
    assert_eq!(memory.usage().holders, [(name("a"), 10), (name("b"), 1)]);
    let half = part.split(6);
    part.shrink_to(1);
    assert_eq!(memory.taken(), 8, "six, one and the other's");
    drop((part, half));
    assert_eq!(memory.taken(), 1);
}

#[test]
fn an_operator_may_give_one_more_or_less_at_run_time() {
    let (streams, allowances) = (FairSemaphore::fixed("streams", 200, 3), Arc::default());
    streams.set_limits(&allowances);
    assert_eq!(streams.share_of("a"), 25);
    let give = |percent: u32| {
        let share_percent = Some(percent);
        let own = HolderLimits {
            share_percent,
            ..HolderLimits::default()
        };
        allowances.replace([(name("a"), own)].into());
    };
    give(50);
    assert_eq!((streams.share_of("a"), streams.share_of("b")), (100, 25));
    let most = streams.try_take(&name("a"), 100).expect("its own share");
    assert_eq!(
        streams.try_take(&name("a"), 1).err(),
        Some(AcquireError::Share)
    );
    give(1);
    assert_eq!(
        streams.share_of("a"),
        3,
        "one part of the largest kind always fits"
    );
    drop(most);
    assert!(streams.try_take(&name("a"), 4).is_err());
    allowances.replace(HashMap::new());
    assert!(streams.try_take(&name("a"), 25).is_ok());
}

#[test]
fn holders_that_have_nothing_are_forgotten_before_they_are_many() {
    let places = FairSemaphore::elastic("places", 10);
    let stays = places.try_take(&name("stays"), 1).expect("free");
    for number in 0..10 * REMEMBERED {
        let _part = places.try_take(&name(&format!("{number}")), 1);
        let remembered = places.state().parts.len();
        assert!(remembered <= REMEMBERED, "{remembered} holders");
        assert_eq!(places.usage().holders.len(), 2, "only who has something");
    }
    assert_eq!(places.usage().holders, [(name("stays"), 1)]);
    drop(stays);
    assert_eq!(places.taken(), 0);
}

/// Random stories of taking, waiting, giving back and going away; after every step the sums are right, nobody has
/// more than a share, and nobody waits for what is free.
#[test]
fn the_sums_hold_whatever_happens() {
    for seed in 0..300 {
        let mut dice = fastrand::Rng::with_seed(seed);
        let whole = dice.u64(1..20);
        let share = dice.u64(1..=whole);
        let shares = FairSemaphore::new("anything", whole, share, 1);
        let mut taken: Vec<FairPermit> = Vec::new();
        let mut waiting = Vec::new();
        for _ in 0..200 {
            let who = name(["a", "b", "c", "d"][dice.usize(0..4)]);
            let amount = dice.u64(1..=whole);
            match dice.u8(0..6) {
                0 => taken.extend(shares.try_take(&who, amount).ok()),
                1 | 2 => {
                    let shares = Arc::clone(&shares);
                    waiting.push(Box::pin(async move { shares.take(&who, amount).await }));
                }
                3 if !waiting.is_empty() => {
                    drop(waiting.swap_remove(dice.usize(0..waiting.len())));
                }
                4 if !taken.is_empty() => {
                    let place = dice.usize(0..taken.len());
                    let _ = taken[place].grow_to(amount);
                }
                _ if !taken.is_empty() => drop(taken.swap_remove(dice.usize(0..taken.len()))),
                _ => {}
            }
            let mut still = Vec::new();
            for mut one in std::mem::take(&mut waiting) {
                match one.as_mut().now_or_never() {
                    Some(part) => taken.push(part),
                    None => still.push(one),
                }
            }
            waiting = still;
            let usage = shares.usage();
            let sum: u64 = taken.iter().map(|one| one.amount).sum();
            assert_eq!(usage.taken, sum, "seed {seed}");
            assert!(usage.taken <= whole, "seed {seed}");
            assert_eq!(usage.holders.iter().map(|one| one.1).sum::<u64>(), sum);
            assert!(
                usage.holders.iter().all(|one| one.1 <= share),
                "seed {seed}"
            );
            assert_eq!(usage.waiting, waiting.len(), "seed {seed}");
        }
        drop(taken);
        while !waiting.is_empty() {
            let before = waiting.len();
            waiting.retain_mut(|one| one.as_mut().now_or_never().is_none());
            assert!(waiting.len() < before, "seed {seed}: somebody starves");
        }
        assert_eq!(shares.taken(), 0, "seed {seed}");
    }
}

/// However much one holder asks for, another that asks for one place at a time gets at least every second one.
#[tokio::test]
async fn a_crowd_of_one_holder_delays_another_by_one_turn() {
    let places = FairSemaphore::elastic("places", 1);
    let ask = |who: &'static str| {
        let places = Arc::clone(&places);
        Box::pin(async move { places.take(&name(who), 1).await })
    };
    let mut taken = Some(places.take(&name("crowd"), 1).await);
    let mut crowd: Vec<_> = (0..100).map(|_| ask("crowd")).collect();
    for one in &mut crowd {
        assert!(one.as_mut().now_or_never().is_none());
    }
    for _ in 0..20 {
        let mut single = ask("single");
        assert!(single.as_mut().now_or_never().is_none());
        drop(taken.take());
        let turn = single.as_mut().now_or_never();
        drop(turn.expect("the very next turn"));
        taken = crowd.remove(0).now_or_never();
        assert!(taken.is_some(), "the crowd goes on meanwhile");
    }
}
