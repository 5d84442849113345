//! The two artgen endpoints that make nothing: the prompt check and the status.

use std::sync::Arc;

use atelier_contract::body as contract_body;
use atelier_contract::families::artgen::account::{PROMPT_PASSED, PromptCheck};
use atelier_contract::family::SMALL_BODY;
use atelier_contract::{Code, Refusal};

use super::{Answer, Received, body, caller, reply};
use crate::app::App;

/// Holds a prompt against the list of banned words.
pub(super) async fn check_prompt(app: Arc<App>, received: Received) -> Answer {
    caller::known(&app, &received).await?;
    let (fields, _) = body::fields(&app, &received.head, received.body, SMALL_BODY).await?;
    let check: PromptCheck = contract_body::read(fields)?;
    match app.engine.banned_word(&check.prompt) {
        None => Ok(reply::success(PROMPT_PASSED)),
        Some(word) => {
            let message = format!("banned prompt words: [{word}]");
            Err(Refusal {
                field: Some("prompt".into()),
                ..Refusal::new(Code::BannedPrompt, message)
            }
            .into())
        }
    }
}

/// How the artgen image endpoints do.
pub(super) async fn status(app: Arc<App>, received: Received) -> Answer {
    caller::known(&app, &received).await?;
    Ok(reply::success(app.engine.artgen_status().await?))
}
