//! The two streams: whether somebody looks at them, how wide they are, and how text gets there.

use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use std::process::exit;

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

/// Writes a line to standard output.
pub fn say(text: impl AsRef<str>) {
    write(text.as_ref(), "\n");
}

/// Writes text to standard output as it is.
pub(crate) fn put(text: impl AsRef<str>) {
    write(text.as_ref(), "");
}

/// Writes a line to standard output, and leaves a failure to whoever has something else to do than to write.
pub fn try_say(text: impl AsRef<str>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_ref().as_bytes())?;
    out.write_all(b"\n")?;
    out.flush()
}

fn write(text: &str, end: &str) {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes());
    let written = written.and_then(|()| out.write_all(end.as_bytes()));
    if let Err(error) = written.and_then(|()| out.flush()) {
        exit_unwritten(&error);
    }
}

/// Ends a command whose answer cannot be written. A reader that has gone is no fault of ours: it has read enough.
pub(crate) fn exit_unwritten(error: &io::Error) -> ! {
    if error.kind() == ErrorKind::BrokenPipe {
        exit(0);
    }
    note(format!(
        "atelier: cannot write to standard output: {}",
        without_codes(&error.to_string())
    ));
    exit(1);
}

/// An error with its causes in one line, for a person.
pub fn cause(error: &anyhow::Error) -> String {
    without_codes(&plain(&format!("{error:#}")))
}

/// A message without the numbers that the system has for its errors.
fn without_codes(message: &str) -> String {
    let mut parts = message.split(" (os error ");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(')') {
            Some((number, rest)) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
                text.push_str(rest);
            }
            _ => {
                text.push_str(" (os error ");
                text.push_str(part);
            }
        }
    }
    text
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_the_system_are_not_shown() {
        for (said, shown) in [
            ("a: No such file (os error 2)", "a: No such file"),
            ("refused (os error 111): b (os error 2): c", "refused: b: c"),
            ("an (os error of mine)", "an (os error of mine)"),
            ("nothing", "nothing"),
        ] {
            assert_eq!(without_codes(said), shown);
        }
    }
}
