//! What becomes of a submit: waiting for the job, saving what it made, showing it.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use anyhow::Result;
use atelier_contract::operation;
use clap::Args;
use serde_json::Value;

use super::client_options::ClientOptions;
use super::output;
use crate::client::Client;
use crate::client::download::{existing_file, files_of, save, stem, tail};
use crate::client::events::follow;
use crate::client::fault::{ExitReason, Fault};
use crate::terminal::bar::Bar;
use crate::terminal::picture::ImageProtocol;
use crate::terminal::screen::{self, TextStyle};

/// What to do with a result.
#[derive(Args, Clone)]
pub(super) struct SubmitOptions {
    /// Waits until the job has ended; saving and opening imply it.
    #[arg(long, short)]
    pub(super) wait: bool,
    /// Only shows the price.
    #[arg(long)]
    pub(super) quote: bool,
    /// Saves the results into this folder.
    #[arg(long, short, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Opens the results with this machine's programs.
    #[arg(long)]
    pub(super) open: bool,
    /// Stops waiting after this many seconds; the job continues.
    #[arg(long, value_name = "SECONDS")]
    pub(super) within: Option<u64>,
    /// How images are shown in the terminal.
    #[arg(
        long,
        value_name = "WAY",
        value_enum,
        env = "ATELIER_CLIENT_PICTURES",
        default_value = "auto"
    )]
    pub(super) pictures: ImageProtocol,
    /// Idempotency key: repeating the call with it finds the same job. By default a fresh one.
    #[arg(long, value_name = "KEY")]
    pub(super) idempotency_key: Option<String>,
}

/// What is known of a call whose result is handled.
pub(super) struct ResultHandler<'a> {
    pub(super) client_options: &'a ClientOptions,
    pub(super) submit_options: &'a SubmitOptions,
    pub(super) operation: &'a str,
    pub(super) prompt: Option<&'a str>,
    /// Whether results are waited for and saved without being asked.
    pub(super) short: bool,
}

impl ResultHandler<'_> {
    /// Goes on from the answer to a submit.
    pub(super) async fn finish(&self, client: &Client, answer: Value) -> Result<()> {
        // What is not waited for says where its answer will be; its job is followed like every other.
        let pending = answer["id"].as_str().filter(|_| answer["poll"].is_string());
        let id = answer["data"]["jobId"].as_str().or(pending);
        let id = id.map(str::to_owned);
        let Some(id) = id else {
            return self.hand_over(client, &answer, "").await;
        };
        let submit_options = self.submit_options;
        if !(submit_options.wait
            || submit_options.open
            || submit_options.out.is_some()
            || self.short)
        {
            if self.client_options.json {
                output::json(&answer);
            } else {
                screen::say(&id);
                self.note(&format!("accepted; follow it with `atelier watch {id}`"));
            }
            return Ok(());
        }
        let over = Cell::new(false);
        tokio::select! {
            done = self.to_the_end(client, &id, &over) => done,
            _ = tokio::signal::ctrl_c() => {
                let message = if over.get() {
                    format!("interrupted; not all results of {id} were saved")
                } else {
                    format!("interrupted; {id} continues. `atelier watch {id}` follows it, `atelier cancel {id}` ends it")
                };
                Err(Fault::new(ExitReason::Interrupted, message).into())
            }
        }
    }

    /// Waits for a job and hands over what it made.
    async fn to_the_end(&self, client: &Client, id: &str, over: &Cell<bool>) -> Result<()> {
        let job = self.until_over(client, id).await?;
        over.set(true);
        if job["status"] == "FAILED" {
            if self.client_options.json {
                output::json(&job);
            }
            let why = job["message"].as_str().unwrap_or("it failed");
            return Err(Fault::new(ExitReason::Failed, format!("{id}: {why}")).into());
        }
        self.hand_over(client, &job, id).await
    }

    /// Waits for a job, showing how far it is.
    async fn until_over(&self, client: &Client, id: &str) -> Result<Value, Fault> {
        let mut bar = Bar::new(self.client_options.quiet);
        let following = follow(client, id, |job| bar.show(job));
        let late = async {
            match self.submit_options.within {
                Some(seconds) => tokio::time::sleep(std::time::Duration::from_secs(seconds)).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            job = following => job,
            () = late => Err(Fault::new(ExitReason::TimedOut, format!("{id} has not ended yet; `atelier watch {id}` follows it"))),
        }
    }

    /// Saves, shows and prints what was made.
    async fn hand_over(&self, client: &Client, result: &Value, id: &str) -> Result<()> {
        let out = self.submit_options.out.clone();
        let folder =
            out.or_else(|| (self.short || self.submit_options.open).then(|| PathBuf::from(".")));
        let Some(folder) = folder else {
            self.tell(result, id);
            return Ok(());
        };
        let paths = self.save_all(client, result, id, &folder).await?;
        if self.client_options.json {
            let names: Vec<String> = paths
                .iter()
                .map(|path| path.display().to_string())
                .collect();
            let mut shown = result.clone();
            shown["saved"] = names.into();
            output::json(&shown);
        } else {
            self.show_all(&paths);
            let (submit, is_one) = (operation(self.operation), paths.len() == 1);
            let grid = submit.and_then(|(_, submit)| submit.grid_note());
            if let Some(note) = grid.filter(|_| is_one) {
                self.note(note);
            }
            if paths.is_empty() {
                // Some results are words.
                let words = result.pointer("/result/data").unwrap_or(result);
                output::show(self.client_options, words, &[]);
            }
            self.note_price(result);
        }
        if self.submit_options.open {
            for path in &paths {
                open(path);
            }
        }
        Ok(())
    }

    /// Prints what was made and is not saved: where it is, or its words.
    fn tell(&self, result: &Value, id: &str) {
        if self.client_options.json || id.is_empty() {
            output::show(self.client_options, result, &[]);
            return;
        }
        let files = result["files"].as_array().into_iter().flatten();
        let addresses: Vec<&str> = files.filter_map(|file| file["url"].as_str()).collect();
        if addresses.is_empty() {
            let words = result.pointer("/result/data").unwrap_or(result);
            output::show(self.client_options, words, &[]);
        }
        addresses.into_iter().for_each(screen::say);
        self.note_price(result);
    }

    fn note_price(&self, result: &Value) {
        if let Some(quota) = result.get("quota") {
            self.note(&format!("quota {quota}"));
        }
    }

    async fn save_all(
        &self,
        client: &Client,
        result: &Value,
        id: &str,
        folder: &Path,
    ) -> Result<Vec<PathBuf>> {
        let stem = stem(self.prompt, self.operation);
        let mut bar = Bar::new(self.client_options.quiet);
        let tell = |text: &str| bar.tell(text);
        save_files(client, result, &stem, id, folder, tell).await
    }

    /// Shows what can be seen, each with its name.
    fn show_all(&self, paths: &[PathBuf]) {
        let protocol = self.submit_options.pictures.resolve();
        for path in paths {
            let bytes = (protocol != ImageProtocol::None)
                .then(|| std::fs::read(path).ok())
                .flatten();
            let columns = screen::size().0.saturating_sub(1);
            if let Some(drawn) = bytes.and_then(|bytes| protocol.drawn(&bytes, columns)) {
                screen::put(drawn);
            }
            screen::say(path.display().to_string());
        }
    }

    fn note(&self, text: &str) {
        if !self.client_options.quiet {
            screen::note(screen::note_ink(TextStyle::Faint, text));
        }
    }
}

/// Saves the files of a result, named after what was asked and the job. What a job made is never saved twice.
pub(super) async fn save_files(
    client: &Client,
    result: &Value,
    stem: &str,
    id: &str,
    folder: &Path,
    mut tell: impl FnMut(&str),
) -> Result<Vec<PathBuf>> {
    let files = files_of(result);
    let mut paths = Vec::new();
    for (number, file) in files.iter().enumerate() {
        tell(&format!("saving {} of {}", number + 1, files.len()));
        let mut name = stem.to_owned();
        if !id.is_empty() {
            name = format!("{name}-{}", tail(id));
        }
        if files.len() > 1 {
            name = format!("{name}-{}", number + 1);
        }
        let before = (!id.is_empty())
            .then(|| existing_file(folder, &name))
            .flatten();
        paths.push(match before {
            Some(path) => path,
            None => save(client, file, folder, &name).await?,
        });
    }
    Ok(paths)
}

/// Opens a file with the program of this machine for it; nothing waits for that.
fn open(path: &Path) {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let started = std::process::Command::new(program)
        .arg(path)
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn();
    if started.is_err() {
        screen::note(format!(
            "{program} is not installed, so {} was not opened",
            path.display()
        ));
    }
}
