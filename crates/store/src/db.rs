//! The two databases, and one way to ask either.

mod conn;
mod prefetch;
pub(crate) mod sqlite;
pub(crate) mod statement;
mod writes;

pub(crate) use conn::{Conn, Plan, RawConn, Rows, StepTimeout, USUAL_LIMIT};
pub(crate) use prefetch::PrefetchQuery;
pub(crate) use statement::{Arg, Line, args, json};
pub(crate) use writes::StatementBatch;
