//! The keys that receipts are signed with.

use std::sync::Arc;

use atelier_contract::pages::receipts::MadeReceiptKey;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::Data;
use crate::http::request::IncomingRequest;

/// Makes a new key that signs from now on.
pub(crate) async fn rotate(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<MadeReceiptKey>, Denial> {
    let receipts = app.engine.admin().receipts();
    let kid = receipts.rotate(received.operator()?).await?;
    Ok(Data(MadeReceiptKey { kid }))
}
