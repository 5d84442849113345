//! One ComfyUI server, as all files of this vendor see it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio_util::task::TaskTracker;

use super::settings::ComfyUiSettings;
use crate::http::{VendorHttp, VendorRequest};

/// How long a call may take that goes before a prompt, or brings it.
pub(super) const CALL: Duration = Duration::from_secs(30);

#[derive(Clone)]
pub(super) struct ComfyUi {
    pub(super) http: VendorHttp,
    pub(super) settings: Arc<ComfyUiSettings>,
    /// Listeners and stops that go on when nobody waits any more.
    pub(super) cleanup_tasks: TaskTracker,
}

impl ComfyUi {
    /// Takes prompts out of the queue, and interrupts those that run, but nobody else's.
    pub(super) async fn stop(&self, ids: &[String]) {
        for id in ids {
            let calls = [
                VendorRequest::post_json("queue", &json!({"delete": [id]})),
                VendorRequest::post_json("interrupt", &json!({"prompt_id": id})),
            ];
            for call in calls {
                if let Err(fault) = self.http.ask(call).await {
                    tracing::info!(detail = %fault.detail, "a cancelled prompt could not be interrupted");
                }
            }
        }
    }
}
