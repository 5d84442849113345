//! The stop-loss: a route that leaves too little of what callers pay gets no new jobs until an operator has looked at it. The pause
//! is a change of the model like an operator's, with its audit row, so that it is made once, whatever nodes do.

use atelier_contract::Refusal;
use atelier_contract::models::{ModelDefinition, Route, Routes, STOP_LOSS, StopLoss};
use atelier_store::{RevisionDraft, TakingRow};

use super::{Models, route_health, stored_definition};
use crate::context::unavailable;

/// Who pauses routes, as the audit list names it.
const BY: &str = STOP_LOSS;
/// The only currency that can be held against quota.
const DOLLARS: &str = "USD";
/// Hours that are looked back on at most: seven days.
const HOURS: i64 = 7 * 24;
const HOUR_MS: i64 = 3_600_000;

/// What the latest jobs of a route left.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Margin {
    jobs: i64,
    paid_usd: f64,
    cost_usd: f64,
    /// Whether some of them cost nobody knows what.
    unknown: bool,
}

impl Margin {
    /// Of whole hours, the latest first, until there are as many jobs as have to be looked at.
    fn of<'a>(rows: impl Iterator<Item = &'a TakingRow>, guard: StopLoss, quota_usd: f64) -> Self {
        let mut sum = Self::default();
        let mut hour = i64::MAX;
        for row in rows.filter(|row| row.hour >= i64::from(guard.since_hour)) {
            if sum.jobs >= i64::from(guard.jobs) && row.hour != hour {
                break;
            }
            hour = row.hour;
            sum.jobs += row.jobs;
            sum.paid_usd += row.quota.thousandths() as f64 / 1e3 * quota_usd;
            if row.currency == DOLLARS {
                sum.cost_usd += row.cost as f64 / 1e6;
            } else if row.jobs > 0 || row.cost > 0 {
                sum.unknown = true;
            }
        }
        sum
    }

    /// Why the route has to be paused, if it has to.
    fn why(self, guard: StopLoss) -> Option<String> {
        let left = self.paid_usd - self.cost_usd;
        let least = self.paid_usd * f64::from(guard.percent) / 100.0;
        let judged = self.jobs >= i64::from(guard.jobs) && !self.unknown;
        // What is one rounding away from the bound is at it.
        (judged && left < least - 1e-9).then(|| {
            format!(
                "{STOP_LOSS}: {} jobs brought {:.4} USD and cost {:.4} USD, which leaves less than {} %",
                self.jobs, self.paid_usd, self.cost_usd, guard.percent
            )
        })
    }
}

impl Models {
    /// Pauses the routes whose latest jobs left too little.
    pub async fn stop_losses(&self) -> Result<(), Refusal> {
        let quota_usd = self.context.settings().prices.quota_usd;
        let guarded: Vec<String> = self
            .catalogue()
            .rows()
            .filter(|row| row.definition.enabled && row.definition.routes.iter().any(is_guarded))
            .map(|row| row.definition.name.clone())
            .collect();
        if guarded.is_empty() || quota_usd <= 0.0 {
            return Ok(());
        }
        let this_hour = self.context.now_ms().div_euclid(HOUR_MS);
        let statistics = self.context.store().statistics();
        let rows = statistics.takings(&guarded, this_hour - HOURS).await;
        let rows = rows.map_err(unavailable)?;
        let (seen, backends) = tokio::try_join!(self.seen(), self.backends())?;
        let reports = self.runner.workers().reports();
        for name in guarded {
            let Some(old) = seen.latest(&name).filter(|one| !one.row.removed) else {
                continue;
            };
            let judge = |route: &Route| -> Option<String> {
                let guard = route.stop_loss.filter(|_| is_guarded(route))?;
                let id = route_health::id_of(&route.backend, &backends, &reports)?;
                let of_route = |row: &&TakingRow| row.backend_id == id && row.model == name;
                Margin::of(rows.iter().filter(of_route), guard, quota_usd).why(guard)
            };
            let (routes, told) = paused(&old.row.definition, this_hour, judge);
            if told.is_empty() {
                continue;
            }
            let definition = ModelDefinition {
                routes,
                ..old.row.definition.clone()
            };
            let draft = RevisionDraft {
                definition: stored_definition(&definition, false),
                name: definition.name,
                removed: false,
                expected_revision: Some(old.row.revision),
            };
            let told = told.join("; ");
            let act = self.context.act(BY, "model.pause", &name, told.clone());
            // Whoever changed models meanwhile is looked at the next time; another node may have done the same.
            if !self.append(&seen, vec![draft], act).await? {
                return Ok(());
            }
            tracing::warn!(model = %name, "a route is paused: {told}");
            // What was seen is older than this change.
            return Ok(());
        }
        Ok(())
    }
}

fn is_guarded(route: &Route) -> bool {
    route.stop_loss.is_some() && route.paused.is_none()
}

/// The routes of a model with those paused that have to be, and what is told of them.
fn paused(
    definition: &ModelDefinition,
    this_hour: i64,
    judge: impl Fn(&Route) -> Option<String>,
) -> (Routes, Vec<String>) {
    let mut told = Vec::new();
    let routes = definition.routes.iter().map(|route| {
        let Some(why) = judge(route) else {
            return route.clone();
        };
        told.push(format!("{}: {why}", route.backend));
        let since_hour = (this_hour + 1) as u32;
        let fresh = |guard| StopLoss {
            since_hour,
            ..guard
        };
        Route {
            stop_loss: route.stop_loss.map(fresh),
            paused: Some(why),
            ..route.clone()
        }
    });
    let routes: Vec<Route> = routes.collect();
    (routes.into(), told)
}

#[cfg(test)]
mod tests {
    use atelier_contract::Quota;

    use super::*;

    const GUARD: StopLoss = StopLoss {
        percent: 10,
        jobs: 3,
        since_hour: 0,
    };

    fn row(hour: i64, jobs: i64, quota: i64, cost: i64) -> TakingRow {
        TakingRow {
            backend_id: "b".to_owned(),
            model: "m".to_owned(),
            hour,
            currency: DOLLARS.to_owned(),
            jobs,
            quota: Quota::from_thousandths(quota * 1_000),
            cost: cost * 1_000_000,
        }
    }

    fn why(rows: &[TakingRow], guard: StopLoss) -> Option<String> {
        Margin::of(rows.iter(), guard, 1.0).why(guard)
    }

    #[test]
    fn what_leaves_less_than_the_bound_is_paused_and_what_is_at_it_is_not() {
        assert_eq!(why(&[row(9, 3, 10, 9)], GUARD), None);
        assert!(why(&[row(9, 3, 100, 91)], GUARD).is_some());
        assert_eq!(why(&[row(9, 2, 10, 90)], GUARD), None, "too few to judge");
        let loss = StopLoss {
            percent: -50,
            ..GUARD
        };
        assert_eq!(why(&[row(9, 3, 10, 15)], loss), None);
        assert!(why(&[row(9, 3, 10, 16)], loss).is_some());
    }

    #[test]
    fn only_the_latest_hours_count_and_none_before_a_pause() {
        let rows = [row(9, 3, 10, 1), row(8, 50, 10, 500)];
        assert_eq!(why(&rows, GUARD), None, "the latest three left enough");
        let rows = [row(9, 2, 10, 1), row(8, 50, 10, 500)];
        assert!(why(&rows, GUARD).is_some());
        let fresh = StopLoss {
            since_hour: 9,
            ..GUARD
        };
        assert_eq!(why(&rows, fresh), None, "two jobs since then");
    }

    #[test]
    fn nothing_is_judged_by_a_cost_that_nobody_knows() {
        let unknown = TakingRow {
            currency: String::new(),
            ..row(9, 3, 10, 0)
        };
        assert_eq!(why(&[unknown, row(9, 3, 10, 90)], GUARD), None);
        // Work that was given up after another node had ended the job costs and brings nothing.
        assert!(why(&[row(9, 3, 0, 5)], GUARD).is_some());
    }
}
