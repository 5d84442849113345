//! What the artgen image requests share: the mode, what a follow-up inherits, prices by mode and version.

use super::actions::version_of;
use super::flags::Flags;
use super::sizes;
use super::version::Version;
use crate::brief::{Brief, Task};
use crate::fields::{HookUrl, words};
use crate::job::{Job, Speed};
use crate::operation::Order;
use crate::tariff::Price;

/// The family whose pictures follow-ups are made of.
pub(super) const FAMILY_NAME: &str = "artgen";

words! {
    /// Speed mode: it orders the queue and sets the price.
    pub Mode = Fast { Relax "relax", Fast "fast", Turbo "turbo" }
}

impl Mode {
    /// The place in the queue.
    pub const fn speed(self) -> Speed {
        match self {
            Self::Relax => Speed::Relax,
            Self::Fast => Speed::Fast,
            Self::Turbo => Speed::Turbo,
        }
    }
}

/// The key of the factor for the versions that cost more.
pub(super) const VERSION_6: &str = "artgen.factor.version_6";

/// What a picture in a mode and a version costs.
pub(super) fn price(operation: &str, speed: Speed, version: Version) -> Price {
    let price = Price::of(operation).by(speed.word());
    if version.major() == 6 {
        price.factor(VERSION_6)
    } else {
        price
    }
}

/// A brief for a grid of four from the words of a prompt.
pub(super) fn grid(task: Task, flags: &Flags, size: (u32, u32)) -> Brief {
    let mut brief = Brief::new(task).words(&flags.words).sized(size).times(4);
    brief.grid = true;
    flags.negative().clone_into(&mut brief.negative);
    brief.seed = flags.seed().map(u64::from);
    brief.extra = flags.to_json();
    for image in &flags.images {
        brief = brief.from_url("prompt", image);
    }
    for (lends, image) in flags.hints() {
        brief = brief.hinted(lends, "prompt", &image);
    }
    brief
}

/// What results and follow-ups read from the stored request beside its own fields.
pub(super) struct Lineage {
    /// The prompt with its flags.
    pub(super) prompt: String,
    /// The version of the model the job ran with.
    pub(super) version: Version,
    /// The speed mode the job ran in.
    pub(super) speed: Speed,
    /// The seed the prompt fixed.
    pub(super) seed: Option<u32>,
}

impl Lineage {
    /// What a follow-up inherits from its parent.
    pub(super) fn of(parent: &Job) -> Self {
        Self {
            prompt: parent.text("prompt").unwrap_or_default().to_owned(),
            version: version_of(parent),
            speed: parent.speed,
            seed: parent.text("seed").and_then(|seed| seed.parse().ok()),
        }
    }

    /// Keeps it with an order, and sets the order's place in the queue.
    pub(super) fn keep(self, order: Order, hook: Option<&HookUrl>, timeout_s: u32) -> Order {
        let seed = self.seed.map(|seed| seed.to_string());
        order
            .at(self.speed)
            .hook(hook)
            .within(timeout_s)
            .resolve("prompt", self.prompt)
            .resolve("version", self.version.to_string())
            .resolve("mode", self.speed.word())
            .resolve("seed", seed)
            .resolve("timeout", timeout_s)
    }
}

/// The member size of the grid a job shows, or that a grid of its picture would have.
pub(super) fn member_of(parent: &Job) -> (u32, u32) {
    parent
        .file(0)
        .map_or((512, 512), |file| sizes::member(file.width, file.height))
}
