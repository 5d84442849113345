//! Anime characters: traits from words, drawn as cel-shaded vector figures before a scene.

mod finish;

use atelier_media::Picture;

use crate::choices::kinds::Time;
use crate::figure;
use crate::figure::stance;
use crate::figure::traits::{Pose, Traits};
use crate::paint::canvas::{Canvas, Frame};
use crate::paint::colour::Rgb;
use crate::scene::Scene;
use crate::scene::render::with_figures;
use crate::scene::window::Window;
use crate::style::cel::Cel;

/// From this influence on references choose the traits that words leave open.
const LEADING: f32 = 0.25;

/// One character: what is said about it and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Character {
    /// Words about this character alone.
    pub prompt: String,
    /// The middle of the character in the picture, 0..1 from the left and from the top.
    pub centre: (f32, f32),
}

/// What an anime picture shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Anime {
    /// Words about the whole picture: background, light, and the character when none is given apart.
    pub prompt: String,
    /// What to leave out.
    pub negative: String,
    /// The same seed gives the same picture.
    pub seed: u64,
    /// Characters with words and places of their own.
    pub characters: Vec<Character>,
    /// Colours of reference pictures, strongest first: they move hair, dress and eyes.
    pub palette: Vec<[u8; 3]>,
    /// How far the references move the traits, 0..1.
    pub influence: f32,
    /// A seed taken from reference pictures: the traits that words leave open are theirs then.
    pub looks: Option<u64>,
    /// The time of day that reference pictures seem to show; words win.
    pub mood: Option<Time>,
    /// How closely it is drawn after the words, 0..10: lower is softer and painterly, higher is sharper.
    pub adherence: f32,
    /// How far it is carried out, 1..50 steps.
    pub steps: u32,
}

impl Anime {
    /// A picture of one character from words.
    pub fn from_prompt(prompt: &str, negative: &str, seed: u64) -> Self {
        Self {
            prompt: prompt.to_owned(),
            negative: negative.to_owned(),
            seed,
            characters: Vec::new(),
            palette: Vec::new(),
            influence: 0.0,
            looks: None,
            mood: None,
            adherence: finish::USUAL_ADHERENCE,
            steps: finish::USUAL_STEPS,
        }
    }

    /// The traits of every character, in order.
    pub fn traits(&self) -> Vec<Traits> {
        let palette: Vec<Rgb> = self
            .palette
            .iter()
            .map(|c| c.map(|v| f32::from(v) / 255.0))
            .collect();
        let led = self.looks.filter(|_| self.influence > LEADING);
        let seed = led.unwrap_or(self.seed);
        let of = |words: &str, index: u64| {
            let mut traits = Traits::from_words(words, seed.wrapping_add(index * 7919));
            traits.lean(&palette, self.influence);
            traits
        };
        if self.characters.is_empty() {
            return vec![of(&self.prompt, 0)];
        }
        self.characters
            .iter()
            .zip(0..)
            .map(|(one, index)| of(&one.prompt, index))
            .collect()
    }

    /// Draws the figure at this size.
    pub fn render(&self, width: u32, height: u32) -> Picture {
        let (width, height) = (width.max(1), height.max(1));
        let mut scene = Scene::backdrop(&self.prompt, &self.negative, self.seed);
        scene = scene.led(self.mood.filter(|_| self.influence > LEADING), None);
        scene = scene.with_aspect((width, height));
        let window: Window = scene.window;
        let frame = Frame {
            width,
            height,
            scale: width as f32 / window.width,
            left: window.left,
            top: window.top,
            camera: (0.0, 0.0),
        };
        let traits = self.traits();
        let crowd = 1.0 / (1.0 + 0.35 * (traits.len() as f32 - 1.0));
        let mut figures = Vec::new();
        for (index, one) in traits.iter().enumerate() {
            let centre = self.characters.get(index).map_or((0.5, 0.5), |c| c.centre);
            let x = window.left + window.width * centre.0.clamp(0.05, 0.95);
            let down = window.height * centre.1.clamp(0.1, 0.9);
            let (y, scale) = match one.pose {
                Pose::Bust => (down - 0.06 * crowd * window.height, 0.0036 * crowd),
                Pose::Full => {
                    let scale = window.height.min(window.width * 1.6) / stance::TALL;
                    (down - stance::MIDDLE * scale, scale)
                }
            };
            figures.extend(figure::items(one, (x, window.top + y), scale));
        }
        let canvas: Canvas = with_figures(&scene, &frame, &figures, &Cel);
        finish::finished(canvas.into_picture(), self.steps, self.adherence, self.seed)
    }
}
