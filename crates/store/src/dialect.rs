//! The few words in which the two databases differ. A statement is written once, with these marks in it:
//!
//! - `{list:$1}`: the texts of a JSON array, as a sub-select;
//! - `{rows:$1 id text, price bigint}`: the objects of a JSON array, as a source named `v`;
//! - `{lock}`, `{lock free}`: row locks, waiting or skipping; SQLite has one writer and needs none;
//! - `{clustered}`: a table kept in the order of its key, where that must be asked for.

use std::borrow::Cow;
use std::fmt::Write;

/// Which database this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

impl Dialect {
    /// The statement for this database.
    pub(crate) fn text(self, sql: &str) -> Cow<'_, str> {
        if !sql.contains('{') {
            return Cow::Borrowed(sql);
        }
        let mut out = String::with_capacity(sql.len() * 2);
        let mut rest = sql;
        while let Some((before, after)) = rest.split_once('{') {
            out.push_str(before);
            let (mark, after) = after.split_once('}').expect("a mark ends");
            self.expand(mark, &mut out);
            rest = after;
        }
        out.push_str(rest);
        Cow::Owned(out)
    }

    fn expand(self, mark: &str, out: &mut String) {
        let written = match (mark.split_once(':'), self) {
            (Some(("list", place)), Self::Sqlite) => {
                write!(out, "SELECT value FROM json_each({place})")
            }
            (Some(("list", place)), Self::Postgres) => {
                write!(out, "SELECT json_array_elements_text({place}::json)")
            }
            (Some(("rows", rows)), _) => self.rows(rows, out),
            (None, Self::Postgres) => write!(out, "{}", postgres_only(mark)),
            (None, Self::Sqlite) if mark == "clustered" => write!(out, "WITHOUT ROWID"),
            (None, Self::Sqlite) => Ok(()),
            (Some(_), _) => unreachable!("no such mark: {mark}"),
        };
        written.expect("a text takes everything");
    }

    fn rows(self, rows: &str, out: &mut String) -> std::fmt::Result {
        let (place, columns) = rows.split_once(' ').expect("a place, then columns");
        if self == Self::Postgres {
            return write!(out, "json_to_recordset({place}::json) AS v({columns})");
        }
        out.push_str("(SELECT ");
        for (index, column) in columns.split(',').enumerate() {
            let name = column
                .trim()
                .split(' ')
                .next()
                .expect("a name, then a type");
            let comma = if index == 0 { "" } else { ", " };
            write!(out, "{comma}value ->> '{name}' AS {name}")?;
        }
        write!(out, " FROM json_each({place})) AS v")
    }
}

fn postgres_only(mark: &str) -> &'static str {
    match mark {
        "lock" => "FOR UPDATE",
        "lock free" => "FOR UPDATE SKIP LOCKED",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::Dialect::{Postgres, Sqlite};

    #[test]
    fn marks_become_words_of_each_database() {
        let sql = "SELECT id FROM {rows:$1 id text, n bigint} WHERE id IN ({list:$2}) {lock free}";
        assert_eq!(
            Sqlite.text(sql),
            "SELECT id FROM (SELECT value ->> 'id' AS id, value ->> 'n' AS n FROM json_each($1)) AS v \
             WHERE id IN (SELECT value FROM json_each($2)) "
        );
        assert_eq!(
            Postgres.text(sql),
            "SELECT id FROM json_to_recordset($1::json) AS v(id text, n bigint) \
             WHERE id IN (SELECT json_array_elements_text($2::json)) FOR UPDATE SKIP LOCKED"
        );
    }
}
