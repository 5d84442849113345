//! Walking over rows, page by page: all invariants of a kind of rows are asked by one statement for each page, which is
//! one moment for itself, takes little memory and holds nobody up.

use std::fmt::Write as _;

use super::invariant::{Invariant, RowKind};
use crate::Result;
use crate::db::Arg;
use crate::readers::Db;
use crate::row::{Columns, FromRow};

/// Columns of the longest key.
const KEY_MOST: usize = 4;

/// How rows of a kind are found.
struct RowScan {
    rows: RowKind,
    table: &'static str,
    /// The columns by which they are ordered, all of which have an index, and whether each is a number.
    key: &'static [(&'static str, bool)],
    /// What names a row in a report.
    subject: &'static str,
    /// Which rows; in words of an index.
    filter: &'static str,
    /// Rows in one statement: fewer where each takes some counting.
    page: usize,
}

const EVERY: &str = "1 = 1";

const SCANS: &[RowScan] = &[
    RowScan {
        rows: RowKind::Accounts,
        table: "account",
        key: &[("id", false)],
        subject: "account.id",
        filter: EVERY,
        page: 50,
    },
    RowScan {
        rows: RowKind::Histories,
        table: "account",
        key: &[("id", false)],
        subject: "account.id",
        filter: EVERY,
        page: 20,
    },
    RowScan {
        rows: RowKind::Checkpoints,
        table: "ledger_checkpoint",
        key: &[("account_id", false)],
        subject: "ledger_checkpoint.account_id",
        filter: EVERY,
        page: 50,
    },
    RowScan {
        rows: RowKind::Entries,
        table: "ledger",
        key: &[("account_id", false), ("number", true)],
        subject: "ledger.id",
        filter: EVERY,
        page: 500,
    },
    RowScan {
        rows: RowKind::Jobs,
        table: "job",
        key: &[("id", false)],
        subject: "job.id",
        filter: EVERY,
        page: 500,
    },
    RowScan {
        rows: RowKind::OpenJobs,
        table: "job",
        key: &[("deadline_ms", true), ("id", false)],
        subject: "job.id",
        filter: "job.state < 2",
        page: 500,
    },
    RowScan {
        rows: RowKind::LiveAttempts,
        table: "attempt",
        key: &[("job_id", false)],
        subject: "attempt.id",
        filter: "attempt.ended_ms IS NULL",
        page: 500,
    },
    RowScan {
        rows: RowKind::Deliveries,
        table: "delivery",
        key: &[("id", false)],
        subject: "delivery.id",
        filter: EVERY,
        page: 500,
    },
    RowScan {
        rows: RowKind::OpenDeliveries,
        table: "delivery",
        key: &[("next_ms", true), ("id", false)],
        subject: "delivery.id",
        filter: "delivery.state IN ('due', 'sending')",
        page: 500,
    },
    RowScan {
        rows: RowKind::Calls,
        table: "idempotency",
        key: &[("account_id", false), ("key", false)],
        subject: "idempotency.job_id",
        filter: EVERY,
        page: 500,
    },
    RowScan {
        rows: RowKind::Queues,
        table: "in_flight",
        key: &[("account_id", false), ("queue", false)],
        subject: "in_flight.account_id",
        filter: EVERY,
        page: 50,
    },
    RowScan {
        rows: RowKind::Tallies,
        table: "tally",
        key: &[
            ("account_id", false),
            ("day", true),
            ("operation", false),
            ("state", true),
        ],
        subject: "tally.account_id",
        filter: EVERY,
        page: 20,
    },
    RowScan {
        rows: RowKind::Totals,
        table: "tally_total",
        key: &[("account_id", false), ("operation", false), ("state", true)],
        subject: "tally_total.account_id",
        filter: EVERY,
        page: 50,
    },
    RowScan {
        rows: RowKind::Hours,
        table: "spent",
        key: &[("account_id", false), ("hour", true), ("operation", false)],
        subject: "spent.account_id",
        filter: EVERY,
        page: 50,
    },
    RowScan {
        rows: RowKind::Assets,
        table: "asset",
        key: &[("key", false)],
        subject: "asset.key",
        filter: EVERY,
        page: 500,
    },
    RowScan {
        rows: RowKind::Models,
        table: "model",
        key: &[("name_key", false), ("revision", true)],
        subject: "model.name",
        filter: EVERY,
        page: 500,
    },
    RowScan {
        rows: RowKind::KeyWindows,
        table: "key_window",
        key: &[
            ("account_id", false),
            ("key_id", false),
            ("span", false),
            ("from_ms", true),
        ],
        subject: "key_window.key_id",
        filter: EVERY,
        page: 20,
    },
    RowScan {
        rows: RowKind::PriceGroups,
        table: "price_group",
        key: &[("name_key", false), ("revision", true)],
        subject: "price_group.name",
        filter: EVERY,
        page: 500,
    },
    RowScan {
        rows: RowKind::Credits,
        table: "credit",
        key: &[("id", false)],
        subject: "credit.id",
        filter: EVERY,
        page: 200,
    },
    RowScan {
        rows: RowKind::HoldParts,
        table: "hold_part",
        key: &[("job_id", false), ("credit_id", false)],
        subject: "hold_part.job_id",
        filter: EVERY,
        page: 500,
    },
    RowScan {
        rows: RowKind::VoucherBatches,
        table: "voucher_batch",
        key: &[("id", false)],
        subject: "voucher_batch.id",
        filter: EVERY,
        page: 20,
    },
    RowScan {
        rows: RowKind::Vouchers,
        table: "voucher",
        key: &[("hash", false)],
        subject: "voucher.hash",
        filter: EVERY,
        page: 200,
    },
    RowScan {
        rows: RowKind::Plans,
        table: "plan",
        key: &[("name_key", false), ("revision", true)],
        subject: "plan.name",
        filter: EVERY,
        page: 500,
    },
    RowScan {
        rows: RowKind::PlanPeriods,
        table: "plan_period",
        key: &[
            ("account_id", false),
            ("from_ms", true),
            ("plan_key", false),
        ],
        subject: "plan_period.ledger_id",
        filter: EVERY,
        page: 200,
    },
    RowScan {
        rows: RowKind::Payments,
        table: "payment",
        key: &[("id", false)],
        subject: "payment.id",
        filter: EVERY,
        page: 200,
    },
    RowScan {
        rows: RowKind::Products,
        table: "product",
        key: &[("name_key", false), ("revision", true)],
        subject: "product.name",
        filter: EVERY,
        page: 500,
    },
    RowScan {
        rows: RowKind::ImportedAccounts,
        table: "imported",
        key: &[("source", false), ("kind", false), ("origin", false)],
        subject: "imported.target",
        filter: "imported.kind = 'account'",
        page: 200,
    },
];

fn scan_of(rows: RowKind) -> &'static RowScan {
    let found = SCANS.iter().find(|way| way.rows == rows);
    found.expect("every kind of rows has a way")
}

/// Where a walk is: the key of the row that was looked at last.
pub(crate) type ScanKey = Vec<String>;

/// A row that was looked at.
struct ScannedRow {
    subject: String,
    /// Which of the invariants it breaks, by their places.
    broken: String,
    key: ScanKey,
}

impl FromRow for ScannedRow {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        let (subject, broken) = (columns.text()?, columns.text()?);
        let key = (0..KEY_MOST).map(|_| columns.text());
        Ok(Self {
            subject,
            broken,
            key: key.collect::<sqlx::Result<_>>()?,
        })
    }
}

/// A page of a walk.
pub(crate) struct ScanPage<'a> {
    /// How many rows it had.
    pub(crate) rows: usize,
    /// What was broken, and of what.
    pub(crate) broken: Vec<(&'a Invariant, String)>,
    /// Where the next page begins; `None` at the end.
    pub(crate) next: Option<ScanKey>,
}

/// Asks all of some invariants, which are of one kind of rows, of the next rows.
pub(crate) async fn scan_page<'a>(
    db: &Db,
    rows: RowKind,
    asked: &[&'a Invariant],
    after: Option<&ScanKey>,
    now_ms: i64,
) -> Result<ScanPage<'a>> {
    let way = scan_of(rows);
    let sql = statement(way, asked, after.is_some(), now_ms);
    let place = after.map_or(&[][..], |place| &place[..way.key.len()]);
    let args: Vec<Arg<'_>> = place.iter().map(Arg::from).collect();
    let seen: Vec<ScannedRow> = db.all(&sql, &args).await?;
    let (count, last) = (seen.len(), seen.last().map(|one| one.key.clone()));
    let mut broken = Vec::new();
    for one in &seen {
        let places = one.broken.split_whitespace();
        let which = places.filter_map(|place| asked.get(place.parse::<usize>().ok()?));
        broken.extend(which.map(|invariant| (*invariant, one.subject.clone())));
    }
    Ok(ScanPage {
        rows: count,
        broken,
        next: last.filter(|_| count == way.page),
    })
}

fn statement(way: &RowScan, asked: &[&Invariant], goes_on: bool, now_ms: i64) -> String {
    let table = way.table;
    let now = now_ms.to_string();
    let mut sql = format!("SELECT {}, ''", way.subject);
    for (place, invariant) in asked.iter().enumerate() {
        let broken = invariant.broken.replace(":now", &now);
        let _ = write!(sql, " || CASE WHEN {broken} THEN ' {place}' ELSE '' END");
    }
    for place in 0..KEY_MOST {
        match way.key.get(place) {
            Some((column, _)) => {
                let _ = write!(sql, ", CAST({table}.{column} AS TEXT)");
            }
            None => sql.push_str(", ''"),
        }
    }
    let columns: Vec<String> = way
        .key
        .iter()
        .map(|(column, _)| format!("{table}.{column}"))
        .collect();
    let columns = columns.join(", ");
    let _ = write!(sql, " FROM {table} WHERE {}", way.filter);
    if goes_on {
        let places: Vec<String> = way
            .key
            .iter()
            .enumerate()
            .map(|(index, (_, is_number))| match is_number {
                true => format!("CAST(${} AS BIGINT)", index + 1),
                false => format!("${}", index + 1),
            })
            .collect();
        let _ = write!(sql, " AND ({columns}) > ({})", places.join(", "));
    }
    let _ = write!(sql, " ORDER BY {columns} LIMIT {}", way.page);
    sql
}
