//! The connections that read PostgreSQL. Each is lent to one caller at a time and comes back only when it is known to
//! be whole; one that went silent is dropped, and its place is free again.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout};

use crate::db::conn::{Conn, Link};
use crate::{Error, Result};

/// A connection that was idle for longer is tried before it is trusted.
const TRUSTED_IDLE: Duration = Duration::from_secs(1);
/// One that was idle for longer is not worth keeping.
const IDLE_MOST: Duration = Duration::from_mins(10);
/// How long trying one may take.
const TRIAL: Duration = Duration::from_secs(1);

/// The connections.
#[derive(Debug)]
pub(crate) struct Readers {
    options: PgConnectOptions,
    /// How long a read waits for a connection.
    wait: Duration,
    /// How long a statement may take.
    patience: Duration,
    places: Semaphore,
    idle: Mutex<Vec<(Box<sqlx::PgConnection>, Instant)>>,
}

/// A connection that is lent.
pub(crate) struct Lent<'a> {
    conn: Conn,
    readers: &'a Readers,
    _place: SemaphorePermit<'a>,
}

impl Readers {
    pub(crate) fn new(
        options: PgConnectOptions,
        most: u32,
        wait: Duration,
        patience: Duration,
    ) -> Arc<Self> {
        Arc::new(Self {
            options,
            wait,
            patience,
            places: Semaphore::new(most.max(1) as usize),
            idle: Mutex::default(),
        })
    }

    /// How connections are opened.
    pub(crate) fn options(&self) -> &PgConnectOptions {
        &self.options
    }

    /// Lends a connection, opening one if need be.
    pub(crate) async fn lend(&self) -> Result<Lent<'_>> {
        timeout(self.wait, self.find())
            .await
            .map_err(|_| Error::Busy)?
    }

    async fn find(&self) -> Result<Lent<'_>> {
        let place = self.places.acquire().await.map_err(|_| Error::Busy)?;
        let lent = |conn| Lent {
            conn,
            readers: self,
            _place: place,
        };
        while let Some((mut conn, since)) = self.pop() {
            let idle = since.elapsed();
            let whole = idle < TRUSTED_IDLE
                || idle < IDLE_MOST && matches!(timeout(TRIAL, conn.ping()).await, Ok(Ok(())));
            if whole {
                return Ok(lent(Conn::new(Link::Postgres(conn), Some(self.patience))));
            }
        }
        self.open(Some(self.patience)).await.map(lent)
    }

    /// Opens a connection beside those that are lent.
    pub(crate) async fn open(&self, patience: Option<Duration>) -> Result<Conn> {
        let conn = timeout(self.wait, self.options.connect())
            .await
            .map_err(|_| Error::Busy)??;
        Ok(Conn::new(Link::Postgres(Box::new(conn)), patience))
    }

    fn pop(&self) -> Option<(Box<sqlx::PgConnection>, Instant)> {
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop()
    }

    /// Lends no more.
    pub(crate) fn close(&self) {
        self.places.close();
        while self.pop().is_some() {}
    }
}

impl Lent<'_> {
    pub(crate) fn conn(&mut self) -> &mut Conn {
        &mut self.conn
    }

    /// Takes the connection back, if it is whole. One that is never given back is closed.
    pub(crate) fn give_back(self) {
        if self.conn.is_lost() || self.readers.places.is_closed() {
            return;
        }
        if let Link::Postgres(conn) = self.conn.into_link() {
            let mut idle = self
                .readers
                .idle
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            idle.push((conn, Instant::now()));
        }
    }
}
