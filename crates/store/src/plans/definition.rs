//! What plans are: with all their revisions, as the writer reads them.

use atelier_contract::plans::PlanDefinition;

use crate::Result;
use crate::db::{Conn, args};
use crate::migrate::PLANS;
use crate::revisions::RevisionTable;

/// The setting that is different after every change of plans.
pub const PLAN_EDITION: &str = "plan_edition";

pub(super) static TABLE: RevisionTable = RevisionTable {
    table: "plan",
    migration: PLANS,
    edition: PLAN_EDITION,
    beside: None,
    users: Some(
        "SELECT (SELECT COUNT(*) FROM account_plan WHERE plan_key = $1 OR next_key = $1) \
         + (SELECT COUNT(*) FROM payment WHERE plan_key = $1 AND paid_ms IS NOT NULL AND ledger_id IS NULL AND refunded + disputed < money \
         AND EXISTS (SELECT 1 FROM account WHERE account.id = payment.account_id AND account.email_key <> 'deleted-' || account.id))",
    ),
};

/// What cannot be read is no reason to take a plan away: another program may have written it.
pub(super) fn read(definition: &str) -> Result<PlanDefinition> {
    let read = serde_json::from_str(definition);
    Ok(read.map_err(|error| sqlx::Error::Decode(error.into()))?)
}

/// A plan as it is now.
pub(super) async fn current(conn: &mut Conn, name: &str) -> Result<Option<(PlanDefinition, u32)>> {
    let row = TABLE.latest(conn, name).await?.filter(|row| !row.removed);
    row.map(|row| Ok((read(&row.definition)?, row.revision)))
        .transpose()
}

/// A plan as it was in a revision.
pub(super) async fn at_revision(
    conn: &mut Conn,
    plan_key: &str,
    revision: u32,
) -> Result<Option<PlanDefinition>> {
    let values = args![plan_key, i64::from(revision)];
    let found: Option<String> = conn.maybe(AT_REVISION, values).await?;
    found.as_deref().map(read).transpose()
}

const AT_REVISION: &str = "SELECT definition FROM plan WHERE name_key = $1 AND revision = $2";
