//! Wishes beside the words: strength of the style, tiles, chaos, languages, anime, looks that come again.

#[path = "words/measure.rs"]
#[expect(dead_code, reason = "each test file measures only some things")]
mod measure;

use atelier_media::{
    Encoding, Label, Picture, encode, encode_video, first_frame, frame_at, last_frame,
};
use atelier_studio::Anime;
use atelier_studio::{RequestedSubject, Scene, StyleName, Time, Tongue, grained, seeming_time};
use measure::{count, difference, is_magenta, ssim};

const SIZE: u32 = 192;

fn scene(prompt: &str) -> Scene {
    Scene::from_prompt(prompt, "", 5)
}

/// How colourful a picture is, 0 to 255.
fn colourful(picture: &Picture) -> f64 {
    let span = |p: &[u8; 4]| f64::from(p[0].max(p[1]).max(p[2]) - p[0].min(p[1]).min(p[2]));
    picture.pixels().iter().map(span).sum::<f64>() / picture.pixels().len() as f64
}

/// Mean difference of two columns, wrapped around the edge when asked for.
fn columns_apart(picture: &Picture, one: u32, other: u32) -> f64 {
    let far = |y: u32| {
        let (a, b) = (picture.pixel(one, y), picture.pixel(other, y));
        (0..3).map(|c| f64::from(a[c].abs_diff(b[c]))).sum::<f64>() / 3.0
    };
    (0..picture.height).map(far).sum::<f64>() / f64::from(picture.height)
}

fn rows_apart(picture: &Picture, one: u32, other: u32) -> f64 {
    let far = |x: u32| {
        let (a, b) = (picture.pixel(x, one), picture.pixel(x, other));
        (0..3).map(|c| f64::from(a[c].abs_diff(b[c]))).sum::<f64>() / 3.0
    };
    (0..picture.width).map(far).sum::<f64>() / f64::from(picture.width)
}

#[test]
fn a_tile_meets_itself_at_its_edges() {
    let mut tile = scene("a fox in the mountains");
    let plain = tile.render(SIZE, SIZE);
    tile.tiled = true;
    let tiled = tile.render(SIZE, SIZE);
    let last = SIZE - 1;
    let usual = columns_apart(&tiled, SIZE / 2, SIZE / 2 + 1).max(2.0);
    assert!(columns_apart(&tiled, last, 0) < usual * 2.0);
    assert!(columns_apart(&plain, last, 0) > columns_apart(&tiled, last, 0) * 2.0);
    let usual = rows_apart(&tiled, SIZE / 2, SIZE / 2 + 1).max(2.0);
    assert!(rows_apart(&tiled, last, 0) < usual * 2.0);
    assert!(rows_apart(&plain, last, 0) > rows_apart(&tiled, last, 0) * 2.0);
}

#[test]
fn more_flair_shows_more_style_and_colour() {
    for words in [
        "a castle in the mountains",
        "oil painting, a castle by a lake",
    ] {
        let mut last = 0.0;
        let mut before: Option<Picture> = None;
        for flair in [0.25, 1.0, 2.0] {
            let mut styled = scene(words);
            styled.flair = flair;
            let picture = styled.render(SIZE, SIZE);
            let now = colourful(&picture);
            assert!(now > last + 2.0, "{words} at {flair}: {now} after {last}");
            if let Some(before) = &before {
                assert!(difference(before, &picture) > 3.0);
            }
            (last, before) = (now, Some(picture));
        }
    }
}

#[test]
fn chaos_drives_four_pictures_apart_and_keeps_what_the_words_say() {
    let apart = |chaos: f32| {
        let four: Vec<Picture> = (1..=4)
            .map(|seed| Scene::from_prompt("a fox at night", "", seed).stirred(chaos))
            .inspect(|one| {
                assert_eq!(one.subjects[0].name, "fox");
                assert_eq!(one.time, Time::Night, "the words say when");
            })
            .map(|one| one.render(96, 96))
            .collect();
        let mut sum = 0.0;
        for (index, one) in four.iter().enumerate() {
            sum += four[..index]
                .iter()
                .map(|o| 1.0 - ssim(one, o))
                .sum::<f64>();
        }
        sum
    };
    assert!(
        apart(1.0) > apart(0.0) * 1.05,
        "{} {}",
        apart(1.0),
        apart(0.0)
    );
    let styles = |chaos: f32| {
        let style = |seed| Scene::from_prompt("a fox", "", seed).stirred(chaos).style;
        (0..12)
            .map(style)
            .filter(|s| *s != StyleName::Painting)
            .count()
    };
    assert_eq!(styles(0.3), 0, "a little chaos keeps the style");
    assert!(styles(1.0) > 4);
}

#[test]
fn without_translation_other_languages_say_nothing() {
    let read = |words: &str| Scene::from_words(words, "", 5, Tongue::English);
    assert_eq!(scene("ein roter Fuchs im Wald").subjects[0].name, "fox");
    assert!(read("ein roter Fuchs im Wald").subjects.is_empty());
    assert!(read("森林里的狐狸").subjects.is_empty());
    let english = read("a red fox in the forest");
    assert_eq!(english.subjects[0].name, "fox");
    assert_eq!(
        english.render(64, 64),
        scene("a red fox in the forest").render(64, 64)
    );
}

#[test]
fn an_anime_picture_has_lines_and_its_people_are_characters() {
    let plain = scene("a woman with magenta hair in a garden");
    let anime = plain.as_anime();
    assert_eq!(anime.style, StyleName::Anime);
    let (one, other) = (plain.render(SIZE, SIZE), anime.render(SIZE, SIZE));
    assert!(difference(&one, &other) > 12.0);
    assert!(count(&other, is_magenta) > count(&one, is_magenta) + 1500);
    // A character stands in the world like everything else: from further away it is smaller.
    let far = anime.zoomed_out(2.0).render(SIZE, SIZE);
    assert!(count(&far, is_magenta) < count(&other, is_magenta) / 2);
    let fox = scene("a fox in a meadow");
    let drawn = fox.as_anime().render(SIZE, SIZE);
    assert!(difference(&fox.render(SIZE, SIZE), &drawn) > 4.0);
}

#[test]
fn a_variation_of_a_variation_goes_on_from_there() {
    let base = scene("a castle in the mountains at noon");
    let first = base.varied(0.35, 9);
    let second = first.varied(0.35, 21);
    let (one, two) = (first.render(SIZE, SIZE), second.render(SIZE, SIZE));
    let forgetful = base.varied(0.35, 21).render(SIZE, SIZE);
    assert!(
        difference(&two, &forgetful) > 1.0,
        "the first drift is not lost"
    );
    assert!(
        difference(&one, &two) < difference(&one, &forgetful),
        "it is nearer to its parent than a variation of the grandparent is"
    );
    let stored = serde_json::to_string(&second).expect("plain data");
    let again: Scene = serde_json::from_str(&stored).expect("readable");
    assert_eq!(again, second);
}

#[test]
fn the_same_looks_come_again_in_another_scene() {
    let knight = |seed: u64, look: Option<u64>| {
        let mut scene = Scene::from_prompt("a woman in the studio", "", seed);
        scene.subjects[0].look = look;
        scene.subjects[0].at = Some([0.0, 0.4, 0.8]);
        scene.render(96, 96)
    };
    let apart = |look| difference(&knight(3, look), &knight(4, look));
    assert!(
        apart(Some(11)) < apart(None),
        "{} {}",
        apart(Some(11)),
        apart(None)
    );
}

#[test]
fn a_drawing_plays_in_a_scene() {
    let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"10\" height=\"10\">\
        <path d=\"M1 1 L9 1 L9 9 L1 9 Z\" fill=\"#d62c96\"/></svg>";
    let mut with = scene("a fox in a meadow at noon");
    with.subjects[0] = RequestedSubject {
        drawing: Some(svg.into()),
        ..with.subjects[0].clone()
    };
    assert!(count(&with.render(SIZE, SIZE), is_magenta) > 1500);
}

#[test]
fn the_subjects_of_a_scene_are_known_to_the_pixel() {
    let scene = scene("a magenta fox in a meadow at noon");
    let (picture, shown) = (scene.render(SIZE, SIZE), scene.subjects_shown(SIZE, SIZE));
    let mut inside = [0, 0];
    for (pixel, share) in picture.pixels().iter().zip(&shown.shares) {
        if is_magenta(*pixel) {
            inside[usize::from(*share > 100)] += 1;
        }
    }
    assert!(inside[1] > 500 && inside[0] * 20 < inside[1], "{inside:?}");
    let empty = Scene::from_prompt("a meadow", "", 5).subjects_shown(SIZE, SIZE);
    assert!(empty.bounds().is_none());
}

#[test]
fn a_label_is_read_back_from_every_format() {
    let picture = scene("a fox").render(48, 48);
    let label = Label {
        prompt: "a \"fox\" & <friends>".into(),
        seed: Some(77),
        engine: "procedural".into(),
        scene: serde_json::to_string(&scene("a fox")).expect("plain data"),
        ..Label::default()
    };
    for encoding in [
        Encoding::Png,
        Encoding::Jpeg { quality: 80 },
        Encoding::Webp { quality: Some(80) },
        Encoding::Webp { quality: None },
    ] {
        let file = encode(&picture, encoding, Some(&label));
        assert_eq!(Label::read(&file).as_ref(), Some(&label), "{encoding:?}");
        assert_eq!(Label::read(&encode(&picture, encoding, None)), None);
        // Damaged files are read as far as they make sense.
        for cut in (0..file.len()).step_by(97) {
            let _ = Label::read(&file[..cut]);
        }
    }
}

#[test]
fn any_frame_of_a_clip_can_be_looked_at() {
    let shade = |n: u32| Picture::filled(64, 64, [(20 + n * 4) as u8, 90, 60, 255]);
    let clip = encode_video(&mut (0..48).map(shade), 24).expect("a clip");
    let red = |picture: Picture| i32::from(picture.mean_colour()[0]);
    for (seconds, frame) in [(0.0, 0), (0.5, 12), (1.5, 36), (9.0, 47)] {
        let seen = red(frame_at(&clip, seconds).expect("a frame"));
        assert!(
            (seen - (20 + frame * 4)).abs() <= 6,
            "{seconds} s shows {seen}"
        );
    }
    assert_eq!(frame_at(&clip, 0.0), first_frame(&clip));
    assert_eq!(frame_at(&clip, 99.0), last_frame(&clip));
}

/// Mean difference of neighbouring pixels.
fn sharpness(picture: &Picture) -> f64 {
    let columns = (1..picture.width).map(|x| columns_apart(picture, x - 1, x));
    columns.sum::<f64>() / f64::from(picture.width - 1)
}

#[test]
fn adherence_sharpens_and_more_steps_carry_out() {
    let girl = Anime::from_prompt("girl with blue hair, garden", "", 4);
    let with = |adherence: f32, steps: u32| {
        let mut one = girl.clone();
        (one.adherence, one.steps) = (adherence, steps);
        one.render(SIZE, SIZE)
    };
    let [soft, usual, sharp] = [1.0, 5.0, 9.0].map(|adherence| sharpness(&with(adherence, 23)));
    assert!(
        soft < usual * 0.95 && usual * 1.05 < sharp,
        "{soft} {usual} {sharp}"
    );
    let finished = with(5.0, 23);
    let far = |steps| difference(&with(5.0, steps), &finished);
    assert!(far(3) > far(12) && far(12) > 0.5, "{} {}", far(3), far(12));
    let (little, much) = (grained(&finished, 0.1, 1), grained(&finished, 0.6, 1));
    assert!(difference(&finished, &much) > difference(&finished, &little) * 3.0);
    assert_eq!(grained(&finished, 0.6, 1), much);
    assert_eq!(grained(&finished, 0.0, 1), finished);
}

#[test]
fn references_lead_traits_and_light() {
    let mut girl = Anime::from_prompt("girl, city", "", 4);
    (girl.influence, girl.palette) = (0.8, vec![[120, 60, 160]]);
    let led = |looks: u64| {
        let mut one = girl.clone();
        one.looks = Some(looks);
        one.traits().remove(0)
    };
    let all: Vec<_> = (0..8).map(led).collect();
    assert!(
        all.iter().any(|one| one.cut != all[0].cut),
        "hair follows the reference"
    );
    assert!(all.iter().any(|one| one.outfit != all[0].outfit));
    assert_eq!(led(3), led(3));
    let night = scene("a castle at night").render(SIZE, SIZE);
    let noon = scene("a castle at noon").render(SIZE, SIZE);
    assert!(matches!(seeming_time(&night), Time::Night | Time::Dusk));
    assert!(matches!(
        seeming_time(&noon),
        Time::Day | Time::Morning | Time::Golden
    ));
    let open = scene("a castle").led(Some(Time::Night), Some(StyleName::Ink));
    assert_eq!((open.time, open.style), (Time::Night, StyleName::Ink));
    let said = scene("a castle at noon, watercolor").led(Some(Time::Night), Some(StyleName::Ink));
    assert_eq!((said.time, said.style), (Time::Day, StyleName::Watercolor));
}
