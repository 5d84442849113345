//! What a server of these formats can do for a request.

use atelier_contract::brief::Brief;

use super::settings::{Dialect, Negative, Settings};
use crate::backend::Fault;
use crate::fit::Size;
use crate::inputs::cannot;
use crate::tasks::{Films, Lengths, Masks, Pictures, Skills, asked_size};

/// The words of its own picture models.
const WORDS: &[&str] = &["quality", "moderation", "style"];
/// Longer videos than this are asked of nobody.
const MOST_SECONDS: u32 = 60;

impl Settings {
    /// What it can do for a request.
    pub(super) fn skills(&self, brief: &Brief) -> Skills {
        let local = self.dialect == Dialect::Localai;
        if brief.task.is_video() {
            return Skills::films(Films {
                lengths: match self.video_seconds.as_slice() {
                    [] => Lengths::Between(0, MOST_SECONDS),
                    some => Lengths::Of(some.to_vec()),
                },
                ends: local,
                loops: local,
                references: 0,
            });
        }
        let own = self.dialect == Dialect::Openai;
        Skills {
            seeds: !own,
            words: if own { WORDS } else { &[] },
            ..Skills::pictures(Pictures {
                masks: Masks::White,
                references: if local && brief.mask.is_some() {
                    1
                } else {
                    usize::MAX
                },
                negative: self.negative != Negative::Words,
                transparent: own,
                backgrounds: false,
            })
        }
    }

    /// Refuses a video of a size that is not offered.
    pub(super) fn check_size(&self, brief: &Brief) -> Result<(), Fault> {
        let size = self.video_size(brief);
        if self.video_sizes.is_empty() || self.video_sizes.contains(&size) {
            return Ok(());
        }
        let message = format!("no back end makes videos of {}x{}", size.0, size.1);
        Err(cannot("size", &message))
    }

    /// The size to ask for: that of the definition, or the wanted one where only that is offered.
    pub(super) fn video_size(&self, brief: &Brief) -> Size {
        let (asked, wanted) = (asked_size(brief), (brief.width, brief.height));
        let only_wanted = !self.video_sizes.contains(&asked) && self.video_sizes.contains(&wanted);
        if only_wanted { wanted } else { asked }
    }
}
