//! What an operator may set for a WebUI server.

use std::collections::BTreeMap;
use std::time::Duration;

use atelier_contract::brief::{Direction, Task};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::field_error::FieldError;
use crate::vendor::{read_settings, schema_of};

/// What can be done honestly with a picture model.
const SERVED: &[Task] = &[
    Task::Draw,
    Task::Upsample(0),
    Task::Vary(None, false),
    Task::Enlarge(2, false),
    Task::ZoomOut(20),
    Task::Pan(Direction::Left),
    Task::Square,
    Task::Reroll,
    Task::Repaint,
    Task::Seed,
    Task::Edit,
    Task::Restyle,
    Task::ReplaceBackground,
    Task::CrispUpscale,
    Task::CreativeUpscale,
    Task::Anime,
];

/// The settings as they are written.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct RawSdWebUiSettings {
    operations: Option<Vec<String>>,
    checkpoints: BTreeMap<String, String>,
    steps: u32,
    cfg_scale: f64,
    sampler: Option<String>,
    scheduler: Option<String>,
    negative_prompt: String,
    upscaler: String,
    images_per_batch: u32,
    most_pixels: u32,
    exclusive: bool,
    timeout_seconds: u64,
}

impl Default for RawSdWebUiSettings {
    fn default() -> Self {
        Self {
            operations: None,
            checkpoints: BTreeMap::new(),
            steps: 25,
            cfg_scale: 7.0,
            sampler: None,
            scheduler: None,
            negative_prompt: String::new(),
            upscaler: "R-ESRGAN 4x+".to_owned(),
            images_per_batch: 1,
            most_pixels: 2 << 20,
            exclusive: false,
            timeout_seconds: 900,
        }
    }
}

/// What may be written, for forms.
pub(super) fn schema() -> Value {
    schema_of::<RawSdWebUiSettings>()
}

/// The settings of a server.
#[derive(Debug)]
pub(super) struct SdWebUiSettings {
    /// What it is to serve of what it can.
    operations: Option<Vec<String>>,
    checkpoints: BTreeMap<String, String>,
    pub(super) steps: u32,
    pub(super) cfg_scale: f64,
    pub(super) sampler: Option<String>,
    pub(super) scheduler: Option<String>,
    /// Added to what callers want left out.
    pub(super) negative_prompt: String,
    pub(super) upscaler: String,
    /// Pictures the card makes side by side.
    pub(super) images_per_batch: u32,
    /// Pixels one picture may have; larger ones are made smaller and enlarged.
    pub(super) most_pixels: f64,
    /// Nobody else uses the server, so whatever runs while ours does is ours.
    pub(super) exclusive: bool,
    pub(super) timeout: Duration,
}

impl SdWebUiSettings {
    /// Reads an operator's settings.
    pub(super) fn read(written: Value) -> Result<Self, FieldError> {
        let written: RawSdWebUiSettings = read_settings(written)?;
        let mut given = written.operations.iter().flatten();
        if let Some(other) = given.find(|one| !is_served(one)) {
            return Err(FieldError::not_served("operations", other, is_served));
        }
        if !(1.0..=100.0).contains(&written.cfg_scale) && written.cfg_scale != 0.0 {
            return Err(FieldError::new("cfg_scale", "must be from 1 to 100"));
        }
        Ok(Self {
            operations: written.operations,
            checkpoints: written.checkpoints,
            steps: written.steps.clamp(1, 150),
            cfg_scale: written.cfg_scale,
            sampler: written.sampler,
            scheduler: written.scheduler,
            negative_prompt: written.negative_prompt,
            upscaler: written.upscaler,
            images_per_batch: written.images_per_batch.clamp(1, 16),
            most_pixels: f64::from(written.most_pixels.clamp(64 * 64, 1 << 26)),
            exclusive: written.exclusive,
            timeout: Duration::from_secs(written.timeout_seconds.clamp(1, 3600)),
        })
    }

    /// Whether an operation is this vendor's, and one of those the operator wants.
    pub(super) fn serves(&self, operation: &str) -> bool {
        let wanted = |all: &Vec<String>| all.iter().any(|one| one == operation);
        is_served(operation) && self.operations.as_ref().is_none_or(wanted)
    }

    /// The checkpoint for one of our models; what is loaded when none is named.
    pub(super) fn checkpoint(&self, model: &str) -> Option<&str> {
        let named = self
            .checkpoints
            .get(model)
            .or_else(|| self.checkpoints.get("*"));
        named.map(String::as_str)
    }
}

fn is_served(operation: &str) -> bool {
    let entry = atelier_contract::operation(operation);
    entry.is_some_and(|(_, submit)| submit.makes_only(SERVED))
}
