//! Who served a job, for the operator.

use std::collections::HashMap;

use atelier_contract::{Job, JobState, Refusal};

use crate::engine::{Engine, unavailable};
use crate::views::JobsFilter;

/// What made a job when no attempt is recorded: repeating those costs nothing, so nobody writes them down.
const EMBEDDED: &str = "embedded";

/// A job, whose it is, and who served it.
pub struct Served {
    /// The job.
    pub job: Job,
    /// The account it belongs to.
    pub account_id: String,
    /// The back end that was asked last; none when nobody was.
    pub backend: Option<String>,
    /// The worker account there.
    pub worker: Option<String>,
}

impl Engine {
    /// Jobs of all accounts in pages.
    pub async fn served_jobs(&self, filter: JobsFilter) -> Result<(Vec<Served>, i64), Refusal> {
        let (rows, total) = self.jobs.rows(None, filter).await?;
        let ids: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
        let asked = self.store.asked_workers(&ids).await.map_err(unavailable)?;
        // The last attempt at each job wins.
        let mut asked: HashMap<String, String> = asked.into_iter().collect();
        let served = rows.into_iter().map(|row| {
            let made_here = row.state == JobState::Succeeded;
            let name = asked.remove(&row.id);
            let name = name.or_else(|| made_here.then(|| EMBEDDED.to_owned()));
            let (backend, worker) = match name.as_deref().map(|name| name.split_once('/')) {
                Some(Some((backend, worker))) => {
                    (Some(backend.to_owned()), Some(worker.to_owned()))
                }
                Some(None) => (name, None),
                None => (None, None),
            };
            Served {
                account_id: row.account_id.clone(),
                job: self.jobs.hydrate(row),
                backend,
                worker,
            }
        });
        Ok((served.collect(), total))
    }
}
