//! The extension of a motion video: at its parent's size, always relaxed.

use super::options::{FAMILY_NAME, LARGE, ModelName, MotionResolution};
use crate::fields::Prompt;
use crate::ids::JobId;
use crate::job::Speed;
use crate::prelude::*;

/// How much longer the video becomes.
const SECONDS: u32 = 5;

/// Extends an earlier video.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "MotionExtend")]
pub struct MotionExtend {
    /// Job of the video that is extended.
    pub job_id: JobId,
    /// What happens in the extension.
    pub user_prompt: Prompt,
    /// URL that receives the result.
    #[serde(default, alias = "hook_url", skip_serializing_if = "Option::is_none")]
    pub hook_url: Option<HookUrl>,
    /// The model that extends the video.
    #[serde(default)]
    pub model_name: ModelName,
}

impl Operation for MotionExtend {
    fn parent(&self) -> Option<JobId> {
        Some(self.job_id.clone())
    }

    fn prompts(&self) -> Vec<(String, &str)> {
        vec![("userPrompt".into(), &*self.user_prompt)]
    }

    fn order(&self, context: ReferencedJobs<'_>) -> Result<Order, Refusal> {
        let parent = context.finished_parent("jobId", FAMILY_NAME)?;
        let video = parent.file(0).ok_or_else(Refusal::job_not_found)?;
        let resolution = parent
            .text("resolution")
            .and_then(MotionResolution::from_word)
            .unwrap_or_default();
        let mut brief = Brief::new(Task::Extend(0))
            .words(&self.user_prompt)
            .sized((video.width, video.height))
            .by_model(self.model_name.word());
        brief.seconds = SECONDS;
        brief.covers = true;
        let mut price = Price::of("motion.extend");
        if resolution == MotionResolution::P1080 {
            price = price.factor(LARGE);
        }
        Ok(Order::new(price, brief)
            .at(Speed::Relax)
            .hook(self.hook_url.as_ref())
            .resolve("resolution", resolution.word()))
    }
}
