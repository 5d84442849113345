//! `atelier local rotate-master-key`: seals every stored secret with a new master key, while the service is stopped.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use atelier_cli::screen;
use atelier_engine::Keyring;

use crate::app::{self, Addresses};
use crate::config::Config;
use crate::secrets::{self, NewKey};

/// Changes the master key. A key of the configuration is replaced by the text of a file, which then goes there.
pub(super) async fn run(config: Config, new_key: Option<PathBuf>) -> Result<ExitCode> {
    let store = app::open_store(&config).await?;
    let addresses = Addresses::new(&config, Vec::new());
    let key = secrets::master_key(&config, &store).await?;
    let engine = app::build_engine(&config, store.clone(), key, &addresses).await?;
    let text = new_key
        .map(|file| std::fs::read_to_string(&file).with_context(|| file.display().to_string()))
        .transpose()?;
    let new = NewKey::make(&config, &store, text.as_deref())?;
    let keyring = Keyring::new(new.key);
    let settings = new.settings.clone();
    let count = engine
        .admin()
        .secrets()
        .reseal("command line", &keyring, settings)
        .await?;
    new.finish(&config)?;
    store.close().await;
    screen::say(format!("encrypted {count} secrets with the new master key"));
    Ok(ExitCode::SUCCESS)
}
