//! A character taken from a video, for later prompts.

use crate::fields::Span;
use crate::prelude::*;

/// Creates a character; when it is finished, prompts may name it as `@username`. Fields may also stand in the query.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct MakeCharacter {
    /// URL of a video that shows the character, also as `character_url`; no real people.
    #[schemars(extend("x-widget" = "video", "x-hint" = "no real people"))]
    pub url: ImageUrl,
    /// The part of the video that shows it, `start,end` in seconds, 1 to 3 seconds long; also as `character_timestamps`.
    pub timestamps: Span,
    /// URL that receives the result.
    #[serde(
        default,
        rename = "hookUrl",
        alias = "hook_url",
        skip_serializing_if = "Option::is_none"
    )]
    pub hook_url: Option<HookUrl>,
}

impl Operation for MakeCharacter {
    const SPELLINGS: &'static [(&'static str, &'static str)] = &[
        ("url", "character_url"),
        ("timestamps", "character_timestamps"),
    ];

    fn order(&self, _: ReferencedJobs<'_>) -> Result<Order, Refusal> {
        let mut brief = Brief::new(Task::Character);
        brief.video = Some(("url".to_owned(), self.url.clone()));
        brief.span = Some(self.timestamps.bounds());
        let price = Price::of("vidgen.characters");
        Ok(Order::new(price, brief).hook(self.hook_url.as_ref()))
    }
}
