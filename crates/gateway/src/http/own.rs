//! Self-service of an account: keys, movements of quota, usage, callbacks, quotes.

use std::collections::BTreeMap;
use std::sync::Arc;

use atelier_contract::body::{self as contract_body, Fields};
use atelier_contract::family::{IMAGE_BODY, SMALL_BODY, timestamp};
use atelier_contract::{Code, Quota, Refusal, operation};
use atelier_engine::{KeyHolder, UsageView};
use serde::Deserialize;
use serde_json::json;

use super::{Answer, Received, body, caller, paging, reply, rows};
use crate::app::App;

const DAY_MS: i64 = 86_400_000;
/// Usage covers this many days unless a period is named.
const USUAL_DAYS: i64 = 30;

/// Lists the caller's keys, without their secrets.
pub(super) async fn keys(app: Arc<App>, received: Received) -> Answer {
    let caller = caller::known(&app, &received).await?;
    let keys = app.engine.keys(&caller.account_id).await?;
    Ok(reply::success(
        keys.iter().map(rows::key).collect::<Vec<_>>(),
    ))
}

/// Issues a key; this answer is the only one that shows it.
pub(super) async fn issue_key(app: Arc<App>, received: Received) -> Answer {
    let caller = caller::known(&app, &received).await?;
    let (fields, _) = body::fields(&app, &received.head, received.body, SMALL_BODY).await?;
    let wish = rows::key_wish(fields)?;
    let (id, key) = app
        .engine
        .issue_key(&caller.account_id, wish, KeyHolder::Caller(&caller))
        .await?;
    Ok(reply::success(json!({ "id": id, "api_key": key })))
}

/// Revokes a key of the caller's.
pub(super) async fn revoke_key(app: Arc<App>, received: Received) -> Answer {
    let caller = caller::known(&app, &received).await?;
    let key_id = received
        .params
        .first()
        .map(String::as_str)
        .unwrap_or_default();
    let by = KeyHolder::Caller(&caller);
    let revoked = app
        .engine
        .revoke_key(&caller.account_id, key_id, by)
        .await?;
    if !revoked {
        return Err(Refusal::new(Code::NotFound, "no such key").into());
    }
    Ok(reply::success(json!({ "id": key_id })))
}

/// Lists the movements of the caller's quota.
pub(super) async fn ledger(app: Arc<App>, received: Received) -> Answer {
    let caller = caller::known(&app, &received).await?;
    let paging = paging::of(&body::query(&received.head)?)?;
    let (entries, total) = app
        .engine
        .ledger(Some(&caller.account_id), paging.page, paging.limit)
        .await?;
    Ok(reply::page(
        entries.iter().map(rows::ledger_entry).collect(),
        total,
        paging,
    ))
}

/// Sums up what the caller consumed in a period.
pub(super) async fn usage(app: Arc<App>, received: Received) -> Answer {
    let caller = caller::known(&app, &received).await?;
    let fields = body::query(&received.head)?;
    let to_ms = paging::moment(&fields, "to")?.unwrap_or_else(|| app.engine.now_ms());
    let from_ms = paging::moment(&fields, "from")?.unwrap_or(to_ms - USUAL_DAYS * DAY_MS);
    let usage = app.engine.usage(&caller.account_id, from_ms, to_ms).await?;
    Ok(reply::success(json!({
        "from": timestamp(from_ms),
        "to": timestamp(to_ms),
        "quota": sum(&usage),
        "jobs": usage.iter().map(|one| one.jobs).sum::<i64>(),
        "byFamily": grouped(&usage, "family", |one| {
            operation(&one.operation).map_or(one.operation.clone(), |(family, _)| family.name.to_owned())
        }),
        "byDay": grouped(&usage, "day", |one| timestamp(one.day * DAY_MS)[..10].to_owned()),
    })))
}

fn sum(usage: &[UsageView]) -> Quota {
    usage.iter().fold(Quota::ZERO, |sum, one| sum + one.quota)
}

fn grouped(
    usage: &[UsageView],
    name: &str,
    by: impl Fn(&UsageView) -> String,
) -> Vec<serde_json::Value> {
    let mut groups: BTreeMap<String, (i64, Quota)> = BTreeMap::new();
    for one in usage {
        let group = groups.entry(by(one)).or_default();
        *group = (group.0 + one.jobs, group.1 + one.quota);
    }
    let row = |(key, (jobs, quota)): (String, (i64, Quota))| json!({ name: key, "jobs": jobs, "quota": quota });
    groups.into_iter().map(row).collect()
}

/// What a submit of the same body would hold.
pub(super) async fn quote(app: Arc<App>, received: Received) -> Answer {
    #[derive(Deserialize)]
    struct Question {
        operation: String,
        #[serde(default)]
        request: Fields,
    }
    let caller = caller::known(&app, &received).await?;
    let (fields, _) = body::fields(&app, &received.head, received.body, IMAGE_BODY).await?;
    let Question { operation, request } = contract_body::read(fields)?;
    let custody = super::submit::is_custody(received.from.role, &operation);
    let quota = app
        .engine
        .quote(&caller.account_id, &operation, request, custody)
        .await?;
    Ok(reply::success(
        json!({ "operation": operation, "quota": quota }),
    ))
}

/// Shows one of the caller's callbacks with its tries.
pub(super) async fn callback(app: Arc<App>, received: Received) -> Answer {
    let caller = caller::known(&app, &received).await?;
    let id = received
        .params
        .first()
        .map(String::as_str)
        .unwrap_or_default();
    let (callback, tries) = app.engine.callback(&caller.account_id, id).await?;
    let mut row = rows::callback(&callback);
    row["log"] = tries.iter().map(rows::callback_try).collect();
    Ok(reply::success(row))
}

/// Lists the caller's callbacks.
pub(super) async fn callbacks(app: Arc<App>, received: Received) -> Answer {
    let caller = caller::known(&app, &received).await?;
    let paging = paging::of(&body::query(&received.head)?)?;
    let (callbacks, total) = app
        .engine
        .callbacks(Some(&caller.account_id), paging.page, paging.limit)
        .await?;
    Ok(reply::page(
        callbacks.iter().map(rows::callback).collect(),
        total,
        paging,
    ))
}

/// Sends one callback again.
pub(super) async fn redeliver(app: Arc<App>, received: Received) -> Answer {
    let caller = caller::known(&app, &received).await?;
    let id = received
        .params
        .first()
        .map(String::as_str)
        .unwrap_or_default();
    app.engine.redeliver(&caller.account_id, id).await?;
    Ok(reply::success(json!({ "id": id })))
}

/// Sends every callback again that was given up since a moment.
pub(super) async fn redeliver_since(app: Arc<App>, received: Received) -> Answer {
    let caller = caller::known(&app, &received).await?;
    let (fields, _) = body::fields(&app, &received.head, received.body, SMALL_BODY).await?;
    let since_ms = paging::moment(&fields, "since")?.ok_or_else(|| Refusal::missing("since"))?;
    let count = app
        .engine
        .redeliver_since(&caller.account_id, since_ms)
        .await?;
    Ok(reply::success(json!({ "redelivered": count })))
}

/// Shows the secret that callbacks are signed with.
pub(super) async fn callback_secret(app: Arc<App>, received: Received) -> Answer {
    let caller = caller::known(&app, &received).await?;
    let secret = app.engine.callback_secret(&caller.account_id).await?;
    Ok(reply::success(json!({ "secret": secret })))
}

/// Replaces the secret that callbacks are signed with.
pub(super) async fn rotate_callback_secret(app: Arc<App>, received: Received) -> Answer {
    let caller = caller::known(&app, &received).await?;
    let secret = app
        .engine
        .rotate_callback_secret(&caller.account_id)
        .await?;
    Ok(reply::success(json!({ "secret": secret })))
}
