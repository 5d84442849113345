//! `atelier backup` and `atelier restore`: a whole copy of what a service on SQLite keeps, made while it works.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use atelier_cli::screen;
use atelier_engine::Clock;
use atelier_engine::backup::{back_up, copy_secret, restore};

use crate::app;
use crate::config::Config;
use crate::secrets::KEY_FILE;

/// What to copy where.
#[derive(clap::Args)]
pub(super) struct BackupOptions {
    /// Folder to write to; it must be new or empty.
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// Skips result and input files, for instance if they are in a bucket with versions.
    #[arg(long)]
    without_files: bool,
}

/// What to put back.
#[derive(clap::Args)]
pub(super) struct RestoreOptions {
    /// Folder that `atelier backup` wrote.
    #[arg(long, value_name = "DIR")]
    from: PathBuf,
}

pub(super) async fn run(config: Config, options: BackupOptions) -> Result<ExitCode> {
    ensure!(
        config.database.is_empty(),
        "a service on PostgreSQL is backed up with pg_dump: see docs/backup.md and scripts/postgres-backup"
    );
    let store = app::open_store(&config).await?;
    let files = app::open_files(&config)?;
    let files = (!options.without_files).then_some(&files);
    let now_ms = Clock::of(&store).await?.now_ms();
    let made = back_up(&store, files, &options.to, now_ms).await;
    store.close().await;
    let made = made?;
    let key = copy_secret(&config.data_dir, &options.to, KEY_FILE)?;
    screen::say(format!(
        "copied the database and {} files to {}; {} rows of the copy were audited{}",
        made.files,
        options.to.display(),
        made.rows,
        if key {
            "; the backup contains the master key, so store it safely"
        } else {
            "; the master key is in the configuration and not in the backup"
        }
    ));
    Ok(ExitCode::SUCCESS)
}

/// Puts a backup back.
pub(super) async fn put_back(config: Config, options: RestoreOptions) -> Result<ExitCode> {
    ensure!(
        config.database.is_empty(),
        "a service on PostgreSQL is restored with pg_restore: see docs/backup.md and scripts/postgres-backup"
    );
    let files = app::open_files(&config)?;
    if !config.data_dir.join(KEY_FILE).exists() {
        copy_secret(&options.from, &config.data_dir, KEY_FILE)?;
    }
    let back = restore(&options.from, &files, &config.data_dir).await?;
    screen::say(format!(
        "restored the database and {} files to {}; check them with `atelier audit`",
        back.files,
        config.data_dir.display()
    ));
    Ok(ExitCode::SUCCESS)
}
