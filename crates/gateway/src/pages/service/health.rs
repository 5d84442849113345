//! Is it alive, is it ready. No key is needed; the names of back ends are told to strangers by no public service.

use std::sync::Arc;

use atelier_contract::pages::ready::Readiness;
use atelier_contract::{Code, Refusal};

use crate::app::App;
use crate::http::access;
use crate::http::denial::Denial;
use crate::http::page::Data;
use crate::http::request::IncomingRequest;

pub(crate) async fn alive(
    _: Arc<App>,
    _: IncomingRequest,
    (): (),
) -> Result<Data<&'static str>, Denial> {
    Ok(Data("alive"))
}

/// The service can take requests.
pub(crate) async fn ready(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<Readiness>, Denial> {
    let not_ready = |why: &str| Denial::from(Refusal::new(Code::Overloaded, why));
    if app.stopping.is_cancelled() {
        return Err(not_ready("stopping"));
    }
    match app.engine.ready().await {
        Ok(()) => {
            // Whoever asks by this sends submits elsewhere while none is taken here.
            app.disk.admit(&app.config)?;
            let mut ready = app.engine.admin().reports().ready();
            if !access::may_look(&app, &received).await {
                ready.backends.clear();
            }
            Ok(Data(ready))
        }
        Err(why) => Err(not_ready(&why)),
    }
}
