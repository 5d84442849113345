//! From a stored or fresh request to its order: loads the jobs it refers to and lets the operation decide.

use std::sync::Arc;

use atelier_contract::operation::Request;
use atelier_contract::operation::{Order, ReferencedJobs};
use atelier_contract::{AccountId, Job, Refusal};

use crate::assets::Assets;
use crate::context::{Context, unavailable};
use crate::names::WorkerName;

/// A request with everything it refers to.
pub(crate) struct ResolvedRequest {
    pub(crate) order: Order,
    pub(crate) parent: Option<Arc<Job>>,
    pub(crate) cited: Vec<Arc<Job>>,
    pub(crate) maker: Maker,
}

/// The jobs that a request refers to.
#[derive(Clone, Default)]
pub(crate) struct LoadedReferences {
    pub(crate) parent: Option<Arc<Job>>,
    pub(crate) cited: Vec<Arc<Job>>,
}

/// Who made the jobs that a request refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Maker {
    /// It refers to none.
    Nobody,
    /// Whoever works inside this process.
    InProcess,
    Worker(WorkerName),
}

impl Maker {
    fn of(worker: Option<&str>) -> Self {
        worker.map_or(Self::InProcess, |text| Self::Worker(WorkerName::read(text)))
    }
}

/// Loads what a request refers to, among the account's own jobs only, and orders it.
pub(crate) async fn resolve_request(
    context: &Context,
    assets: &Assets,
    account_id: &AccountId,
    request: &dyn Request,
) -> Result<ResolvedRequest, Refusal> {
    let mut maker = Maker::Nobody;
    let mut parent = None;
    if let Some(id) = request.parent() {
        let parent_job = assets.parent_job(account_id, &id).await?;
        maker = Maker::of(parent_job.worker.as_deref());
        parent = Some(parent_job.job);
    }
    let names = request.cites();
    let mut cited = Vec::new();
    if !names.is_empty() {
        let rows = context.store().jobs().by_alias(account_id, &names).await;
        let rows = rows.map_err(unavailable)?;
        if let Some(row) = rows.first().filter(|_| maker == Maker::Nobody) {
            maker = Maker::of(row.worker.as_deref());
        }
        cited = rows.into_iter().map(|row| assets.job(row)).collect();
    }
    let order = request.order(ReferencedJobs {
        parent: parent.as_deref(),
        cited: &cited,
    })?;
    Ok(ResolvedRequest {
        order,
        parent,
        cited: cited.into_iter().map(Arc::new).collect(),
        maker,
    })
}

/// Orders a request whose jobs were loaded a moment ago.
pub(crate) fn resolve_again(
    request: &dyn Request,
    known: &LoadedReferences,
) -> Result<Order, Refusal> {
    let cited: Vec<Job> = known.cited.iter().map(|job| Job::clone(job)).collect();
    request.order(ReferencedJobs {
        parent: known.parent.as_deref(),
        cited: &cited,
    })
}
