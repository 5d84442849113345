//! The mark a writer leaves in every transaction: its own name and the number of the batch. Should the answer to a
//! commit not arrive, the mark tells whether it stands, on this server or on one that took its place.

use std::sync::Arc;

use tokio::time::Instant;

use crate::Result;
use crate::db::{Conn, args};
use crate::dialect::Dialect;
use crate::time::SharedTime;

/// Any transaction that still holds the mark is waited for; and what the last one may have left unfinished in the log
/// of SQLite is written over, so that it cannot come back after a crash.
const ASK: &str = "INSERT INTO written (writer, batch, time_ms) VALUES ($1, 0, 0) \
     ON CONFLICT (writer) DO UPDATE SET time_ms = written.time_ms + 1 RETURNING batch";

const LEAVE: &str = "INSERT INTO written (writer, batch, time_ms) \
     VALUES ($1, $2, CAST(unixepoch('subsec') * 1000 AS INTEGER)) ON CONFLICT (writer) \
     DO UPDATE SET batch = excluded.batch, time_ms = excluded.time_ms";

/// Marks of writers that wrote nothing for two days are of no use to anybody.
const FORGET: &str = "DELETE FROM written \
     WHERE time_ms < (SELECT MAX(time_ms) FROM written) - 172800000";

/// A writer's name and the batch it is at.
pub(crate) struct Mark {
    writer: String,
    batch: i64,
    time: Arc<SharedTime>,
}

impl Mark {
    /// A name that no writer has had before. The database's clock is read with every mark.
    pub(crate) fn new(time: Arc<SharedTime>) -> Self {
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
    /// of the process but perhaps not that of the machine.
    pub(crate) async fn begin(&mut self, conn: &mut Conn, durable: bool) -> Result<()> {
        self.batch += 1;
        match conn.dialect() {
            Dialect::Sqlite => {
                conn.survive(durable).await?;
                conn.run("BEGIN IMMEDIATE", &[]).await?;
                let args = args![&self.writer, self.batch];
                conn.run(LEAVE, args).await.map(|_| ())
            }
            Dialect::Postgres => {
                // One message there, one answer back.
                let level = if durable { "on" } else { "off" };
                let (writer, batch, opening) = (&self.writer, self.batch, conn.opening());
                let begin = format!(
                    "BEGIN; {opening}SET LOCAL synchronous_commit = {level}; \
                     INSERT INTO written (writer, batch, time_ms) VALUES ('{writer}', {batch}, \
                     (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::bigint) ON CONFLICT (writer) \
                     DO UPDATE SET batch = excluded.batch, time_ms = excluded.time_ms \
                     RETURNING time_ms::text"
                );
                let asked = Instant::now();
                let time_ms = conn.script_text(begin).await?;
                if let Ok(time_ms) = time_ms.parse() {
                    self.time.note(time_ms, asked);
                }
                Ok(())
            }
        }
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
    pub(crate) async fn put_down(&mut self, conn: &mut Conn) -> Result<()> {
        self.begin(conn, true).await?;
        conn.commit().await?;
        conn.open().await?;
        let cleared = conn.run(FORGET, &[]).await;
        if let Err(error) = conn.end(cleared).await {
            // Old marks do no harm; the next start clears them away.
            tracing::warn!(%error, "old marks are left where they are");
        }
        Ok(())
    }
}
