//! The log: to standard error, so that standard output stays for what a person or a script asked for.

use std::io::{self, Stderr, Write};

use anyhow::{Result, bail};
use atelier_contract::hooks::hide_hook_words;
use tracing::Level;

use crate::config::Log;

/// Starts to write the log.
pub(crate) fn start(log: &Log) -> Result<()> {
    let level: Level = match log.level.parse() {
        Ok(level) => level,
        Err(_) => bail!("log.level: must be error, warn, info, debug or trace"),
    };
    let lines = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(|| RedactingWriter(io::stderr()));
    match log.format.as_str() {
        "text" => lines
            .with_ansi(io::IsTerminal::is_terminal(&io::stderr()))
            .init(),
        "json" => lines.json().with_span_list(false).init(),
        _ => bail!("log.format: must be text or json"),
    }
    Ok(())
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
