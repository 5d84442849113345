//! Anime images from an image. The step count is called `step` here.

use super::request::anime_request;
use crate::fields::{ImageData, Real};
use crate::prelude::*;

anime_request! {
    /// Makes anime-style images from an image and a prompt.
    #[schemars(rename = "AnimegenImageToImage")]
    AnimegenImageToImage, steps: step,
    first {
        /// URL or base64 of the base image.
        image: ImageData,
    }
    then {
        /// Noise added to the base image.
        #[serde(default)]
        noise: Real<0, 990, 0>,
        /// How far from the base image.
        #[serde(default)]
        strength: Real<10, 990, 700>,
    }
}

impl Operation for AnimegenImageToImage {
    fn prompts(&self) -> Vec<(String, &str)> {
        self.texts()
    }

    fn order(&self, _: ReferencedJobs<'_>) -> Result<Order, Refusal> {
        let mut brief = self.brief().from("image", self.image.clone());
        brief.strength = self.strength.get();
        brief.extra["base_image"] = true.into();
        brief.extra["noise"] = serde_json::json!(self.noise);
        Ok(self.order_of("animegen.image_to_image", brief))
    }
}
