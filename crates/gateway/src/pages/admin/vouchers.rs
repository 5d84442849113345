//! Batches of vouchers: made, listed and revoked.

use std::sync::Arc;

use atelier_contract::pages::list::ListQuery;
use atelier_contract::pages::vouchers::{MadeVouchers, NewVouchers, VoucherBatchView};
use atelier_engine::codes_csv;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Body, Data, List, Query};
use crate::http::request::IncomingRequest;
use crate::pages::rows::vouchers::{batch_view, voucher_terms};

pub(crate) async fn list(
    app: Arc<App>,
    _: IncomingRequest,
    Query(query): Query<ListQuery>,
) -> Result<List<VoucherBatchView>, Denial> {
    let (page, limit) = (query.page.get(), query.limit.get());
    let (batches, total) = app.engine.admin().vouchers().list(page, limit).await?;
    Ok(List {
        rows: batches.into_iter().map(batch_view).collect(),
        total,
        page,
        limit,
    })
}

/// Makes a batch; this answer is the only one that shows its codes.
pub(crate) async fn create(
    app: Arc<App>,
    received: IncomingRequest,
    Body(new): Body<NewVouchers>,
) -> Result<Data<MadeVouchers>, Denial> {
    let vouchers = app.engine.admin().vouchers();
    let terms = voucher_terms(&new);
    let made = vouchers.make(received.operator()?, new.count.get(), terms);
    let (batch, codes) = made.await?;
    Ok(Data(MadeVouchers {
        batch: batch_view(batch),
        csv: codes_csv(&codes),
    }))
}

pub(crate) async fn show(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<VoucherBatchView>, Denial> {
    let batch = app.engine.admin().vouchers().one(received.param(0)).await?;
    Ok(Data(batch_view(batch)))
}

/// Has nobody redeem the codes of a batch from now on.
pub(crate) async fn revoke(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<VoucherBatchView>, Denial> {
    let vouchers = app.engine.admin().vouchers();
    let batch = vouchers
        .revoke(received.operator()?, received.param(0))
        .await?;
    Ok(Data(batch_view(batch)))
}
