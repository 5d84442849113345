//! Changing deliveries: claiming, recording a try, delivering again.

use std::collections::HashMap;

use crate::Result;
use crate::changes::delivery::{ChosenDeliveries, Delivery, DeliveryResult};
use crate::db::{args, json};
use crate::deliveries::Deliveries;
use crate::dialect::Dialect;

/// Which routes (an account's deliveries to one host) owe any: from one to the next by the index, however many each owes.
/// The state is asked for in the words of that index, which is the only one of any use.
const OWING: &str = "WITH RECURSIVE owing (found) AS ( \
       SELECT first.key FROM (SELECT account_id || ' ' || host AS key FROM delivery \
         WHERE state NOT IN ('delivered', 'exhausted', 'stopped') ORDER BY account_id || ' ' || host LIMIT 1) AS first \
     UNION ALL \
       SELECT (SELECT account_id || ' ' || host FROM delivery WHERE state NOT IN ('delivered', 'exhausted', 'stopped') \
         AND account_id || ' ' || host > owing.found ORDER BY account_id || ' ' || host LIMIT 1) \
       FROM owing WHERE owing.found IS NOT NULL) \
     SELECT found FROM owing WHERE found IS NOT NULL";

/// The first ones that are due of each route.
const DUE_SQLITE: &str = "SELECT v.value, d.next_ms, d.id FROM json_each($1) AS v, json_each((SELECT \
       json_group_array(id) FROM (SELECT id FROM delivery WHERE state NOT IN ('delivered', 'exhausted', 'stopped') \
         AND account_id || ' ' || host = v.value AND next_ms <= $2 ORDER BY next_ms, id LIMIT $3))) AS j \
     JOIN delivery AS d ON d.id = j.value";
const DUE_POSTGRES: &str = "SELECT v.route, d.next_ms, d.id \
     FROM (SELECT json_array_elements_text($1::json) AS route) AS v \
     CROSS JOIN LATERAL (SELECT id, next_ms FROM delivery WHERE state NOT IN ('delivered', 'exhausted', 'stopped') \
       AND account_id || ' ' || host = v.route AND next_ms <= $2 ORDER BY next_ms, id LIMIT $3) AS d";

/// So that no commit is long.
const RETURNED_AT_ONCE: usize = 1_000;

/// The wish to take deliveries whose time has come.
#[derive(Clone, Debug)]
pub struct Claim {
    pub now_ms: i64,
    /// After how long a claim that nobody speaks of again is free.
    pub for_ms: i64,
    /// The most to take.
    pub limit: i64,
    /// The most to take of one route: an account's deliveries to one host.
    pub per_route: i64,
    /// Routes that have another number of places.
    pub routes: Vec<RouteSlots>,
    /// The most to take of one account.
    pub per_account: i64,
    /// Accounts that have another number of places.
    pub accounts: Vec<AccountSlots>,
}

/// How many deliveries of an account may be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountSlots {
    pub account_id: String,
    /// None at all with 0.
    pub places: i64,
}

/// How many deliveries of a route may be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteSlots {
    pub account_id: String,
    pub host: String,
    /// None at all with 0.
    pub places: i64,
}

impl Deliveries<'_> {
    /// Takes deliveries whose time has come, fairly between accounts and hosts. They are had from the time at which the turn to
    /// write that down has come, which is asked for then: the queue may be long.
    pub async fn claim(
        self,
        claim: &Claim,
        now_ms: impl FnOnce() -> i64 + Send,
    ) -> Result<Vec<Delivery>> {
        let ids = self.choose(claim).await?;
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

    /// What a claim is to take, in order. All of it is read aside, so that the writer has little to do.
    async fn choose(self, claim: &Claim) -> Result<Vec<String>> {
        let places = ClaimLimits::of(claim);
        let mut routes: Vec<String> = self.0.db.all_replanned(OWING, &[]).await?;
        routes.retain(|route| places.of_route(route) > 0);
        if routes.is_empty() {
            return Ok(Vec::new());
        }
        let due = match self.0.db.dialect() {
            Dialect::Sqlite => DUE_SQLITE,
            Dialect::Postgres => DUE_POSTGRES,
        };
        let routes = json(&routes);
        let args = args![&routes, claim.now_ms, places.most()];
        let due: Vec<((String, i64), String)> = self.0.db.all_replanned(due, args).await?;
        Ok(places.in_order(due, claim.limit))
    }

    /// Makes tries that nobody will speak of again due at once: for a store of one process, at its start.
    pub async fn free_claims(self, now_ms: i64) -> Result<u64> {
        self.0
            .change(now_ms, |conn, now_ms| {
                Box::pin(async move {
                    let sql =
                        "UPDATE delivery SET next_ms = $1 WHERE state = 'sending' AND next_ms > $1";
                    conn.run(sql, args![*now_ms]).await
                })
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

/// How many deliveries may be taken of what.
struct ClaimLimits<'a> {
    routes: HashMap<String, i64>,
    usual: i64,
    accounts: HashMap<&'a str, i64>,
    usual_of_account: i64,
}

impl<'a> ClaimLimits<'a> {
    fn of(claim: &'a Claim) -> Self {
        let route = |places: &RouteSlots| {
            (
                format!("{} {}", places.account_id, places.host),
                places.places,
            )
        };
        let account = |places: &'a AccountSlots| (&*places.account_id, places.places);
        Self {
            routes: claim.routes.iter().map(route).collect(),
            usual: claim.per_route,
            accounts: claim.accounts.iter().map(account).collect(),
            usual_of_account: claim.per_account,
        }
    }

    fn of_account(&self, route: &str) -> i64 {
        let places = self.accounts.get(account_of(route));
        places.copied().unwrap_or(self.usual_of_account)
    }

    fn of_route(&self, route: &str) -> i64 {
        let places = self.routes.get(route).copied().unwrap_or(self.usual);
        places.min(self.of_account(route))
    }

    /// The most that any route may offer.
    fn most(&self) -> i64 {
        self.routes.values().copied().fold(self.usual, i64::max)
    }

    /// Each route offers as many as it has places for; then the first of every account goes, the second of every account,
    /// and so on, up to what each account has places for.
    fn in_order(&self, mut due: Vec<((String, i64), String)>, limit: i64) -> Vec<String> {
        due.sort_by(|((_, a), id_a), ((_, b), id_b)| (a, id_a).cmp(&(b, id_b)));
        let mut offered: Vec<(i64, &(String, i64), &String)> = Vec::with_capacity(due.len());
        let mut of_route: HashMap<&str, i64> = HashMap::new();
        for (route, id) in &due {
            let place = of_route.entry(&route.0).or_default();
            *place += 1;
            if *place <= self.of_route(&route.0) {
                offered.push((*place, route, id));
            }
        }
        offered.sort_by_key(|(place, route, id)| (*place, route.1, *id));
        let mut of_account: HashMap<&str, i64> = HashMap::new();
        let mut turns: Vec<(i64, i64, &String)> = Vec::with_capacity(offered.len());
        for (_, route, id) in offered {
            let write_slot = of_account.entry(account_of(&route.0)).or_default();
            *write_slot += 1;
            if *write_slot <= self.of_account(&route.0) {
                turns.push((*write_slot, route.1, id));
            }
        }
        turns.sort();
        let limit = usize::try_from(limit).unwrap_or(0);
        turns
            .into_iter()
            .take(limit)
            .map(|(_, _, id)| id.clone())
            .collect()
    }
}

fn account_of(route: &str) -> &str {
    route.split_once(' ').map_or(route, |(account, _)| account)
}
