//! Callbacks of jobs that came through a compatibility API with callbacks of its own.

use serde_json::Value;

use crate::job::Job;
use crate::kept::{API, KLING};
use crate::{midjourney, video_tasks};

/// What is posted to the callback address of such a job; nothing for jobs that have the usual callback.
pub fn own_callback(job: &Job) -> Option<Value> {
    match job.text(API) {
        Some(KLING) => Some(video_tasks::kling_callback(job)),
        _ => midjourney::callback(job),
    }
}
