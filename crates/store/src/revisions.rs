//! What operators name and change: a revision is only ever added, so that every job finds the one it was accepted with. Programs
//! from before a kind of these need not know it until there is a first one.

use crate::Result;
use crate::db::{Conn, args};
use crate::first_use::{self, FirstUse};
use crate::row::{Columns, FromRow};
use crate::store_core::StoreCore;

/// One revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevisionRow {
    /// The name as the operator wrote it; there is one for all ways to write it in large and small letters.
    pub name: String,
    /// Counts from 1, and goes on when what was removed comes back.
    pub revision: u32,
    /// What the operator wrote, as JSON.
    pub definition: String,
    /// Whether it ends with this revision.
    pub removed: bool,
    pub changed_ms: i64,
}

impl FromRow for RevisionRow {
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

/// What becomes of one name.
#[derive(Clone, Debug)]
pub struct RevisionDraft {
    pub name: String,
    /// What the operator wrote, as JSON; of what is removed, what was written last.
    pub definition: String,
    pub removed: bool,
    /// The latest revision; `None` where there is nothing of that name, or nothing any more.
    pub expected_revision: Option<u32>,
}

/// An edition that was looked at; `None` in it before the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenEdition(pub Option<String>);

/// Changes that belong together: one commit, all or none.
#[derive(Clone, Debug)]
pub struct RevisionChange {
    pub drafts: Vec<RevisionDraft>,
    /// The edition that the drafts were checked against: two of them may collide.
    pub seen_edition: Option<String>,
    /// The edition of what may name these that was looked at as well, for whoever removes one.
    pub seen_beside: Option<SeenEdition>,
    /// The edition from now on.
    pub edition: String,
    pub changed_ms: i64,
    /// Nodes that were heard of since then may be at work.
    pub alive_since_ms: i64,
}

/// What became of a [`RevisionChange`]. Nothing has changed unless it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RevisionOutcome {
    /// The new revisions, in the order of the drafts.
    Written(Vec<u32>),
    /// One is not as it was expected to be.
    Conflict {
        name: String,
        /// Its latest revision; 0 where there is none.
        revision: u32,
    },
    /// They are of another edition than the one that was seen.
    Crossed,
    /// One that is to be removed is used.
    InUse {
        name: String,
        /// By how many.
        users: i64,
    },
    /// There is none yet, and a node is at work whose program knows of none.
    OlderNode(String),
}

/// Where revisions of a kind are kept.
pub(crate) struct RevisionTable {
    pub(crate) table: &'static str,
    /// The migration that made it.
    pub(crate) migration: &'static str,
    /// The setting that is different after every change, so that a look costs one row.
    pub(crate) edition: &'static str,
    /// The migration and the edition of what may name these.
    pub(crate) beside: Option<(&'static str, &'static str)>,
    /// Counts who uses one, by what names are compared by; none of those is removed.
    pub(crate) users: Option<&'static str>,
}

impl RevisionTable {
    /// The latest revision of every name, of removed ones as well.
    pub(crate) async fn current(&self, store: &StoreCore) -> Result<Vec<RevisionRow>> {
        let (columns, table) = (self.columns(), self.table);
        let sql = format!(
            "SELECT {columns} FROM {table} WHERE {table}.revision = \
             (SELECT MAX(other.revision) FROM {table} AS other WHERE other.name_key = {table}.name_key) \
             ORDER BY {table}.name_key"
        );
        store.db.all(&sql, &[]).await
    }

    /// One revision.
    pub(crate) async fn revision(
        &self,
        store: &StoreCore,
        name: &str,
        revision: u32,
    ) -> Result<Option<RevisionRow>> {
        let (columns, table) = (self.columns(), self.table);
        let sql = format!("SELECT {columns} FROM {table} WHERE name_key = $1 AND revision = $2");
        let key = key(name);
        let values = args![&key, i64::from(revision)];
        store.db.maybe(&sql, values).await
    }

    /// The latest revisions of a name, newest first.
    pub(crate) async fn history(
        &self,
        store: &StoreCore,
        name: &str,
        limit: i64,
    ) -> Result<Vec<RevisionRow>> {
        let (columns, table) = (self.columns(), self.table);
        let sql = format!(
            "SELECT {columns} FROM {table} WHERE name_key = $1 ORDER BY revision DESC LIMIT $2"
        );
        store.db.all(&sql, args![&key(name), limit]).await
    }

    /// Adds revisions, all or none, together with the edition.
    pub(crate) async fn append(
        &self,
        conn: &mut Conn,
        change: &RevisionChange,
    ) -> Result<RevisionOutcome> {
        // Whoever else changes some waits here, so that everything can be looked at before anything is written.
        let is_first = match first_use::look(conn, self.migration, change.alive_since_ms).await? {
            FirstUse::OlderNode(node) => return Ok(RevisionOutcome::OlderNode(node)),
            FirstUse::Free => true,
            FirstUse::Known => false,
        };
        let edition: Option<String> = conn.maybe(EDITION, args![self.edition]).await?;
        if edition != change.seen_edition || self.has_beside_changed(conn, change).await? {
            return Ok(RevisionOutcome::Crossed);
        }
        let mut revisions = Vec::with_capacity(change.drafts.len());
        for draft in &change.drafts {
            let latest = self.latest(conn, &draft.name).await?;
            let revision = latest.as_ref().map_or(0, |row| row.revision);
            let stands = latest.filter(|row| !row.removed || draft.expected_revision.is_some());
            if stands.map(|row| row.revision) != draft.expected_revision {
                let name = draft.name.clone();
                return Ok(RevisionOutcome::Conflict { name, revision });
            }
            if draft.removed
                && let Some(users) = self.users
            {
                let found: Option<i64> = conn.maybe(users, args![&key(&draft.name)]).await?;
                if let Some(users) = found.filter(|users| *users > 0) {
                    let name = draft.name.clone();
                    return Ok(RevisionOutcome::InUse { name, users });
                }
            }
            revisions.push(revision + 1);
        }
        let insert = format!(
            "INSERT INTO {} (name_key, revision, name, definition, removed, changed_ms) \
             VALUES ($1, $2, $3, $4, $5, $6)",
            self.table
        );
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
            conn.run(&insert, values).await?;
        }
        if is_first {
            first_use::narrow(conn, self.migration).await?;
        }
        let edition = args![self.edition, &change.edition];
        conn.run(SET_EDITION, edition).await?;
        Ok(RevisionOutcome::Written(revisions))
    }

    /// Whether what may name these is another than was looked at.
    async fn has_beside_changed(&self, conn: &mut Conn, change: &RevisionChange) -> Result<bool> {
        let (Some((migration, edition)), Some(seen)) = (self.beside, &change.seen_beside) else {
            return Ok(false);
        };
        // Its changes wait for this commit; they never look here, so that nobody waits for the other.
        first_use::lock(conn, migration).await?;
        let now: Option<String> = conn.maybe(EDITION, args![edition]).await?;
        Ok(now != seen.0)
    }

    /// The latest revision of a name, as the writer sees it.
    pub(crate) async fn latest(&self, conn: &mut Conn, name: &str) -> Result<Option<RevisionRow>> {
        let (columns, table) = (self.columns(), self.table);
        let sql = format!(
            "SELECT {columns} FROM {table} WHERE name_key = $1 ORDER BY revision DESC LIMIT 1"
        );
        conn.maybe(&sql, args![&key(name)]).await
    }

    fn columns(&self) -> String {
        let columns = ["name", "revision", "definition", "removed", "changed_ms"];
        columns
            .map(|one| format!("{}.{one}", self.table))
            .join(", ")
    }
}

/// What names are compared by.
pub(crate) fn key(name: &str) -> String {
    name.to_ascii_lowercase()
}

const EDITION: &str = "SELECT value FROM setting WHERE name = $1";

const SET_EDITION: &str = "INSERT INTO setting (name, value) VALUES ($1, $2) \
     ON CONFLICT (name) DO UPDATE SET value = excluded.value";
