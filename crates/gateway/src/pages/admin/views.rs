//! What the operator looks at: jobs, quota, callbacks, the audit record, the state of the service.

use std::sync::Arc;

use atelier_contract::pages::jobs::{JobView, JobsQuery, ServedJob};
use atelier_contract::pages::keys::ResourceId;
use atelier_contract::pages::list::PeriodQuery;
use atelier_contract::pages::overview::{Overview, StartWarning};
use atelier_contract::pages::spending::{LedgerQuery, UsageQuery};
use atelier_contract::pages::stats::{NodeRow, ShareHolder, ShareStats, Stats};
use atelier_contract::pages::vendors::VendorRow;
use atelier_contract::{AccountId, JobId, Refusal};
use atelier_engine::ServedJobView;
use atelier_engine::records::JobFilter;
use atelier_fairness::share::FairSemaphore;

use crate::app::App;
use crate::disk;
use crate::http::denial::Denial;
use crate::http::page::{CursorList, Data, List, Query};
use crate::http::request::IncomingRequest;
use crate::pages::account::{ledger, usage};
use crate::pages::job_list::filter_of;
use crate::pages::periods::period_of;
use crate::pages::rows::audit::AuditRow;
use crate::pages::rows::callbacks::CallbackRow;
use crate::pages::rows::ledger::LedgerRow;
use crate::pages::rows::trail::Trail;
use crate::pages::rows::usage::Usage;

/// Those who have most of what is shared are shown, so many of each.
const HOLDERS_SHOWN: usize = 10;

/// Jobs of every account, or of one.
pub(crate) async fn jobs(
    app: Arc<App>,
    _: IncomingRequest,
    Query(query): Query<JobsQuery>,
) -> Result<CursorList<ServedJob>, Denial> {
    let (page, limit) = (query.page.get(), query.limit.get());
    let filter = JobFilter {
        account_id: query.account_id.as_deref().map(str::to_owned),
        ..filter_of(&query)?
    };
    let found = app.engine.admin().reports().jobs(filter).await?;
    let row = |one: ServedJobView| ServedJob {
        job: JobView::of(&one.job),
        account_id: one.account_id.to_string(),
        backend: one.backend.map(|id| id.to_string()),
        worker: one.worker.map(|id| id.to_string()),
    };
    Ok(CursorList {
        next: found.next.as_ref().map(ToString::to_string),
        list: List {
            rows: found.rows.into_iter().map(row).collect(),
            total: found.total,
            page,
            limit,
        },
    })
}

/// What happened to one job, also who was asked.
pub(crate) async fn trail(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<Trail>, Denial> {
    let id = JobId::new(received.param(0));
    let trail = app.engine.admin().reports().trail(None, &id).await?;
    let callbacks = app.engine.callbacks();
    let callback = callbacks.callback_of(&trail.account_id, &id).await?;
    Ok(Data(Trail::new(trail.attempts, callback, true)))
}

/// Ends a job of any account; its quota goes back.
pub(crate) async fn cancel(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<ResourceId>, Denial> {
    let id = JobId::new(received.param(0));
    let reports = app.engine.admin().reports();
    reports.cancel(received.operator()?, &id).await?;
    Ok(Data(ResourceId { id: id.to_string() }))
}

/// The last hour at a glance.
pub(crate) async fn overview(
    app: Arc<App>,
    _: IncomingRequest,
    (): (),
) -> Result<Data<Overview>, Denial> {
    let mut overview = app.engine.admin().reports().overview().await?;
    if let Some((free, whole)) = disk::room(&app.config) {
        overview.disk_free_bytes = Some(free);
        overview.disk_bytes = Some(whole);
    }
    let warnings = app.warnings.iter().map(|one| StartWarning {
        setting: one.setting.to_owned(),
        cause: one.cause.clone(),
        remedy: one.remedy.to_owned(),
    });
    overview.warnings = warnings.collect();
    Ok(Data(overview))
}

/// The vendors that back ends can be set up at.
pub(crate) async fn vendors(
    app: Arc<App>,
    _: IncomingRequest,
    (): (),
) -> Result<Data<Vec<VendorRow>>, Denial> {
    Ok(Data(app.engine.admin().reports().vendors()))
}

/// Movements of quota of every account.
pub(crate) async fn ledger(
    app: Arc<App>,
    _: IncomingRequest,
    Query(query): Query<LedgerQuery>,
) -> Result<List<LedgerRow>, Denial> {
    let account = query.account_id.as_deref().map(AccountId::from);
    let (entries, total) = ledger::entries(&app, account.as_ref(), &query).await?;
    Ok(List {
        rows: entries.into_iter().map(LedgerRow::with_account).collect(),
        total,
        page: query.page.get(),
        limit: query.limit.get(),
    })
}

/// What an account consumed in a period.
pub(crate) async fn usage(
    app: Arc<App>,
    _: IncomingRequest,
    Query(query): Query<UsageQuery>,
) -> Result<Data<Usage>, Denial> {
    let named = query.account_id.as_deref().map(AccountId::from);
    let account = named.ok_or_else(|| Refusal::missing("accountId"))?;
    let account = app.engine.admin().accounts().one(&account).await?;
    Ok(Data(usage::usage_of(&app, &account.id, &query).await?))
}

/// Callbacks of every account.
pub(crate) async fn callbacks(
    app: Arc<App>,
    _: IncomingRequest,
    Query(query): Query<PeriodQuery>,
) -> Result<List<CallbackRow>, Denial> {
    let (page, limit) = (query.page.get(), query.limit.get());
    let found = app.engine.callbacks();
    let found = found.callbacks_of(None, period_of(&query), page, limit);
    let (callbacks, total) = found.await?;
    Ok(List {
        rows: callbacks.into_iter().map(CallbackRow::from).collect(),
        total,
        page,
        limit,
    })
}

/// What was changed, by whom.
pub(crate) async fn audit(
    app: Arc<App>,
    _: IncomingRequest,
    Query(query): Query<PeriodQuery>,
) -> Result<List<AuditRow>, Denial> {
    let (page, limit) = (query.page.get(), query.limit.get());
    let reports = app.engine.admin().reports();
    let (entries, total) = reports.audit(period_of(&query), page, limit).await?;
    Ok(List {
        rows: entries.into_iter().map(AuditRow::from).collect(),
        total,
        page,
        limit,
    })
}

/// Current work of the service.
pub(crate) async fn stats(
    app: Arc<App>,
    _: IncomingRequest,
    (): (),
) -> Result<Data<Stats>, Denial> {
    let mut stats = app.engine.admin().reports().stats().await?;
    stats.shares = app.shares().map(|one| share_stats(one)).collect();
    Ok(Data(stats))
}

fn share_stats(shares: &FairSemaphore) -> ShareStats {
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
    _: IncomingRequest,
    (): (),
) -> Result<Data<Vec<NodeRow>>, Denial> {
    Ok(Data(app.engine.admin().reports().nodes().await?))
}
