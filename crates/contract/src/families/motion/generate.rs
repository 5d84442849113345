//! A new motion video.

use super::options::{
    Duration, LARGE, LONG, ModelName, MotionAspectRatio, MotionResolution, UseMode, size,
};
use crate::fields::{Flag, Prompt};
use crate::job::Speed;
use crate::prelude::*;

/// Makes a video from a prompt and optional start and end frames.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "MotionGenerations")]
pub struct MotionGenerations {
    /// What happens; English gives the best results.
    pub user_prompt: Prompt,
    /// URL of the start frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_url: Option<ImageUrl>,
    /// URL of the end frame; it has effect only with `motion-v1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-hint" = "only with `motion-v1`"))]
    pub image_end_url: Option<ImageUrl>,
    /// URL that receives the result.
    #[serde(default, alias = "hook_url", skip_serializing_if = "Option::is_none")]
    pub hook_url: Option<HookUrl>,
    /// Whether the first and the last frame are equal.
    #[serde(default, rename = "loop")]
    pub looped: Flag<false>,
    /// Aspect ratio of the video, width to height.
    #[serde(default)]
    pub aspect_ratio: MotionAspectRatio,
    /// The model that makes the video.
    #[serde(default)]
    pub model_name: ModelName,
    /// Length; `10s` only at 720p.
    #[serde(default)]
    pub duration: Duration,
    /// Resolution of the video.
    #[serde(default)]
    pub resolution: MotionResolution,
    /// Speed mode; the price differs.
    #[serde(default)]
    pub use_mode: UseMode,
}

impl MotionGenerations {
    fn price(&self) -> Price {
        let mut price = Price::of("motion.generations").by(self.use_mode.word());
        if self.duration == Duration::Ten {
            price = price.factor(LONG);
        }
        if self.resolution == MotionResolution::P1080 {
            price = price.factor(LARGE);
        }
        price
    }
}

impl Operation for MotionGenerations {
    fn prompts(&self) -> Vec<(String, &str)> {
        vec![("userPrompt".into(), &*self.user_prompt)]
    }

    fn order(&self, _: ReferencedJobs<'_>) -> Result<Order, Refusal> {
        if self.duration == Duration::Ten && self.resolution != MotionResolution::P720 {
            let message = "10s is only for resolution 720p, allowed at 1080p: 5s";
            return Err(Refusal::invalid("duration", message));
        }
        let mut brief = Brief::new(Task::Animate)
            .words(&self.user_prompt)
            .sized(size(self.aspect_ratio, self.resolution))
            .by_model(self.model_name.word());
        if let Some(start) = &self.image_url {
            brief = brief.from_url("imageUrl", start);
        }
        if let Some(end) = &self.image_end_url
            && self.model_name == ModelName::V1
        {
            brief = brief.ending_on("imageEndUrl", end);
        }
        brief.seconds = match self.duration {
            Duration::Five => 5,
            Duration::Ten => 10,
        };
        brief.of_frames = true;
        brief.covers = true;
        brief.looped = self.looped.on();
        let speed = match self.use_mode {
            UseMode::Fast => Speed::Fast,
            UseMode::Relax => Speed::Relax,
        };
        Ok(Order::new(self.price(), brief)
            .at(speed)
            .mention("imageEndUrl", self.image_end_url.as_ref())
            .hook(self.hook_url.as_ref()))
    }
}
