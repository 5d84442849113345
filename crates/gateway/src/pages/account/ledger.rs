//! The movements of the caller's quota.

use std::sync::Arc;

use atelier_contract::fields::Moment;
use atelier_contract::pages::spending::LedgerQuery;
use atelier_contract::{AccountId, Refusal};
use atelier_engine::records::{self, LedgerFilter};

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{List, Query};
use crate::http::request::IncomingRequest;
use crate::pages::rows::ledger::LedgerRow;
use crate::pages::spenders;

pub(crate) async fn list(
    app: Arc<App>,
    received: IncomingRequest,
    Query(query): Query<LedgerQuery>,
) -> Result<List<LedgerRow>, Denial> {
    let (entries, total) = entries(&app, Some(received.account()?), &query).await?;
    Ok(List {
        rows: entries.into_iter().map(LedgerRow::from).collect(),
        total,
        page: query.page.get(),
        limit: query.limit.get(),
    })
}

/// The movements that are asked for, of an account or of all.
pub(crate) async fn entries(
    app: &App,
    account: Option<&AccountId>,
    query: &LedgerQuery,
) -> Result<(Vec<records::LedgerRow>, i64), Refusal> {
    let (page, limit) = (query.page.get(), query.limit.get());
    let (of, accounts) = (spenders::of_ledger(query)?, app.engine.admin().accounts());
    if of.is_empty() && query.from.is_none() && query.to.is_none() {
        return accounts.ledger(account, page, limit).await;
    }
    let account = account.ok_or_else(|| Refusal::missing("accountId"))?;
    let filter = LedgerFilter {
        account_id: account.to_string(),
        of,
        from_ms: query.from.map(Moment::ms),
        to_ms: query.to.map(Moment::ms),
        offset: (page - 1).max(0).saturating_mul(limit),
        limit,
    };
    accounts.some_ledger(&filter).await
}
