//! A raw batched writer: takes what waits, writes the rows of a submit (account, ledger, job, counter) with one
//! statement per table, commits, answers. No admission, no idempotency, no types: the floor of what durability costs.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use sqlx::{Connection as _, Executor as _, PgConnection, SqliteConnection};
use tokio::sync::{mpsc, oneshot};

const BATCH_MOST: usize = 256;

/// Hands rows to the one connection that writes.
#[derive(Clone)]
pub(crate) struct Writer {
    waiting: mpsc::Sender<(String, oneshot::Sender<String>)>,
}

/// A database of its own for one round; a SQLite file is removed afterwards.
pub(crate) struct Place {
    /// Its address.
    pub(crate) url: String,
    file: Option<std::path::PathBuf>,
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(folder) = self.file.as_ref().and_then(|file| file.parent()) {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

/// Makes a database on a PostgreSQL server, or names a fresh SQLite file.
pub(crate) async fn fresh_database(server: Option<&str>, name: &str) -> Result<Place> {
    let name = format!("bench_{}_{name}", std::process::id());
    let Some(server) = server else {
        let folder = std::env::temp_dir().join(&name);
        std::fs::create_dir_all(&folder)?;
        let file = folder.join("raw.db");
        return Ok(Place {
            url: format!("sqlite:{}", file.display()),
            file: Some(file),
        });
    };
    let mut connection = PgConnection::connect(server).await?;
    connection
        .execute(sqlx::AssertSqlSafe(format!("CREATE DATABASE {name}")))
        .await?;
    let (start, query) = server
        .split_once('?')
        .map_or((server, String::new()), |(a, b)| (a, format!("?{b}")));
    let base = start
        .rsplit_once('/')
        .context("an address with a database")?
        .0;
    Ok(Place {
        url: format!("{base}/{name}{query}"),
        file: None,
    })
}

const SCHEMA: &[&str] = &[
    "CREATE TABLE account (id TEXT PRIMARY KEY, balance BIGINT NOT NULL, frozen BIGINT NOT NULL)",
    "CREATE TABLE ledger (id TEXT PRIMARY KEY, account_id TEXT NOT NULL, job_id TEXT, kind TEXT NOT NULL, amount BIGINT \
     NOT NULL, balance_after BIGINT NOT NULL, frozen_after BIGINT NOT NULL, time_ms BIGINT NOT NULL)",
    "CREATE UNIQUE INDEX ledger_hold ON ledger (job_id) WHERE kind = 'hold'",
    "CREATE TABLE job (id TEXT PRIMARY KEY, account_id TEXT NOT NULL, operation TEXT NOT NULL, queue TEXT NOT NULL, state \
     BIGINT NOT NULL, request TEXT NOT NULL, price BIGINT NOT NULL, turn_ms BIGINT NOT NULL, created_ms BIGINT NOT NULL, \
     deadline_ms BIGINT NOT NULL)",
    "CREATE INDEX job_queue ON job (turn_ms, id) WHERE state = 0",
    "CREATE INDEX job_deadline ON job (deadline_ms) WHERE state < 2",
    "CREATE INDEX job_account ON job (account_id, created_ms)",
    "CREATE TABLE in_flight (account_id TEXT NOT NULL, queue TEXT NOT NULL, jobs BIGINT NOT NULL, PRIMARY KEY (account_id, queue))",
    "INSERT INTO account VALUES ('a', 900000000000, 0)",
    "INSERT INTO in_flight VALUES ('a', 'artgen', 0)",
];

enum Link {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

impl Writer {
    /// Opens a database and starts the one task that writes.
    #[expect(clippy::disallowed_methods, reason = "the task ends with the process")]
    pub(crate) async fn open(database: &str) -> Result<Self> {
        let mut link = if database.starts_with("postgres") {
            Link::Postgres(PgConnection::connect(database).await?)
        } else {
            let mut connection = SqliteConnection::connect(&format!("{database}?mode=rwc")).await?;
            connection.execute("PRAGMA journal_mode = WAL").await?;
            connection.execute("PRAGMA synchronous = FULL").await?;
            Link::Sqlite(connection)
        };
        for statement in SCHEMA {
            match &mut link {
                Link::Sqlite(connection) => connection.execute(*statement).await.map(|_| ())?,
                Link::Postgres(connection) => connection.execute(*statement).await.map(|_| ())?,
            }
        }
        let (waiting, work) = mpsc::channel(4096);
        tokio::task::spawn(run(link, work));
        Ok(Self { waiting })
    }

    /// Writes the rows of one submit; the id after its commit.
    pub(crate) async fn write(&self, request: String) -> Option<String> {
        let (answer, done) = oneshot::channel();
        self.waiting.send((request, answer)).await.ok()?;
        done.await.ok()
    }
}

async fn run(mut link: Link, mut work: mpsc::Receiver<(String, oneshot::Sender<String>)>) {
    let (mut number, mut balance) = (0_u64, 900_000_000_000_i64);
    let mut batch = Vec::new();
    while work.recv_many(&mut batch, BATCH_MOST).await > 0 {
        let count = batch.len() as i64;
        let mut rows = Vec::new();
        let mut answers = Vec::new();
        for (request, answer) in batch.drain(..) {
            number += 1;
            balance -= 4000;
            let id = format!("01940000-0000-7000-8000-{number:012x}");
            rows.push(json!({ "id": id, "hold": format!("{id}h"), "request": request, "balance": balance, "n": number }));
            answers.push((id, answer));
        }
        let rows = Value::Array(rows).to_string();
        let written = match &mut link {
            Link::Sqlite(connection) => write_sqlite(connection, &rows, count).await,
            Link::Postgres(connection) => write_postgres(connection, &rows, count).await,
        };
        if written.is_ok() {
            for (id, answer) in answers {
                let _ = answer.send(id);
            }
        }
    }
}

const JOB: &str = "INSERT INTO job SELECT ";
const LEDGER: &str = "INSERT INTO ledger SELECT ";

async fn write_sqlite(
    connection: &mut SqliteConnection,
    rows: &str,
    count: i64,
) -> sqlx::Result<()> {
    connection.execute("BEGIN IMMEDIATE").await?;
    let from = "FROM json_each($1) AS j";
    let jobs = format!(
        "{JOB} j.value->>'id', 'a', 'artgen.imagine', 'artgen', 0, j.value->>'request', 4000, j.value->>'n', 1, 2 {from}"
    );
    let ledger = format!(
        "{LEDGER} j.value->>'hold', 'a', j.value->>'id', 'hold', 4000, j.value->>'balance', 4000, 1 {from}"
    );
    for statement in [jobs, ledger] {
        sqlx::query(sqlx::AssertSqlSafe(statement))
            .bind(rows)
            .execute(&mut *connection)
            .await?;
    }
    for statement in COUNTERS {
        sqlx::query(*statement)
            .bind(count)
            .execute(&mut *connection)
            .await?;
    }
    connection.execute("COMMIT").await.map(|_| ())
}

async fn write_postgres(connection: &mut PgConnection, rows: &str, count: i64) -> sqlx::Result<()> {
    connection.execute("BEGIN").await?;
    let from = "FROM json_to_recordset($1::json) AS j(id text, hold text, request text, balance bigint, n bigint)";
    let jobs = format!(
        "{JOB} j.id, 'a', 'artgen.imagine', 'artgen', 0, j.request, 4000, j.n, 1, 2 {from}"
    );
    let ledger = format!("{LEDGER} j.hold, 'a', j.id, 'hold', 4000, j.balance, 4000, 1 {from}");
    for statement in [jobs, ledger] {
        sqlx::query(sqlx::AssertSqlSafe(statement))
            .bind(rows)
            .execute(&mut *connection)
            .await?;
    }
    for statement in COUNTERS {
        sqlx::query(*statement)
            .bind(count)
            .execute(&mut *connection)
            .await?;
    }
    connection.execute("COMMIT").await.map(|_| ())
}

const COUNTERS: &[&str] = &[
    "UPDATE account SET balance = balance - 4000 * $1, frozen = frozen + 4000 * $1 WHERE id = 'a'",
    "UPDATE in_flight SET jobs = jobs + $1 WHERE account_id = 'a'",
];
