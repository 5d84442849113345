//! The mark a writer leaves in every transaction: its own name and the number of the batch. Should the answer to a
//! commit not arrive, the mark tells whether it stands, on this server or on one that took its place.

use std::sync::Arc;
use std::time::Duration;

use sqlx::Row as _;
use sqlx::postgres::PgRow;
use tokio::time::Instant;

use crate::Result;
use crate::db::{Conn, PrefetchQuery, args};
use crate::dialect::Dialect;
use crate::time::{DatabaseClock, boot_ms};

/// Any transaction that still holds the mark is waited for; and what the last one may have left unfinished in the log
/// of SQLite is written over, so that it cannot come back after a crash.
const ASK: &str = "INSERT INTO written (writer, batch, time_ms) VALUES ($1, 0, 0) \
     ON CONFLICT (writer) DO UPDATE SET time_ms = written.time_ms + 1 RETURNING batch";

const LEAVE: &str = "INSERT INTO written (writer, batch, time_ms) \
     VALUES ($1, $2, CAST(unixepoch('subsec') * 1000 AS INTEGER)) ON CONFLICT (writer) \
     DO UPDATE SET batch = excluded.batch, time_ms = excluded.time_ms";

/// What a transaction of PostgreSQL is told, whose commits are durable unless it is.
fn commit_level(durable: bool) -> &'static str {
    if durable {
        ""
    } else {
        "SET LOCAL synchronous_commit = off; "
    }
}

fn leave_on_postgres(writer: &str, batch: &str) -> String {
    format!(
        "INSERT INTO written (writer, batch, time_ms) VALUES ({writer}, {batch}, \
         (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::bigint) ON CONFLICT (writer) \
         DO UPDATE SET batch = excluded.batch, time_ms = excluded.time_ms RETURNING time_ms::text"
    )
}

/// Questions that took longer had to wait for others.
const UNHINDERED: Duration = Duration::from_millis(20);

/// Marks of writers that wrote nothing for two days are of no use to anybody. Ours has just been left: by a clock that was set
/// back since, the marks of writers at work are no older than it.
const FORGET: &str = "DELETE FROM written \
     WHERE time_ms < (SELECT time_ms FROM written WHERE writer = $1) - 172800000";

/// A writer's name and the batch it is at.
pub(crate) struct CommitMark {
    writer: String,
    batch: i64,
    time: Arc<DatabaseClock>,
}

impl CommitMark {
    /// A name that no writer has had before. The database's clock is read with every mark.
    pub(crate) fn new(time: Arc<DatabaseClock>) -> Self {
        let number = getrandom::u64().unwrap_or_default();
        Self {
            writer: format!("{number:016x}"),
            batch: 0,
            time,
        }
    }

    /// The batch whose transaction was begun last.
    pub(crate) fn batch(&self) -> i64 {
        self.batch
    }

    /// Begins a transaction that may write, and leaves the mark. Unless it is to be durable, its commit survives the end
    /// of the process but perhaps not that of the machine. These questions may be asked at once.
    pub(crate) async fn begin(
        &mut self,
        conn: &mut Conn,
        durable: bool,
        questions: Vec<PrefetchQuery>,
    ) -> Result<()> {
        self.batch += 1;
        match conn.dialect() {
            Dialect::Sqlite => {
                conn.set_durable(durable).await?;
                conn.run("BEGIN IMMEDIATE", &[]).await?;
                let args = args![&self.writer, self.batch];
                conn.run(LEAVE, args).await.map(|_| ())
            }
            Dialect::Postgres if conn.opening().is_empty() => {
                let plain = questions.is_empty();
                let begun = self.begin_ahead(conn, durable, questions).await;
                if begun.is_ok() || plain || conn.is_lost() {
                    return begun;
                }
                // What was asked ahead may have failed by itself: then it fails again where it is asked for.
                conn.script("ROLLBACK").await?;
                self.begin_ahead(conn, durable, Vec::new()).await
            }
            Dialect::Postgres => {
                let (writer, batch) = (format!("'{}'", self.writer), self.batch.to_string());
                let leave = leave_on_postgres(&writer, &batch);
                let said = format!("BEGIN; {}{}{leave}", conn.opening(), commit_level(durable));
                self.said(conn, said, 0).await.map(|_| ())
            }
        }
    }

    /// Begins on a connection that stays ours, where statements are planned once: one message there, one answer back.
    async fn begin_ahead(
        &self,
        conn: &mut Conn,
        durable: bool,
        questions: Vec<PrefetchQuery>,
    ) -> Result<()> {
        let mark = || {
            format!(
                "PREPARE leave_mark (text, bigint) AS {}",
                leave_on_postgres("$1", "$2")
            )
        };
        conn.prepare("leave_mark", mark).await?;
        let (level, writer, batch) = (commit_level(durable), &self.writer, self.batch);
        let mut said = format!("BEGIN; {level}EXECUTE leave_mark ('{writer}', {batch})");
        for question in &questions {
            conn.prepare(question.name, || question.prepared()).await?;
            said += "; ";
            said += &question.executed();
        }
        let mut answers = self.said(conn, said, questions.len()).await?;
        let answers = answers.split_off(answers.len().saturating_sub(questions.len()));
        conn.keep_answers(questions.into_iter().zip(answers).collect());
        Ok(())
    }

    /// Says what a transaction begins with, so many questions with it, and notes the time of the database, which the mark tells,
    /// unless others had to be waited for after that; all answers.
    async fn said(
        &self,
        conn: &mut Conn,
        said: String,
        questions: usize,
    ) -> Result<Vec<Vec<PgRow>>> {
        let (asked, asked_ms) = (Instant::now(), boot_ms());
        let answers = conn.script_rows(said, 1 + questions as u32).await?;
        if questions > 0 && asked.elapsed() > UNHINDERED {
            return Ok(answers);
        }
        let mark = answers.iter().find_map(|rows| rows.first());
        let time_ms = mark.and_then(|row| row.try_get::<String, _>(0).ok());
        if let Some(time_ms) = time_ms.and_then(|text| text.parse().ok()) {
            self.time.note(time_ms, asked_ms);
        }
        Ok(answers)
    }

    /// Whether the batch begun last stands. The answer is final.
    pub(crate) async fn stands(&self, conn: &mut Conn) -> Result<bool> {
        conn.open().await?;
        let found = conn.maybe(ASK, args![&self.writer]).await;
        let found: Option<i64> = conn.end(found).await?;
        Ok(found == Some(self.batch))
    }

    /// Puts the first mark down, so that there is always one to wait for, and clears old ones away. The clearing holds no
    /// mark of its own meanwhile: two nodes that start together must not wait for each other's.
    pub(crate) async fn initialize(&mut self, conn: &mut Conn) -> Result<()> {
        self.begin(conn, true, Vec::new()).await?;
        conn.commit().await?;
        conn.open().await?;
        let cleared = conn.run(FORGET, args![&self.writer]).await;
        if let Err(error) = conn.end(cleared).await {
            // Old marks do no harm; the next start clears them away.
            tracing::warn!(%error, "old commit marks could not be removed");
        }
        Ok(())
    }
}
