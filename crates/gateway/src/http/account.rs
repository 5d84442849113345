//! The account record and the history list, as the artgen interface shows them.

use std::sync::Arc;

use atelier_contract::body as contract_body;
use atelier_contract::families::artgen;
use atelier_contract::families::artgen::account::AccountRecord;
use atelier_contract::families::artgen::history::{Direction, History, HistoryItem, HistoryQuery};
use atelier_contract::family::timestamp;
use atelier_engine::JobsFilter;

use super::{Answer, Received, body, caller, reply};
use crate::app::App;

/// Shows the caller's account.
pub(super) async fn info(app: Arc<App>, received: Received) -> Answer {
    let caller = caller::known(&app, &received).await?;
    let account = app.engine.account(&caller.account_id).await?;
    Ok(reply::success(AccountRecord {
        email: account.email,
        email_verified_at: account.email_verified_ms.map(timestamp).unwrap_or_default(),
        balance: account.balance,
        freeze_balance: account.frozen,
        max_queue: u32::try_from(account.max_queue).unwrap_or_default(),
        created_at: timestamp(account.created_ms),
    }))
}

/// Lists the caller's artgen image jobs.
pub(super) async fn history(app: Arc<App>, received: Received) -> Answer {
    let caller = caller::known(&app, &received).await?;
    let fields = body::query_and_fields(&app, &received.head, received.body).await?;
    let query: HistoryQuery = contract_body::read(fields)?;
    let filter = JobsFilter {
        operations: artgen::FAMILY
            .submits
            .iter()
            .map(|entry| entry.name.to_owned())
            .collect(),
        state: Some(query.status.0),
        ascending: query.order.0 == Direction::OldestFirst,
        page: query.page.get(),
        limit: query.limit.get(),
    };
    let (jobs, total) = app.engine.jobs(Some(&caller.account_id), filter).await?;
    Ok(reply::json_of(&History {
        status: "SUCCESS",
        message: "success",
        data: jobs.iter().map(HistoryItem::of).collect(),
        total: total as u64,
        page: query.page.get() as u64,
        limit: query.limit.get() as u64,
    }))
}
