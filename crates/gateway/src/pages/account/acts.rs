//! What the caller did to its own account.

use std::sync::Arc;

use atelier_contract::pages::list::PeriodQuery;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{List, Query};
use crate::http::request::IncomingRequest;
use crate::pages::periods::period_of;
use crate::pages::rows::audit::AccountAct;

pub(crate) async fn list(
    app: Arc<App>,
    received: IncomingRequest,
    Query(query): Query<PeriodQuery>,
) -> Result<List<AccountAct>, Denial> {
    let (page, limit) = (query.page.get(), query.limit.get());
    let account = received.account()?;
    let reports = app.engine.admin().reports();
    let (acts, total) = reports
        .account_acts(account, period_of(&query), page, limit)
        .await?;
    Ok(List {
        rows: acts.into_iter().map(AccountAct::from).collect(),
        total,
        page,
        limit,
    })
}
