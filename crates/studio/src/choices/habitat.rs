//! Where a thing belongs and how large it is next to others.

use serde::{Deserialize, Serialize};

/// Where a thing belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Habitat {
    /// Stands on the ground.
    Ground,
    Water,
    /// Swims below the surface.
    Sea,
    Air,
    /// Hangs in the sky or in space.
    Sky,
    /// Lies on a table.
    Table,
}

/// Where a thing belongs and how large it is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kind {
    pub habitat: Habitat,
    /// Its size on a scale from 0 (an insect) to 1 (a castle).
    pub size: f32,
}

const LARGE: &[&str] = &[
    "elephant",
    "mammoth",
    "giraffe",
    "hippopotamus",
    "rhinoceros",
    "dragon",
    "sauropod",
    "t-rex",
    "bison",
    "camel",
    "two-hump camel",
];
const SMALL: &[&str] = &[
    "mouse",
    "rat",
    "hamster",
    "hedgehog",
    "chipmunk",
    "rabbit",
    "cat",
    "black cat",
    "bat",
    "frog",
    "squirrel",
    "hatching chick",
    "baby chick",
    "front-facing baby chick",
    "snail",
    "beaver",
    "skunk",
    "otter",
    "dove",
    "lizard",
    "parrot",
    "owl",
    "duck",
    "rooster",
    "chicken",
];
const TINY: &[&str] = &[
    "ant",
    "honeybee",
    "lady beetle",
    "butterfly",
    "cricket",
    "spider",
    "mosquito",
    "fly",
    "bug",
    "beetle",
];
const FLYING: &[&str] = &[
    "bird",
    "eagle",
    "dove",
    "bat",
    "butterfly",
    "honeybee",
    "mosquito",
    "fly",
    "kite",
    "balloon",
    "flying saucer",
    "parachute",
    "dragon",
    "ghost",
    "fairy",
    "hot air balloon",
    "flying disc",
];
const FLOATING: &[&str] = &[
    "duck",
    "swan",
    "canoe",
    "person rowing boat",
    "person swimming",
    "person surfing",
];
const AFLOAT: &[&str] = &["spouting whale", "whale"];
const GROUNDED: &[&str] = &[
    "anchor",
    "fuel pump",
    "cocktail glass",
    "seat",
    "ghost",
    "snowman",
    "snowman without snow",
    "fire",
    "umbrella on ground",
    "motorized wheelchair",
];

/// The kind of an emoji by its group and English name.
pub(crate) fn of_emoji(group: &str, name: &str) -> Kind {
    let (habitat, size) = by_group(group);
    let any = |list: &[&str]| list.contains(&name);
    let size = match () {
        () if any(LARGE) => 0.72,
        () if any(SMALL) => 0.34,
        () if any(TINY) => 0.15,
        () => size,
    };
    let habitat = match () {
        () if any(GROUNDED) => Habitat::Ground,
        () if any(FLYING) => Habitat::Air,
        () if any(FLOATING) || any(AFLOAT) => Habitat::Water,
        () => habitat,
    };
    let size = if any(AFLOAT) { 0.8 } else { size };
    Kind { habitat, size }
}

fn by_group(group: &str) -> (Habitat, f32) {
    match group {
        "animal-bird" | "animal-amphibian" => (Habitat::Ground, 0.35),
        "animal-bug" => (Habitat::Ground, 0.16),
        "animal-marine" => (Habitat::Sea, 0.4),
        "transport-water" => (Habitat::Water, 0.7),
        "transport-air" => (Habitat::Air, 0.6),
        "transport-ground" | "hotel" => (Habitat::Ground, 0.62),
        "place-building" | "place-religious" | "place-geographic" | "place-other" => {
            (Habitat::Ground, 0.9)
        }
        "sky & weather" | "place-map" => (Habitat::Sky, 0.5),
        "plant-flower" => (Habitat::Ground, 0.28),
        "plant-other" => (Habitat::Ground, 0.45),
        "food-fruit" | "food-vegetable" | "food-sweet" => (Habitat::Table, 0.22),
        "food-asian" | "food-marine" | "food-prepared" | "drink" | "dishware" => {
            (Habitat::Table, 0.28)
        }
        "arts & crafts" | "award-medal" | "body-parts" | "book-paper" | "clothing" | "computer"
        | "event" | "game" | "light & video" | "lock" | "mail" | "medical" | "money" | "music"
        | "musical-instrument" | "office" | "other-object" | "phone" | "science" | "sound"
        | "sport" | "time" | "tool" | "writing" | "household" | "emotion" => (Habitat::Table, 0.3),
        _ => (Habitat::Ground, 0.5),
    }
}
