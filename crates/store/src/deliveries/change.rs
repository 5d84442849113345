//! Changing deliveries: claiming, recording a try, delivering again.

use crate::Result;
use crate::changes::delivery::{ChosenDeliveries, Delivery, DeliveryResult};
use crate::db::{args, json};
use crate::deliveries::Deliveries;
use crate::deliveries::claim::{Claim, choose};
use crate::deliveries::texts::CALLBACKS;

/// So that no commit is long.
const RETURNED_AT_ONCE: usize = 1_000;

impl Deliveries<'_> {
    /// Takes deliveries whose time has come, fairly between accounts and hosts. They are had from the time at which the turn to
    /// write that down has come, which is asked for then: the queue may be long.
    pub async fn claim(
        self,
        claim: &Claim,
        now_ms: impl FnOnce() -> i64 + Send,
    ) -> Result<Vec<Delivery>> {
        let ids = choose(&self.0.db, &CALLBACKS, claim).await?;
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let write_slot = self.0.write_slot().await?;
        let now_ms = now_ms();
        let chosen = ChosenDeliveries {
            ids,
            now_ms,
            lease_until_ms: now_ms + claim.for_ms,
        };
        self.0.commit_in(write_slot, chosen).await
    }

    /// Makes tries that nobody will speak of again due at once: for a store of one process, at its start.
    pub async fn free_claims(self, now_ms: i64) -> Result<u64> {
        self.0
            .change(now_ms, |conn, now_ms| {
                Box::pin(async move { conn.run(CALLBACKS.free, args![*now_ms]).await })
            })
            .await
    }

    /// Gives back deliveries that were claimed for their first try and never sent: they are due at once; how many.
    pub async fn return_unsent(self, ids: &[String], now_ms: i64) -> Result<u64> {
        let mut returned = 0;
        for some in ids.chunks(RETURNED_AT_ONCE) {
            returned += self.return_some(some, now_ms).await?;
        }
        Ok(returned)
    }

    async fn return_some(self, ids: &[String], now_ms: i64) -> Result<u64> {
        self.0.change((json(ids), now_ms), |conn, (ids, now_ms)| {
            Box::pin(async move {
                // Found by their names: an index of what is owed would be gone through for each.
                let sql = "UPDATE delivery SET state = 'due', attempts = 0, next_ms = $2 \
                     WHERE id {among:$1} AND state || '' = 'sending' AND attempts = 1 AND failures = 0";
                conn.run(sql, args![&*ids, *now_ms]).await
            })
        })
        .await
    }

    /// Records a try; false when it was not the current one.
    pub async fn finish(self, result: DeliveryResult) -> Result<bool> {
        self.0.commit(result).await
    }

    /// Makes a delivery due again, unless it is being sent or was tried so many times already.
    pub async fn redeliver(
        self,
        account_id: &str,
        id: &str,
        most: i64,
        now_ms: i64,
    ) -> Result<bool> {
        let input = (account_id.to_owned(), id.to_owned(), most, now_ms);
        self.0.change(input, |conn, (account_id, id, most, now_ms)| {
            Box::pin(async move {
                let sql = "UPDATE delivery SET state = 'due', failures = 0, next_ms = $3, delivered_ms = NULL \
                     WHERE account_id || '' = $1 AND id = $2 AND state <> 'sending' AND attempts < $4";
                let args = args![account_id, id, *now_ms, *most];
                Ok(conn.run(sql, args).await? == 1)
            })
        })
        .await
    }

    /// Makes every given-up delivery of an account owed since a time due again, unless it was tried so many times
    /// already; how many.
    pub async fn redeliver_failed(
        self,
        account_id: &str,
        since_ms: i64,
        most: i64,
        now_ms: i64,
    ) -> Result<u64> {
        let input = (account_id.to_owned(), since_ms, most, now_ms);
        self.0.change(input, |conn, (account_id, since_ms, most, now_ms)| {
            Box::pin(async move {
                let sql = "UPDATE delivery SET state = 'due', failures = 0, next_ms = $3 WHERE account_id = $1 \
                     AND created_ms >= $2 AND state IN ('exhausted', 'stopped') AND attempts < $4";
                let args = args![account_id, *since_ms, *now_ms, *most];
                conn.run(sql, args).await
            })
        })
        .await
    }
}
