//! Changing deliveries: claiming, recording a try, delivering again.

use crate::batch::json;
use crate::db::{Conn, args};
use crate::deliveries::{DELIVERY_COLUMNS, Delivery, DeliveryResult, DeliveryState};
use crate::{Result, Store};

/// The first of every host, then the second of every host, and so on; none of the hosts to skip.
const TAKE: &str = "UPDATE delivery SET state = 'sending', attempts = attempts + 1, next_ms = $2 \
     WHERE id IN (SELECT id FROM delivery WHERE id IN ( \
       SELECT id FROM (SELECT id, next_ms, ROW_NUMBER() OVER (PARTITION BY host ORDER BY next_ms, id) \
         AS place FROM delivery WHERE state IN ('due', 'sending') AND next_ms <= $1 \
         AND host NOT IN ({list:$5})) ranked \
       WHERE place <= $4 ORDER BY place, next_ms, id LIMIT $3) \
       AND state IN ('due', 'sending') AND next_ms <= $1 {lock free}) \
     RETURNING";

struct Claim {
    now_ms: i64,
    lease_until_ms: i64,
    limit: i64,
    per_host: i64,
    skip_hosts: String,
}

impl Store {
    /// Takes deliveries whose time has come, fairly between hosts.
    pub async fn claim_deliveries(
        &self,
        now_ms: i64,
        lease_until_ms: i64,
        limit: i64,
        per_host: i64,
        skip_hosts: &[String],
    ) -> Result<Vec<Delivery>> {
        let skip_hosts = json(skip_hosts);
        let claim = Claim {
            now_ms,
            lease_until_ms,
            limit,
            per_host,
            skip_hosts,
        };
        self.change(claim, |conn, claim| Box::pin(take(conn, claim)))
            .await
    }

    /// Records a try; false when it was not the current one.
    pub async fn finish_delivery(&self, result: DeliveryResult) -> Result<bool> {
        self.change(result, |conn, result| Box::pin(finish(conn, result)))
            .await
    }

    /// Makes a delivery due again, unless it is being sent.
    pub async fn redeliver(&self, account_id: &str, id: &str, now_ms: i64) -> Result<bool> {
        let input = (account_id.to_owned(), id.to_owned(), now_ms);
        self.change(input, |conn, (account_id, id, now_ms)| {
            Box::pin(async move {
                let sql = "UPDATE delivery SET state = 'due', next_ms = $3, delivered_ms = NULL \
                     WHERE account_id = $1 AND id = $2 AND state <> 'sending'";
                Ok(conn.run(sql, args![account_id, id, *now_ms]).await? == 1)
            })
        })
        .await
    }

    /// Makes every given-up delivery of an account owed since a time due again; how many.
    pub async fn redeliver_failed(
        &self,
        account_id: &str,
        since_ms: i64,
        now_ms: i64,
    ) -> Result<u64> {
        let input = (account_id.to_owned(), since_ms, now_ms);
        self.change(input, |conn, (account_id, since_ms, now_ms)| {
            Box::pin(async move {
                let sql = "UPDATE delivery SET state = 'due', next_ms = $3 WHERE account_id = $1 \
                     AND created_ms >= $2 AND state IN ('exhausted', 'stopped')";
                conn.run(sql, args![account_id, *since_ms, *now_ms]).await
            })
        })
        .await
    }
}

async fn take(conn: &mut Conn, claim: &Claim) -> Result<Vec<Delivery>> {
    let sql = format!("{TAKE} {DELIVERY_COLUMNS}");
    let args = args![
        claim.now_ms,
        claim.lease_until_ms,
        claim.limit,
        claim.per_host,
        &claim.skip_hosts
    ];
    conn.all(&sql, args).await
}

async fn finish(conn: &mut Conn, result: &DeliveryResult) -> Result<bool> {
    let (state, next_ms, delivered_ms) = match result.state {
        DeliveryState::Delivered => ("delivered", result.now_ms, Some(result.now_ms)),
        DeliveryState::Due { next_ms } => ("due", next_ms, None),
        DeliveryState::Exhausted => ("exhausted", result.now_ms, None),
        DeliveryState::Stopped => ("stopped", result.now_ms, None),
    };
    let current = conn
        .run(
            "UPDATE delivery SET state = $3, next_ms = $4, delivered_ms = $5, last_status = $6, \
             last_error = $7 WHERE id = $1 AND attempts = $2 AND state = 'sending'",
            args![
                &result.id,
                result.attempts,
                state,
                next_ms,
                delivered_ms,
                result.status,
                result.error.as_deref()
            ],
        )
        .await?;
    if current == 0 {
        return Ok(false);
    }
    conn.run(
        "INSERT INTO delivery_log (delivery_id, attempt, time_ms, status, error, duration_ms, \
         answer_start) VALUES ($1, $2, $3, $4, $5, $6, $7)",
        args![
            &result.id,
            result.attempts,
            result.now_ms,
            result.status,
            result.error.as_deref(),
            result.duration_ms,
            &result.answer_start
        ],
    )
    .await?;
    Ok(true)
}
