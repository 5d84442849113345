//! Groups of accounts and their prices: listed, made, changed and removed, and asked about before. Every change is one commit with
//! its audit row and adds a revision. Other nodes look when they hear of it, or within a second.

mod draft;
mod preview;

use std::sync::{Arc, PoisonError, RwLock};

use atelier_contract::body::Fields;
use atelier_contract::groups::{GroupDefinition, GroupRevision, PriceGroup, PriceGroups, day_ms};
use atelier_contract::models::DEFAULT_GROUP;
use atelier_contract::pages::price_groups::GroupPreview;
use atelier_contract::{Code, Refusal};
use atelier_store::{
    GROUP_EDITION, RevisionChange, RevisionDraft, RevisionOutcome, RevisionRow, SeenEdition,
};

use super::prices::Prices;
use super::registry::{CROSSED_MOST, crossed, older_node};
use crate::assets::Assets;
use crate::context::{Context, unavailable};
use crate::crash;
use crate::hint::Hint;
use crate::model_revisions::ModelRevisions;
use draft::{SeenGroups, absent, read_change, read_new, take_revision};

/// The current groups, and what was read of them last.
#[derive(Default)]
struct CurrentGroups {
    groups: Arc<PriceGroups>,
    edition: Option<String>,
}

/// A group as operators see it.
#[derive(Clone, Debug)]
pub struct GroupReport {
    /// What was written last.
    pub row: GroupRevision,
    /// How many accounts it has; `None` of the one that all begin in.
    pub accounts: Option<i64>,
}

/// What an operator would do with a group.
#[derive(Clone, Debug)]
pub enum GroupEdit {
    /// Make one of these fields.
    Create(Fields),
    /// Change some fields of one.
    Change { name: String, fields: Fields },
}

/// Groups of accounts.
pub struct Groups {
    context: Arc<Context>,
    assets: Arc<Assets>,
    prices: Arc<Prices>,
    models: Arc<ModelRevisions>,
    current: RwLock<CurrentGroups>,
}

impl Groups {
    pub(crate) fn new(
        context: Arc<Context>,
        assets: Arc<Assets>,
        prices: Arc<Prices>,
        models: Arc<ModelRevisions>,
    ) -> Arc<Self> {
        Arc::new(Self {
            context,
            assets,
            prices,
            models,
            current: RwLock::default(),
        })
    }

    /// The groups in force here; the same snapshot until something changes.
    pub fn current(&self) -> Arc<PriceGroups> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&current.groups)
    }

    /// The group of an account, by the name in its row. One that another node has just made is looked for.
    pub async fn of(&self, name: Option<&str>) -> Result<Option<Arc<PriceGroup>>, Refusal> {
        let found = self.current().find(name.unwrap_or(DEFAULT_GROUP)).cloned();
        if found.is_some() || name.is_none() {
            return Ok(found);
        }
        self.load().await.map_err(unavailable)?;
        Ok(name.and_then(|name| self.current().find(name).cloned()))
    }

    /// Takes over the groups as they are stored.
    pub async fn load(&self) -> Result<(), atelier_store::Error> {
        // The edition is read first: groups that change in between are looked at once more.
        let edition = self.stored_edition().await?;
        if edition == self.edition() {
            return Ok(());
        }
        let groups = PriceGroups::new(self.rows().await?);
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        *current = CurrentGroups {
            groups: Arc::new(groups),
            edition,
        };
        Ok(())
    }

    /// Every group that is there, by name.
    pub async fn list(&self) -> Result<Vec<GroupReport>, Refusal> {
        let seen = self.seen().await?;
        let sizes = self.context.store().groups().sizes().await;
        let sizes = sizes.map_err(unavailable)?;
        let there = seen.rows.into_iter().filter(|row| !row.removed);
        let reports = there.map(|row| {
            let name = &row.definition.name;
            let mut sizes = sizes.iter();
            let size = sizes.find(|size| size.key == *name);
            let accounts = size.map_or(0, |size| size.accounts);
            GroupReport {
                accounts: (name != DEFAULT_GROUP).then_some(accounts),
                row,
            }
        });
        Ok(reports.collect())
    }

    /// One group, by its name.
    pub async fn one(&self, name: &str) -> Result<GroupReport, Refusal> {
        let mut reports = self.list().await?.into_iter();
        let found = reports.find(|one| one.row.definition.name.eq_ignore_ascii_case(name));
        found.ok_or_else(|| absent(name))
    }

    /// Makes a group.
    pub async fn create(&self, by: &str, fields: Fields) -> Result<GroupReport, Refusal> {
        for _ in 0..CROSSED_MOST {
            let seen = self.seen().await?;
            let definition = read_new(&seen, fields.clone())?;
            self.check(&definition, None)?;
            let name = definition.name.clone();
            let rules = rules_of(&definition);
            let act = self.context.act(by, "group.create", &name, rules);
            let draft = drafted(definition, None);
            if self.append(&seen, draft, act, None).await? {
                return self.one(&name).await;
            }
        }
        Err(crossed())
    }

    /// Changes some fields of a group. `revision` among them is the one that the change was made on: when the group has another
    /// one by now, nothing is changed.
    pub async fn change(
        &self,
        by: &str,
        name: &str,
        mut fields: Fields,
    ) -> Result<GroupReport, Refusal> {
        let made_on = take_revision(&mut fields, 0)?;
        for _ in 0..CROSSED_MOST {
            let seen = self.seen().await?;
            let (old, definition) = read_change(&seen, name, fields.clone(), made_on)?;
            if definition == old.definition {
                return self.one(name).await;
            }
            self.check(&definition, Some(&old.definition))?;
            let rules = rules_of(&definition);
            let act = self
                .context
                .act(by, "group.change", &definition.name, rules);
            let expected = Some(old.revision).filter(|revision| *revision > 0);
            let draft = drafted(definition, expected);
            if self.append(&seen, draft, act, None).await? {
                return self.one(name).await;
            }
        }
        Err(crossed())
    }

    /// Takes a group away that no account is in, as it was at a revision if one is named.
    pub async fn remove(
        &self,
        by: &str,
        name: &str,
        made_on: Option<u32>,
    ) -> Result<GroupReport, Refusal> {
        for _ in 0..CROSSED_MOST {
            let seen = self.seen().await?;
            let old = seen.current(name, made_on)?;
            if old.definition.name == DEFAULT_GROUP {
                let message =
                    "cannot be removed: accounts begin in it; take its rules away instead";
                return Err(Refusal::invalid(
                    "name",
                    format_args!("{DEFAULT_GROUP} {message}"),
                ));
            }
            let models = self.check_unnamed(&old.definition.name).await?;
            let act = self
                .context
                .act(by, "group.remove", &old.definition.name, "");
            let draft = RevisionDraft {
                removed: true,
                ..drafted(old.definition.clone(), Some(old.revision))
            };
            if self.append(&seen, draft, act, Some(models)).await? {
                let row = GroupRevision {
                    revision: old.revision + 1,
                    removed: true,
                    changed_ms: self.context.now_ms(),
                    definition: old.definition.clone(),
                };
                let accounts = Some(0);
                return Ok(GroupReport { row, accounts });
            }
        }
        Err(crossed())
    }

    /// What the latest jobs would have cost with other rules, as they are on a day. Nothing is changed.
    pub async fn preview(
        &self,
        edit: GroupEdit,
        at: Option<&str>,
    ) -> Result<GroupPreview, Refusal> {
        let now_ms = self.context.now_ms();
        let at_ms = at.map_or(Some(now_ms), day_ms);
        let at_ms = at_ms.ok_or_else(|| Refusal::invalid("at", "must be a date, YYYY-MM-DD"))?;
        let seen = self.seen().await?;
        let (definition, old) = match edit {
            GroupEdit::Create(fields) => (read_new(&seen, fields)?, None),
            GroupEdit::Change { name, mut fields } => {
                let made_on = take_revision(&mut fields, 0)?;
                let (old, definition) = read_change(&seen, &name, fields, made_on)?;
                (definition, Some(&old.definition))
            }
        };
        self.check(&definition, old)?;
        let sizes = self.context.store().groups().sizes().await;
        let sizes = sizes.map_err(unavailable)?;
        let has_accounts = definition.name == DEFAULT_GROUP
            || sizes.iter().any(|size| size.key == definition.name);
        let previewer = preview::GroupPreviewer {
            context: &self.context,
            assets: &self.assets,
            tariff: &self.prices.tariff(),
            models: &self.models.catalogue(),
            group: PriceGroup::new(GroupRevision {
                definition,
                revision: 0,
                removed: false,
                changed_ms: now_ms,
            }),
            everybody: !has_accounts,
            at_ms,
        };
        previewer.preview().await
    }

    /// Refuses rules that do not fit, with the field.
    fn check(
        &self,
        definition: &GroupDefinition,
        old: Option<&GroupDefinition>,
    ) -> Result<(), Refusal> {
        let (tariff, models) = (self.prices.tariff(), self.models.catalogue());
        definition.check(old, &tariff, &models)
    }

    /// Refuses to remove a group that models are sold to, be they usable or not. They are read as they are stored: another node may
    /// have made one just now. What was looked at is compared in the commit.
    async fn check_unnamed(&self, name: &str) -> Result<SeenEdition, Refusal> {
        // The edition is read first: what changes in between is noticed when the group is removed.
        let edition = self.models.stored_edition().await.map_err(unavailable)?;
        let rows = self.models.rows().await.map_err(unavailable)?;
        let named = rows.iter().filter(|one| !one.row.removed).find(|one| {
            let mut groups = one.row.definition.groups.iter();
            groups.any(|group| group.eq_ignore_ascii_case(name))
        });
        if let Some(one) = named {
            let model = &one.row.definition.name;
            let message = format!("{name} is in use: the model {model} is sold to it");
            return Err(Refusal::field(Code::Conflict, "name", message));
        }
        Ok(SeenEdition(edition))
    }

    /// Writes a revision down and tells everybody; false when something else was changed since it was looked at.
    async fn append(
        &self,
        seen: &SeenGroups,
        draft: RevisionDraft,
        act: atelier_store::AuditRow,
        beside: Option<SeenEdition>,
    ) -> Result<bool, Refusal> {
        let change = RevisionChange {
            drafts: vec![draft],
            seen_edition: seen.edition.clone(),
            seen_beside: beside,
            edition: act.id.clone(),
            changed_ms: self.context.now_ms(),
            alive_since_ms: self.context.alive_since_ms(),
        };
        let groups = self.context.store().groups();
        match groups
            .append(change, Some(act))
            .await
            .map_err(unavailable)?
        {
            RevisionOutcome::Written(_) => {}
            // Whoever named a revision finds another one at the next look.
            RevisionOutcome::Crossed | RevisionOutcome::Conflict { .. } => return Ok(false),
            RevisionOutcome::InUse { name, users } => {
                let message =
                    format!("{name} is in use by {users} accounts or plans; move them first");
                return Err(Refusal::field(Code::Conflict, "name", message));
            }
            RevisionOutcome::OlderNode(node) => {
                return Err(older_node(&node, "knows no groups"));
            }
        }
        crash::point("admin.acted");
        self.load().await.map_err(unavailable)?;
        self.context.broadcast(Hint::Groups);
        Ok(true)
    }

    /// Everything that is stored, as one change may go by it.
    async fn seen(&self) -> Result<SeenGroups, Refusal> {
        // The edition is read first: what changes in between is noticed when the change is written.
        let edition = self.stored_edition().await.map_err(unavailable)?;
        let rows = self.rows().await.map_err(unavailable)?;
        Ok(SeenGroups::new(edition, rows))
    }

    async fn stored_edition(&self) -> Result<Option<String>, atelier_store::Error> {
        self.context.store().settings().get(GROUP_EDITION).await
    }

    /// The latest revision of every group, of removed ones as well.
    async fn rows(&self) -> Result<Vec<GroupRevision>, atelier_store::Error> {
        let rows = self.context.store().groups().current().await?;
        Ok(rows.iter().filter_map(read_row).collect())
    }

    /// What was read last.
    fn edition(&self) -> Option<String> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        current.edition.clone()
    }
}

/// A stored revision; `None` for what only another release can read.
fn read_row(row: &RevisionRow) -> Option<GroupRevision> {
    let (name, revision) = (&row.name, row.revision);
    let unread = |error| tracing::warn!(%error, name, revision, "a stored group cannot be read");
    let definition = serde_json::from_str(&row.definition).map_err(unread).ok()?;
    Some(GroupRevision {
        definition,
        revision,
        removed: row.removed,
        changed_ms: row.changed_ms,
    })
}

fn drafted(definition: GroupDefinition, expected_revision: Option<u32>) -> RevisionDraft {
    RevisionDraft {
        definition: serde_json::to_string(&definition).unwrap_or_default(),
        name: definition.name,
        removed: false,
        expected_revision,
    }
}

/// The rules in one line, for the audit list.
fn rules_of(definition: &GroupDefinition) -> String {
    const MOST: usize = 20;
    let rules = definition.rules.iter().map(ToString::to_string);
    let line = rules.take(MOST).collect::<Vec<_>>().join(", ");
    match definition.rules.len().saturating_sub(MOST) {
        0 => line,
        more => format!("{line} and {more} more"),
    }
}
