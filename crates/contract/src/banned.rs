//! Banned words: whole words, in any case, from a list the operator edits.

use crate::family::Request;
use crate::refusal::{Code, Refusal};

/// The list until the operator edits it.
pub const DEFAULT_BANNED_WORDS: [&str; 8] = [
    "nsfw",
    "nude",
    "naked",
    "porn",
    "hentai",
    "gore",
    "beheading",
    "bestiality",
];

/// The first word of the list that stands in a prompt as a whole word, in any case.
pub fn banned_word<'a>(prompt: &str, list: &'a [String]) -> Option<&'a str> {
    let prompt = prompt.to_lowercase();
    list.iter()
        .find(|word| holds_word(&prompt, &word.to_lowercase()))
        .map(String::as_str)
}

fn holds_word(text: &str, word: &str) -> bool {
    if word.trim().is_empty() {
        return false;
    }
    let is_inside = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, found)| {
        let before = text[..at].chars().next_back();
        let after = text[at + found.len()..].chars().next();
        !before.is_some_and(is_inside) && !after.is_some_and(is_inside)
    })
}

/// A rule about words, for some families or for all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptRule {
    /// Its name, which callers read; empty for the common list.
    pub name: String,
    /// The families it holds for; empty for all.
    pub families: Vec<String>,
    /// Whole words, in any case, that no prompt may contain.
    pub words: Vec<String>,
}

/// The first word of the rules of a family that stands in a prompt, and its rule.
pub fn broken_rule<'a>(
    prompt: &str,
    family: &str,
    rules: &'a [PromptRule],
) -> Option<(&'a PromptRule, &'a str)> {
    let holds = |rule: &&PromptRule| {
        rule.families.is_empty() || rule.families.iter().any(|one| one == family)
    };
    let mut rules = rules.iter().filter(holds);
    rules.find_map(|rule| banned_word(prompt, &rule.words).map(|word| (rule, word)))
}

/// What a banned word is answered with; the prompt check says it without a field.
pub fn banned_message(word: &str) -> String {
    format!("banned prompt words: [{word}]")
}

/// Refuses a request whose texts hold a banned word, by the name of the field.
pub fn refuse_banned(
    request: &dyn Request,
    family: &str,
    rules: &[PromptRule],
) -> Result<(), Refusal> {
    for (field, text) in request.prompts() {
        if let Some((rule, word)) = broken_rule(text, family, rules) {
            let mut message = banned_message(word);
            if !rule.name.is_empty() {
                message = format!("{message} (rule {})", rule.name);
            }
            return Err(Refusal::field(Code::BannedPrompt, &field, message));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(prompt: &str) -> Option<String> {
        let list = DEFAULT_BANNED_WORDS.map(str::to_owned);
        banned_word(prompt, &list).map(str::to_owned)
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

    #[test]
    fn an_entry_may_be_several_words_and_a_blank_one_bans_nothing() {
        let list = ["red fox".to_owned(), " ".to_owned()];
        assert_eq!(banned_word("the Red Fox runs", &list), Some("red fox"));
        assert_eq!(banned_word("the infrared foxes", &list), None);
    }
}
