//! Wake-ups between nodes: LISTEN and NOTIFY on PostgreSQL, nothing on SQLite, where one process is alone.
//! A wake-up is a hint; everything it hints at is also found by looking.

use crate::{Result, Store};

/// Hears what other nodes notify.
pub struct Wake {}

impl Wake {
    /// The next payload; waits, and reconnects when the database was away.
    pub async fn next(&mut self) -> String {
        std::future::pending().await
    }
}

impl Store {
    /// Tells every node something; does nothing on SQLite.
    pub async fn notify(&self, _payload: &str) -> Result<()> {
        Ok(())
    }
    /// Hears what nodes are told; `None` on SQLite.
    pub async fn listener(&self) -> Result<Option<Wake>> {
        Ok(None)
    }
}
