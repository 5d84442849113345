//! The log: to standard error, so that standard output stays for what a person or a script asked for.

use std::io::{self, Stderr, Write};

use anyhow::{Result, bail};
use atelier_contract::hooks::hide_hook_words;
use tracing::Level;

use crate::config::Log;

/// Starts to write the log.
pub(crate) fn start(log: &Log) -> Result<()> {
    let (level, format) = check(log)?;
    let lines = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(|| RedactingWriter(io::stderr()));
    match format {
        Format::Text => lines
            .with_ansi(io::IsTerminal::is_terminal(&io::stderr()))
            .init(),
        Format::Json => lines.json().with_span_list(false).init(),
    }
    Ok(())
}

/// How a line of the log looks.
pub(crate) enum Format {
    Text,
    Json,
}

/// Reads the settings of the log.
pub(crate) fn check(log: &Log) -> Result<(Level, Format)> {
    let Ok(level) = log.level.parse() else {
        bail!("log.level: must be error, warn, info, debug or trace");
    };
    let format = match log.format.as_str() {
        "text" => Format::Text,
        "json" => Format::Json,
        _ => bail!("log.format: must be text or json"),
    };
    Ok((level, format))
}

/// Writes lines without words of vendors' hooks, whoever says them: also libraries write, at the lowest levels.
struct RedactingWriter(Stderr);

impl Write for RedactingWriter {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        self.0.write_all(hide_hook_words(&text).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
