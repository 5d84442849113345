//! The log: to standard error, so that standard output stays for what a person or a script asked for.

use anyhow::{Result, bail};
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
        .with_writer(std::io::stderr);
    match log.format.as_str() {
        "text" => lines
            .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
            .init(),
        "json" => lines.json().with_span_list(false).init(),
        _ => bail!("log.format: must be text or json"),
    }
    Ok(())
}
