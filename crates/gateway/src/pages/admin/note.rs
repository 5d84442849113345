//! The audit record of operators' changes.

use atelier_contract::Refusal;

use crate::app::App;
use crate::http::received::Received;

/// Writes down what the operator behind a request changed.
pub(super) async fn note(
    app: &App,
    received: &Received,
    action: &str,
    target: &str,
    detail: &str,
) -> Result<(), Refusal> {
    let by = received.operator()?;
    app.engine.note(by, action, target, detail).await
}
