//! What the operator looks at: jobs, quota, callbacks, the audit record, the state of the house.

use std::sync::Arc;

use atelier_contract::family::timestamp;
use serde_json::json;

use super::super::{Answer, Received, body, caller, jobs as jobs_page, paging, reply, rows};
use crate::app::App;

/// Jobs of every account.
pub(in super::super) async fn jobs(app: Arc<App>, received: Received) -> Answer {
    caller::operator(&app, &received)?;
    jobs_page::page_of(&app, None, &body::query(&received.head)?).await
}

/// Movements of quota of every account.
pub(in super::super) async fn ledger(app: Arc<App>, received: Received) -> Answer {
    caller::operator(&app, &received)?;
    let paging = paging::of(&body::query(&received.head)?)?;
    let (entries, total) = app.engine.ledger(None, paging.page, paging.limit).await?;
    let row = |entry| {
        let mut row = rows::ledger_entry(entry);
        row["accountId"] = entry.account_id.clone().into();
        row
    };
    Ok(reply::page(
        entries.iter().map(row).collect(),
        total,
        paging,
    ))
}

/// Callbacks of every account.
pub(in super::super) async fn callbacks(app: Arc<App>, received: Received) -> Answer {
    caller::operator(&app, &received)?;
    let paging = paging::of(&body::query(&received.head)?)?;
    let (callbacks, total) = app
        .engine
        .callbacks(None, paging.page, paging.limit)
        .await?;
    Ok(reply::page(
        callbacks.iter().map(rows::callback).collect(),
        total,
        paging,
    ))
}

/// What was changed, by whom.
pub(in super::super) async fn audit(app: Arc<App>, received: Received) -> Answer {
    caller::operator(&app, &received)?;
    let paging = paging::of(&body::query(&received.head)?)?;
    let (entries, total) = app.engine.audit(paging.page, paging.limit).await?;
    let row = |entry: &atelier_engine::AuditView| {
        json!({
            "id": entry.id,
            "time": timestamp(entry.time_ms),
            "actor": entry.actor,
            "action": entry.action,
            "target": entry.target,
            "detail": entry.detail,
        })
    };
    Ok(reply::page(
        entries.iter().map(row).collect(),
        total,
        paging,
    ))
}

/// What the house is doing right now.
pub(in super::super) async fn stats(app: Arc<App>, received: Received) -> Answer {
    caller::operator(&app, &received)?;
    Ok(reply::success(app.engine.stats().await?))
}

/// The nodes that share the database.
pub(in super::super) async fn nodes(app: Arc<App>, received: Received) -> Answer {
    caller::operator(&app, &received)?;
    Ok(reply::success(app.engine.nodes().await?))
}
