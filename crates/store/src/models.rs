//! Models of the catalogue. A revision is only ever added, so that every job finds the one it was accepted with.

use crate::Result;
use crate::audit::AuditRow;
use crate::audited_change;
use crate::db::{Conn, args};
use crate::first_use::{self, FirstUse};
use crate::migrate::MODELS;
use crate::row::{Columns, FromRow};
use crate::store_core::StoreCore;

/// The setting that is different after every change of models, so that a look costs one row.
pub const MODEL_EDITION: &str = "model_edition";

/// One revision of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelRow {
    /// Its name as the operator wrote it; there is one model for all ways to write it in large and small letters.
    pub name: String,
    /// Counts from 1, and goes on when a removed model comes back.
    pub revision: u32,
    /// What the operator wrote, as JSON.
    pub definition: String,
    /// Whether the model ends with this revision.
    pub removed: bool,
    pub changed_ms: i64,
}

const COLUMNS: &str =
    "model.name, model.revision, model.definition, model.removed, model.changed_ms";

impl FromRow for ModelRow {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            name: columns.text()?,
            revision: columns.int()? as u32,
            definition: columns.text()?,
            removed: columns.flag()?,
            changed_ms: columns.int()?,
        })
    }
}

/// What a model becomes.
#[derive(Clone, Debug)]
pub struct ModelDraft {
    pub name: String,
    /// What the operator wrote, as JSON; of a model that is removed, what was written last.
    pub definition: String,
    pub removed: bool,
    /// The latest revision; `None` where there is no such model, or none any more.
    pub expected_revision: Option<u32>,
}

/// Changes of models that belong together: one commit, all or none.
#[derive(Clone, Debug)]
pub struct ModelChange {
    pub drafts: Vec<ModelDraft>,
    /// The edition of the models that the drafts were checked against: names and aliases of two models may collide.
    pub seen_edition: Option<String>,
    /// The edition from now on.
    pub edition: String,
    pub changed_ms: i64,
    /// Nodes that were heard of since then may be at work.
    pub alive_since_ms: i64,
}

/// What became of a [`ModelChange`]. Nothing has changed unless it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelOutcome {
    /// The new revisions, in the order of the drafts.
    Written(Vec<u32>),
    /// A model is not as it was expected to be.
    Conflict {
        name: String,
        /// Its latest revision; 0 where there is none.
        revision: u32,
    },
    /// Models are of another edition than the one that was seen.
    Crossed,
    /// There is no model yet, and a node is at work whose program knows of none.
    OlderNode(String),
}

/// Models of the catalogue, with all their revisions.
#[derive(Clone, Copy, Debug)]
pub struct Models<'a>(pub(crate) &'a StoreCore);

impl Models<'_> {
    /// The latest revision of every model by name, of removed ones as well.
    pub async fn current(self) -> Result<Vec<ModelRow>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM model WHERE model.revision = \
             (SELECT MAX(other.revision) FROM model AS other WHERE other.name_key = model.name_key) \
             ORDER BY model.name_key"
        );
        self.0.db.all(&sql, &[]).await
    }

    /// A revision of a model.
    pub async fn revision(self, name: &str, revision: u32) -> Result<Option<ModelRow>> {
        let sql = format!("SELECT {COLUMNS} FROM model WHERE name_key = $1 AND revision = $2");
        let key = key(name);
        let values = args![&key, i64::from(revision)];
        self.0.db.maybe(&sql, values).await
    }

    /// The latest revisions of a model, newest first.
    pub async fn history(self, name: &str, limit: i64) -> Result<Vec<ModelRow>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM model WHERE name_key = $1 ORDER BY revision DESC LIMIT $2"
        );
        self.0.db.all(&sql, args![&key(name), limit]).await
    }

    /// Adds revisions of models, all or none, together with the edition and the act of whoever did it.
    pub async fn append(self, change: ModelChange, act: Option<AuditRow>) -> Result<ModelOutcome> {
        audited_change::run(
            self.0,
            change,
            act,
            |conn, change| Box::pin(append(conn, change)),
            |outcome| matches!(outcome, ModelOutcome::Written(_)),
        )
        .await
    }
}

/// What names are compared by.
fn key(name: &str) -> String {
    name.to_ascii_lowercase()
}

async fn append(conn: &mut Conn, change: &ModelChange) -> Result<ModelOutcome> {
    // Whoever else changes models waits here, so that everything can be looked at before anything is written.
    let is_first = match first_use::look(conn, MODELS, change.alive_since_ms).await? {
        FirstUse::OlderNode(node) => return Ok(ModelOutcome::OlderNode(node)),
        FirstUse::Free => true,
        FirstUse::Known => false,
    };
    let edition: Option<String> = conn.maybe(EDITION, args![MODEL_EDITION]).await?;
    if edition != change.seen_edition {
        return Ok(ModelOutcome::Crossed);
    }
    let mut revisions = Vec::with_capacity(change.drafts.len());
    for draft in &change.drafts {
        let latest: Option<ModelRow> = conn.maybe(&latest(), args![&key(&draft.name)]).await?;
        let revision = latest.as_ref().map_or(0, |row| row.revision);
        let stands = latest.filter(|row| !row.removed || draft.expected_revision.is_some());
        if stands.map(|row| row.revision) != draft.expected_revision {
            let name = draft.name.clone();
            return Ok(ModelOutcome::Conflict { name, revision });
        }
        revisions.push(revision + 1);
    }
    for (draft, revision) in change.drafts.iter().zip(&revisions) {
        let key = key(&draft.name);
        let values = args![
            &key,
            i64::from(*revision),
            &draft.name,
            &draft.definition,
            draft.removed,
            change.changed_ms
        ];
        conn.run(INSERT, values).await?;
    }
    if is_first {
        first_use::narrow(conn, MODELS).await?;
    }
    let edition = args![MODEL_EDITION, &change.edition];
    conn.run(SET_EDITION, edition).await?;
    Ok(ModelOutcome::Written(revisions))
}

fn latest() -> String {
    format!("SELECT {COLUMNS} FROM model WHERE name_key = $1 ORDER BY revision DESC LIMIT 1")
}

const EDITION: &str = "SELECT value FROM setting WHERE name = $1";

const INSERT: &str = "INSERT INTO model (name_key, revision, name, definition, removed, changed_ms) \
     VALUES ($1, $2, $3, $4, $5, $6)";

const SET_EDITION: &str = "INSERT INTO setting (name, value) VALUES ($1, $2) \
     ON CONFLICT (name) DO UPDATE SET value = excluded.value";
