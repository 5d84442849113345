//! `atelier call`: every operation of both tables by its name.

use std::process::ExitCode;

use anyhow::Result;
use clap::{ArgMatches, Args as _, FromArgMatches as _};

use super::command::{block_on, examples};
use super::spoken::{Spoken, can_be_called};
use super::talk::{CATALOGUE, Talk};

const EXAMPLES: &str = "\
atelier call artgen.imagine prompt='a lighthouse at dawn' --wait --out pictures
atelier call artgen.imagine --help
atelier call design.remove_background image=@cat.png --out .
atelier call jobs.show jobId=0199… --json";

fn spoken(name: &str) -> Spoken<'_> {
    Spoken {
        operation: name,
        fields: &[],
        columns: &[],
        short: false,
    }
}

/// Its words: one subcommand for each operation.
pub(super) fn words() -> clap::Command {
    let mut command = Talk::augment_args(clap::Command::new("call"))
        .about("Calls any operation: field=value, field=@file; `call NAME --help` has its rules")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand_value_name("OPERATION")
        .subcommand_help_heading("Operations")
        .after_help(examples(EXAMPLES));
    for operation in CATALOGUE.operations.iter().filter(|one| can_be_called(one)) {
        let whole = format!("atelier call {}", operation.name);
        command = command.subcommand(spoken(&operation.name).words(&operation.name, &whole));
    }
    command
}

/// Does it.
pub(super) fn run(matches: &ArgMatches) -> Result<ExitCode> {
    let talk = Talk::from_arg_matches(matches)?;
    match matches.subcommand() {
        Some((name, inner)) => block_on(spoken(name).run(&talk, inner)),
        None => Ok(ExitCode::SUCCESS),
    }
}
