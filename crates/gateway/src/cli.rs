//! The command line. Without a subcommand the service starts.

mod account;
mod archive;
mod audit;
mod backup;
mod migrate;
mod rotate;
mod rotate_master;
mod serve;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Parser, Subcommand};

use crate::config::Config;
use crate::config::load::Sources;

/// A self-hosted, quota-metered gateway for generated media.
#[derive(Parser)]
#[command(name = "atelier", version, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: ServeOptions,
}

#[derive(Subcommand)]
enum Command {
    /// Starts the service (also without a subcommand).
    Serve(ServeOptions),
    /// Brings the database's schema up to date and ends.
    Migrate(Place),
    /// Makes and lists accounts, grants quota, issues keys; works on the database directly.
    Account {
        #[command(flatten)]
        place: Place,
        #[command(subcommand)]
        action: account::Action,
    },
    /// Makes a new key that signs asset addresses; those signed before go on working until they expire.
    RotateAddressKey(Place),
    /// Copies the database and the files to a folder, while the service works or not.
    Backup {
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        options: backup::BackupOptions,
    },
    /// Puts a backup into a data folder that has no database.
    Restore {
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        options: backup::RestoreOptions,
    },
    /// Moves jobs, attempts, deliveries and ledger rows from before a day to compressed files.
    Archive {
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        options: archive::Options,
    },
    /// Asks everything that is always so of the books, the audit list and the files; fails when something is wrong.
    Audit {
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        options: audit::Options,
    },
    /// Seals every stored secret with a new master key; the service must be stopped.
    RotateMasterKey {
        #[command(flatten)]
        place: Place,
        /// A file with the new text of the setting master_key, where that setting is used.
        #[arg(long, value_name = "FILE")]
        new_key: Option<PathBuf>,
    },
}

/// Where the state is.
#[derive(Args)]
struct Place {
    /// A TOML file with settings.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Folder for everything this node keeps.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<String>,
    /// A postgres:// address; SQLite in the data folder without it.
    #[arg(long, value_name = "URL")]
    database: Option<String>,
}

#[derive(Args)]
struct ServeOptions {
    #[command(flatten)]
    place: Place,
    /// Address to listen on; port 0 picks a free one.
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
}

impl Place {
    fn config(self, mut more: Vec<(&'static str, String)>) -> Result<Config> {
        more.extend(self.data_dir.map(|folder| ("data_dir", folder)));
        more.extend(self.database.map(|url| ("database", url)));
        Sources::of_process(self.config, more).config()
    }
}

/// Does what the command line says.
pub(crate) fn run() -> Result<ExitCode> {
    let cli = Cli::parse();
    match cli.command {
        None => serve::run(cli.serve.config()?),
        Some(Command::Serve(options)) => serve::run(options.config()?),
        Some(Command::Migrate(place)) => block_on(migrate::run(place.config(Vec::new())?)),
        Some(Command::Account { place, action }) => {
            block_on(account::run(place.config(Vec::new())?, action))
        }
        Some(Command::RotateAddressKey(place)) => block_on(rotate::run(place.config(Vec::new())?)),
        Some(Command::Backup { place, options }) => {
            block_on(backup::run(place.config(Vec::new())?, options))
        }
        Some(Command::Restore { place, options }) => {
            block_on(backup::put_back(place.config(Vec::new())?, options))
        }
        Some(Command::Archive { place, options }) => {
            block_on(archive::run(place.config(Vec::new())?, options))
        }
        Some(Command::Audit { place, options }) => {
            block_on(audit::run(place.config(Vec::new())?, options))
        }
        Some(Command::RotateMasterKey { place, new_key }) => {
            block_on(rotate_master::run(place.config(Vec::new())?, new_key))
        }
    }
}

impl ServeOptions {
    fn config(self) -> Result<Config> {
        let listen = self.listen.map(|address| ("listen", address));
        self.place.config(listen.into_iter().collect())
    }
}

/// Runs a short command.
fn block_on(work: impl Future<Output = Result<ExitCode>>) -> Result<ExitCode> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(work)
}
