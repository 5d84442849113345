//! `atelier check`: the books must balance, and nobody may have touched the audit list.

use std::process::ExitCode;

use anyhow::Result;

use crate::app;
use crate::config::Config;

/// Prints what is wrong.
#[expect(clippy::print_stdout, reason = "the command's answer")]
pub(super) async fn run(config: Config) -> Result<ExitCode> {
    let store = app::open_store(&config).await?;
    let mut faults = store.check_books().await?;
    faults.extend(store.check_audit().await?);
    store.close().await;
    for fault in &faults {
        println!("{fault}");
    }
    if faults.is_empty() {
        println!("the books balance, and the audit list is whole");
        return Ok(ExitCode::SUCCESS);
    }
    Ok(ExitCode::FAILURE)
}
