//! The command line: a service without words, a client of one with them. What a file here does is a line in the table of
//! commands; everything else is made from the tables of operations.

mod account;
mod archive;
mod audit;
mod backup;
mod batch;
mod call;
mod callbacks;
mod client_options;
mod command;
mod complete;
mod completions;
mod config;
mod doctor;
mod instance_options;
mod local;
mod login;
mod maintenance;
mod man;
mod mcp;
mod nouns;
mod operation_command;
mod operation_help;
mod output;
mod results;
mod serve;
mod tally;
mod watch;

use std::fmt::Write as _;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args as _, FromArgMatches as _};

use client_options::ClientOptions;
use command::{Entry, Group, block_on, examples};
use nouns::{NOUNS, SINGLES};
use serve::Serve;

/// The command that starts the service.
const SERVE: Entry = Entry::of::<Serve>();

/// The commands that have a file of their own.
const COMMANDS: &[Entry] = &[
    Entry::of::<watch::WatchCommand>(),
    Entry::of::<account::Account>(),
    callbacks::ENTRY,
    SERVE,
    Entry::of::<config::ConfigCommand>(),
    Entry::of::<doctor::Doctor>(),
    Entry::of::<maintenance::Audit>(),
    Entry::of::<maintenance::Backup>(),
    Entry::of::<maintenance::Restore>(),
    Entry::of::<maintenance::Archive>(),
    Entry::of::<local::Local>(),
    Entry::of::<login::Login>(),
    Entry::of::<login::Logout>(),
    Entry::of::<login::ProfileCommand>(),
    Entry::of::<mcp::Mcp>(),
    Entry::of::<completions::Completions>(),
    complete::ENTRY,
    man::ENTRY,
];

const EXAMPLES: &str = "\
atelier                                       starts a service on this machine
atelier login http://127.0.0.1:8080           keeps a key for later calls
atelier imagine \"a lighthouse at dawn\"        makes pictures, saves and shows them
atelier call design.vectorize image=@a.png    calls any operation
atelier jobs                                  lists what was asked for";

/// Every word of the command line, each command with its group.
fn commands() -> Vec<(Group, clap::Command)> {
    let mut all = Vec::new();
    for (word, operation_command, example) in nouns::shortcuts() {
        let words =
            client_options::add_options::<ClientOptions>(operation_command.words(word, &example));
        let rules = words.get_after_help().map(ToString::to_string);
        let help = format!("{}\n\n{}", examples(&example), rules.unwrap_or_default());
        all.push((Group::Make, words.after_help(help)));
    }
    all.push((Group::Make, call::words()));
    for noun in NOUNS.iter().filter(|noun| noun.is_there()) {
        all.push((noun.group, noun.words()));
    }
    all.extend(SINGLES.iter().map(|single| (single.group, single.words())));
    all.extend(COMMANDS.iter().map(|entry| (entry.group, (entry.words)())));
    all
}

/// The whole command line.
fn whole() -> clap::Command {
    let mut listed = String::new();
    let all = commands();
    let widest = all
        .iter()
        .map(|(_, one)| one.get_name().len())
        .max()
        .unwrap_or(0);
    for (group, title) in Group::ALL {
        listed.push_str(title);
        listed.push_str(":\n");
        for (_, one) in all
            .iter()
            .filter(|(other, one)| *other == group && !one.is_hide_set())
        {
            let about = one.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(listed, "  {:widest$}  {about}", one.get_name());
        }
        listed.push('\n');
    }
    Serve::augment_args(clap::Command::new("atelier"))
        .about("A self-hosted, quota-metered gateway for generated media, and its client.")
        .version(env!("CARGO_PKG_VERSION"))
        .args_conflicts_with_subcommands(true)
        .subcommands(all.into_iter().map(|(_, command)| command))
        .help_template("{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}Options of the service:\n{options}\n\n{after-help}")
        .before_help(listed)
        .after_help(examples(EXAMPLES))
}

/// What starts the service, and no other word. The others are made from the schema of everything that can be called, and
/// having read that would cost a service at rest 5 MB.
fn service() -> clap::Command {
    Serve::augment_args(clap::Command::new("atelier"))
        .args_conflicts_with_subcommands(true)
        .subcommand((SERVE.words)())
}

/// Does what the command line says.
pub(crate) fn run() -> Result<ExitCode> {
    // Whatever it does not know, help among it, is for the whole command line to answer.
    let matches = service()
        .try_get_matches()
        .unwrap_or_else(|_| whole().get_matches());
    let Some((name, inner)) = matches.subcommand() else {
        let serve = Serve::from_arg_matches(&matches).map_err(|error| error.exit())?;
        return command::Command::run(serve);
    };
    if name == <Serve as command::Command>::NAME {
        return (SERVE.run)(inner);
    }
    if name == "call" {
        return call::run(inner);
    }
    if let Some((_, operation_command, _)) = nouns::shortcuts().find(|(word, ..)| *word == name) {
        let client_options = ClientOptions::from_arg_matches(inner)?;
        return block_on(operation_command.run(&client_options, inner));
    }
    if let Some(noun) = NOUNS.iter().find(|noun| noun.word == name) {
        return noun.run(inner);
    }
    if let Some(single) = SINGLES.iter().find(|single| single.word == name) {
        return single.run(inner);
    }
    if name == complete::NAME {
        complete::run(inner, &whole());
        return Ok(ExitCode::SUCCESS);
    }
    if name == man::NAME {
        return man::run(inner, whole());
    }
    let entry = COMMANDS
        .iter()
        .find(|entry| (entry.words)().get_name() == name);
    entry.map_or(Ok(ExitCode::SUCCESS), |entry| (entry.run)(inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_can_be_built_and_says_what_it_does() {
        let mut whole = whole();
        whole.clone().debug_assert();
        whole.build();
        let mut seen = 0;
        let mut left: Vec<&clap::Command> = whole.get_subcommands().collect();
        while let Some(command) = left.pop() {
            assert!(command.get_about().is_some(), "{}", command.get_name());
            left.extend(command.get_subcommands());
            seen += 1;
        }
        assert!(seen > 150, "{seen}");
    }

    #[test]
    fn the_service_starts_without_the_other_words() {
        for line in [&["atelier"][..], &["atelier", "serve", "--data-dir", "a"]] {
            assert!(service().try_get_matches_from(line).is_ok(), "{line:?}");
            assert!(whole().try_get_matches_from(line).is_ok(), "{line:?}");
        }
        for line in ["--help", "--version", "help", "jobs"] {
            let read = service().try_get_matches_from(["atelier", line]);
            assert!(read.is_err(), "{line} is for the whole command line");
        }
    }

    #[test]
    fn every_submit_of_the_table_can_be_called_by_name() {
        let whole = whole();
        let call = whole.find_subcommand("call").expect("call");
        for family in atelier_contract::FAMILIES {
            for submit in family.submits {
                assert!(
                    call.find_subcommand(submit.name).is_some(),
                    "{}",
                    submit.name
                );
            }
        }
    }

    #[test]
    fn every_command_of_its_own_has_examples() {
        let whole = whole();
        // What is hidden is for the shell's scripts.
        for command in whole.get_subcommands().filter(|one| !one.is_hide_set()) {
            let help = command
                .get_after_help()
                .map(ToString::to_string)
                .unwrap_or_default();
            let plain = command.get_subcommands().next().is_none()
                && command.get_arguments().all(clap::Arg::is_global_set);
            assert!(
                plain || help.contains("Example") || help.contains("Fields"),
                "{}",
                command.get_name()
            );
        }
    }
}
