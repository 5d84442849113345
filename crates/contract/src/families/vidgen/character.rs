//! A character taken from a video, for later prompts.

use crate::fields::Span;
use crate::prelude::*;

/// Creates a character; when it is finished, prompts may name it as `@username`.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct MakeCharacter {
    /// Address of a video that shows the character; no real people.
    pub url: ImageUrl,
    /// The part of the video that shows it, `start,end` in seconds, 1 to 3 seconds long.
    pub timestamps: Span,
    /// Address that receives the result.
    #[serde(
        default,
        rename = "hookUrl",
        alias = "hook_url",
        skip_serializing_if = "Option::is_none"
    )]
    pub hook_url: Option<HookUrl>,
}

impl Operation for MakeCharacter {
    fn order(&self, _: Context<'_>) -> Result<Order, Refusal> {
        let mut brief = Brief::new(Task::Character);
        brief.video = Some(("url".to_owned(), self.url.clone()));
        brief.span = Some(self.timestamps.bounds());
        let price = Price::of("vidgen.characters");
        Ok(Order::new(price, brief).hook(self.hook_url.as_ref()))
    }
}
