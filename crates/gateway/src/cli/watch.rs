//! `atelier watch`: follows jobs until they are over.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use serde_json::Value;

use super::command::{Command, Group, block_on};
use super::talk::{CATALOGUE, Talk};
use crate::client::events::{follow, is_over};
use crate::client::fault::{End, Fault};
use crate::client::{Asked, Client, named};
use crate::terminal::bar::Bar;
use crate::terminal::screen::{self, Ink};

/// Follows jobs until they are over; all that are unfinished unless some are named.
#[derive(Args)]
pub(super) struct Watch {
    #[command(flatten)]
    talk: Talk,
    /// Jobs to follow.
    #[arg(value_name = "JOB")]
    jobs: Vec<String>,
}

impl Command for Watch {
    const NAME: &str = "watch";
    const GROUP: Group = Group::Jobs;
    const EXAMPLES: &str = "\
atelier watch 0199…
atelier watch
atelier watch --json | jq .status";

    fn run(self) -> Result<ExitCode> {
        block_on(self.follow_all())
    }
}

impl Watch {
    async fn follow_all(self) -> Result<ExitCode> {
        let client = self.talk.client()?;
        let jobs = if self.jobs.is_empty() {
            unfinished(&client).await?
        } else {
            self.jobs.clone()
        };
        if jobs.is_empty() && !self.talk.quiet {
            screen::note("no job is unfinished");
        }
        let alone = jobs.len() == 1;
        let mut failed = None;
        let one = async |id: String| {
            let mut bar = Bar::new(self.talk.quiet || self.talk.json || !alone);
            let mut last = String::new();
            let over = follow(&client, &CATALOGUE, &id, |job| {
                if self.talk.json {
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
                if alone && !self.talk.json {
                    screen::say(line(&job));
                }
                if job["status"] == "FAILED" {
                    let why = job["message"].as_str().unwrap_or_default();
                    failed = Some(Fault::new(End::Failed, format!("{id}: {why}")));
                }
            }
            anyhow::Ok(())
        };
        tokio::select! {
            done = all => done?,
            _ = tokio::signal::ctrl_c() => {
                return Err(Fault::new(End::Interrupted, "interrupted; the jobs go on").into());
            }
        }
        failed.map_or(Ok(ExitCode::SUCCESS), |fault| Err(fault.into()))
    }
}

/// The jobs that are not over, of the newest ones.
async fn unfinished(client: &Client) -> Result<Vec<String>> {
    let page = named(&CATALOGUE, "jobs.list")?;
    let mut asked = Asked::plain(page, page.path.clone());
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
        Some("SUCCESS") => screen::ink(Ink::Good, "done"),
        Some("FAILED") => screen::ink(Ink::Bad, "failed"),
        Some("PENDING_QUEUE") => "waiting".into(),
        _ => screen::ink(Ink::Fair, "running"),
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
