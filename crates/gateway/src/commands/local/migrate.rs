//! `atelier local migrate`: opening the database brings its schema up to date.

use std::process::ExitCode;

use anyhow::Result;

use crate::app;
use crate::config::Config;

/// Brings the schema up to date.
#[expect(clippy::print_stdout, reason = "the command's answer")]
pub(super) async fn run(config: Config) -> Result<ExitCode> {
    app::open_store(&config).await?.close().await;
    println!("the database is up to date");
    Ok(ExitCode::SUCCESS)
}
