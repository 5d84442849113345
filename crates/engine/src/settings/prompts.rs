//! What prompts may say, who judges them, and who puts them into English.

use atelier_contract::settings::within;
use atelier_contract::{FAMILIES, PromptRule, Secret, WordList, canonical_name};
use serde::Deserialize;

/// What prompts may say.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromptSettings {
    /// The common list: words that no prompt may contain, until an operator edits it.
    pub banned: WordList,
    /// Families that the common list holds for beside those in which the interface has banned words.
    pub families: Vec<String>,
    /// Further lists, each with a name.
    pub rules: Vec<PromptRule>,
    /// Refused prompts of an account in one family and on one UTC day after which it is paused there; 0 for never.
    #[serde(deserialize_with = "within::<_, _, 0, 1_000_000>")]
    pub refused_a_day: u32,
    /// A moderation endpoint in OpenAI's format, such as `https://api.openai.com/v1`; empty for none.
    pub moderation_url: String,
    /// Its key; empty for none.
    pub moderation_key: Secret,
    /// The model to name; empty for the endpoint's own.
    pub moderation_model: String,
    /// Whether input pictures are judged too.
    pub moderation_pictures: bool,
    /// Whether calls are refused while it cannot be asked.
    pub moderation_fail_closed: bool,
}

impl PromptSettings {
    /// The common list and the rules with names.
    pub(crate) fn all_rules(&self) -> Vec<PromptRule> {
        let usual = FAMILIES.iter().filter(|family| family.banned_words);
        let usual = usual.map(|family| family.name.to_owned());
        let common = PromptRule {
            name: String::new(),
            families: usual.chain(self.families.iter().cloned()).collect(),
            words: self.banned.clone(),
        };
        let mut all: Vec<_> = std::iter::once(common)
            .chain(self.rules.iter().cloned())
            .collect();
        for family in all.iter_mut().flat_map(|rule| &mut rule.families) {
            if let Some(name) = canonical_name(family) {
                name.clone_into(family);
            }
        }
        all
    }

    /// Whether somebody is asked about words and pictures before they are accepted.
    pub(crate) fn is_moderated(&self) -> bool {
        !self.moderation_url.is_empty()
    }
}

/// Who puts prompts into English.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Translation {
    /// A LibreTranslate, or an endpoint that speaks as OpenAI's does, such as `https://api.openai.com/v1`; empty for none.
    pub url: String,
    /// Its key; empty for none.
    pub key: Secret,
    /// The language model to ask; empty for a LibreTranslate.
    pub model: String,
}

impl Translation {
    /// Whether anybody translates prompts here.
    pub(crate) fn is_set(&self) -> bool {
        !self.url.is_empty()
    }
}
