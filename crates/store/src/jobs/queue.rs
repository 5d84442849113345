//! Jobs that have not ended: who waits, who runs, and until when a node has them.

use crate::store_core::StoreCore;

/// Jobs that wait or run, and the leases of those that run.
#[derive(Clone, Copy, Debug)]
pub struct Queue<'a>(pub(crate) &'a StoreCore);
