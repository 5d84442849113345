//! Models of the catalogue, with all their revisions.

use crate::Result;
use crate::audit::AuditRow;
use crate::audited_change;
use crate::migrate::MODELS;
use crate::revisions::{RevisionChange, RevisionOutcome, RevisionRow, RevisionTable};
use crate::store_core::StoreCore;

/// The setting that is different after every change of models, so that a look costs one row.
pub const MODEL_EDITION: &str = "model_edition";

static TABLE: RevisionTable = RevisionTable {
    table: "model",
    migration: MODELS,
    edition: MODEL_EDITION,
    beside: None,
    users: None,
};

/// Models of the catalogue, with all their revisions.
#[derive(Clone, Copy, Debug)]
pub struct Models<'a>(pub(crate) &'a StoreCore);

impl Models<'_> {
    /// The latest revision of every model by name, of removed ones as well.
    pub async fn current(self) -> Result<Vec<RevisionRow>> {
        TABLE.current(self.0).await
    }

    /// A revision of a model.
    pub async fn revision(self, name: &str, revision: u32) -> Result<Option<RevisionRow>> {
        TABLE.revision(self.0, name, revision).await
    }

    /// The latest revisions of a model, newest first.
    pub async fn history(self, name: &str, limit: i64) -> Result<Vec<RevisionRow>> {
        TABLE.history(self.0, name, limit).await
    }

    /// Adds revisions of models, all or none, together with the edition and the act of whoever did it.
    pub async fn append(
        self,
        change: RevisionChange,
        act: Option<AuditRow>,
    ) -> Result<RevisionOutcome> {
        audited_change::run(
            self.0,
            change,
            act,
            |conn, change| Box::pin(TABLE.append(conn, change)),
            |outcome| matches!(outcome, RevisionOutcome::Written(_)),
        )
        .await
    }
}
