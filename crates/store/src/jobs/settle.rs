//! Settling a job: final state, ledger, files and delivery in one commit, once.

use atelier_contract::{FaultKind, Quota};

use crate::Result;
use crate::assets::NewAsset;
use crate::deliveries::Delivery;
use crate::jobs::Jobs;
use crate::jobs::row::JobRow;
use crate::store_core::WriteSlot;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// The runner whose lease has this fence.
    Fence(i64),
    /// Anyone, as long as the job is not final: time-out, cancel, operator.
    Unfinished,
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

impl Jobs<'_> {
    /// Ends a job, together with every other change that waits.
    pub async fn settle(self, settlement: Settlement) -> Result<SettleOutcome> {
        let write_slot = self.0.write_slot().await?;
        let ended = self.settle_in(write_slot, settlement, None).await;
        ended.map(|(settled, _)| settled)
    }

    /// The same with a place in the queue that is had already. Who makes the delivery at once, should the job owe one, says
    /// until when: the commit that writes it down claims it for its first try.
    pub async fn settle_in(
        self,
        write_slot: WriteSlot<'_>,
        settlement: Settlement,
        claimed_until_ms: Option<i64>,
    ) -> Result<(SettleOutcome, Option<Delivery>)> {
        let ending = SettlementChange {
            settlement,
            claimed_until_ms,
        };
        let mut settled = self.0.commit_in(write_slot, ending).await?;
        let claimed = match (&mut settled, claimed_until_ms) {
            (SettleOutcome::Done(row), Some(until_ms)) => {
                let claimed = Delivery::first_try(row, until_ms);
                row.hook_times = i64::from(claimed.is_some());
                claimed
            }
            _ => None,
        };
        Ok((settled, claimed))
    }
}
