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

/// Probes every back end and runs one cheap job on each route; reports what differs from the expectation.
#[derive(Args)]
struct Verify {
    /// Spends at most this many dollars on all jobs together, by the unit costs you entered; routes without one are skipped.
    #[arg(long, value_name = "DOLLARS", default_value_t = 1.0)]
    spend: f64,
    /// Only this back end, by name or id.
    #[arg(long, value_name = "NAME")]
    backend: Option<String>,
    /// Time limit of one job, in seconds.
    #[arg(long, value_name = "NUMBER", default_value_t = 300)]
    seconds: u32,
}

/// What was found so far.
struct Report {
    rows: Vec<Value>,
    /// What may still be spent, in dollars.
    left: f64,
    /// Jobs that were ordered, or may have been.
    tried: usize,
    skipped: usize,
    wrong: usize,
    /// A job took more than was expected, so that nobody knows what the next one takes.
    exceeded: bool,
}

impl Report {
    fn of(spend: f64) -> Self {
        Self {
            rows: Vec::new(),
            left: spend,
            tried: 0,
            skipped: 0,
            wrong: 0,
            exceeded: false,
        }
    }

    /// Takes over a row, as the service or this program has it.
    fn push(&mut self, backend: &Value, mut row: Value) {
        match row["outcome"].as_str() {
            Some("changed" | "failed") => self.wrong += 1,
            Some("skipped") => self.skipped += 1,
            _ => {}
        }
        let cost = &row["cost"];
        if let (Some(amount), Some(currency)) = (cost["amount"].as_f64(), cost["currency"].as_str())
        {
            let expected = row["expectedUsd"].as_f64().unwrap_or(0.0);
            self.exceeded |= currency == "USD" && amount > expected;
            row["took"] = json!(format!("{amount} {currency}"));
        }
        row["backend"] = backend.clone();
        self.rows.push(row);
    }

    /// What nobody can tell of because the service gave no answer: a job may have been ordered, and paid for.
    fn unanswered(&mut self, backend: &Value, route: &Value, fault: &Fault) {
        self.left -= route["expectedUsd"].as_f64().unwrap_or(0.0);
        self.push(
            backend,
            json!({ "route": route["route"], "operation": route["operation"], "outcome": "failed",
                "expectedUsd": route["expectedUsd"], "about": fault.to_string() }),
        );
    }

    /// Whether there was something to try and nothing was tried.
    fn is_empty(&self) -> bool {
        self.tried == 0 && self.skipped > 0
    }
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
        let mut report = Report::of(self.spend);
        let mut known = false;
        for row in listed["data"].as_array().into_iter().flatten() {
            // What works inside the program has no vendor.
            if row["enabled"] == false || row["base_url"].is_null() {
                continue;
            }
            let wanted = self.backend.as_deref();
            if wanted.is_none_or(|name| row["name"] == name || row["id"] == name) {
                known = true;
                self.verify(&client, row, &mut report).await;
            }
        }
        if let (false, Some(name)) = (known, &self.backend) {
            let message = format!("there is no enabled back end {name}");
            return Err(Fault::new(ExitReason::Refused, message).into());
        }
        let spent = self.spend - report.left;
        output::show(client_options, &json!({ "data": report.rows }), COLUMNS);
        if !client_options.quiet && !client_options.json {
            let (wrong, skipped) = (report.wrong, report.skipped);
            screen::note(format!(
                "{wrong} differ from the expectation, {skipped} not tried, at most {spent:.4} USD spent"
            ));
        }
        // Nothing was shown of anything, although money was given.
        let in_vain = self.spend > 0.0 && report.is_empty();
        Ok(match report.wrong {
            0 if !in_vain => ExitCode::SUCCESS,
            _ => ExitCode::from(ExitReason::Failed.code()),
        })
    }

    /// Asks for the routes of a back end, and has them tried one by one: no call takes longer than one job. What goes wrong
    /// at one of them is a row of the report, and no end of it.
    async fn verify(&self, client: &Client, row: &Value, report: &mut Report) {
        let id = row["id"].as_str().unwrap_or_default();
        let probe = |outcome: &str, about: Option<String>| json!({ "route": "probe", "outcome": outcome, "about": about });
        let planned = match call(client, id, &json!({ "plan": true })).await {
            Ok(planned) => planned,
            Err(fault) => {
                let failed = probe("failed", Some(fault.to_string()));
                return report.push(&row["name"], failed);
            }
        };
        let name = planned["backend"].clone();
        let found = match planned["problem"].as_str() {
            Some(problem) => probe("failed", Some(problem.to_owned())),
            None => probe("good", None),
        };
        report.push(&name, found);
        for route in planned["routes"].as_array().into_iter().flatten() {
            if route["outcome"] == "skipped" {
                report.push(&name, route.clone());
                continue;
            }
            if report.exceeded {
                let mut left_out = route.clone();
                left_out["outcome"] = json!("skipped");
                left_out["about"] = json!("an earlier job cost more than you entered");
                report.push(&name, left_out);
                continue;
            }
            let body = json!({ "route": route["route"], "spend": report.left.max(0.0), "seconds": self.seconds });
            match call(client, id, &body).await {
                Ok(tried) => {
                    report.left -= tried["spent"].as_f64().unwrap_or(0.0);
                    for found in tried["routes"].as_array().into_iter().flatten() {
                        report.tried += usize::from(found["outcome"] != "skipped");
                        report.push(&name, found.clone());
                    }
                }
                Err(fault) => {
                    report.tried += 1;
                    report.unanswered(&name, route, &fault);
                }
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_without_an_answer_is_a_row_and_takes_what_it_may_have_cost() {
        let mut report = Report::of(1.0);
        let route = json!({ "route": "a", "operation": "a.b", "expectedUsd": 0.3 });
        let fault = Fault::new(ExitReason::Failed, "the line was cut");
        report.unanswered(&json!("up"), &route, &fault);
        assert_eq!((report.wrong, report.rows.len()), (1, 1));
        assert!((report.left - 0.7).abs() < 1e-9, "{}", report.left);
        let row = &report.rows[0];
        assert_eq!(
            (&row["backend"], &row["outcome"]),
            (&json!("up"), &json!("failed"))
        );
        assert!(
            row["about"]
                .as_str()
                .is_some_and(|about| about.contains("cut"))
        );
    }

    #[test]
    fn a_job_that_took_more_than_expected_ends_the_spending() {
        let mut report = Report::of(1.0);
        let took = |amount: f64| json!({ "outcome": "good", "expectedUsd": 0.05, "cost": { "amount": amount, "currency": "USD" } });
        report.push(&json!("up"), took(0.05));
        assert!(!report.exceeded);
        report.push(&json!("up"), took(0.06));
        assert!(report.exceeded);
    }

    #[test]
    fn what_was_left_out_is_counted_and_is_no_success_alone() {
        let mut report = Report::of(1.0);
        report.push(&json!("up"), json!({ "outcome": "good", "route": "probe" }));
        assert!(!report.is_empty(), "there was nothing to try");
        report.push(&json!("up"), json!({ "outcome": "skipped", "route": "a" }));
        assert!(report.is_empty());
        assert_eq!((report.skipped, report.wrong), (1, 0));
    }
}
