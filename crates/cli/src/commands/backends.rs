//! `atelier backends`: the pages of back ends as verbs, and `verify`, which tries all of them for a little money.

use std::process::ExitCode;

use anyhow::Result;
use atelier_contract::catalogue::Catalogue;
use clap::{ArgMatches, Args, FromArgMatches as _};
use serde_json::{Value, json};

use super::client_options::ClientOptions;
use super::nouns::Noun;
use super::output;
use crate::client::fault::{ExitReason, Fault};
use crate::client::{ApiRequest, Client, RequestBody, segment};
use crate::command::{Entry, Group, block_on, examples};
use crate::terminal::screen;

/// Its line in the table of commands.
pub(super) const ENTRY: Entry = Entry {
    group: Group::Operate,
    words,
    run,
};

const VERIFY: &str = "verify";
/// Columns of the report.
const COLUMNS: &[&str] = &[
    "backend",
    "route",
    "operation",
    "outcome",
    "expectedUsd",
    "took",
    "tookMs",
    "about",
];
const EXAMPLES: &str =
    "atelier backends verify --spend 0.50\natelier backends verify --backend ark --json";

fn words(catalogue: &'static Catalogue) -> clap::Command {
    let verify = Verify::augment_args(clap::Command::new(VERIFY)).after_help(examples(EXAMPLES));
    Noun::BACKENDS.words(catalogue).subcommand(verify)
}

fn run(catalogue: &'static Catalogue, matches: &ArgMatches) -> Result<ExitCode> {
    let Some((VERIFY, inner)) = matches.subcommand() else {
        return Noun::BACKENDS.run(catalogue, matches);
    };
    let client_options = ClientOptions::from_arg_matches(inner)?;
    let verify = Verify::from_arg_matches(inner)?;
    block_on(verify.run(&client_options, catalogue))
}

/// Probes every back end and gives each of its routes one cheap job; says what is otherwise than expected.
#[derive(Args)]
struct Verify {
    /// The most that all jobs may take together, in dollars, by the unit costs that you entered; what has none is left out.
    #[arg(long, value_name = "DOLLARS", default_value_t = 1.0)]
    spend: f64,
    /// Only this back end, by name or id.
    #[arg(long, value_name = "NAME")]
    backend: Option<String>,
    /// Seconds that one job may take.
    #[arg(long, value_name = "NUMBER", default_value_t = 300)]
    seconds: u32,
}

/// What was found so far.
struct Report {
    rows: Vec<Value>,
    /// What may still be spent, in dollars.
    left: f64,
    wrong: usize,
}

impl Verify {
    async fn run(
        self,
        client_options: &ClientOptions,
        catalogue: &'static Catalogue,
    ) -> Result<ExitCode> {
        if !self.spend.is_finite() || self.spend < 0.0 {
            let message = "--spend: must be dollars, such as 0.50";
            return Err(Fault::new(ExitReason::Usage, message).into());
        }
        let client = client_options.client(catalogue)?;
        let page = client.operation("admin.backends")?;
        let asked = ApiRequest::plain(page, page.path.clone());
        let listed = client.call(page, &asked).await?;
        let mut report = Report {
            rows: Vec::new(),
            left: self.spend,
            wrong: 0,
        };
        let mut known = false;
        for row in listed["data"].as_array().into_iter().flatten() {
            // What works inside the program has no vendor.
            if row["enabled"] == false || row["base_url"].is_null() {
                continue;
            }
            let wanted = self.backend.as_deref();
            if wanted.is_none_or(|name| row["name"] == name || row["id"] == name) {
                known = true;
                self.verify(&client, row, &mut report).await?;
            }
        }
        if let (false, Some(name)) = (known, &self.backend) {
            let message = format!("there is no back end {name} that is in use");
            return Err(Fault::new(ExitReason::Refused, message).into());
        }
        let spent = self.spend - report.left;
        output::show(client_options, &json!({ "data": report.rows }), COLUMNS);
        if !client_options.quiet && !client_options.json {
            let wrong = report.wrong;
            screen::note(format!(
                "{wrong} not as expected, at most {spent:.4} USD spent"
            ));
        }
        Ok(match report.wrong {
            0 => ExitCode::SUCCESS,
            _ => ExitCode::from(ExitReason::Failed.code()),
        })
    }

    /// Asks for the routes of a back end, and has them tried one by one: no call takes longer than one job.
    async fn verify(&self, client: &Client, row: &Value, report: &mut Report) -> Result<(), Fault> {
        let id = row["id"].as_str().unwrap_or_default();
        let planned = call(client, id, &json!({ "plan": true })).await?;
        let name = planned["backend"].clone();
        if let Some(problem) = planned["problem"].as_str() {
            report.wrong += 1;
            report.rows.push(
                json!({ "backend": name, "route": "probe", "outcome": "failed", "about": problem }),
            );
        } else {
            report
                .rows
                .push(json!({ "backend": name, "route": "probe", "outcome": "good" }));
        }
        for route in planned["routes"].as_array().into_iter().flatten() {
            let body = json!({ "route": route["route"], "spend": report.left.max(0.0), "seconds": self.seconds });
            let tried = call(client, id, &body).await?;
            report.left -= tried["spent"].as_f64().unwrap_or(0.0);
            for found in tried["routes"].as_array().into_iter().flatten() {
                let mut found = found.clone();
                let outcome = found["outcome"].as_str();
                report.wrong += usize::from(matches!(outcome, Some("changed" | "failed")));
                let cost = &found["cost"];
                if let (Some(amount), Some(currency)) =
                    (cost["amount"].as_f64(), cost["currency"].as_str())
                {
                    found["took"] = json!(format!("{amount} {currency}"));
                }
                found["backend"] = name.clone();
                report.rows.push(found);
            }
        }
        Ok(())
    }
}

/// What came of the routes of a back end.
async fn call(client: &Client, id: &str, body: &Value) -> Result<Value, Fault> {
    let page = client.operation("admin.backends.try")?;
    let mut asked = ApiRequest::plain(page, page.path.replace("{id}", &segment(id)));
    asked.sent = RequestBody::Json(body.as_object().cloned().unwrap_or_default());
    // A job that was ordered is not ordered again because an answer was lost.
    asked.repeatable = false;
    let mut answer = client.call(page, &asked).await?;
    Ok(answer["data"].take())
}
