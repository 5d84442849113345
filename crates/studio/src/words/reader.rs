//! Walks over a prompt word by word and collects what it asks for.

use super::lexicon::{LANGUAGES, lexicon};
use super::meaning::{COLOURS, Meaning, english};
use super::pieces::{language, meaning, pieces};
use super::reading::{Reading, Tongue};
use super::text;
use crate::choices::RequestedSubject;
use crate::choices::kinds::Place;

/// State while walking over a prompt.
#[derive(Default)]
struct Walk {
    count: Option<u8>,
    colour: Option<u8>,
    size: Option<u8>,
    leaving: bool,
    after_noun: bool,
    noun_took_colour: bool,
    rider: Option<usize>,
}

/// Reads a prompt and the words to leave out.
pub(crate) fn read(prompt: &str, negative: &str, tongue: Tongue) -> Reading {
    let (prompt, aspect, more) = switches(prompt);
    let mut reading = Reading {
        aspect,
        ..Reading::default()
    };
    for left in [negative, more.as_str()] {
        leave_out(left, &mut reading, tongue);
    }
    let pieces = pieces(&prompt, tongue);
    let language = language(&pieces);
    let mut walk = Walk::default();
    for piece in &pieces {
        if piece.word.is_empty() {
            settle_colour(&mut walk, &mut reading);
            walk = Walk::default();
            continue;
        }
        if let Some(meaning) = meaning(piece, language) {
            if let Meaning::Thing(id) = meaning
                && walk.count.is_none()
                && is_plural(&piece.word, id)
            {
                walk.count = Some(3);
            }
            step(meaning, language, &mut walk, &mut reading);
        } else if !walk.leaving {
            walk.after_noun = false;
        }
    }
    settle_colour(&mut walk, &mut reading);
    finish(&mut reading);
    reading
}

/// Takes `--ar 16:9` and `--no trees` out of a prompt.
fn switches(prompt: &str) -> (String, Option<(u32, u32)>, String) {
    let mut parts = prompt.split("--");
    let mut rest = parts.next().unwrap_or_default().to_owned();
    let (mut aspect, mut without) = (None, String::new());
    for part in parts {
        let (name, value) = part.split_once(char::is_whitespace).unwrap_or((part, ""));
        match name {
            "ar" | "aspect" => {
                let mut sides = value
                    .trim()
                    .split(':')
                    .filter_map(|v| v.trim().parse().ok());
                aspect = sides
                    .next()
                    .zip(sides.next())
                    .filter(|(w, h)| *w > 0 && *h > 0);
            }
            "no" => without = format!("{without} {value}"),
            "style" => rest = format!("{rest}, {}", value.replace('-', " ")),
            _ => {}
        }
    }
    (rest, aspect, without)
}

fn leave_out(words: &str, reading: &mut Reading, tongue: Tongue) {
    let pieces = pieces(words, tongue);
    let language = language(&pieces);
    for piece in pieces.iter().filter(|p| !p.word.is_empty()) {
        reading.left_out.extend(text::forms(&piece.word));
        if let Some(meaning) = meaning(piece, language) {
            reading.left_out.extend(name_of(meaning));
        }
    }
}

fn name_of(meaning: Meaning) -> Option<String> {
    if let Meaning::Thing(id) = meaning {
        return Some(lexicon().things[id as usize].name.clone());
    }
    if let Meaning::Weather(crate::choices::kinds::Weather::Cloudy) = meaning {
        return Some("cloud".to_owned());
    }
    english(meaning).map(str::to_owned)
}

fn step(meaning: Meaning, language: u8, walk: &mut Walk, reading: &mut Reading) {
    if walk.leaving {
        if !matches!(meaning, Meaning::Nothing | Meaning::Count(_)) {
            reading.left_out.extend(name_of(meaning));
            walk.leaving = false;
        }
        return;
    }
    match meaning {
        Meaning::Thing(id) => noun(id, walk, reading),
        Meaning::Colour(colour) => colour_word(colour, language, walk, reading),
        Meaning::Count(count) => walk.count = Some(count),
        Meaning::Size(size) => walk.size = Some(size),
        Meaning::Without => walk.leaving = true,
        Meaning::Place(place) => place_word(place, walk, reading),
        Meaning::Setting(setting) => {
            // "Mountains above a lake" plays at the lake: the place that can hold the other one wins.
            if reading
                .setting
                .is_none_or(|old| setting.rank() > old.rank())
            {
                reading.setting = Some(setting);
            }
            // "A green valley" is no wish for a green picture.
            walk.colour = None;
            walk.rider = None;
            walk.after_noun = false;
        }
        Meaning::Time(time) => _ = reading.time.get_or_insert(time),
        Meaning::Weather(weather) => _ = reading.weather.get_or_insert(weather),
        Meaning::Season(season) => _ = reading.season.get_or_insert(season),
        Meaning::Style(style) => _ = reading.style.get_or_insert(style),
        Meaning::Moon => {
            reading.full_moon = true;
            reading
                .time
                .get_or_insert(crate::choices::kinds::Time::Night);
            walk.colour = None;
        }
        Meaning::Scenery(_) | Meaning::Nothing => {}
    }
}

/// Clothes colour whoever wears them.
const CLOTHES: &[&str] = &["👗", "👘", "🧥", "👔", "👕", "👚", "👖", "🎽", "🥻"];

/// Whether a word is the plural of a thing's name.
fn is_plural(word: &str, id: u16) -> bool {
    let names = |form: &String| {
        let entries = lexicon().find(form).unwrap_or_default();
        entries
            .iter()
            .any(|entry| entry.meaning == Meaning::Thing(id))
    };
    word.ends_with('s') && text::forms(word).iter().skip(1).any(names)
}

fn noun(id: u16, walk: &mut Walk, reading: &mut Reading) {
    let thing = &lexicon().things[id as usize];
    let colour = walk.colour.take().map(|c| COLOURS[c as usize]);
    let count = walk.count.take().unwrap_or(1).clamp(1, 9);
    if let (true, Some(wearer)) = (
        CLOTHES.contains(&thing.key.as_str()),
        reading.subjects.last_mut(),
    ) {
        wearer.colour = colour.map(|c| c.1).or(wearer.colour);
        wearer.colour_name = colour.map(|c| c.0.to_owned()).or(wearer.colour_name.take());
        return;
    }
    let scale = f32::from(walk.size.take().unwrap_or(10)) / 10.0;
    walk.after_noun = true;
    walk.noun_took_colour = colour.is_some();
    if let Some(known) = reading
        .subjects
        .iter_mut()
        .find(|s| s.key == thing.key && colour.is_none())
    {
        known.count = known.count.max(count);
        return;
    }
    if reading.subjects.len() >= 6 {
        return;
    }
    if let Some(rider) = walk.rider.take() {
        reading.subjects[rider].place = Place::On;
    }
    reading.subjects.push(RequestedSubject {
        key: thing.key.clone(),
        name: thing.name.clone(),
        count,
        colour: colour.map(|c| c.1),
        colour_name: colour.map(|c| c.0.to_owned()),
        place: reading.place.take().unwrap_or(Place::Any),
        scale,
        kind: thing.kind,
        at: None,
        look: None,
        drawing: None,
    });
}

/// A colour belongs to the noun after it, or in some languages to the noun before it.
fn colour_word(colour: u8, language: u8, walk: &mut Walk, reading: &mut Reading) {
    let follows = matches!(
        LANGUAGES[language as usize],
        "es" | "fr" | "it" | "pt" | "ar" | "id"
    );
    if follows
        && walk.after_noun
        && !walk.noun_took_colour
        && let Some(last) = reading.subjects.last_mut()
    {
        let (name, rgb) = COLOURS[colour as usize];
        last.colour = Some(rgb);
        last.colour_name = Some(name.to_owned());
        walk.noun_took_colour = true;
        return;
    }
    settle_colour(walk, reading);
    walk.colour = Some(colour);
}

/// A colour that found no noun belongs to the whole picture.
fn settle_colour(walk: &mut Walk, reading: &mut Reading) {
    if let Some(colour) = walk.colour.take() {
        let (name, rgb) = COLOURS[colour as usize];
        if !reading.palette.contains(&rgb) && reading.palette.len() < 4 {
            reading.palette.push(rgb);
            reading.palette_names.push(name.to_owned());
        }
    }
}

fn place_word(place: Place, walk: &mut Walk, reading: &mut Reading) {
    if place == Place::On {
        // "A cat on a car": the first named sits on the one that follows.
        if walk.after_noun {
            walk.rider = reading.subjects.len().checked_sub(1);
        }
        return;
    }
    // "a fox on the left" names the subject first.
    match reading.subjects.last_mut() {
        Some(last) if walk.after_noun && last.place == Place::Any => last.place = place,
        _ => reading.place = Some(place),
    }
}

/// Drops what must not be there.
fn finish(reading: &mut Reading) {
    let out = reading.left_out.clone();
    let is_out = |name: &str| {
        out.iter()
            .any(|word| word == name || name.split(' ').any(|part| part == word))
    };
    reading.subjects.retain(|subject| !is_out(&subject.name));
    reading.setting = reading.setting.filter(|s| !is_out(s.name()));
    reading.weather = reading.weather.filter(|w| !is_out(w.name()));
    reading.time = reading.time.filter(|t| !is_out(t.name()));
    if out.iter().any(|w| w == "full moon") {
        reading.full_moon = false;
    }
}
