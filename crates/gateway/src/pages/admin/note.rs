//! The audit record of operators' changes.

use atelier_contract::Refusal;

use crate::app::App;

/// Who changed something, in the audit record.
pub(super) const ACTOR: &str = "operator";

/// Writes a change down.
pub(super) async fn note(
    app: &App,
    action: &str,
    target: &str,
    detail: &str,
) -> Result<(), Refusal> {
    app.engine.note(ACTOR, action, target, detail).await
}
