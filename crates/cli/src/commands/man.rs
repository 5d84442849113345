//! `atelier man`: pages for `man`, one for each command, made from the same words as the help.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::{Arg, ArgMatches, Command};
use clap_mangen::Man;

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
    let count = write(&whole, folder)?;
    screen::note(format!("wrote {count} pages to {}", folder.display()));
    Ok(ExitCode::SUCCESS)
}

/// Writes the page of a command and those of the commands below it; how many.
fn write(command: &Command, folder: &Path) -> Result<usize> {
    let man = Man::new(command.clone())
        .source(format!("Atelier {}", env!("CARGO_PKG_VERSION")))
        .manual("Atelier");
    let file = folder.join(man.get_filename());
    std::fs::write(&file, page(command, &man)?).with_context(|| file.display().to_string())?;
    let mut count = 1;
    for one in visible_commands(command) {
        count += write(one, folder)?;
    }
    Ok(count)
}

fn visible_commands(command: &Command) -> impl Iterator<Item = &Command> {
    let inner = command.get_subcommands();
    inner.filter(|one| one.get_name() != "help" && !one.is_hide_set())
}

/// The man page of one command, in roff: the usual sections, examples as they are written, and our exit codes.
fn page(command: &Command, man: &Man) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    if command.get_arguments().any(|arg| !arg.is_hide_set()) {
        man.render_options_section(&mut text)?;
    }
    if visible_commands(command).next().is_some() {
        man.render_subcommands_section(&mut text)?;
    }
    if command.get_after_help().is_some() {
        let mut notes = Vec::new();
        man.render_extra_section(&mut notes)?;
        // Lines of examples stay lines.
        let notes = String::from_utf8_lossy(&notes).replacen(".SH EXTRA", ".SH NOTES\n.nf", 1);
        writeln!(text, "{notes}.fi")?;
    }
    text.extend(b".SH EXIT STATUS\n.TP\n0\nSuccess.\n");
    for (code, meaning) in ExitReason::ALL {
        writeln!(text, ".TP\n{code}\n{meaning}")?;
    }
    Ok(text)
}
