//! The service as somebody else's program sees it.

mod asked;
pub(crate) mod events;
pub(crate) mod fault;
pub(crate) mod fetched;
pub(crate) mod profile;
mod way;
mod words;

pub(crate) use asked::{Asked, File, Part, Sent};
pub(crate) use way::Client;
pub(crate) use words::{Word, ask, data_uri, field_of, named, names, picture_at, resolved};
