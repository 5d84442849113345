//! `atelier local rotate-address-key`: a new key signs asset addresses; running nodes take it up by themselves.

use std::process::ExitCode;

use anyhow::{Result, anyhow};
use atelier_cli::screen;

use crate::app::{self, Addresses};
use crate::config::Config;
use crate::secrets;

/// The operator, in the audit record.
const ACTOR: &str = "command line";

/// Makes the key and says its number.
pub(super) async fn run(config: Config) -> Result<ExitCode> {
    let store = app::open_store(&config).await?;
    let addresses = Addresses::new(&config, Vec::new());
    let key = secrets::master_key(&config, &store).await?;
    let engine = app::build_engine(&config, store.clone(), key, &addresses).await?;
    let rotated = engine.assets().rotate_address_key(ACTOR).await;
    store.close().await;
    let number = rotated.map_err(|refusal| anyhow!(refusal.message))?;
    screen::say(format!("URL key {number} signs from now on"));
    Ok(ExitCode::SUCCESS)
}
