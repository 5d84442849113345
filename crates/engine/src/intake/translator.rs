//! Somebody who puts prompts into English before they are accepted, so that every attempt works with the same words: LibreTranslate, or a language model that speaks as
//! OpenAI's does. Answers are remembered, and a prompt whose translation does not come in time is worked with as it is: the
//! embedded engine has dictionaries of its own, and most vendors understand many languages.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use atelier_backends::http::{VendorHttp, VendorRequest};
use quick_cache::sync::Cache;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::context::Context;
use crate::settings::Translation;

/// How long an answer may take. The caller waits meanwhile, so it is short.
const PATIENCE: Duration = Duration::from_secs(3);
/// Questions that are asked at once; who finds no place goes on without.
const AT_ONCE: usize = 16;
/// Answers that are remembered.
const REMEMBERED: usize = 4_096;
/// Longer prompts are left as they are, and longer answers are not believed.
const MOST_CHARACTERS: usize = 4_000;
/// What a language model is told to do.
const TASK: &str = "Translate the prompt for an image generator into English. Answer with the translation alone. \
     Keep names, numbers, addresses and option flags such as --ar 3:2 exactly as they are. \
     If it is English already, repeat it.";

/// Translates prompts, if anybody does.
pub(super) struct Translator {
    http: OnceLock<Option<VendorHttp>>,
    known: Cache<String, Arc<str>>,
    places: Semaphore,
}

impl Default for Translator {
    fn default() -> Self {
        Self {
            http: OnceLock::new(),
            known: Cache::new(REMEMBERED),
            places: Semaphore::new(AT_ONCE),
        }
    }
}

impl Translator {
    /// The prompt in English; nothing when it is left as it is.
    pub(super) async fn english(&self, context: &Context, prompt: &str) -> Option<Arc<str>> {
        let settings = &context.settings().translation;
        // Words in double brackets steer the embedded engine; nobody else is to read them.
        if !settings.is_set()
            || prompt.trim().is_empty()
            || prompt.contains("[[")
            || prompt.chars().count() > MOST_CHARACTERS
        {
            return None;
        }
        if let Some(words) = self.known.get(prompt) {
            return (*words != *prompt).then_some(words);
        }
        let words: Arc<str> = self.ask(context, settings, prompt).await?.into();
        self.known.insert(prompt.to_owned(), words.clone());
        (*words != *prompt).then_some(words)
    }

    async fn ask(&self, context: &Context, settings: &Translation, prompt: &str) -> Option<String> {
        let _place = self.places.try_acquire().ok()?;
        let http = self.http.get_or_init(|| connect(context, settings));
        let (words, flags) = prompt.split_at(prompt.find(" --").unwrap_or(prompt.len()));
        let asked = tokio::time::timeout(PATIENCE, ask(http.as_ref()?, settings, words)).await;
        match asked {
            Ok(Ok(english)) => Some(format!("{english}{flags}")),
            Ok(Err(why)) => {
                tracing::warn!(why, "a prompt could not be translated");
                None
            }
            Err(_) => {
                tracing::warn!("a prompt could not be translated in time");
                None
            }
        }
    }
}

fn connect(context: &Context, settings: &Translation) -> Option<VendorHttp> {
    let http = context.outbound().vendor(&settings.url, true);
    let http = http.and_then(|http| {
        // LibreTranslate takes its key in the body.
        if settings.key.is_empty() || settings.model.is_empty() {
            return Ok(http);
        }
        let key = format!("Bearer {}", settings.key.reveal());
        http.with_header("authorization", "translation.key", &key)
    });
    let wrong = |why| tracing::error!(%why, "translation.url cannot be used");
    http.map_err(wrong).ok()
}

async fn ask(http: &VendorHttp, settings: &Translation, words: &str) -> Result<String, String> {
    let call = if settings.model.is_empty() {
        let mut body = json!({ "q": words, "source": "auto", "target": "en", "format": "text" });
        if !settings.key.is_empty() {
            body["api_key"] = settings.key.reveal().into();
        }
        VendorRequest::post_json("translate", &body)
    } else {
        let body = json!({
            "model": settings.model,
            "temperature": 0,
            "messages": [
                { "role": "system", "content": TASK },
                { "role": "user", "content": words },
            ],
        });
        VendorRequest::post_json("chat/completions", &body)
    };
    let answer = http.ask(call.within(PATIENCE)).await;
    let answer = answer.map_err(|fault| fault.detail)?;
    if !answer.is_good() {
        return Err(answer.start());
    }
    let answer = answer.json().map_err(|fault| fault.detail)?;
    translated(&answer).ok_or_else(|| "the answer has no translation".to_owned())
}

/// The translation in an answer of either kind.
fn translated(answer: &Value) -> Option<String> {
    let text = answer["translatedText"]
        .as_str()
        .or_else(|| answer["choices"][0]["message"]["content"].as_str())?;
    // One line, as prompts are; a model that explains itself at length is not believed.
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line.trim_matches('"').to_owned();
    (!line.is_empty() && line.chars().count() <= MOST_CHARACTERS).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_both_kinds_are_read() {
        let libre = json!({ "translatedText": "a red fox" });
        assert_eq!(translated(&libre).as_deref(), Some("a red fox"));
        let chat = json!({ "choices": [{ "message": { "content": "\"a red\n fox\"" } }] });
        assert_eq!(translated(&chat).as_deref(), Some("a red fox"));
        assert_eq!(translated(&json!({ "translatedText": " " })), None);
        assert_eq!(translated(&json!({ "error": "no" })), None);
    }
}
