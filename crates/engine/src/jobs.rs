//! Jobs as callers see them: read, waited for, listed, cancelled; the bodies of those that succeeded are remembered.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use atelier_contract::family::Family;
use atelier_contract::{AccountId, Code, FaultKind, Job, JobId, JobState, Refusal};
use atelier_store::{JobFilter, JobPage, JobRow, JobSummary};
use bytes::Bytes;

use crate::assets::{Assets, RenderedBody};
use crate::base_url;
use crate::context::{Context, unavailable};
use crate::hint::Hint;
use crate::render::{family_of, render};
use crate::runner::Runner;
use crate::wake::Changes;

const CANCELLED: &str = "the job was cancelled";

#[derive(Clone)]
pub struct Jobs {
    context: Arc<Context>,
    assets: Arc<Assets>,
    runner: Arc<Runner>,
}

impl Jobs {
    pub(crate) fn new(context: Arc<Context>, assets: Arc<Assets>, runner: Arc<Runner>) -> Self {
        Self {
            context,
            assets,
            runner,
        }
    }

    /// A job of an account.
    pub async fn job(&self, account_id: &AccountId, id: &JobId) -> Result<Job, Refusal> {
        let row = self
            .context
            .store()
            .jobs()
            .find(account_id, id.as_str())
            .await
            .map_err(unavailable)?;
        row.map(|row| self.hydrate(row))
            .ok_or_else(Refusal::job_not_found)
    }

    /// The body of a fetch: what the family shows of the job.
    pub async fn fetch_body(
        &self,
        account_id: &AccountId,
        family: &'static Family,
        id: &JobId,
    ) -> Result<Bytes, Refusal> {
        if let Some(known) = self.remembered(account_id, id) {
            return if known.family == family.name {
                Ok(known.body)
            } else {
                Err(Refusal::job_not_found())
            };
        }
        // A connection keeps room for the largest call it may make; this one is asked for too seldom to have room everywhere.
        Box::pin(self.read_body(account_id, family, id)).await
    }

    /// The body of a job as it was rendered before; a caller whose URLs start differently from others' has none.
    fn remembered(&self, account_id: &AccountId, id: &JobId) -> Option<RenderedBody> {
        match base_url::current() {
            Some(_) => None,
            None => self.assets.rendered(account_id, id.as_str()),
        }
    }

    async fn read_body(
        &self,
        account_id: &AccountId,
        family: &'static Family,
        id: &JobId,
    ) -> Result<Bytes, Refusal> {
        let forgotten = self.assets.forgotten();
        let job = self.job(account_id, id).await?;
        match family_of(&job.operation) {
            Some(own) if own.name == family.name => {}
            _ => return Err(Refusal::job_not_found()),
        }
        let body = render(family, &job);
        // One that failed loses its words after a while, on whichever node that is done: it is read anew each time.
        if job.state == JobState::Succeeded && base_url::current().is_none() {
            let rendered = RenderedBody {
                family: family.name,
                body: body.clone(),
            };
            self.assets
                .remember(account_id, id.as_str(), rendered, forgotten);
        }
        Ok(body)
    }

    /// Waits for a job to become final. Out of time is a refusal; the job goes its own way.
    pub async fn finished(
        &self,
        account_id: &AccountId,
        id: &JobId,
        wait: Duration,
    ) -> Result<Job, Refusal> {
        self.until_final(account_id, id, &self.changes(id), wait, true)
            .await
    }

    /// The same for a job that was watched from before it was accepted, so that nobody has to look whether it has ended
    /// meanwhile.
    pub async fn finished_since(
        &self,
        account_id: &AccountId,
        id: &JobId,
        changes: &Changes,
        wait: Duration,
    ) -> Result<Job, Refusal> {
        self.until_final(account_id, id, changes, wait, false).await
    }

    async fn until_final(
        &self,
        account_id: &AccountId,
        id: &JobId,
        changes: &Changes,
        wait: Duration,
        look_at_once: bool,
    ) -> Result<Job, Refusal> {
        let first = AtomicBool::new(true);
        // Somebody waits for this one, so it is looked at twice as often as what loops look at without a hint.
        let idle = Duration::from_millis(self.context.settings().jobs.idle_ms) / 2;
        let final_job = changes.until(idle, || async {
            let first = first.swap(false, Ordering::Relaxed);
            let ended = changes.ended().filter(|_| !(first && look_at_once));
            if let Some(row) = ended.filter(|row| row.account_id == **account_id) {
                return Some(Ok(self.hydrate(row.clone())));
            }
            if first && !look_at_once {
                return None;
            }
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

    /// The job of a call, by the caller's name for that call.
    pub async fn called(&self, account_id: &AccountId, key: &str) -> Result<JobId, Refusal> {
        let found = self
            .context
            .store()
            .jobs()
            .by_idempotency_key(account_id, key)
            .await;
        let found = found.map_err(unavailable)?;
        found.map(JobId::new).ok_or_else(Refusal::job_not_found)
    }

    /// Ends a job that nobody waits for any more, as if its caller had cancelled it; one that is over stays as it is.
    pub fn let_go(&self, account_id: &AccountId, id: &JobId) {
        let (jobs, account_id, id) = (self.clone(), account_id.clone(), id.clone());
        self.context.tasks().spawn(async move {
            let _ = jobs.cancel(&account_id, &id).await;
        });
    }

    /// Ends a job at its caller's wish: the hold goes back, and whoever works on it is told to stop.
    pub async fn cancel(&self, account_id: &AccountId, id: &JobId) -> Result<Job, Refusal> {
        let job = self.job(account_id, id).await?;
        let finished = || Refusal::new(Code::AlreadyFinished, "the job has already finished");
        if job.state.is_final() {
            return Err(finished());
        }
        let settled = self
            .runner
            .end(id.as_str(), FaultKind::Cancelled, CANCELLED)
            .await;
        let settled = settled.map_err(unavailable)?;
        settled.map(|row| self.hydrate(row)).ok_or_else(finished)
    }

    /// Jobs in pages, of one account or of all, whatever account the filter names.
    pub async fn list(
        &self,
        account_id: Option<&AccountId>,
        filter: JobFilter,
    ) -> Result<JobPage<Job>, Refusal> {
        let page = self.rows(account_id, filter).await?;
        let jobs = page.rows.into_iter().map(|row| self.hydrate(row));
        Ok(JobPage {
            rows: jobs.collect(),
            total: page.total,
            next: page.next,
        })
    }

    /// The rows behind a page of jobs.
    pub(crate) async fn rows(
        &self,
        account_id: Option<&AccountId>,
        filter: JobFilter,
    ) -> Result<JobPage, Refusal> {
        let filter = JobFilter {
            account_id: account_id.map(ToString::to_string),
            ..filter
        };
        self.context
            .store()
            .jobs()
            .list(filter)
            .await
            .map_err(unavailable)
    }

    /// Summaries of an account's unfinished jobs, and of those that ended at or after a time the first.
    pub async fn summaries(
        &self,
        account_id: &AccountId,
        ended_from_ms: i64,
    ) -> Result<Vec<JobSummary>, Refusal> {
        let found = self
            .context
            .store()
            .jobs()
            .summaries(account_id, ended_from_ms)
            .await;
        let found = found.map_err(unavailable)?.into_iter();
        Ok(found.map(|one| self.live(one)).collect())
    }

    /// Summaries of some jobs of an account.
    pub async fn summaries_of(
        &self,
        account_id: &AccountId,
        ids: &[String],
    ) -> Result<Vec<JobSummary>, Refusal> {
        let found = self
            .context
            .store()
            .jobs()
            .summaries_of(account_id, ids)
            .await;
        let found = found.map_err(unavailable)?.into_iter();
        Ok(found.map(|one| self.live(one)).collect())
    }

    /// Some jobs of an account, in no particular order.
    pub async fn jobs_of(
        &self,
        account_id: &AccountId,
        ids: &[String],
    ) -> Result<Vec<Job>, Refusal> {
        let rows = self.context.store().jobs().find_many(account_id, ids).await;
        let rows = rows.map_err(unavailable)?.into_iter();
        Ok(rows.map(|row| self.hydrate(row)).collect())
    }

    /// A summary with the progress that is not written down yet.
    fn live(&self, mut summary: JobSummary) -> JobSummary {
        if summary.state == JobState::Running
            && let Some(live) = self.runner.progress(&summary.id)
        {
            summary.progress = summary.progress.max(live);
        }
        summary
    }

    /// Removes the files and words of a finished job; its rows of the ledger stay.
    pub async fn delete(&self, account_id: &AccountId, id: &JobId) -> Result<(), Refusal> {
        let job = self.job(account_id, id).await?;
        if !job.state.is_final() {
            let message = "the job has not finished; cancel it first";
            return Err(Refusal::new(Code::Conflict, message));
        }
        let files = job.output().into_iter().flat_map(|output| &output.files);
        let keys: Vec<String> = files.map(|file| file.key.clone()).collect();
        let (store, now_ms) = (self.context.store(), self.context.now_ms());
        let deleted = store.jobs().delete(account_id, id.as_str(), &keys, now_ms);
        if !deleted.await.map_err(unavailable)? {
            return Err(Refusal::job_not_found());
        }
        self.assets.forget(account_id, id.as_str());
        self.context
            .broadcast(Hint::Gone(format!("{account_id}/{id}")));
        Ok(())
    }

    /// How far a job is that this node works on; whatever else changes about such a job is hinted at here.
    pub fn progress_here(&self, id: &JobId) -> Option<u8> {
        self.runner.progress(id.as_str())
    }

    /// Hints about changes of a job.
    pub fn changes(&self, id: &JobId) -> Changes {
        Changes::of_job(self.context.wakes().clone(), id)
    }

    /// Hints about changes of an account's jobs.
    pub fn account_changes(&self, account_id: &AccountId) -> Changes {
        Changes::of_account(self.context.wakes().clone(), account_id)
    }

    /// A row as callers see it, with the progress that is not written down yet.
    pub(crate) fn hydrate(&self, row: JobRow) -> Job {
        let mut job = self.assets.job(row);
        if job.state == JobState::Running
            && let Some(live) = self.runner.progress(job.id.as_str())
        {
            job.progress = job.progress.max(live);
        }
        job
    }
}

/// Why a synchronous call has no result.
pub fn refusal_of(job: &Job) -> Refusal {
    let code = job.fault.map_or(Code::BackendFailed, FaultKind::code);
    Refusal::new(code, job.message.clone().unwrap_or_default())
}
