//! What an operator may not say of a model, each with the field that is wrong.

use super::builtin::builtin_model;
use super::catalogue::ModelCatalogue;
use super::definition::ModelDefinition;
use super::like::LikeTarget;
use super::names::{NOT_A_NAME, is_name, model_key};
use super::row::CatalogueRow;
use crate::groups::is_rule_word;
use crate::refusal::Refusal;
use crate::time::date_ms;

/// Models that one installation may have.
const MODELS_MOST: usize = 10_000;

/// What a definition is held against besides the catalogue.
#[derive(Clone, Copy)]
pub struct CheckContext<'a> {
    /// The id of the back end with a name or an id, if there is one.
    pub backends: &'a dyn Fn(&str) -> Option<String>,
    /// Now, in milliseconds since 1970.
    pub now_ms: i64,
}

impl ModelCatalogue {
    /// Whether a definition may be written, in the place of that of the same name if there is one.
    pub fn check(
        &self,
        definition: &ModelDefinition,
        context: &CheckContext<'_>,
    ) -> Result<(), Refusal> {
        self.check_change(
            &ModelDefinition::named(&definition.name),
            definition,
            context,
        )
    }

    /// Whether a definition may take the place of another one. What is as it was is not held against what has changed around it
    /// since, so that a model can be switched off whatever became of its routes and its successor.
    pub fn check_change(
        &self,
        before: &ModelDefinition,
        definition: &ModelDefinition,
        context: &CheckContext<'_>,
    ) -> Result<(), Refusal> {
        let target = self.check_name(definition)?;
        self.check_aliases(definition)?;
        let ruled = before.like != definition.like || before.fields != definition.fields;
        if ruled {
            super::check_fields::check(definition, &target)?;
        }
        if ruled || before.price != definition.price {
            super::check_price::check(definition, &target)?;
        }
        if before.routes != definition.routes {
            check_routes(before, definition, context)?;
        }
        check_groups(definition)?;
        if before.retires != definition.retires || before.successor != definition.successor {
            self.check_retirement(definition, context)?;
        }
        Ok(())
    }

    /// Its name and what it is like.
    fn check_name(&self, definition: &ModelDefinition) -> Result<LikeTarget, Refusal> {
        let name = &definition.name;
        if !is_name(name) {
            return Err(Refusal::invalid("name", NOT_A_NAME));
        }
        let key = definition.key();
        if self.0.rows.len() >= MODELS_MOST && !self.0.rows.contains_key(&key) {
            let message = format!("there are {MODELS_MOST} models already; remove one first");
            return Err(Refusal::invalid("name", message));
        }
        if let Some(owner) = self.owner_of_alias(&key, &key) {
            let message = format!("{name} is an alias of {}", owner.name());
            return Err(Refusal::invalid("name", message));
        }
        match (&definition.like, builtin_model(&key)) {
            (Some(like), None) => {
                // One that is there already keeps its name.
                if is_rule_word(&key) && !self.0.rows.contains_key(&key) {
                    let message = "is a word that rules of groups use for something else";
                    return Err(Refusal::invalid("name", format_args!("{name} {message}")));
                }
                LikeTarget::of(like)
            }
            (Some(_), Some(model)) => Err(super::row::taken(&model.name)),
            (None, Some(model)) if model.name != *name => {
                let message = format!("the built-in model is spelt {}", model.name);
                Err(Refusal::invalid("name", message))
            }
            (None, Some(model)) => {
                check_builtin(definition)?;
                Ok(LikeTarget::of_builtin(model))
            }
            (None, None) => {
                let message = "is required: name a built-in model as family/model or an operation; only the settings of a built-in model go without";
                Err(Refusal::invalid("like", message))
            }
        }
    }

    /// The row of another name that has an alias.
    fn owner_of_alias(&self, alias: &str, own: &str) -> Option<&CatalogueRow> {
        let row = self.0.row(alias)?;
        let key = model_key(row.name());
        (key != own && key != alias).then_some(row)
    }

    fn check_aliases(&self, definition: &ModelDefinition) -> Result<(), Refusal> {
        let own = definition.key();
        let mut seen: Vec<String> = Vec::new();
        for (place, alias) in definition.aliases.iter().enumerate() {
            let refuse =
                |message: String| Err(Refusal::invalid(&format!("aliases[{place}]"), message));
            let key = model_key(alias);
            if !is_name(alias) {
                return refuse(NOT_A_NAME.to_owned());
            }
            if key == own {
                return refuse(format!("{alias} is the name of the model itself"));
            }
            if seen.contains(&key) {
                return refuse(format!("{alias} is there twice"));
            }
            if builtin_model(&key).is_some() {
                return refuse(format!("{alias} is the name of a built-in model"));
            }
            if let Some(owner) = self.owner_of_alias(&key, &own) {
                let owner = owner.name();
                return refuse(format!(
                    "{alias} is an alias of {owner}; an alias of an alias is not possible"
                ));
            }
            if self.0.rows.contains_key(&key) {
                return refuse(format!("{alias} is the name of another model"));
            }
            seen.push(key);
        }
        Ok(())
    }

    fn check_retirement(
        &self,
        definition: &ModelDefinition,
        context: &CheckContext<'_>,
    ) -> Result<(), Refusal> {
        let retires_ms = match &definition.retires {
            None => None,
            Some(text) => Some(date_ms(text).ok_or_else(|| {
                let message = format!(
                    "must be a date such as 2027-01-31 or 2027-01-31T12:00:00Z, is `{text}`"
                );
                Refusal::invalid("retires", message)
            })?),
        };
        let Some(successor) = &definition.successor else {
            return Ok(());
        };
        let refuse = |message: &str| {
            Err(Refusal::invalid(
                "successor",
                format_args!("{successor} {message}"),
            ))
        };
        let key = model_key(successor);
        if key == definition.key() {
            return refuse("is the model itself");
        }
        let Some(row) = self.0.row(&key) else {
            return match builtin_model(&key) {
                Some(_) => Ok(()),
                None => refuse("is no model; GET /admin/v1/models lists them"),
            };
        };
        // It takes over when this one goes, so it must still be there then.
        let takes_over = retires_ms.map_or(context.now_ms, |from| from.max(context.now_ms));
        if row.revision.definition.is_retired(takes_over) {
            return refuse("is itself retired, now or before this model is");
        }
        Ok(())
    }
}

/// The rules of built-in models are the interface's.
fn check_builtin(definition: &ModelDefinition) -> Result<(), Refusal> {
    let stray = [
        ("title", definition.title.is_some()),
        ("fields", !definition.fields.is_empty()),
        ("groups", !definition.groups.is_empty()),
        ("retires", definition.retires.is_some()),
        ("successor", definition.successor.is_some()),
    ];
    match stray.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((field, _)) => {
            let message = "must be left out for a built-in model, which takes routes, enabled, price and aliases";
            Err(Refusal::invalid(field, message))
        }
    }
}

fn check_routes(
    before: &ModelDefinition,
    definition: &ModelDefinition,
    context: &CheckContext<'_>,
) -> Result<(), Refusal> {
    let mut seen: Vec<String> = Vec::new();
    for (place, route) in definition.routes.iter().enumerate() {
        let backend = route.backend.as_str();
        let refuse = |message: &str| {
            let field = format!("routes[{place}].backend");
            Err(Refusal::invalid(
                &field,
                format_args!("{backend} {message}"),
            ))
        };
        let was_there = before.routes.iter().any(|old| old.backend == backend);
        let id = match (context.backends)(backend) {
            Some(id) => id,
            None if was_there => backend.to_owned(),
            None => return refuse("is no back end; GET /admin/v1/backends lists them"),
        };
        if seen.contains(&id) {
            return refuse("has a route already; a back end has one name for the model");
        }
        seen.push(id);
    }
    Ok(())
}

fn check_groups(definition: &ModelDefinition) -> Result<(), Refusal> {
    for (place, group) in definition.groups.iter().enumerate() {
        if definition.groups[..place].contains(group) {
            let field = format!("groups[{place}]");
            return Err(Refusal::invalid(
                &field,
                format_args!("{group} is there twice"),
            ));
        }
    }
    Ok(())
}
