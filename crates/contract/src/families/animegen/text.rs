//! Anime images from words.

use super::cast::{CharacterPrompt, CharacterReference, Vibe, character_texts};
use super::options::{AnimegenModel, NoiseSchedule, Sampler};
use crate::fields::{Count, Flag, List, Prompt, Real, SeedText, SteppedCount, Text};
use crate::prelude::*;

/// Makes anime-style images from words.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AnimegenTextToImage")]
pub struct AnimegenTextToImage {
    /// What to show.
    pub prompt: Prompt,
    /// The model.
    pub model: AnimegenModel,
    /// How many images.
    #[serde(default)]
    pub n: Count<1, 4, 1>,
    /// Width in pixels.
    #[serde(default)]
    pub width: SteppedCount<64, 2048, 8, 1024>,
    /// Height in pixels.
    #[serde(default)]
    pub height: SteppedCount<64, 2048, 8, 1024>,
    /// Seed, digits up to 4294967295.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<SeedText>,
    /// Step count.
    #[serde(default)]
    pub steps: Count<1, 50, 23>,
    /// Prompt adherence: lower is softer and painterly, higher sharper.
    #[serde(default)]
    pub scale: Real<0, 10_000, 5000>,
    /// What to leave out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub negative_prompt: Option<Text<32000>>,
    /// Whether words for quality are added to the prompt.
    #[serde(default)]
    pub quality_toggle: Flag<true>,
    /// How noise becomes an image.
    #[serde(default)]
    pub sampler: Sampler,
    /// How noise fades.
    #[serde(default)]
    pub noise_schedule: NoiseSchedule,
    /// The characters of the image.
    #[serde(default)]
    pub character_prompts: List<CharacterPrompt, 0, 6>,
    /// Images whose mood is taken over.
    #[serde(default)]
    pub vibe_transfer: List<Vibe, 0, 4>,
    /// Images whose character or style is taken over.
    #[serde(default)]
    pub character_reference: List<CharacterReference, 0, 4>,
    /// Address that receives the result.
    #[serde(default, alias = "hookUrl", skip_serializing_if = "Option::is_none")]
    pub hook_url: Option<HookUrl>,
}

impl Operation for AnimegenTextToImage {
    fn prompts(&self) -> Vec<(String, &str)> {
        let main = ("prompt".to_owned(), &*self.prompt);
        let characters = character_texts(&self.character_prompts);
        std::iter::once(main).chain(characters).collect()
    }

    fn order(&self, _: ReferencedJobs<'_>) -> Result<Order, Refusal> {
        let mut brief = Brief::new(Task::Anime)
            .words(&self.prompt)
            .sized((self.width.count(), self.height.count()))
            .times(self.n.count())
            .by_model(self.model.word())
            .without(self.negative_prompt.as_deref());
        for (index, vibe) in self.vibe_transfer.iter().enumerate() {
            let field = format!("vibe_transfer[{index}].image");
            brief = brief.from(field, vibe.image.clone());
        }
        for (index, reference) in self.character_reference.iter().enumerate() {
            let field = format!("character_reference[{index}].image");
            brief = brief.from(field, reference.image.clone());
        }
        brief.seed = self.seed.map(|seed| u64::from(seed.get()));
        brief.tells_seed = true;
        brief.extra = serde_json::json!({
            "steps": self.steps,
            "scale": self.scale,
            "sampler": self.sampler,
            "noise_schedule": self.noise_schedule,
            "quality_toggle": self.quality_toggle,
            "character_prompts": self.character_prompts,
        });
        let price = Price::of("animegen.text_to_image").times(self.n.count());
        Ok(Order::new(price, brief).hook_in("hook_url", self.hook_url.as_ref()))
    }
}
