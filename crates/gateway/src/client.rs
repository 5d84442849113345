//! The service as somebody else's program sees it.

mod asked;
pub(crate) mod events;
pub(crate) mod fault;
pub(crate) mod fetched;
mod file;
mod handed;
pub(crate) mod profile;
mod rows;
mod way;
mod words;

pub(crate) use asked::{Asked, Part, Sent};
pub(crate) use file::{File, data_uri, seen_at};
pub(crate) use handed::Desk;
pub(crate) use rows::{Row, read as read_rows};
pub(crate) use way::Client;
pub(crate) use words::{Word, ask, field_of, named, names, resolved, takes_file};
