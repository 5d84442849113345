//! The other image families: formats, sizes, transparency, masks, cut-outs, upscales, vectors, faces.

use atelier_backends::Backend as _;
use atelier_contract::{FAMILIES, FileRole};
use atelier_media::{Mask, Picture, header};
use serde_json::json;

use crate::studio::{Studio, data_uri, difference, photo};

#[test]
fn every_operation_of_the_table_is_served() {
    let studio = Studio::new();
    for submit in FAMILIES.iter().flat_map(|family| family.submits) {
        assert!(studio.backend.serves(submit.name), "{}", submit.name);
    }
}

#[tokio::test]
async fn generations_honour_count_size_and_format() {
    let studio = Studio::new();
    let body = json!({ "model": "art-2", "prompt": "a green frog", "n": 2, "size": "256x256" });
    let job = studio.finish("imgmodel.generations", &body, None).await;
    assert_eq!(job.files(FileRole::Main).count(), 2);
    let (one, other) = (
        studio.picture(&job, FileRole::Main, 0),
        studio.picture(&job, FileRole::Main, 1),
    );
    assert_eq!((one.width, one.height), (256, 256));
    assert!(difference(&one, &other) > 1.0);

    for (format, media_type) in [
        ("jpeg", "image/jpeg"),
        ("webp", "image/webp"),
        ("png", "image/png"),
    ] {
        let mut body = json!({
            "model": "image-1", "prompt": "a green frog", "size": "1536x1024", "output_format": format,
        });
        if format != "png" {
            body["output_compression"] = 40.into();
        }
        let job = studio.finish("imgmodel.generations", &body, None).await;
        let file = job.file(0).expect("a file");
        let header = header(&studio.read(&file.key)).expect("an image");
        assert_eq!(header.format.media_type(), media_type);
        assert_eq!(file.media_type, media_type);
        assert_eq!((header.width, header.height), (1536, 1024));
    }
}

#[tokio::test]
async fn a_transparent_background_is_transparent_around_a_visible_subject() {
    let studio = Studio::new();
    let body = json!({
        "model": "image-1", "prompt": "a red apple", "size": "1024x1024", "background": "transparent",
    });
    let job = studio.finish("imgmodel.generations", &body, None).await;
    let picture = studio.picture(&job, FileRole::Main, 0);
    let clear = picture
        .pixels()
        .iter()
        .filter(|pixel| pixel[3] < 20)
        .count();
    let solid = picture
        .pixels()
        .iter()
        .filter(|pixel| pixel[3] > 235)
        .count();
    let all = picture.pixels().len();
    assert!(
        clear > all / 5 && solid > all / 100,
        "{clear} clear, {solid} solid of {all}"
    );
}

/// A picture whose left half is transparent, over a given one.
fn holes(picture: &Picture) -> Picture {
    let mut mask = picture.clone();
    for y in 0..mask.height {
        for x in 0..mask.width / 2 {
            mask.set(x, y, [0; 4]);
        }
    }
    mask
}

#[tokio::test]
async fn an_edit_changes_what_the_mask_leaves_open_and_nothing_else() {
    let studio = Studio::new();
    let picture = photo(512, 512, 90);
    let body = json!({
        "image": [data_uri(&picture)], "mask": data_uri(&holes(&picture)), "prompt": "a big red balloon",
        "size": "512x512", "n": 2,
    });
    let job = studio.finish("imgmodel.edits", &body, None).await;
    for index in 0..2 {
        let edited = studio.picture(&job, FileRole::Main, index);
        let right = |picture: &Picture| picture.cropped(256, 0, 256, 512);
        let left = |picture: &Picture| picture.cropped(0, 0, 256, 512);
        assert_eq!(right(&edited), right(&picture));
        assert!(difference(&left(&edited), &left(&picture)) > 2.0);
    }
}

#[tokio::test]
async fn an_edit_without_a_mask_still_shows_its_picture() {
    let studio = Studio::new();
    let picture = photo(512, 512, 90);
    let body = json!({ "image": [data_uri(&picture)], "prompt": "at night", "size": "512x512" });
    let job = studio.finish("imgmodel.edits", &body, None).await;
    let far = difference(&studio.picture(&job, FileRole::Main, 0), &picture);
    assert!((1.0..90.0).contains(&far), "{far}");
}

#[tokio::test]
async fn strength_says_how_far_an_image_to_image_goes() {
    let studio = Studio::new();
    let picture = photo(400, 300, 200);
    let url = studio.host("base.png", &picture);
    let mut distances = Vec::new();
    for strength in [0.0, 0.4, 1.0] {
        let body =
            json!({ "image": url, "prompt": "a snowy forest", "strength": strength, "n": 1 });
        let job = studio.finish("design.image_to_image", &body, None).await;
        let made = studio.picture(&job, FileRole::Main, 0);
        distances.push(difference(&made, &picture));
    }
    assert!(distances[0] < 2.0 && distances.is_sorted(), "{distances:?}");
    assert!(distances[2] > distances[1] + 3.0, "{distances:?}");
}

#[tokio::test]
async fn an_inpaint_of_a_given_picture_stays_inside_its_mask() {
    let studio = Studio::new();
    let picture = photo(480, 360, 140);
    let part = Mask::rectangle(480, 360, [60, 60, 200, 200]);
    let drawing = Picture::drawn(480, 360, |x, y| {
        let share = part.share(x, y);
        [share, share, share, 255]
    });
    let body = json!({
        "image": studio.host("p.png", &picture), "mask": studio.host("m.png", &drawing),
        "prompt": "a white cat", "n": 2,
    });
    let job = studio.finish("design.inpaint", &body, None).await;
    assert_eq!(job.files(FileRole::Main).count(), 2);
    let made = studio.picture(&job, FileRole::Main, 0);
    let mut changed = 0;
    for (index, (old, new)) in picture.pixels().iter().zip(made.pixels()).enumerate() {
        if part.shares[index] == 0 {
            assert_eq!(old, new);
        } else {
            changed += usize::from(old != new);
        }
    }
    assert!(changed > 4000, "{changed}");
}

#[tokio::test]
async fn backgrounds_are_removed_and_replaced() {
    let studio = Studio::new();
    let picture = Picture::drawn(320, 320, |x, y| {
        let (dx, dy) = (f64::from(x) - 160.0, f64::from(y) - 160.0);
        if dx.hypot(dy) < 80.0 {
            [210, 40, 40, 255]
        } else {
            [60, 150, 90, 255]
        }
    });
    let url = studio.host("subject.png", &picture);
    let removed = studio
        .finish("design.remove_background", &json!({ "image": url }), None)
        .await;
    let cut = studio.picture(&removed, FileRole::Main, 0);
    assert!(cut.pixel(160, 160)[3] > 240 && cut.pixel(5, 5)[3] < 15);
    let body = json!({ "image": url, "prompt": "a beach at night" });
    let replaced = studio
        .finish("design.replace_background", &body, None)
        .await;
    let made = studio.picture(&replaced, FileRole::Main, 0);
    assert_eq!(made.pixel(160, 160), cut.pixel(160, 160));
    assert_ne!(made.pixel(5, 5), picture.pixel(5, 5));
}

#[tokio::test]
async fn upscales_are_four_times_as_large_and_differ_from_each_other() {
    let studio = Studio::new();
    let picture = photo(120, 90, 60);
    let url = studio.host("small.png", &picture);
    let mut made = Vec::new();
    for name in ["design.crisp_upscale", "design.creative_upscale"] {
        let job = studio.finish(name, &json!({ "image": url }), None).await;
        let large = studio.picture(&job, FileRole::Main, 0);
        assert_eq!((large.width, large.height), (480, 360));
        assert!(difference(&large.resized(120, 90), &picture) < 12.0);
        made.push(large);
    }
    assert!(difference(&made[0], &made[1]) > 0.3);
}

#[tokio::test]
async fn a_vector_is_an_svg_with_paths() {
    let studio = Studio::new();
    let url = studio.host("logo.png", &photo(300, 200, 30));
    let job = studio
        .finish("design.vectorize", &json!({ "image": url }), None)
        .await;
    let file = job.file(0).expect("a file");
    assert_eq!(
        (file.media_type.as_str(), file.width, file.height),
        ("image/svg+xml", 300, 200)
    );
    let svg = String::from_utf8(studio.read(&file.key).to_vec()).expect("text");
    assert!(svg.contains("<svg") && svg.contains("<path") && svg.len() < 500_000);
}

#[tokio::test]
async fn a_swap_changes_the_face_and_leaves_the_rest() {
    let studio = Studio::new();
    let bytes = include_bytes!("../../../media/tests/data/portrait.jpg");
    let portrait = atelier_media::decode(bytes, atelier_media::Limits::default());
    let portrait = portrait.expect("a portrait");
    let mut other = portrait.clone();
    for [red, green, blue, _] in other.pixels_mut() {
        (*red, *green, *blue) = (*green, *blue, *red);
    }
    let body = json!({
        "targetImage": studio.host("target.png", &portrait), "swapImage": studio.host("face.png", &other),
    });
    let job = studio.finish("facegen.swap", &body, None).await;
    let swapped = studio.picture(&job, FileRole::Main, 0);
    let corner = |picture: &Picture| picture.cropped(0, 0, picture.width, picture.height / 20);
    assert_eq!(corner(&swapped), corner(&portrait));
    let pairs = swapped.pixels().iter().zip(portrait.pixels());
    let changed = pairs.filter(|(new, old)| new != old).count();
    let all = portrait.pixels().len();
    assert!(
        (all / 200..all / 2).contains(&changed),
        "{changed} of {all}"
    );
}

#[tokio::test]
async fn a_swap_without_a_face_fails_by_name() {
    let studio = Studio::new();
    let url = studio.host("no-face.png", &photo(300, 300, 30));
    let body = json!({ "targetImage": url, "swapImage": url });
    let (work, _) = studio.work("facegen.swap", &body, None);
    let fault = studio.make(work).await.expect_err("no face");
    assert!(
        fault
            .job_message()
            .contains("targetImage: no face was found"),
        "{fault:?}"
    );
}

#[tokio::test]
async fn a_reference_changes_the_colours_of_a_drawing() {
    let studio = Studio::new();
    let red = studio.host("red.png", &Picture::filled(64, 64, [200, 20, 20, 255]));
    let blue = studio.host("blue.png", &Picture::filled(64, 64, [20, 20, 200, 255]));
    let mut reds = Vec::new();
    for reference in [red, blue] {
        let body = json!({ "prompt": "draw a house", "referImages": [reference] });
        let job = studio.finish("imgmodel.chat", &body, None).await;
        let [r, _, b] = studio.picture(&job, FileRole::Main, 0).mean_colour();
        reds.push(i32::from(r) - i32::from(b));
    }
    assert!(reds[0] > reds[1] + 20, "{reds:?}");
}

#[tokio::test]
async fn anime_pictures_follow_words_seed_places_references_and_base() {
    let studio = Studio::new();
    let model = "anime-diffusion-4-5-full";
    let small = |mut body: serde_json::Value| {
        for (name, value) in [
            ("model", json!(model)),
            ("width", json!(320)),
            ("height", json!(320)),
        ] {
            body[name] = value;
        }
        body["seed"] = json!("11");
        body
    };
    let plain = small(json!({ "prompt": "a girl with blue hair", "n": 2 }));
    let first = studio.finish("animegen.text_to_image", &plain, None).await;
    let again = studio.finish("animegen.text_to_image", &plain, None).await;
    let one = studio.picture(&first, FileRole::Main, 0);
    assert_eq!((one.width, one.height), (320, 320));
    assert_eq!(one, studio.picture(&again, FileRole::Main, 0));
    assert!(difference(&one, &studio.picture(&first, FileRole::Main, 1)) > 1.0);

    let red = studio.host("red.png", &Picture::filled(64, 64, [200, 20, 20, 255]));
    let character =
        |x: f64| json!([{ "prompt": "girl, red dress", "center": { "x": x, "y": 0.5 } }]);
    let mut made = vec![one.clone()];
    for body in [
        json!({ "prompt": "a girl with blue hair", "vibe_transfer": [{ "image": red, "strength": 1 }] }),
        json!({ "prompt": "a garden", "character_prompts": character(0.2) }),
        json!({ "prompt": "a garden", "character_prompts": character(0.8) }),
    ] {
        let job = studio
            .finish("animegen.text_to_image", &small(body), None)
            .await;
        made.push(studio.picture(&job, FileRole::Main, 0));
    }
    let base = photo(320, 320, 90);
    let mut distances = Vec::new();
    for strength in [0.05, 0.9] {
        let body = json!({ "prompt": "a girl", "image": data_uri(&base), "strength": strength });
        let job = studio
            .finish("animegen.image_to_image", &small(body), None)
            .await;
        made.push(studio.picture(&job, FileRole::Main, 0));
        distances.push(difference(&made[made.len() - 1], &base));
    }
    assert!(distances[0] < distances[1], "{distances:?}");
    for (index, picture) in made.iter().enumerate() {
        for other in &made[..index] {
            assert!(difference(picture, other) > 0.5, "{index}");
        }
    }
}

#[tokio::test]
async fn a_damaged_picture_is_the_callers_fault_and_named() {
    let studio = Studio::new();
    let mut bytes = atelier_media::encode(&photo(64, 64, 9), atelier_media::Encoding::Png, None);
    bytes.truncate(200);
    let url = studio.host_bytes("broken.png", bytes.into());
    let (work, _) = studio.work("design.remove_background", &json!({ "image": url }), None);
    let fault = studio.make(work).await.expect_err("damaged");
    assert_eq!(fault.field.as_deref(), Some("image"));
    assert_eq!(
        fault.job_message(),
        "[Invalid link] image: the image is damaged",
        "{fault:?}"
    );
}
