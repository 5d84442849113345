//! The connections that read. Each is lent to one caller at a time and comes back only when it is known to be whole; one
//! that went silent is dropped, and its place is free again.
//!
//! Places are shared by account: idle ones are anybody's, and one that comes back goes to whoever waits and has least. Some
//! are kept for the service itself, its operators and whoever asks whether it is well. What takes too long is given up.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use atelier_fairness::share::{FairPermit, FairSemaphore};
use futures_util::future::BoxFuture;
use tokio::time::{Instant, timeout};

use crate::db::{Arg, Conn, Plan, Rows, USUAL_LIMIT};
use crate::db_config::DbConfig;
use crate::dialect::Dialect;
use crate::row::FromRow;
use crate::{Error, Result, error};

/// A connection that was idle for longer is tried before it is trusted.
const TRUSTED_IDLE: Duration = Duration::from_secs(1);
/// One that was idle for longer is not worth keeping.
const IDLE_MOST: Duration = Duration::from_mins(10);
/// How long trying one may take.
const TRIAL: Duration = Duration::from_secs(1);
/// How long a read waits for a connection.
const WAIT: Duration = Duration::from_secs(5);
/// How long a read of an account may take. All of them are made to take milliseconds; whatever does not is not worth a place.
const ACCOUNT_LIMIT: Duration = Duration::from_secs(2);
/// A server says by itself that something took too long; when it does not, the connection is not waited for much longer.
const SILENCE: Duration = Duration::from_secs(1);
/// One in so many places is kept for the service itself.
const KEPT: u32 = 4;

/// What reads of the service itself are counted under.
static SERVICE: LazyLock<Arc<str>> = LazyLock::new(|| Arc::from("service"));

#[derive(Debug)]
struct Readers {
    address: DbConfig,
    places: ReaderSlots,
    closed: AtomicBool,
    idle: Mutex<Vec<(Conn, Instant)>>,
}

/// The places of connections.
#[derive(Debug)]
struct ReaderSlots {
    shared: Arc<FairSemaphore>,
    /// For the service itself, when all others are taken; there is none where there is one connection alone.
    kept: Option<Arc<FairSemaphore>>,
}

/// The readers, however many share them.
#[derive(Clone, Debug)]
pub(crate) struct Db(Arc<Readers>);

/// On whose behalf something is read.
#[derive(Clone, Copy)]
enum ReaderOwner<'a> {
    Account(&'a str),
    Service,
}

/// Reads on somebody's behalf.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    readers: &'a Readers,
    whose: ReaderOwner<'a>,
    /// How long a read may take; what reads a whole file takes as long as it takes.
    limit: Option<Duration>,
}

/// A connection that is lent.
struct PooledConn<'a> {
    conn: Conn,
    readers: &'a Readers,
    _place: Arc<FairPermit>,
}

impl Db {
    /// So many connections, opened as they are needed.
    pub(crate) fn new(address: DbConfig, most: u32) -> Self {
        let kept = u64::from((most / KEPT).max(u32::from(most > 1)));
        let places = ReaderSlots {
            shared: FairSemaphore::elastic("readers", u64::from(most).saturating_sub(kept)),
            kept: (kept > 0).then(|| FairSemaphore::elastic("kept_readers", kept)),
        };
        Self(Arc::new(Readers {
            address,
            places,
            closed: AtomicBool::new(false),
            idle: Mutex::default(),
        }))
    }

    pub(crate) fn dialect(&self) -> Dialect {
        self.0.address.dialect()
    }

    /// What accounts share of them.
    pub(crate) fn shares(&self) -> &Arc<FairSemaphore> {
        &self.0.places.shared
    }

    /// Reads on behalf of an account, or of the service when it is none's.
    pub(crate) fn of<'a>(&'a self, account_id: Option<&'a str>) -> Reader<'a> {
        match account_id {
            Some(account_id) => Reader {
                readers: &self.0,
                whose: ReaderOwner::Account(account_id),
                limit: Some(ACCOUNT_LIMIT),
            },
            None => self.service(),
        }
    }

    /// Reads on behalf of the service, for as long as it takes.
    pub(crate) fn without_limit(&self) -> Reader<'_> {
        Reader {
            limit: None,
            ..self.service()
        }
    }

    fn service(&self) -> Reader<'_> {
        Reader {
            readers: &self.0,
            whose: ReaderOwner::Service,
            limit: Some(USUAL_LIMIT),
        }
    }

    pub(crate) async fn all<T: FromRow>(&self, sql: &str, args: &[Arg<'_>]) -> Result<Vec<T>> {
        self.service().all(sql, args).await
    }

    /// Like [`Db::all`], for a statement whose plan must fit the tables as they are now.
    pub(crate) async fn all_replanned<T: FromRow>(
        &self,
        sql: &str,
        args: &[Arg<'_>],
    ) -> Result<Vec<T>> {
        self.service().rows(sql, args, Plan::Anew).await?.read()
    }

    pub(crate) async fn maybe<T: FromRow>(&self, sql: &str, args: &[Arg<'_>]) -> Result<Option<T>> {
        self.service().maybe(sql, args).await
    }

    pub(crate) async fn one<T: FromRow>(&self, sql: &str, args: &[Arg<'_>]) -> Result<T> {
        self.service().one(sql, args).await
    }

    /// Lends no more, and closes what is not lent.
    pub(crate) async fn close(&self) {
        self.0.closed.store(true, Ordering::Relaxed);
        while let Some((conn, _)) = self.0.pop(USUAL_LIMIT) {
            conn.close().await;
        }
    }
}

impl<'a> Reader<'a> {
    pub(crate) async fn all<T: FromRow>(self, sql: &str, args: &[Arg<'_>]) -> Result<Vec<T>> {
        self.rows(sql, args, Plan::Kept).await?.read()
    }

    pub(crate) async fn maybe<T: FromRow>(self, sql: &str, args: &[Arg<'_>]) -> Result<Option<T>> {
        Ok(self.all(sql, args).await?.into_iter().next())
    }

    pub(crate) async fn one<T: FromRow>(self, sql: &str, args: &[Arg<'_>]) -> Result<T> {
        self.maybe(sql, args).await?.ok_or(Error::NotFound)
    }

    /// Boxed, so that it is compiled once and not wherever something is read.
    fn rows<'b>(self, sql: &'b str, args: &'b [Arg<'b>], plan: Plan) -> BoxFuture<'b, Result<Rows>>
    where
        'a: 'b,
    {
        Box::pin(async move {
            let mut lent = self.lend().await?;
            let rows = match self.limit {
                Some(limit) => {
                    let wait = match self.readers.address.dialect() {
                        Dialect::Sqlite => limit,
                        Dialect::Postgres => limit + SILENCE,
                    };
                    let asked = timeout(wait, lent.ask(sql, args, plan, limit)).await;
                    asked.unwrap_or_else(|_| {
                        tracing::warn!(?limit, "a read took too long and was cancelled");
                        Err(Error::Busy)
                    })
                }
                None => lent.ask(sql, args, plan, USUAL_LIMIT).await,
            };
            lent.give_back();
            rows
        })
    }

    /// Lends a connection, opening one if need be.
    async fn lend(self) -> Result<PooledConn<'a>> {
        timeout(WAIT, self.find()).await.map_err(|_| Error::Busy)?
    }

    async fn find(self) -> Result<PooledConn<'a>> {
        let readers = self.readers;
        let place = Arc::new(readers.places.take(self.whose).await);
        if readers.closed.load(Ordering::Relaxed) {
            return Err(Error::Busy);
        }
        let lent = |mut conn: Conn| {
            conn.keep(Some(Arc::clone(&place)));
            PooledConn {
                conn,
                readers,
                _place: place,
            }
        };
        let limit = self.limit.unwrap_or(USUAL_LIMIT);
        while let Some((mut conn, since)) = readers.pop(limit) {
            let idle = since.elapsed();
            if idle < TRUSTED_IDLE || idle < IDLE_MOST && Box::pin(conn.answers(TRIAL)).await {
                return Ok(lent(conn));
            }
        }
        Box::pin(readers.address.reader()).await.map(lent)
    }
}

impl ReaderSlots {
    async fn take(&self, whose: ReaderOwner<'_>) -> FairPermit {
        match (whose, &self.kept) {
            (ReaderOwner::Account(id), _) => self.shared.take(&Arc::from(id), 1).await,
            (ReaderOwner::Service, None) => self.shared.take(&SERVICE, 1).await,
            (ReaderOwner::Service, Some(kept)) => {
                if let Ok(place) = self.shared.try_take(&SERVICE, 1) {
                    return place;
                }
                tokio::select! {
                    biased;
                    place = kept.take(&SERVICE, 1) => place,
                    place = self.shared.take(&SERVICE, 1) => place,
                }
            }
        }
    }
}

impl Readers {
    /// The connection that was given back last, of those with this limit if there are any.
    fn pop(&self, limit: Duration) -> Option<(Conn, Instant)> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let alike = idle.iter().rposition(|(conn, _)| conn.has_limit(limit));
        let place = alike.or(idle.len().checked_sub(1))?;
        Some(idle.remove(place))
    }
}

impl PooledConn<'_> {
    async fn ask(
        &mut self,
        sql: &str,
        args: &[Arg<'_>],
        plan: Plan,
        limit: Duration,
    ) -> Result<Rows> {
        self.conn.limit(limit).await?;
        self.conn.open().await?;
        let rows = self.conn.rows(sql, args, plan).await;
        let rows = self.conn.end(rows).await;
        rows.map_err(error::given_up)
    }

    /// Takes the connection back, if it is whole. One that is never given back is closed.
    fn give_back(mut self) {
        self.conn.keep(None);
        if self.conn.is_lost() || self.readers.closed.load(Ordering::Relaxed) {
            return;
        }
        let mut idle = self
            .readers
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        idle.push((self.conn, Instant::now()));
    }
}

#[cfg(test)]
mod tests;
