//! A video from words, images and characters.

use std::collections::BTreeSet;

use super::options::{Orientation, VidgenModel, VidgenSize};
use crate::brief::VideoDefinition;
use crate::fields::{Flag, ImageData, List, NumberChoice, Prompt, Span};
use crate::prelude::*;

/// Makes a video from a prompt, frames or references.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "VidgenGenerations")]
pub struct VidgenGenerations {
    /// The model that makes the video.
    pub model: VidgenModel,
    /// What happens; `@username` lets a finished character of yours appear, any other `@word` is words, and so is what comes
    /// after 32 different ones.
    pub prompt: Prompt,
    /// URLs, data-URIs or base64 of reference images; no real people, no real brand logos.
    #[serde(default, rename = "referImages")]
    #[schemars(extend("x-hint" = "no real people, no real brand logos"))]
    pub refer_images: List<ImageData, 0, 10>,
    /// Whether the video is upright or wide.
    #[serde(default)]
    pub orientation: Orientation,
    /// Length in seconds; 25 only with `video-2-pro`. Default 10, with `video-2-pro` 15.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<NumberChoice<10, 15, 25, 10>>,
    /// Definition, at the same width and height: `large` has more detail and a higher bit rate; only with `video-2-pro` and
    /// not with 25 seconds.
    #[serde(default)]
    pub size: VidgenSize,
    /// URL of a video to take a character from; no real people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-widget" = "video", "x-hint" = "no real people"))]
    pub character_url: Option<ImageUrl>,
    /// The part of that video that shows the character, `start,end` in seconds, 1 to 3 seconds long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub character_timestamps: Option<Span>,
    /// Whether the video is private.
    #[serde(default)]
    pub private: Flag<true>,
    /// URL that receives the result.
    #[serde(
        default,
        rename = "hookUrl",
        alias = "hook_url",
        skip_serializing_if = "Option::is_none"
    )]
    pub hook_url: Option<HookUrl>,
}

impl VidgenGenerations {
    fn seconds(&self) -> u32 {
        match (self.duration, self.model) {
            (Some(duration), _) => duration.count(),
            (None, VidgenModel::Video2) => 10,
            (None, VidgenModel::Video2Pro) => 15,
        }
    }

    fn check(&self) -> Result<(), Refusal> {
        let (seconds, pro) = (self.seconds(), self.model == VidgenModel::Video2Pro);
        if seconds == 25 && !pro {
            let message = "25 is only for video-2-pro, allowed with video-2: 10, 15";
            return Err(Refusal::invalid("duration", message));
        }
        if self.size == VidgenSize::Large && !pro {
            let message = "large is only for video-2-pro, allowed with video-2: small";
            return Err(Refusal::invalid("size", message));
        }
        if self.size == VidgenSize::Large && seconds == 25 {
            let message = "large is not for 25 seconds, allowed with 25: small";
            return Err(Refusal::invalid("size", message));
        }
        Ok(())
    }

    fn pixels(&self) -> (u32, u32) {
        let (short, long) = match self.model {
            VidgenModel::Video2 => (720, 1280),
            VidgenModel::Video2Pro => (1024, 1792),
        };
        match self.orientation {
            Orientation::Portrait => (short, long),
            Orientation::Landscape => (long, short),
        }
    }

    fn definition(&self) -> VideoDefinition {
        match (self.model, self.size) {
            (VidgenModel::Video2, _) => VideoDefinition::BySize,
            (VidgenModel::Video2Pro, VidgenSize::Small) => VideoDefinition::Standard,
            (VidgenModel::Video2Pro, VidgenSize::Large) => VideoDefinition::High,
        }
    }

    fn price(&self) -> Price {
        let price = Price::of("vidgen.generations").by(self.model.word());
        let price = match self.model {
            VidgenModel::Video2 => price,
            VidgenModel::Video2Pro => price.by(self.size.word()),
        };
        price.by(&format!("{}s", self.seconds()))
    }
}

/// So many different names of a prompt are looked up: nobody casts more, and a prompt has room for thousands that all have to
/// be read from the store.
const MOST_NAMES: usize = 32;

/// The characters a prompt mentions as `@username`, the first ones each once, in lower case. An `@` inside a word is none.
fn mentioned(prompt: &str) -> Vec<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let mut names = BTreeSet::new();
    for (at, _) in prompt.match_indices('@') {
        let before = prompt[..at].chars().next_back();
        let rest = &prompt[at + 1..];
        let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        let name = rest[..end]
            .trim_end_matches(['.', '-'])
            .to_ascii_lowercase();
        let inside = before.is_some_and(char::is_alphanumeric);
        if !inside && !name.is_empty() {
            names.insert(name);
        }
        if names.len() == MOST_NAMES {
            break;
        }
    }
    names.into_iter().collect()
}

impl Operation for VidgenGenerations {
    fn cites(&self) -> Vec<String> {
        mentioned(&self.prompt)
    }

    fn prompts(&self) -> Vec<(String, &str)> {
        vec![("prompt".into(), &*self.prompt)]
    }

    fn order(&self, _: ReferencedJobs<'_>) -> Result<Order, Refusal> {
        self.check()?;
        let mut brief = Brief::new(Task::Animate)
            .words(&self.prompt)
            .sized(self.pixels())
            .by_model(self.model.word());
        for (index, image) in self.refer_images.iter().enumerate() {
            brief = brief.from(format!("referImages[{index}]"), image.clone());
        }
        brief.video = self
            .character_url
            .clone()
            .map(|url| ("character_url".to_owned(), url));
        brief.span = self.character_timestamps.as_ref().map(Span::bounds);
        brief.seconds = self.seconds();
        brief.definition = self.definition();
        brief.marked = true;
        Ok(Order::new(self.price(), brief)
            .hook(self.hook_url.as_ref())
            .resolve("duration", self.seconds()))
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_NAMES, mentioned};

    #[test]
    fn a_character_is_mentioned_by_its_name_after_an_at_sign() {
        assert_eq!(
            mentioned("@Fox.one meets @owl_2. @fox.one waves"),
            ["fox.one", "owl_2"]
        );
        assert!(mentioned("write to me@example.com, 3 @ 5").is_empty());
    }

    /// The promise: a prompt full of names costs no more look-ups than one with a few.
    #[test]
    fn of_many_names_the_first_are_looked_up_and_the_rest_is_words() {
        let every: Vec<String> = (1000..7400).map(|number| format!("@{number}")).collect();
        let names = mentioned(&every.join(" "));
        assert_eq!(names.len(), MOST_NAMES);
        let first: Vec<&str> = every[..MOST_NAMES].iter().map(|name| &name[1..]).collect();
        assert_eq!(names, first);
        // One that is said again and again leaves room for others.
        let again = format!("{}@owl", "@fox ".repeat(6000));
        assert_eq!(mentioned(&again), ["fox", "owl"]);
    }
}
