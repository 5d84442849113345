//! How a prompt is understood: what stands in the scene, how often, in which colour and where, and what is left out.
//! Nothing is drawn here but for hostile text.

use std::collections::HashSet;

use atelier_studio::{Place, Scene, Setting, StyleName, Time, Weather, translated_prompt};

fn scene(prompt: &str) -> Scene {
    Scene::from_prompt(prompt, "", 5)
}

/// Name and number of every subject, in order.
fn names(scene: &Scene) -> Vec<(&str, u8)> {
    let all = scene.subjects.iter();
    all.map(|one| (one.name.as_str(), one.count)).collect()
}

fn shape(scene: &Scene) -> f32 {
    scene.window.width / scene.window.height
}

#[test]
fn numbers_plurals_and_groups_say_how_many() {
    for (prompt, count) in [
        ("a fox", 1),
        ("two foxes", 2),
        ("foxes", 3),
        ("seven foxes", 7),
        ("a herd of foxes", 6),
        ("10 foxes", 9),
    ] {
        assert_eq!(names(&scene(prompt)), [("fox", count)], "{prompt}");
    }
}

#[test]
fn the_same_thing_named_again_is_one_subject_with_the_larger_number() {
    assert_eq!(names(&scene("a fox, a fox and three foxes")), [("fox", 3)]);
    let two = scene("a red fox and a blue fox");
    assert_eq!(
        names(&two),
        [("fox", 1), ("fox", 1)],
        "colours tell them apart"
    );
}

#[test]
fn a_prompt_has_at_most_six_subjects_and_four_colours() {
    let all = scene("a fox, a cow, a cat, a dog, a horse, a pig, a rabbit, a tiger");
    assert_eq!(all.subjects.len(), 6);
    assert_eq!(all.subjects[0].name, "fox", "the first named are kept");
    let colours = scene("red, blue, green, yellow, purple, pink");
    assert_eq!(colours.palette_names, ["red", "blue", "green", "yellow"]);
    assert_eq!(colours.palette.len(), 4);
}

#[test]
fn a_colour_belongs_to_the_noun_its_language_puts_it_at() {
    for prompt in [
        "a blue fox and a red cow",
        "un renard bleu et une vache rouge",
        "un zorro azul y una vaca roja",
    ] {
        let read = scene(prompt);
        let colours: Vec<_> = read
            .subjects
            .iter()
            .map(|one| (one.name.as_str(), one.colour_name.as_deref()))
            .collect();
        assert_eq!(
            colours,
            [("fox", Some("blue")), ("cow", Some("red"))],
            "{prompt}"
        );
        assert!(read.palette.is_empty(), "{prompt}");
    }
}

#[test]
fn a_colour_of_a_place_is_no_wish_for_a_coloured_picture() {
    let read = scene("a fox in a green valley");
    assert_eq!(read.setting, Setting::River);
    assert_eq!(read.subjects[0].colour, None);
    assert!(read.palette.is_empty());
    let free = scene("a fox, blue");
    assert_eq!(free.subjects[0].colour, None);
    assert_eq!(
        free.palette_names,
        ["blue"],
        "one without a noun is for all"
    );
}

#[test]
fn clothes_colour_whoever_wears_them() {
    let read = scene("a woman in a red dress");
    assert_eq!(names(&read), [("woman", 1)]);
    assert_eq!(read.subjects[0].colour_name.as_deref(), Some("red"));
}

#[test]
fn places_are_those_of_the_subject_they_stand_beside() {
    let read = scene("a fox on the left and a cow on the right");
    let places: Vec<_> = read.subjects.iter().map(|one| one.place).collect();
    assert_eq!(places, [Place::Left, Place::Right]);
    let far = scene("in the distance a castle");
    assert_eq!(
        far.subjects[0].place,
        Place::Far,
        "or of the one that follows"
    );
    let rider = scene("a cat on a horse");
    let places: Vec<_> = rider.subjects.iter().map(|one| one.place).collect();
    assert_eq!(places, [Place::On, Place::Any]);
}

#[test]
fn size_words_make_larger_and_smaller() {
    let scale = |prompt| scene(prompt).subjects[0].scale;
    assert!(scale("a giant fox") > scale("a fox"));
    assert!(scale("a tiny fox") < scale("a fox"));
}

#[test]
fn what_is_refused_is_not_there() {
    let inline = scene("a fox without a cow");
    let switch = scene("a fox and a cow --no cow");
    let negative = Scene::from_prompt("a fox and a cow", "cow", 5);
    for read in [&inline, &switch, &negative] {
        assert_eq!(names(read), [("fox", 1)], "{}", read.prompt);
        assert!(read.left_out.iter().any(|word| word == "cow"));
    }
    for seed in 0..8 {
        let bright = Scene::from_prompt("a lake at night in the rain", "night, rain", seed);
        assert_ne!(bright.time, Time::Night);
        assert_ne!(bright.weather, Weather::Rain);
    }
}

#[test]
fn the_first_time_weather_and_style_win_and_the_place_that_holds_the_other() {
    let read = scene("watercolor of a castle at dawn in the fog, oil painting, night, storm");
    assert_eq!(read.style, StyleName::Watercolor);
    assert_eq!(read.time, Time::Dawn);
    assert_eq!(read.weather, Weather::Fog);
    for prompt in ["a lake in the mountains", "mountains and a lake"] {
        assert_eq!(scene(prompt).setting, Setting::Lake, "{prompt}");
    }
    let moon = scene("a fox and the full moon");
    assert!(moon.full_moon);
    assert_eq!(moon.time, Time::Night, "the moon brings its night along");
    assert_eq!(scene("full moon at dusk").time, Time::Night);
    assert_eq!(scene("dusk, full moon").time, Time::Dusk);
}

#[test]
fn switches_are_obeyed_and_never_read_as_words() {
    let wide = scene("a cow --ar 16:9 --style pixel-art --v 6 fox --seed 3");
    assert_eq!(names(&wide), [("cow", 1)]);
    assert_eq!(wide.style, StyleName::Pixel);
    assert!((shape(&wide) - 16.0 / 9.0).abs() < 0.001);
    assert_eq!(wide.window.pixels(320), (320, 180));
    assert!(shape(&scene("a cow --aspect 2:3")) < 0.67);
}

#[test]
fn a_shape_that_is_none_is_square_and_an_absurd_one_is_bounded() {
    for shapeless in ["0:9", "9:0", "16", "x:y", ":", "", "99999999999:1", "-3:4"] {
        let read = scene(&format!("a cow --ar {shapeless}"));
        assert!((shape(&read) - 1.0).abs() < 0.001, "{shapeless}");
    }
    assert!((shape(&scene("a cow --ar 4000000000:1")) - 20.0).abs() < 0.01);
    assert!((shape(&scene("a cow --ar 1:4000000000")) - 0.05).abs() < 0.001);
    assert_eq!(
        scene("a cow --ar 1:4000000000").window.pixels(200),
        (10, 200)
    );
}

#[test]
fn a_seed_chooses_only_what_the_words_leave_open() {
    let all: Vec<Scene> = (0..24)
        .map(|seed| Scene::from_prompt("two red foxes on the beach in the rain", "", seed))
        .collect();
    for one in &all {
        assert_eq!(one.subjects, all[0].subjects);
        assert_eq!((one.setting, one.weather), (Setting::Beach, Weather::Rain));
        let again = Scene::from_prompt(&one.prompt, "", one.seed());
        assert_eq!(&again, one, "seed {}", one.seed());
    }
    let times: HashSet<Time> = all.iter().map(|one| one.time).collect();
    assert!(times.len() > 2, "{times:?}");
}

#[test]
fn a_translation_is_understood_as_what_it_translates() {
    let english = "A Blue fox, in the forest";
    assert_eq!(translated_prompt(english), english, "to the letter");
    for foreign in [
        "ein blauer Fuchs im Wald",
        "un renard bleu dans la forêt",
        "un zorro azul en el bosque",
        "синяя лиса в лесу ночью",
        "夜の森の青い狐",
    ] {
        let translated = translated_prompt(foreign);
        let (one, other) = (scene(foreign), scene(&translated));
        assert_eq!(names(&one), [("fox", 1)], "{foreign}");
        assert_eq!(names(&other), names(&one), "{foreign}: {translated}");
        assert_eq!(
            (one.setting, other.setting),
            (Setting::Forest, Setting::Forest)
        );
    }
}

#[test]
fn no_text_does_harm() {
    let long = "fox ".repeat(20_000);
    let dense = "狐".repeat(5_000);
    let texts = [
        "",
        " ",
        "\0",
        ",,,,",
        "'",
        "’’’",
        "--",
        "--ar",
        "--no",
        "--no --no",
        "--style",
        "- -",
        "\u{202e}xof",
        "\u{200d}\u{200d}",
        "🦊\u{fe0f}\u{200d}🦊",
        "e\u{301}\u{301}\u{301}",
        "ال",
        "가나다라",
        "İ",
        "ß ﷺ ﬁ",
        "𝖋𝖔𝖝",
        long.as_str(),
        dense.as_str(),
    ];
    for text in texts {
        let read = Scene::from_prompt(text, text, 1);
        assert!(read.subjects.len() <= 6);
        let read = Scene::from_prompt(text, "", 1);
        let picture = read.render(9, 7);
        assert_eq!((picture.width, picture.height), (9, 7));
        let _ = translated_prompt(text);
    }
}
