//! `atelier local`: what works on the database directly, beside a running service or without one.

mod account;
mod migrate;
mod rotate_address_key;
mod rotate_master_key;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

use super::command::{Command, Group, block_on};
use super::place::Place;

/// Works on the database directly: accounts, keys, schema.
#[derive(Args)]
pub(super) struct Local {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Makes and lists accounts, grants quota, issues keys.
    Account {
        #[command(flatten)]
        place: Place,
        #[command(subcommand)]
        action: account::Action,
    },
    /// Brings the database's schema up to date and ends.
    Migrate(Place),
    /// Makes a new key that signs asset addresses; those signed before go on working until they expire.
    RotateAddressKey(Place),
    /// Seals every stored secret with a new master key; the service must be stopped.
    RotateMasterKey {
        #[command(flatten)]
        place: Place,
        /// A file with the new text of the setting master_key, where that setting is used.
        #[arg(long, value_name = "FILE")]
        new_key: Option<PathBuf>,
    },
}

impl Command for Local {
    const NAME: &str = "local";
    const GROUP: Group = Group::Service;
    const EXAMPLES: &str = "\
atelier local account list
atelier local account create someone@example.com --balance 100
atelier local migrate --data-dir /var/lib/atelier";

    fn run(self) -> Result<ExitCode> {
        block_on(act(self.what))
    }
}

async fn act(what: What) -> Result<ExitCode> {
    match what {
        What::Account { place, action } => account::run(place.config()?, action).await,
        What::Migrate(place) => migrate::run(place.config()?).await,
        What::RotateAddressKey(place) => rotate_address_key::run(place.config()?).await,
        What::RotateMasterKey { place, new_key } => {
            rotate_master_key::run(place.config()?, new_key).await
        }
    }
}
