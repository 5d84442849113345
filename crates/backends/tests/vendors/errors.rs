//! Every error that a vendor can give, tried against its local server and judged: who is blamed, what the caller reads, what
//! becomes of job and worker account. `docs/vendor-errors.md` is made from it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use atelier_backends::backend::Acceptance;
use atelier_backends::{Class, Fault, PollOutcome, StartOutcome, VENDORS};
use serde::Deserialize;
use serde_json::Value;

use crate::formats::FORMATS;
use crate::local::{Act, Format, Kind, request};
use crate::stand::{RecordedRequest, Reply, Stand};
use crate::studio::Studio;

const CASES: &str = include_str!("errors.json");

/// All that a caller may read of a vendor's failure.
const SENTENCES: &[&str] = &[
    "[Banned prompt detected] the back end does not allow a word of the prompt",
    "[Image denied] the content was refused by review",
    "[Internal error] no back end could take the work",
    "[Internal error] the back end could not make this",
    "[Internal error] the back end does not know the model",
    "[Internal error] the back end failed",
    "[Internal error] the result of the back end cannot be used",
    "[Internal error] the result was no longer there when it was fetched",
    "[Internal error] the work could not be done",
    "[Invalid link] the back end could not use an image",
    "[Invalid parameter] no face was found in one of the images",
    "[Invalid parameter] the back end cannot work with this request",
];

/// When a vendor says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Moment {
    /// In answer to an order.
    Start,
    /// In answer to a question about work that goes on.
    Question,
    /// As the end of the work.
    End,
    /// In place of the result, at vendors whose results have a page of their own.
    Result,
}

/// One error of a vendor.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct VendorFailure {
    vendor: String,
    #[serde(default)]
    dialect: String,
    /// Another operation than the usual one of its local server.
    operation: Option<String>,
    at: Moment,
    status: u16,
    /// A line of its head.
    #[serde(default)]
    head: String,
    /// A document, or a text that is none.
    body: Value,
    /// What it is about, in a few words.
    about: String,
    class: String,
    /// Seconds that the vendor asks to be left alone.
    after: Option<f64>,
    /// Whether the work may have been taken all the same.
    #[serde(default)]
    taken: bool,
}

impl VendorFailure {
    fn all() -> Vec<Self> {
        serde_json::from_str(CASES).expect("a list")
    }

    fn label(&self) -> String {
        match &*self.dialect {
            "" => self.vendor.clone(),
            dialect => format!("{} ({dialect})", self.vendor),
        }
    }

    fn format(&self) -> &'static Format {
        let found = FORMATS
            .iter()
            .find(|one| one.vendor == self.vendor && one.dialect == self.dialect);
        found.unwrap_or_else(|| panic!("{} has no local server", self.label()))
    }

    fn reply(&self, id: &str) -> Reply {
        let body = match &self.body {
            Value::String(text) => text.clone(),
            body => body.to_string(),
        };
        let kind = match self.body {
            Value::String(_) => "text/html",
            _ => "application/json",
        };
        let mut head = format!("content-type: {kind}\r\n");
        if !self.head.is_empty() {
            head = format!("{head}{}\r\n", self.head);
        }
        Reply::Whole(self.status, head, body.replace("{{id}}", id).into_bytes())
    }

    /// What the server says to a request: the usual things until the moment of the failure.
    fn answer(&self, seen: &RecordedRequest) -> Reply {
        match ((self.format().act)(seen), self.at) {
            (Act::Take(..), Moment::Start) => self.reply("t1"),
            (Act::Take(_, _, reply), _) => reply("t1"),
            (Act::Ask(_, _, done), Moment::Result) if seen.line.ends_with("/status") => {
                done(Kind::Picture)
            }
            (Act::Ask(id, ..), _) => self.reply(&id),
            (Act::Find(_, reply), _) => reply(None),
            (Act::List(reply), _) => reply(Vec::new()),
            (Act::Say(reply), _) => reply,
        }
    }

    /// What came of it, and whether the work is over by it.
    async fn fault(&'static self) -> (Fault, bool) {
        let stand = Stand::new(|seen| self.answer(seen));
        let format = self.format();
        let worker = stand.worker(format.vendor, (format.settings)());
        let operation = self.operation.as_deref().unwrap_or(format.operation);
        let studio = Studio::new();
        let picture = studio.host("a.png", &atelier_media::Picture::filled(64, 64, [9; 4]));
        let (work, _) = studio.work(operation, &request(operation, &picture), None);
        let ticket = match worker.start(work.clone()).await {
            Err(fault) => return (fault, true),
            Ok(StartOutcome::Ticket(ticket)) => ticket,
            Ok(StartOutcome::Done(_)) => panic!("{}: done", self.name()),
        };
        match worker.poll(&work, &ticket).await {
            Ok(PollOutcome::Failed(fault)) => (fault, true),
            Err(fault) => (fault, false),
            Ok(_) => panic!("{}: it goes on", self.name()),
        }
    }

    fn name(&self) -> String {
        format!("{}, {:?}: {}", self.label(), self.at, self.about)
    }

    /// The vendor's explanation: the first text with a space in it.
    fn words(&self) -> Option<String> {
        fn first(value: &Value) -> Option<&str> {
            match value {
                Value::String(text) => Some(text.as_str()).filter(|text| text.contains(' ')),
                Value::Array(all) => all.iter().find_map(first),
                Value::Object(all) => {
                    let message = all.get("message").and_then(first);
                    message.or_else(|| all.values().find_map(first))
                }
                _ => None,
            }
        }
        let is_document = !self.body.is_string();
        let words = is_document.then(|| first(&self.body)).flatten()?;
        Some(words.chars().take(60).collect())
    }
}

/// What becomes of the job and of the worker account, as `runner/react.rs` has it.
fn consequence(class: Class) -> &'static str {
    match class {
        Class::Retry => "tried again after a pause; the fifth failure in a row rests the account",
        Class::Rate => {
            "another account; this one rests as long as it was asked to, or 10 s and longer"
        }
        Class::Quota => "another account; this one is asked again in an hour",
        Class::Dead => "another account; this one is out until somebody changes it",
        Class::Reject | Class::BadRequest | Class::Gone => "the job ends; the account stays well",
        Class::Model => "the next back end; the account stays well, the route is marked",
        Class::Unable => "the next back end; the account stays as it is",
        Class::Service | Class::Bug => "nothing is held against the account",
    }
}

#[tokio::test]
async fn every_error_of_every_vendor_is_blamed_on_whose_it_is() {
    let cases: &'static [VendorFailure] = Vec::leak(VendorFailure::all());
    let mut wrong = Vec::new();
    let mut sections: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for case in cases {
        let (fault, over) = case.fault().await;
        let name = case.name();
        let mut check = |holds: bool, what: &str| {
            if !holds {
                wrong.push(format!("{name}: {what}: {fault:?}"));
            }
        };
        check(fault.class.word() == case.class, &case.class);
        check(over == (case.at != Moment::Question), "over");
        let taken = fault.taken == Acceptance::Perhaps;
        check(taken == case.taken, "taken");
        let after = case.after.map(std::time::Duration::from_secs_f64);
        check(after.is_none() || fault.after == after, "after");
        let message = fault.job_message();
        check(SENTENCES.contains(&&*message), "a sentence of ours");
        check(!fault.detail.contains("\\\""), "unescaped");
        if let Some(words) = case.words() {
            check(fault.detail.matches(&words).count() == 1, &words);
        }
        sections
            .entry(case.label())
            .or_default()
            .push(row(case, &fault));
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    let text = document(&sections);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/vendor-errors.md");
    if std::env::var_os("ATELIER_TEST_UPDATE").is_some() {
        std::fs::write(&path, &text).expect("written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == text,
        "docs/vendor-errors.md is not up to date; run with ATELIER_TEST_UPDATE=1"
    );
}

fn row(case: &VendorFailure, fault: &Fault) -> String {
    let moment = match case.at {
        Moment::Start => "order",
        Moment::Question => "question",
        Moment::End | Moment::Result => "end",
    };
    let reads = match case.at {
        Moment::Question => "nothing, the work goes on".to_owned(),
        _ if fault.taken == Acceptance::Perhaps => {
            "`[Internal error] the outcome at the back end is unknown`, unless the vendor can be asked".to_owned()
        }
        _ if fault.class.may_pass() => "nothing while somebody else can".to_owned(),
        _ => format!("`{}`", fault.job_message()),
    };
    let cost = match &fault.cost {
        Some(cost) => format!("{} {}", cost.micros as f64 / 1e6, cost.currency),
        None => "nothing".to_owned(),
    };
    format!(
        "| {moment} | {} | {} | {} | {} | {reads} | {cost} |",
        case.status,
        case.about,
        fault.class.blamed(),
        fault.class.word(),
    )
}

fn document(sections: &BTreeMap<String, Vec<String>>) -> String {
    let mut text = String::from(
        "# Errors of vendors\n\n\
         What each answer of a vendor means here. The table is made by a test that has a local server give every one of them.\n\n\
         A caller pays nothing for a job that fails, and reads one sentence of ours, never the vendor's words. Those are kept for \
         operators, in the health of the worker account and in the job's trail. \"Costs\" is what the vendor says that it took.\n\n\
         | class | blamed | what is done |\n|---|---|---|\n",
    );
    for class in Class::ALL {
        let _ = writeln!(
            text,
            "| {} | {} | {} |",
            class.word(),
            class.blamed(),
            consequence(class)
        );
    }
    for (label, rows) in sections {
        let _ = write!(
            text,
            "\n## {label}\n\n| in answer to | status | what it says | blamed | class | the caller reads | costs |\n|---|---|---|---|---|---|---|\n"
        );
        for row in rows {
            let _ = writeln!(text, "{row}");
        }
    }
    text
}

/// Failures are tried as often as successes: every format has its errors here.
#[test]
fn every_format_has_errors_of_the_kinds_that_matter() {
    let cases = VendorFailure::all();
    for format in FORMATS {
        let own = cases
            .iter()
            .filter(|one| one.vendor == format.vendor && one.dialect == format.dialect);
        let classes: BTreeSet<&str> = own.map(|one| one.class.as_str()).collect();
        let label = format!("{} {}", format.vendor, format.dialect);
        assert!(classes.len() >= 3, "{label}: {classes:?}");
        let hosted = VENDORS
            .iter()
            .any(|one| one.name == format.vendor && one.needs_credential);
        if hosted {
            assert!(classes.contains("dead"), "{label}: {classes:?}");
        }
    }
}
