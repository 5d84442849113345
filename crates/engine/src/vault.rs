//! The vault: bytes of results and inputs, their addresses, and their end.

pub(crate) mod address_keys;
pub(crate) mod assets;
pub(crate) mod expiry;
pub(crate) mod inputs;
pub(crate) mod orphans;
pub(crate) mod result_cache;
