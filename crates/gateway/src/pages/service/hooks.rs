//! Vendors' own callbacks. The word in the path proves that it was given to this vendor for one attempt; the body is
//! never believed, it only means that the vendor is worth asking.

use std::sync::Arc;

use atelier_contract::{Code, Refusal};

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::Data;
use crate::http::received::Received;

/// Has a job asked about at once.
pub(crate) async fn take(
    app: Arc<App>,
    received: Received,
    (): (),
) -> Result<Data<&'static str>, Denial> {
    if !app
        .engine
        .floor()
        .vendor_hook(received.param(0), received.param(1))
    {
        return Err(Refusal::new(Code::NotFound, "there is nothing at this path").into());
    }
    Ok(Data("noted"))
}
