//! What both operations ask for: the fields they share, and the brief that follows from them.

/// Defines a request: its own fields around the shared ones. `steps` names the step count, which each operation spells in
/// its own way.
macro_rules! anime_request {
    (
        $(#[$about:meta])*
        $name:ident, steps: $steps:ident,
        first { $($(#[$first_about:meta])* $first:ident: $first_type:ty,)* }
        then { $($(#[$then_about:meta])* $then:ident: $then_type:ty,)* }
    ) => {
        #[derive(Serialize, Deserialize, JsonSchema)]
        $(#[$about])*
        pub struct $name {
            $($(#[$first_about])* pub $first: $first_type,)*
            /// What the image shows.
            pub prompt: $crate::fields::Prompt,
            /// The model.
            pub model: $crate::families::animegen::options::AnimegenModel,
            /// How many images.
            #[serde(default)]
            pub n: $crate::fields::Count<1, 4, 1>,
            /// Width in pixels.
            #[serde(default)]
            pub width: $crate::fields::SteppedCount<64, 2048, 8, 1024>,
            /// Height in pixels.
            #[serde(default)]
            pub height: $crate::fields::SteppedCount<64, 2048, 8, 1024>,
            /// Seed, digits up to 4294967295.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub seed: Option<$crate::fields::SeedText>,
            /// Step count.
            #[serde(default)]
            pub $steps: $crate::fields::Count<1, 50, 23>,
            /// Prompt adherence: lower is softer and painterly, higher sharper.
            #[serde(default)]
            pub scale: $crate::fields::Real<0, 10_000, 5000>,
            /// What the image must not show.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub negative_prompt: Option<$crate::fields::Text<32000>>,
            /// Whether quality keywords are added to the prompt.
            #[serde(default)]
            pub quality_toggle: $crate::fields::Flag<true>,
            /// How noise becomes an image.
            #[serde(default)]
            pub sampler: $crate::families::animegen::options::Sampler,
            /// How noise fades.
            #[serde(default)]
            pub noise_schedule: $crate::families::animegen::options::NoiseSchedule,
            /// The characters of the image.
            #[serde(default)]
            pub character_prompts: $crate::fields::List<$crate::families::animegen::cast::CharacterPrompt, 0, 6>,
            $($(#[$then_about])* pub $then: $then_type,)*
            /// URL that receives the result.
            #[serde(default, alias = "hookUrl", skip_serializing_if = "Option::is_none")]
            pub hook_url: Option<HookUrl>,
        }

        impl $name {
            /// The prompt and the characters', for the list of banned words.
            fn texts(&self) -> Vec<(String, &str)> {
                let main = ("prompt".to_owned(), &*self.prompt);
                let characters = super::cast::character_texts(&self.character_prompts);
                std::iter::once(main).chain(characters).collect()
            }

            /// The brief without images.
            fn brief(&self) -> Brief {
                let mut brief = Brief::new(Task::Anime)
                    .words(&self.prompt)
                    .sized((self.width.count(), self.height.count()))
                    .times(self.n.count())
                    .by_model(self.model.word())
                    .without(self.negative_prompt.as_deref());
                brief.seed = self.seed.map(|seed| u64::from(seed.get()));
                brief.tells_seed = true;
                brief.extra = serde_json::json!({
                    "steps": self.$steps,
                    "scale": self.scale,
                    "sampler": self.sampler,
                    "noise_schedule": self.noise_schedule,
                    "quality_toggle": self.quality_toggle,
                    "character_prompts": self.character_prompts,
                });
                brief
            }

            /// The order for a brief, at so much for each image.
            fn order_of(&self, price: &'static str, brief: Brief) -> Order {
                let price = Price::of(price).times(self.n.count());
                Order::new(price, brief).hook_in("hook_url", self.hook_url.as_ref())
            }
        }
    };
}

pub(super) use anime_request;
