//! `atelier local migrate`: opening the database brings its schema up to date.

use std::process::ExitCode;

use anyhow::Result;
use atelier_cli::screen;

use crate::app;
use crate::config::Config;

/// Brings the schema up to date.
pub(super) async fn run(config: Config) -> Result<ExitCode> {
    app::open_store(&config).await?.close().await;
    screen::say("the database is up to date");
    Ok(ExitCode::SUCCESS)
}
