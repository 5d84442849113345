//! `atelier audit`, `backup`, `restore` and `archive`: the words of what keeps a service in order.

use std::process::ExitCode;

use anyhow::Result;
use atelier_cli::{Command, Group, block_on};
use clap::Args;

use super::instance_options::InstanceOptions;
use super::{archive, audit, backup};

/// Makes a command of a place, some options and what is done with both.
macro_rules! upkeep {
    ($($(#[$doc:meta])* $name:ident $word:literal $options:ty, $run:path, $examples:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Args)]
        pub(super) struct $name {
            #[command(flatten)]
            instance: InstanceOptions,
            #[command(flatten)]
            options: $options,
        }

        impl Command for $name {
            const NAME: &str = $word;
            const GROUP: Group = Group::Service;
            const EXAMPLES: &str = $examples;

            fn run(self) -> Result<ExitCode> {
                block_on($run(self.instance.config()?, self.options))
            }
        }
    )*};
}

upkeep! {
    /// Checks every invariant of ledger, jobs, audit log and files; exits with 1 if one is violated.
    Audit "audit" audit::AuditOptions, audit::run, "atelier audit\natelier audit --json";
    /// Copies database and files to a folder; safe while the service runs.
    Backup "backup" backup::BackupOptions, backup::run, "atelier backup --help";
    /// Restores a backup into a data folder without a database.
    Restore "restore" backup::RestoreOptions, backup::put_back, "atelier restore --help";
    /// Moves old jobs, attempts, callbacks and ledger rows to compressed files.
    Archive "archive" archive::ArchiveOptions, archive::run, "atelier archive --before 2026-01-31";
}
