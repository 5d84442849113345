//! The artgen image family: grids of four, every follow-up, blends, repaints, seeds.

use atelier_contract::{FileRole, Job};
use atelier_media::{Mask, Picture};
use serde_json::{Value, json};

use crate::measure::{self, ssim};
use crate::studio::{Studio, base64, data_uri, difference, photo};

needs!(
    proofs:
    every_action_on_a_grid_and_on_a_single_picture_makes_its_kind_of_picture,
    blends_of_two_and_five_can_be_followed_up_on,
);

async fn imagine(studio: &Studio, prompt: &str) -> Job {
    let body = json!({ "prompt": prompt, "getUImages": true });
    studio.finish("artgen.imagine", &body, None).await
}

async fn act(studio: &Studio, parent: &Job, action: &str) -> Job {
    let body = json!({ "jobId": parent.id, "action": action, "getUImages": true });
    studio.finish("artgen.action", &body, Some(parent)).await
}

fn main_size(job: &Job) -> (u32, u32) {
    let file = job.file(0).expect("a main file");
    (file.width, file.height)
}

fn main_bytes(studio: &Studio, job: &Job) -> bytes::Bytes {
    studio.read(&job.file(0).expect("a main file").key)
}

/// How far two pictures of a grid must lie apart: the least mean difference and the most structural similarity.
fn unlike(action: &str) -> (f64, f64) {
    match action {
        "high_variation" => (9.0, 0.78),
        "low_variation" => (3.5, 0.88),
        _ if action.contains("variation") => (2.0, 0.95),
        // Four skies differ in their colours and hardly in their structure.
        "pan_up" => (3.0, 1.0),
        _ if is_wider(action) => (5.0, 0.85),
        _ => (12.0, 0.8),
    }
}

fn is_wider(action: &str) -> bool {
    action.starts_with("zoom") || action.starts_with("pan") || action == "make_square"
}

/// The part that the parent did not show: all four keep what it showed.
fn looked_at(action: &str, picture: &Picture) -> Picture {
    let (width, height) = (picture.width, picture.height);
    let [x, y, w, h] = match action {
        "pan_left" => [0, 0, width / 4, height],
        "pan_right" => [width - width / 4, 0, width / 4, height],
        "pan_up" => [0, 0, width, height / 4],
        "pan_down" | "make_square" => [0, height - height / 8, width, height / 8],
        _ if action.starts_with("zoom") => [0, 0, width / 6, height],
        _ => [0, 0, width, height],
    };
    picture.cropped(i64::from(x), i64::from(y), w, h)
}

/// Four different members that are the quarters of the grid.
fn assert_grid(studio: &Studio, job: &Job) -> Vec<Picture> {
    let grid = studio.picture(job, FileRole::Main, 0);
    let four: Vec<_> = (0..4)
        .map(|index| studio.picture(job, FileRole::Small, index))
        .collect();
    assert_eq!(job.files(FileRole::Small).count(), 4);
    assert_eq!(job.output().expect("an output").made, 4);
    // What is made from the same pictures shows the same pictures.
    let of_pictures = job.output().expect("an output").notes.value()["kind"] == "picture";
    for (index, member) in four.iter().enumerate() {
        assert_eq!(grid.quarter(index as u32), *member);
        for other in &four[..index] {
            let action = job.text("action").unwrap_or_default();
            let (one, two) = (looked_at(action, member), looked_at(action, other));
            let (far, alike) = (difference(&one, &two), ssim(&one, &two));
            let (least, most) = if !of_pictures {
                unlike(action)
            } else if is_wider(action) {
                (2.0, 0.995)
            } else {
                (2.0, 0.985)
            };
            assert!(
                far > least && alike < most,
                "{} {action} has two alike: {far}, {alike}",
                job.operation
            );
        }
    }
    four
}

#[tokio::test]
async fn a_grid_depends_on_prompt_seed_and_shape_and_repeats_with_its_seed() {
    let studio = Studio::new();
    let first = imagine(&studio, "a red boat on a lake --seed 7").await;
    let again = imagine(&studio, "a red boat on a lake --seed 7").await;
    let four = assert_grid(&studio, &first);
    for (index, member) in four.iter().enumerate() {
        assert_eq!(*member, studio.picture(&again, FileRole::Small, index));
    }
    let other_seed = imagine(&studio, "a red boat on a lake --seed 8").await;
    let other_words = imagine(&studio, "a blue fox in a forest --seed 7").await;
    for other in [&other_seed, &other_words] {
        assert!(difference(&four[0], &studio.picture(other, FileRole::Small, 0)) > 4.0);
    }
    let wide = imagine(&studio, "a red boat on a lake --seed 7 --ar 16:9").await;
    let (width, height) = main_size(&wide);
    assert!(width > height && main_size(&first).0 == main_size(&first).1);
    assert_grid(&studio, &wide);
}

#[tokio::test]
async fn pictures_named_by_flags_lend_their_colours_and_the_looks_of_their_subject() {
    let studio = Studio::new();
    let teal = Picture::filled(64, 64, [10, 140, 130, 255]);
    let rust = Picture::filled(64, 64, [170, 70, 20, 255]);
    let disc = Picture::drawn(160, 160, |x, y| {
        let near = (x as f32 - 80.0).hypot(y as f32 - 84.0) < 46.0;
        if near {
            [214, 44, 150, 255]
        } else {
            [240, 240, 236, 255]
        }
    });
    let words = "a dragon in a meadow at noon --seed 7";
    let drawn = async |flags: String| {
        let grid = imagine(&studio, &format!("{words} {flags}")).await;
        studio.picture(&grid, FileRole::Small, 0)
    };
    let warmth = |picture: &Picture| -> f64 {
        let sum: i64 = picture
            .pixels()
            .iter()
            .map(|p| i64::from(p[0]) - i64::from(p[2]))
            .sum();
        sum as f64 / picture.pixels().len() as f64
    };
    let plain = drawn(String::new()).await;
    let cold = drawn(format!("--sref {}", studio.host("teal.png", &teal))).await;
    let warm = drawn(format!("--sref {}::2", studio.host("rust.png", &rust))).await;
    let (cold, own, warm) = (warmth(&cold), warmth(&plain), warmth(&warm));
    assert!(
        cold + 20.0 < own && own + 20.0 < warm,
        "{cold}, {own}, {warm}"
    );
    let magenta = |picture: &Picture| measure::count(picture, measure::is_magenta);
    let url = studio.host("disc.png", &disc);
    let cast = drawn(format!("--cref {url}")).await;
    assert!(
        magenta(&cast) > magenta(&plain) + 2000,
        "{}",
        magenta(&cast)
    );
    assert!(drawn(format!("--cref {url} --cw 0")).await == plain);
    let coded = drawn("--sref 4".to_owned()).await;
    assert!(ssim(&coded, &plain) < 0.9, "a code chooses a style");
}

#[tokio::test]
async fn a_repeated_attempt_makes_the_same_bytes() {
    let studio = Studio::new();
    let (work, _) = studio.work("artgen.imagine", &json!({ "prompt": "an owl" }), None);
    let first = studio.make(work.clone()).await.expect("made");
    let second = studio.make(work).await.expect("made");
    assert_eq!(first.files[0].bytes, second.files[0].bytes);
}

#[tokio::test]
async fn an_upsample_is_the_same_picture_at_twice_the_side() {
    let studio = Studio::new();
    let grid = imagine(&studio, "a lighthouse at sunset").await;
    let upsampled = act(&studio, &grid, "upsample2").await;
    assert_eq!(main_size(&upsampled), main_size(&grid));
    let large = studio.picture(&upsampled, FileRole::Main, 0);
    let member = studio.picture(&grid, FileRole::Small, 1);
    let small = large.resized(member.width, member.height);
    let others =
        [0, 2, 3].map(|index| difference(&small, &studio.picture(&grid, FileRole::Small, index)));
    let far = difference(&small, &member);
    assert!(
        others.iter().all(|other| far < other / 3.0),
        "{far} against {others:?}"
    );
}

async fn every_action_on_a_grid_and_on_a_single_picture_makes_its_kind_of_picture() {
    let studio = Studio::new();
    for (flags, actions) in [
        (
            "--ar 3:2",
            &[
                "low_variation",
                "high_variation",
                "zoom_out_2",
                "zoom_out_1_5",
                "pan_left",
                "pan_right",
                "pan_up",
                "pan_down",
                "make_square",
            ][..],
        ),
        ("--v 5", &["upscale2", "upscale4"]),
        ("--v 6", &["upscale_subtle", "upscale_creative"]),
    ] {
        let grid = imagine(&studio, &format!("a castle on a hill {flags}")).await;
        for action in ["variation3", "reroll"] {
            let made = act(&studio, &grid, action).await;
            assert_eq!(main_size(&made), main_size(&grid));
            assert_grid(&studio, &made);
        }
        let single = act(&studio, &grid, "upsample1").await;
        assert_eq!(single.files(FileRole::Small).count(), 0);
        for action in actions {
            let made = act(&studio, &single, action).await;
            if action.starts_with("upscale") {
                let factor = if action.ends_with('4') { 4 } else { 2 };
                let (width, height) = main_size(&single);
                assert_eq!(
                    main_size(&made),
                    (width * factor, height * factor),
                    "{action}"
                );
                drop(studio.picture(&made, FileRole::Main, 0));
                let redone = act(&studio, &made, &format!("redo_{action}")).await;
                assert_eq!(main_size(&redone), main_size(&made));
            } else {
                assert_grid(&studio, &made);
            }
        }
    }
}

#[tokio::test]
async fn zooming_out_keeps_the_picture_in_the_middle_of_all_four() {
    let studio = Studio::new();
    let grid = imagine(&studio, "a windmill in a meadow").await;
    let single = act(&studio, &grid, "upsample1").await;
    let zoomed = act(&studio, &single, "zoom_out_2").await;
    let before = studio.picture(&single, FileRole::Main, 0);
    for member in assert_grid(&studio, &zoomed) {
        let (width, height) = (member.width / 2, member.height / 2);
        let middle = member.cropped(i64::from(width / 2), i64::from(height / 2), width, height);
        let far = difference(&middle, &before.resized(width, height));
        assert!(far < 8.0, "the middle differs by {far}");
    }
}

#[tokio::test]
async fn variations_stay_closer_when_subtle() {
    let studio = Studio::new();
    let grid = imagine(&studio, "a ship in a storm").await;
    let single = act(&studio, &grid, "upsample1").await;
    let before = studio.picture(&grid, FileRole::Small, 0);
    let mut distances = Vec::new();
    for action in ["low_variation", "high_variation"] {
        let made = act(&studio, &single, action).await;
        let four = assert_grid(&studio, &made);
        let far: f64 = four.iter().map(|one| difference(one, &before)).sum();
        distances.push(far / 4.0);
    }
    assert!(distances[0] < distances[1], "{distances:?}");
}

/// White in the left half of the middle.
fn mask(width: u32, height: u32) -> Picture {
    let part = Mask::rectangle(
        width,
        height,
        [width / 8, height / 4, width / 4, height / 2],
    );
    Picture::drawn(width, height, |x, y| {
        let share = part.share(x, y);
        [share, share, share, 255]
    })
}

async fn inpaint(studio: &Studio, parent: &Job, prompt: &str) -> Job {
    let (width, height) = main_size(parent);
    let body =
        json!({ "jobId": parent.id, "mask": base64(&mask(width, height)), "prompt": prompt });
    studio.finish("artgen.inpaint", &body, Some(parent)).await
}

#[tokio::test]
async fn a_repaint_changes_the_masked_region_and_nothing_else() {
    let studio = Studio::new();
    let grid = imagine(&studio, "a lake in the mountains").await;
    let repainted = inpaint(&studio, &grid, "a red balloon").await;
    assert_eq!(main_size(&repainted), main_size(&grid));
    let before = studio.picture(&grid, FileRole::Main, 0);
    let after = studio.picture(&repainted, FileRole::Main, 0);
    let drawing = mask(before.width, before.height);
    let mut changed = 0;
    for ((old, new), white) in before
        .pixels()
        .iter()
        .zip(after.pixels())
        .zip(drawing.pixels())
    {
        if white[0] == 0 {
            assert_eq!(old, new);
        } else {
            changed += usize::from(old != new);
        }
    }
    assert!(changed > 6_000, "only {changed} pixels changed");
}

#[tokio::test]
async fn a_repainted_picture_can_be_followed_up_on() {
    let studio = Studio::new();
    let grid = imagine(&studio, "a lake in the mountains").await;
    let single = act(&studio, &grid, "upsample1").await;
    let repainted = inpaint(&studio, &single, "a red balloon").await;
    let upsampled = act(&studio, &repainted, "upsample3").await;
    let large = studio.picture(&upsampled, FileRole::Main, 0);
    let member = studio.picture(&repainted, FileRole::Main, 0).quarter(2);
    let plain = studio.picture(&single, FileRole::Main, 0);
    let (width, height) = (member.width, member.height);
    let far = difference(&large.resized(width, height), &member);
    let unpainted = difference(&plain.resized(width, height), &member);
    assert!(far < unpainted * 0.7, "{far} against {unpainted}");
    let zoomed = act(&studio, &upsampled, "zoom_out_1_5").await;
    assert_eq!(main_size(&zoomed), main_size(&repainted));
    let rerolled = act(&studio, &repainted, "reroll").await;
    assert!(difference(&studio.picture(&rerolled, FileRole::Small, 2), &member) > 0.2);
}

async fn blends_of_two_and_five_can_be_followed_up_on() {
    let studio = Studio::new();
    for (count, dimensions) in [(2, "SQUARE"), (5, "PORTRAIT")] {
        let parts: Vec<Value> = (0..count)
            .map(|index| data_uri(&photo(320 + index * 40, 300, 40 * index as u8)).into())
            .collect();
        let body = json!({ "imgBase64Array": parts, "dimensions": dimensions, "getUImages": true });
        let blended = studio.finish("artgen.blend", &body, None).await;
        assert_grid(&studio, &blended);
        if count == 5 {
            let single = act(&studio, &blended, "upsample4").await;
            assert_eq!(main_size(&single), main_size(&blended));
            for action in [
                "pan_right",
                "pan_up",
                "zoom_out_2",
                "make_square",
                "high_variation",
            ] {
                let made = act(&studio, &single, action).await;
                assert_grid(&studio, &made);
            }
            assert_grid(&studio, &act(&studio, &blended, "reroll").await);
        }
    }
}

#[tokio::test]
async fn describe_gives_four_different_prompts() {
    let studio = Studio::new();
    let body = json!({ "base64": data_uri(&photo(300, 200, 120)) });
    let described = studio.finish("artgen.describe", &body, None).await;
    let prompts = &described.output().expect("an output").prompts;
    assert_eq!(prompts.len(), 4);
    for (index, prompt) in prompts.iter().enumerate() {
        assert!(!prompt.is_empty() && !prompts[..index].contains(prompt));
    }
}

#[tokio::test]
async fn the_seed_is_the_parents_and_makes_it_again() {
    let studio = Studio::new();
    let first = imagine(&studio, "a cat").await;
    let seeded = studio
        .finish("artgen.seed", &json!({ "jobId": first.id }), Some(&first))
        .await;
    let seed = seeded
        .output()
        .expect("an output")
        .seed
        .clone()
        .expect("a seed");
    let again = imagine(&studio, &format!("a cat --seed {seed}")).await;
    let four = assert_grid(&studio, &first);
    assert_eq!(four[0], studio.picture(&again, FileRole::Small, 0));
}

#[tokio::test]
async fn a_parent_of_another_back_end_is_worked_on_as_it_was_stored() {
    let studio = Studio::new();
    let mut grid = imagine(&studio, "a river").await;
    let quarter = studio.picture(&grid, FileRole::Main, 0).quarter(3);
    grid.output.as_mut().expect("an output").notes = atelier_contract::Notes::default();
    let upsampled = act(&studio, &grid, "upsample4").await;
    let small = studio
        .picture(&upsampled, FileRole::Main, 0)
        .resized(quarter.width, quarter.height);
    assert!(difference(&small, &quarter) < 4.0);
    let varied = act(&studio, &grid, "variation1").await;
    assert_grid(&studio, &varied);
}

#[tokio::test]
async fn files_say_how_they_were_made() {
    let studio = Studio::new();
    let grid = imagine(&studio, "a violet whale --seed 99").await;
    let bytes = main_bytes(&studio, &grid);
    for words in ["a violet whale", "99", "procedural", grid.id.as_str()] {
        let found = bytes
            .windows(words.len())
            .any(|part| part == words.as_bytes());
        assert!(found, "{words} is not in the file");
    }
}
