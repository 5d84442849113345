//! The memory that bodies may take, all together.

use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::config::Limits;

/// Memory for bodies is handed out in pieces of this size.
pub(crate) const PIECE: usize = 64 * 1024;

/// The memory of a configuration, as places of one piece each.
pub(crate) fn for_bodies(limits: &Limits) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(
        (limits.body_memory_mib * (1024 * 1024 / PIECE)).max(1),
    ))
}
