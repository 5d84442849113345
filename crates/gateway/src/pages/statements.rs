//! Statements of account, as their account and operators read them, and months that operators close.

use std::sync::Arc;

use atelier_contract::month::Month;
use atelier_contract::pages::list::ListQuery;
use atelier_contract::pages::statements::{
    BookState, BooksQuery, BooksRow, CloseRow, NewClose, StatementFormat, StatementQuery,
    StatementRow,
};
use atelier_contract::{Code, Refusal};
use atelier_engine::records::Account;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Body, Data, File, List, Query};
use crate::http::reply;
use crate::http::request::IncomingRequest;
use crate::pages::rows::statements::{books_row, close_row, statement_row};

/// The months of the caller's account.
pub(super) async fn own(
    app: Arc<App>,
    received: IncomingRequest,
    Query(query): Query<ListQuery>,
) -> Result<List<StatementRow>, Denial> {
    let account = app
        .engine
        .admin()
        .accounts()
        .own(received.account()?)
        .await?;
    list(&app, &account, query).await
}

/// The months of an account, for an operator.
pub(super) async fn of_account(
    app: Arc<App>,
    received: IncomingRequest,
    Query(query): Query<ListQuery>,
) -> Result<List<StatementRow>, Denial> {
    let id = received.account_param(0);
    let account = app.engine.admin().accounts().one(&id);
    list(&app, &account.await?, query).await
}

/// A statement of the caller's account.
pub(super) async fn own_month(
    app: Arc<App>,
    received: IncomingRequest,
    Query(query): Query<StatementQuery>,
) -> Result<File, Denial> {
    let account = app
        .engine
        .admin()
        .accounts()
        .own(received.account()?)
        .await?;
    show(&app, &account, received.param(0), query).await
}

/// A statement of an account, for an operator.
pub(super) async fn month_of_account(
    app: Arc<App>,
    received: IncomingRequest,
    Query(query): Query<StatementQuery>,
) -> Result<File, Denial> {
    let id = received.account_param(0);
    let account = app.engine.admin().accounts().one(&id);
    show(&app, &account.await?, received.param(1), query).await
}

/// The months of all accounts, with how far they are closed.
pub(super) async fn months(
    app: Arc<App>,
    _: IncomingRequest,
    Query(query): Query<ListQuery>,
) -> Result<List<CloseRow>, Denial> {
    let (page, limit) = (query.page.get(), query.limit.get());
    let (months, total) = app.engine.statements().months(page, limit).await?;
    Ok(List {
        rows: months
            .iter()
            .map(|(month, tally, close)| close_row(*month, *tally, close.as_ref()))
            .collect(),
        total,
        page,
        limit,
    })
}

/// Has a month be closed for all accounts.
pub(super) async fn close(
    app: Arc<App>,
    received: IncomingRequest,
    Body(wish): Body<NewClose>,
) -> Result<Data<CloseRow>, Denial> {
    let statements = app.engine.statements();
    statements.close(received.operator()?, wish.month).await?;
    let (tally, close) = statements.month(wish.month).await?;
    Ok(Data(close_row(wish.month, tally, close.as_ref())))
}

/// Whose books of a month are closed.
pub(super) async fn books(
    app: Arc<App>,
    received: IncomingRequest,
    Query(query): Query<BooksQuery>,
) -> Result<List<BooksRow>, Denial> {
    let month = month_param(received.param(0))?;
    let (page, limit) = (query.page.get(), query.limit.get());
    let state = query.state.map(BookState::word);
    let found = app.engine.statements().books(month, state, page, limit);
    let (rows, total) = found.await?;
    Ok(List {
        rows: rows.into_iter().map(books_row).collect(),
        total,
        page,
        limit,
    })
}

async fn list(
    app: &App,
    account: &Account,
    query: ListQuery,
) -> Result<List<StatementRow>, Denial> {
    let (page, limit) = (query.page.get(), query.limit.get());
    let (months, total) = app.engine.statements().list(account, page, limit).await?;
    Ok(List {
        rows: months
            .iter()
            .map(|(month, made)| statement_row(*month, made.as_ref()))
            .collect(),
        total,
        page,
        limit,
    })
}

async fn show(
    app: &App,
    account: &Account,
    month: &str,
    query: StatementQuery,
) -> Result<File, Denial> {
    let month = month_param(month)?;
    let statements = app.engine.statements();
    Ok(File(match query.format {
        StatementFormat::Csv => {
            let statement = statements.statement(account, month).await?;
            let name = format!("statement-{month}.csv");
            reply::kept_file(
                "text/csv; charset=utf-8",
                &name,
                statement.csv,
                &statement.hash,
            )
        }
        StatementFormat::Html => {
            let page = statements.page(account, month, query.language).await?;
            reply::printed_page(page.html, &page.hash)
        }
    }))
}

fn month_param(text: &str) -> Result<Month, Refusal> {
    Month::parse(text)
        .ok_or_else(|| Refusal::new(Code::NotFound, "no such month; write it as 2026-10"))
}
