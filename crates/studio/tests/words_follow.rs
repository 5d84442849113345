//! Follow-ups show the same world: bytes repeat, overlaps agree, repaints stay in their region, time moves.

#[path = "words/measure.rs"]
#[expect(dead_code, reason = "each test file measures only some things")]
mod measure;

use atelier_media::Mask;
use atelier_studio::{Anime, Character, Pose};
use atelier_studio::{Motion, Scene};
use measure::{difference, halved, part, ssim};

const PROMPTS: [&str; 6] = [
    "a sailboat on a lake, mountains, sunset",
    "a fox in the forest",
    "a car in the city at night",
    "a lighthouse on the beach, watercolor",
    "a castle on mountains, low poly",
    "a camel in the desert, flat poster",
];

#[test]
fn a_stored_scene_renders_to_the_same_bytes() {
    for prompt in PROMPTS {
        let scene = Scene::from_prompt(prompt, "clouds", 77);
        let stored = serde_json::to_string(&scene).expect("a scene is plain data");
        let again: Scene = serde_json::from_str(&stored).expect("what was written can be read");
        assert_eq!(scene, again);
        assert!(scene.render(160, 120) == again.render(160, 120), "{prompt}");
    }
}

#[test]
fn four_seeds_give_four_pictures() {
    let scene = Scene::from_prompt("a fox in the mountains", "", 1);
    let all: Vec<_> = (1..=4)
        .map(|seed| scene.with_seed(seed).render(128, 128))
        .collect();
    for (i, a) in all.iter().enumerate() {
        for b in &all[i + 1..] {
            assert!(difference(a, b) > 12.0, "{}", difference(a, b));
        }
    }
}

#[test]
fn a_larger_picture_shows_the_same() {
    for prompt in PROMPTS {
        let scene = Scene::from_prompt(prompt, "", 3);
        let (small, large) = (scene.render(256, 256), scene.render(512, 512));
        let alike = ssim(&small, &halved(&large));
        assert!(alike > 0.9, "{prompt}: {alike}");
    }
}

#[test]
fn zooming_out_keeps_what_was_seen() {
    for prompt in PROMPTS {
        let scene = Scene::from_prompt(prompt, "", 3);
        let before = halved(&scene.render(512, 512));
        let wide = scene.zoomed_out(2.0).render(512, 512);
        let alike = ssim(&before, &part(&wide, 128, 128, 256, 256));
        assert!(alike >= 0.9, "{prompt}: {alike}");
        let border = part(&wide, 0, 0, 512, 96);
        assert!(
            difference(&border, &part(&wide, 0, 416, 512, 96)) > 4.0,
            "there is a world outside"
        );
    }
}

#[test]
fn panning_keeps_what_was_seen() {
    for prompt in PROMPTS {
        let scene = Scene::from_prompt(prompt, "", 4);
        let before = scene.render(384, 384);
        for (dx, dy, left, top) in [
            (0.5, 0.0, 0, 0),
            (-0.5, 0.0, 192, 0),
            (0.0, 0.5, 0, 0),
            (0.0, -0.5, 0, 192),
        ] {
            let moved = scene.panned(dx, dy);
            let (w, h) = (
                384 + 192 * u32::from(dx != 0.0),
                384 + 192 * u32::from(dy != 0.0),
            );
            let alike = ssim(&before, &part(&moved.render(w, h), left, top, 384, 384));
            assert!(alike >= 0.9, "{prompt} by {dx}, {dy}: {alike}");
        }
    }
}

#[test]
fn a_wide_picture_becomes_square_around_itself() {
    let scene = Scene::from_prompt("a fox in the mountains", "", 6).with_aspect((16, 9));
    let before = scene.render(512, 288);
    let square = scene.squared((512, 288)).render(512, 512);
    assert!(ssim(&before, &part(&square, 0, 112, 512, 288)) >= 0.9);
}

#[test]
fn variations_are_subtle_or_strong_as_asked() {
    for prompt in [
        "a fox in the mountains at noon",
        "a sailboat on a lake at sunset",
        "a castle in the forest, watercolor",
    ] {
        let scene = Scene::from_prompt(prompt, "", 6);
        let base = scene.render(160, 160);
        let (mut little, mut much) = (0.0, 0.0);
        for seed in 1..=4 {
            let subtle = scene.varied(0.4, seed).render(160, 160);
            let strong = scene.varied(0.8, seed).render(160, 160);
            let (near, far) = (ssim(&base, &subtle), ssim(&base, &strong));
            assert!(
                near < 0.95,
                "{prompt}, {seed}: a subtle one looks the same, {near}"
            );
            assert!(
                far < 0.85,
                "{prompt}, {seed}: a strong one looks the same, {far}"
            );
            assert!(difference(&base, &subtle) > 2.0 && difference(&base, &strong) > 4.0);
            (little, much) = (little + near, much + far);
        }
        assert!(
            little > much + 0.2,
            "{prompt}: subtle {little}, strong {much}"
        );
    }
}

#[test]
fn a_repaint_touches_only_its_region() {
    let scene = Scene::from_prompt("a house in a meadow at noon", "", 6);
    let before = scene.render(320, 320);
    let mask = Mask::rectangle(320, 320, [60, 90, 170, 190]);
    let after = scene
        .repainted(&mask, "a magenta dragon", 2)
        .render(320, 320);
    let mut inside = 0;
    for (at, (a, b)) in before
        .rgba
        .chunks_exact(4)
        .zip(after.rgba.chunks_exact(4))
        .enumerate()
    {
        if mask.shares[at] == 0 {
            assert_eq!(a, b, "pixel {at} lies outside the mask");
        } else {
            inside += usize::from(a != b);
        }
    }
    assert!(inside > 6000, "{inside} pixels changed");
    let hole = part(&after, 60, 90, 170, 190);
    assert!(measure::count(&hole, measure::is_magenta) > 500);
    let stored =
        serde_json::to_string(&scene.repainted(&mask, "a magenta dragon", 2)).expect("plain data");
    let again: Scene = serde_json::from_str(&stored).expect("readable");
    assert!(again.render(320, 320) == after);
}

#[test]
fn time_moves_the_scene_and_more_so_when_lively() {
    for prompt in ["a sailboat on the sea", "a fox in the forest in the rain"] {
        let scene = Scene::from_prompt(prompt, "", 2);
        let still = scene.render(192, 108);
        assert!(scene.render_at(192, 108, 0.0, Motion::High) == still);
        let low = difference(&still, &scene.render_at(192, 108, 1.0, Motion::Low));
        let high = difference(&still, &scene.render_at(192, 108, 1.0, Motion::High));
        assert!(low > 0.5 && high > low, "{prompt}: low {low}, high {high}");
    }
}

#[test]
fn anime_figures_follow_words_places_and_references() {
    let girl = Anime::from_prompt("girl with magenta hair, studio", "", 4);
    let first = girl.render(200, 260);
    assert!(
        first == girl.render(200, 260),
        "the seed repeats the picture"
    );
    let green = Anime::from_prompt("girl with green hair, studio", "", 4).render(200, 260);
    let magenta = |p: &atelier_media::Picture| measure::count(p, measure::is_magenta);
    assert!(magenta(&first) > magenta(&green) + 2000);
    let mut led = Anime::from_prompt("girl with green hair, studio", "", 4);
    (led.palette, led.influence) = (vec![[214, 44, 150]], 1.0);
    assert!(
        magenta(&led.render(200, 260)) > magenta(&green) + 1000,
        "the reference moves the hair"
    );
    let mut pair = Anime::from_prompt("studio", "", 4);
    pair.characters = vec![
        Character {
            prompt: "girl with magenta hair".into(),
            centre: (0.25, 0.5),
        },
        Character {
            prompt: "boy with green hair".into(),
            centre: (0.75, 0.5),
        },
    ];
    let two = pair.render(320, 200);
    // The backdrop has colours of its own, so the same pair with its places changed is the measure.
    let (first, second) = (pair.characters[0].centre, pair.characters[1].centre);
    (pair.characters[0].centre, pair.characters[1].centre) = (second, first);
    let swapped = pair.render(320, 200);
    let left = |picture| magenta(&part(picture, 0, 0, 160, 200));
    let (there, elsewhere) = (left(&two), left(&swapped));
    assert!(
        there > elsewhere + 1000,
        "each stands at its centre: {there} and {elsewhere}"
    );
}

#[test]
fn a_character_is_seen_whole_when_words_ask_for_it() {
    let hair = "girl with magenta hair, green suit, meadow at noon";
    let bust = Anime::from_prompt(hair, "", 4);
    let whole = Anime::from_prompt(&format!("{hair}, full body"), "", 4);
    assert_eq!(bust.traits()[0].pose, Pose::Bust);
    assert_eq!(whole.traits()[0].pose, Pose::Full);
    let magenta = |anime: &Anime| measure::count(&anime.render(256, 256), measure::is_magenta);
    let (large, small) = (magenta(&bust), magenta(&whole));
    assert!(small > 150 && small * 4 < large, "{small} of {large}");
    let figure = whole.render(256, 256);
    let dark = |y: u32| {
        let shown = (96..160).map(|x| figure.pixel(x, y));
        shown
            .filter(|pixel| pixel[..3].iter().all(|v| *v < 110))
            .count()
    };
    assert!(
        (240..254).any(|y| dark(y) > 4),
        "no shoes near the lower edge"
    );
}
