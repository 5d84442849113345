//! imagine: four pictures from a prompt.

use super::flags::Flags;
use super::requests::{Lineage, Mode, grid, price};
use super::sizes;
use super::version::Version;
use crate::fields::{Count, Flag, Prompt, Seconds};
use crate::prelude::*;

/// The least time a relaxed job is given, and its default.
const RELAX_SECONDS: i64 = 600;

/// Creates a grid of four images from a prompt.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Imagine")]
pub struct ArtgenImagine {
    /// Text to generate from; it may carry option flags such as `--ar 16:9`.
    #[schemars(extend("x-flags" = ["ar", "seed", "image", "sref"]))]
    pub prompt: Prompt,
    /// Speed mode: it orders the queue and sets the price.
    #[serde(default)]
    pub mode: Mode,
    /// Seconds until the job fails; default and least value 300, in relax mode 600.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Seconds<300, 1200>>,
    /// Whether the four small images are returned in `images`.
    #[serde(default, rename = "getUImages")]
    pub get_u_images: Flag<false>,
    /// Whether the prompt is translated.
    #[serde(default)]
    pub translation: Flag<true>,
    /// URL that receives the result.
    #[serde(default, alias = "hook_url", skip_serializing_if = "Option::is_none")]
    pub hook_url: Option<HookUrl>,
}

impl ArtgenImagine {
    fn seconds(&self) -> Result<u32, Refusal> {
        let least = if self.mode == Mode::Relax {
            RELAX_SECONDS
        } else {
            300
        };
        match self.timeout.map(Count::get) {
            Some(seconds) if seconds < least => Err(Refusal::invalid(
                "timeout",
                format_args!("must be from {least} to 1200 in relax mode, is {seconds}"),
            )),
            given => Ok(given.unwrap_or(least) as u32),
        }
    }
}

impl Operation for ArtgenImagine {
    fn prompts(&self) -> Vec<(String, &str)> {
        vec![("prompt".into(), &*self.prompt)]
    }

    fn order(&self, _: ReferencedJobs<'_>) -> Result<Order, Refusal> {
        let flags = Flags::read(&self.prompt)?;
        let seconds = self.seconds()?;
        let version = flags.version().unwrap_or(Version::NEWEST);
        let (wide, high) = flags.ratio();
        let mut brief = grid(Task::Draw, &flags, sizes::member(wide, high));
        brief.small_images = self.get_u_images.on();
        brief.translate = self.translation.on();
        brief.model = version.to_string();
        let lineage = Lineage {
            prompt: self.prompt.to_string(),
            version,
            speed: self.mode.speed(),
            seed: flags.seed(),
        };
        let order = Order::new(price("artgen.imagine", lineage.speed, version), brief);
        Ok(lineage.keep(order, self.hook_url.as_ref(), seconds))
    }
}
