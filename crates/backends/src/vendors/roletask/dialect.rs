//! What the makers have in common, as the columns of a table.

use serde_json::Value;

use super::settings::Settings;
use crate::answers::{ErrorWords, Rule};
use crate::http::VendorCall;
use crate::models::Makes;
use crate::tasks::{Brought, Films, Heard, Pictures, Scene, Sheet};

/// How one maker writes and reads.
pub(super) struct Dialect {
    pub(super) video_model: &'static str,
    /// None where it makes no pictures.
    pub(super) image_model: Option<&'static str>,
    pub(super) makes: Makes,
    /// What a video model can do.
    pub(super) films: fn(&str) -> Films,
    /// What the image models can do.
    pub(super) pictures: Pictures,
    /// Whether videos and pictures take seeds.
    pub(super) seeds: (bool, bool),
    /// The call for a video.
    pub(super) film: fn(&Order<'_>, &Scene) -> VendorCall,
    /// The call for a picture.
    pub(super) paint: fn(&Order<'_>, &Sheet) -> VendorCall,
    /// The task in the answer to a start.
    pub(super) task: fn(&Value) -> Option<Value>,
    /// The pictures in the answer to a call for them.
    pub(super) painted: fn(&mut Heard) -> Brought,
    pub(super) question: fn(&Value) -> VendorCall,
    /// What a document says about a task.
    pub(super) told: fn(&Value) -> Option<State>,
    pub(super) stop: Option<fn(&Value) -> VendorCall>,
    /// The refusal that a document with a good status is, if it is one.
    pub(super) refusal: fn(&Value) -> Option<ErrorWords>,
    pub(super) rules: &'static [Rule],
    /// The question that finds a start again by the attempt, where there is one.
    pub(super) lost: Option<fn(&str) -> VendorCall>,
    pub(super) found: fn(&Value) -> Option<Value>,
    pub(super) probe: fn() -> VendorCall,
}

/// What a task is in.
pub(super) enum State {
    Running,
    Done(Brought),
    Failed(ErrorWords),
    /// The vendor does not know it any more.
    Gone,
}

/// What a call is made of beside the scene or the sheet.
pub(super) struct Order<'a> {
    pub(super) model: &'a str,
    /// The attempt, with the place of the start.
    pub(super) token: String,
    pub(super) settings: &'a Settings,
    pub(super) seed: Option<u64>,
    pub(super) hook_url: Option<&'a str>,
}
