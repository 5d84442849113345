//! Scenes: what a prompt asks for, stored as a description that always renders to the same bytes.

use serde::{Deserialize, Serialize};

use crate::Picture;
use crate::subject::Kind;
use crate::words::{self, Tongue};

mod actor;
mod canvas;
mod cloud;
mod colour;
mod describe;
mod dice;
mod figure;
mod flair;
mod flora;
mod follow;
mod islet;
mod isometric;
mod kinds;
mod light;
mod mask;
pub(crate) mod noise;
mod outline;
mod painter;
mod patch;
mod region;
mod render;
mod setting;
mod silhouette;
mod sky;
mod stage;
mod stir;
mod terrain;
mod tile;
mod water;
mod weather;
mod window;

pub(crate) use canvas::{Canvas, Frame};
pub(crate) use colour::{Rgb, Rgba};
pub(crate) use colour::{
    from_hsl, hex, luma, mix, ramp, saturate, scale, screen, to_hsl, with_alpha,
};
pub(crate) use dice::Dice;
pub(crate) use figure::Figure;
pub(crate) use flora::{Spot as TreeSpot, pine as pine_outline, tuft};
pub use kinds::{Motion, Setting, StyleName, Time, Weather};
pub(crate) use region::{Blend, Field, Item, Region, Role, polygon, rounded};
pub use window::Window;

/// Where in the picture a subject should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// Wherever it looks well.
    Any,
    /// Left of the middle.
    Left,
    /// Right of the middle.
    Right,
    /// In the middle.
    Middle,
    /// High up.
    Top,
    /// Low down.
    Bottom,
    /// Close to the viewer.
    Front,
    /// In the distance.
    Far,
    /// On top of the subject named next.
    On,
}

/// The time of year.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Season {
    /// Blossom.
    Spring,
    /// Green.
    Summer,
    /// Red and gold.
    Autumn,
    /// White.
    Winter,
}

/// One subject a prompt asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wanted {
    /// Which picture: the glyph of an emoji or the name of one of our own.
    pub key: String,
    /// Its English name.
    pub name: String,
    /// How many.
    pub count: u8,
    /// The colour it should have.
    pub colour: Option<[u8; 3]>,
    /// The English name of that colour.
    pub colour_name: Option<String>,
    /// Where in the picture.
    pub place: Place,
    /// Larger or smaller than usual.
    pub scale: f32,
    /// Where it belongs and how large it is.
    pub kind: Kind,
    /// A fixed place: the middle of its feet and its height in the world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<[f32; 3]>,
    /// The seed of its own looks, for one that is to be recognised in other scenes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look: Option<u64>,
    /// An SVG drawing of it, for one that was seen and has no name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drawing: Option<String>,
}

/// What a prompt asks for; the same scene always renders to the same bytes at any size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scene {
    /// The words it came from.
    pub prompt: String,
    /// What stands in it.
    pub subjects: Vec<Wanted>,
    /// Where it plays.
    pub setting: Setting,
    /// When it plays.
    pub time: Time,
    /// The weather.
    pub weather: Weather,
    /// The time of year.
    pub season: Season,
    /// How it is made.
    pub style: StyleName,
    /// Colours asked for, in the prompt's own order.
    pub palette: Vec<[u8; 3]>,
    /// The English names of those colours.
    pub palette_names: Vec<String>,
    /// Whether the moon must be full.
    pub full_moon: bool,
    /// What must not be in it, in English.
    pub left_out: Vec<String>,
    /// Source of all choices the words leave open.
    pub(crate) dice: Dice,
    /// Which part of the world is seen.
    pub window: Window,
    /// How strongly the style shows: 1 as usual, towards 0 less, up to 2 more.
    #[serde(default = "usual", skip_serializing_if = "is_usual")]
    pub flair: f32,
    /// Whether the picture meets itself when it is laid edge to edge.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tiled: bool,
    /// Which languages its words are read in.
    #[serde(default, skip_serializing_if = "is_any")]
    pub tongue: Tongue,
    /// Anime characters before everything else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) figures: Vec<Figure>,
    /// Regions that were repainted later.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) patches: Vec<patch::Patch>,
}

fn usual() -> f32 {
    1.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_usual(flair: &f32) -> bool {
    (*flair - 1.0).abs() < f32::EPSILON
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_any(tongue: &Tongue) -> bool {
    *tongue == Tongue::Any
}

impl Scene {
    /// The scene of a prompt; `negative` names what to leave out. Unknown words make an abstract composition.
    pub fn from_prompt(prompt: &str, negative: &str, seed: u64) -> Self {
        Self::from_words((prompt, negative), seed, Tongue::Any)
    }

    /// The scene of a prompt and of what to leave out, read in some languages only.
    pub fn from_words((prompt, negative): (&str, &str), seed: u64, tongue: Tongue) -> Self {
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

    /// The picture of the scene; a ratio other than the window's shows the same area of the world in that shape.
    pub fn render(&self, width: u32, height: u32) -> Picture {
        render::still(self, width, height)
    }

    /// The picture at a moment (0..1) of a moving scene; moment 0 is [`Scene::render`].
    pub fn render_at(&self, width: u32, height: u32, moment: f32, motion: Motion) -> Picture {
        render::moment(self, (width, height), moment, motion)
    }

    /// The seed of its choices.
    pub fn seed(&self) -> u64 {
        self.dice.seed
    }

    /// The same scene made in another style.
    #[must_use]
    pub fn with_style(&self, style: StyleName) -> Self {
        Self {
            style,
            ..self.clone()
        }
    }

    /// Four different prompts that are all true of this scene.
    pub fn describe(&self) -> [String; 4] {
        describe::describe(self)
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

    /// The scene with figures before it, in one style.
    pub(crate) fn painted_with(
        &self,
        frame: &Frame,
        figures: &[Item],
        style: &dyn crate::style::Style,
    ) -> Canvas {
        render::with_figures(self, frame, figures, style)
    }

    /// Whether a thing must not be in the scene.
    pub(crate) fn leaves_out(&self, name: &str) -> bool {
        self.left_out.iter().any(|word| word == name)
    }

    /// Whether anything in it needs ground to stand on.
    pub(crate) fn stands_on_ground(&self) -> bool {
        use crate::subject::Habitat;
        self.subjects
            .iter()
            .any(|one| matches!(one.kind.habitat, Habitat::Ground | Habitat::Table))
    }
}

/// Where the subjects are at home when the prompt does not say.
fn home(read: &words::Reading, dice: &Dice) -> Setting {
    use crate::subject::Habitat;
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
    if let Some(setting) = words::home_of(&first.key) {
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
