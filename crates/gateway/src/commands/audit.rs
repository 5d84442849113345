//! `atelier audit`: asks everything that is always so of the ledger, the audit list and the files, while the service is
//! at work or stopped.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Result;
use atelier_cli::screen;
use atelier_engine::Clock;
use atelier_engine::audit::{AuditSummary, CheckOptions, Violation, audit};
use serde::Serialize;

use crate::app;
use crate::config::Config;

/// Faults of one kind that are named; the others are counted.
const NAMED_MOST: u64 = 100;

/// How to look, and how to say it.
#[derive(clap::Args)]
pub(super) struct AuditOptions {
    /// Prints the report as JSON.
    #[arg(long)]
    json: bool,
    /// For a running service: also checks deadlines, and skips what would read the whole database file.
    #[arg(long)]
    live: bool,
}

#[derive(Serialize)]
struct ReportedViolation {
    invariant: &'static str,
    what: &'static str,
    subject: String,
}

/// The command's answer, as JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    ok: bool,
    live: bool,
    at_ms: i64,
    rows: u64,
    files: u64,
    leftovers: u64,
    archived: u64,
    broken: BTreeMap<&'static str, u64>,
    faults: Vec<ReportedViolation>,
    left_out: Vec<String>,
}

/// Looks, prints what is wrong, and fails when anything is.
pub(super) async fn run(config: Config, options: AuditOptions) -> Result<ExitCode> {
    let store = app::open_store(&config).await?;
    let files = app::open_files(&config)?;
    let clock = Clock::of(&store).await?;
    let at_ms = clock.now_ms();
    let (mut broken, mut faults) = (BTreeMap::new(), Vec::new());
    let mut found = |fault: Violation| {
        let count: &mut u64 = broken.entry(fault.invariant).or_default();
        *count += 1;
        if *count <= NAMED_MOST {
            faults.push(ReportedViolation {
                invariant: fault.invariant,
                what: fault.what,
                subject: fault.subject,
            });
        }
    };
    let look = CheckOptions::new(at_ms, clock.steady_ms(), options.live);
    let archive = config.data_dir.join(super::archive::FOLDER);
    let looked = audit(&store, &files, &archive, look, &mut found).await;
    store.close().await;
    let looked = looked?;
    let AuditSummary {
        rows,
        files,
        leftovers,
        archived,
        left_out,
    } = looked;
    let report = Report {
        ok: broken.is_empty(),
        live: options.live,
        at_ms,
        rows,
        files,
        leftovers,
        archived,
        broken,
        faults,
        left_out,
    };
    if options.json {
        screen::say(serde_json::to_string_pretty(&report)?);
    } else {
        print(&report);
    }
    Ok(ExitCode::from(u8::from(!report.ok)))
}

fn print(report: &Report) {
    for ReportedViolation {
        invariant,
        what,
        subject,
    } in &report.faults
    {
        screen::say(format!("{invariant}: {what}: {subject}"));
    }
    for (invariant, count) in &report.broken {
        screen::say(format!("{invariant}: {count} in all"));
    }
    for words in &report.left_out {
        screen::say(words);
    }
    if report.leftovers > 0 && !report.live {
        screen::say(format!(
            "{} files belong to no row; a running service removes them",
            report.leftovers
        ));
    }
    let (rows, files) = (report.rows, report.files);
    if report.ok {
        screen::say(format!(
            "checked {rows} rows and {files} files: the ledger balances, the audit log is complete"
        ));
    } else {
        screen::say(format!(
            "checked {rows} rows and {files} files; violations are listed above"
        ));
    }
}
