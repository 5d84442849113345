//! What work on a job needs: the service, the asset store, the pool, the register of jobs in hand and the callback queue.

use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::assets::Assets;
use crate::callback_queue::CallbackQueue;
use crate::context::Context;
use crate::model_revisions::ModelRevisions;
use crate::runner::copies::CopyQueue;
use crate::runner::pool::Pool;
use crate::runner::register::Register;

/// What the steps of a job's work share.
pub(crate) struct RunnerCore {
    pub(crate) context: Arc<Context>,
    pub(crate) assets: Arc<Assets>,
    /// The operator's models, as jobs were accepted with them.
    pub(crate) models: Arc<ModelRevisions>,
    pub(crate) pool: Arc<Pool>,
    pub(crate) register: Arc<Register>,
    /// Callbacks on their way to the callback sender.
    pub(crate) callback_queue: Arc<CallbackQueue>,
    /// Copies of jobs that ended, for back ends that are rehearsed.
    pub(crate) copies: Arc<CopyQueue>,
    /// Room for results that wait for the disk after their place was given back.
    pub(crate) endings: Semaphore,
}
