//! `atelier man`: pages for `man`, one for each command, made from the same words as the help.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::{Arg, ArgMatches, Command};

use crate::client::fault::ExitReason;
use crate::command::{Entry, Group, examples};
use crate::terminal::screen;

/// What it is called.
pub(crate) const NAME: &str = "man";

/// Its line in the table of commands; what it does needs the whole of them.
pub(crate) const ENTRY: Entry = Entry {
    group: Group::Here,
    words: |_| words(),
    run: |_, _| Ok(ExitCode::SUCCESS),
};

fn words() -> Command {
    let folder = Arg::new("folder")
        .value_name("DIR")
        .required(true)
        .value_parser(clap::value_parser!(PathBuf))
        .help("Folder to write them to");
    Command::new(NAME)
        .about("Writes manual pages, one for each command")
        .arg(folder)
        .after_help(examples(
            "atelier man ~/.local/share/man/man1\nman atelier-call",
        ))
}

/// Writes the pages of a whole command line.
pub(crate) fn run(matches: &ArgMatches, mut whole: Command) -> Result<ExitCode> {
    let Some(folder) = matches.get_one::<PathBuf>("folder") else {
        return Ok(ExitCode::SUCCESS);
    };
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    whole.build();
    let count = write(&whole, &["atelier"], folder)?;
    screen::note(format!("{count} pages are in {}", folder.display()));
    Ok(ExitCode::SUCCESS)
}

fn write(command: &Command, path: &[&str], folder: &Path) -> Result<usize> {
    let file = folder.join(format!("{}.1", path.join("-")));
    std::fs::write(&file, page(command, path)).with_context(|| file.display().to_string())?;
    let mut count = 1;
    let inner = command
        .get_subcommands()
        .filter(|one| one.get_name() != "help" && !one.is_hide_set());
    for one in inner {
        count += write(one, &[path, &[one.get_name()]].concat(), folder)?;
    }
    Ok(count)
}

/// The man page of one command, in roff.
fn page(command: &Command, path: &[&str]) -> String {
    let about = command
        .get_about()
        .map(ToString::to_string)
        .unwrap_or_default();
    let name = path.join("-");
    let mut text = format!(
        ".TH {} 1 \"\" \"Atelier {}\" \"Atelier\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n",
        name.to_uppercase(),
        env!("CARGO_PKG_VERSION"),
        safe(&name),
        safe(about.trim_end_matches('.'))
    );
    let usage = command.clone().render_usage().to_string();
    for (number, line) in usage.trim_start_matches("Usage:").lines().enumerate() {
        let start = if number > 0 { ".br\n" } else { "" };
        let _ = writeln!(text, "{start}{}", safe(line.trim()));
    }
    let arguments: Vec<&Arg> = command
        .get_arguments()
        .filter(|arg| !arg.is_hide_set())
        .collect();
    if !arguments.is_empty() {
        text.push_str(".SH OPTIONS\n");
    }
    for arg in arguments {
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let short = arg.get_short().map(|short| format!("-{short}, "));
        let name = format!("{}{arg}", short.unwrap_or_default());
        let _ = writeln!(text, ".TP\n{}\n{}", safe(&name), safe(&help));
    }
    let inner: Vec<&Command> = command
        .get_subcommands()
        .filter(|one| !one.is_hide_set())
        .collect();
    if !inner.is_empty() {
        text.push_str(".SH COMMANDS\n");
    }
    for one in inner {
        let about = one.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(text, ".TP\n{}\n{}", safe(one.get_name()), safe(&about));
    }
    if let Some(more) = command.get_after_help() {
        let _ = writeln!(text, ".SH NOTES\n.nf\n{}\n.fi", safe(&more.to_string()));
    }
    text.push_str(".SH EXIT STATUS\n.TP\n0\nGood.\n");
    for (code, meaning) in ExitReason::ALL {
        let _ = writeln!(text, ".TP\n{code}\n{}", safe(meaning));
    }
    text
}

/// Text in which nothing is an order to the typesetter.
fn safe(text: &str) -> String {
    let plain = text.replace('\\', "\\e").replace('-', "\\-");
    let lines = plain.lines().map(|line| match line.chars().next() {
        Some('.' | '\'') => format!("\\&{line}"),
        _ => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}
