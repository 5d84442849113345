//! The first start on an empty database: a demo account, its key, and lines a newcomer can paste.

use std::sync::Arc;

use anyhow::{Result, anyhow};
use atelier_contract::Quota;
use atelier_engine::{Engine, NewAccountRequest};

use crate::app::Store;
use crate::config::Config;

const EMAIL: &str = "demo@example.com";
const QUOTA: Quota = Quota::from_thousandths(1_000_000);
/// Remembers that the demo account was made, so that one that was removed does not come back.
const DONE: &str = "demo_account";

/// Makes the demo account when the database has never had one; gives back its key.
pub(crate) async fn demo_key(
    config: &Config,
    store: &Store,
    engine: &Arc<Engine>,
) -> Result<Option<String>> {
    if !config.demo_account {
        return Ok(None);
    }
    let (_, accounts) = store.accounts(0, 1).await?;
    let ours = engine.now_ms().to_string();
    if accounts > 0 || store.put_setting_if_absent(DONE, &ours).await? != ours {
        return Ok(None);
    }
    let request = NewAccountRequest {
        email: EMAIL.to_owned(),
        balance: QUOTA,
        max_queue: None,
        email_verified: true,
    };
    let (_, key) = engine
        .office()
        .accounts()
        .create("first start", request)
        .await
        .map_err(|refusal| anyhow!(refusal))?;
    Ok(Some(key))
}

/// The word of a link that signs the demo account in to the console once.
pub(crate) async fn link(engine: &Engine, key: Option<&str>) -> Result<Option<String>> {
    match key {
        Some(key) => {
            let word = engine.office().sessions().link(key).await;
            Ok(Some(word.map_err(|refusal| anyhow!(refusal))?))
        }
        None => Ok(None),
    }
}

/// What a newcomer is told.
pub(crate) fn welcome(
    base_url: &str,
    key: Option<&str>,
    admin_token: Option<&str>,
    link: Option<&str>,
) -> Option<String> {
    if key.is_none() && admin_token.is_none() {
        return None;
    }
    let mut lines =
        vec!["This is the first start. Keep these; they are shown only once.".to_owned()];
    if let Some(key) = key {
        lines.push(format!("  demo account   {EMAIL} with {QUOTA} quota"));
        lines.push(format!("  API key        {key}"));
    }
    if let Some(token) = admin_token {
        lines.push(format!("  admin token    {token}"));
    }
    lines.push(match link {
        // What follows the mark never leaves the browser by itself, so it stands in no log.
        Some(word) => format!("  console        {base_url}/console/#{word}  (signs in once)"),
        None => format!("  console        {base_url}/console/"),
    });
    if let Some(key) = key {
        lines.push(String::new());
        lines.push("Try it:".to_owned());
        lines.push(format!(
            "  curl -s {base_url}/artgen/v1/imagine -H 'SVC-API-KEY: {key}' \
             -d '{{\"prompt\":\"a lighthouse at dawn\"}}' -H 'Content-Type: application/json'"
        ));
    }
    lines.push(String::new());
    Some(lines.join("\n"))
}
