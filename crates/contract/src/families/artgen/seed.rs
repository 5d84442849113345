//! seed: the seed of an earlier picture.

use super::inpaint::picture;
use super::requests::{FAMILY_NAME, Lineage};
use crate::fields::Count;
use crate::ids::JobId;
use crate::prelude::*;

/// Gets the seed of an image.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Seed")]
pub struct ArtgenSeed {
    /// Earlier job with an image.
    pub job_id: JobId,
    /// Seconds until the job fails.
    #[serde(default)]
    pub timeout: Count<10, 1200, 300>,
    /// URL that receives the result.
    #[serde(default, alias = "hook_url", skip_serializing_if = "Option::is_none")]
    pub hook_url: Option<HookUrl>,
}

impl Operation for ArtgenSeed {
    fn parent(&self) -> Option<JobId> {
        Some(self.job_id.clone())
    }

    fn order(&self, context: ReferencedJobs<'_>) -> Result<Order, Refusal> {
        let parent = context.finished_parent("jobId", FAMILY_NAME)?;
        picture(parent)?;
        let lineage = Lineage::of(parent);
        let mut brief = Brief::new(Task::Seed).words(&lineage.prompt);
        brief.seed = lineage.seed.map(u64::from);
        let order = Order::new(Price::of("artgen.seed"), brief);
        Ok(lineage.keep(order, self.hook_url.as_ref(), self.timeout.count()))
    }
}
