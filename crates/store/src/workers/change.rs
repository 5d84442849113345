//! Changes of back ends and worker accounts. Who owns a row is part of every statement that changes it.

use atelier_contract::Quota;
use serde::Serialize;

use crate::audit::AuditRow;
use crate::batch::json;
use crate::db::{Conn, args};
use crate::workers::{BackendRow, WorkerRow};
use crate::{Error, Result, Store};

/// What became of a removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removed {
    /// It is gone.
    Done,
    /// It has this many jobs in hand and stays.
    Busy(i64),
    /// There was none.
    Absent,
}

/// What was learned of a worker account at work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerNote {
    /// The worker account.
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

impl Store {
    /// Makes or changes a back end; a conflict when another of the operator's has the name.
    pub async fn put_backend(&self, row: BackendRow) -> Result<()> {
        let done = self
            .change(row, |conn, row| Box::pin(put_backend(conn, row)))
            .await?;
        done.then_some(())
            .ok_or_else(|| Error::Conflict("there is a back end with this name".into()))
    }

    /// Makes or changes a worker account; what it spent and how well it is stay as they are. False when its back end
    /// is not there.
    pub async fn put_worker(&self, row: WorkerRow) -> Result<bool> {
        self.change(row, |conn, row| Box::pin(put_worker(conn, row)))
            .await
    }

    /// Notes what workers spent and how well they are.
    pub async fn note_workers(&self, notes: Vec<WorkerNote>) -> Result<()> {
        let line = |note: WorkerNote| NoteLine {
            id: note.id,
            spent: note.spent.thousandths(),
            health: note.health,
            health_ms: note.health_ms,
        };
        let lines: Vec<NoteLine> = notes.into_iter().map(line).collect();
        self.change(json(&lines), |conn, lines| {
            Box::pin(async move { conn.run(NOTE_WORKERS, args![lines]).await.map(|_| ()) })
        })
        .await
    }

    /// Counts what a worker account spent from zero again.
    pub async fn clear_spent(&self, id: &str) -> Result<()> {
        self.change(id.to_owned(), |conn, id| {
            Box::pin(async move {
                let sql = "UPDATE worker SET spent = 0, revision = revision + 1 WHERE id = $1";
                conn.run(sql, args![id]).await.map(|_| ())
            })
        })
        .await
    }

    /// Removes a worker account of an owner, unless it has jobs in hand.
    pub async fn remove_worker(&self, owner: Option<&str>, id: &str) -> Result<Removed> {
        let input = (owner.unwrap_or_default().to_owned(), id.to_owned());
        self.change(input, |conn, (owner, id)| {
            Box::pin(remove_worker(conn, owner, id))
        })
        .await
    }

    /// Removes a back end of an owner with all its worker accounts, unless one has jobs in hand.
    pub async fn remove_backend(&self, owner: Option<&str>, id: &str) -> Result<Removed> {
        let input = (owner.unwrap_or_default().to_owned(), id.to_owned());
        self.change(input, |conn, (owner, id)| {
            Box::pin(remove_backend(conn, owner, id))
        })
        .await
    }

    /// Replaces sealed credentials and settings by the same secrets under another key, all or none.
    pub async fn reseal(
        &self,
        credentials: Vec<(String, String)>,
        settings: Vec<(String, String)>,
        audit: Option<AuditRow>,
    ) -> Result<()> {
        let lines = |pairs: Vec<(String, String)>| {
            let line = |(name, value)| SealedLine { name, value };
            json(&pairs.into_iter().map(line).collect::<Vec<_>>())
        };
        let input = (lines(credentials), lines(settings));
        self.act(
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

/// False when the name is taken.
async fn put_backend(conn: &mut Conn, row: &BackendRow) -> Result<bool> {
    if row.owner.is_none() {
        let other: Option<String> = conn
            .maybe(
                "SELECT id FROM backend WHERE name = $1 AND id <> $2 AND owner IS NULL",
                args![&row.name, &row.id],
            )
            .await?;
        if other.is_some() {
            return Ok(false);
        }
    }
    conn.run(
        PUT_BACKEND,
        args![
            &row.id,
            row.owner.as_deref(),
            &row.name,
            &row.vendor,
            &row.base_url,
            &row.settings,
            &row.operations,
            row.rank,
            row.enabled,
            row.declared,
            row.created_ms
        ],
    )
    .await?;
    Ok(true)
}

/// False when its back end is not there.
async fn put_worker(conn: &mut Conn, row: &WorkerRow) -> Result<bool> {
    let at: Option<String> = conn
        .maybe(
            "SELECT id FROM backend WHERE id = $1 AND COALESCE(owner, '') = $2",
            args![&row.backend_id, row.owner.as_deref().unwrap_or_default()],
        )
        .await?;
    if at.is_none() {
        return Ok(false);
    }
    let args = args![
        &row.id,
        &row.backend_id,
        row.owner.as_deref(),
        &row.name,
        &row.credential,
        row.concurrency,
        row.per_minute,
        row.per_hour,
        row.polls_per_minute,
        row.weight,
        &row.models,
        &row.modes,
        &row.hours,
        row.spend_cap.map(Quota::thousandths),
        &row.state,
        row.created_ms
    ];
    conn.run(PUT_WORKER, args).await?;
    Ok(true)
}

async fn remove_worker(conn: &mut Conn, owner: &str, id: &str) -> Result<Removed> {
    let live: Option<i64> = conn
        .maybe(
            "SELECT (SELECT COUNT(*) FROM attempt WHERE ended_ms IS NULL \
             AND attempt.worker = worker.backend_id || '/' || worker.id) \
             FROM worker WHERE id = $1 AND COALESCE(owner, '') = $2",
            args![id, owner],
        )
        .await?;
    match live {
        None => return Ok(Removed::Absent),
        Some(0) => {}
        Some(live) => return Ok(Removed::Busy(live)),
    }
    conn.run("DELETE FROM worker WHERE id = $1", args![id])
        .await?;
    Ok(Removed::Done)
}

async fn remove_backend(conn: &mut Conn, owner: &str, id: &str) -> Result<Removed> {
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
        None => return Ok(Removed::Absent),
        Some(0) => {}
        Some(live) => return Ok(Removed::Busy(live)),
    }
    conn.run("DELETE FROM worker WHERE backend_id = $1", args![id])
        .await?;
    conn.run("DELETE FROM backend WHERE id = $1", args![id])
        .await?;
    Ok(Removed::Done)
}

const PUT_BACKEND: &str = "INSERT INTO backend (id, owner, name, vendor, base_url, settings, operations, \
     rank, enabled, declared, created_ms, revision) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 1) \
     ON CONFLICT (id) DO UPDATE SET name = excluded.name, vendor = excluded.vendor, \
     base_url = excluded.base_url, settings = excluded.settings, operations = excluded.operations, \
     rank = excluded.rank, enabled = excluded.enabled, declared = excluded.declared, \
     revision = backend.revision + 1";

const PUT_WORKER: &str = "INSERT INTO worker (id, backend_id, owner, name, credential, concurrency, \
     per_minute, per_hour, polls_per_minute, weight, models, modes, hours, spend_cap, spent, state, \
     health, health_ms, created_ms, revision) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, 0, $15, '', 0, $16, 1) \
     ON CONFLICT (id) DO UPDATE SET name = excluded.name, credential = excluded.credential, \
     concurrency = excluded.concurrency, per_minute = excluded.per_minute, \
     per_hour = excluded.per_hour, polls_per_minute = excluded.polls_per_minute, \
     weight = excluded.weight, models = excluded.models, modes = excluded.modes, \
     hours = excluded.hours, spend_cap = excluded.spend_cap, state = excluded.state, \
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
