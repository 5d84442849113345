//! Banned words: whole words, however they are written, from a list the operator edits.

mod normalized;

use serde::Deserialize;

use crate::family::Family;
use crate::operation::Request;
use crate::refusal::{Code, Refusal};
use normalized::{holds_word, normalized};

/// Words that no prompt may contain, with the form in which they are compared: a list is read far more often than made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Vec<String>")]
pub struct WordList {
    shown: Vec<String>,
    compared: Vec<String>,
}

impl WordList {
    /// The words as they were given.
    pub fn shown(&self) -> &[String] {
        &self.shown
    }

    /// The first of them that stands in a text as a whole word; the text is in the form to compare.
    fn found_in(&self, text: &str) -> Option<&str> {
        let place = self.compared.iter().position(|word| holds_word(text, word));
        place.map(|place| self.shown[place].as_str())
    }
}

impl From<Vec<String>> for WordList {
    fn from(shown: Vec<String>) -> Self {
        let words = shown.iter();
        let compared = words.map(|word| normalized(word).into_owned()).collect();
        Self { shown, compared }
    }
}

impl<const N: usize> From<[&str; N]> for WordList {
    fn from(shown: [&str; N]) -> Self {
        shown.map(str::to_owned).to_vec().into()
    }
}

/// A rule about words, for some families or for all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromptRule {
    /// Its name, which callers read; empty for the common list.
    pub name: String,
    /// The families it holds for; empty for all.
    #[serde(default)]
    pub families: Vec<String>,
    /// Whole words that no prompt may contain.
    pub words: WordList,
}

/// The first word of the rules of a family that stands in a text, and its rule.
fn broken_by<'a>(
    text: &str,
    family: &Family,
    rules: &'a [PromptRule],
) -> Option<(&'a PromptRule, &'a str)> {
    let holds = |rule: &&PromptRule| {
        rule.families.is_empty() || rule.families.iter().any(|one| one == family.name)
    };
    let text = normalized(text);
    let mut rules = rules.iter().filter(holds);
    rules.find_map(|rule| rule.words.found_in(&text).map(|word| (rule, word)))
}

/// The first word of the rules of a family that stands in a prompt. What the prompt says is to be left out may be named.
pub fn broken_rule<'a>(
    prompt: &str,
    family: &Family,
    rules: &'a [PromptRule],
) -> Option<(&'a PromptRule, &'a str)> {
    broken_by(&(family.asked_for)(prompt), family, rules)
}

/// What a banned word is answered with; the prompt check says it without a field.
pub fn banned_message(word: &str) -> String {
    format!("banned prompt words: [{word}]")
}

/// Refuses a request whose texts hold a banned word, by the name of the field.
pub fn refuse_banned(
    request: &dyn Request,
    family: &Family,
    rules: &[PromptRule],
) -> Result<(), Refusal> {
    for (field, text) in request.prompts() {
        if let Some((rule, word)) = broken_rule(text, family, rules) {
            return Err(refusal(&field, rule, word));
        }
    }
    Ok(())
}

/// Refuses the words that a prompt was put into, by the name of the field it came in.
pub fn refuse_translation(
    english: &str,
    field: &str,
    family: &Family,
    rules: &[PromptRule],
) -> Result<(), Refusal> {
    match broken_by(english, family, rules) {
        Some((rule, word)) => Err(refusal(field, rule, word)),
        None => Ok(()),
    }
}

fn refusal(field: &str, rule: &PromptRule, word: &str) -> Refusal {
    let mut message = banned_message(word);
    if !rule.name.is_empty() {
        message = format!("{message} (rule {})", rule.name);
    }
    Refusal::field(Code::BannedPrompt, field, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found_of(list: &WordList, prompt: &str) -> Option<String> {
        list.found_in(&normalized(prompt)).map(str::to_owned)
    }

    /// The list of the defaults.
    fn usual() -> WordList {
        let defaults = include_str!("../../../config/default.toml");
        let defaults: toml::Table = defaults.parse().expect("TOML");
        let words = defaults["prompts"]["banned"].clone();
        words.try_into().expect("a list of words")
    }

    fn found(prompt: &str) -> Option<String> {
        found_of(&usual(), prompt)
    }

    #[test]
    fn whole_words_are_found_in_any_case() {
        for prompt in ["a nude statue", "NUDE", "so (Nude)!", "nude,", "a\nnude"] {
            assert_eq!(found(prompt).as_deref(), Some("nude"), "{prompt}");
        }
    }

    #[test]
    fn parts_of_words_are_not() {
        for prompt in ["denuded hills", "nudes_of_ants", "gorement", "a fox", ""] {
            assert_eq!(found(prompt), None, "{prompt}");
        }
    }

    /// The promise: what a reader sees as the word is the word.
    #[test]
    fn a_disguised_word_is_found() {
        for prompt in [
            "a n\u{200b}ude statue",
            "nu\u{ad}de",
            "\u{feff}n\u{200d}u\u{2060}d\u{fe0f}e",
            "ｎｕｄｅ",
            "𝓷𝓾𝓭𝓮",
            "ⓝⓤⓓⓔ",
            "nude_woman",
            "_nude_",
            "stone＿ＮＵＤＥ",
            "nu\u{e0041}de",
            "caf\u{e9} nude",
        ] {
            assert_eq!(found(prompt).as_deref(), Some("nude"), "{prompt}");
        }
        for prompt in [
            "d\u{e9}nud\u{e9}",
            "ｎｕｄｅｓ",
            "an\u{200b}nude",
            "\u{fe0f}",
        ] {
            assert_eq!(found(prompt), None, "{prompt}");
        }
    }

    #[test]
    fn a_list_in_another_script_is_compared_in_the_same_way() {
        let list: WordList = ["ΛΟΓΟΣ", "cafe\u{301}", "ﬁre"].into();
        for prompt in ["λογος", "Λόγος ΛΟΓΟΣ", "CAFÉ", "fire"] {
            assert!(found_of(&list, prompt).is_some(), "{prompt}");
        }
    }

    #[test]
    fn an_entry_may_be_several_words_and_a_blank_one_bans_nothing() {
        let list: WordList = ["red fox", " ", "\u{200b}"].into();
        let found = |prompt: &str| found_of(&list, prompt);
        assert_eq!(found("the Red Fox runs").as_deref(), Some("red fox"));
        assert_eq!(found("the red\u{3000}fox").as_deref(), Some("red fox"));
        assert_eq!(found("the infrared foxes"), None);
    }
}
