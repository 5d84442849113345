//! Vendors of tasks: a request is sent, gets a name, and is asked about until its files are there. What such vendors
//! have in common is here; each of them says only how it writes and reads.

mod base;
mod capabilities;
mod image_request;
mod outputs;
mod passes;
mod protocol;
mod reply;
mod task_backend;
mod video_request;

pub(crate) use base::{TaskBase, TimingSettings, UsualTiming};
pub(crate) use capabilities::{ANIME, Capabilities, label, refused_field};
pub(crate) use image_request::{ImageCapabilities, ImageRequest, MaskSupport};
pub(crate) use outputs::files_in;
pub(crate) use passes::Passes;
pub(crate) use protocol::{
    FileSource, TaskPlan, TaskResult, TaskStatus, TaskVendor, encoded_id, id, serves_tasks,
};
pub(crate) use reply::{AnswerForm, TaskReply};
pub(crate) use task_backend::TaskBackend;
pub(crate) use video_request::{
    Lengths, VideoCapabilities, VideoRequest, VideoSources, is_video_work, nearest_ratio,
    prompt_text, request_size,
};
