//! Exports: everything of a kind as a table or as lines of JSON. Both have the same columns under the same names.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::csv::CsvLines;
use crate::fields::{Moment, Text, words};
use crate::quota::Quota;

words! {
    /// How rows are written.
    pub ExportFormat = Csv {
        /// A table with a line of names, for spreadsheets.
        Csv "csv",
        /// A JSON object on each line.
        Jsonl "jsonl",
    }
}

impl ExportFormat {
    /// The media type of what is written.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv; charset=utf-8",
            Self::Jsonl => "application/jsonl; charset=utf-8",
        }
    }
}

words! {
    /// What is exported.
    pub ExportKind {
        /// A row for each job, in the order in which they were accepted.
        Jobs "jobs",
        /// A row for each movement of quota, in their order.
        Ledger "ledger",
        /// A row for each hour, key, member, model and operation in which quota was consumed.
        Usage "usage",
    }
}

impl ExportKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Jobs, Self::Ledger, Self::Usage];
}

/// Which rows to export, and how they are written.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExportQuery {
    /// `csv` for a table with a line of names, `jsonl` for a JSON object on each line.
    #[serde(default)]
    pub format: ExportFormat,
    /// Only rows at this moment or later: jobs by when they were accepted; of usage whole hours.
    #[serde(default)]
    pub from: Option<Moment>,
    /// Only rows before this moment; of usage the hour that it is in is there as a whole.
    #[serde(default)]
    pub to: Option<Moment>,
    /// Only of jobs that came by this key.
    #[serde(default)]
    pub key_id: Option<Text<100>>,
    /// Only of jobs of this member of the account.
    #[serde(default)]
    pub member_id: Option<Text<100>>,
    /// Only of jobs that name this model.
    #[serde(default)]
    pub model: Option<Text<100>>,
    /// Only of jobs of this operation, as `artgen.imagine`.
    #[serde(default)]
    pub operation: Option<Text<100>>,
    /// Only of jobs with this tag, as `project:a`.
    #[serde(default)]
    pub tag: Option<Text<200>>,
    /// Only of jobs of this end user.
    #[serde(default)]
    pub user: Option<Text<256>>,
    /// Operators only: the account; every account when absent.
    #[serde(default)]
    pub account_id: Option<Text<100>>,
}

/// A row of an export: the same in both formats.
pub trait ExportRow: Serialize {
    /// Its columns behind that of the account, by the names that its JSON has.
    const COLUMNS: &'static [&'static str];

    /// Whose it is, where that is told.
    fn account(&self) -> Option<&str>;

    /// Writes its cells, one for each column.
    fn cells(&self, line: &mut CsvLines);
}

/// A job.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportedJob {
    /// Whose it is; operators see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account_id: Option<String>,
    /// Identifier of the job.
    pub job_id: String,
    /// The operation that made it, `family.operation`.
    pub operation: String,
    /// The model that it names.
    pub model: Option<String>,
    /// `PENDING_QUEUE`, `ON_QUEUE`, `SUCCESS` or `FAILED`.
    pub status: &'static str,
    /// When it was accepted, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub created_at: String,
    /// When it first started.
    pub started_at: Option<String>,
    /// When it finished or failed.
    pub finished_at: Option<String>,
    /// Quota consumed; 0 unless it succeeded.
    pub quota: Quota,
    /// Quota held until it has finished.
    pub held: Quota,
    /// The key that it came by.
    pub key_id: Option<String>,
    /// The member of the account who asked for it.
    pub member_id: Option<String>,
    /// The end user that its caller names.
    pub user: Option<String>,
    /// What its caller tags it with.
    pub tags: BTreeMap<String, String>,
    /// The job it follows.
    pub parent_job_id: Option<String>,
    /// Why it failed, if it did.
    pub message: Option<String>,
    /// What it was asked for.
    pub prompt: String,
}

impl ExportRow for ExportedJob {
    const COLUMNS: &'static [&'static str] = &[
        "jobId",
        "operation",
        "model",
        "status",
        "createdAt",
        "startedAt",
        "finishedAt",
        "quota",
        "held",
        "keyId",
        "memberId",
        "user",
        "tags",
        "parentJobId",
        "message",
        "prompt",
    ];

    fn account(&self) -> Option<&str> {
        self.account_id.as_deref()
    }

    fn cells(&self, line: &mut CsvLines) {
        let tags = self.tags.iter();
        let tags: Vec<String> = tags
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        line.text(&self.job_id);
        line.text(&self.operation);
        line.maybe(self.model.as_deref());
        line.text(self.status);
        line.text(&self.created_at);
        line.maybe(self.started_at.as_deref());
        line.maybe(self.finished_at.as_deref());
        line.quota(self.quota);
        line.quota(self.held);
        line.maybe(self.key_id.as_deref());
        line.maybe(self.member_id.as_deref());
        line.maybe(self.user.as_deref());
        line.text(&tags.join(","));
        line.maybe(self.parent_job_id.as_deref());
        line.maybe(self.message.as_deref());
        line.text(&self.prompt);
    }
}

/// A movement of quota.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportedMovement {
    /// Whose it is; operators see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account_id: Option<String>,
    /// Identifier of the row.
    pub id: String,
    /// When it happened, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub time: String,
    /// `grant`, `hold`, `capture`, `release` or `adjust`; `expire` of a credit that ended.
    pub kind: String,
    /// The quota that was moved.
    pub amount: Quota,
    /// What it added to the balance.
    pub change: Quota,
    /// What it added to the held quota.
    pub freeze_change: Quota,
    /// Balance after the movement.
    pub balance: Quota,
    /// Held quota after the movement.
    pub freeze_balance: Quota,
    /// The job it belongs to.
    pub job_id: Option<String>,
    /// Why, as whoever moved it said; of a job its operation.
    pub reason: String,
    /// The key that its job came by.
    pub key_id: Option<String>,
    /// The member of the account who asked for that job.
    pub member_id: Option<String>,
    /// The model that it names.
    pub model: Option<String>,
}

impl ExportRow for ExportedMovement {
    const COLUMNS: &'static [&'static str] = &[
        "id",
        "time",
        "kind",
        "amount",
        "change",
        "freezeChange",
        "balance",
        "freezeBalance",
        "jobId",
        "reason",
        "keyId",
        "memberId",
        "model",
    ];

    fn account(&self) -> Option<&str> {
        self.account_id.as_deref()
    }

    fn cells(&self, line: &mut CsvLines) {
        line.text(&self.id);
        line.text(&self.time);
        line.text(&self.kind);
        line.quota(self.amount);
        line.quota(self.change);
        line.quota(self.freeze_change);
        line.quota(self.balance);
        line.quota(self.freeze_balance);
        line.maybe(self.job_id.as_deref());
        line.text(&self.reason);
        line.maybe(self.key_id.as_deref());
        line.maybe(self.member_id.as_deref());
        line.maybe(self.model.as_deref());
    }
}

/// What was consumed in an hour.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportedUsage {
    /// Whose it is; operators see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account_id: Option<String>,
    /// When the hour began, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub hour: String,
    /// The key that its jobs came by.
    pub key_id: Option<String>,
    /// The member of the account who asked for them.
    pub member_id: Option<String>,
    /// The model that they name.
    pub model: Option<String>,
    /// The operation that made them.
    pub operation: String,
    /// Jobs that succeeded in the hour.
    pub jobs: i64,
    /// Quota that they consumed.
    pub quota: Quota,
}

impl ExportRow for ExportedUsage {
    const COLUMNS: &'static [&'static str] = &[
        "hour",
        "keyId",
        "memberId",
        "model",
        "operation",
        "jobs",
        "quota",
    ];

    fn account(&self) -> Option<&str> {
        self.account_id.as_deref()
    }

    fn cells(&self, line: &mut CsvLines) {
        line.text(&self.hour);
        line.maybe(self.key_id.as_deref());
        line.maybe(self.member_id.as_deref());
        line.maybe(self.model.as_deref());
        line.text(&self.operation);
        line.number(self.jobs);
        line.quota(self.quota);
    }
}

/// An export that the service makes each day.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DailyExport {
    /// The day whose rows it has, `YYYY-MM-DD` in UTC.
    pub day: String,
    /// `jobs`, `ledger` or `usage`.
    pub kind: String,
    /// How many rows were written.
    pub rows: i64,
    /// Where they are.
    pub files: Vec<DailyExportFile>,
    /// When it was begun, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub begun_at: String,
    /// When it was whole; null until then.
    pub finished_at: Option<String>,
    /// Why it did not go on the last time; it is tried again.
    pub error: Option<String>,
}

/// A file of an export.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DailyExportFile {
    /// Its name below `exports.url`, or in the asset store.
    pub name: String,
    /// The SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
    /// How many bytes it has.
    pub bytes: i64,
    /// How many rows it has.
    pub rows: i64,
}

/// The name of the column that tells whose a row is.
const ACCOUNT: &str = "accountId";

/// The line of names of a table.
pub fn header<R: ExportRow>(with_account: bool) -> String {
    let mut lines = CsvLines::default();
    let account = with_account.then_some(ACCOUNT).into_iter();
    lines.header(account.chain(R::COLUMNS.iter().copied()));
    lines.finish()
}

/// Rows as they are written.
pub fn write_rows<R: ExportRow>(rows: &[R], format: ExportFormat) -> String {
    match format {
        ExportFormat::Csv => {
            let mut lines = CsvLines::default();
            for row in rows {
                if let Some(account_id) = row.account() {
                    lines.text(account_id);
                }
                row.cells(&mut lines);
                lines.end();
            }
            lines.finish()
        }
        ExportFormat::Jsonl => {
            let mut text = String::new();
            for row in rows {
                text.push_str(&serde_json::to_string(row).unwrap_or_default());
                text.push('\n');
            }
            text
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The promise: both formats have the same columns, under the same names and in the same order.
    fn same_columns<R: ExportRow + Default>() {
        let json = write_rows(&[R::default()], ExportFormat::Jsonl);
        let places = R::COLUMNS
            .iter()
            .map(|name| json.find(&format!("\"{name}\":")));
        let places: Vec<usize> = places.map(|place| place.expect("a column")).collect();
        assert!(places.is_sorted(), "{json}");
        let fields: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(&json).expect("an object");
        assert_eq!(fields.len(), R::COLUMNS.len());
        let row = write_rows(&[R::default()], ExportFormat::Csv);
        let commas = |text: &str| text.matches(',').count();
        assert_eq!(commas(&row), commas(&header::<R>(false)));
    }

    #[test]
    fn both_formats_have_the_same_columns() {
        same_columns::<ExportedJob>();
        same_columns::<ExportedMovement>();
        same_columns::<ExportedUsage>();
    }

    #[test]
    fn operators_see_whose_a_row_is() {
        let row = ExportedUsage {
            account_id: Some("a".into()),
            ..ExportedUsage::default()
        };
        assert!(write_rows(&[row], ExportFormat::Csv).starts_with("a,"));
        assert!(header::<ExportedUsage>(true).starts_with("accountId,hour,"));
    }
}
