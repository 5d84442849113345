//! The scene of words: what they say, and choices for all they leave open.

use super::window::Window;
use super::{Scene, usual};
use crate::choices::habitat::Habitat;
use crate::choices::kinds::{Season, Setting, StyleName, Time, Weather};
use crate::paint::dice::Dice;
use crate::words;
use crate::words::lexicon::home_of;
use crate::words::reading::{Reading, Tongue};

impl Scene {
    /// The scene of a prompt; `negative` names what to leave out. Unknown words make an abstract composition.
    pub fn from_prompt(prompt: &str, negative: &str, seed: u64) -> Self {
        Self::from_words(prompt, negative, seed, Tongue::Any)
    }

    /// The scene of a prompt and of what to leave out, read in some languages only.
    pub fn from_words(prompt: &str, negative: &str, seed: u64, tongue: Tongue) -> Self {
        let read = words::read(prompt, negative, tongue);
        let dice = Dice::new(seed);
        let setting = read.setting.unwrap_or_else(|| home(&read, &dice));
        let time = read.time.unwrap_or_else(|| {
            const DAYS: [Time; 6] = [
                Time::Day,
                Time::Golden,
                Time::Morning,
                Time::Sunset,
                Time::Day,
                Time::Dawn,
            ];
            if read.weather == Some(Weather::Aurora) || read.weather == Some(Weather::Meteors) {
                return Time::Night;
            }
            DAYS[dice.pick("time", DAYS.len())]
        });
        let weather = read.weather.unwrap_or(match dice.pick("weather", 4) {
            0 | 1 => Weather::Clear,
            _ => Weather::Cloudy,
        });
        let season = read.season.unwrap_or(match (setting, weather) {
            (Setting::Snow, _) | (_, Weather::Snowfall) => Season::Winter,
            _ => Season::Summer,
        });
        Self {
            prompt: prompt.to_owned(),
            subjects: read.subjects,
            setting,
            time,
            weather,
            season,
            style: read.style.unwrap_or(StyleName::Painting),
            palette: read.palette,
            palette_names: read.palette_names,
            full_moon: read.full_moon,
            left_out: read.left_out,
            dice,
            window: Window::of_aspect(read.aspect.unwrap_or((1, 1))),
            flair: usual(),
            tiled: false,
            tongue,
            figures: Vec::new(),
            patches: Vec::new(),
        }
    }

    /// The place of a prompt without its subjects: a background for figures drawn elsewhere.
    pub(crate) fn backdrop(prompt: &str, negative: &str, seed: u64) -> Self {
        let read = words::read(prompt, negative, Tongue::Any);
        let mut scene = Self::from_prompt(prompt, negative, seed);
        scene.subjects.clear();
        // Colours in these words belong to the figures.
        scene.palette.clear();
        scene.style = StyleName::Painting;
        scene.setting = read.setting.unwrap_or(
            [
                Setting::Clouds,
                Setting::City,
                Setting::Garden,
                Setting::Meadow,
                Setting::Studio,
            ][scene.dice.pick("anime place", 5)],
        );
        scene
    }
}

/// Where the subjects are at home when the prompt does not say.
fn home(read: &Reading, dice: &Dice) -> Setting {
    let Some(first) = read.subjects.first() else {
        let known = read.time.is_some()
            || read.weather.is_some()
            || read.season.is_some()
            || read.full_moon;
        return if known {
            Setting::Meadow
        } else {
            Setting::Abstract
        };
    };
    if let Some(setting) = home_of(&first.key) {
        return setting;
    }
    match first.kind.habitat {
        Habitat::Table => Setting::Table,
        Habitat::Water => Setting::Sea,
        Habitat::Sea => Setting::Underwater,
        Habitat::Sky => Setting::Space,
        Habitat::Air => {
            [Setting::Mountains, Setting::Clouds, Setting::Meadow][dice.pick("home", 3)]
        }
        Habitat::Ground => {
            [Setting::Meadow, Setting::Forest, Setting::Mountains][dice.pick("home", 3)]
        }
    }
}
