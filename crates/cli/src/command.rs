//! What a command is that has a file of its own: its name, its place in the help, its words and what it does.

use std::pin::Pin;
use std::process::ExitCode;

use anyhow::Result;
use atelier_contract::catalogue::Catalogue;
use clap::{ArgMatches, Args};

use crate::terminal::screen;

/// Where the help lists a command.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// What makes pictures and clips.
    Make,
    /// What happens to jobs.
    Jobs,
    /// The caller's own account.
    Account,
    /// What needs an operator's token.
    Operate,
    /// The service on this machine.
    Service,
    /// The command line itself.
    Here,
}

impl Group {
    /// Every group with its title, in the order of the help.
    pub(crate) const ALL: [(Self, &str); 6] = [
        (Self::Make, "Make"),
        (Self::Jobs, "Jobs"),
        (Self::Account, "Your account"),
        (Self::Operate, "For operators"),
        (Self::Service, "The service on this machine"),
        (Self::Here, "This program"),
    ];
}

/// A command with a file of its own.
pub trait Command: Args {
    /// The word it is called by.
    const NAME: &str;
    /// Where the help lists it.
    const GROUP: Group;
    /// Lines one may paste.
    const EXAMPLES: &str;

    fn run(self) -> Result<ExitCode>;
}

/// A command with a file of its own that calls a service.
pub(crate) trait ClientCommand: Args {
    /// The word it is called by.
    const NAME: &str;
    /// Where the help lists it.
    const GROUP: Group;
    /// Lines one may paste.
    const EXAMPLES: &str;

    /// Does it, with everything that can be called.
    fn run(self, catalogue: &'static Catalogue) -> Result<ExitCode>;
}

/// A line of the table of commands.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Where the help lists it.
    pub(crate) group: Group,
    /// How it reads its words.
    pub(crate) words: fn(&'static Catalogue) -> clap::Command,
    /// Reads them and does it.
    pub(crate) run: fn(&'static Catalogue, &ArgMatches) -> Result<ExitCode>,
}

impl Entry {
    /// The line of a command.
    pub const fn of<C: Command>() -> Self {
        Self {
            group: C::GROUP,
            words: |_| words::<C>(),
            run: |_, matches| run::<C>(matches),
        }
    }

    /// The line of a command that calls a service.
    pub(crate) const fn client<C: ClientCommand>() -> Self {
        Self {
            group: C::GROUP,
            words: |_| words_of::<C>(C::NAME, C::EXAMPLES),
            run: |catalogue, matches| read::<C>(matches)?.run(catalogue),
        }
    }
}

/// How a command reads its words.
pub(crate) fn words<C: Command>() -> clap::Command {
    words_of::<C>(C::NAME, C::EXAMPLES)
}

/// Reads the words of a command and does it.
pub(crate) fn run<C: Command>(matches: &ArgMatches) -> Result<ExitCode> {
    read::<C>(matches)?.run()
}

fn words_of<A: Args>(name: &'static str, lines: &str) -> clap::Command {
    A::augment_args(clap::Command::new(name)).after_help(examples(lines))
}

fn read<A: Args>(matches: &ArgMatches) -> Result<A> {
    A::from_arg_matches(matches).map_err(|error| leave(&error))
}

/// Prints the help or version that was asked for, or what is wrong with the command line, and ends.
pub(crate) fn leave(message: &clap::Error) -> ! {
    match message.print() {
        Ok(()) => std::process::exit(message.exit_code()),
        Err(error) => screen::exit_unwritten(&error),
    }
}

/// The examples as the help shows them.
pub(crate) fn examples(lines: &str) -> String {
    let mut text = String::from("Examples:");
    for line in lines.lines() {
        text.push_str("\n  ");
        text.push_str(line);
    }
    text
}

/// Runs a short command. It is boxed, because the runtime's own functions would be compiled for each otherwise, and all
/// that the command does once for each of those.
pub fn block_on(work: impl Future<Output = Result<ExitCode>>) -> Result<ExitCode> {
    let work: Pin<Box<dyn Future<Output = Result<ExitCode>> + '_>> = Box::pin(work);
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(work)
}
