//! Reading jobs: rows become contract jobs with signed addresses; final bodies are remembered.

use std::time::Duration;

use atelier_contract::family::Family;
use atelier_contract::{Code, Job, JobId, JobState, Output, Refusal, Speed};
use atelier_store::{JobFilter, JobRow};
use bytes::Bytes;

use crate::engine::{Engine, unavailable};
use crate::vault::result_cache::Rendered;
use crate::views::JobsFilter;
use crate::wake::Changes;

/// How long a waiting call sleeps when no hint arrives.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

impl Engine {
    /// A job of an account.
    pub async fn job(&self, account_id: &str, id: &JobId) -> Result<Job, Refusal> {
        let row = self
            .store
            .job(account_id, id.as_str())
            .await
            .map_err(unavailable)?;
        row.map(|row| self.hydrate(row))
            .ok_or_else(Refusal::job_not_found)
    }

    /// The body of a fetch: what the family shows of the job.
    pub async fn fetch_body(
        &self,
        account_id: &str,
        family: &'static Family,
        id: &JobId,
    ) -> Result<Bytes, Refusal> {
        if let Some(known) = self.results.get(account_id, id.as_str()) {
            return if known.family == family.name {
                Ok(known.body)
            } else {
                Err(Refusal::job_not_found())
            };
        }
        let job = self.job(account_id, id).await?;
        match family_of(&job.operation) {
            Some(own) if own.name == family.name => {}
            _ => return Err(Refusal::job_not_found()),
        }
        let body = render(family, &job);
        if job.state.is_final() {
            let rendered = Rendered {
                family: family.name,
                body: body.clone(),
            };
            self.results.put(account_id, id.as_str(), rendered);
        }
        Ok(body)
    }

    /// Waits for a job to become final. Out of time is a refusal; the job goes its own way.
    pub async fn finished(
        &self,
        account_id: &str,
        id: &JobId,
        wait: Duration,
    ) -> Result<Job, Refusal> {
        let changes = self.changes(id);
        let final_job = changes.until(LOOK_AGAIN, || async {
            match self.job(account_id, id).await {
                Ok(job) if job.state.is_final() => Some(Ok(job)),
                Ok(_) => None,
                // The store being away for a moment is no news about the job.
                Err(refusal) if refusal.code == Code::Overloaded => None,
                Err(refusal) => Some(Err(refusal)),
            }
        });
        match tokio::time::timeout(wait, final_job).await {
            Ok(job) => job,
            Err(_) => Err(Refusal::new(
                Code::BackendTimeout,
                "the job has not finished in time",
            )),
        }
    }

    /// Why a synchronous call has no result.
    pub fn refusal_of(job: &Job) -> Refusal {
        let message = job.message.clone().unwrap_or_default();
        let code = match message.split(']').next().unwrap_or_default() {
            crate::floor::settle::TIMED_OUT => Code::BackendTimeout,
            "[Image denied" => Code::ContentRejected,
            "[Invalid link" | "[Invalid parameter" => Code::ImageUnusable,
            _ => Code::BackendFailed,
        };
        Refusal::new(code, message)
    }

    /// Jobs in pages, of one account or of all.
    pub async fn jobs(
        &self,
        account_id: Option<&str>,
        filter: JobsFilter,
    ) -> Result<(Vec<Job>, i64), Refusal> {
        let filter = JobFilter {
            account_id: account_id.map(str::to_owned),
            operations: filter.operations,
            state: filter.state,
            ascending: filter.ascending,
            offset: (filter.page - 1).max(0).saturating_mul(filter.limit),
            limit: filter.limit,
            created_from_ms: None,
        };
        let (rows, total) = self.store.jobs(filter).await.map_err(unavailable)?;
        Ok((
            rows.into_iter().map(|row| self.hydrate(row)).collect(),
            total,
        ))
    }

    /// Hints about changes of a job.
    pub fn changes(&self, id: &JobId) -> Changes {
        Changes::new(self.wakes.clone(), id)
    }

    /// A row with its request and result read and its files' addresses signed.
    pub(crate) fn hydrate(&self, row: JobRow) -> Job {
        let mut output: Option<Output> = row
            .output
            .as_deref()
            .and_then(|text| serde_json::from_str(text).ok());
        for file in output.iter_mut().flat_map(|output| &mut output.files) {
            (file.origin_url, file.cdn_url) = self.addresses(file);
        }
        let live = if row.state == JobState::Running {
            self.bench.progress(&row.id)
        } else {
            None
        };
        Job {
            id: JobId::new(row.id),
            operation: row.operation,
            state: row.state,
            progress: live.unwrap_or(0).max(row.progress as u8),
            message: row.message,
            request: serde_json::from_str(&row.request).unwrap_or_default(),
            output,
            speed: row.speed,
            price: row.price,
            quota: row.quota,
            parent: row.parent_id.map(JobId::new),
            hook_url: row.hook_url,
            hook_times: row.hook_times as u32,
            created_ms: row.created_ms,
            started_ms: row.started_ms,
            finished_ms: row.finished_ms,
            deadline_ms: row.deadline_ms,
            updated_ms: row.updated_ms,
            revision: row.revision,
        }
    }

    /// Durations of the latest successes of some operations at one speed.
    pub(crate) async fn recent_durations(&self, operations: &[String], speed: Speed) -> Vec<i64> {
        const LATEST: i64 = 50;
        self.store
            .recent_durations(operations, speed, LATEST)
            .await
            .unwrap_or_default()
    }
}

/// The family of an operation.
pub(crate) fn family_of(operation: &str) -> Option<&'static Family> {
    atelier_contract::operation(operation).map(|(family, _)| family)
}

/// The body that fetch and callback share.
pub(crate) fn render(family: &Family, job: &Job) -> Bytes {
    Bytes::from((family.render)(family, job).to_string())
}
