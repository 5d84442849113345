//! How far a job is, on one line that is drawn over itself.

use std::io::Write as _;

use serde_json::Value;

use super::screen::{self, TextStyle};

/// Cells of the bar where there is room.
const CELLS: usize = 24;
/// What stands behind them at most: ` 100 %  running`.
const BEHIND: usize = 15;

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
        let (columns, _) = screen::size();
        let bar = cells(progress, 100, columns.saturating_sub(BEHIND + 1));
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
        self.draw(&line, Some(TextStyle::Bold));
        self.last = line;
    }

    /// Shows how many of all are over.
    pub(crate) fn count(&mut self, over: usize, all: usize) {
        if self.seen {
            let behind = format!(" {over} of {all}");
            let (columns, _) = screen::size();
            let bar = cells(over, all, columns.saturating_sub(behind.len() + 1));
            self.draw(&format!("{bar}{behind}"), Some(TextStyle::Bold));
        }
    }

    /// Shows a sentence in its place.
    pub(crate) fn tell(&mut self, text: &str) {
        if self.seen {
            self.draw(text, None);
        }
    }

    /// Draws what fits into one line: a longer one would be taken away only in part.
    fn draw(&mut self, text: &str, ink: Option<TextStyle>) {
        let (columns, _) = screen::size();
        let text: String = text.chars().take(columns.saturating_sub(1)).collect();
        let text = ink.map_or_else(|| text.clone(), |ink| screen::note_ink(ink, &text));
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

fn cells(part: usize, whole: usize, room: usize) -> String {
    let all = CELLS.min(room);
    let full = (part * all).checked_div(whole).unwrap_or(0).min(all);
    format!("{}{}", "━".repeat(full), "┄".repeat(all - full))
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.clear();
    }
}
