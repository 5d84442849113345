//! The legacy endpoint: one `art-3` image by address, in the vendor's body.

use crate::fields::{Count, Prompt, words};
use crate::prelude::*;

words! {
    /// The model; this endpoint has only one.
    pub LegacyModel = Art3 { Art3 "art-3" }
}
words! {
    /// Width and height; the price differs.
    pub LegacySize { Square "1024x1024", Tall "1024x1792", Wide "1792x1024" }
}
words! {
    /// How much care is taken.
    pub LegacyQuality = Standard { Standard "standard", Hd "hd" }
}

impl LegacySize {
    const fn pixels(self) -> (u32, u32) {
        match self {
            Self::Square => (1024, 1024),
            Self::Tall => (1024, 1792),
            Self::Wide => (1792, 1024),
        }
    }
}

/// Makes one image; discouraged, use `/v1/images/generations`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ImgmodelLegacy", extend("deprecated" = true))]
pub struct ImgmodelLegacy {
    /// What the image shows.
    pub prompt: Prompt<4000>,
    /// Size of the image in pixels, width and height.
    pub size: LegacySize,
    /// The model; only `art-3`.
    #[serde(default)]
    pub model: LegacyModel,
    /// How many images; only 1.
    #[serde(default)]
    pub n: Count<1, 1, 1>,
    /// How much care is taken.
    #[serde(default)]
    pub quality: LegacyQuality,
}

impl Operation for ImgmodelLegacy {
    fn prompts(&self) -> Vec<(String, &str)> {
        vec![("prompt".into(), &*self.prompt)]
    }

    fn order(&self, _: ReferencedJobs<'_>) -> Result<Order, Refusal> {
        let mut brief = Brief::new(Task::Draw)
            .words(&self.prompt)
            .by_model(self.model.word())
            .sized(self.size.pixels());
        let quality = self.quality.word().into();
        brief.model_words.insert("quality".to_owned(), quality);
        let plain = self.quality == LegacyQuality::Standard && self.size == LegacySize::Square;
        let price = Price::of("imgmodel.legacy");
        let price = price.by(if plain { "standard" } else { "hd_or_large" });
        Ok(Order::new(price, brief))
    }
}
