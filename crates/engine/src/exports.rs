//! Exports: all rows of a kind, one piece after the other, for a caller who takes them as they come and for the files that are made each
//! day. No more than a piece is in memory, and nothing is held in the store while it is taken.

mod daily;
mod export_request;
mod export_rows;
mod records;

use std::sync::Arc;

use atelier_contract::pages::jobs::JobCursor;
use atelier_contract::{AccountId, Job, Refusal};
use atelier_store::files::Files;
use atelier_store::{ExportOwner, ExportPart, ExportRun};

use crate::assets::{Asset, Assets};
use crate::context::{Context, unavailable};

pub use export_request::ExportRequest;
pub use export_rows::ExportRows;

/// Whole jobs read at once: what they were asked for may be long.
const WHOLE_JOBS: i64 = 50;

/// Takes rows out of the store, for callers and each day.
pub struct Exports {
    context: Arc<Context>,
    assets: Arc<Assets>,
    /// Where those of each day are written.
    files: Files,
}

impl Exports {
    pub(crate) fn new(context: Arc<Context>, assets: Arc<Assets>, files: Files) -> Self {
        Self {
            context,
            assets,
            files,
        }
    }

    /// Rows from the first on.
    pub fn open(&self, request: ExportRequest) -> ExportRows {
        ExportRows::new(self.context.clone(), request)
    }

    /// The next jobs of an account behind a place, whole, oldest first; and where it goes on, as long as there are more.
    pub async fn whole_jobs(
        &self,
        account_id: &AccountId,
        after: &JobCursor,
    ) -> Result<(Vec<Job>, Option<JobCursor>), Refusal> {
        let owner = ExportOwner {
            account_id,
            is_own: true,
        };
        let store = self.context.store();
        let page = store
            .ledger()
            .exports()
            .jobs(owner, after, i64::MAX, WHOLE_JOBS)
            .await;
        let page = page.map_err(unavailable)?;
        let last = page.last().filter(|_| page.len() as i64 == WHOLE_JOBS);
        let next = last.map(|last| JobCursor {
            created_ms: last.created_ms,
            id: last.id.clone(),
        });
        let ids: Vec<String> = page.into_iter().map(|row| row.id).collect();
        let rows = store.jobs().find_many(account_id, &ids).await;
        let mut rows = rows.map_err(unavailable)?;
        rows.sort_by_key(|row| ids.iter().position(|id| *id == row.id));
        Ok((
            rows.into_iter().map(|row| self.assets.job(row)).collect(),
            next,
        ))
    }

    /// The asset of a key, for whoever it belongs to; none when it has expired.
    pub async fn kept_asset(&self, key: &str) -> Result<Option<Asset>, Refusal> {
        let asset = self.context.store().assets().find(key).await;
        let asset = asset.map_err(unavailable)?;
        let now_ms = self.context.now_ms();
        let asset = asset.filter(|asset| asset.expires_ms > now_ms);
        Ok(asset.map(Asset::of))
    }

    /// Plans the exports of a day that is over, or writes the next part of one; whether there may be more to do.
    pub async fn step(&self) -> Result<bool, atelier_store::Error> {
        daily::step(&self.context, &self.files).await
    }

    /// The exports that were made each day with their files, the latest first, and how many there are.
    pub async fn daily(
        &self,
        page: i64,
        limit: i64,
    ) -> Result<(Vec<(ExportRun, Vec<ExportPart>)>, i64), Refusal> {
        let offset = (page - 1).max(0).saturating_mul(limit);
        let exports = self.context.store().ledger().exports();
        let (runs, total) = exports.runs(offset, limit).await.map_err(unavailable)?;
        let mut found = Vec::with_capacity(runs.len());
        for run in runs {
            let parts = exports.parts(run.day, &run.kind).await;
            found.push((run, parts.map_err(unavailable)?));
        }
        Ok((found, total))
    }
}
