//! Pictures that were not waited for, under the path of the vendor's own interface.

use std::sync::Arc;

use atelier_contract::families::imgmodel::FAMILY;
use atelier_contract::{JobId, Refusal};

use crate::app::App;
use crate::http::answer;
use crate::http::denial::Denial;
use crate::http::page::LaterAnswer;
use crate::http::request::IncomingRequest;

/// The answer of a call for pictures, by its job.
pub(crate) async fn show(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<LaterAnswer, Denial> {
    let id = JobId::new(received.param(0));
    let job = app.engine.jobs().job(received.account()?, &id).await?;
    let is_own = |name: &str| FAMILY.submits.iter().any(|submit| submit.name == name);
    if !is_own(&job.operation) {
        return Err(Refusal::job_not_found().into());
    }
    let holder = received.admission.holder();
    Ok(LaterAnswer(answer::of_job(&app, &job, holder).await?))
}
