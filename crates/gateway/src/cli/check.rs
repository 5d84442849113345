//! `atelier check`: the books must balance.

use std::process::ExitCode;

use anyhow::Result;

use crate::app;
use crate::config::Config;

/// Prints what does not balance.
#[expect(clippy::print_stdout, reason = "the command's answer")]
pub(super) async fn run(config: Config) -> Result<ExitCode> {
    let store = app::open_store(&config).await?;
    let faults = store.check_books().await?;
    store.close().await;
    for fault in &faults {
        println!("{fault}");
    }
    if faults.is_empty() {
        println!("the books balance");
        return Ok(ExitCode::SUCCESS);
    }
    Ok(ExitCode::FAILURE)
}
