//! A change of a model before it is written: read, held against what is stored, and refused with its field where it does not fit.

use atelier_contract::body::Fields;
use atelier_contract::models::{ModelCatalogue, ModelDefinition, model_key};
use atelier_contract::pages::patch::Patch;
use atelier_contract::{Code, Refusal};
use serde_json::Value;

use crate::model_revisions::StoredModel;

/// Everything that was stored at one moment.
pub(super) struct SeenModels {
    pub(super) edition: Option<String>,
    /// The latest revision of every model, of removed ones as well.
    pub(super) rows: Vec<StoredModel>,
    pub(super) catalogue: ModelCatalogue,
}

impl SeenModels {
    pub(super) fn new(edition: Option<String>, rows: Vec<StoredModel>) -> Self {
        let revisions = rows.iter().map(|one| one.row.clone()).collect();
        Self {
            edition,
            catalogue: ModelCatalogue::new(revisions),
            rows,
        }
    }

    /// The latest revision of a model, be it removed or not.
    pub(super) fn latest(&self, name: &str) -> Option<&StoredModel> {
        self.rows.iter().find(|one| one.is_named(name))
    }

    /// The same, for whoever needs nothing else.
    pub(super) fn take(&mut self, name: &str) -> Option<StoredModel> {
        let place = self.rows.iter().position(|one| one.is_named(name))?;
        Some(self.rows.swap_remove(place))
    }

    /// A model that is there, at the revision that a change of it was made on, if one is named.
    pub(super) fn current(
        &self,
        name: &str,
        made_on: Option<u32>,
    ) -> Result<&StoredModel, Refusal> {
        let found = self.latest(name).filter(|one| !one.row.removed);
        let found = found.ok_or_else(|| absent(name))?;
        let revision = found.row.revision;
        match made_on {
            Some(made_on) if made_on != revision => {
                let name = &found.row.definition.name;
                let message = format!(
                    "the model {name} is at revision {revision} now, not {made_on}; look at it and make the change on that"
                );
                Err(Refusal::field(Code::Conflict, "revision", message))
            }
            _ => Ok(found),
        }
    }
}

/// A new model; one that is there already is not made again.
pub(super) fn read_new(seen: &SeenModels, fields: Fields) -> Result<ModelDefinition, Refusal> {
    let definition = Patch::<ModelDefinition>::new(fields).made()?;
    let there = seen.latest(&definition.name).filter(|one| !one.row.removed);
    if let Some(there) = there {
        let message = format!(
            "the model {} is there already, at revision {}; change it instead",
            there.row.definition.name, there.row.revision
        );
        return Err(Refusal::field(Code::Conflict, "name", message));
    }
    Ok(definition)
}

/// A model that is there, and what some fields make of it.
pub(super) fn read_change<'a>(
    seen: &'a SeenModels,
    name: &str,
    mut fields: Fields,
    made_on: Option<u32>,
) -> Result<(&'a StoredModel, ModelDefinition), Refusal> {
    let old = seen.current(name, made_on)?;
    empty_nulls(&mut fields);
    let definition = Patch::<ModelDefinition>::new(fields).over(&old.row.definition)?;
    if definition.key() != old.row.definition.key() {
        let message =
            "cannot be changed; make another model and name it as the successor of this one";
        return Err(Refusal::invalid("name", message));
    }
    Ok((old, definition))
}

/// Nothing takes a list away; of the other fields a patch knows by itself which it takes away.
fn empty_nulls(fields: &mut Fields) {
    for (name, value) in fields.iter_mut().filter(|(_, value)| value.is_null()) {
        match name.as_str() {
            "aliases" | "routes" | "groups" => *value = Value::Array(Vec::new()),
            "fields" => *value = Value::Object(Fields::new()),
            "enabled" => *value = Value::Bool(true),
            _ => {}
        }
    }
}

/// The revision that a change was made on, which is no field of a model; `least` is that of what nobody has changed yet.
pub(in crate::admin) fn take_revision(
    fields: &mut Fields,
    least: u32,
) -> Result<Option<u32>, Refusal> {
    let Some(value) = fields.remove("revision") else {
        return Ok(None);
    };
    if value.is_null() {
        return Ok(None);
    }
    let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
    let number = number.filter(|number| *number >= least);
    number.map(Some).ok_or_else(|| {
        let message = "the revision that the change was made on";
        Refusal::invalid(
            "revision",
            format_args!("must be a whole number from {least}: {message}"),
        )
    })
}

/// What is told of a model that is not there.
pub(super) fn absent(name: &str) -> Refusal {
    let message = format!("there is no model {}", model_key(name));
    Refusal::new(Code::NotFound, message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn revision(value: &Value) -> Result<Option<u32>, Refusal> {
        let fields = json!({ "revision": value, "title": "x" });
        let mut fields = fields.as_object().expect("an object").clone();
        let found = take_revision(&mut fields, 1);
        assert!(!fields.contains_key("revision"), "no field of a model");
        found
    }

    #[test]
    fn a_revision_is_a_whole_number_or_not_there() {
        assert_eq!(revision(&json!(3)), Ok(Some(3)));
        assert_eq!(revision(&Value::Null), Ok(None));
        for wrong in [
            json!(0),
            json!(-1),
            json!(1.5),
            json!("3"),
            json!(1_u64 << 40),
        ] {
            let refused = revision(&wrong).expect_err("no revision");
            assert_eq!(refused.field.as_deref(), Some("revision"));
        }
    }

    #[test]
    fn nothing_takes_a_list_away() {
        let fields = json!({ "routes": null, "fields": null, "enabled": null, "title": null });
        let mut fields = fields.as_object().expect("an object").clone();
        empty_nulls(&mut fields);
        let wanted = json!({ "routes": [], "fields": {}, "enabled": true, "title": null });
        assert_eq!(Value::Object(fields), wanted);
    }
}
