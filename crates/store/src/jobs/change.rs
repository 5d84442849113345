//! Changing jobs: accepting them, one or many, and settling them.

use crate::Result;
use crate::changes::accept::{AcceptOutcome, Acceptance};
use crate::changes::bulk::{Bulk, BulkOutcome, NewBulk, decode_items};
use crate::changes::delivery::Delivery;
use crate::changes::settle::{SettleOutcome, Settlement, SettlementChange};
use crate::db::args;
use crate::jobs::Jobs;
use crate::row::{Columns, FromRow};
use crate::store_core::WriteSlot;

struct BulkRow {
    id: String,
    items: String,
    created_ms: i64,
}

impl FromRow for BulkRow {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            id: columns.text()?,
            items: columns.text()?,
            created_ms: columns.int()?,
        })
    }
}

impl Jobs<'_> {
    /// Accepts a job, together with every other change that waits.
    pub async fn accept(self, accept: Acceptance) -> Result<AcceptOutcome> {
        self.0.commit_in(self.0.try_write_slot()?, accept).await
    }

    /// Accepts requests together, in one commit with every other change that waits.
    pub async fn accept_bulk(self, bulk: NewBulk) -> Result<BulkOutcome> {
        self.0.commit_in(self.0.try_write_slot()?, bulk).await
    }

    /// What an account submitted together under an identifier.
    pub async fn find_bulk(self, account_id: &str, id: &str) -> Result<Option<Bulk>> {
        let sql = "SELECT id, items, created_ms FROM bulk WHERE id = $1 AND account_id = $2";
        let reader = self.0.db.of(Some(account_id));
        let row: Option<BulkRow> = reader.maybe(sql, args![id, account_id]).await?;
        let read = |row: BulkRow| -> Result<Bulk> {
            let items = decode_items(&row.items);
            Ok(Bulk {
                id: row.id,
                items: items.map_err(|error| sqlx::Error::Decode(error.into()))?,
                created_ms: row.created_ms,
            })
        };
        row.map(read).transpose()
    }

    /// Ends a job, together with every other change that waits.
    pub async fn settle(self, settlement: Settlement) -> Result<SettleOutcome> {
        let write_slot = self.0.write_slot().await?;
        let ended = self.settle_in(write_slot, settlement, None).await;
        ended.map(|(settled, _)| settled)
    }

    /// The same with a place in the queue that is had already. Who makes the delivery at once, should the job owe one, says
    /// until when: the commit that writes it down claims it for its first try.
    pub async fn settle_in(
        self,
        write_slot: WriteSlot<'_>,
        settlement: Settlement,
        claimed_until_ms: Option<i64>,
    ) -> Result<(SettleOutcome, Option<Delivery>)> {
        let ending = SettlementChange {
            settlement,
            claimed_until_ms,
        };
        let mut settled = self.0.commit_in(write_slot, ending).await?;
        let claimed = match (&mut settled, claimed_until_ms) {
            (SettleOutcome::Done(row), Some(until_ms)) => {
                let claimed = Delivery::first_try(row, until_ms);
                row.hook_times = i64::from(claimed.is_some());
                claimed
            }
            _ => None,
        };
        Ok((settled, claimed))
    }
}
