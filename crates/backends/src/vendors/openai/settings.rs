//! What an operator may set: which models serve what, and how the server's dialect differs from the original.

use std::collections::BTreeSet;
use std::time::Duration;

use atelier_contract::brief::Task;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::renames::FieldNames;
use super::usage::TokenPrices;
use crate::field_error::FieldError;
use crate::fit::Size;
use crate::models::{ModelSettings, Models, SupportedTasks, UsualModels};
use crate::vendor::{read_flattened, schema_of};

/// What the models make: pictures, and videos one at a time.
const MAKES: SupportedTasks = SupportedTasks {
    images: &[
        Task::Draw,
        Task::Edit,
        Task::Repaint,
        Task::ReplaceBackground,
    ],
    videos: true,
    clips_in_fours: false,
};
/// The sizes of the models before those that make any.
const OLDER_SIZES: &[Size] = &[(1024, 1024), (1536, 1024), (1024, 1536)];
/// The smallest pictures of the newer models have so many pixels.
const LEAST_PIXELS: u32 = 655_360;
/// No dialect takes more pictures in one call.
const MOST_IMAGES: u32 = 10;
/// No single call is waited for longer.
const LONGEST_CALL_SECONDS: u64 = 3600;

/// A server whose habits are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ServerDialect {
    /// The original.
    #[default]
    Openai,
    /// LocalAI: pictures to edit go inline, the negative prompt follows a `|`, videos are answered in the call.
    Localai,
    /// SGLang diffusion.
    Sglang,
    /// vLLM-Omni, the server of vLLM for generated media.
    VllmOmni,
    /// The server of stable-diffusion.cpp.
    Sdcpp,
}

/// Which way a mask says where to work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum MaskStyle {
    /// By its alpha.
    Transparent,
    /// By white on black.
    White,
}

/// How what to leave out is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum NegativeStyle {
    /// At the end of the prompt, in words.
    Words,
    /// In a field of its own.
    Field,
    /// After a `|` in the prompt.
    Pipe,
}

/// The settings as they are written; what is left out follows the dialect.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct RawOpenAiSettings {
    dialect: ServerDialect,
    #[serde(flatten)]
    models: ModelSettings,
    key_header: bool,
    organization: Option<String>,
    project: Option<String>,
    free: Option<bool>,
    response_format: Option<String>,
    seconds_as_text: Option<bool>,
    mask: Option<MaskStyle>,
    negative: Option<NegativeStyle>,
    image_field: Option<String>,
    image_sizes: Option<Vec<String>>,
    image_step: Option<u32>,
    image_least_pixels: Option<u32>,
    frames_per_second: Option<u32>,
    images_per_call: Option<u32>,
    partial_images: u8,
    #[serde(flatten)]
    names: FieldNames,
    /// Dollars for a million tokens, by which what a call took is counted.
    token_prices: Option<TokenPrices>,
    video_sizes: Option<Vec<String>>,
    video_seconds: Option<Vec<u32>>,
    video_extensions: Option<bool>,
    poll_seconds: Option<u32>,
    timeout_seconds: Option<u64>,
}

/// What may be written, for forms.
pub(super) fn schema() -> Value {
    let mut schema = schema_of::<RawOpenAiSettings>();
    schema["anyOf"] = Models::one_of_required();
    schema
}

/// The settings of a worker account.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each switch is a habit of its own, not a state of one machine"
)]
pub(super) struct OpenAiSettings {
    pub(super) dialect: ServerDialect,
    models: Models,
    /// The credential goes into `api-key` instead of a bearer.
    pub(super) key_header: bool,
    pub(super) organization: Option<String>,
    pub(super) project: Option<String>,
    /// Making costs nothing, so a lost submit is simply repeated.
    pub(super) free: bool,
    /// What is sent as `response_format`; nothing when `None`.
    pub(super) response_format: Option<String>,
    /// Whether `seconds` is a text.
    pub(super) seconds_as_text: bool,
    pub(super) mask: MaskStyle,
    pub(super) negative: NegativeStyle,
    /// The name of the parts that carry pictures to edit, where it is neither `image` nor `image[]`.
    pub(super) image_field: Option<String>,
    /// The only sizes of pictures, where the operator knows them; any when empty.
    image_sizes: Option<Vec<Size>>,
    /// Pictures with fewer pixels are asked for larger.
    pub(super) image_least_pixels: u32,
    /// Frames of a second, for servers that count frames.
    pub(super) frames_per_second: u32,
    /// Sides of pictures are multiples of this.
    pub(super) image_step: u32,
    pub(super) images_per_call: u32,
    /// What the fields of a call for pictures are called.
    pub(super) names: FieldNames,
    /// Pictures on the way that are asked for, to say how far it is.
    pub(super) partial_images: u8,
    /// What a million tokens costs, where the operator says so.
    pub(super) token_prices: Option<TokenPrices>,
    /// The only sizes of videos; any when empty.
    pub(super) video_sizes: Vec<Size>,
    /// The only lengths of videos; any when empty.
    pub(super) video_seconds: Vec<u32>,
    /// Whether the server extends videos itself; otherwise a new one begins with the last frame.
    pub(super) video_extensions: bool,
    pub(super) poll: Duration,
    pub(super) timeout: Duration,
}

/// The sizes of videos of the original.
const VIDEO_SIZES: [&str; 4] = ["720x1280", "1280x720", "1024x1792", "1792x1024"];

impl OpenAiSettings {
    /// Reads an operator's settings.
    pub(super) fn read(written: Value) -> Result<Self, FieldError> {
        let written: RawOpenAiSettings = read_flattened(written)?;
        let settings = Self::of(written)?;
        settings.models.check()?;
        settings.names.check()?;
        Ok(settings)
    }

    fn of(written: RawOpenAiSettings) -> Result<Self, FieldError> {
        let token_prices = written.token_prices;
        if token_prices.is_some_and(|prices| !prices.is_sensible()) {
            let message = "must be dollars for a million tokens";
            return Err(FieldError::new("token_prices", message));
        }
        let dialect = written.dialect;
        let original = dialect == ServerDialect::Openai;
        let videos = written.video_sizes;
        let usual = || VIDEO_SIZES.iter().map(|&size| size.to_owned()).collect();
        let videos = videos.unwrap_or_else(|| if original { usual() } else { Vec::new() });
        let image_sizes = written.image_sizes;
        let image_sizes = image_sizes.map(|sizes| read_sizes("image_sizes", &sizes));
        let response_format = match (written.response_format, dialect) {
            (Some(given), _) => Some(given).filter(|given| !given.is_empty()),
            (None, ServerDialect::Openai | ServerDialect::Sdcpp) => None,
            (None, _) => Some("b64_json".to_owned()),
        };
        let white = matches!(
            dialect,
            ServerDialect::Localai | ServerDialect::Sglang | ServerDialect::Sdcpp
        );
        let negative = match dialect {
            ServerDialect::Localai => NegativeStyle::Pipe,
            ServerDialect::Sglang | ServerDialect::VllmOmni => NegativeStyle::Field,
            ServerDialect::Openai | ServerDialect::Sdcpp => NegativeStyle::Words,
        };
        let seconds = if original { vec![4, 8, 12] } else { Vec::new() };
        let timeout = written.timeout_seconds.unwrap_or(600);
        let poll = written
            .poll_seconds
            .unwrap_or(if original { 10 } else { 2 });
        Ok(Self {
            dialect,
            models: written.models.unchecked(MAKES, UsualModels::default()),
            key_header: written.key_header,
            organization: written.organization,
            project: written.project,
            free: written.free.unwrap_or(!original),
            response_format,
            seconds_as_text: written
                .seconds_as_text
                .unwrap_or(dialect != ServerDialect::Sglang),
            mask: written.mask.unwrap_or(if white {
                MaskStyle::White
            } else {
                MaskStyle::Transparent
            }),
            negative: written.negative.unwrap_or(negative),
            image_field: written.image_field,
            image_sizes: image_sizes.transpose()?,
            image_least_pixels: written.image_least_pixels.unwrap_or(if original {
                LEAST_PIXELS
            } else {
                0
            }),
            image_step: written.image_step.unwrap_or(16),
            frames_per_second: written.frames_per_second.unwrap_or(16).clamp(1, 120),
            images_per_call: written
                .images_per_call
                .unwrap_or(MOST_IMAGES)
                .clamp(1, MOST_IMAGES),
            names: written.names,
            partial_images: written.partial_images.min(3),
            token_prices,
            video_sizes: read_sizes("video_sizes", &videos)?,
            video_seconds: written.video_seconds.unwrap_or(seconds),
            video_extensions: written.video_extensions.unwrap_or(original),
            poll: Duration::from_secs(poll.clamp(1, 300).into()),
            timeout: Duration::from_secs(timeout.clamp(1, LONGEST_CALL_SECONDS)),
        })
    }

    /// The only sizes of pictures that a model makes; any when empty.
    pub(super) fn image_sizes(&self, model: &str) -> &[Size] {
        match &self.image_sizes {
            Some(sizes) => sizes,
            None if self.dialect == ServerDialect::Openai && is_older(model) => OLDER_SIZES,
            None => &[],
        }
    }

    /// Whether a model is named for an operation.
    pub(super) fn serves(&self, operation: &str) -> bool {
        self.models.serves(operation)
    }

    /// Every model that the server has to know.
    pub(super) fn model_names(&self) -> BTreeSet<&str> {
        self.models.names()
    }

    /// The vendor's name of one of our models.
    pub(super) fn model(&self, operation: &str, ours: &str) -> Option<&str> {
        self.models.of(operation, ours)
    }
}

/// Whether a model is one of those that make three sizes only.
fn is_older(model: &str) -> bool {
    let names = ["gpt-image-1", "chatgpt-image", "dall-e"];
    names.iter().any(|name| model.starts_with(name))
}

/// Widths and heights of texts such as `1024x1536`.
fn read_sizes(field: &str, texts: &[String]) -> Result<Vec<Size>, FieldError> {
    let read = |text: &String| read_size(text).map_err(|why| FieldError::new(field, why));
    texts.iter().map(read).collect()
}

/// Width and height of a text such as `1024x1536`.
fn read_size(text: &str) -> Result<Size, String> {
    let side = |text: &str| text.parse().ok().filter(|side| (1..=16_384).contains(side));
    text.split_once('x')
        .and_then(|(width, height)| Some((side(width)?, side(height)?)))
        .ok_or_else(|| format!("{text:?} is not a size such as 1024x1536"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn models_are_found_by_operation_and_by_our_name() {
        let settings = OpenAiSettings::read(json!({
            "image_model": "gpt-image-2",
            "models": {
                "imgmodel.edits": "edit-model",
                "vidgen.generations": {"video-2": "sora-2", "*": "sora-2-pro"},
            },
        }))
        .expect("good settings");
        assert_eq!(
            settings.model("imgmodel.generations", "image-1"),
            Some("gpt-image-2")
        );
        assert_eq!(
            settings.model("imgmodel.edits", "image-1"),
            Some("edit-model")
        );
        assert_eq!(
            settings.model("vidgen.generations", "video-2"),
            Some("sora-2")
        );
        assert_eq!(
            settings.model("vidgen.generations", "video-2-pro"),
            Some("sora-2-pro")
        );
        assert!(settings.serves("vidgen.generations") && !settings.serves("clipgen.generations"));
        assert!(!settings.serves("artgen.imagine") && !settings.serves("artgen.describe"));
    }

    #[test]
    fn wrong_settings_are_named() {
        for (settings, word) in [
            (json!({}), "image_model"),
            (json!({"image_model": "x", "imagemodel": 1}), "imagemodel"),
            (json!({"image_model": "x", "image_sizes": ["big"]}), "big"),
            (
                json!({"models": {"artgen.describe": "x"}}),
                "artgen.describe",
            ),
            (json!({"image_model": "x", "dialect": "klingon"}), "klingon"),
        ] {
            let error = OpenAiSettings::read(settings).expect_err("bad settings");
            let error = error.to_string();
            assert!(error.contains(word), "{error}");
        }
    }

    #[test]
    fn a_dialect_sets_what_is_left_out() {
        let settings =
            OpenAiSettings::read(json!({"image_model": "x", "dialect": "sglang"})).expect("good");
        assert_eq!(settings.response_format.as_deref(), Some("b64_json"));
        assert!(settings.free && !settings.seconds_as_text && settings.image_sizes("x").is_empty());
        assert_eq!(settings.mask, MaskStyle::White);
        let written = json!({"image_model": "x", "dialect": "sglang", "response_format": "", "mask": "transparent"});
        let settings = OpenAiSettings::read(written).expect("good");
        assert_eq!(settings.response_format, None);
        assert_eq!(settings.mask, MaskStyle::Transparent);
    }
}
