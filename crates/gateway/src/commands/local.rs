//! `atelier local`: what works on the database directly, beside a running service or without one.

mod abandon_master_key;
mod account;
mod migrate;
mod rotate_address_key;
mod rotate_master_key;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use atelier_cli::{Command, Group, block_on};
use clap::{Args, Subcommand};

use super::instance_options::InstanceOptions;

/// Works on the database directly: accounts, keys, schema.
#[derive(Args)]
pub(super) struct Local {
    #[command(subcommand)]
    what: LocalAction,
}

#[derive(Subcommand)]
enum LocalAction {
    /// Creates and lists accounts, grants quota, issues keys.
    // Where the installation is may be said behind the last word as well, as for every other command.
    #[command(mut_args(|arg| arg.global(true)))]
    Account {
        #[command(flatten)]
        instance: InstanceOptions,
        #[command(subcommand)]
        action: account::AccountAction,
    },
    /// Migrates the database's schema and exits.
    Migrate(InstanceOptions),
    /// Creates a new key that signs asset URLs; URLs signed before work until they expire.
    RotateAddressKey(InstanceOptions),
    /// Encrypts every stored secret with a new master key; the service must be stopped.
    RotateMasterKey {
        #[command(flatten)]
        instance: InstanceOptions,
        /// File with the new value of the setting master_key, if that setting is used.
        #[arg(long, value_name = "FILE")]
        new_key: Option<PathBuf>,
    },
    /// Goes on without a master key that is lost; what it has sealed is lost with it. The service must be stopped.
    AbandonMasterKey(InstanceOptions),
}

impl Command for Local {
    const NAME: &str = "local";
    const GROUP: Group = Group::Service;
    const EXAMPLES: &str = "\
atelier local account list
atelier local account create someone@example.com --balance 100
atelier local account key demo@example.com
atelier local migrate --data-dir /var/lib/atelier";

    fn run(self) -> Result<ExitCode> {
        block_on(act(self.what))
    }
}

async fn act(what: LocalAction) -> Result<ExitCode> {
    match what {
        LocalAction::Account { instance, action } => account::run(instance.config()?, action).await,
        LocalAction::Migrate(instance) => migrate::run(instance.config()?).await,
        LocalAction::RotateAddressKey(instance) => {
            rotate_address_key::run(instance.config()?).await
        }
        LocalAction::RotateMasterKey { instance, new_key } => {
            rotate_master_key::run(instance.config()?, new_key).await
        }
        LocalAction::AbandonMasterKey(instance) => {
            abandon_master_key::run(instance.config()?).await
        }
    }
}
