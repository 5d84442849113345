//! Settle: the one function by which a job becomes final, on every path. State, ledger, files and callback row
//! change in one commit; hints go out afterwards.

use atelier_contract::{Code, Job, JobId, Quota, Refusal};
use atelier_store::{Guard, JobRow, NewAsset, Outcome, Settled, Settlement};

use crate::crash;
use crate::engine::{Engine, unavailable};

/// The message of a job that outlived its time limit.
pub(crate) const TIMED_OUT: &str = "Job Timeout";
const CANCELLED: &str = "[Cancelled] the job was cancelled";

/// How a job ends.
pub(crate) enum Ending {
    /// With a result.
    Success {
        /// The result as stored.
        output: String,
        /// A name to cite it by.
        alias: Option<String>,
        /// What it really costs.
        quota: Quota,
        /// Its files.
        assets: Vec<NewAsset>,
    },
    /// With a reason.
    Failure(String),
}

impl Engine {
    /// Makes a job final; `None` when somebody else was faster or the worker's lease has gone to another.
    pub(crate) async fn settle(
        &self,
        job_id: &str,
        guard: Guard,
        ending: Ending,
    ) -> Result<Option<JobRow>, atelier_store::Error> {
        let outcome = match ending {
            Ending::Success {
                output,
                alias,
                quota,
                assets,
            } => Outcome::Succeeded {
                output,
                alias,
                quota,
                assets,
            },
            Ending::Failure(message) => Outcome::Failed { message },
        };
        let settlement = Settlement {
            job_id: job_id.to_owned(),
            guard,
            outcome,
            ledger_id: self.ids.uuid(),
            now_ms: self.now_ms(),
        };
        let settled = self.store.settle(settlement).await?;
        crash::point("settle.done");
        match settled {
            Settled::Done(row) => {
                if row.hook_url.is_some() {
                    self.wake_callbacks();
                }
                self.wake_job(&row.id);
                Ok(Some(row))
            }
            Settled::Lost => Ok(None),
        }
    }

    /// Ends a job at its caller's wish: the hold goes back, and whoever works on it is told to stop.
    pub async fn cancel(&self, account_id: &str, id: &JobId) -> Result<Job, Refusal> {
        let job = self.job(account_id, id).await?;
        let finished = || Refusal::new(Code::AlreadyFinished, "the job has already finished");
        if job.state.is_final() {
            return Err(finished());
        }
        let ending = Ending::Failure(CANCELLED.into());
        let settled = self
            .settle(id.as_str(), Guard::Unfinished, ending)
            .await
            .map_err(unavailable)?;
        self.stop_work(id.as_str());
        settled.map(|row| self.hydrate(row)).ok_or_else(finished)
    }
}
