//! The operator's models: listed, made, changed, removed and declared. Every change is one commit with its audit row and adds
//! revisions; what jobs were accepted with stays as it was. Other nodes look when they hear of it, or within a second.

mod declare;
mod draft;
mod preview;
mod route_health;
mod stop_loss;

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use atelier_contract::body::Fields;
use atelier_contract::models::{
    CheckContext, DEFAULT_GROUP, ModelCatalogue, ModelDefinition, ModelRevision,
};
use atelier_contract::pages::models::ModelPreview;
use atelier_contract::{Code, Refusal};
use atelier_store::{AuditRow, BackendRow, RevisionChange, RevisionDraft, RevisionOutcome};

use super::groups::Groups;
use super::prices::Prices;
use super::registry::{CROSSED_MOST, crossed, older_node};
use crate::assets::Assets;
use crate::context::{Context, unavailable};
use crate::crash;
use crate::hint::Hint;
use crate::model_revisions::{ModelRevisions, StoredModel, stored_definition};
use crate::runner::{Runner, WorkerReport};
use draft::{SeenModels, absent, read_change, read_new};

pub(super) use draft::take_revision;
pub use route_health::RouteHealth;

/// Groups that a refusal names at most.
const GROUPS_NAMED: usize = 50;

/// A model as operators see it.
#[derive(Clone, Debug)]
pub struct ModelReport {
    /// What was written last.
    pub row: ModelRevision,
    /// Whether it is as the configuration declares it.
    pub declared: bool,
    /// How each of its routes is, in order.
    pub route_health: Vec<RouteHealth>,
}

/// What an operator would do with a model.
#[derive(Clone, Debug)]
pub enum ModelEdit {
    /// Make one of these fields.
    Create(Fields),
    /// Change some fields of one.
    Change { name: String, fields: Fields },
    /// Take one away.
    Remove { name: String },
}

/// The operator's models.
pub struct Models {
    context: Arc<Context>,
    runner: Arc<Runner>,
    assets: Arc<Assets>,
    prices: Arc<Prices>,
    groups: Arc<Groups>,
    revisions: Arc<ModelRevisions>,
    /// What the configuration declares, by lower-case name.
    declared: RwLock<BTreeMap<String, ModelDefinition>>,
}

/// What the operator's models are built from.
pub(super) struct ModelDeps {
    pub(super) context: Arc<Context>,
    pub(super) runner: Arc<Runner>,
    pub(super) assets: Arc<Assets>,
    pub(super) prices: Arc<Prices>,
    pub(super) groups: Arc<Groups>,
    pub(super) revisions: Arc<ModelRevisions>,
}

impl Models {
    pub(super) fn new(deps: ModelDeps) -> Self {
        Self {
            context: deps.context,
            runner: deps.runner,
            assets: deps.assets,
            prices: deps.prices,
            groups: deps.groups,
            revisions: deps.revisions,
            declared: RwLock::default(),
        }
    }

    /// The models in force here; the same snapshot until something changes.
    pub fn catalogue(&self) -> Arc<ModelCatalogue> {
        self.revisions.catalogue()
    }

    /// Takes over the models as they are stored.
    pub async fn load(&self) -> Result<(), atelier_store::Error> {
        self.revisions.load().await
    }

    /// Looks whether another node changed models, and takes them over.
    pub async fn step(&self) -> Result<(), atelier_store::Error> {
        self.revisions.load().await
    }

    /// The models that are there, as operators described them.
    pub async fn definitions(&self) -> Result<Vec<ModelDefinition>, Refusal> {
        let rows = self.seen().await?.rows.into_iter().map(|one| one.row);
        let there = rows.filter(|row| !row.removed);
        Ok(there.map(|row| row.definition).collect())
    }

    /// Every model that is there, by name.
    pub async fn list(&self) -> Result<Vec<ModelReport>, Refusal> {
        let (seen, backends) = tokio::try_join!(self.seen(), self.backends())?;
        let there = seen.rows.into_iter().filter(|one| !one.row.removed);
        let reports = self.runner.workers().reports();
        Ok(there.map(|one| report(one, &backends, &reports)).collect())
    }

    /// One model, by its name.
    pub async fn one(&self, name: &str) -> Result<ModelReport, Refusal> {
        let (mut seen, backends) = tokio::try_join!(self.seen(), self.backends())?;
        let found = seen.take(name).filter(|one| !one.row.removed);
        let found = found.ok_or_else(|| absent(name))?;
        Ok(report(found, &backends, &self.runner.workers().reports()))
    }

    /// Makes a model.
    pub async fn create(&self, by: &str, fields: Fields) -> Result<ModelReport, Refusal> {
        for _ in 0..CROSSED_MOST {
            let seen = self.seen().await?;
            let definition = read_new(&seen, fields.clone())?;
            self.check(&seen.catalogue, None, &definition).await?;
            self.check_groups(None, &definition).await?;
            let name = definition.name.clone();
            let like = definition.like.clone().unwrap_or_default();
            let draft = RevisionDraft {
                definition: stored_definition(&definition, false),
                name: definition.name,
                removed: false,
                expected_revision: None,
            };
            let act = self.context.act(by, "model.create", &name, like);
            if self.append(&seen, vec![draft], act).await? {
                return self.one(&name).await;
            }
        }
        Err(crossed())
    }

    /// Changes some fields of a model. `revision` among them is the one that the change was made on: when the model has another
    /// one by now, nothing is changed.
    pub async fn change(
        &self,
        by: &str,
        name: &str,
        mut fields: Fields,
    ) -> Result<ModelReport, Refusal> {
        let made_on = take_revision(&mut fields, 1)?;
        let names: Vec<&str> = fields.keys().map(String::as_str).collect();
        let names = names.join(" ");
        for _ in 0..CROSSED_MOST {
            let seen = self.seen().await?;
            let (old, definition) = read_change(&seen, name, fields.clone(), made_on)?;
            if definition == old.row.definition {
                return self.one(name).await;
            }
            let before = Some(&old.row.definition);
            self.check(&seen.catalogue, before, &definition).await?;
            self.check_groups(before, &definition).await?;
            let draft = RevisionDraft {
                definition: stored_definition(&definition, false),
                name: definition.name,
                removed: false,
                expected_revision: Some(old.row.revision),
            };
            let act = self.context.act(by, "model.change", name, names.clone());
            if self.append(&seen, vec![draft], act).await? {
                return self.one(name).await;
            }
        }
        Err(crossed())
    }

    /// Takes a model away, as it was at a revision if one is named. What the configuration declares under that name is in force
    /// again; the answer is the model as it is from now on.
    pub async fn remove(
        &self,
        by: &str,
        name: &str,
        made_on: Option<u32>,
    ) -> Result<ModelReport, Refusal> {
        for _ in 0..CROSSED_MOST {
            let (seen, backends) = tokio::try_join!(self.seen(), self.backends())?;
            let old = seen.current(name, made_on)?.clone();
            let row = self.removal(&old)?;
            let declared = !row.removed;
            let draft = RevisionDraft {
                name: row.definition.name.clone(),
                definition: stored_definition(&row.definition, declared),
                removed: row.removed,
                expected_revision: Some(old.row.revision),
            };
            let act = self.context.act(by, "model.remove", name, "");
            if self.append(&seen, vec![draft], act).await? {
                let now = StoredModel { row, declared };
                return Ok(report(now, &backends, &self.runner.workers().reports()));
            }
        }
        Err(crossed())
    }

    /// What the latest jobs would have cost with a change, and which of them would have been refused. Nothing is changed.
    pub async fn preview(&self, edit: ModelEdit) -> Result<ModelPreview, Refusal> {
        let seen = self.seen().await?;
        let mut before = None;
        let row = match edit {
            ModelEdit::Create(fields) => {
                let definition = read_new(&seen, fields)?;
                let revision = seen
                    .latest(&definition.name)
                    .map_or(0, |old| old.row.revision);
                self.next(definition, revision)
            }
            ModelEdit::Change { name, mut fields } => {
                let made_on = take_revision(&mut fields, 1)?;
                let (old, definition) = read_change(&seen, &name, fields, made_on)?;
                before = Some(&old.row.definition);
                self.next(definition, old.row.revision)
            }
            ModelEdit::Remove { name } => self.removal(seen.current(&name, None)?)?,
        };
        if !row.removed {
            self.check(&seen.catalogue, before, &row.definition).await?;
            self.check_groups(before, &row.definition).await?;
        }
        let changed = seen.catalogue.with(row);
        let tariff = self.prices.tariff();
        let previewer = preview::Previewer {
            context: &self.context,
            assets: &self.assets,
            tariff: &tariff,
            groups: &self.groups,
            now: &seen.catalogue,
            changed: &changed,
        };
        previewer.preview().await
    }

    /// Takes over what the configuration declares, in one commit; what it no longer declares is removed, unless an operator has
    /// changed it since. Nothing is written when nothing is different. A row that an operator wrote wins.
    pub async fn declare(&self, declared: Vec<ModelDefinition>) -> Result<(), Refusal> {
        let by_name = declare::by_name(&declared)?;
        *self
            .declared
            .write()
            .unwrap_or_else(PoisonError::into_inner) = by_name;
        for _ in 0..CROSSED_MOST {
            let seen = self.seen().await?;
            let plan = declare::plan(&seen, &declared, self.context.now_ms());
            for (place, definition) in plan.unchecked {
                let checked = self.check(&plan.catalogue, None, definition).await;
                checked.map_err(|refusal| declare::in_list(refusal, place))?;
                // Groups are made by operators, who cannot before the service runs.
                if let Err(refusal) = self.check_groups(None, definition).await {
                    let refusal = declare::in_list(refusal, place);
                    tracing::warn!(model = definition.name, "{}", refusal.message);
                }
            }
            if plan.drafts.is_empty() {
                return self.load().await.map_err(unavailable);
            }
            let names: Vec<&str> = plan.drafts.iter().map(|one| &*one.name).collect();
            let names = names.join(" ");
            let act = self
                .context
                .act(declare::BY, "models.declare", "models", names);
            if self.append(&seen, plan.drafts, act).await? {
                return Ok(());
            }
        }
        Err(crossed())
    }

    /// Everything that is stored, as one change may go by it.
    async fn seen(&self) -> Result<SeenModels, Refusal> {
        // The edition is read first: what changes in between is noticed when the change is written.
        let edition = self.revisions.stored_edition().await.map_err(unavailable)?;
        let rows = self.revisions.rows().await.map_err(unavailable)?;
        Ok(SeenModels::new(edition, rows))
    }

    /// The operator's back ends.
    async fn backends(&self) -> Result<Vec<BackendRow>, Refusal> {
        let rows = self.context.store().workers().backends().await;
        let mut rows = rows.map_err(unavailable)?;
        rows.retain(|row| row.owner.is_none());
        Ok(rows)
    }

    /// Refuses a definition that does not fit, with its field. What is as it was before a change is not asked again.
    async fn check(
        &self,
        catalogue: &ModelCatalogue,
        before: Option<&ModelDefinition>,
        definition: &ModelDefinition,
    ) -> Result<(), Refusal> {
        let backends = self.backends().await?;
        let reports = self.runner.workers().reports();
        let context = CheckContext {
            backends: &|name| route_health::id_of(name, &backends, &reports).map(str::to_owned),
            now_ms: self.context.now_ms(),
        };
        match before {
            Some(before) => catalogue.check_change(before, definition, &context),
            None => catalogue.check(definition, &context),
        }
    }

    /// Refuses a group that is not there; one that was named before may have gone since.
    async fn check_groups(
        &self,
        before: Option<&ModelDefinition>,
        definition: &ModelDefinition,
    ) -> Result<(), Refusal> {
        let is_new = |name: &String| before.is_none_or(|before| !before.groups.contains(name));
        let named = definition.groups.iter().enumerate();
        let named: Vec<_> = named.filter(|(_, name)| is_new(name)).collect();
        if named.is_empty() {
            return Ok(());
        }
        self.groups.load().await.map_err(unavailable)?;
        let groups = self.groups.current();
        let is_there =
            |name: &str| name.eq_ignore_ascii_case(DEFAULT_GROUP) || groups.find(name).is_some();
        let missing = named.into_iter().find(|(_, name)| !is_there(name));
        let Some((place, name)) = missing else {
            return Ok(());
        };
        let others = groups.names().filter(|name| *name != DEFAULT_GROUP);
        let there: Vec<&str> = [DEFAULT_GROUP]
            .into_iter()
            .chain(others)
            .take(GROUPS_NAMED)
            .collect();
        let message = format!("there is no group {name}, there are {}", there.join(", "));
        Err(Refusal::invalid(&format!("groups[{place}]"), message))
    }

    /// What is written to take a model away: what the configuration declares instead of an operator's row, or its end.
    fn removal(&self, old: &StoredModel) -> Result<ModelRevision, Refusal> {
        let declared = self.declared.read().unwrap_or_else(PoisonError::into_inner);
        let definition = &old.row.definition;
        let underneath = declared.get(&definition.key());
        if underneath.is_some() && old.declared {
            let message = format!(
                "{} is declared in the configuration; take it out there, or set enabled to false here",
                definition.name
            );
            return Err(Refusal::new(Code::Conflict, message));
        }
        let next = underneath.unwrap_or(definition).clone();
        Ok(ModelRevision {
            removed: underneath.is_none(),
            ..self.next(next, old.row.revision)
        })
    }

    /// The revision after another one.
    fn next(&self, definition: ModelDefinition, revision: u32) -> ModelRevision {
        ModelRevision {
            definition,
            revision: revision + 1,
            removed: false,
            changed_ms: self.context.now_ms(),
        }
    }

    /// Writes revisions down, all or none, and tells everybody; false when something else was changed since it was looked at.
    async fn append(
        &self,
        seen: &SeenModels,
        drafts: Vec<RevisionDraft>,
        act: AuditRow,
    ) -> Result<bool, Refusal> {
        let change = RevisionChange {
            drafts,
            seen_edition: seen.edition.clone(),
            seen_beside: None,
            edition: act.id.clone(),
            changed_ms: self.context.now_ms(),
            alive_since_ms: self.context.alive_since_ms(),
        };
        let models = self.context.store().models();
        match models
            .append(change, Some(act))
            .await
            .map_err(unavailable)?
        {
            RevisionOutcome::Written(_) => {}
            // Whoever named a revision finds another one at the next look; nothing of the store is said to use a model.
            RevisionOutcome::Crossed
            | RevisionOutcome::Conflict { .. }
            | RevisionOutcome::InUse { .. } => return Ok(false),
            RevisionOutcome::OlderNode(node) => {
                return Err(older_node(&node, "knows no models"));
            }
        }
        crash::point("admin.acted");
        self.load().await.map_err(unavailable)?;
        self.context.broadcast(Hint::Models);
        Ok(true)
    }
}

/// A model as operators see it.
fn report(model: StoredModel, backends: &[BackendRow], reports: &[WorkerReport]) -> ModelReport {
    let definition = &model.row.definition;
    let routes = definition.routes.iter();
    let health = |route| route_health::health(definition, route, backends, reports);
    ModelReport {
        route_health: routes.map(health).collect(),
        row: model.row,
        declared: model.declared,
    }
}
