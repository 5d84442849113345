//! Nodes: which processes share this database.

use crate::Result;
use crate::db::args;
use crate::migrate::MIGRATIONS;
use crate::row::{Columns, FromRow};
use crate::store_core::StoreCore;

/// A process that shares this database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Identifier, new at every start.
    pub id: String,
    pub started_ms: i64,
    /// When it was last heard of.
    pub seen_ms: i64,
    /// More, in words or JSON.
    pub detail: String,
}

impl FromRow for Node {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            id: columns.text()?,
            started_ms: columns.int()?,
            seen_ms: columns.int()?,
            detail: columns.text()?,
        })
    }
}

/// Nodes: heartbeats, hints and notes of their clocks.
#[derive(Clone, Copy, Debug)]
pub struct Nodes<'a>(pub(crate) &'a StoreCore);

impl Nodes<'_> {
    /// Notes that a node is alive.
    pub async fn beat(
        self,
        node_id: &str,
        started_ms: i64,
        now_ms: i64,
        detail: &str,
    ) -> Result<()> {
        let id = node_id.to_owned();
        let node = Node {
            id,
            started_ms,
            seen_ms: now_ms,
            detail: detail.to_owned(),
        };
        self.0
            .change(node, |conn, node| {
                Box::pin(async move {
                    let sql = "INSERT INTO node (id, started_ms, seen_ms, detail, knows) \
                     VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id) DO UPDATE \
                     SET seen_ms = excluded.seen_ms, detail = excluded.detail";
                    let args = args![
                        &node.id,
                        node.started_ms,
                        node.seen_ms,
                        &node.detail,
                        MIGRATIONS.len() as i64
                    ];
                    conn.run(sql, args).await.map(|_| ())
                })
            })
            .await
    }

    /// The nodes heard of since a time, oldest first.
    pub async fn list(self, alive_since_ms: i64) -> Result<Vec<Node>> {
        let sql = "SELECT id, started_ms, seen_ms, detail FROM node WHERE seen_ms >= $1 \
             ORDER BY started_ms, id";
        self.0.db.all(sql, args![alive_since_ms]).await
    }

    pub async fn forget(self, id: &str) -> Result<()> {
        self.0
            .change(id.to_owned(), |conn, id| {
                Box::pin(async move {
                    conn.run("DELETE FROM node WHERE id = $1", args![id])
                        .await
                        .map(|_| ())
                })
            })
            .await
    }
}
