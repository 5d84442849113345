//! One page of a list of jobs, of one account or of all.

use atelier_contract::pages::jobs::{JobView, JobsQuery};
use atelier_engine::JobsFilter;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::List;

/// The page that was asked for.
pub(super) async fn page_of(
    app: &App,
    account_id: Option<&str>,
    query: JobsQuery,
) -> Result<List<JobView>, Denial> {
    let (page, limit) = (query.page.get(), query.limit.get());
    let filter = JobsFilter {
        operations: query.operations(),
        state: query.status.map(|state| state.0),
        ascending: false,
        page,
        limit,
    };
    let (jobs, total) = app.engine.jobs(account_id, filter).await?;
    Ok(List {
        rows: jobs.iter().map(JobView::of).collect(),
        total,
        page,
        limit,
    })
}
