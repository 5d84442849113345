//! The movements of the caller's quota.

use std::sync::Arc;

use atelier_contract::pages::list::ListQuery;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{List, Query};
use crate::http::request::IncomingRequest;
use crate::pages::rows::ledger::LedgerRow;

pub(crate) async fn list(
    app: Arc<App>,
    received: IncomingRequest,
    Query(query): Query<ListQuery>,
) -> Result<List<LedgerRow>, Denial> {
    let (page, limit) = (query.page.get(), query.limit.get());
    let account = Some(received.account()?);
    let (entries, total) = app
        .engine
        .admin()
        .accounts()
        .ledger(account, page, limit)
        .await?;
    Ok(List {
        rows: entries.into_iter().map(LedgerRow::from).collect(),
        total,
        page,
        limit,
    })
}
