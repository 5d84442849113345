//! The caller redeems a code.

use std::sync::Arc;

use atelier_contract::Code;
use atelier_contract::pages::vouchers::{RedeemedCode, RedeemedView};

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Body, Data};
use crate::http::request::IncomingRequest;
use crate::pages::rows::vouchers::redeemed_view;

/// Redeems a code. Every one counts as wrong until it is known to be there, so that many at once are no way around the rate.
pub(crate) async fn redeem(
    app: Arc<App>,
    received: IncomingRequest,
    Body(wish): Body<RedeemedCode>,
) -> Result<Data<RedeemedView>, Denial> {
    let (caller, peer) = (received.caller()?, received.from.peer);
    received.admission.guess(&app.rates, peer)?;
    let vouchers = app.engine.admin().vouchers();
    let redeemed = vouchers.redeem(caller, &wish.code).await;
    let is_wrong = redeemed
        .as_ref()
        .is_err_and(|refusal| refusal.code == Code::VoucherUnknown);
    if !is_wrong {
        received.admission.guessed(&app.rates, peer);
    }
    Ok(Data(redeemed_view(redeemed?)))
}
