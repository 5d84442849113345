//! What work on a job needs: the service, the asset store, the pool and the register of jobs in hand.

use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::assets::Assets;
use crate::context::Context;
use crate::runner::pool::Pool;
use crate::runner::register::Register;

/// What the steps of a job's work share.
pub(crate) struct RunnerCore {
    pub(crate) context: Arc<Context>,
    pub(crate) assets: Arc<Assets>,
    pub(crate) pool: Arc<Pool>,
    pub(crate) register: Arc<Register>,
    /// Room for results that wait for the disk after their place was given back.
    pub(crate) endings: Semaphore,
}
