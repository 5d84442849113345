//! Settling a job: final state, ledger, files and delivery in one commit, once.

use atelier_contract::{FaultKind, Quota};

use crate::changes::asset::NewAsset;
use crate::jobs::row::JobRow;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// The runner whose lease has this fence.
    Fence(i64),
    /// Anyone, as long as the job is not final: time-out, cancel, operator.
    Unfinished,
}

/// The hash of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileHash {
    /// Where the asset store keeps it.
    pub key: String,
    /// In hexadecimal digits.
    pub sha256: String,
}

/// How a job ends.
#[derive(Clone, Debug)]
pub enum Outcome {
    Succeeded {
        /// The output as JSON.
        output: String,
        /// A name by which the account may cite it.
        alias: Option<String>,
        /// What was really consumed; at most the price is charged.
        quota: Quota,
        /// The files it made.
        assets: Vec<NewAsset>,
        /// Their hashes, where the job gets a receipt.
        hashes: Option<Vec<FileHash>>,
    },
    Failed {
        fault: FaultKind,
        message: String,
    },
}

/// What a vendor says that it took for an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    pub attempt_id: String,
    /// In millionths of the currency.
    pub micros: i64,
    /// What the vendor counts in.
    pub currency: String,
}

/// Everything the end of a job writes.
#[derive(Clone, Debug)]
pub struct Settlement {
    pub job_id: String,
    pub guard: Guard,
    pub outcome: Outcome,
    /// What the vendor took; it counts once for its attempt, also when the job has ended without it.
    pub cost: Option<Cost>,
    /// The model that was worked with, by which costs are added up; empty where there is none.
    pub model: String,
    /// Identifier of the ledger row.
    pub ledger_id: String,
    /// When somebody began to work on it, if that may not be written down yet.
    pub began_ms: Option<i64>,
    pub now_ms: i64,
    /// How far that is ahead of the service's own time, in which its callback is due.
    pub ahead_ms: i64,
}

/// A settlement, and until when its delivery is on its way already, if it is.
pub(crate) struct SettlementChange {
    pub(crate) settlement: Settlement,
    pub(crate) claimed_until_ms: Option<i64>,
}

/// What became of a [`Settlement`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly every value is the large one and lives for a moment"
)]
pub enum SettleOutcome {
    /// Done; the job as it now is for ever.
    Done(JobRow),
    /// The job was final already, its fence moved on, or it does not exist.
    Lost,
}
