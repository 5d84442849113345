//! How far a job is, on one line that is drawn over itself.

use std::io::Write as _;

use serde_json::Value;

use super::screen::{self, Ink};

/// Cells of the bar.
const CELLS: usize = 24;

/// A line on standard error; nothing at all when nobody looks.
pub(crate) struct Bar {
    seen: bool,
    drawn: bool,
    last: String,
}

impl Bar {
    /// A bar that is not drawn yet.
    pub(crate) fn new(quiet: bool) -> Self {
        let seen = !quiet && screen::notes_are_seen();
        Self {
            seen,
            drawn: false,
            last: String::new(),
        }
    }

    /// Shows how far a job is.
    pub(crate) fn show(&mut self, job: &Value) {
        if !self.seen {
            return;
        }
        let progress = job["progress"].as_u64().unwrap_or(0).min(100) as usize;
        let bar = cells(progress, 100);
        let word = match job["status"].as_str() {
            Some("PENDING_QUEUE") => "waiting",
            Some("SUCCESS") => "done",
            Some("FAILED") => "failed",
            _ => "running",
        };
        let line = format!("{bar} {progress:3} %  {word}");
        if line == self.last {
            return;
        }
        self.draw(&screen::note_ink(Ink::Bold, &line));
        self.last = line;
    }

    /// Shows how many of all are over.
    pub(crate) fn count(&mut self, over: usize, all: usize) {
        if self.seen {
            let line = format!("{} {over} of {all}", cells(over, all));
            self.draw(&screen::note_ink(Ink::Bold, &line));
        }
    }

    /// Shows a sentence in its place.
    pub(crate) fn tell(&mut self, text: &str) {
        if self.seen {
            self.draw(text);
        }
    }

    fn draw(&mut self, text: &str) {
        let _ = write!(std::io::stderr(), "\r\x1b[K{text}");
        self.drawn = true;
    }

    /// Takes the line away.
    pub(crate) fn clear(&mut self) {
        if self.drawn {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
            self.drawn = false;
        }
    }
}

fn cells(part: usize, whole: usize) -> String {
    let full = (part * CELLS).checked_div(whole).unwrap_or(0).min(CELLS);
    format!("{}{}", "━".repeat(full), "┄".repeat(CELLS - full))
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.clear();
    }
}
