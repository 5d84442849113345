//! One page of a list of jobs, of one account or of all.

use atelier_contract::fields::Moment;
use atelier_contract::pages::jobs::{JobView, JobsQuery};
use atelier_contract::{AccountId, Refusal};
use atelier_engine::records::JobFilter;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{CursorList, List};
use crate::pages::spenders::of_jobs;

/// The page of an account's jobs that was asked for.
pub(super) async fn page_of(
    app: &App,
    account_id: &AccountId,
    query: JobsQuery,
) -> Result<CursorList<JobView>, Denial> {
    let (page, limit) = (query.page.get(), query.limit.get());
    let jobs = app.engine.jobs().list(Some(account_id), filter_of(&query)?);
    let found = jobs.await?;
    Ok(CursorList {
        next: found.next.as_ref().map(ToString::to_string),
        list: List {
            rows: found.rows.iter().map(JobView::of).collect(),
            total: found.total,
            page,
            limit,
        },
    })
}

/// What was asked for, in the engine's words.
pub(super) fn filter_of(query: &JobsQuery) -> Result<JobFilter, Refusal> {
    let since = query.since.into_iter().chain(query.from).max();
    Ok(JobFilter {
        operations: query.operations(),
        state: query.status.map(|state| state.0),
        open: query.unfinished.on(),
        text: query.q.as_deref().map(str::to_owned),
        parent_id: query.parent.as_deref().map(str::to_owned),
        created_from_ms: since.map(Moment::ms),
        created_to_ms: query.to.map(Moment::ms),
        of: of_jobs(query)?,
        after: query.after.clone(),
        ..JobFilter::page(query.page.get(), query.limit.get())
    })
}
