//! inpaint: a region of an earlier picture made anew, in its mode and version.

use super::actions::{ResultKind, result_kind};
use super::flags::Flags;
use super::requests::{FAMILY_NAME, Lineage, grid, member_of, price};
use crate::brief::SourceRule;
use crate::fields::{Count, InlineImage, Prompt};
use crate::ids::JobId;
use crate::job::File;
use crate::prelude::*;
use crate::refusal::Code;

/// Repaints a region of an earlier image.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ArtgenInpaint")]
pub struct ArtgenInpaint {
    /// Earlier job with an image.
    pub job_id: JobId,
    /// Base64 of a black-and-white mask of the same size as the image; white marks the region to repaint.
    #[schemars(extend("x-widget" = "mask", "x-mask" = "white"))]
    pub mask: InlineImage,
    /// Description of the change for the region.
    pub prompt: Prompt,
    /// Seconds until the job fails.
    #[serde(default)]
    pub timeout: Count<10, 1200, 300>,
    /// URL that receives the result.
    #[serde(default, alias = "hook_url", skip_serializing_if = "Option::is_none")]
    pub hook_url: Option<HookUrl>,
}

impl Operation for ArtgenInpaint {
    fn parent(&self) -> Option<JobId> {
        Some(self.job_id.clone())
    }

    fn prompts(&self) -> Vec<(String, &str)> {
        vec![("prompt".into(), &*self.prompt)]
    }

    fn order(&self, context: ReferencedJobs<'_>) -> Result<Order, Refusal> {
        let flags = Flags::read(&self.prompt)?;
        let parent = context.finished_parent("jobId", FAMILY_NAME)?;
        let file = picture(parent)?;
        let wanted = SourceRule {
            size: Some((file.width, file.height)),
            ..SourceRule::KEPT
        };
        let mut lineage = Lineage::of(parent);
        lineage.prompt = self.prompt.to_string();
        lineage.version = flags.version().unwrap_or(lineage.version);
        lineage.seed = flags.seed();
        let mut brief = grid(Task::Repaint, &flags, member_of(parent));
        brief.model = lineage.version.to_string();
        // What is repainted takes its manner from the picture around it.
        brief.hints.clear();
        brief.of_grid = result_kind(parent) == Some(ResultKind::Grid);
        let brief = brief.masked("mask", self.mask.data(), wanted);
        let cost = price("artgen.inpaint", lineage.speed, lineage.version);
        let order = Order::new(cost, brief);
        Ok(lineage.keep(order, self.hook_url.as_ref(), self.timeout.count()))
    }
}

/// The picture of a finished job; describe and seed have none.
pub(super) fn picture(parent: &Job) -> Result<&File, Refusal> {
    result_kind(parent)
        .and_then(|_| parent.file(0))
        .ok_or_else(|| {
            let message = "must be a job with an image, this one has none";
            Refusal::field(Code::ActionNotAvailable, "jobId", message)
        })
}
