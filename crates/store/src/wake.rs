//! Wake-ups between nodes: LISTEN and NOTIFY on PostgreSQL, nothing on SQLite, where one process is alone.
//! A wake-up is a hint; everything it hints at is also found by looking.

use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use tokio::time::{sleep, timeout};

use crate::Result;
use crate::db::{args, json};
use crate::nodes::Nodes;

/// The channel all nodes listen to.
const CHANNEL: &str = "atelier";
/// The pause before listening is tried again.
const PAUSE: Duration = Duration::from_secs(1);
/// After so long a silence the connection is tried: it may be open at this end only.
const SILENCE: Duration = Duration::from_secs(15);
/// How long connecting, and trying a connection, may take.
const TRIAL: Duration = Duration::from_secs(5);

/// Hears what nodes are told.
pub struct WakeListener {
    options: PgConnectOptions,
    listener: Option<PgListener>,
}

impl WakeListener {
    /// The next payload; waits, and connects again whenever the database was away.
    pub async fn next(&mut self) -> String {
        loop {
            let Some(listener) = &mut self.listener else {
                match timeout(TRIAL, listen(&self.options)).await {
                    Ok(Ok(listener)) => self.listener = Some(listener),
                    Ok(Err(error)) => {
                        tracing::warn!(%error, "no hints from other nodes; polling instead");
                        sleep(PAUSE).await;
                    }
                    Err(_) => {
                        tracing::warn!("no hints from other nodes: the database does not respond");
                    }
                }
                continue;
            };
            match timeout(SILENCE, listener.recv()).await {
                Ok(Ok(hint)) => return hint.payload().to_owned(),
                Ok(Err(error)) => {
                    tracing::warn!(%error, "listening for hints");
                    self.listener = None;
                    sleep(PAUSE).await;
                }
                Err(_) => {
                    let trial = sqlx::query("SELECT 1").execute(listener);
                    if !matches!(timeout(TRIAL, trial).await, Ok(Ok(_))) {
                        self.listener = None;
                    }
                }
            }
        }
    }
}

async fn listen(options: &PgConnectOptions) -> sqlx::Result<PgListener> {
    let own = PgPoolOptions::new()
        .max_connections(1)
        .max_lifetime(None)
        .idle_timeout(None)
        .connect_lazy_with(options.clone());
    let mut listener = PgListener::connect_with(&own).await?;
    listener.listen(CHANNEL).await?;
    Ok(listener)
}

impl Nodes<'_> {
    /// Tells every node some things, in one go; does nothing on SQLite.
    pub async fn notify(self, payloads: &[String]) -> Result<()> {
        if self.0.is_postgres() {
            let sql = "SELECT pg_notify($1, hint)::text FROM ({list:$2}) AS v(hint)";
            let payloads = json(payloads);
            let args = args![CHANNEL, &payloads];
            self.0.db.all::<String>(sql, args).await?;
        }
        Ok(())
    }

    /// Hears what nodes are told; `None` on SQLite. Holds a connection of its own.
    pub fn listener(self) -> Option<WakeListener> {
        Some(WakeListener {
            options: self.0.address.listening()?,
            listener: None,
        })
    }
}
