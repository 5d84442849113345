//! What the writer commits together: the records of each kind of change. They know neither the writer nor who hands them to it.

pub(crate) mod accept;
pub(crate) mod asset;
pub(crate) mod attempt;
pub(crate) mod bulk;
pub(crate) mod delivery;
pub(crate) mod settle;
