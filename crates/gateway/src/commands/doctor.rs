//! `atelier doctor`: looks at everything the service on this machine needs, says what is wrong and how to put it right.

mod certificate;
mod checks;
mod credentials;
mod finding;

use std::process::ExitCode;

use anyhow::Result;
use atelier_cli::screen::{self, TextStyle};
use atelier_cli::{Command, Group, block_on};
use clap::Args;
use serde_json::json;

use super::instance_options::InstanceOptions;
use finding::{Finding, Verdict};

/// Checks configuration, database, disk, asset store, clock, outbound rules, back ends and certificates.
#[derive(Args)]
pub(super) struct Doctor {
    #[command(flatten)]
    instance: InstanceOptions,
    /// Prints the findings as JSON.
    #[arg(long)]
    json: bool,
}

impl Command for Doctor {
    const NAME: &str = "doctor";
    const GROUP: Group = Group::Service;
    const EXAMPLES: &str = "\
atelier doctor
atelier doctor --config /etc/atelier.toml --json";

    fn run(self) -> Result<ExitCode> {
        let sources = self.instance.sources(Vec::new());
        let all = run_checks(&sources);
        let worst = all
            .iter()
            .map(|look| look.verdict)
            .max()
            .unwrap_or(Verdict::Good);
        if self.json {
            let rows = all.iter().map(|look| {
                json!({ "what": look.what, "verdict": look.verdict.word(), "found": look.found, "remedy": look.remedy })
            });
            screen::say(json!(rows.collect::<Vec<_>>()).to_string());
        } else {
            all.iter().for_each(print);
        }
        Ok(if worst == Verdict::Bad {
            ExitCode::FAILURE
        } else {
            ExitCode::SUCCESS
        })
    }
}

fn run_checks(sources: &crate::config::load::Sources) -> Vec<Finding> {
    let mut all = Vec::new();
    let done = block_on(async {
        checks::run_all(sources, &mut all).await;
        Ok(ExitCode::SUCCESS)
    });
    if let Err(error) = done {
        all.push(Finding::bad(
            "runtime",
            error.to_string(),
            "free memory or processes",
        ));
    }
    all
}

fn print(look: &Finding) {
    let mark = match look.verdict {
        Verdict::Good => screen::ink(TextStyle::Good, "good"),
        Verdict::Fair => screen::ink(TextStyle::Fair, "look"),
        Verdict::Bad => screen::ink(TextStyle::Bad, "BAD "),
    };
    screen::say(format!("{mark}  {:13}  {}", look.what, look.found));
    if !look.remedy.is_empty() {
        screen::say(format!("      {:13}  → {}", "", look.remedy));
    }
}
