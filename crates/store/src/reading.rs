//! The connections that read. Each is lent to one caller at a time and comes back only when it is known to be whole; one
//! that went silent is dropped, and its place is free again.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};

use crate::address::Address;
use crate::db::{Arg, Conn, Plan, Rows};
use crate::dialect::Dialect;
use crate::row::Read;
use crate::{Error, Result};

/// A connection that was idle for longer is tried before it is trusted.
const TRUSTED_IDLE: Duration = Duration::from_secs(1);
/// One that was idle for longer is not worth keeping.
const IDLE_MOST: Duration = Duration::from_mins(10);
/// How long trying one may take.
const TRIAL: Duration = Duration::from_secs(1);
/// How long a read waits for a connection.
const WAIT: Duration = Duration::from_secs(5);

/// The connections.
#[derive(Debug)]
struct Readers {
    address: Address,
    places: Arc<Semaphore>,
    idle: Mutex<Vec<(Conn, Instant)>>,
}

/// The readers, however many share them.
#[derive(Clone, Debug)]
pub(crate) struct Db(Arc<Readers>);

/// A connection that is lent.
struct Lent<'a> {
    conn: Conn,
    readers: &'a Readers,
    _place: Arc<OwnedSemaphorePermit>,
}

impl Db {
    /// So many connections, opened as they are needed.
    pub(crate) fn new(address: Address, most: u32) -> Self {
        Self(Arc::new(Readers {
            address,
            places: Arc::new(Semaphore::new(most.max(1) as usize)),
            idle: Mutex::default(),
        }))
    }

    pub(crate) fn dialect(&self) -> Dialect {
        self.0.address.dialect()
    }

    pub(crate) async fn all<T: Read>(&self, sql: &str, args: &[Arg<'_>]) -> Result<Vec<T>> {
        self.rows(sql, args, Plan::Kept).await?.read()
    }

    /// Like [`Db::all`], for a statement whose plan must fit the tables as they are now.
    pub(crate) async fn all_anew<T: Read>(&self, sql: &str, args: &[Arg<'_>]) -> Result<Vec<T>> {
        self.rows(sql, args, Plan::Anew).await?.read()
    }

    /// Boxed, so that it is compiled once and not wherever something is read.
    fn rows<'a>(
        &'a self,
        sql: &'a str,
        args: &'a [Arg<'a>],
        plan: Plan,
    ) -> BoxFuture<'a, Result<Rows>> {
        Box::pin(async move {
            let mut lent = self.0.lend().await?;
            let rows = lent.ask(sql, args, plan).await;
            lent.give_back();
            rows
        })
    }

    pub(crate) async fn maybe<T: Read>(&self, sql: &str, args: &[Arg<'_>]) -> Result<Option<T>> {
        Ok(self.all(sql, args).await?.into_iter().next())
    }

    pub(crate) async fn one<T: Read>(&self, sql: &str, args: &[Arg<'_>]) -> Result<T> {
        self.maybe(sql, args).await?.ok_or(Error::NotFound)
    }

    /// Lends no more, and closes what is not lent.
    pub(crate) async fn close(&self) {
        self.0.places.close();
        while let Some((conn, _)) = self.0.pop() {
            conn.close().await;
        }
    }
}

impl Readers {
    /// Lends a connection, opening one if need be.
    async fn lend(&self) -> Result<Lent<'_>> {
        timeout(WAIT, self.find()).await.map_err(|_| Error::Busy)?
    }

    async fn find(&self) -> Result<Lent<'_>> {
        let place = Arc::clone(&self.places).acquire_owned().await;
        let place = Arc::new(place.map_err(|_| Error::Busy)?);
        let lent = |mut conn: Conn| {
            conn.keep(Some(Arc::clone(&place)));
            Lent {
                conn,
                readers: self,
                _place: place,
            }
        };
        while let Some((mut conn, since)) = self.pop() {
            let idle = since.elapsed();
            if idle < TRUSTED_IDLE || idle < IDLE_MOST && Box::pin(conn.answers(TRIAL)).await {
                return Ok(lent(conn));
            }
        }
        Box::pin(self.address.reader()).await.map(lent)
    }

    fn pop(&self) -> Option<(Conn, Instant)> {
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop()
    }
}

impl Lent<'_> {
    async fn ask(&mut self, sql: &str, args: &[Arg<'_>], plan: Plan) -> Result<Rows> {
        self.conn.open().await?;
        let rows = self.conn.rows(sql, args, plan).await;
        self.conn.end(rows).await
    }

    /// Takes the connection back, if it is whole. One that is never given back is closed.
    fn give_back(mut self) {
        self.conn.keep(None);
        if self.conn.is_lost() || self.readers.places.is_closed() {
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
mod tests {
    use super::*;

    /// A read that nobody waits for any more is ended, and has its place until then.
    #[tokio::test]
    async fn a_read_given_up_ends_and_gives_its_place_back() {
        let name = format!("atelier-given-up-{}.db", std::process::id());
        let path = std::env::temp_dir().join(name);
        let address = Address::parse(&format!("sqlite:{}", path.display())).expect("an address");
        let writer = address.writer().await.expect("a file");
        let db = Db::new(address, 1);
        // Longer than anybody waits for a place, and with an end all the same: the thread of one without would never stop.
        let long = "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 150000000) \
             SELECT COUNT(*) FROM c";
        let given_up = timeout(Duration::from_millis(100), db.one::<i64>(long, &[])).await;
        assert!(given_up.is_err(), "it takes much longer");
        let next = db.one::<i64>("SELECT 1", &[]).await;
        assert_eq!(next.expect("the place is free again"), 1);
        db.close().await;
        writer.close().await;
        for end in ["", "-wal", "-shm"] {
            drop(std::fs::remove_file(format!("{}{end}", path.display())));
        }
    }
}
