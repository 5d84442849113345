//! action: a follow-up on an earlier picture, in its mode and version.

use super::actions::{Action, ResultKind, components, result_kind};
use super::flags::Flags;
use super::requests::{FAMILY_NAME, Lineage, grid, member_of, price};
use super::sizes;
use crate::brief::Direction;
use crate::fields::{Count, Flag};
use crate::ids::JobId;
use crate::job::File;
use crate::prelude::*;
use crate::refusal::Code;

/// Button-style operations on an earlier job.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Act")]
pub struct ArtgenAction {
    /// Job returned by an earlier call.
    pub job_id: JobId,
    /// Follow-up action.
    pub action: Action,
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

impl ArtgenAction {
    fn check_offered(&self, parent: &Job) -> Result<(), Refusal> {
        let offered = components(parent);
        if offered.contains(&self.action) {
            return Ok(());
        }
        let words: Vec<_> = offered.iter().map(|action| action.word()).collect();
        let available = if words.is_empty() {
            "none".to_owned()
        } else {
            words.join(", ")
        };
        let message = format!(
            "{} is not available for this job, available: {available}",
            self.action.word()
        );
        Err(Refusal::field(Code::ActionNotAvailable, "action", message))
    }

    /// The size of each picture it makes from the parent's picture.
    fn size(&self, parent: &Job, file: &File) -> (u32, u32) {
        let (width, height) = (file.width, file.height);
        match self.action.task() {
            Task::Upsample(_) => (width, height),
            Task::Vary(Some(_), _) | Task::Reroll => (width / 2, height / 2),
            Task::Pan(Direction::Left | Direction::Right) => sizes::widened(width, height, true),
            Task::Pan(_) => sizes::widened(width, height, false),
            Task::Square => sizes::member(1, 1),
            Task::Enlarge(factor, _) => {
                let (width, height) = unenlarged(parent, file);
                (width * factor, height * factor)
            }
            _ => member_of(parent),
        }
    }
}

/// The size of a single picture before it was enlarged, so that redoing an upscale does not double it again.
fn unenlarged(parent: &Job, file: &File) -> (u32, u32) {
    let kept = |name: &str| {
        let value = parent.request.get(name).and_then(Value::as_u64)?;
        u32::try_from(value).ok()
    };
    match (kept("plainWidth"), kept("plainHeight")) {
        (Some(width), Some(height)) => (width, height),
        _ => (file.width, file.height),
    }
}

impl Operation for ArtgenAction {
    fn parent(&self) -> Option<JobId> {
        Some(self.job_id.clone())
    }

    fn order(&self, context: ReferencedJobs<'_>) -> Result<Order, Refusal> {
        let parent = context.finished_parent("jobId", FAMILY_NAME)?;
        self.check_offered(parent)?;
        let file = parent.file(0).ok_or_else(Refusal::job_not_found)?;
        let lineage = Lineage::of(parent);
        let makes = self.action.makes();
        // A blend has no words, and flags that were good when they were stored stay good.
        let flags = Flags::read(&lineage.prompt).unwrap_or_default();
        let mut brief = grid(self.action.task(), &flags, self.size(parent, file));
        brief.model = lineage.version.to_string();
        brief.of_grid = result_kind(parent) == Some(ResultKind::Grid);
        if makes == ResultKind::Grid {
            brief.small_images = self.get_u_images.on();
        } else {
            brief.grid = false;
            brief.count = 1;
        }
        // Only a fresh drawing looks at the pictures the prompt names.
        if self.action != Action::Reroll {
            brief.sources.clear();
            brief.hints.clear();
        }
        let key = format!("artgen.action.{}", self.action.price_word());
        let cost = match makes {
            ResultKind::Grid => price(&key, lineage.speed, lineage.version),
            ResultKind::Single | ResultKind::Enlarged => Price::of(key),
        };
        let mut order = Order::new(cost, brief);
        if makes == ResultKind::Enlarged {
            let (width, height) = unenlarged(parent, file);
            order = order
                .resolve("plainWidth", width)
                .resolve("plainHeight", height);
        }
        Ok(lineage.keep(order, self.hook_url.as_ref(), self.timeout.count()))
    }
}
