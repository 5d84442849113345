//! Changes of back ends and worker accounts. Who owns a row is part of every statement that changes it.

use atelier_contract::Quota;
use atelier_contract::pages::cost::Amount;
use serde::Serialize;

use crate::Result;
use crate::audit::AuditRow;
use crate::audited_change;
use crate::batch::costs::add_to_worker;
use crate::db::{Conn, args, json};
use crate::first_use;
use crate::migrate::REHEARSAL;
use crate::pending::ChangeFuture;
use crate::rehearsals;
use crate::workers::{BackendRow, WorkerRow, Workers};

/// What became of a removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoveOutcome {
    Done,
    /// It has this many jobs in hand and stays.
    Busy(i64),
    Absent,
}

/// What was learned of a worker account at work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerNote {
    pub id: String,
    /// What it spent since the last note.
    pub spent: Quota,
    /// Its health as JSON.
    pub health: String,
    /// When that was learned; an older note does not replace a newer one.
    pub health_ms: i64,
}

#[derive(Serialize)]
struct NoteLine {
    id: String,
    spent: i64,
    health: String,
    health_ms: i64,
}

#[derive(Serialize)]
struct SealedLine {
    name: String,
    value: String,
}

/// A worker account to be made or changed.
#[derive(Clone, Debug)]
pub struct WorkerUpsert {
    /// What it shall be; what it spent and how well it is are not taken from here.
    pub row: WorkerRow,
    /// Counts what it spent from zero again.
    pub clear_spent: bool,
    /// Replaces what is known of its health: JSON, and when it was learned.
    pub health: Option<(String, i64)>,
}

/// Changes of back ends and worker accounts that belong together: one commit, all or none.
#[derive(Clone, Debug, Default)]
pub struct BackendChange {
    /// Back ends to be made or changed.
    pub backends: Vec<BackendRow>,
    /// Worker accounts to be made or changed.
    pub workers: Vec<WorkerUpsert>,
    /// Back ends of the operator's that go; one with jobs in hand is switched off instead.
    pub leaving_backends: Vec<String>,
    /// Worker accounts of the operator's that go; one with jobs in hand is retired instead.
    pub leaving_workers: Vec<String>,
    /// What was read before and must still be so; nothing changes otherwise.
    pub seen: Vec<ExpectedRevision>,
    /// What an operator switched stays as it is: whether a known back end is switched off, the state of a known
    /// worker account.
    pub keeps_switches: bool,
    /// Nodes that were heard of since then may be at work.
    pub alive_since_ms: i64,
}

/// A back end or worker account as it was when it was read, by its identifier and revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpectedRevision {
    Backend(String, i64),
    Worker(String, i64),
}

/// What became of an [`BackendChange`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BackendChangeOutcome {
    Done,
    /// Another back end of the operator's has the name; nothing changed.
    NameTaken,
    /// A worker account's back end is not there; nothing changed.
    NoBackend,
    /// Something is not as it was seen; nothing changed.
    Crossed,
    /// This node is at work, which would give jobs to a back end that is rehearsed; nothing changed.
    OlderNode(String),
}

impl Workers<'_> {
    /// Makes and changes back ends and worker accounts, all or none.
    pub async fn apply_backend_change(
        self,
        arrangement: BackendChange,
        audit: Option<AuditRow>,
    ) -> Result<BackendChangeOutcome> {
        audited_change::run(
            self.0,
            arrangement,
            audit,
            |conn, arrangement| Box::pin(apply_backend_change(conn, arrangement)),
            |arranged| *arranged == BackendChangeOutcome::Done,
        )
        .await
    }

    /// Notes what workers spent and how well they are, and who asked them, if anybody did.
    pub async fn note(self, notes: Vec<WorkerNote>, audit: Option<AuditRow>) -> Result<()> {
        let line = |note: WorkerNote| NoteLine {
            id: note.id,
            spent: note.spent.thousandths(),
            health: note.health,
            health_ms: note.health_ms,
        };
        let lines: Vec<NoteLine> = notes.into_iter().map(line).collect();
        audited_change::run(
            self.0,
            json(&lines),
            audit,
            |conn, lines| {
                Box::pin(async move { conn.run(NOTE_WORKERS, args![lines]).await.map(|_| ()) })
            },
            |()| true,
        )
        .await
    }

    /// Adds what a vendor took from a worker account for what was nobody's job, in millionths: it counts against the
    /// account's cap like any other cost.
    pub async fn add_cost(self, worker_id: &str, currency: &str, micros: i64) -> Result<()> {
        let cost = (worker_id.to_owned(), currency.to_owned(), micros);
        audited_change::run(
            self.0,
            cost,
            None,
            |conn, (worker_id, currency, micros)| {
                Box::pin(add_to_worker(conn, worker_id, currency, *micros))
            },
            |()| true,
        )
        .await
    }

    /// Removes a worker account of an owner, unless it has jobs in hand.
    pub async fn remove(
        self,
        owner: Option<&str>,
        id: &str,
        audit: Option<AuditRow>,
    ) -> Result<RemoveOutcome> {
        self.remove_row(owner, id, audit, |conn, (owner, id)| {
            Box::pin(remove_worker(conn, owner, id))
        })
        .await
    }

    /// Removes a back end of an owner with all its worker accounts, unless one has jobs in hand.
    pub async fn remove_backend(
        self,
        owner: Option<&str>,
        id: &str,
        audit: Option<AuditRow>,
    ) -> Result<RemoveOutcome> {
        self.remove_row(owner, id, audit, |conn, (owner, id)| {
            Box::pin(remove_backend(conn, owner, id))
        })
        .await
    }

    async fn remove_row(
        self,
        owner: Option<&str>,
        id: &str,
        audit: Option<AuditRow>,
        act: for<'a> fn(&'a mut Conn, &'a (String, String)) -> ChangeFuture<'a, RemoveOutcome>,
    ) -> Result<RemoveOutcome> {
        let input = (owner.unwrap_or_default().to_owned(), id.to_owned());
        audited_change::run(self.0, input, audit, act, |removed| {
            *removed == RemoveOutcome::Done
        })
        .await
    }

    /// Replaces sealed credentials and settings by the same secrets under another key, all or none.
    pub async fn reseal(
        self,
        credentials: Vec<(String, String)>,
        settings: Vec<(String, String)>,
        audit: Option<AuditRow>,
    ) -> Result<()> {
        let lines = |pairs: Vec<(String, String)>| {
            let line = |(name, value)| SealedLine { name, value };
            json(&pairs.into_iter().map(line).collect::<Vec<_>>())
        };
        let input = (lines(credentials), lines(settings));
        audited_change::run(
            self.0,
            input,
            audit,
            |conn, (credentials, settings)| {
                Box::pin(async move {
                    conn.run(RESEAL_WORKERS, args![credentials]).await?;
                    conn.run(RESEAL_SETTINGS, args![settings]).await.map(|_| ())
                })
            },
            |()| true,
        )
        .await
    }
}

async fn apply_backend_change(
    conn: &mut Conn,
    arrangement: &BackendChange,
) -> Result<BackendChangeOutcome> {
    // Everything is looked at before anything is written.
    for seen in &arrangement.seen {
        let (sql, id, revision) = match seen {
            ExpectedRevision::Backend(id, revision) => (SEEN_BACKEND, id, revision),
            ExpectedRevision::Worker(id, revision) => (SEEN_WORKER, id, revision),
        };
        let now: Option<i64> = conn.maybe(sql, args![id]).await?;
        if now != Some(*revision) {
            return Ok(BackendChangeOutcome::Crossed);
        }
    }
    for row in arrangement
        .backends
        .iter()
        .filter(|row| row.owner.is_none())
    {
        let other: Option<String> = conn
            .maybe(
                "SELECT id FROM backend WHERE name = $1 AND id <> $2 AND owner IS NULL",
                args![&*row.spec.name, &row.id],
            )
            .await?;
        if other.is_some_and(|other| !arrangement.leaving_backends.contains(&other)) {
            return Ok(BackendChangeOutcome::NameTaken);
        }
    }
    for WorkerUpsert { row, .. } in &arrangement.workers {
        let comes = |one: &BackendRow| one.id == row.backend_id && one.owner == row.owner;
        if !arrangement.backends.iter().any(comes) && !is_there(conn, row).await? {
            return Ok(BackendChangeOutcome::NoBackend);
        }
    }
    let rehearsed = arrangement
        .backends
        .iter()
        .any(|row| row.spec.shadow.is_some());
    if rehearsed
        && let Some(node) = first_use::begin(conn, REHEARSAL, arrangement.alive_since_ms).await?
    {
        return Ok(BackendChangeOutcome::OlderNode(node));
    }
    // Those that go make room for the names of those that come.
    for id in &arrangement.leaving_backends {
        if let RemoveOutcome::Busy(_) = remove_backend(conn, "", id).await? {
            // What is in hand goes on; nothing new begins.
            let off = "UPDATE backend SET enabled = FALSE, revision = revision + 1 WHERE id = $1";
            conn.run(off, args![id]).await?;
        }
    }
    for row in &arrangement.backends {
        put_backend(conn, row, arrangement.keeps_switches).await?;
    }
    for put in &arrangement.workers {
        put_worker(conn, put, arrangement.keeps_switches).await?;
    }
    for id in &arrangement.leaving_workers {
        if let RemoveOutcome::Busy(_) = remove_worker(conn, "", id).await? {
            let off = "UPDATE worker SET retired = TRUE, revision = revision + 1 WHERE id = $1";
            conn.run(off, args![id]).await?;
        }
    }
    Ok(BackendChangeOutcome::Done)
}

/// Whether the back end of a worker account is there, and its owner's.
async fn is_there(conn: &mut Conn, row: &WorkerRow) -> Result<bool> {
    let at: Option<String> = conn
        .maybe(
            "SELECT id FROM backend WHERE id = $1 AND COALESCE(owner, '') = $2",
            args![&row.backend_id, row.owner.as_deref().unwrap_or_default()],
        )
        .await?;
    Ok(at.is_some())
}

async fn put_backend(conn: &mut Conn, row: &BackendRow, keeps_switch: bool) -> Result<()> {
    let spec = &row.spec;
    let (settings, operations) = (json(&spec.settings), json(&spec.operations));
    let shadow = spec.shadow.as_ref().map(json);
    let args = args![
        &row.id,
        row.owner.as_deref(),
        &*spec.name,
        &*spec.vendor,
        &*spec.base_url,
        &settings,
        &operations,
        spec.rank.get(),
        spec.enabled.on(),
        row.declared,
        row.switched_off,
        row.created_ms,
        keeps_switch,
        shadow.as_deref()
    ];
    conn.run(PUT_BACKEND, args).await.map(|_| ())
}

async fn put_worker(conn: &mut Conn, put: &WorkerUpsert, keeps_state: bool) -> Result<()> {
    let (row, spec) = (&put.row, &put.row.spec);
    let (models, modes) = (json(&spec.models), json(&spec.modes));
    let (health, health_ms) = put.health.clone().unwrap_or_default();
    let args = args![
        &row.id,
        &row.backend_id,
        row.owner.as_deref(),
        &*spec.name,
        &row.credential,
        spec.concurrency.get(),
        spec.per_minute.get(),
        spec.per_hour.get(),
        spec.polls_per_minute.get(),
        spec.weight.get(),
        &models,
        &modes,
        spec.hours.text(),
        spec.spend_cap.map(Quota::thousandths),
        spec.cost_cap.map(Amount::micros),
        spec.state.word(),
        &health,
        health_ms,
        row.created_ms,
        keeps_state,
        put.clear_spent,
        put.health.is_some()
    ];
    conn.run(PUT_WORKER, args).await?;
    if put.clear_spent {
        conn.run(FORGET_COSTS, args![&row.id]).await?;
    }
    Ok(())
}

async fn remove_worker(conn: &mut Conn, owner: &str, id: &str) -> Result<RemoveOutcome> {
    let live: Option<i64> = conn
        .maybe(
            "SELECT (SELECT COUNT(*) FROM attempt WHERE ended_ms IS NULL \
             AND attempt.worker = worker.backend_id || '/' || worker.id) \
             FROM worker WHERE id = $1 AND COALESCE(owner, '') = $2",
            args![id, owner],
        )
        .await?;
    match live {
        None => return Ok(RemoveOutcome::Absent),
        Some(0) => {}
        Some(live) => return Ok(RemoveOutcome::Busy(live)),
    }
    conn.run(FORGET_COSTS, args![id]).await?;
    conn.run("DELETE FROM worker WHERE id = $1", args![id])
        .await?;
    Ok(RemoveOutcome::Done)
}

async fn remove_backend(conn: &mut Conn, owner: &str, id: &str) -> Result<RemoveOutcome> {
    let live: Option<i64> = conn
        .maybe(
            "SELECT (SELECT COUNT(*) FROM attempt JOIN worker \
             ON attempt.worker = worker.backend_id || '/' || worker.id \
             WHERE attempt.ended_ms IS NULL AND worker.backend_id = backend.id) \
             FROM backend WHERE id = $1 AND COALESCE(owner, '') = $2",
            args![id, owner],
        )
        .await?;
    match live {
        None => return Ok(RemoveOutcome::Absent),
        Some(0) => {}
        Some(live) => return Ok(RemoveOutcome::Busy(live)),
    }
    let forget =
        "DELETE FROM worker_cost WHERE worker_id IN (SELECT id FROM worker WHERE backend_id = $1)";
    conn.run(forget, args![id]).await?;
    conn.run("DELETE FROM worker WHERE backend_id = $1", args![id])
        .await?;
    rehearsals::clear(conn, id).await?;
    conn.run("DELETE FROM backend WHERE id = $1", args![id])
        .await?;
    Ok(RemoveOutcome::Done)
}

const SEEN_BACKEND: &str = "SELECT revision FROM backend WHERE id = $1 {lock}";

const SEEN_WORKER: &str = "SELECT revision FROM worker WHERE id = $1 {lock}";

const PUT_BACKEND: &str = "INSERT INTO backend (id, owner, name, vendor, base_url, settings, operations, \
     rank, enabled, declared, switched_off, created_ms, shadow, revision) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $14, 1) \
     ON CONFLICT (id) DO UPDATE SET name = excluded.name, vendor = excluded.vendor, \
     base_url = excluded.base_url, settings = excluded.settings, operations = excluded.operations, \
     rank = excluded.rank, enabled = excluded.enabled, declared = excluded.declared, shadow = excluded.shadow, \
     switched_off = CASE WHEN $13 THEN backend.switched_off ELSE excluded.switched_off END, \
     revision = backend.revision + 1";

const FORGET_COSTS: &str = "DELETE FROM worker_cost WHERE worker_id = $1";

const PUT_WORKER: &str = "INSERT INTO worker (id, backend_id, owner, name, credential, concurrency, \
     per_minute, per_hour, polls_per_minute, weight, models, modes, hours, spend_cap, cost_cap, spent, state, \
     health, health_ms, retired, created_ms, revision) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, 0, $16, $17, $18, FALSE, $19, 1) \
     ON CONFLICT (id) DO UPDATE SET name = excluded.name, credential = excluded.credential, \
     concurrency = excluded.concurrency, per_minute = excluded.per_minute, \
     per_hour = excluded.per_hour, polls_per_minute = excluded.polls_per_minute, \
     weight = excluded.weight, models = excluded.models, modes = excluded.modes, \
     hours = excluded.hours, spend_cap = excluded.spend_cap, cost_cap = excluded.cost_cap, \
     retired = CASE WHEN $20 THEN FALSE ELSE worker.retired END, \
     state = CASE WHEN $20 THEN worker.state ELSE excluded.state END, \
     spent = CASE WHEN $21 THEN 0 ELSE worker.spent END, \
     health = CASE WHEN $22 THEN excluded.health ELSE worker.health END, \
     health_ms = CASE WHEN $22 THEN excluded.health_ms ELSE worker.health_ms END, \
     revision = worker.revision + 1";

const NOTE_WORKERS: &str = "UPDATE worker SET spent = worker.spent + v.spent, \
     health = CASE WHEN v.health_ms >= worker.health_ms THEN v.health ELSE worker.health END, \
     health_ms = CASE WHEN v.health_ms >= worker.health_ms THEN v.health_ms ELSE worker.health_ms END \
     FROM {rows:$1 id text, spent bigint, health text, health_ms bigint} WHERE worker.id = v.id";

const RESEAL_WORKERS: &str = "UPDATE worker SET credential = v.value, revision = worker.revision + 1 \
     FROM {rows:$1 name text, value text} WHERE worker.id = v.name";

const RESEAL_SETTINGS: &str = "INSERT INTO setting (name, value) SELECT v.name, v.value \
     FROM {rows:$1 name text, value text} WHERE TRUE \
     ON CONFLICT (name) DO UPDATE SET value = excluded.value";
