//! What the operator looks at: jobs, quota, callbacks, the audit record, the state of the house.

use std::sync::Arc;

use atelier_contract::JobId;
use atelier_contract::pages::audit::AuditRow;
use atelier_contract::pages::callbacks::CallbackRow;
use atelier_contract::pages::jobs::{JobView, JobsQuery, ServedJob, Trail};
use atelier_contract::pages::keys::Named;
use atelier_contract::pages::ledger::LedgerRow;
use atelier_contract::pages::list::ListQuery;
use atelier_contract::pages::overview::Overview;
use atelier_contract::pages::stats::{NodeRow, ShareHolder, ShareStats, Stats};
use atelier_contract::pages::vendors::VendorRow;
use atelier_contract::time::timestamp;
use atelier_engine::shares::Shares;
use atelier_engine::{AuditView, LedgerView, Served};

use crate::app::App;
use crate::disk;
use crate::http::denial::Denial;
use crate::http::page::{Continued, Data, List, Query};
use crate::http::received::Received;
use crate::pages::job_list::filter_of;
use crate::pages::rows;

/// Those who have most of what is shared are shown, so many of each.
const HOLDERS_SHOWN: usize = 10;

/// Jobs of every account.
pub(crate) async fn jobs(
    app: Arc<App>,
    _: Received,
    Query(query): Query<JobsQuery>,
) -> Result<Continued<ServedJob>, Denial> {
    let (page, limit) = (query.page.get(), query.limit.get());
    let found = app
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
    Ok(Continued {
        next: found.next.as_ref().map(ToString::to_string),
        list: List {
            rows: found.jobs.into_iter().map(row).collect(),
            total: found.total,
            page,
            limit,
        },
    })
}

/// What happened to one job, also who was asked.
pub(crate) async fn trail(
    app: Arc<App>,
    received: Received,
    (): (),
) -> Result<Data<Trail>, Denial> {
    let id = JobId::new(received.param(0));
    let trail = app.engine.office().reports().trail(None, &id).await?;
    let courier = app.engine.courier();
    let callback = courier.callback_of(&trail.account_id, &id).await?;
    Ok(Data(rows::trail(trail, callback, true)))
}

/// Ends a job of any account; its quota goes back.
pub(crate) async fn cancel(
    app: Arc<App>,
    received: Received,
    (): (),
) -> Result<Data<Named>, Denial> {
    let id = JobId::new(received.param(0));
    let reports = app.engine.office().reports();
    reports.cancel(received.operator()?, &id).await?;
    Ok(Data(Named { id: id.to_string() }))
}

/// The last hour at a glance.
pub(crate) async fn overview(app: Arc<App>, _: Received, (): ()) -> Result<Data<Overview>, Denial> {
    let mut overview = app.engine.office().reports().overview().await?;
    if let Some((free, whole)) = disk::room(&app.config) {
        overview.disk_free_bytes = Some(free);
        overview.disk_bytes = Some(whole);
    }
    Ok(Data(overview))
}

/// The vendors that back ends can be set up at.
pub(crate) async fn vendors(
    app: Arc<App>,
    _: Received,
    (): (),
) -> Result<Data<Vec<VendorRow>>, Denial> {
    Ok(Data(app.engine.office().reports().vendors()))
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
    let mut stats = app.engine.office().reports().stats().await?;
    stats.shares = app.shares().map(|one| share_stats(one)).collect();
    Ok(Data(stats))
}

fn share_stats(shares: &Shares) -> ShareStats {
    let usage = shares.usage();
    let holders = usage.holders.into_iter().take(HOLDERS_SHOWN);
    let holder = |(who, amount): (Arc<str>, u64)| ShareHolder {
        share: shares.share_of(&who),
        who: who.to_string(),
        amount,
    };
    ShareStats {
        of: usage.name,
        whole: usage.whole,
        share: usage.share,
        taken: usage.taken,
        waiting: usage.waiting,
        holders: holders.map(holder).collect(),
    }
}

/// The nodes that share the database.
pub(crate) async fn nodes(
    app: Arc<App>,
    _: Received,
    (): (),
) -> Result<Data<Vec<NodeRow>>, Denial> {
    Ok(Data(app.engine.office().reports().nodes().await?))
}
