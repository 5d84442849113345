//! `atelier archive`: moves what ended before a day to compressed files, while the service is at work or stopped.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, anyhow, ensure};
use atelier_cli::screen;
use atelier_contract::fields::Moment;
use atelier_engine::Clock;
use atelier_engine::archive::archive;

use crate::app;
use crate::config::Config;

/// Where the files are below the data folder, unless another folder is named.
pub(super) const FOLDER: &str = "archive";
/// What callers may still repeat, and what may still be delivered, is not old.
const YOUNGEST_MS: i64 = 2 * 86_400_000;

/// What to move where.
#[derive(clap::Args)]
pub(super) struct ArchiveOptions {
    /// Day such as 2026-10-01: everything that ended before it (UTC) is moved.
    #[arg(long, value_name = "DATE")]
    before: String,
    /// Folder for the files; by default `archive` in the data folder.
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
}

/// Moves it, and says how much it was.
pub(super) async fn run(config: Config, options: ArchiveOptions) -> Result<ExitCode> {
    let day: Moment = serde_json::from_value(options.before.clone().into())
        .map_err(|why| anyhow!("--before `{}` {why}", options.before))?;
    let before_ms = day.ms();
    let folder = options.to.unwrap_or_else(|| config.data_dir.join(FOLDER));
    let store = app::open_store_for_archiving(&config).await?;
    let now_ms = Clock::of(&store).await?.now_ms();
    ensure!(
        before_ms <= now_ms - YOUNGEST_MS,
        "--before must be at least two days ago: younger jobs may still be repeated, and their callbacks retried"
    );
    let moved = archive(&store, &folder, before_ms, now_ms).await;
    store.close().await;
    let moved = moved?;
    screen::say(format!(
        "moved {} jobs, {} ledger rows and {} attempts to {} files in {}",
        moved.jobs,
        moved.entries,
        moved.attempts,
        moved.files,
        folder.display()
    ));
    Ok(ExitCode::SUCCESS)
}
