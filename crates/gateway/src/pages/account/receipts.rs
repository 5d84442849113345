//! Receipts of the account, signed when they are asked for.

use std::sync::Arc;

use atelier_contract::pages::list::ListQuery;
use atelier_contract::pages::receipts::ReceiptView;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Data, List, Query};
use crate::http::request::IncomingRequest;

pub(crate) async fn list(
    app: Arc<App>,
    received: IncomingRequest,
    Query(query): Query<ListQuery>,
) -> Result<List<ReceiptView>, Denial> {
    let (page, limit) = (query.page.get(), query.limit.get());
    let receipts = app.engine.admin().receipts();
    let (rows, total) = receipts.list(received.account()?, page, limit).await?;
    Ok(List {
        rows,
        total,
        page,
        limit,
    })
}

/// The receipt of a job.
pub(crate) async fn show(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<ReceiptView>, Denial> {
    let receipts = app.engine.admin().receipts();
    let receipt = receipts.one(received.account()?, received.param(0)).await?;
    Ok(Data(receipt))
}
