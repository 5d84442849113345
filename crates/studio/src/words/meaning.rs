//! What a word can mean.

use crate::choices::kinds::{Place, Season, Setting, StyleName, Time, Weather};

/// What a word means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Meaning {
    /// A thing: its place in the lexicon's list of things.
    Thing(u16),
    Setting(Setting),
    /// A time of day.
    Time(Time),
    Weather(Weather),
    /// A time of year.
    Season(Season),
    Style(StyleName),
    /// A colour: its place in the list of colours.
    Colour(u8),
    Count(u8),
    /// Where in the picture.
    Place(Place),
    /// Larger or smaller, in tenths of the usual size.
    Size(u8),
    Moon,
    /// What follows is to be left out.
    Without,
    /// Something of the scenery that can be left out; as a wish it says nothing.
    Scenery(u8),
    /// Understood, and of no consequence.
    Nothing,
}

/// Colours by name, as the lexicon's codes call them.
pub(crate) const COLOURS: &[(&str, [u8; 3])] = &[
    ("red", [214, 48, 44]),
    ("orange", [240, 138, 36]),
    ("yellow", [246, 206, 48]),
    ("green", [66, 160, 71]),
    ("blue", [44, 110, 216]),
    ("purple", [132, 70, 190]),
    ("pink", [240, 120, 170]),
    ("brown", [130, 84, 50]),
    ("black", [36, 36, 42]),
    ("white", [244, 244, 246]),
    ("grey", [140, 144, 150]),
    ("gold", [222, 172, 50]),
    ("silver", [186, 192, 202]),
    ("teal", [22, 140, 142]),
    ("turquoise", [56, 200, 196]),
    ("cyan", [50, 196, 230]),
    ("magenta", [214, 44, 150]),
    ("crimson", [170, 24, 48]),
    ("navy", [28, 44, 104]),
    ("lavender", [182, 164, 226]),
    ("beige", [222, 202, 166]),
    ("coral", [250, 122, 96]),
    ("indigo", [70, 56, 160]),
    ("emerald", [24, 156, 100]),
    ("peach", [250, 186, 146]),
    ("violet", [146, 82, 210]),
    ("copper", [184, 104, 60]),
    ("lime", [160, 214, 50]),
];

/// Scenery that can be left out by name.
pub(crate) const SCENERY: &[&str] = &["cloud", "tree", "grass", "flower", "palm", "planet"];

/// The meaning of a code of the word tables, other than a thing.
pub(crate) fn of_code(code: &str) -> Option<Meaning> {
    let (group, name) = code.split_once(':')?;
    let named = |list: &[&str]| list.iter().position(|n| *n == name).map(|i| i as u8);
    fn parse<T: serde::de::DeserializeOwned>(name: &str) -> Option<T> {
        serde_json::from_value(serde_json::Value::String(name.to_owned())).ok()
    }
    match group {
        "setting" => parse(name).map(Meaning::Setting),
        "time" => parse(name).map(Meaning::Time),
        "weather" => parse(name).map(Meaning::Weather),
        "season" => parse(name).map(Meaning::Season),
        "style" => parse(name).map(Meaning::Style),
        "place" => parse(name).map(Meaning::Place),
        "colour" => COLOURS
            .iter()
            .position(|c| c.0 == name)
            .map(|i| Meaning::Colour(i as u8)),
        "scenery" => named(SCENERY).map(Meaning::Scenery),
        "count" => name.parse().ok().map(Meaning::Count),
        "size" => name.parse().ok().map(Meaning::Size),
        "word" => match name {
            "moon" => Some(Meaning::Moon),
            "without" => Some(Meaning::Without),
            _ => Some(Meaning::Nothing),
        },
        _ => None,
    }
}

/// The English name of a meaning that is not a thing.
pub(crate) fn english(meaning: Meaning) -> Option<&'static str> {
    Some(match meaning {
        Meaning::Setting(s) => s.name(),
        Meaning::Time(t) => t.name(),
        Meaning::Weather(w) => w.name(),
        Meaning::Season(s) => match s {
            Season::Spring => "spring",
            Season::Summer => "summer",
            Season::Autumn => "autumn",
            Season::Winter => "winter",
        },
        Meaning::Style(s) => s.name(),
        Meaning::Colour(c) => COLOURS[c as usize].0,
        Meaning::Count(n) => [
            "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
        ]
        .get(n as usize)?,
        Meaning::Place(p) => match p {
            Place::Left => "left",
            Place::Right => "right",
            Place::Middle => "center",
            Place::Top => "top",
            Place::Bottom => "bottom",
            Place::Front => "foreground",
            Place::Far => "in the distance",
            Place::On => "on",
            Place::Any => return None,
        },
        Meaning::Size(s) => {
            if s > 10 {
                "large"
            } else {
                "small"
            }
        }
        Meaning::Moon => "full moon",
        Meaning::Without => "without",
        Meaning::Scenery(i) => SCENERY[i as usize],
        Meaning::Thing(_) | Meaning::Nothing => return None,
    })
}
