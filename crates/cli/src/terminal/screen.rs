//! The two streams: whether somebody looks at them, how wide they are, and how text gets there.

use std::io::{IsTerminal as _, Write as _};

/// What a terminal without a size is taken for.
const USUAL_WIDTH: usize = 80;

/// Ways to set text off.
#[derive(Clone, Copy)]
pub enum TextStyle {
    Bold,
    /// What may be overlooked.
    Faint,
    Good,
    Bad,
    /// What is worth a look.
    Fair,
}

/// Writes a line to standard output. A reader that has gone is no fault of ours: there is nobody left to tell.
pub fn say(text: impl AsRef<str>) {
    write(text.as_ref(), "\n");
}

/// Writes text to standard output as it is.
pub(crate) fn put(text: impl AsRef<str>) {
    write(text.as_ref(), "");
}

fn write(text: &str, end: &str) {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes());
    let written = written.and_then(|()| out.write_all(end.as_bytes()));
    if written.and_then(|()| out.flush()).is_err() {
        std::process::exit(0);
    }
}

/// Writes a line to standard error: for a person, beside the answer.
pub fn note(text: impl AsRef<str>) {
    let _ = writeln!(std::io::stderr(), "{}", text.as_ref());
}

/// Writes a question to standard error; what is typed comes behind it.
pub(crate) fn ask(text: &str) {
    let _ = write!(std::io::stderr(), "{text}");
}

/// Text of strangers without what steers a terminal.
pub fn plain(text: &str) -> String {
    let spaced = text.replace(['\n', '\r', '\t'], " ");
    spaced.chars().filter(|c| !c.is_control()).collect()
}

/// Whether somebody looks at standard output.
pub(crate) fn is_seen() -> bool {
    std::io::stdout().is_terminal()
}

/// Whether somebody looks at standard error, where a line can be drawn over itself.
pub(crate) fn notes_are_seen() -> bool {
    std::io::stderr().is_terminal() && !is_dumb()
}

/// Whether the terminal can only print.
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Whether colour is wanted where somebody looks.
fn is_coloured(seen: bool) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if set("NO_COLOR") {
        return false;
    }
    set("CLICOLOR_FORCE") || (seen && !is_dumb())
}

/// Sets text for standard output off.
pub fn ink(ink: TextStyle, text: &str) -> String {
    inked(ink, text, is_coloured(is_seen()))
}

/// Sets text for standard error off.
pub(crate) fn note_ink(ink: TextStyle, text: &str) -> String {
    inked(ink, text, is_coloured(notes_are_seen()))
}

fn inked(ink: TextStyle, text: &str, coloured: bool) -> String {
    if !coloured {
        return text.to_owned();
    }
    let code = match ink {
        TextStyle::Bold => 1,
        TextStyle::Faint => 2,
        TextStyle::Good => 32,
        TextStyle::Bad => 31,
        TextStyle::Fair => 33,
    };
    format!("\x1b[{code}m{text}\x1b[0m")
}

/// Columns and rows of the terminal.
pub(crate) fn size() -> (usize, usize) {
    let size = rustix::termios::tcgetwinsize(std::io::stdout());
    let size = size.or_else(|_| rustix::termios::tcgetwinsize(std::io::stderr()));
    match size {
        Ok(size) if size.ws_col > 0 => (size.ws_col.into(), size.ws_row.into()),
        _ => (USUAL_WIDTH, 24),
    }
}
