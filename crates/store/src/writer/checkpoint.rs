//! Checkpoints of SQLite's write-ahead log, made aside so that commits do not wait for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinHandle};
use tokio_util::task::TaskTracker;

use crate::db::Conn;
use crate::db_config::DbConfig;
use crate::dialect::Dialect;

/// After so many commits the log is copied into the database aside, while commits go on.
const COPY_EVERY: u32 = 24;
/// A log of more pages than this (12 MB) is started afresh by the writer, if nobody reads it at that moment. Its file stays as
/// long as it is, up to [`crate::db::sqlite::LOG_BYTES`]: writing over what is there costs the file system less than making it longer.
const RESTART_PAGES: i64 = 3_072;

/// What the last copying found.
#[derive(Default)]
struct CheckpointProgress {
    under_way: AtomicBool,
    /// Pages in the log; as many as there can be when it failed, so that the writer does it.
    pages: AtomicI64,
}

/// Copies the log in one of SQLite's ways without waiting for readers; while one reads, the log grows, and the next look finds it.
async fn copy(conn: &mut Conn, way: &str) -> crate::Result<i64> {
    let row: Option<(i64, (i64, i64))> = conn
        .maybe(&format!("PRAGMA wal_checkpoint({way})"), &[])
        .await?;
    Ok(row.map_or(0, |(_, (pages, _))| pages))
}

/// Starts the log afresh if nobody reads it.
async fn start_afresh(conn: &mut Conn, way: &str) {
    report(conn.script("PRAGMA busy_timeout = 0").await);
    report(copy(conn, way).await.map(|_| ()));
    report(conn.script("PRAGMA busy_timeout = 5000").await);
}

/// Watches the length of the log.
pub(crate) struct Checkpointer {
    commits: u32,
    last: Arc<CheckpointProgress>,
    wanted: mpsc::Sender<()>,
    task: JoinHandle<()>,
}

impl Checkpointer {
    /// Starts the task that copies; `None` on PostgreSQL, which does this itself.
    pub(crate) fn start(address: &DbConfig, tasks: &TaskTracker) -> Option<Self> {
        address.file()?;
        let last = Arc::new(CheckpointProgress::default());
        let (wanted, wishes) = mpsc::channel(1);
        let copying = copy_when_wanted(address.clone(), wishes, Arc::clone(&last));
        Some(Self {
            commits: 0,
            last,
            wanted,
            task: tasks.spawn(copying),
        })
    }

    /// To be called by the writer between transactions.
    pub(crate) async fn after_commit(&mut self, conn: &mut Conn) {
        self.commits += 1;
        if self.last.under_way.load(Ordering::Acquire) {
            return;
        }
        // Right after most of it was copied, so that little is left to be copied while others wait.
        if self.last.pages.swap(0, Ordering::Relaxed) > RESTART_PAGES {
            start_afresh(conn, "RESTART").await;
            self.commits = 0;
        }
        if self.commits >= COPY_EVERY {
            self.commits = 0;
            self.last.under_way.store(true, Ordering::Relaxed);
            if self.wanted.try_send(()).is_err() {
                self.last.under_way.store(false, Ordering::Relaxed);
            }
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
        start_afresh(conn, "TRUNCATE").await;
    }
}

async fn copy_when_wanted(
    address: DbConfig,
    mut wishes: mpsc::Receiver<()>,
    last: Arc<CheckpointProgress>,
) {
    let mut open = None;
    while wishes.recv().await.is_some() {
        let pages = match copy_aside(&address, &mut open).await {
            Ok(pages) => pages,
            Err(error) => {
                report(Err(error));
                open = None;
                i64::MAX
            }
        };
        last.pages.store(pages, Ordering::Relaxed);
        last.under_way.store(false, Ordering::Release);
    }
    if let Some(conn) = open {
        conn.close().await;
    }
}

async fn copy_aside(address: &DbConfig, open: &mut Option<Conn>) -> crate::Result<i64> {
    if open.is_none() {
        *open = address.copier().await?;
    }
    match open {
        Some(conn) => copy(conn, "PASSIVE").await,
        None => Ok(0),
    }
}

fn report(done: crate::Result<()>) {
    if let Err(error) = done {
        tracing::warn!(%error, "a checkpoint failed; the next one continues");
    }
}
