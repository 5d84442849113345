//! What vendors say that they took, written by the commit that settles the job: with the attempt, in all for its worker
//! account, and against what callers paid.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::Result;
use crate::changes::settle::{Cost, Settlement};
use crate::db::{Conn, args, json};
use crate::jobs::row::JobRow;

const HOUR_MS: i64 = 3_600_000;

/// The costs and takings of a batch.
#[derive(Default)]
pub(crate) struct Costs {
    /// By attempt: two nodes may tell of the same one.
    told: BTreeMap<String, ReportedCost>,
    takings: Takings,
}

struct ReportedCost {
    cost: Cost,
    operation: String,
    model: String,
    hour: i64,
}

#[derive(Serialize)]
struct CostLine<'a> {
    id: &'a str,
    cost: i64,
    currency: &'a str,
}

#[derive(Serialize)]
struct WorkerLine<'a> {
    worker_id: &'a str,
    currency: &'a str,
    cost: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TakingsKey {
    hour: i64,
    backend_id: String,
    operation: String,
    model: String,
    currency: String,
}

/// Jobs, what callers paid for them, and what they cost.
type Takings = BTreeMap<TakingsKey, (i64, i64, i64)>;

#[derive(Serialize)]
struct TakingLine<'a> {
    hour: i64,
    backend_id: &'a str,
    operation: &'a str,
    model: &'a str,
    currency: &'a str,
    jobs: i64,
    quota: i64,
    cost: i64,
}

impl Costs {
    /// Takes note of what a settlement says was taken. Whether it settles or comes too late, the vendor was paid.
    pub(crate) fn told(&mut self, row: &JobRow, settlement: &Settlement) {
        let Some(cost) = &settlement.cost else { return };
        let told = ReportedCost {
            cost: cost.clone(),
            operation: row.operation.clone(),
            model: settlement.model.clone(),
            hour: settlement.now_ms.div_euclid(HOUR_MS),
        };
        self.told.entry(cost.attempt_id.clone()).or_insert(told);
    }

    /// Takes note of what a caller paid for what a worker account made.
    pub(crate) fn paid(&mut self, row: &JobRow, settlement: &Settlement) {
        let worker = row.worker.as_deref().and_then(|name| name.split_once('/'));
        let Some((backend_id, _)) = worker else {
            return;
        };
        let currency = settlement.cost.as_ref().map(|cost| cost.currency.clone());
        let kind = TakingsKey {
            hour: settlement.now_ms.div_euclid(HOUR_MS),
            backend_id: backend_id.to_owned(),
            operation: row.operation.clone(),
            model: settlement.model.clone(),
            currency: currency.unwrap_or_default(),
        };
        let taking = self.takings.entry(kind).or_default();
        taking.0 += 1;
        taking.1 += row.quota.thousandths();
    }

    /// Whether there is nothing to be written.
    pub(crate) fn is_empty(&self) -> bool {
        self.told.is_empty() && self.takings.is_empty()
    }

    /// Writes all of it. A cost counts once for its attempt.
    pub(crate) async fn write(&self, conn: &mut Conn) -> Result<()> {
        let mut takings = self.takings.clone();
        if !self.told.is_empty() {
            let line = |(id, told): (&'_ String, &'_ ReportedCost)| (id.clone(), told.cost.clone());
            let told: Vec<(String, Cost)> = self.told.iter().map(line).collect();
            let lines = told.iter().map(|(id, cost)| CostLine {
                id,
                cost: cost.micros,
                currency: &cost.currency,
            });
            let lines: Vec<CostLine<'_>> = lines.collect();
            let counted: Vec<(String, String)> = conn.all(NOTE_COSTS, args![&json(&lines)]).await?;
            self.add_to_workers(conn, &counted).await?;
            for (id, worker) in &counted {
                let (Some(told), Some((backend_id, _))) =
                    (self.told.get(id), worker.split_once('/'))
                else {
                    continue;
                };
                let kind = TakingsKey {
                    hour: told.hour,
                    backend_id: backend_id.to_owned(),
                    operation: told.operation.clone(),
                    model: told.model.clone(),
                    currency: told.cost.currency.clone(),
                };
                takings.entry(kind).or_default().2 += told.cost.micros;
            }
        }
        if takings.is_empty() {
            return Ok(());
        }
        let line = |(kind, taking): (&'_ TakingsKey, &'_ (i64, i64, i64))| (kind.clone(), *taking);
        let takings: Vec<(TakingsKey, (i64, i64, i64))> = takings.iter().map(line).collect();
        let lines = takings
            .iter()
            .map(|(kind, (jobs, quota, cost))| TakingLine {
                hour: kind.hour,
                backend_id: &kind.backend_id,
                operation: &kind.operation,
                model: &kind.model,
                currency: &kind.currency,
                jobs: *jobs,
                quota: *quota,
                cost: *cost,
            });
        let lines: Vec<TakingLine<'_>> = lines.collect();
        conn.run(ADD_TAKINGS, args![&json(&lines)])
            .await
            .map(|_| ())
    }

    async fn add_to_workers(&self, conn: &mut Conn, counted: &[(String, String)]) -> Result<()> {
        let mut sums: BTreeMap<(&str, &str), i64> = BTreeMap::new();
        for (id, worker) in counted {
            if let (Some(told), Some((_, worker_id))) = (self.told.get(id), worker.split_once('/'))
            {
                *sums.entry((worker_id, &told.cost.currency)).or_default() += told.cost.micros;
            }
        }
        if sums.is_empty() {
            return Ok(());
        }
        let line = |((worker_id, currency), cost)| WorkerLine {
            worker_id,
            currency,
            cost,
        };
        let lines: Vec<WorkerLine<'_>> = sums.into_iter().map(line).collect();
        conn.run(ADD_TO_WORKERS, args![&json(&lines)])
            .await
            .map(|_| ())
    }
}

/// Adds what a vendor took from a worker account for what was nobody's job.
pub(crate) async fn add_to_worker(
    conn: &mut Conn,
    worker_id: &str,
    currency: &str,
    cost: i64,
) -> Result<()> {
    let line = WorkerLine {
        worker_id,
        currency,
        cost,
    };
    conn.run(ADD_TO_WORKERS, args![&json(&[line])])
        .await
        .map(|_| ())
}

const NOTE_COSTS: &str = "UPDATE attempt SET cost = v.cost, currency = v.currency \
     FROM {rows:$1 id text, cost bigint, currency text} \
     WHERE attempt.id = v.id AND CASE WHEN attempt.cost IS NULL THEN attempt.id END = v.id RETURNING attempt.id, attempt.worker";

const ADD_TO_WORKERS: &str = "INSERT INTO worker_cost (worker_id, currency, cost) \
     SELECT v.worker_id, v.currency, v.cost \
     FROM {rows:$1 worker_id text, currency text, cost bigint} \
     WHERE EXISTS (SELECT 1 FROM worker WHERE worker.id = v.worker_id) \
     ORDER BY v.worker_id, v.currency \
     ON CONFLICT (worker_id, currency) DO UPDATE SET cost = worker_cost.cost + excluded.cost";

// Callers' own worker accounts are their own money.
const ADD_TAKINGS: &str = "INSERT INTO taking (hour, backend_id, vendor, operation, model, currency, jobs, quota, cost) \
     SELECT v.hour, v.backend_id, backend.vendor, v.operation, v.model, v.currency, v.jobs, v.quota, v.cost \
     FROM {rows:$1 hour bigint, backend_id text, operation text, model text, currency text, jobs bigint, quota bigint, cost bigint} \
     JOIN backend ON backend.id = v.backend_id WHERE backend.owner IS NULL \
     ORDER BY v.hour, v.backend_id, v.operation, v.model, v.currency \
     ON CONFLICT (hour, backend_id, operation, model, currency) DO UPDATE SET jobs = taking.jobs + excluded.jobs, \
     quota = taking.quota + excluded.quota, cost = taking.cost + excluded.cost";
