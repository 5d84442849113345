//! Exports: rows that are sent as they are read, to a caller or an operator.

use std::io;
use std::sync::Arc;

use atelier_contract::fields::Moment;
use atelier_contract::pages::exports::{DailyExport, ExportKind, ExportQuery};
use atelier_contract::pages::list::ListQuery;
use atelier_contract::time::timestamp;
use atelier_contract::{AccountId, Code, Refusal};
use atelier_engine::{Caller, ExportRequest, ExportRows};
use atelier_fairness::share::FairPermit;
use bytes::Bytes;
use futures_util::stream;

use crate::app::App;
use crate::http::admission;
use crate::http::denial::Denial;
use crate::http::page::{CsvFile, List, Query};
use crate::http::reply;
use crate::http::request::IncomingRequest;
use crate::pages::rows::exports::daily_export;
use crate::pages::spenders;

const TOO_MANY: &str = "too many exports of this account at once; take one after the other";

/// What a caller's own account did.
pub(super) async fn own(
    app: Arc<App>,
    received: IncomingRequest,
    Query(query): Query<ExportQuery>,
) -> Result<CsvFile, Denial> {
    let caller = received.caller()?.clone();
    let of = Some(caller.account_id.clone());
    let request = request(&received, &query, of, true)?;
    send(&app, &received, request, Some(caller)).await
}

/// What one account did, for an operator.
pub(super) async fn of_account(
    app: Arc<App>,
    received: IncomingRequest,
    Query(query): Query<ExportQuery>,
) -> Result<CsvFile, Denial> {
    let id = received.account_param(0);
    let account = app.engine.admin().accounts().one(&id);
    let of = Some(account.await?.id);
    let request = request(&received, &query, of, false)?;
    send(&app, &received, request, None).await
}

/// What all accounts did, or one of them.
pub(super) async fn of_all(
    app: Arc<App>,
    received: IncomingRequest,
    Query(query): Query<ExportQuery>,
) -> Result<CsvFile, Denial> {
    let of = match query.account_id.as_deref().map(AccountId::from) {
        Some(id) => Some(app.engine.admin().accounts().one(&id).await?.id),
        None => None,
    };
    let request = request(&received, &query, of, false)?;
    send(&app, &received, request, None).await
}

/// The exports that are made each day.
pub(super) async fn daily(
    app: Arc<App>,
    _: IncomingRequest,
    Query(query): Query<ListQuery>,
) -> Result<List<DailyExport>, Denial> {
    let (page, limit) = (query.page.get(), query.limit.get());
    let (runs, total) = app.engine.exports().daily(page, limit).await?;
    Ok(List {
        rows: runs
            .into_iter()
            .map(|(run, parts)| daily_export(run, parts))
            .collect(),
        total,
        page,
        limit,
    })
}

/// What is asked for: its kind is the end of the path.
fn request(
    received: &IncomingRequest,
    query: &ExportQuery,
    account: Option<AccountId>,
    is_own: bool,
) -> Result<ExportRequest, Refusal> {
    let kind = received.head.uri.path().rsplit('/').next();
    let kind = kind.and_then(ExportKind::from_word);
    let kind = kind.ok_or_else(|| Refusal::new(Code::NotFound, "no such export"))?;
    Ok(ExportRequest {
        kind,
        format: query.format,
        account_id: account.map(|id| id.to_string()),
        is_own,
        of: spenders::of_export(query)?,
        from_ms: query.from.map(Moment::ms),
        to_ms: query.to.map(Moment::ms),
    })
}

/// Rows on their way to whoever takes them.
struct ExportStream {
    app: Arc<App>,
    rows: ExportRows,
    /// Whose key it is, if a key is what it was asked for with.
    caller: Option<Caller>,
    /// What is sent next; read ahead, so that what cannot be read at all is refused and not cut off.
    ready: Option<String>,
    _place: FairPermit,
}

async fn send(
    app: &Arc<App>,
    received: &IncomingRequest,
    request: ExportRequest,
    caller: Option<Caller>,
) -> Result<CsvFile, Denial> {
    let place = app.exports.try_take(received.admission.holder(), 1);
    let place = place.map_err(|full| admission::capacity_denial(full, TOO_MANY))?;
    let (kind, format) = (request.kind.word(), request.format);
    let mut rows = app.engine.exports().open(request);
    let first = rows.next().await.map_err(|error| {
        tracing::warn!(%error, "an export could not be read");
        Refusal::new(
            Code::Overloaded,
            "the service cannot read this now; try again shortly",
        )
    })?;
    let mut ready = rows.header();
    ready.push_str(first.as_ref().map_or("", |piece| &piece.text));
    let today = timestamp(app.engine.now_ms());
    let name = format!("{kind}-{}.{}", &today[..10], format.word());
    let stream = ExportStream {
        app: Arc::clone(app),
        rows,
        caller,
        ready: Some(ready),
        _place: place,
    };
    let flow = Box::pin(stream::unfold(stream, next));
    Ok(CsvFile(reply::download(format.media_type(), &name, flow)))
}

/// The next piece, or the end. What breaks off is an error, so that nobody takes a part for the whole.
async fn next(mut stream: ExportStream) -> Option<(io::Result<Bytes>, ExportStream)> {
    if let Some(ready) = stream.ready.take()
        && !ready.is_empty()
    {
        return Some((Ok(ready.into()), stream));
    }
    let piece = stream.read().await.transpose()?;
    Some((piece, stream))
}

impl ExportStream {
    async fn read(&mut self) -> io::Result<Option<Bytes>> {
        if self.app.stopping.is_cancelled() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        if let Some(caller) = &self.caller
            && !self.app.engine.admin().callers().still_known(caller).await
        {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let piece = self.rows.next().await.map_err(io::Error::other)?;
        Ok(piece.map(|piece| piece.text.into()))
    }
}
