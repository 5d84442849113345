//! A change of a group before it is written: read, and held against what is stored.

use atelier_contract::body::Fields;
use atelier_contract::groups::{GroupDefinition, GroupRevision};
use atelier_contract::models::DEFAULT_GROUP;
use atelier_contract::pages::patch::Patch;
use atelier_contract::{Code, Refusal};
use serde_json::Value;

pub(super) use crate::admin::models::take_revision;

/// Everything that was stored at one moment, and the group that is always there.
pub(super) struct SeenGroups {
    pub(super) edition: Option<String>,
    /// The latest revision of every group, of removed ones as well.
    pub(super) rows: Vec<GroupRevision>,
}

impl SeenGroups {
    pub(super) fn new(edition: Option<String>, mut rows: Vec<GroupRevision>) -> Self {
        if !rows.iter().any(|row| row.definition.name == DEFAULT_GROUP) {
            rows.push(GroupRevision {
                definition: GroupDefinition::named(DEFAULT_GROUP),
                revision: 0,
                removed: false,
                changed_ms: 0,
            });
            rows.sort_by(|one, other| one.definition.name.cmp(&other.definition.name));
        }
        Self { edition, rows }
    }

    /// A group that is there, at the revision that a change of it was made on, if one is named.
    pub(super) fn current(
        &self,
        name: &str,
        made_on: Option<u32>,
    ) -> Result<&GroupRevision, Refusal> {
        let mut there = self.rows.iter().filter(|row| !row.removed);
        let found = there.find(|row| row.definition.name.eq_ignore_ascii_case(name));
        let found = found.ok_or_else(|| absent(name))?;
        match made_on {
            Some(made_on) if made_on != found.revision => {
                let message = format!(
                    "the group {} is at revision {} now, not {made_on}; look at it and make the change on that",
                    found.definition.name, found.revision
                );
                Err(Refusal::field(Code::Conflict, "revision", message))
            }
            _ => Ok(found),
        }
    }
}

/// Groups that one installation may have.
const GROUPS_MOST: usize = 1_000;

/// A new group; one that is there already is not made again.
pub(super) fn read_new(seen: &SeenGroups, fields: Fields) -> Result<GroupDefinition, Refusal> {
    let definition = Patch::<GroupDefinition>::new(fields).made()?;
    if let Ok(there) = seen.current(&definition.name, None) {
        let message = format!(
            "the group {} is there already; change it instead",
            there.definition.name
        );
        return Err(Refusal::field(Code::Conflict, "name", message));
    }
    if seen.rows.iter().filter(|row| !row.removed).count() >= GROUPS_MOST {
        let message = format_args!("there are {GROUPS_MOST} groups already; remove one first");
        return Err(Refusal::invalid("name", message));
    }
    Ok(definition)
}

/// A group that is there, and what some fields make of it.
pub(super) fn read_change<'a>(
    seen: &'a SeenGroups,
    name: &str,
    mut fields: Fields,
    made_on: Option<u32>,
) -> Result<(&'a GroupRevision, GroupDefinition), Refusal> {
    let old = seen.current(name, made_on)?;
    if let Some(rules) = fields.get_mut("rules").filter(|rules| rules.is_null()) {
        *rules = Value::Array(Vec::new());
    }
    let definition = Patch::<GroupDefinition>::new(fields).over(&old.definition)?;
    if definition.name != old.definition.name {
        let message = "cannot be changed; make another group and move the accounts";
        return Err(Refusal::invalid("name", message));
    }
    Ok((old, definition))
}

/// What is told of a group that is not there.
pub(super) fn absent(name: &str) -> Refusal {
    let message = format!("there is no group {}", name.to_ascii_lowercase());
    Refusal::new(Code::NotFound, message)
}
