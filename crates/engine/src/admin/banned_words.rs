//! The banned words: the list of the configuration until an operator edits it, then the edited one, on every node and for the
//! same families. Rules with a name of their own stay as they are configured.

use std::sync::{Arc, PoisonError, RwLock};

use atelier_contract::{PromptRule, Refusal};

use crate::context::{Context, unavailable};
use crate::crash;
use crate::hint::Hint;

/// The setting with the edited list, one word a line.
const SETTING: &str = "banned_words";
/// An edited list is at most so long, and a word of it.
const MOST_WORDS: usize = 5000;
const MOST_LETTERS: usize = 100;

/// The rules in force here.
pub struct BannedWords {
    context: Arc<Context>,
    held: RwLock<(Arc<Vec<PromptRule>>, Option<String>)>,
}

impl BannedWords {
    pub(crate) fn new(context: Arc<Context>) -> Arc<Self> {
        let rules = Arc::new(context.settings().prompts.all_rules());
        Arc::new(Self {
            context,
            held: RwLock::new((rules, None)),
        })
    }

    /// The rules in force.
    pub(crate) fn rules(&self) -> Arc<Vec<PromptRule>> {
        let held = self.held.read();
        Arc::clone(&held.unwrap_or_else(PoisonError::into_inner).0)
    }

    /// The words of the common list.
    pub fn words(&self) -> Vec<String> {
        let rules = self.rules();
        let common = rules.iter().filter(|rule| is_common(rule));
        common
            .flat_map(|rule| rule.words.shown().to_vec())
            .collect()
    }

    /// Looks whether the list was edited, here or on another node, and takes it over.
    pub async fn step(&self) -> Result<(), atelier_store::Error> {
        let stored = self.context.store().settings().get(SETTING).await?;
        if stored == self.stored() {
            return Ok(());
        }
        let mut rules = self.context.settings().prompts.all_rules();
        if let Some(text) = &stored {
            let words: Vec<String> = text.lines().map(str::to_owned).collect();
            let configured = rules.iter().position(is_common);
            let mut common = configured.map_or_else(PromptRule::default, |at| rules.remove(at));
            common.words = words.into();
            rules.insert(0, common);
        }
        let held = self.held.write();
        *held.unwrap_or_else(PoisonError::into_inner) = (Arc::new(rules), stored);
        Ok(())
    }

    /// Replaces the list, for requests from now on and on every node.
    pub async fn set(&self, by: &str, words: Vec<String>) -> Result<(), Refusal> {
        let words = read(words)?;
        let before = self.words();
        let gone = before.iter().filter(|word| !words.contains(word));
        let new = words.iter().filter(|word| !before.contains(word));
        let changes: Vec<String> = new
            .map(|word| format!("+{word}"))
            .chain(gone.map(|word| format!("-{word}")))
            .collect();
        let act = self
            .context
            .act(by, "banned.change", "banned words", changes.join(" "));
        let settings = vec![(SETTING.to_owned(), words.join("\n"))];
        let kept = self
            .context
            .store()
            .settings()
            .put_all(settings, Some(act))
            .await;
        kept.map_err(unavailable)?;
        crash::point("admin.acted");
        self.step().await.map_err(unavailable)?;
        self.context.broadcast(Hint::Prices);
        Ok(())
    }

    /// What was read last.
    fn stored(&self) -> Option<String> {
        let held = self.held.read();
        held.unwrap_or_else(PoisonError::into_inner).1.clone()
    }
}

/// Whether a rule is the common list.
fn is_common(rule: &PromptRule) -> bool {
    rule.name.is_empty()
}

/// Words as they are compared: small, each once, none of them empty.
fn read(given: Vec<String>) -> Result<Vec<String>, Refusal> {
    let mut words: Vec<String> = Vec::new();
    for word in given {
        let word = word.split_whitespace().collect::<Vec<_>>().join(" ");
        let word = word.to_lowercase();
        if word.chars().count() > MOST_LETTERS {
            let message = format!("a word has at most {MOST_LETTERS} letters");
            return Err(Refusal::invalid("words", message));
        }
        if !word.is_empty() && !words.contains(&word) {
            words.push(word);
        }
    }
    if words.len() > MOST_WORDS {
        let message = format!("at most {MOST_WORDS} words");
        return Err(Refusal::invalid("words", message));
    }
    Ok(words)
}
