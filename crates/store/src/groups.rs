//! Groups of accounts, with all their revisions: what their accounts pay and see.

use crate::Result;
use crate::audit::AuditRow;
use crate::audited_change;
use crate::db::Conn;
use crate::first_use;
use crate::migrate::{GROUPS, MODELS};
use crate::models::MODEL_EDITION;
use crate::revisions::{RevisionChange, RevisionOutcome, RevisionRow, RevisionTable};
use crate::row::{Columns, FromRow};
use crate::store_core::StoreCore;

/// The setting that is different after every change of groups, so that a look costs one row.
pub const GROUP_EDITION: &str = "group_edition";

static TABLE: RevisionTable = RevisionTable {
    table: "price_group",
    migration: GROUPS,
    edition: GROUP_EDITION,
    beside: Some((MODELS, MODEL_EDITION)),
    users: Some(
        "SELECT (SELECT COUNT(*) FROM account WHERE group_key = $1) + \
           (SELECT COUNT(*) FROM plan WHERE NOT plan.removed \
             AND REPLACE(plan.definition, '\"group\":\"' || $1 || '\"', '') <> plan.definition \
             AND plan.revision = (SELECT MAX(other.revision) FROM plan AS other WHERE other.name_key = plan.name_key))",
    ),
};

/// How many accounts are in a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupSize {
    /// The name of the group in lower case.
    pub key: String,
    pub accounts: i64,
}

impl FromRow for GroupSize {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            key: columns.text()?,
            accounts: columns.int()?,
        })
    }
}

/// Groups of accounts, with all their revisions.
#[derive(Clone, Copy, Debug)]
pub struct Groups<'a>(pub(crate) &'a StoreCore);

impl Groups<'_> {
    /// The latest revision of every group by name, of removed ones as well.
    pub async fn current(self) -> Result<Vec<RevisionRow>> {
        TABLE.current(self.0).await
    }

    /// The latest revisions of a group, newest first.
    pub async fn history(self, name: &str, limit: i64) -> Result<Vec<RevisionRow>> {
        TABLE.history(self.0, name, limit).await
    }

    /// How many accounts each group has; the one that all begin in is left out.
    pub async fn sizes(self) -> Result<Vec<GroupSize>> {
        self.0.db.all(SIZES, &[]).await
    }

    /// Adds revisions of groups, all or none, together with the edition and the act of whoever did it. One that has accounts is
    /// not removed.
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

/// Whether a group is there; it stays there until this commit ends.
pub(crate) async fn is_held(conn: &mut Conn, name: &str) -> Result<bool> {
    first_use::lock(conn, GROUPS).await?;
    let row = TABLE.latest(conn, name).await?;
    Ok(row.is_some_and(|row| !row.removed))
}

const SIZES: &str = "SELECT group_key, COUNT(*) FROM account WHERE group_key IS NOT NULL \
     GROUP BY group_key ORDER BY group_key";
