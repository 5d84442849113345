//! What the operator looks at: jobs, quota, callbacks, the audit record, the state of the house.

use std::sync::Arc;

use atelier_contract::pages::audit::AuditRow;
use atelier_contract::pages::callbacks::CallbackRow;
use atelier_contract::pages::jobs::{JobView, JobsQuery, ServedJob};
use atelier_contract::pages::ledger::LedgerRow;
use atelier_contract::pages::list::ListQuery;
use atelier_contract::pages::stats::{NodeRow, Stats};
use atelier_contract::time::timestamp;
use atelier_engine::{AuditView, LedgerView, Served};

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Data, List, Query};
use crate::http::received::Received;
use crate::pages::job_list::filter_of;
use crate::pages::rows;

/// Jobs of every account.
pub(crate) async fn jobs(
    app: Arc<App>,
    _: Received,
    Query(query): Query<JobsQuery>,
) -> Result<List<ServedJob>, Denial> {
    let (page, limit) = (query.page.get(), query.limit.get());
    let (jobs, total) = app
        .engine
        .office()
        .reports()
        .jobs(filter_of(&query))
        .await?;
    let row = |one: Served| ServedJob {
        job: JobView::of(&one.job),
        account_id: one.account_id.to_string(),
        backend: one.backend.map(|id| id.to_string()),
        worker: one.worker.map(|id| id.to_string()),
    };
    Ok(List {
        rows: jobs.into_iter().map(row).collect(),
        total,
        page,
        limit,
    })
}

/// Movements of quota of every account.
pub(crate) async fn ledger(
    app: Arc<App>,
    _: Received,
    Query(query): Query<ListQuery>,
) -> Result<List<LedgerRow>, Denial> {
    let (page, limit) = (query.page.get(), query.limit.get());
    let (entries, total) = app
        .engine
        .office()
        .accounts()
        .ledger(None, page, limit)
        .await?;
    let row = |entry: LedgerView| LedgerRow {
        account_id: Some(entry.account_id.to_string()),
        ..rows::ledger_entry(entry)
    };
    Ok(List {
        rows: entries.into_iter().map(row).collect(),
        total,
        page,
        limit,
    })
}

/// Callbacks of every account.
pub(crate) async fn callbacks(
    app: Arc<App>,
    _: Received,
    Query(query): Query<ListQuery>,
) -> Result<List<CallbackRow>, Denial> {
    let (page, limit) = (query.page.get(), query.limit.get());
    let (callbacks, total) = app.engine.courier().callbacks(None, page, limit).await?;
    Ok(List {
        rows: callbacks.into_iter().map(rows::callback).collect(),
        total,
        page,
        limit,
    })
}

/// What was changed, by whom.
pub(crate) async fn audit(
    app: Arc<App>,
    _: Received,
    Query(query): Query<ListQuery>,
) -> Result<List<AuditRow>, Denial> {
    let (page, limit) = (query.page.get(), query.limit.get());
    let (entries, total) = app.engine.office().reports().audit(page, limit).await?;
    let row = |entry: AuditView| AuditRow {
        id: entry.id,
        time: timestamp(entry.time_ms),
        actor: entry.actor,
        action: entry.action,
        target: entry.target,
        detail: entry.detail,
    };
    Ok(List {
        rows: entries.into_iter().map(row).collect(),
        total,
        page,
        limit,
    })
}

/// What the house is doing right now.
pub(crate) async fn stats(app: Arc<App>, _: Received, (): ()) -> Result<Data<Stats>, Denial> {
    Ok(Data(app.engine.office().reports().stats().await?))
}

/// The nodes that share the database.
pub(crate) async fn nodes(
    app: Arc<App>,
    _: Received,
    (): (),
) -> Result<Data<Vec<NodeRow>>, Denial> {
    Ok(Data(app.engine.office().reports().nodes().await?))
}
