//! Statements over lines that belong together. Every statement is a way to PostgreSQL and back while accounts are locked, so
//! they go there as one; SQLite runs them one after the other.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::db::statement::{Arg, Line, flat};
use crate::dialect::Dialect;

/// Statements in the order in which they are run. On PostgreSQL all of them see what was there before, so no row may be meant
/// by two of them; what refers to what is looked at when all are done.
#[derive(Default)]
pub(crate) struct StatementBatch<'a> {
    pub(super) parts: Vec<BatchPart<'a>>,
}

pub(super) struct BatchPart<'a> {
    pub(super) sql: Cow<'a, str>,
    pub(super) values: Vec<Arg<'a>>,
    pub(super) width: usize,
}

impl<'a> StatementBatch<'a> {
    /// Adds a statement, unless there are no lines for it.
    pub(crate) fn add(&mut self, sql: impl Into<Cow<'a, str>>, lines: &'a [impl Line]) {
        let values = flat(lines);
        if let Some(width) = values.len().checked_div(lines.len()) {
            let sql = sql.into();
            self.parts.push(BatchPart { sql, values, width });
        }
    }

    /// All as one statement that tells how many rows each of them changed; the numbers of their arrays go on from one to the next.
    pub(super) fn as_one(&self) -> String {
        let mut first = 1;
        let (mut with, mut counts) = (String::new(), String::new());
        for (index, part) in self.parts.iter().enumerate() {
            let (begin, comma) = if index == 0 {
                ("WITH", "")
            } else {
                (",", ", ")
            };
            let text = Dialect::Postgres.text_from(&part.sql, first);
            write!(with, "{begin} s{index} AS ({text} RETURNING 1)").expect("a text takes all");
            write!(counts, "{comma}({index}, (SELECT COUNT(*) FROM s{index}))")
                .expect("a text takes all");
            first += part.width;
        }
        format!(
            "{with} SELECT counts.changed FROM (VALUES {counts}) AS counts(number, changed) ORDER BY counts.number"
        )
    }
}
