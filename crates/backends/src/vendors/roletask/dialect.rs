//! What the makers have in common, as the columns of a table.

use serde_json::{Value, json};

use super::settings::RoleTaskSettings;
use crate::http::VendorRequest;
use crate::inputs::data_uri;
use crate::models::SupportedTasks;
use crate::task_vendor::{
    ImageCapabilities, ImageRequest, TaskReply, TaskResult, VideoCapabilities, VideoRequest,
};
use crate::vendor_errors::{ErrorRule, VendorError};

/// How one maker writes and reads.
pub(super) struct MakerDialect {
    pub(super) video_model: &'static str,
    /// None where it makes no pictures.
    pub(super) image_model: Option<&'static str>,
    pub(super) makes: SupportedTasks,
    /// What a video model can do.
    pub(super) films: fn(&str) -> VideoCapabilities,
    /// What the image models can do.
    pub(super) pictures: ImageCapabilities,
    /// Whether videos and pictures take seeds.
    pub(super) seeds: (bool, bool),
    /// The call for a video.
    pub(super) film: fn(&CallParams<'_>, &VideoRequest) -> VendorRequest,
    /// The call for a picture.
    pub(super) paint: fn(&CallParams<'_>, &ImageRequest) -> VendorRequest,
    /// The task in the answer to a start, of a video that begins with a picture or does not.
    pub(super) task: fn(&Value, bool) -> Option<Value>,
    /// The pictures in the answer to a call for them.
    pub(super) painted: fn(&mut TaskReply) -> TaskResult,
    pub(super) poll_request: fn(&Value) -> VendorRequest,
    /// What a document says about a task.
    pub(super) task_status: fn(&Value) -> Option<MakerTaskState>,
    pub(super) stop: Option<fn(&Value) -> VendorRequest>,
    /// The refusal that a document with a good status is, if it is one.
    pub(super) refusal: fn(&Value) -> Option<VendorError>,
    pub(super) rules: &'static [ErrorRule],
    /// The question that finds a start again by the attempt, where there is one.
    pub(super) lost: Option<fn(&str) -> VendorRequest>,
    pub(super) found: fn(&Value) -> Option<Value>,
    pub(super) probe: fn() -> VendorRequest,
}

/// How a task stands at the maker.
pub(super) enum MakerTaskState {
    Running,
    /// It is done, and this says where its file is.
    Next(Value),
    Done(TaskResult),
    Failed(VendorError),
    /// The vendor does not know it any more.
    Gone,
}

/// What a call is made of beside the scene or the sheet.
pub(super) struct CallParams<'a> {
    pub(super) model: &'a str,
    /// The attempt, with the place of the start.
    pub(super) token: String,
    pub(super) settings: &'a RoleTaskSettings,
    pub(super) seed: Option<u64>,
    pub(super) hook_url: Option<&'a str>,
}

/// The pictures of a video, each with its role: the first frame, the last one, then the references.
pub(super) fn pictures_with_roles(
    scene: &VideoRequest,
    reference_role: &str,
    picture: impl Fn(&[u8], &str) -> Value,
) -> Vec<Value> {
    let first = scene
        .first
        .iter()
        .map(|bytes| picture(bytes, "first_frame"));
    let last = scene.last.iter().map(|bytes| picture(bytes, "last_frame"));
    let references = scene.references.iter();
    let references = references.map(|bytes| picture(bytes, reference_role));
    first.chain(last).chain(references).collect()
}

/// A picture as a part of a chat message.
pub(super) fn image_url(bytes: &[u8], role: &str) -> Value {
    json!({"type": "image_url", "image_url": {"url": data_uri(bytes)}, "role": role})
}
