//! Where subjects stand: as many as asked for, where the words want them, beside each other and on their own ground.

use super::*;
use crate::words;
use crate::words::reading::Tongue;

const SEEDS: std::ops::Range<u64> = 0..24;

fn wanted(prompt: &str) -> Vec<RequestedSubject> {
    words::read(prompt, "", Tongue::Any).subjects
}

fn meadow() -> Floor {
    Floor {
        horizon: 0.1,
        near: 0.36,
        water: None,
        setting: Setting::Meadow,
    }
}

fn layout(prompt: &str, floor: Floor, seed: u64) -> Vec<PlacedSubject> {
    placed(&wanted(prompt), floor, &Dice::new(seed))
}

/// The copies of one of the wanted subjects.
fn of(all: &[PlacedSubject], index: usize) -> Vec<&PlacedSubject> {
    all.iter().filter(|one| one.index == index).collect()
}

#[test]
fn every_copy_gets_a_place_and_the_farthest_comes_first() {
    for seed in SEEDS {
        let all = layout("two foxes and three cows", meadow(), seed);
        assert_eq!((of(&all, 0).len(), of(&all, 1).len()), (2, 3));
        assert!(all.is_sorted_by(|a, b| a.depth >= b.depth), "seed {seed}");
    }
    assert!(placed(&[], meadow(), &Dice::new(1)).is_empty());
}

#[test]
fn a_crowd_fits_beside_each_other() {
    for (word, total) in [("two", 2), ("four", 4), ("six", 6), ("nine", 9)] {
        for seed in SEEDS {
            let all = layout(&format!("{word} horses"), meadow(), seed);
            assert_eq!(all.len(), total);
            for one in &all {
                let share = 0.84 / total as f32;
                assert!(one.width() <= share * 1.03, "{word}, seed {seed}");
                assert!(one.foot.0.abs() <= 0.42, "{word}, seed {seed}");
                assert!(one.height() > 0.02, "{word}, seed {seed}: not to be seen");
            }
        }
    }
}

#[test]
fn sides_are_kept_whatever_the_seed() {
    for seed in SEEDS {
        let all = layout("a fox on the left and a cow on the right", meadow(), seed);
        let (fox, cow) = (of(&all, 0)[0], of(&all, 1)[0]);
        assert!(fox.foot.0 < -0.1 && cow.foot.0 > 0.1, "seed {seed}");
        let all = layout("a fox in the middle", meadow(), seed);
        assert!(all[0].foot.0.abs() < 0.001, "seed {seed}");
    }
}

#[test]
fn what_is_far_is_smaller_and_nearer_the_horizon() {
    for seed in SEEDS {
        let near = &layout("a castle", meadow(), seed)[0];
        let far = &layout("a castle in the distance", meadow(), seed)[0];
        assert!(far.height() < near.height() * 0.7, "seed {seed}");
        assert!(far.foot.1 < near.foot.1, "seed {seed}");
        assert!(far.foot.1 > meadow().horizon, "seed {seed}: not in the sky");
    }
}

#[test]
fn a_rider_sits_on_its_bearer_and_is_painted_after_it() {
    for seed in SEEDS {
        let all = layout("a cat on a horse", meadow(), seed);
        let (cat, horse) = (of(&all, 0)[0], of(&all, 1)[0]);
        assert!((cat.foot.0 - horse.foot.0).abs() < 0.001);
        let raised = horse.foot.1 - cat.foot.1;
        assert!(raised > 0.3 * horse.height() && raised < horse.height());
        assert!(cat.height() <= horse.height().max(horse.width()) * 0.63);
        assert_eq!(all[1].index, 0, "the rider comes last");
    }
}

#[test]
fn a_fixed_place_is_kept_to_the_letter() {
    let mut fixed = wanted("a fox");
    fixed[0].at = Some([0.11, 0.22, 0.33]);
    for seed in SEEDS {
        let one = &placed(&fixed, meadow(), &Dice::new(seed))[0];
        assert_eq!(one.foot, (0.11, 0.22));
        assert!((one.height() - 0.33).abs() < 0.001);
    }
}

#[test]
fn each_stands_on_its_own_ground() {
    let lake = Floor {
        water: Some(0.3),
        ..meadow()
    };
    for seed in SEEDS {
        let afloat = &layout("a sailboat", lake, seed)[0];
        assert_eq!(afloat.habitat, Habitat::Water);
        assert!(afloat.foot.1 > lake.horizon && afloat.foot.1 < 0.3);
        let aground = &layout("a sailboat", meadow(), seed)[0];
        assert_eq!(
            aground.habitat,
            Habitat::Ground,
            "without water it lies ashore"
        );
        assert!(aground.foot.1 > meadow().horizon && aground.foot.1 <= meadow().near);
        let eagle = &layout("an eagle", meadow(), seed)[0];
        assert!(eagle.foot.1 - eagle.height() * 0.5 < meadow().horizon);
    }
}

#[test]
fn the_same_choices_give_the_same_places() {
    let feet = |seed| -> Vec<(f32, f32)> {
        let all = layout("two foxes and a cow", meadow(), seed);
        all.iter().map(|one| one.foot).collect()
    };
    assert_eq!(feet(7), feet(7));
    assert_ne!(feet(7), feet(8));
}

#[test]
fn some_look_the_other_way_but_never_what_shows_writing() {
    let flips = |prompt: &str| {
        let one = |seed| layout(prompt, meadow(), seed)[0].flip;
        SEEDS.filter(|seed| one(*seed)).count()
    };
    let foxes = flips("a fox");
    assert!(foxes > 2 && foxes < 22, "{foxes} of 24");
    assert_eq!(flips("a hospital"), 0);
}

#[test]
fn time_moves_what_swims_and_flies_the_way_it_looks() {
    for seed in SEEDS {
        let still = &layout("an eagle", meadow(), seed)[0];
        let mut later = still.clone();
        later.moved_by(0.0);
        assert_eq!(later.foot, still.foot);
        later.moved_by(0.2);
        let moved = later.foot.0 - still.foot.0;
        assert_eq!(moved > 0.0, still.flip, "seed {seed}");
        let fox = &layout("a fox", meadow(), seed)[0];
        let mut later = fox.clone();
        later.moved_by(0.2);
        assert_eq!(later.foot, fox.foot, "what stands stays");
    }
}
