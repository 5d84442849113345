//! Statements: what an account had, got and spent in a month.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::list::{PageNumber, PageSize};
use crate::csv::CsvLines;
use crate::fields::words;
use crate::month::Month;
use crate::quota::Quota;

words! {
    /// How a statement is written.
    pub StatementFormat = Csv {
        /// A table, for whoever computes.
        Csv "csv",
        /// A page to be printed.
        Html "html",
    }
}

words! {
    /// A language that people read.
    pub Language = En {
        /// English.
        En "en",
        /// German.
        De "de",
        /// Chinese, in simplified characters.
        Zh "zh",
    }
}

impl Language {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::En, Self::De, Self::Zh];
}

/// How a statement is wanted.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
pub struct StatementQuery {
    /// `csv` for a table, `html` for a page to be printed.
    #[serde(default)]
    pub format: StatementFormat,
    /// The language of the page. The table has none.
    #[serde(default)]
    pub language: Language,
}

/// A month of an account.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatementRow {
    /// The month, `YYYY-MM` in UTC.
    pub month: Month,
    /// Whether its statement is there and never changes again; else it is made when it is first asked for.
    pub closed: bool,
    /// Quota at the beginning, held quota included; null until the statement is there.
    pub opening: Option<Quota>,
    /// Quota that came: grants, vouchers, plans and payments.
    pub credited: Option<Quota>,
    /// Corrections, and what ended unused; mostly below 0.
    pub adjusted: Option<Quota>,
    /// Quota that jobs consumed.
    pub charged: Option<Quota>,
    /// Quota at the end, held quota included.
    pub closing: Option<Quota>,
    /// The SHA-256 of the table, in hexadecimal.
    pub sha256: Option<String>,
    /// When it was made, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub made_at: Option<String>,
}

/// A month whose books are to be closed.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
pub struct NewClose {
    /// The month, `YYYY-MM`; it must be over.
    pub month: Month,
}

/// How far the books of a month are closed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CloseRow {
    /// The month, `YYYY-MM` in UTC.
    pub month: Month,
    /// Accounts that there were by its end.
    pub accounts: i64,
    /// How many of them have a statement.
    pub closed: i64,
    /// How many could have none; each says why.
    pub refused: i64,
    /// Quota that jobs consumed, of those that have one.
    pub charged: Quota,
    /// Who had it closed for all accounts; null when nobody did.
    pub by: Option<String>,
    /// When that was begun, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub begun_at: Option<String>,
    /// When every account was looked at.
    pub finished_at: Option<String>,
}

words! {
    /// Which accounts of a month.
    pub BookState {
        /// Those that have a statement.
        Closed "closed",
        /// Those that have none.
        Open "open",
        /// Those that could have none.
        Refused "refused",
    }
}

/// Which accounts of a month to list.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
pub struct BooksQuery {
    /// Number of the page, from 1.
    #[serde(default)]
    pub page: PageNumber,
    /// Rows on a page, at most 100.
    #[serde(default)]
    pub limit: PageSize,
    /// Only accounts in this state.
    #[serde(default)]
    pub state: Option<BookState>,
}

/// The books of an account in a month.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BooksRow {
    /// The account.
    pub account_id: String,
    /// Its e-mail address.
    pub email: String,
    /// Whether they are closed: `closed`, `open` or `refused`.
    pub state: BookState,
    /// Quota at the end of the month.
    pub closing: Option<Quota>,
    /// Quota that jobs consumed in it.
    pub charged: Option<Quota>,
    /// The SHA-256 of the statement, in hexadecimal.
    pub sha256: Option<String>,
    /// Why there is none.
    pub why: Option<String>,
}

/// Who a statement is from, as it was said when the statement was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Issuer {
    /// The name of the operator.
    pub name: String,
    /// The lines of the address.
    pub address: Vec<String>,
    /// What tax law asks for, such as a VAT number.
    pub tax_line: String,
    /// The hash of the logo, if there is one.
    pub logo: Option<String>,
}

/// Quota that came or went by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementMovement {
    /// When, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub time: String,
    /// Where it came from: `grant`, `voucher`, `plan`, `payment`, `import`; `adjust`, `expire`, `refund` or `debt`.
    pub kind: String,
    /// What was said about it.
    pub description: String,
    /// How much, below 0 where it went.
    pub amount: Quota,
    /// How many rows of the ledger it stands for.
    pub rows: i64,
}

/// Quota that jobs consumed which were alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementCharge {
    /// The operation of the jobs.
    pub operation: String,
    /// The model that they name; empty where they name none.
    pub model: String,
    /// The key that they came by; empty where that is not known.
    pub key_id: String,
    /// The name of the key, as it was when the statement was made.
    pub key: String,
    /// The member who asked for them; empty where that is not known.
    pub member_id: String,
    /// What the member is called.
    pub member: String,
    /// How many jobs.
    pub jobs: i64,
    /// What they consumed.
    pub quota: Quota,
}

/// What one of a kind consumed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementSum {
    /// Its identifier; empty for jobs that say nothing of it.
    pub id: String,
    /// Its name.
    pub name: String,
    /// How many jobs.
    pub jobs: i64,
    /// What they consumed.
    pub quota: Quota,
}

/// Everything that a statement says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StatementRecord {
    /// The month.
    pub month: Month,
    /// The account.
    pub account_id: String,
    /// Its e-mail address.
    pub email: String,
    /// Who the statement is from.
    pub issuer: Issuer,
    /// What one unit of quota was sold for, in dollars; 0 where nobody says.
    pub quota_usd: f64,
    /// At the beginning, held quota included.
    pub opening: Quota,
    /// What of that unfinished jobs held.
    pub opening_held: Quota,
    /// What came.
    pub credits: Vec<StatementMovement>,
    /// Corrections, and what ended unused.
    pub adjustments: Vec<StatementMovement>,
    /// By operation, model, key and member.
    pub charges: Vec<StatementCharge>,
    /// The same by operation alone.
    pub by_operation: Vec<StatementSum>,
    /// By model alone.
    pub by_model: Vec<StatementSum>,
    /// By key alone.
    pub by_key: Vec<StatementSum>,
    /// By member alone.
    pub by_member: Vec<StatementSum>,
    /// The sum of what came.
    pub credited: Quota,
    /// The sum of corrections and of what ended.
    pub adjusted: Quota,
    /// The sum of what jobs consumed.
    pub charged: Quota,
    /// How many jobs consumed something.
    pub jobs: i64,
    /// At the end, held quota included.
    pub closing: Quota,
    /// What of that unfinished jobs held.
    pub closing_held: Quota,
    /// When the statement was made, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub made_at: String,
}

impl StatementRecord {
    /// The statement as a table. Its amounts add up to the closing line's.
    pub fn csv(&self) -> String {
        let mut table = StatementTable::default();
        table.lines.header(COLUMNS);
        let month = self.month.to_string();
        for (line, text) in [
            ("month", &month),
            ("account", &self.account_id),
            ("email", &self.email),
            ("issuer", &self.issuer.name),
            ("issued", &self.made_at),
        ] {
            table.begin(line, "", "", text);
            table.blank(9);
            table.lines.end();
        }
        table.standing("opening", self.opening, self.opening_held);
        for one in &self.credits {
            table.movement("credit", one);
        }
        for one in &self.adjustments {
            table.movement("adjustment", one);
        }
        for charge in &self.charges {
            table.charge(charge);
        }
        table.standing("closing", self.closing, self.closing_held);
        table.lines.finish()
    }
}

const COLUMNS: [&str; 13] = [
    "line",
    "time",
    "kind",
    "description",
    "operation",
    "model",
    "keyId",
    "key",
    "memberId",
    "member",
    "jobs",
    "amount",
    "held",
];

/// A table that is being written.
#[derive(Default)]
struct StatementTable {
    lines: CsvLines,
}

impl StatementTable {
    fn begin(&mut self, line: &str, time: &str, kind: &str, text: &str) {
        for cell in [line, time, kind, text] {
            self.lines.text(cell);
        }
    }

    fn blank(&mut self, cells: usize) {
        for _ in 0..cells {
            self.lines.text("");
        }
    }

    fn standing(&mut self, line: &str, amount: Quota, held: Quota) {
        self.begin(line, "", "", "");
        self.blank(7);
        self.lines.quota(amount);
        self.lines.quota(held);
        self.lines.end();
    }

    fn movement(&mut self, line: &str, one: &StatementMovement) {
        self.begin(line, &one.time, &one.kind, &one.description);
        self.blank(7);
        self.lines.quota(one.amount);
        self.lines.text("");
        self.lines.end();
    }

    fn charge(&mut self, charge: &StatementCharge) {
        self.begin("charge", "", "", "");
        for cell in [
            &charge.operation,
            &charge.model,
            &charge.key_id,
            &charge.key,
            &charge.member_id,
            &charge.member,
        ] {
            self.lines.text(cell);
        }
        self.lines.number(charge.jobs);
        self.lines.quota(-charge.quota);
        self.lines.text("");
        self.lines.end();
    }
}
