//! What the caller did to its own account.

use std::sync::Arc;

use atelier_contract::pages::audit::AccountAct;
use atelier_contract::pages::list::ListQuery;
use atelier_contract::time::timestamp;
use atelier_engine::AuditView;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{List, Query};
use crate::http::request::IncomingRequest;

/// Lists it.
pub(crate) async fn list(
    app: Arc<App>,
    received: IncomingRequest,
    Query(query): Query<ListQuery>,
) -> Result<List<AccountAct>, Denial> {
    let (page, limit) = (query.page.get(), query.limit.get());
    let account = received.account()?;
    let reports = app.engine.admin().reports();
    let (acts, total) = reports.account_acts(account, page, limit).await?;
    let row = |act: AuditView| AccountAct {
        id: act.id,
        time: timestamp(act.time_ms),
        key_id: Some(act.actor).filter(|key| !key.is_empty()),
        action: act.action,
        target: act.target,
        detail: act.detail,
    };
    Ok(List {
        rows: acts.into_iter().map(row).collect(),
        total,
        page,
        limit,
    })
}
