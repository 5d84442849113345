//! How the rows of a batch ended: told one by one, and as an exit code at the end.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::client_options::ClientOptions;
use crate::client::download::files_of;
use crate::client::fault::{ExitReason, Fault};
use crate::terminal::bar::Bar;
use crate::terminal::screen::{self, TextStyle};

/// How the rows of a batch ended.
pub(super) struct Tally<'a> {
    client_options: &'a ClientOptions,
    bar: Bar,
    all: usize,
    accepted: usize,
    done: usize,
    failed: usize,
    refused: usize,
    /// Of those, the ones for which the balance was too small.
    poor: usize,
    quota: f64,
}

impl<'a> Tally<'a> {
    pub(super) fn new(client_options: &'a ClientOptions, all: usize) -> Self {
        Self {
            client_options,
            bar: Bar::new(client_options.quiet),
            all,
            accepted: 0,
            done: 0,
            failed: 0,
            refused: 0,
            poor: 0,
            quota: 0.0,
        }
    }

    /// The number of a row, with as many digits as every other.
    pub(super) fn numbered(&self, row: usize) -> String {
        let digits = self.all.to_string().len();
        format!("{row:0digits$}")
    }

    /// Says what is being done.
    pub(super) fn tell(&mut self, text: &str) {
        self.bar.tell(text);
    }

    /// Shows how many rows are over.
    pub(super) fn show(&mut self) {
        let over = self.done + self.failed + self.refused;
        self.bar.count(over, self.all);
    }

    /// A row became a job.
    pub(super) fn accepted(&mut self, row: usize, told: &Value, silent: bool) {
        self.accepted += 1;
        if !silent {
            let id = told["data"]["jobId"].as_str().unwrap_or_default();
            screen::say(format!("{}  {id}", self.numbered(row)));
        }
    }

    /// A row was refused.
    pub(super) fn refused(&mut self, row: usize, told: &Value, json: bool) {
        self.refused += 1;
        self.poor += usize::from(told["code"] == "insufficient_quota");
        self.bar.clear();
        if json {
            let line = json!({ "row": row, "status": "REFUSED", "message": told["message"], "code": told["code"] });
            screen::say(line.to_string());
        } else {
            let why = told["message"].as_str().unwrap_or("it was refused");
            screen::note(format!("row {row}: {}", screen::plain(why)));
        }
        self.show();
    }

    /// The job of a row is over.
    pub(super) fn over(&mut self, row: usize, job: &Value, paths: &[PathBuf]) {
        let good = job["status"] == "SUCCESS";
        *if good {
            &mut self.done
        } else {
            &mut self.failed
        } += 1;
        self.quota += job["quota"].as_f64().unwrap_or(0.0);
        self.bar.clear();
        let id = job["jobId"].as_str().unwrap_or_default();
        let names = paths.iter().map(|path| path.display().to_string());
        if self.client_options.json {
            let line = json!({
                "row": row,
                "jobId": id,
                "status": job["status"],
                "message": job["message"],
                "quota": job["quota"],
                "files": job["files"],
                "saved": names.collect::<Vec<_>>(),
            });
            screen::say(line.to_string());
        } else if !good {
            let why = job["message"].as_str().unwrap_or("it failed");
            screen::note(format!("row {row}: {id}: {}", screen::plain(why)));
        } else if paths.is_empty() {
            let count = files_of(job).len();
            let line = format!("{}  {id}  done, files: {count}", self.numbered(row));
            screen::say(line);
        } else {
            names.for_each(screen::say);
        }
        self.show();
    }

    /// Says something beside the results.
    pub(super) fn note(&mut self, text: &str) {
        self.bar.clear();
        if !self.client_options.quiet && !self.client_options.json {
            screen::note(screen::note_ink(TextStyle::Faint, text));
        }
    }

    /// Says how it all ended.
    pub(super) fn end(mut self) -> Result<(), Fault> {
        let counts = [
            (self.accepted, "accepted"),
            (self.done, "done"),
            (self.failed, "failed"),
            (self.refused, "refused"),
        ];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        let counts: Vec<String> = counts.map(|(n, what)| format!("{n} {what}")).collect();
        let summary = format!("{} of {} rows", counts.join(", "), self.all);
        let end = match (self.failed, self.refused) {
            (0, 0) => {
                let thousandths = (self.quota * 1000.0).round() / 1000.0;
                if self.done > 0 {
                    self.note(&format!("{summary}; quota {thousandths}"));
                }
                return Ok(());
            }
            (0, refused) if refused == self.poor => ExitReason::Quota,
            (0, _) => ExitReason::Refused,
            _ => ExitReason::Failed,
        };
        self.bar.clear();
        Err(Fault::new(end, summary))
    }
}
