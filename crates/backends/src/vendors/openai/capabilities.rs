//! What a server of these formats can do for a request.

use atelier_contract::brief::Brief;

use super::settings::{NegativeStyle, OpenAiSettings, ServerDialect};
use crate::backend::Fault;
use crate::fit::Size;
use crate::inputs::unsupported;
use crate::task_vendor::{
    Capabilities, ImageCapabilities, Lengths, MaskSupport, VideoCapabilities, request_size,
};

/// The words of its own picture models.
const WORDS: &[&str] = &["quality", "moderation", "style"];
/// Longer videos than this are asked of nobody.
const MOST_SECONDS: u32 = 60;

impl OpenAiSettings {
    /// Whether pictures are asked for with seeds.
    pub(super) fn takes_seeds(&self) -> bool {
        self.dialect != ServerDialect::Openai || self.names.names("seed")
    }

    /// What it can do for a request.
    pub(super) fn capabilities(&self, brief: &Brief) -> Capabilities {
        let local = self.dialect == ServerDialect::Localai;
        if brief.task.is_video() {
            return Capabilities::films(VideoCapabilities {
                lengths: match self.video_seconds.as_slice() {
                    [] => Lengths::Between(0, MOST_SECONDS),
                    some => Lengths::Of(some.to_vec()),
                },
                ends: local,
                loops: local,
                references: 0,
            });
        }
        let own = self.dialect == ServerDialect::Openai;
        Capabilities {
            seeds: self.takes_seeds(),
            words: if own { WORDS.to_vec() } else { Vec::new() },
            ..Capabilities::pictures(ImageCapabilities {
                masks: MaskSupport::White,
                references: if (local && brief.mask.is_some())
                    || self.names.inline_image().is_some()
                {
                    1
                } else {
                    usize::MAX
                },
                negative: self.negative != NegativeStyle::Words,
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
        Err(unsupported("size", &message))
    }

    /// The size to ask for: that of the definition, or the wanted one where only that is offered.
    pub(super) fn video_size(&self, brief: &Brief) -> Size {
        let (asked, wanted) = (request_size(brief), (brief.width, brief.height));
        let only_wanted = !self.video_sizes.contains(&asked) && self.video_sizes.contains(&wanted);
        if only_wanted { wanted } else { asked }
    }
}
