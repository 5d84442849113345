//! Models that the configuration declares: the same at every start. They are stored like any other, so that jobs find the revision
//! they were accepted with; a row that an operator wrote wins over them.

use std::collections::{BTreeMap, BTreeSet};

use atelier_contract::Refusal;
use atelier_contract::models::{ModelCatalogue, ModelDefinition, ModelRevision};
use atelier_store::RevisionDraft;

use super::draft::SeenModels;
use crate::model_revisions::{StoredModel, stored_definition};

/// Who declares, in the audit record.
pub(super) const BY: &str = "configuration";

/// What a declaration comes to.
pub(super) struct DeclarePlan<'a> {
    /// What is written down.
    pub(super) drafts: Vec<RevisionDraft>,
    /// What is new or different, with its place in the list: it has to be checked. What is as it was before may start whatever
    /// became of its back ends.
    pub(super) unchecked: Vec<(usize, &'a ModelDefinition)>,
    /// All of them in place, so that they may name each other whatever their order.
    pub(super) catalogue: ModelCatalogue,
}

/// The declared models by lower-case name; no name is there twice.
pub(super) fn by_name(
    declared: &[ModelDefinition],
) -> Result<BTreeMap<String, ModelDefinition>, Refusal> {
    let mut all = BTreeMap::new();
    for (place, definition) in declared.iter().enumerate() {
        let known = all.insert(definition.key(), definition.clone());
        if known.is_some() {
            let message = format!("{} is there twice", definition.name);
            return Err(Refusal::invalid(&format!("models[{place}].name"), message));
        }
    }
    Ok(all)
}

/// What has to be written so that what is stored is as declared.
pub(super) fn plan<'a>(
    seen: &SeenModels,
    declared: &'a [ModelDefinition],
    now_ms: i64,
) -> DeclarePlan<'a> {
    let (mut next, mut unchecked) = (Vec::new(), Vec::new());
    for (place, definition) in declared.iter().enumerate() {
        let old = seen.latest(&definition.name);
        let there = old.filter(|one| !one.row.removed);
        if there.is_some_and(|there| !there.declared || there.row.definition == *definition) {
            continue;
        }
        next.push(following(definition, old, false, now_ms));
        unchecked.push((place, definition));
    }
    let names: BTreeSet<String> = declared.iter().map(ModelDefinition::key).collect();
    for old in &seen.rows {
        let definition = &old.row.definition;
        if old.declared && !old.row.removed && !names.contains(&definition.key()) {
            next.push(following(definition, Some(old), true, now_ms));
        }
    }
    let changed: BTreeSet<String> = next.iter().map(|row| row.definition.key()).collect();
    let rows = seen.rows.iter().map(|one| &one.row);
    let rows = rows.filter(|row| !changed.contains(&row.definition.key()));
    let rows = rows.chain(&next).cloned().collect();
    DeclarePlan {
        drafts: next.iter().map(|row| draft(seen, row)).collect(),
        unchecked,
        catalogue: ModelCatalogue::new(rows),
    }
}

/// The revision that follows what there is.
fn following(
    definition: &ModelDefinition,
    old: Option<&StoredModel>,
    removed: bool,
    now_ms: i64,
) -> ModelRevision {
    ModelRevision {
        definition: definition.clone(),
        revision: old.map_or(0, |one| one.row.revision) + 1,
        removed,
        changed_ms: now_ms,
    }
}

/// What is written down of it.
fn draft(seen: &SeenModels, row: &ModelRevision) -> RevisionDraft {
    let old = seen.latest(&row.definition.name);
    let there = old.filter(|one| !one.row.removed);
    RevisionDraft {
        name: row.definition.name.clone(),
        definition: stored_definition(&row.definition, true),
        removed: row.removed,
        expected_revision: there.map(|one| one.row.revision),
    }
}

/// A refusal with the place of its field in the configuration.
pub(super) fn in_list(refusal: Refusal, place: usize) -> Refusal {
    let Some(field) = &refusal.field else {
        return refusal;
    };
    let whole = format!("models[{place}].{field}");
    let message = match refusal.message.strip_prefix(field.as_str()) {
        Some(rest) => format!("{whole}{rest}"),
        None => refusal.message.clone(),
    };
    Refusal {
        code: refusal.code,
        field: Some(whole),
        message,
        limit: refusal.limit.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(name: &str, title: &str) -> ModelDefinition {
        ModelDefinition {
            title: Some(title.to_owned()),
            like: Some("imgmodel/image-1".to_owned()),
            ..ModelDefinition::named(name)
        }
    }

    fn stored(definition: ModelDefinition, declared: bool, removed: bool) -> StoredModel {
        StoredModel {
            row: ModelRevision {
                definition,
                revision: 4,
                removed,
                changed_ms: 1,
            },
            declared,
        }
    }

    /// What is written of each, as name, whether it is removed, and the revision that is expected.
    fn written(
        rows: Vec<StoredModel>,
        declared: &[ModelDefinition],
    ) -> Vec<(String, bool, Option<u32>)> {
        let seen = SeenModels::new(None, rows);
        let drafts = plan(&seen, declared, 2).drafts.into_iter();
        drafts
            .map(|one| (one.name, one.removed, one.expected_revision))
            .collect()
    }

    #[test]
    fn what_is_new_or_different_is_written_and_what_is_gone_is_removed() {
        let rows = vec![
            stored(definition("same", "x"), true, false),
            stored(definition("changed", "old"), true, false),
            stored(definition("gone", "x"), true, false),
            stored(definition("operators", "x"), false, false),
            stored(definition("overridden", "theirs"), false, false),
            stored(definition("back", "x"), true, true),
        ];
        let declared = ["same", "changed", "overridden", "back", "new"];
        let declared = declared.map(|name| definition(name, "x"));
        assert_eq!(
            written(rows, &declared),
            [
                ("changed".to_owned(), false, Some(4)),
                ("back".to_owned(), false, None),
                ("new".to_owned(), false, None),
                ("gone".to_owned(), true, Some(4)),
            ]
        );
        assert!(written(Vec::new(), &[]).is_empty());
    }

    #[test]
    fn a_refusal_names_the_place_in_the_list() {
        let refusal = in_list(Refusal::invalid("routes[0].backend", "is not there"), 2);
        let field = "models[2].routes[0].backend";
        assert_eq!(refusal.field.as_deref(), Some(field));
        assert_eq!(refusal.message, format!("{field}: is not there"));
        let twice = by_name(&[definition("A", "x"), definition("a", "x")]);
        let twice = twice.expect_err("one name");
        assert_eq!(twice.field.as_deref(), Some("models[1].name"));
    }
}
