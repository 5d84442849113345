//! The brief: a neutral summary of what to make, enough for any general back end and for the embedded engine.

use serde_json::Value;

use crate::body::Fields;
use crate::fields::{ImageData, ImageUrl};
use crate::pages::cost::UnitCost;
use crate::refusal::Refusal;

mod hint;
mod source;

pub use hint::{Hint, HintKind};
pub use source::{MEGABYTE, Source, SourceRule};

/// The direction a canvas is widened in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// New canvas on the left side.
    Left,
    /// New canvas on the right side.
    Right,
    /// New canvas above the image.
    Up,
    /// New canvas below the image.
    Down,
}

/// What kind of work it is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Task {
    /// Pictures from words, with optional reference pictures.
    #[default]
    Draw,
    /// One picture of the parent's grid, large. Counted from 0.
    Upsample(u8),
    /// Variations of one picture of the parent: which (`None` for a single picture), and whether strong.
    Vary(Option<u8>, bool),
    /// The parent's picture, enlarged: factor, and whether details may be invented.
    Enlarge(u32, bool),
    /// The parent's canvas widened on all sides, in tenths.
    ZoomOut(u32),
    /// The parent's canvas widened in one direction.
    Pan(Direction),
    /// The parent's canvas made square.
    Square,
    /// The parent's prompt again with new seeds.
    Reroll,
    /// A masked region made anew.
    Repaint,
    /// Several source images merged into one.
    Blend,
    /// Prompts for a picture.
    Describe,
    /// The seed of the parent.
    Seed,
    /// A picture changed toward words by a strength.
    Restyle,
    /// A picture edited after words, with an optional mask.
    Edit,
    /// A new background behind the subject.
    ReplaceBackground,
    /// The subject alone, on transparency.
    RemoveBackground,
    /// A raster turned into a vector drawing.
    Vectorize,
    /// The source, sharper and larger, with nothing invented.
    CrispUpscale,
    /// Larger with refined details.
    CreativeUpscale,
    /// A video from words, frames or references.
    Animate,
    /// The parent's video number so-and-so carried on.
    Extend(u8),
    /// A character taken from a video.
    Character,
    /// The parent's video, or one at an address, without its mark.
    Unmark,
    /// The face of the second source put into the first.
    SwapFace,
    /// A picture of anime characters.
    Anime,
}

impl Task {
    /// Whether both are the same kind of work, whatever its numbers.
    pub fn is_like(self, other: Self) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }

    /// Whether what comes of it is a changed version of what was given, and no new thing.
    pub const fn changes(self) -> bool {
        matches!(
            self,
            Self::Upsample(_)
                | Self::Enlarge(..)
                | Self::ZoomOut(_)
                | Self::Pan(_)
                | Self::Square
                | Self::Repaint
                | Self::Restyle
                | Self::Edit
                | Self::ReplaceBackground
                | Self::RemoveBackground
                | Self::Vectorize
                | Self::CrispUpscale
                | Self::CreativeUpscale
                | Self::Extend(_)
                | Self::Unmark
                | Self::SwapFace
        )
    }

    /// Whether a clip comes of it.
    pub const fn is_video(self) -> bool {
        matches!(self, Self::Animate | Self::Extend(_) | Self::Unmark)
    }
}

/// A picture file format with what belongs to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// PNG, which is lossless and has no quality.
    #[default]
    Png,
    /// JPEG with a quality of 0 to 100.
    Jpeg(u8),
    /// WebP with a quality of 0 to 100.
    Webp(u8),
}

/// How finely a video is made at its size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VideoDefinition {
    /// As its size says.
    #[default]
    BySize,
    /// In standard definition, whatever its size.
    Standard,
    /// In high definition, whatever its size.
    High,
}

/// What a back end is asked to make: everything of a request that matters to it, in no family's words.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each switch is a wish of its own, not a state of one machine"
)]
pub struct Brief {
    /// The kind of work.
    pub task: Task,
    /// The model the caller named, or the family's default.
    pub model: String,
    /// What the chosen back end calls that model, where the operator's route to it says so. It is set once a worker account
    /// is chosen, and wins over the back end's own mapping.
    pub vendor_model: Option<String>,
    /// What the operator's route to the chosen back end says that making it takes. It wins over the back end's own costs.
    pub unit_cost: Option<UnitCost>,
    /// The words, without flags.
    pub prompt: String,
    /// What the image must not show.
    pub negative: String,
    /// How many results to make.
    pub count: u32,
    /// Width of each result in pixels; 0 leaves it to the source.
    pub width: u32,
    /// Height of each result in pixels; 0 leaves it to the source.
    pub height: u32,
    /// Four pictures in one, as artgen shows them.
    pub grid: bool,
    /// Whether the four pictures are also wanted one by one.
    pub small_images: bool,
    /// Whether the picture of the job that is followed shows four in one.
    pub of_grid: bool,
    /// Whether the words are to be translated first.
    pub translate: bool,
    /// Seed, when the caller fixed it.
    pub seed: Option<u64>,
    /// Whether the caller reads in the result which seed was used.
    pub tells_seed: bool,
    /// How far from the source, 0 to 1.
    pub strength: f64,
    /// Images that the work starts from or refers to, in the caller's order.
    pub sources: Vec<Source>,
    /// Pictures that only lend their style or the looks of their subject.
    pub hints: Vec<Hint>,
    /// White (or transparent, for edits) where the work is to happen.
    pub mask: Option<Source>,
    /// Which of the sources a video must end on, counted from 0; it begins with the other one.
    pub last_frame: Option<usize>,
    /// Address of an input video, with the field it came from.
    pub video: Option<(String, ImageUrl)>,
    /// The part of the input video that matters, from and to in seconds.
    pub span: Option<(f64, f64)>,
    /// Pixels of the shorter side of a video whose shape is left to its source; 0 when the size is given.
    pub short_side: u32,
    /// How finely a video is made.
    pub definition: VideoDefinition,
    /// Length of a video.
    pub seconds: u32,
    /// The sources are frames of the video itself; otherwise they are references for its words.
    pub of_frames: bool,
    /// The first and the last frame are shown beside a video.
    pub covers: bool,
    /// A video carries a mark, which a later job may take off.
    pub marked: bool,
    /// Whether a video may move much.
    pub high_motion: bool,
    /// First and last frame equal.
    pub looped: bool,
    /// File format of pictures.
    pub format: Format,
    /// Whether pictures get a transparent background.
    pub transparent: bool,
    /// What the caller said in the words of picture models: `quality`, `background`, `moderation`, `style`.
    pub model_words: Fields,
    /// What only one family knows of; adapters that serve it look inside.
    pub extra: Value,
}

impl Brief {
    /// A brief for one result of a kind.
    pub fn new(task: Task) -> Self {
        Self {
            task,
            model: String::new(),
            vendor_model: None,
            unit_cost: None,
            prompt: String::new(),
            negative: String::new(),
            count: 1,
            width: 0,
            height: 0,
            grid: false,
            small_images: false,
            of_grid: false,
            translate: false,
            seed: None,
            tells_seed: false,
            strength: 0.5,
            sources: Vec::new(),
            hints: Vec::new(),
            mask: None,
            last_frame: None,
            video: None,
            span: None,
            short_side: 0,
            definition: VideoDefinition::BySize,
            seconds: 0,
            of_frames: false,
            covers: false,
            marked: false,
            high_motion: false,
            looped: false,
            format: Format::Png,
            transparent: false,
            model_words: Fields::new(),
            extra: Value::Null,
        }
    }

    /// Sets the prompt, without flags.
    #[must_use]
    pub fn words(mut self, prompt: &str) -> Self {
        prompt.clone_into(&mut self.prompt);
        self
    }

    /// Sets what to leave out.
    #[must_use]
    pub fn without(mut self, negative: Option<&str>) -> Self {
        negative.unwrap_or("").clone_into(&mut self.negative);
        self
    }

    /// Sets the model by the name the caller used.
    #[must_use]
    pub fn by_model(mut self, model: &str) -> Self {
        model.clone_into(&mut self.model);
        self
    }

    /// Sets the size of each result.
    #[must_use]
    pub fn sized(mut self, (width, height): (u32, u32)) -> Self {
        (self.width, self.height) = (width, height);
        self
    }

    /// Sets how many results.
    #[must_use]
    pub fn times(mut self, count: u32) -> Self {
        self.count = count;
        self
    }

    /// Adds an input picture.
    #[must_use]
    pub fn from(self, field: impl Into<String>, image: ImageData) -> Self {
        self.from_with_rule(field, image, SourceRule::ANY)
    }

    /// Adds an input picture that must meet a rule.
    #[must_use]
    pub fn from_with_rule(
        mut self,
        field: impl Into<String>,
        image: ImageData,
        wanted: SourceRule,
    ) -> Self {
        self.sources.push(Source {
            field: field.into(),
            image,
            wanted,
        });
        self
    }

    /// Adds an input picture given by address.
    #[must_use]
    pub fn from_url(self, field: impl Into<String>, url: &ImageUrl) -> Self {
        self.from(field, ImageData::Url(url.clone()))
    }

    /// Adds a picture that only lends something, given by address.
    #[must_use]
    pub fn hinted(mut self, lends: HintKind, field: impl Into<String>, url: &ImageUrl) -> Self {
        let source = Source {
            field: field.into(),
            image: ImageData::Url(url.clone()),
            wanted: SourceRule::ANY,
        };
        self.hints.push(Hint { lends, source });
        self
    }

    /// Sets the mask, which must meet a rule.
    #[must_use]
    pub fn masked(
        mut self,
        field: impl Into<String>,
        image: ImageData,
        wanted: SourceRule,
    ) -> Self {
        self.mask = Some(Source {
            field: field.into(),
            image,
            wanted,
        });
        self
    }

    /// Adds the picture a video must end on.
    #[must_use]
    pub fn ending_on(mut self, field: impl Into<String>, url: &ImageUrl) -> Self {
        self.last_frame = Some(self.sources.len());
        self.from_url(field, url)
    }

    /// Every input picture, the mask last.
    pub fn inputs(&self) -> impl Iterator<Item = &Source> {
        let hints = self.hints.iter().map(|hint| &hint.source);
        self.sources.iter().chain(hints).chain(self.mask.as_ref())
    }

    /// Holds every picture that came inline against its rule. Pictures given by address are checked the same way,
    /// with [`Source::check`], once they have been fetched.
    pub fn check_inline(&self) -> Result<(), Refusal> {
        let first = self
            .sources
            .first()
            .and_then(|source| source.image.header());
        for source in self.inputs() {
            if let ImageData::Inline(inline) = &source.image
                && let (Some(header), Some(bytes)) = (inline.header, &inline.bytes)
            {
                source.check(header, bytes.len() as u64, first)?;
            }
        }
        Ok(())
    }
}
