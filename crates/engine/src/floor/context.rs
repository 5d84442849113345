//! What work on a job needs: the house, the vault, the pool and the register of jobs in hand.

use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::floor::pool::Pool;
use crate::floor::register::Register;
use crate::house::House;
use crate::vault::Vault;

/// What the steps of a job's work share.
pub(crate) struct Context {
    pub(crate) house: Arc<House>,
    pub(crate) vault: Arc<Vault>,
    pub(crate) pool: Arc<Pool>,
    pub(crate) register: Arc<Register>,
    /// Room for results that wait for the disk after their place was given back.
    pub(crate) endings: Semaphore,
}
