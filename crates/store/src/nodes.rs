//! Nodes: which processes share this database.

use crate::{Result, Store};

/// A process that shares this database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Identifier, new at every start.
    pub id: String,
    /// When it started.
    pub started_ms: i64,
    /// When it was last heard of.
    pub seen_ms: i64,
    /// More, in words or JSON.
    pub detail: String,
}

impl Store {
    /// Notes that a node is alive.
    pub async fn beat(
        &self,
        _node_id: &str,
        _started_ms: i64,
        _now_ms: i64,
        _detail: &str,
    ) -> Result<()> {
        Err(crate::Error::NotFound)
    }
    /// The nodes heard of since a time, oldest first.
    pub async fn nodes(&self, _alive_since_ms: i64) -> Result<Vec<Node>> {
        Err(crate::Error::NotFound)
    }
    /// Forgets a node.
    pub async fn forget_node(&self, _id: &str) -> Result<()> {
        Err(crate::Error::NotFound)
    }
}
