//! The operator API. Every call needs the admin token; every change leaves a line in the audit record.

pub(super) mod accounts;
pub(super) mod backends;
pub(super) mod prices;
pub(super) mod views;

use atelier_contract::Refusal;

use crate::app::App;

/// Who changed something, in the audit record.
const ACTOR: &str = "operator";

/// Writes a change down.
async fn note(app: &App, action: &str, target: &str, detail: &str) -> Result<(), Refusal> {
    app.engine.note(ACTOR, action, target, detail).await
}
