//! Flags and fields that change a picture beside its words, from the request to the pixels.

use atelier_contract::{FileRole, Job};
use atelier_media::Picture;
use atelier_studio::Scene;
use serde_json::{Value, json};

use crate::measure::{part, ssim};
use crate::studio::{Studio, data_uri, difference, photo};

async fn imagine(studio: &Studio, body: &Value) -> Job {
    studio.finish("artgen.imagine", body, None).await
}

/// The four pictures of a prompt.
async fn four(studio: &Studio, prompt: &str) -> Vec<Picture> {
    let body = json!({ "prompt": prompt, "getUImages": true });
    let job = imagine(studio, &body).await;
    (0..4)
        .map(|at| studio.picture(&job, FileRole::Small, at))
        .collect()
}

/// How unlike the four are, on average.
fn apart(four: &[Picture]) -> f64 {
    let mut sum = 0.0;
    for (index, one) in four.iter().enumerate() {
        sum += four[..index]
            .iter()
            .map(|other| 1.0 - ssim(one, other))
            .sum::<f64>();
    }
    sum / 6.0
}

fn colourful(picture: &Picture) -> f64 {
    let span = |p: &[u8; 4]| f64::from(p[0].max(p[1]).max(p[2]) - p[0].min(p[1]).min(p[2]));
    picture.pixels().iter().map(span).sum::<f64>() / picture.pixels().len() as f64
}

#[tokio::test]
async fn chaos_stylize_tile_niji_and_quality_are_seen() {
    let studio = Studio::new();
    let plain = four(&studio, "a fox --seed 3").await;
    let wild = four(&studio, "a fox --seed 3 --chaos 100").await;
    assert!(
        apart(&wild) > apart(&plain),
        "{} {}",
        apart(&wild),
        apart(&plain)
    );

    let modest = four(&studio, "a fox --seed 3 --stylize 0").await;
    let bold = four(&studio, "a fox --seed 3 --stylize 1000").await;
    assert!(colourful(&bold[0]) > colourful(&plain[0]) + 4.0);
    assert!(colourful(&plain[0]) > colourful(&modest[0]) + 4.0);

    let tiled = four(&studio, "a fox --seed 3 --tile").await;
    let seam = |picture: &Picture| {
        let (wide, high) = (picture.width, picture.height);
        difference(
            &part(picture, 0, 0, 1, high),
            &part(picture, wide - 1, 0, 1, high),
        )
    };
    assert!(seam(&tiled[0]) * 2.0 < seam(&plain[0]), "left meets right");

    let anime = four(&studio, "a fox --seed 3 --niji 6").await;
    assert!(difference(&anime[0], &plain[0]) > 4.0);

    let rough = four(&studio, "a fox --seed 3 --quality .25").await;
    let edges = |picture: &Picture| {
        let moved = picture.cropped(1, 0, picture.width, picture.height);
        difference(picture, &moved)
    };
    assert!(edges(&rough[0]) < edges(&plain[0]) * 0.9);
    assert!(ssim(&rough[0], &plain[0]) > 0.6, "it is the same picture");
}

#[tokio::test]
async fn follow_ups_keep_the_flags_of_their_picture() {
    let studio = Studio::new();
    let grid = imagine(
        &studio,
        &json!({ "prompt": "a fox --niji 6 --stylize 600" }),
    )
    .await;
    let body = json!({ "jobId": grid.id, "action": "upsample1" });
    let large = studio.finish("artgen.action", &body, Some(&grid)).await;
    let one = studio.picture(&large, FileRole::Main, 0);
    let small = studio.picture(&grid, FileRole::Main, 0).quarter(0);
    assert!(ssim(&one.resized(small.width, small.height), &small) > 0.9);
}

#[tokio::test]
async fn translation_can_be_declined() {
    let studio = Studio::new();
    let made = |translation: bool| {
        let body = json!({ "prompt": "ein roter Fuchs --seed 4", "translation": translation });
        let studio = &studio;
        async move { imagine(studio, &body).await }
    };
    let notes = |job: &Job| job.output().expect("an output").notes.value().to_string();
    assert!(notes(&made(true).await).contains("\"name\":\"fox\""));
    assert!(!notes(&made(false).await).contains("\"name\":\"fox\""));
}

#[tokio::test]
async fn scale_steps_and_noise_of_anime_are_seen() {
    let studio = Studio::new();
    let base = photo(256, 256, 120);
    let made = |name: &str, field: &str, value: f64| {
        let mut body = json!({
            "prompt": "girl with long hair", "model": "anime-diffusion-4-5-full", "seed": "7",
            "width": 256, "height": 256, "image": data_uri(&base),
        });
        if name == "animegen.text_to_image" {
            body.as_object_mut().expect("an object").remove("image");
        }
        let whole = field.starts_with("step");
        body[field] = if whole {
            json!(value as u32)
        } else {
            json!(value)
        };
        let (name, studio) = (name.to_owned(), &studio);
        async move {
            let job = studio.finish(&name, &body, None).await;
            studio.picture(&job, FileRole::Main, 0)
        }
    };
    for (name, field, low, high) in [
        ("animegen.text_to_image", "scale", 1.0, 9.5),
        ("animegen.text_to_image", "steps", 3.0, 40.0),
        ("animegen.image_to_image", "noise", 0.0, 0.9),
        ("animegen.image_to_image", "step", 3.0, 40.0),
    ] {
        let (one, other) = (made(name, field, low).await, made(name, field, high).await);
        assert!(difference(&one, &other) > 2.0, "{name} {field}");
    }
}

/// A picture that was drawn here and comes back as an input is known again: enlarging it draws it again.
#[tokio::test]
async fn own_pictures_are_known_again() {
    let studio = Studio::new();
    let body = json!({ "model": "image-1", "prompt": "a red lighthouse by the sea at noon", "size": "1024x1024" });
    let made = studio.finish("imgmodel.generations", &body, None).await;
    let file = studio.read(&made.file(0).expect("a file").key);
    let url = studio.host_bytes("own.png", file);
    let large = studio
        .finish("design.crisp_upscale", &json!({ "image": url }), None)
        .await;
    let (large, small) = (
        studio.picture(&large, FileRole::Main, 0),
        studio.picture(&made, FileRole::Main, 0),
    );
    assert_eq!((large.width, large.height), (4096, 4096));
    let again = large.resized(small.width, small.height);
    assert!(ssim(&again, &small) > 0.9);
    let told = studio
        .finish("artgen.describe", &json!({ "url": url }), None)
        .await;
    for prompt in &told.output().expect("an output").prompts {
        assert!(prompt.contains("lighthouse"), "{prompt}");
    }
    let cut = studio
        .finish("design.remove_background", &json!({ "image": url }), None)
        .await;
    let cut = studio.picture(&cut, FileRole::Main, 0);
    let opaque = cut.pixels().iter().filter(|pixel| pixel[3] > 200).count();
    let share = opaque as f64 / cut.pixels().len() as f64;
    assert!((0.02..0.5).contains(&share), "{share} is the lighthouse");
    assert_eq!(cut.pixel(5, 5)[3], 0, "the sky is gone");
    // Painted over, it is a foreign picture like any other.
    let mut changed = small.clone();
    for pixel in changed.pixels_mut() {
        pixel.reverse();
        pixel.rotate_left(1);
        pixel[3] = 255;
    }
    let foreign = studio.host("changed.png", &changed);
    let told = studio
        .finish("artgen.describe", &json!({ "url": foreign }), None)
        .await;
    let prompts = &told.output().expect("an output").prompts;
    assert!(prompts.iter().all(|prompt| !prompt.contains("lighthouse")));
}

#[tokio::test]
async fn a_reference_moves_colours_light_and_style() {
    let studio = Studio::new();
    let night = Scene::from_prompt("a city at night in the rain", "", 3).render(256, 256);
    let url = studio.host("night.png", &night);
    let plain = four(&studio, "a castle --seed 9").await;
    let led = four(&studio, &format!("{url} a castle --seed 9")).await;
    let light = |picture: &Picture| {
        let [r, g, b] = picture.mean_colour().map(u32::from);
        r + g + b
    };
    assert!(
        light(&led[0]) * 10 < light(&plain[0]) * 9,
        "the night comes over"
    );
    assert!(difference(&led[0], &plain[0]) > 10.0);
}
