//! `atelier callbacks`: the pages of callbacks as verbs, and `listen`, a receiver on this machine.

mod listen;

use std::process::ExitCode;

use anyhow::Result;
use atelier_contract::catalogue::Catalogue;
use clap::{ArgMatches, Args as _, FromArgMatches as _};

use super::client_options::ClientOptions;
use super::nouns::Noun;
use crate::command::{Entry, Group, block_on};

/// Its line in the table of commands.
pub(super) const ENTRY: Entry = Entry {
    group: Group::Account,
    words,
    run,
};

fn words(catalogue: &'static Catalogue) -> clap::Command {
    let listen = listen::Listen::augment_args(clap::Command::new("listen"));
    Noun::CALLBACKS.words(catalogue).subcommand(listen)
}

fn run(catalogue: &'static Catalogue, matches: &ArgMatches) -> Result<ExitCode> {
    let Some(("listen", inner)) = matches.subcommand() else {
        return Noun::CALLBACKS.run(catalogue, matches);
    };
    let client_options = ClientOptions::from_arg_matches(inner)?;
    let listen = listen::Listen::from_arg_matches(inner)?;
    block_on(listen.run(&client_options, catalogue))
}
