//! The answer of a synchronous operation for whoever did not wait for it.

use std::sync::Arc;

use atelier_contract::JobId;

use crate::app::App;
use crate::http::answer;
use crate::http::denial::Denial;
use crate::http::page::LaterAnswer;
use crate::http::request::IncomingRequest;

pub(super) async fn show(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<LaterAnswer, Denial> {
    let id = JobId::new(received.param(0));
    let job = app.engine.jobs().job(received.account()?, &id).await?;
    let holder = received.admission.holder();
    Ok(LaterAnswer(answer::of_job(&app, &job, holder).await?))
}
