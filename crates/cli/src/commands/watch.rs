//! `atelier watch`: follows jobs until they are over.

use std::process::ExitCode;

use anyhow::Result;
use atelier_contract::catalogue::Catalogue;
use clap::Args;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use serde_json::Value;

use super::client_options::ClientOptions;
use crate::client::events::{follow, is_over};
use crate::client::fault::{ExitReason, Fault};
use crate::client::{ApiRequest, Client};
use crate::command::{ClientCommand, Group, block_on};
use crate::terminal::bar::Bar;
use crate::terminal::screen::{self, TextStyle};

/// Follows jobs until they end; without names all unfinished ones.
#[derive(Args)]
pub(super) struct WatchCommand {
    #[command(flatten)]
    client_options: ClientOptions,
    /// Jobs to follow.
    #[arg(value_name = "JOB")]
    jobs: Vec<String>,
}

impl ClientCommand for WatchCommand {
    const NAME: &str = "watch";
    const GROUP: Group = Group::Jobs;
    const EXAMPLES: &str = "\
atelier watch 0199…
atelier watch
atelier watch --json | jq .status";

    fn run(self, catalogue: &'static Catalogue) -> Result<ExitCode> {
        block_on(self.follow_all(catalogue))
    }
}

impl WatchCommand {
    async fn follow_all(self, catalogue: &'static Catalogue) -> Result<ExitCode> {
        let client = self.client_options.client(catalogue)?;
        let jobs = if self.jobs.is_empty() {
            unfinished(&client).await?
        } else {
            self.jobs.clone()
        };
        if jobs.is_empty() && !self.client_options.quiet {
            screen::note("there are no unfinished jobs");
        }
        let alone = jobs.len() == 1;
        let mut failed = None;
        let one = async |id: String| {
            let mut bar = Bar::new(self.client_options.quiet || self.client_options.json || !alone);
            let mut last = String::new();
            let over = follow(&client, &id, |job| {
                if self.client_options.json {
                    screen::say(job.to_string());
                } else if alone {
                    bar.show(job);
                } else {
                    let line = line(job);
                    if line != last {
                        screen::say(&line);
                        last = line;
                    }
                }
            })
            .await;
            bar.clear();
            (id, over)
        };
        let mut following: FuturesUnordered<_> = jobs.into_iter().map(one).collect();
        let all = async {
            while let Some((id, over)) = following.next().await {
                let job = over?;
                if alone && !self.client_options.json {
                    screen::say(line(&job));
                }
                if job["status"] == "FAILED" {
                    let why = job["message"].as_str().unwrap_or_default();
                    failed = Some(Fault::new(ExitReason::Failed, format!("{id}: {why}")));
                }
            }
            anyhow::Ok(())
        };
        tokio::select! {
            done = all => done?,
            _ = tokio::signal::ctrl_c() => {
                return Err(Fault::new(ExitReason::Interrupted, "interrupted; the jobs continue").into());
            }
        }
        failed.map_or(Ok(ExitCode::SUCCESS), |fault| Err(fault.into()))
    }
}

/// The jobs that are not over, of the newest ones.
async fn unfinished(client: &Client) -> Result<Vec<String>> {
    let page = client.operation("jobs.list")?;
    let mut asked = ApiRequest::plain(page, page.path.clone());
    asked.query.push(("limit".into(), "100".into()));
    let answer = client.call(page, &asked).await?;
    let rows = answer["data"].as_array().into_iter().flatten();
    let open = rows.filter(|job| !is_over(job));
    Ok(open
        .filter_map(|job| job["jobId"].as_str())
        .map(str::to_owned)
        .collect())
}

/// A job on one line.
fn line(job: &Value) -> String {
    let text = |name: &str| screen::plain(job[name].as_str().unwrap_or_default());
    let status = match job["status"].as_str() {
        Some("SUCCESS") => screen::ink(TextStyle::Good, "done"),
        Some("FAILED") => screen::ink(TextStyle::Bad, "failed"),
        Some("PENDING_QUEUE") => "waiting".into(),
        _ => screen::ink(TextStyle::Fair, "running"),
    };
    let line = format!(
        "{}  {}  {:>3} %  {status}  {}",
        text("jobId"),
        text("operation"),
        job["progress"],
        text("message")
    );
    line.trim_end().to_owned()
}
