//! Which deliveries a claim takes: fairly between accounts and hosts.

use std::collections::HashMap;

use crate::Result;
use crate::db::{args, json};
use crate::deliveries::texts::DeliveryTexts;
use crate::dialect::Dialect;
use crate::readers::Db;

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

/// What a claim is to take, in order. All of it is read aside, so that the writer has little to do.
pub(crate) async fn choose(db: &Db, texts: &DeliveryTexts, claim: &Claim) -> Result<Vec<String>> {
    let places = ClaimLimits::of(claim);
    let mut routes: Vec<String> = db.all_replanned(texts.owing, &[]).await?;
    routes.retain(|route| places.of_route(route) > 0);
    if routes.is_empty() {
        return Ok(Vec::new());
    }
    let due = match db.dialect() {
        Dialect::Sqlite => texts.due_sqlite,
        Dialect::Postgres => texts.due_postgres,
    };
    let routes = json(&routes);
    let args = args![&routes, claim.now_ms, places.most()];
    let due: Vec<((String, i64), String)> = db.all_replanned(due, args).await?;
    Ok(places.in_order(due, claim.limit))
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
