//! blend: several pictures merged into four new ones.

use super::requests::{Lineage, Mode, price};
use super::sizes;
use super::version::Version;
use crate::brief::SourceRule;
use crate::fields::{Count, Flag, InlineImage, List, words};
use crate::prelude::*;

words! {
    /// The shape of the result.
    pub Dimensions = Square {
        /// Upright: two wide, three high.
        Portrait "PORTRAIT",
        /// Square: as wide as high.
        Square "SQUARE",
        /// Wide: three wide, two high.
        Landscape "LANDSCAPE",
    }
}

impl Dimensions {
    const fn ratio(self) -> (u32, u32) {
        match self {
            Self::Portrait => (2, 3),
            Self::Square => (1, 1),
            Self::Landscape => (3, 2),
        }
    }
}

/// Merges 2 to 5 images.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Blend")]
pub struct ArtgenBlend {
    /// The images, each as a data-URI.
    pub img_base64_array: List<InlineImage, 2, 5>,
    /// The shape of the result.
    #[serde(default)]
    pub dimensions: Dimensions,
    /// Speed mode: it orders the queue and sets the price.
    #[serde(default)]
    pub mode: Mode,
    /// Seconds until the job fails.
    #[serde(default)]
    pub timeout: Count<10, 1200, 300>,
    /// Whether the four small images are returned in `images`.
    #[serde(default, rename = "getUImages")]
    pub get_u_images: Flag<false>,
    /// URL that receives the result.
    #[serde(default, alias = "hook_url", skip_serializing_if = "Option::is_none")]
    pub hook_url: Option<HookUrl>,
}

impl Operation for ArtgenBlend {
    fn order(&self, _: ReferencedJobs<'_>) -> Result<Order, Refusal> {
        let (wide, high) = self.dimensions.ratio();
        let mut brief = Brief::new(Task::Blend)
            .sized(sizes::member(wide, high))
            .times(4);
        brief.grid = true;
        brief.small_images = self.get_u_images.on();
        brief.model = Version::NEWEST.to_string();
        for (index, image) in self.img_base64_array.iter().enumerate() {
            let field = format!("imgBase64Array[{index}]");
            brief = brief.from_with_rule(field, image.data(), SourceRule::KEPT);
        }
        let lineage = Lineage {
            prompt: String::new(),
            version: Version::NEWEST,
            speed: self.mode.speed(),
            seed: None,
        };
        let order = Order::new(price("artgen.blend", lineage.speed, lineage.version), brief);
        Ok(lineage.keep(order, self.hook_url.as_ref(), self.timeout.count()))
    }
}
