//! The whole command line: what calls a service, together with what the program brings along for this machine.

use std::fmt::Write as _;
use std::process::ExitCode;

use anyhow::Result;
use atelier_contract::catalogue::Catalogue;
use clap::{ArgMatches, FromArgMatches as _};

use crate::command::{self, Command, Entry, Group, block_on, examples, leave};
use crate::commands::client_options::{ClientOptions, add_options};
use crate::commands::nouns::{NOUNS, SINGLES, shortcuts};
use crate::commands::{CALLER, PROGRAM, call, complete, man};

const EXAMPLES: &str = "\
atelier                                       starts a service on this machine
atelier login http://127.0.0.1:8080           stores a key for later calls
atelier imagine \"a lighthouse at dawn\"        makes images, saves and shows them
atelier call design.vectorize image=@a.png    calls any operation
atelier jobs                                  lists your jobs";

/// The whole command line.
pub struct CommandLine {
    /// What the program does without a command; it has a name as well.
    start: StartCommand,
    /// What acts on an installation of this machine.
    local: &'static [Entry],
    /// Everything that can be called at a service. It is a function, because the table of pages stands beside what answers
    /// them, and having read it would cost a service at rest 5 MB.
    catalogue: fn() -> &'static Catalogue,
}

/// The command that needs no word.
struct StartCommand {
    name: &'static str,
    options: fn(clap::Command) -> clap::Command,
    words: fn() -> clap::Command,
    run: fn(&ArgMatches) -> Result<ExitCode>,
}

impl CommandLine {
    /// The command line of a program that does `S` without a word.
    pub const fn new<S: Command>(
        local: &'static [Entry],
        catalogue: fn() -> &'static Catalogue,
    ) -> Self {
        let start = StartCommand {
            name: S::NAME,
            options: S::augment_args,
            words: command::words::<S>,
            run: command::run::<S>,
        };
        Self {
            start,
            local,
            catalogue,
        }
    }

    /// What starts the program, and no other word: it is read first and needs no catalogue.
    pub fn start_words(&self) -> clap::Command {
        (self.start.options)(clap::Command::new("atelier"))
            .args_conflicts_with_subcommands(true)
            .subcommand((self.start.words)())
    }

    /// The whole command line: every command and option.
    pub fn words(&self) -> clap::Command {
        let all = self.commands();
        let listed = listed(&all);
        (self.start.options)(clap::Command::new("atelier"))
            .about("A self-hosted, quota-metered gateway for generated media, and its client.")
            .version(env!("CARGO_PKG_VERSION"))
            .args_conflicts_with_subcommands(true)
            .subcommands(all.into_iter().map(|(_, command)| command))
            .help_template("{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}Options of the service:\n{options}\n\n{after-help}")
            .before_help(listed)
            .after_help(examples(EXAMPLES))
    }

    /// Does what this process was told.
    pub fn run(&self) -> Result<ExitCode> {
        // Whatever the start does not know, help among it, is for the whole command line to answer.
        let matches = self
            .start_words()
            .try_get_matches()
            .or_else(|_| self.words().try_get_matches())
            .unwrap_or_else(|message| leave(&message));
        match matches.subcommand() {
            None => (self.start.run)(&matches),
            Some((name, inner)) if name == self.start.name => (self.start.run)(inner),
            Some((name, inner)) => self.run_command(name, inner),
        }
    }

    fn run_command(&self, name: &str, matches: &ArgMatches) -> Result<ExitCode> {
        let catalogue = (self.catalogue)();
        if name == call::NAME {
            return call::run(catalogue, matches);
        }
        let short = shortcuts(catalogue).find(|(word, ..)| *word == name);
        if let Some((_, operation_command, _)) = short {
            let client_options = ClientOptions::from_arg_matches(matches)?;
            return block_on(operation_command.run(&client_options, matches));
        }
        if let Some(noun) = NOUNS.iter().find(|noun| noun.word == name) {
            return noun.run(catalogue, matches);
        }
        if let Some(single) = SINGLES.iter().find(|single| single.word == name) {
            return single.run(catalogue, matches);
        }
        if name == complete::NAME {
            complete::run(matches, &self.words(), catalogue);
            return Ok(ExitCode::SUCCESS);
        }
        if name == man::NAME {
            return man::run(matches, self.words());
        }
        let entry = self
            .entries()
            .find(|entry| (entry.words)(catalogue).get_name() == name);
        entry.map_or(Ok(ExitCode::SUCCESS), |entry| {
            (entry.run)(catalogue, matches)
        })
    }

    /// The commands that have a file of their own, in the order of the help.
    fn entries(&self) -> impl Iterator<Item = &Entry> {
        CALLER.iter().chain(self.local).chain(PROGRAM)
    }

    /// Every command with its group.
    fn commands(&self) -> Vec<(Group, clap::Command)> {
        let catalogue = (self.catalogue)();
        let mut all = Vec::new();
        for (word, operation_command, example) in shortcuts(catalogue) {
            let words = add_options::<ClientOptions>(operation_command.words(word, &example));
            let rules = words.get_after_help().map(ToString::to_string);
            let help = format!("{}\n\n{}", examples(&example), rules.unwrap_or_default());
            all.push((Group::Make, words.after_help(help)));
        }
        all.push((Group::Make, call::words(catalogue)));
        for noun in NOUNS.iter().filter(|noun| noun.is_there(catalogue)) {
            all.push((noun.group, noun.words(catalogue)));
        }
        let singles = SINGLES.iter();
        all.extend(singles.map(|single| (single.group, single.words(catalogue))));
        all.extend(
            self.entries()
                .map(|entry| (entry.group, (entry.words)(catalogue))),
        );
        all
    }
}

/// The commands as the help lists them.
fn listed(all: &[(Group, clap::Command)]) -> String {
    let mut listed = String::new();
    let names = all.iter().map(|(_, one)| one.get_name().len());
    let widest = names.max().unwrap_or(0);
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
    listed
}
