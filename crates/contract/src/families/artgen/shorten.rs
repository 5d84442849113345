//! shorten: shorter prompts for a prompt.

use super::flags::Flags;
use super::requests::{Lineage, Mode};
use super::version::Version;
use crate::fields::{Count, Prompt};
use crate::prelude::*;

/// Produces up to five shorter prompts for a prompt, the longest first.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Shorten")]
pub struct ArtgenShorten {
    /// The prompt; what its flags say is not looked at.
    pub prompt: Prompt,
    /// Speed mode: it orders the queue.
    #[serde(default)]
    pub mode: Mode,
    /// Seconds until the job fails.
    #[serde(default)]
    pub timeout: Count<10, 1200, 300>,
    /// URL that receives the result.
    #[serde(default, alias = "hook_url", skip_serializing_if = "Option::is_none")]
    pub hook_url: Option<HookUrl>,
}

impl Operation for ArtgenShorten {
    fn prompts(&self) -> Vec<(String, &str)> {
        vec![("prompt".into(), &*self.prompt)]
    }

    fn order(&self, _: ReferencedJobs<'_>) -> Result<Order, Refusal> {
        let flags = Flags::read(&self.prompt)?;
        let brief = Brief::new(Task::Shorten).words(&flags.words);
        let lineage = Lineage {
            prompt: self.prompt.to_string(),
            version: Version::NEWEST,
            speed: self.mode.speed(),
            seed: None,
        };
        let order = Order::new(Price::of("artgen.shorten"), brief);
        Ok(lineage.keep(order, self.hook_url.as_ref(), self.timeout.count()))
    }
}
