//! describe: four prompts for a picture.

use super::requests::{Lineage, Mode};
use super::version::Version;
use crate::brief::SourceRule;
use crate::fields::{Count, DeferredField, ImageData, InlineImage};
use crate::prelude::*;
use crate::refusal::Code;

/// Produces four prompts for an image; at least one of `base64` and `url` is needed, `base64` wins.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Describe")]
pub struct ArtgenDescribe {
    /// The image as a data-URI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base64: Option<InlineImage>,
    /// URL of the image; ignored if `base64` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<DeferredField<ImageUrl>>,
    /// Speed mode: it orders the queue and sets the price.
    #[serde(default)]
    pub mode: Mode,
    /// Seconds until the job fails.
    #[serde(default)]
    pub timeout: Count<10, 1200, 300>,
    /// URL that receives the result.
    #[serde(default, alias = "hook_url", skip_serializing_if = "Option::is_none")]
    pub hook_url: Option<HookUrl>,
}

impl ArtgenDescribe {
    fn source(&self) -> Result<(&'static str, ImageData, SourceRule), Refusal> {
        match (&self.base64, &self.url) {
            (Some(image), _) => Ok(("base64", image.data(), SourceRule::KEPT)),
            (None, Some(url)) => {
                let image = ImageData::Url(url.get("url")?.clone());
                Ok(("url", image, SourceRule::ANY))
            }
            (None, None) => Err(Refusal::field(
                Code::MissingParameter,
                "base64",
                "one of base64 and url is required",
            )),
        }
    }
}

impl Operation for ArtgenDescribe {
    fn order(&self, _: ReferencedJobs<'_>) -> Result<Order, Refusal> {
        let (field, image, wanted) = self.source()?;
        let brief = Brief::new(Task::Describe).times(4);
        let brief = brief.from_with_rule(field, image, wanted);
        let lineage = Lineage {
            prompt: String::new(),
            version: Version::NEWEST,
            speed: self.mode.speed(),
            seed: None,
        };
        let order = Order::new(Price::of("artgen.describe"), brief);
        Ok(lineage.keep(order, self.hook_url.as_ref(), self.timeout.count()))
    }
}
