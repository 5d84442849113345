//! Every word of a prompt changes what it names, measured on pixels.

#[path = "words/measure.rs"]
#[expect(dead_code, reason = "each test file measures only some things")]
mod measure;

use atelier_studio::{Scene, StyleName, translated_prompt};
use measure::{count, difference, groups, is_blue, is_magenta};

const SIZE: u32 = 224;

fn scene(prompt: &str) -> Scene {
    Scene::from_prompt(prompt, "", 5)
}

#[test]
fn another_subject_changes_the_picture_and_not_the_sky_above_it() {
    let fox = scene("a fox in a meadow at noon").render(SIZE, SIZE);
    let cow = scene("a cow in a meadow at noon").render(SIZE, SIZE);
    assert!(
        difference(&fox, &cow) > 1.5,
        "difference {}",
        difference(&fox, &cow)
    );
    let top = |p| measure::part(p, 0, 0, SIZE, SIZE / 8);
    assert!(difference(&top(&fox), &top(&cow)) < 0.2);
}

#[test]
fn a_colour_dyes_the_subject_it_stands_before() {
    let blue = scene("a blue fox in a forest at noon").render(SIZE, SIZE);
    let pink = scene("a magenta fox in a forest at noon").render(SIZE, SIZE);
    assert!(
        count(&pink, is_magenta) > 300,
        "magenta {}",
        count(&pink, is_magenta)
    );
    assert!(count(&blue, is_magenta) < 20);
    let low = |p| measure::part(p, 0, SIZE / 2, SIZE, SIZE / 2);
    assert!(count(&low(&blue), is_blue) > count(&low(&pink), is_blue) + 200);
}

#[test]
fn a_number_gives_that_many() {
    for (prompt, expected) in [
        ("a magenta cat in the snow", 1),
        ("three magenta cats in the snow", 3),
    ] {
        let picture = scene(prompt).render(320, 320);
        assert_eq!(groups(&picture, is_magenta), expected, "{prompt}");
    }
}

#[test]
fn a_negative_word_removes_what_it_names() {
    let with = Scene::from_prompt("a magenta house in the snow", "", 5).render(SIZE, SIZE);
    let without = Scene::from_prompt("a magenta house in the snow", "house", 5).render(SIZE, SIZE);
    let inline = Scene::from_prompt("a meadow, no house", "", 5);
    assert!(count(&with, is_magenta) > 400);
    assert_eq!(count(&without, is_magenta), 0);
    assert!(inline.subjects.is_empty());
}

#[test]
fn trees_can_be_left_out_of_the_scenery() {
    let with = Scene::from_prompt("a meadow at noon", "", 8).render(SIZE, SIZE);
    let without = Scene::from_prompt("a meadow at noon", "trees", 8).render(SIZE, SIZE);
    assert!(
        difference(&with, &without) > 0.5,
        "{}",
        difference(&with, &without)
    );
}

#[test]
fn every_style_makes_another_picture() {
    let base = scene("a fox in the mountains at noon");
    let all: Vec<_> = StyleName::ALL
        .iter()
        .map(|style| (style, base.with_style(*style).render(128, 128)))
        .collect();
    assert!(all.len() >= 15);
    for (i, (first, a)) in all.iter().enumerate() {
        for (second, b) in &all[i + 1..] {
            assert!(
                difference(a, b) > 4.0,
                "{first:?} looks like {second:?}: {}",
                difference(a, b)
            );
        }
    }
}

#[test]
fn style_time_weather_and_place_are_read() {
    let read = scene("watercolor of a lighthouse on the beach at sunset in the rain");
    let night = scene("a castle at night");
    let noon = scene("a castle at noon");
    assert_eq!(read.style, StyleName::Watercolor);
    assert_eq!(read.setting, atelier_studio::Setting::Beach);
    assert_eq!(read.time, atelier_studio::Time::Sunset);
    assert_eq!(read.weather, atelier_studio::Weather::Rain);
    let bright = |s: &Scene| {
        s.render(96, 96)
            .rgba
            .iter()
            .map(|v| u64::from(*v))
            .sum::<u64>()
    };
    assert!(bright(&noon) > bright(&night) * 5 / 4);
}

#[test]
fn the_same_prompt_in_eighteen_languages_gives_the_same_picture() {
    let prompts = [
        "a blue fox in the forest at night",
        "un zorro azul en el bosque de noche",
        "un renard bleu dans la forêt la nuit",
        "ein blauer Fuchs im Wald in der Nacht",
        "una volpe blu nel bosco di notte",
        "uma raposa azul na floresta à noite",
        "een blauwe vos in het bos in de nacht",
        "niebieski lis w lesie nocą",
        "синяя лиса в лесу ночью",
        "синя лисиця в лісі вночі",
        "gece ormanda mavi tilki",
        "夜晚森林里的蓝色狐狸",
        "夜の森の青い狐",
        "밤 숲속의 파란 여우",
        "ثعلب أزرق في الغابة ليلا",
        "रात में जंगल में नीली लोमड़ी",
        "en blå räv i skogen på natten",
        "rubah biru di hutan pada malam",
    ];
    let first = scene(prompts[0]).render(96, 96);
    for prompt in prompts {
        let read = scene(prompt);
        assert_eq!(read.subjects.len(), 1, "{prompt}: {:?}", read.subjects);
        assert_eq!(read.subjects[0].name, "fox", "{prompt}");
        assert_eq!(
            read.subjects[0].colour_name.as_deref(),
            Some("blue"),
            "{prompt}"
        );
        assert!(
            read.render(96, 96) == first,
            "{prompt} gives another picture"
        );
    }
}

#[test]
fn a_foreign_prompt_is_put_into_english() {
    let english = translated_prompt("ein roter Fuchs im Wald bei Sonnenuntergang");
    for word in ["red", "fox", "forest", "sunset"] {
        assert!(english.contains(word), "{english}");
    }
    assert_eq!(translated_prompt("a red fox"), "a red fox");
}

#[test]
fn unknown_words_make_an_abstract_picture_of_their_own() {
    let one = scene("zorblax quintiv");
    let two = scene("mirrenth oolva");
    assert_eq!(one.setting, atelier_studio::Setting::Abstract);
    assert!(difference(&one.render(SIZE, SIZE), &two.render(SIZE, SIZE)) > 8.0);
}

#[test]
fn palette_words_bend_the_whole_picture() {
    let plain = scene("a mountain lake at noon").render(SIZE, SIZE);
    let teal = scene("a mountain lake at noon, teal and orange palette");
    assert_eq!(teal.palette_names, ["teal", "orange"]);
    assert!(difference(&plain, &teal.render(SIZE, SIZE)) > 8.0);
}

#[test]
fn a_description_is_true_and_said_four_ways() {
    let read = scene("two red foxes in a forest at dusk, oil painting");
    let said = read.describe();
    for (i, one) in said.iter().enumerate() {
        assert!(one.contains("fox"), "{one}");
        assert!(said[i + 1..].iter().all(|other| other != one));
    }
    let again = Scene::from_prompt(&said[0], "", 5);
    assert_eq!(again.subjects[0].count, 2);
    assert_eq!(again.style, StyleName::Oil);
}
