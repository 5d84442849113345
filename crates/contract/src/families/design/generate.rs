//! Raster images from words.

use super::model::DesignModel;
use crate::fields::{Count, Prompt, Text, words};
use crate::prelude::*;

words! {
    /// Size of each image in pixels, width and height.
    pub DesignSize = S1024x1024 {
        S1024x1024 "1024x1024", S1365x1024 "1365x1024", S1024x1365 "1024x1365",
        S1536x1024 "1536x1024", S1024x1536 "1024x1536", S1820x1024 "1820x1024",
        S1024x1820 "1024x1820", S1024x2048 "1024x2048", S2048x1024 "2048x1024",
        S1434x1024 "1434x1024", S1024x1434 "1024x1434", S1024x1280 "1024x1280",
        S1280x1024 "1280x1024", S1024x1707 "1024x1707", S1707x1024 "1707x1024",
    }
}

/// Width and height of a word such as `1024x1365`.
fn pixels(word: &str) -> (u32, u32) {
    let side = |text: &str| text.parse().unwrap_or(1024);
    word.split_once('x')
        .map_or((1024, 1024), |(width, height)| (side(width), side(height)))
}

/// Makes raster images from a prompt.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "DesignGenerations")]
pub struct DesignGenerations {
    /// What the image shows; English works best.
    pub prompt: Prompt,
    /// How many images; the price differs.
    #[serde(default)]
    pub n: Count<1, 6, 1>,
    /// Size of each image in pixels, width and height.
    #[serde(default)]
    pub size: DesignSize,
    /// The model that makes the images.
    #[serde(default)]
    pub model: DesignModel,
    /// What the image must not show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub negative_prompt: Option<Text<32000>>,
}

impl Operation for DesignGenerations {
    fn prompts(&self) -> Vec<(String, &str)> {
        vec![("prompt".into(), &*self.prompt)]
    }

    fn order(&self, _: ReferencedJobs<'_>) -> Result<Order, Refusal> {
        let brief = Brief::new(Task::Draw)
            .words(&self.prompt)
            .sized(pixels(self.size.word()))
            .times(self.n.count())
            .by_model(self.model.word())
            .without(self.negative_prompt.as_deref());
        let price = Price::of("design.generations").times(self.n.count());
        Ok(Order::new(price, brief))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_word_says_its_pixels() {
        for word in DesignSize::WORDS {
            let (width, height) = pixels(word);
            assert_eq!(format!("{width}x{height}"), *word);
        }
    }
}
