//! A finished video without its watermark.

use super::options::FAMILY_NAME;
use crate::fields::DeferredField;
use crate::ids::JobId;
use crate::prelude::*;
use crate::refusal::Code;

/// Converts a produced video to one without a watermark; at least one of `jobId` and `url` is needed, `jobId` wins. Fields
/// may also stand in the query.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Unmark")]
pub struct VidgenNoWatermark {
    /// A finished vidgen job, also as `job_id`.
    #[serde(default, rename = "jobId", skip_serializing_if = "Option::is_none")]
    pub job_id: Option<JobId>,
    /// URL of a produced video; ignored if `jobId` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-widget" = "video"))]
    pub url: Option<DeferredField<ImageUrl>>,
    /// URL that receives the result.
    #[serde(
        default,
        rename = "hookUrl",
        alias = "hook_url",
        skip_serializing_if = "Option::is_none"
    )]
    pub hook_url: Option<HookUrl>,
}

impl Operation for VidgenNoWatermark {
    const SPELLINGS: &'static [(&'static str, &'static str)] = &[("jobId", "job_id")];

    fn parent(&self) -> Option<JobId> {
        self.job_id.clone()
    }

    fn order(&self, context: ReferencedJobs<'_>) -> Result<Order, Refusal> {
        let brief = Brief::new(Task::Unmark);
        let price = Price::of("vidgen.no_watermark");
        if self.job_id.is_none() {
            let Some(url) = &self.url else {
                let message = "one of jobId and url is required";
                return Err(Refusal::field(Code::MissingParameter, "jobId", message));
            };
            let video = Some(("url".to_owned(), url.get("url")?.clone()));
            let order = Order::new(price, Brief { video, ..brief });
            return Ok(order.hook(self.hook_url.as_ref()));
        }
        let parent = context.finished_parent("jobId", FAMILY_NAME)?;
        let video = parent
            .file(0)
            .filter(|_| parent.operation != "vidgen.characters")
            .ok_or_else(|| {
                let message = "must be a job with a video, this one has none";
                Refusal::field(Code::ActionNotAvailable, "jobId", message)
            })?;
        let inherited = |field: &str| parent.request.get(field).cloned().unwrap_or_default();
        let brief = brief
            .words(parent.text("prompt").unwrap_or_default())
            .sized((video.width, video.height));
        Ok(Order::new(price, brief)
            .hook(self.hook_url.as_ref())
            .resolve("model", inherited("model"))
            .resolve("prompt", inherited("prompt"))
            .resolve("referImages", inherited("referImages"))
            .resolve("duration", inherited("duration")))
    }
}
