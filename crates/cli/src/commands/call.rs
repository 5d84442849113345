//! `atelier call`: every operation of both tables by its name.

use std::process::ExitCode;

use anyhow::Result;
use atelier_contract::catalogue::Catalogue;
use clap::{ArgMatches, Args as _, FromArgMatches as _};

use super::client_options::ClientOptions;
use super::operation_command::{OperationCommand, can_be_called};
use crate::command::{block_on, examples};

/// What it is called.
pub(crate) const NAME: &str = "call";

const EXAMPLES: &str = "\
atelier call artgen.imagine prompt='a lighthouse at dawn' --wait --out pictures
atelier call artgen.imagine --help
atelier call design.remove_background image=@cat.png --out .
atelier call jobs.show jobId=0199… --json";

fn operation_command<'a>(catalogue: &'static Catalogue, name: &'a str) -> OperationCommand<'a> {
    OperationCommand {
        catalogue,
        operation: name,
        fields: &[],
        columns: &[],
        short: false,
    }
}

/// Its words: one subcommand for each operation.
pub(crate) fn words(catalogue: &'static Catalogue) -> clap::Command {
    let mut command = ClientOptions::augment_args(clap::Command::new(NAME))
        .about("Calls any operation: field=value, field=@file; `call NAME --help` shows its fields")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand_value_name("OPERATION")
        .subcommand_help_heading("Operations")
        .after_help(examples(EXAMPLES));
    for operation in catalogue.operations.iter().filter(|one| can_be_called(one)) {
        let whole = format!("atelier call {}", operation.name);
        let spoken = operation_command(catalogue, &operation.name);
        command = command.subcommand(spoken.words(&operation.name, &whole));
    }
    command
}

pub(crate) fn run(catalogue: &'static Catalogue, matches: &ArgMatches) -> Result<ExitCode> {
    let client_options = ClientOptions::from_arg_matches(matches)?;
    match matches.subcommand() {
        Some((name, inner)) => {
            block_on(operation_command(catalogue, name).run(&client_options, inner))
        }
        None => Ok(ExitCode::SUCCESS),
    }
}
