//! Checkpoints of SQLite's write-ahead log, made aside so that commits do not wait for them.

use std::path::PathBuf;

use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinHandle};
use tokio_util::task::TaskTracker;

use crate::address::Address;
use crate::db::Conn;
use crate::dialect::Dialect;

/// A log longer than this is copied into the database aside, while commits go on.
const START_BYTES: u64 = 4 << 20;
/// A log longer than this is started afresh by the writer, if nobody reads it at that moment.
const RESTART_BYTES: u64 = 64 << 20;
/// The log is looked at after so many commits.
const LOOK_EVERY: u32 = 32;

/// Starts the log afresh if nobody reads it. Readers are not waited for: while one reads, the log grows, and the next look finds it.
async fn start_afresh(conn: &mut Conn) {
    report(conn.script("PRAGMA busy_timeout = 0").await);
    report(conn.script("PRAGMA wal_checkpoint(TRUNCATE)").await);
    report(conn.script("PRAGMA busy_timeout = 5000").await);
}

/// Watches the length of the log.
pub(crate) struct Checkpoint {
    log: PathBuf,
    commits: u32,
    wanted: mpsc::Sender<()>,
    task: JoinHandle<()>,
}

impl Checkpoint {
    /// Starts the task that copies; `None` on PostgreSQL, which does this itself.
    pub(crate) fn start(address: &Address, tasks: &TaskTracker) -> Option<Self> {
        let log = address.write_ahead_log()?;
        let (wanted, wishes) = mpsc::channel(1);
        let task = tasks.spawn(copy_when_wanted(address.clone(), wishes));
        Some(Self {
            log,
            commits: 0,
            wanted,
            task,
        })
    }

    /// To be called by the writer between transactions.
    pub(crate) async fn after_commit(&mut self, conn: &mut Conn) {
        self.commits += 1;
        if self.commits < LOOK_EVERY {
            return;
        }
        self.commits = 0;
        let bytes = std::fs::metadata(&self.log).map_or(0, |file| file.len());
        if bytes > RESTART_BYTES {
            start_afresh(conn).await;
        }
        if bytes > START_BYTES {
            // One wish that waits is enough.
            let _: std::result::Result<(), mpsc::error::TrySendError<()>> =
                self.wanted.try_send(());
        }
    }

    /// Waits until the copying that is under way is done: nobody but the writer may look at the log at the end.
    pub(crate) async fn end(self) {
        drop(self.wanted);
        // It ends with its wishes; what it died of is told elsewhere.
        let _: std::result::Result<(), JoinError> = self.task.await;
    }
}

/// Copies the whole log before the last connection closes, so that the file stands alone.
pub(crate) async fn finish(conn: &mut Conn) {
    if conn.dialect() == Dialect::Sqlite {
        start_afresh(conn).await;
    }
}

async fn copy_when_wanted(address: Address, mut wishes: mpsc::Receiver<()>) {
    let mut open = None;
    while wishes.recv().await.is_some() {
        if open.is_none() {
            open = address.copier().await.ok().flatten();
        }
        if let Some(conn) = &mut open {
            report(conn.script("PRAGMA wal_checkpoint(PASSIVE)").await);
        }
    }
    if let Some(conn) = open {
        conn.close().await;
    }
}

fn report(done: crate::Result<()>) {
    if let Err(error) = done {
        tracing::warn!(%error, "a checkpoint failed; the next one goes on");
    }
}
