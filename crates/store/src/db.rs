//! The two databases, and one way to ask either.

mod ahead;
mod conn;
pub(crate) mod sqlite;
pub(crate) mod statement;
mod writes;

pub(crate) use ahead::Question;
pub(crate) use conn::{Conn, Link, Patience, Plan, Rows, USUAL_LIMIT};
pub(crate) use statement::{Arg, Line, args, json};
pub(crate) use writes::Writes;
