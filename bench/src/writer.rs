//! A raw batched writer: takes what waits, writes the rows of a submit (account, ledger, job, counter) with one
//! statement per table, commits, answers. No admission, no idempotency, no types: the runner of what durability costs.

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

/// Makes a database for one round on a PostgreSQL server, or names a fresh SQLite file; its address.
pub(crate) async fn fresh_database(server: Option<&str>, name: &str) -> Result<String> {
    let name = format!("bench_{}_{name}", std::process::id());
    let Some(server) = server else {
        let folder = crate::folder::fresh(&name)?;
        let file = folder.join("atelier.db");
        crate::service::migrate(&["--data-dir", &folder.display().to_string()]).await?;
        return Ok(format!("sqlite:{}", file.display()));
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
    let url = format!("{base}/{name}{query}");
    if name.contains("raw") {
        crate::service::migrate(&["--database", &url]).await?;
    }
    Ok(url)
}

/// The one account of the reference, in the service's own schema.
const FIRST_ROWS: &[&str] = &[
    "INSERT INTO account (id, email, email_key, balance, frozen, max_queue, entries, disabled, created_ms) \
     VALUES ('a', 'a@example.com', 'a@example.com', 900000000000, 0, 1000000, 0, FALSE, 1)",
    "INSERT INTO in_flight (account_id, queue, jobs) VALUES ('a', 'artgen', 0)",
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
            let mut connection = SqliteConnection::connect(database).await?;
            connection.execute("PRAGMA journal_mode = WAL").await?;
            connection.execute("PRAGMA synchronous = FULL").await?;
            connection.execute("PRAGMA foreign_keys = ON").await?;
            Link::Sqlite(connection)
        };
        for statement in FIRST_ROWS {
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
            let frozen = 900_000_000_000 - balance;
            drop(request);
            rows.push(json!({ "id": id, "hold": format!("{id}h"), "balance": balance, "frozen": frozen, "n": number }));
            answers.push((id, answer));
        }
        let rows = Value::Array(rows).to_string();
        if write(&mut link, &rows, count).await.is_ok() {
            for (id, answer) in answers {
                let _ = answer.send(id);
            }
        }
    }
}

const JOB: &str = "INSERT INTO job (id, account_id, operation, queue, state, speed, progress, request, price, quota, \
     created_ms, deadline_ms, updated_ms, revision, turn_ms, not_before_ms, fence, tries) SELECT ";
const LEDGER: &str = "INSERT INTO ledger (id, account_id, number, job_id, kind, amount, balance_delta, frozen_delta, \
     balance_after, frozen_after, reason, time_ms) SELECT ";
/// What the service stores of the same request, with its defaults resolved.
const REQUEST: &str = r#"{"getUImages":false,"mode":"fast","prompt":"a lighthouse at dawn [[stall]]","timeout":1200,"translation":true,"version":"7"}"#;

/// The same statements on either connection; each arm is typed by its own driver.
macro_rules! write_rows {
    ($connection:ident, $begin:literal, $value:expr, $from:literal, $rows:ident, $count:ident) => {{
        $connection.execute($begin).await?;
        for statement in statements(&$value, $from) {
            let query = sqlx::query(sqlx::AssertSqlSafe(statement));
            let query = query.bind($rows).bind(REQUEST);
            query.execute(&mut *$connection).await?;
        }
        for statement in COUNTERS {
            let query = sqlx::query(*statement).bind($count);
            query.execute(&mut *$connection).await?;
        }
        $connection.execute("COMMIT").await.map(|_| ())
    }};
}

async fn write(link: &mut Link, rows: &str, count: i64) -> sqlx::Result<()> {
    match link {
        Link::Sqlite(connection) => write_rows!(
            connection,
            "BEGIN IMMEDIATE",
            |name: &str| format!("j.value->>'{name}'"),
            "FROM json_each($1) AS j",
            rows,
            count
        ),
        Link::Postgres(connection) => write_rows!(
            connection,
            "BEGIN",
            |name: &str| format!("j.{name}"),
            "FROM json_to_recordset($1::json) AS j(id text, hold text, balance bigint, frozen bigint, n bigint)",
            rows,
            count
        ),
    }
}

/// One insert per table, the rows as the service writes them.
fn statements(value: &dyn Fn(&str) -> String, from: &str) -> [String; 2] {
    let (id, hold, n) = (value("id"), value("hold"), value("n"));
    let (balance, frozen) = (value("balance"), value("frozen"));
    [
        format!(
            "{JOB} {id}, 'a', 'artgen.imagine', 'artgen', 0, 1, 0, $2, 4000, 0, 1794000000000, 1794001200000, \
             1794000000000, 1, {n}, 0, 0, 0 {from}"
        ),
        // The second parameter is named so that both statements take the same two.
        format!(
            "{LEDGER} {hold}, 'a', {n}, {id}, 'hold', 4000, -4000, 4000, {balance}, {frozen}, \
             SUBSTR($2, 1, 0), 1794000000000 {from}"
        ),
    ]
}

const COUNTERS: &[&str] = &[
    "UPDATE account SET balance = balance - 4000 * $1, frozen = frozen + 4000 * $1, entries = entries + $1 WHERE id = 'a'",
    "UPDATE in_flight SET jobs = jobs + $1 WHERE account_id = 'a'",
];
