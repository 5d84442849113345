//! The courier: what is owed to callers' addresses.

pub(crate) mod callbacks;
pub(crate) mod post;
pub(crate) mod routes;
