//! What a command of its own file is: its name, its place in the help, its words and what it does.

use std::pin::Pin;
use std::process::ExitCode;

use anyhow::Result;
use clap::{ArgMatches, Args};

/// Where the help lists a command.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Group {
    /// What makes pictures and clips.
    Make,
    /// What happens to jobs.
    Jobs,
    /// The caller's own account.
    Account,
    /// What operators do.
    Operate,
    /// The service on this machine.
    Service,
    /// The command line itself.
    Here,
}

impl Group {
    /// Every group with its title, in the order of the help.
    pub(super) const ALL: [(Self, &str); 6] = [
        (Self::Make, "Make"),
        (Self::Jobs, "Jobs"),
        (Self::Account, "Your account"),
        (Self::Operate, "For operators"),
        (Self::Service, "The service on this machine"),
        (Self::Here, "This program"),
    ];
}

/// A command with a file of its own.
pub(super) trait Command: Args {
    /// The word it is called by.
    const NAME: &str;
    /// Where the help lists it.
    const GROUP: Group;
    /// Lines one may paste.
    const EXAMPLES: &str;

    /// Does it.
    fn run(self) -> Result<ExitCode>;
}

/// A line of the table of commands.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    /// Where the help lists it.
    pub(super) group: Group,
    /// How it reads its words.
    pub(super) words: fn() -> clap::Command,
    /// Reads them and does it.
    pub(super) run: fn(&ArgMatches) -> Result<ExitCode>,
}

impl Entry {
    /// The line of a command.
    pub(super) const fn of<C: Command>() -> Self {
        Self {
            group: C::GROUP,
            words: words::<C>,
            run: run::<C>,
        }
    }
}

fn words<C: Command>() -> clap::Command {
    C::augment_args(clap::Command::new(C::NAME)).after_help(examples(C::EXAMPLES))
}

fn run<C: Command>(matches: &ArgMatches) -> Result<ExitCode> {
    C::from_arg_matches(matches)
        .map_err(|error| error.exit())?
        .run()
}

/// The examples as the help shows them.
pub(super) fn examples(lines: &str) -> String {
    let mut text = String::from("Examples:");
    for line in lines.lines() {
        text.push_str("\n  ");
        text.push_str(line);
    }
    text
}

/// Runs a short command. It is boxed, because the runtime's own functions would be compiled for each otherwise, and all
/// that the command does once for each of those.
pub(super) fn block_on(work: impl Future<Output = Result<ExitCode>>) -> Result<ExitCode> {
    let work: Pin<Box<dyn Future<Output = Result<ExitCode>> + '_>> = Box::pin(work);
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(work)
}
