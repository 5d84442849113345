//! Changing deliveries: claiming, recording a try, delivering again.

use serde::Serialize;

use crate::batch::json;
use crate::db::{Conn, args};
use crate::deliveries::{DELIVERY_COLUMNS, Delivery, DeliveryResult};
use crate::writer::{Change, Pending};
use crate::{Result, Store};

/// Of what is due, each lane (an account's deliveries to one host) offers as many as it has room for; then the first
/// of every account goes, the second of every account, and so on, up to what each account has room for. Sorting them is
/// left to a connection that reads.
const CHOOSE: &str = "SELECT id FROM (SELECT id, account_id, next_ms, ROW_NUMBER() OVER \
         (PARTITION BY account_id ORDER BY place, next_ms, id) AS turn \
       FROM (SELECT due.id, due.account_id, due.next_ms, COALESCE(v.places, $3) AS places, \
           ROW_NUMBER() OVER (PARTITION BY due.account_id, due.host ORDER BY due.next_ms, due.id) AS place \
         FROM delivery AS due LEFT JOIN {rows:$4 account_id text, host text, places bigint} \
           ON v.account_id = due.account_id AND v.host = due.host \
         WHERE due.state IN ('due', 'sending') AND due.next_ms <= $1) AS ranked \
       WHERE place <= places) AS offered \
     LEFT JOIN {rows:$5 account_id text, places bigint} ON v.account_id = offered.account_id \
     WHERE turn <= COALESCE(v.places, $6) \
     ORDER BY turn, next_ms, id LIMIT $2";

/// Of those, the ones that nobody else has taken meanwhile.
const TAKE: &str = "UPDATE delivery SET state = 'sending', attempts = attempts + 1, next_ms = $2 \
     WHERE id IN (SELECT id FROM delivery WHERE id IN ({list:$3}) \
       AND state IN ('due', 'sending') AND next_ms <= $1 {lock free}) \
     RETURNING";

/// The wish to take deliveries whose time has come.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The time.
    pub now_ms: i64,
    /// When a claim that nobody speaks of again is free.
    pub lease_until_ms: i64,
    /// The most to take.
    pub limit: i64,
    /// The most to take of one lane: an account's deliveries to one host.
    pub per_lane: i64,
    /// Lanes that have another number of places.
    pub rooms: Vec<Room>,
    /// The most to take of one account.
    pub per_account: i64,
    /// Accounts that have another number of places.
    pub accounts: Vec<AccountRoom>,
}

/// How many deliveries of an account may be taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AccountRoom {
    /// The account.
    pub account_id: String,
    /// None at all with 0.
    pub places: i64,
}

/// How many deliveries of a lane may be taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Room {
    /// The account.
    pub account_id: String,
    /// The host.
    pub host: String,
    /// None at all with 0.
    pub places: i64,
}

impl Store {
    /// Takes deliveries whose time has come, fairly between accounts and hosts.
    pub async fn claim_deliveries(&self, claim: Claim) -> Result<Vec<Delivery>> {
        let (rooms, accounts) = (json(&claim.rooms), json(&claim.accounts));
        let args = args![
            claim.now_ms,
            claim.limit,
            claim.per_lane,
            &rooms,
            &accounts,
            claim.per_account
        ];
        let ids: Vec<String> = self.db().all(CHOOSE, args).await?;
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let (now_ms, lease_until_ms) = (claim.now_ms, claim.lease_until_ms);
        let (pending, answer) = Pending::new(Chosen {
            ids,
            now_ms,
            lease_until_ms,
        });
        self.send(Change::Claim(Box::new(pending)), answer).await
    }

    /// Makes tries that nobody will speak of again due at once: for a store of one process, at its start.
    pub async fn free_claims(&self, now_ms: i64) -> Result<u64> {
        self.change(now_ms, |conn, now_ms| {
            Box::pin(async move {
                let sql =
                    "UPDATE delivery SET next_ms = $1 WHERE state = 'sending' AND next_ms > $1";
                conn.run(sql, args![*now_ms]).await
            })
        })
        .await
    }

    /// Records a try; false when it was not the current one.
    pub async fn finish_delivery(&self, result: DeliveryResult) -> Result<bool> {
        let (pending, answer) = Pending::new(result);
        self.send(Change::Tried(Box::new(pending)), answer).await
    }

    /// Makes a delivery due again, unless it is being sent.
    pub async fn redeliver(&self, account_id: &str, id: &str, now_ms: i64) -> Result<bool> {
        let input = (account_id.to_owned(), id.to_owned(), now_ms);
        self.change(input, |conn, (account_id, id, now_ms)| {
            Box::pin(async move {
                let sql = "UPDATE delivery SET state = 'due', failures = 0, next_ms = $3, delivered_ms = NULL \
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
                let sql = "UPDATE delivery SET state = 'due', failures = 0, next_ms = $3 WHERE account_id = $1 \
                     AND created_ms >= $2 AND state IN ('exhausted', 'stopped')";
                conn.run(sql, args![account_id, *since_ms, *now_ms]).await
            })
        })
        .await
    }
}

/// Deliveries to be taken.
pub(crate) struct Chosen {
    ids: Vec<String>,
    now_ms: i64,
    lease_until_ms: i64,
}

/// Takes what is still free.
pub(crate) async fn take(conn: &mut Conn, chosen: &Chosen) -> Result<Vec<Delivery>> {
    let sql = format!("{TAKE} {DELIVERY_COLUMNS}");
    let ids = json(&chosen.ids);
    let args = args![chosen.now_ms, chosen.lease_until_ms, &ids];
    conn.all(&sql, args).await
}
