//! A call and its copy side by side.

use std::time::Duration;

use atelier_backends::{Cost, WorkOutput};
use atelier_contract::pages::cost::Amount;
use atelier_contract::pages::rehearsal::{
    RehearsalSide, RehearsalSum, RehearsedCall, RehearsedSide,
};
use atelier_contract::time::timestamp;
use atelier_contract::{FileRole, JobState, Output};
use atelier_store::{JobRow, RehearsalCounts, RehearsalSumRow};

use crate::runner::TrialFailure;

const DOLLARS: &str = "USD";
/// Letters of what a vendor said that are kept.
const SAID_MOST: usize = 300;

/// How a copy ended.
pub(super) struct CopyEnd {
    succeeded: bool,
    count: u32,
    size: Option<(u32, u32)>,
    /// In millionths of a dollar, where the vendor says so.
    pub(super) cost: Option<i64>,
    /// Whether the vendor may have taken it.
    pub(super) ordered: bool,
    took_ms: i64,
    said: Option<String>,
}

impl CopyEnd {
    /// It was not ordered, because the back end says that it cannot do it.
    pub(super) fn refused(why: String) -> Self {
        Self {
            succeeded: false,
            count: 0,
            size: None,
            cost: Some(0),
            ordered: false,
            took_ms: 0,
            said: Some(why),
        }
    }

    /// What came of it, and what the vendor says that it took.
    pub(super) fn of(
        made: Result<WorkOutput, TrialFailure>,
        told: Option<Cost>,
        took_ms: i64,
    ) -> Self {
        let cost = told.filter(|told| told.currency == DOLLARS);
        let cost = cost.map(|told| told.micros);
        match made {
            Ok(made) => {
                let mut results = made.files.iter();
                let first = results.find(|file| file.role == FileRole::Main);
                let size = first.map(|file| (file.width, file.height));
                Self {
                    succeeded: true,
                    count: made.made,
                    size: made.enlarged_from.or(size),
                    cost,
                    ordered: true,
                    took_ms,
                    said: None,
                }
            }
            Err(failure) => Self {
                succeeded: false,
                count: 0,
                size: None,
                cost,
                ordered: failure.ordered,
                took_ms,
                said: Some(failure.words().chars().take(SAID_MOST).collect()),
            },
        }
    }
}

/// How a caller was answered.
pub(super) struct AnsweredJob;

impl AnsweredJob {
    /// How long its work took.
    pub(super) fn took(row: &JobRow) -> Duration {
        let from_ms = row.started_ms.unwrap_or(row.created_ms);
        let to_ms = row.finished_ms.unwrap_or(row.updated_ms);
        Duration::from_millis(u64::try_from(to_ms - from_ms).unwrap_or_default())
    }

    pub(super) fn side(
        row: &JobRow,
        backend: Option<String>,
        cost: Option<Amount>,
    ) -> RehearsedSide {
        let output: Output = row
            .output
            .as_deref()
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default();
        let succeeded = row.state == JobState::Succeeded;
        let mut results = output.files.iter();
        let first = results.find(|file| file.role == FileRole::Main);
        RehearsedSide {
            backend: backend.unwrap_or_default(),
            succeeded,
            count: if succeeded { output.made } else { 0 },
            size: first.map(|file| format!("{}x{}", file.width, file.height)),
            cost,
            seconds: Self::took(row).as_secs_f64(),
        }
    }
}

/// What is different, as a sum of one call, and what is to be shown where anything is.
pub(super) fn compare(
    row: &JobRow,
    answered: &RehearsedSide,
    end: &CopyEnd,
    now_ms: i64,
) -> (RehearsalSumRow, Option<RehearsedCall>) {
    let size = end.size.map(|(width, height)| format!("{width}x{height}"));
    let both = answered.succeeded && end.succeeded;
    let status = answered.succeeded != end.succeeded;
    let count = both && answered.count != end.count;
    let other_size = both && answered.size.is_some() && answered.size != size;
    let mut differs = Vec::new();
    for (is, word) in [(status, "status"), (count, "count"), (other_size, "size")] {
        if is {
            differs.push(word.to_owned());
        }
    }
    let counts = |side: &RehearsedSide| RehearsalCounts {
        succeeded: i64::from(side.succeeded),
        cost: side.cost.map_or(0, Amount::micros),
        costed: i64::from(side.cost.is_some()),
        took_ms: (side.seconds * 1000.0) as i64,
        slowest_ms: (side.seconds * 1000.0) as i64,
    };
    let copied = RehearsedSide {
        backend: String::new(),
        succeeded: end.succeeded,
        count: end.count,
        size,
        cost: end.cost.map(Amount::from_micros),
        seconds: end.took_ms as f64 / 1000.0,
    };
    let sum = RehearsalSumRow {
        operation: row.operation.clone(),
        model: row.attribution.model.clone().unwrap_or_default(),
        calls: 1,
        alike: i64::from(differs.is_empty()),
        status: i64::from(status),
        count: i64::from(count),
        size: i64::from(other_size),
        answered: counts(answered),
        copied: counts(&copied),
    };
    let call = (!differs.is_empty()).then(|| RehearsedCall {
        job_id: row.id.clone(),
        operation: sum.operation.clone(),
        model: sum.model.clone(),
        at: timestamp(now_ms),
        differs,
        answered: answered.clone(),
        copied,
        said: end.said.clone(),
    });
    (sum, call)
}

/// A sum as operators see it.
pub(super) fn sum_view(sum: &RehearsalSumRow) -> RehearsalSum {
    let side = |counts: &RehearsalCounts| RehearsalSide {
        succeeded: counts.succeeded,
        cost: Amount::from_micros(counts.cost),
        costed: counts.costed,
        seconds: counts.took_ms as f64 / 1000.0 / sum.calls.max(1) as f64,
        slowest: counts.slowest_ms as f64 / 1000.0,
    };
    RehearsalSum {
        operation: sum.operation.clone(),
        model: sum.model.clone(),
        calls: sum.calls,
        alike: sum.alike,
        status: sum.status,
        count: sum.count,
        size: sum.size,
        answered: side(&sum.answered),
        copied: side(&sum.copied),
    }
}
