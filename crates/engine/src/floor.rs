//! The floor: jobs are worked on, from the lease to the end.

pub(crate) mod adopt;
pub(crate) mod flight;
pub(crate) mod polling;
pub(crate) mod pool;
pub(crate) mod pool_step;
pub(crate) mod prepare;
pub(crate) mod runner;
pub(crate) mod settle;
pub(crate) mod status;
pub(crate) mod sweeper;
pub(crate) mod workbench;
