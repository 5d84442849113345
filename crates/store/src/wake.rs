//! Wake-ups between nodes: LISTEN and NOTIFY on PostgreSQL, nothing on SQLite, where one process is alone.
//! A wake-up is a hint; everything it hints at is also found by looking.

use std::time::Duration;

use sqlx::postgres::PgListener;

use crate::db::Db;
use crate::{Result, Store};

/// The channel all nodes listen to.
const CHANNEL: &str = "atelier";
/// The pause before listening is tried again.
const PAUSE: Duration = Duration::from_secs(1);

/// Hears what nodes are told.
pub struct Wake {
    listener: PgListener,
}

impl Wake {
    /// The next payload; waits, and reconnects when the database was away.
    pub async fn next(&mut self) -> String {
        loop {
            match self.listener.recv().await {
                Ok(told) => return told.payload().to_owned(),
                Err(error) => {
                    tracing::warn!(%error, "listening for wake-ups");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }
}

impl Store {
    /// Tells every node some things, in one go; does nothing on SQLite.
    pub async fn notify(&self, payloads: &[String]) -> Result<()> {
        if let Db::Postgres(pool) = self.db() {
            sqlx::query("SELECT pg_notify($1, told) FROM UNNEST($2::text[]) AS told")
                .bind(CHANNEL)
                .bind(payloads)
                .execute(pool)
                .await?;
        }
        Ok(())
    }

    /// Hears what nodes are told; `None` on SQLite. Holds a connection of its own.
    pub async fn listener(&self) -> Result<Option<Wake>> {
        let Db::Postgres(pool) = self.db() else {
            return Ok(None);
        };
        let own = sqlx::postgres::PgPoolOptions::new()
            .max_connections(1)
            .max_lifetime(None)
            .idle_timeout(None)
            .connect_lazy_with((*pool.connect_options()).clone());
        let mut listener = PgListener::connect_with(&own).await?;
        listener.listen(CHANNEL).await?;
        Ok(Some(Wake { listener }))
    }
}
