//! The models that an account can use now: those it may see, as far as a back end makes them.

use atelier_contract::models::{Audience, DEFAULT_GROUP, ListedModel, ModelCatalogue};
use atelier_engine::{Caller, ModelOutlook};

use crate::app::App;

/// The models that an account may see, whether or not a back end makes them now.
pub(super) fn visible<'a>(
    app: &App,
    caller: &Caller,
    models: &'a ModelCatalogue,
) -> Vec<ListedModel<'a>> {
    models.listed(&audience(app, caller))
}

/// Whom an account's models are for, and when.
pub(super) fn audience<'a>(app: &App, caller: &'a Caller) -> Audience<'a> {
    Audience {
        group: caller.group.as_deref().unwrap_or(DEFAULT_GROUP),
        now_ms: app.engine.now_ms(),
    }
}

/// Those that a back end makes now.
pub(super) fn usable<'a>(
    app: &App,
    caller: &Caller,
    models: &'a ModelCatalogue,
) -> Vec<ListedModel<'a>> {
    let mut outlook = app.engine.runner().model_outlook();
    let mut listed = visible(app, caller, models);
    listed.retain(|model| is_made(app, &mut outlook, model));
    listed
}

/// Whether a back end makes a model now.
pub(super) fn is_usable(app: &App, model: &ListedModel<'_>) -> bool {
    is_made(app, &mut app.engine.runner().model_outlook(), model)
}

fn is_made<'a>(app: &App, outlook: &mut ModelOutlook<'a>, model: &ListedModel<'a>) -> bool {
    if let Some(row) = model.row {
        return outlook.serves(model.submits, row);
    }
    let mut submits = model.submits.iter();
    submits.any(|submit| app.engine.runner().serves(submit, model.name))
}
