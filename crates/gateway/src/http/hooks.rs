//! Vendors' own callbacks. The word in the path proves that it was given to this vendor for one attempt; the body is
//! never believed, it only means that the vendor is worth asking.

use std::sync::Arc;

use atelier_contract::{Code, Refusal};

use super::{Answer, Received, reply};
use crate::app::App;

/// Has a job asked about at once.
pub(super) async fn take(app: Arc<App>, received: Received) -> Answer {
    let [backend_id, token] = received.params.as_slice() else {
        return Err(Refusal::new(Code::NotFound, "there is nothing at this path").into());
    };
    if !app.engine.vendor_hook(backend_id, token) {
        return Err(Refusal::new(Code::NotFound, "there is nothing at this path").into());
    }
    Ok(reply::success("noted"))
}
