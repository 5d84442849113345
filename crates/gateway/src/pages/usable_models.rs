//! The models that an account can use now: those it may see, as far as a back end makes them.

use std::collections::HashSet;
use std::fmt::Write as _;

use atelier_contract::models::{
    Audience, DEFAULT_GROUP, ListedModel, ModelCatalogue, ModelRevision,
};

use crate::app::App;

/// The models that an account may see, whether or not a back end makes them now.
pub(super) fn visible<'a>(app: &App, models: &'a ModelCatalogue) -> Vec<ListedModel<'a>> {
    models.listed(&Audience {
        group: DEFAULT_GROUP,
        now_ms: app.engine.now_ms(),
    })
}

/// Those that a back end makes now. What routes lead to is asked once, and again only of models whose routes seem to lead
/// nowhere: a worker account may be there for one of them alone.
pub(super) fn usable<'a>(app: &App, models: &'a ModelCatalogue) -> Vec<ListedModel<'a>> {
    let mut made = HashSet::new();
    let mut listed = visible(app, models);
    listed.retain(|model| {
        let routing = model.row.map(|row| routing_of(row));
        if routing
            .as_ref()
            .is_some_and(|routing| made.contains(routing))
        {
            return true;
        }
        let usable = is_usable(app, model);
        if usable {
            made.extend(routing);
        }
        usable
    });
    listed
}

/// Whether a back end makes a model now.
pub(super) fn is_usable(app: &App, model: &ListedModel<'_>) -> bool {
    let runner = app.engine.runner();
    let mut submits = model.submits.iter();
    submits.any(|submit| match model.row {
        Some(row) => runner.serves_model(submit, row),
        None => runner.serves(submit, model.name),
    })
}

/// What decides where jobs of a model go: what it is like, and its routes.
fn routing_of(row: &ModelRevision) -> String {
    let definition = &row.definition;
    let like = definition.like.as_ref().unwrap_or(&definition.name);
    let mut text = like.clone();
    for route in &definition.routes {
        let model = route.model.as_deref().unwrap_or_default();
        let _ = write!(text, "\0{}\0{model}", route.backend);
    }
    text
}
