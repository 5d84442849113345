//! The artgen endpoints that make nothing: the account record, the history list, the prompt check and the status.

use std::sync::Arc;

use atelier_contract::families::artgen;
use atelier_contract::families::artgen::account::{
    AccountRecord, ArtgenStatus, PROMPT_PASSED, PromptCheck,
};
use atelier_contract::families::artgen::history::{History, HistoryItem, HistoryQuery, SortOrder};
use atelier_contract::time::timestamp;
use atelier_contract::{Code, Refusal};
use atelier_engine::records::{Account, JobFilter};

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Body, Data, Json, QueryOrBody};
use crate::http::request::IncomingRequest;

/// Shows the caller's account.
pub(super) async fn info(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<AccountRecord>, Denial> {
    Ok(Data(record(
        app.engine
            .admin()
            .accounts()
            .own(received.account()?)
            .await?,
    )))
}

/// An account in the words of the interface.
pub(super) fn record(account: Account) -> AccountRecord {
    AccountRecord {
        email: account.email,
        email_verified_at: account.email_verified_ms.map(timestamp).unwrap_or_default(),
        balance: account.balance,
        freeze_balance: account.frozen,
        max_queue: u32::try_from(account.max_queue).unwrap_or_default(),
        created_at: timestamp(account.created_ms),
    }
}

/// Lists the caller's artgen image jobs.
pub(super) async fn history(
    app: Arc<App>,
    received: IncomingRequest,
    QueryOrBody(query): QueryOrBody<HistoryQuery>,
) -> Result<Json<History>, Denial> {
    let submits = artgen::FAMILY.submits.iter();
    let filter = JobFilter {
        operations: submits.map(|entry| entry.name.to_owned()).collect(),
        state: Some(query.status.0),
        ascending: query.order.0 == SortOrder::OldestFirst,
        ..JobFilter::page(query.page.get(), query.limit.get())
    };
    let account = Some(received.account()?);
    let found = app.engine.jobs().list(account, filter).await?;
    Ok(Json(History {
        status: "SUCCESS",
        message: "success",
        data: found.rows.iter().map(HistoryItem::of).collect(),
        total: found.total as u64,
        page: query.page.get() as u64,
        limit: query.limit.get() as u64,
    }))
}

/// Holds a prompt against the list of banned words.
pub(super) async fn check_prompt(
    app: Arc<App>,
    _: IncomingRequest,
    Body(check): Body<PromptCheck>,
) -> Result<Data<&'static str>, Denial> {
    match app
        .engine
        .intake()
        .banned_word(&artgen::FAMILY, &check.prompt)
    {
        None => Ok(Data(PROMPT_PASSED)),
        Some(word) => {
            let message = format!("banned prompt words: [{word}]");
            Err(Refusal {
                field: Some("prompt".into()),
                ..Refusal::new(Code::BannedPrompt, message)
            }
            .into())
        }
    }
}

/// How the artgen image endpoints do.
pub(super) async fn status(
    app: Arc<App>,
    _: IncomingRequest,
    (): (),
) -> Result<Data<ArtgenStatus>, Denial> {
    Ok(Data(
        app.engine.runner().family_status(&artgen::FAMILY).await?,
    ))
}
