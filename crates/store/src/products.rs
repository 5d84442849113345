//! Products: what accounts can buy, with all revisions.

use atelier_contract::products::ProductDefinition;

use crate::Result;
use crate::audit::AuditRow;
use crate::audited_change;
use crate::db::Conn;
use crate::first_use;
use crate::migrate::{CREDITS, PAYMENTS};
use crate::revisions::{RevisionChange, RevisionOutcome, RevisionRow, RevisionTable};
use crate::store_core::StoreCore;

/// The setting that is different after every change of products.
pub const PRODUCT_EDITION: &str = "product_edition";

static TABLE: RevisionTable = RevisionTable {
    table: "product",
    migration: PAYMENTS,
    edition: PRODUCT_EDITION,
    beside: None,
    users: None,
};

/// What accounts can buy.
#[derive(Clone, Copy, Debug)]
pub struct Products<'a>(pub(crate) &'a StoreCore);

impl Products<'_> {
    /// The latest revision of every product by name, of removed ones as well.
    pub async fn current(self) -> Result<Vec<RevisionRow>> {
        TABLE.current(self.0).await
    }

    /// Adds revisions of products, all or none, together with the act of whoever did it.
    pub async fn append(
        self,
        change: RevisionChange,
        act: Option<AuditRow>,
    ) -> Result<RevisionOutcome> {
        audited_change::run(
            self.0,
            change,
            act,
            |conn, change| Box::pin(append(conn, change)),
            |outcome| matches!(outcome, RevisionOutcome::Written(_)),
        )
        .await
    }
}

async fn append(conn: &mut Conn, change: &RevisionChange) -> Result<RevisionOutcome> {
    let written = TABLE.append(conn, change).await?;
    // What is paid for is given at once, and may end. No program is at work that does not know that: it would not know products.
    if matches!(written, RevisionOutcome::Written(_)) {
        first_use::narrow(conn, CREDITS).await?;
    }
    Ok(written)
}

/// A product as it is now.
pub(crate) async fn definition(
    conn: &mut Conn,
    name: &str,
) -> Result<Option<(ProductDefinition, u32)>> {
    let row = TABLE.latest(conn, name).await?.filter(|row| !row.removed);
    let Some(row) = row else {
        return Ok(None);
    };
    let read = serde_json::from_str(&row.definition);
    let read = read.map_err(|error| sqlx::Error::Decode(error.into()))?;
    Ok(Some((read, row.revision)))
}
