//! New images from an image and words: changed as a whole, in a region, or behind its subject.

use super::model::DesignModel;
use crate::brief::SourceRule;
use crate::fields::{Count, ImageData, Prompt, Real, Text};
use crate::prelude::*;

/// What the three requests have in common: an image, words, a count.
fn brief(task: Task, image: &ImageUrl, prompt: &str, n: u32) -> Brief {
    Brief::new(task)
        .words(prompt)
        .times(n)
        .from_url("image", image)
}

/// Changes an image toward words.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "DesignImageToImage")]
pub struct DesignImageToImage {
    /// Address of the image.
    pub image: ImageUrl,
    /// What to show.
    pub prompt: Prompt,
    /// How far from the image: 0 nearly identical, 1 very different.
    pub strength: Real<0, 1000, 500>,
    /// How many images; the price differs.
    #[serde(default)]
    pub n: Count<1, 6, 1>,
    /// The model.
    #[serde(default)]
    pub model: DesignModel,
    /// What to leave out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub negative_prompt: Option<Text<32000>>,
}

impl Operation for DesignImageToImage {
    fn prompts(&self) -> Vec<(String, &str)> {
        vec![("prompt".into(), &*self.prompt)]
    }

    fn order(&self, _: ReferencedJobs<'_>) -> Result<Order, Refusal> {
        let mut brief = brief(Task::Restyle, &self.image, &self.prompt, self.n.count())
            .by_model(self.model.word())
            .without(self.negative_prompt.as_deref());
        brief.strength = self.strength.get();
        let price = Price::of("design.image_to_image").times(self.n.count());
        Ok(Order::new(price, brief))
    }
}

/// Repaints the white region of a mask.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "DesignInpaint")]
pub struct DesignInpaint {
    /// Address of the image.
    pub image: ImageUrl,
    /// Address of a black-and-white mask of the same size; white marks the region to repaint.
    #[schemars(extend("x-widget" = "mask"))]
    pub mask: ImageUrl,
    /// What to show in the region.
    pub prompt: Prompt,
    /// How many images; the price differs.
    #[serde(default)]
    pub n: Count<1, 6, 1>,
    /// The model.
    #[serde(default)]
    pub model: DesignModel,
    /// What to leave out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub negative_prompt: Option<Text<32000>>,
}

impl Operation for DesignInpaint {
    fn prompts(&self) -> Vec<(String, &str)> {
        vec![("prompt".into(), &*self.prompt)]
    }

    fn order(&self, _: ReferencedJobs<'_>) -> Result<Order, Refusal> {
        let wanted = SourceRule {
            like_first: true,
            ..SourceRule::ANY
        };
        let mask = ImageData::Url(self.mask.clone());
        let brief = brief(Task::Repaint, &self.image, &self.prompt, self.n.count())
            .by_model(self.model.word())
            .without(self.negative_prompt.as_deref())
            .masked("mask", mask, wanted);
        let price = Price::of("design.inpaint").times(self.n.count());
        Ok(Order::new(price, brief))
    }
}

/// Finds the background of an image and changes it.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ReplaceBackground {
    /// Address of the image.
    pub image: ImageUrl,
    /// What to show behind the subject.
    pub prompt: Prompt,
    /// How many images; the price differs.
    #[serde(default)]
    pub n: Count<1, 6, 1>,
    /// The model.
    #[serde(default)]
    pub model: DesignModel,
    /// What to leave out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub negative_prompt: Option<Text<32000>>,
}

impl Operation for ReplaceBackground {
    fn prompts(&self) -> Vec<(String, &str)> {
        vec![("prompt".into(), &*self.prompt)]
    }

    fn order(&self, _: ReferencedJobs<'_>) -> Result<Order, Refusal> {
        let n = self.n.count();
        let brief = brief(Task::ReplaceBackground, &self.image, &self.prompt, n)
            .by_model(self.model.word())
            .without(self.negative_prompt.as_deref());
        let price = Price::of("design.replace_background").times(n);
        Ok(Order::new(price, brief))
    }
}
