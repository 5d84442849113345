//! The few words in which the two databases differ. A statement is written once, with these marks in it:
//!
//! - `{list:$1}`: the texts of a JSON array, as a sub-select;
//! - `{among:$1}`: compares with those texts row by row, where a sub-select would have all rows joined with it first;
//! - `{rows:$1 id text, price bigint}`: the objects of a JSON array, as a source named `v`;
//! - `{lines:id text, price bigint}`: lines of values, the statement's only ones, as a source named `v`: arrays for PostgreSQL.
//!   For SQLite [`for_lines`] puts the values where `v.price` stands;
//! - `{first:column a b}`: the first of the fields `a`, `b` that an object kept as JSON has, or an empty text; `{like}` compares
//!   texts in any case;
//! - `{lower:column}`: a text with the letters A to Z in lower case, whatever the language of the server says of an `I`;
//! - `{lock}`, `{lock free}`: row locks, waiting or skipping; SQLite has one writer and needs none;
//! - `{apart}`: an index that is made while others write;
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
        self.text_from(sql, 1)
    }

    /// The statement for this database; on PostgreSQL the first array of its lines has this number.
    pub(crate) fn text_from(self, sql: &str, first: usize) -> Cow<'_, str> {
        if !sql.contains('{') {
            return Cow::Borrowed(sql);
        }
        let mut out = String::with_capacity(sql.len() * 2);
        let mut rest = sql;
        while let Some((before, after)) = rest.split_once('{') {
            out.push_str(before);
            let (mark, after) = after.split_once('}').expect("a mark ends");
            match mark.strip_prefix("lines:") {
                Some(columns) => {
                    arrays(columns, first, &mut out).expect("a text takes everything");
                }
                None => self.expand(mark, &mut out),
            }
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
            (Some(("among", place)), Self::Sqlite) => {
                write!(out, "IN (SELECT value FROM json_each({place}))")
            }
            (Some(("among", place)), Self::Postgres) => {
                let list = format_args!("SELECT json_array_elements_text({place}::json)");
                write!(out, "= ANY (ARRAY({list}))")
            }
            (Some(("lower", column)), Self::Sqlite) => write!(out, "LOWER({column})"),
            (Some(("lower", column)), Self::Postgres) => {
                // In the end it is of the usual collation again, which that of an index is.
                write!(out, "LOWER({column} COLLATE \"C\") COLLATE \"default\"")
            }
            (Some(("rows", rows)), _) => self.rows(rows, out),
            (Some(("first", fields)), _) => self.first(fields, out),
            (None, Self::Sqlite) if mark == "like" => write!(out, "LIKE"),
            (None, Self::Postgres) => write!(out, "{}", postgres_only(mark)),
            (None, Self::Sqlite) if mark == "clustered" => write!(out, "WITHOUT ROWID"),
            (None, Self::Sqlite) => Ok(()),
            (Some(_), _) => unreachable!("no such mark: {mark}"),
        };
        written.expect("a text takes everything");
    }

    fn first(self, fields: &str, out: &mut String) -> std::fmt::Result {
        let (column, names) = fields.split_once(' ').expect("a column, then fields");
        out.push_str("COALESCE(");
        for name in names.split(' ') {
            match self {
                Self::Sqlite => write!(out, "json_extract({column}, '$.{name}'), ")?,
                Self::Postgres => write!(out, "{column}::json ->> '{name}', ")?,
            }
        }
        out.push_str("'')");
        Ok(())
    }

    fn rows(self, rows: &str, out: &mut String) -> std::fmt::Result {
        let (place, columns) = rows.split_once(' ').expect("a place, then columns");
        if self == Self::Postgres {
            return write!(out, "json_to_recordset({place}::json) AS v({columns})");
        }
        out.push_str("(SELECT ");
        for (index, name) in column_names(columns).enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(out, "{comma}value ->> '{name}' AS {name}")?;
        }
        write!(out, " FROM json_each({place})) AS v")
    }
}

/// A statement over lines for SQLite, for so many of them at once. Inserts take several: what they write to is opened once for all.
/// `None` for any other statement over more than one line.
pub(crate) fn for_lines(sql: &str, lines: usize) -> Option<String> {
    let columns = line_columns(sql);
    let (before, after) = sql.split_once("{lines:")?;
    let (_, after) = after.split_once('}')?;
    assert!(!after.contains('{'), "no mark follows that of the lines");
    let before = before.trim_end().strip_suffix("FROM")?;
    let mut out = String::new();
    if lines == 1 {
        put_places(columns, before, 0, &mut out);
        put_places(columns, after, 0, &mut out);
        return Some(out);
    }
    let (into, values) = before.split_once(" SELECT ")?;
    if !into.starts_with("INSERT INTO ") {
        return None;
    }
    out.push_str(into);
    out.push_str(" VALUES ");
    let width = column_names(columns).count();
    for line in 0..lines {
        out.push_str(if line == 0 { "(" } else { ",(" });
        put_places(columns, values, line * width, &mut out);
        out.push(')');
    }
    let after = after.trim_start();
    out.push(' ');
    out.push_str(after.strip_prefix("WHERE TRUE").unwrap_or(after));
    Some(out)
}

/// A part of a statement with a place wherever a column of the lines is named; places before it belong to other lines.
fn put_places(columns: &str, part: &str, before: usize, out: &mut String) {
    let mut rest = part;
    while let Some((text, named)) = rest.split_once("v.") {
        out.push_str(text);
        let is_source = !text.ends_with(|last: char| last.is_alphanumeric() || last == '_');
        let end = named.find(|next: char| !next.is_alphanumeric() && next != '_');
        let (name, later) = named.split_at(end.unwrap_or(named.len()));
        match column_names(columns).position(|column| column == name) {
            Some(index) if is_source => {
                write!(out, "?{}", before + index + 1).expect("a text takes everything");
            }
            _ => {
                out.push_str("v.");
                out.push_str(name);
            }
        }
        rest = later;
    }
    out.push_str(rest);
}

/// Lines for PostgreSQL: an array for each column.
fn arrays(columns: &str, first: usize, out: &mut String) -> std::fmt::Result {
    out.push_str("UNNEST(");
    for (index, column) in columns.split(',').enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        let kind = column.rsplit(' ').next().unwrap_or_default();
        write!(out, "{comma}${}::{kind}[]", first + index)?;
    }
    out.push_str(") AS v(");
    for (index, name) in column_names(columns).enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        write!(out, "{comma}{name}")?;
    }
    out.push(')');
    Ok(())
}

/// The names in `id text, price bigint`.
fn column_names(columns: &str) -> impl Iterator<Item = &str> {
    columns
        .split(',')
        .filter_map(|column| column.trim().split(' ').next())
}

/// The columns of the `lines` mark of a statement.
pub(crate) fn line_columns(sql: &str) -> &str {
    let after = sql.split_once("{lines:").expect("a statement with lines").1;
    after.split_once('}').expect("a mark ends").0
}

fn postgres_only(mark: &str) -> &'static str {
    match mark {
        "lock" => "FOR UPDATE",
        "lock free" => "FOR UPDATE SKIP LOCKED",
        "apart" => "CONCURRENTLY",
        "like" => "ILIKE",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::Dialect::{Postgres, Sqlite};
    use super::for_lines;

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

    #[test]
    fn the_first_field_that_is_there_is_read() {
        let sql = "SELECT id FROM job WHERE {first:job.request prompt text} {like} $1";
        assert_eq!(
            Sqlite.text(sql),
            "SELECT id FROM job WHERE COALESCE(json_extract(job.request, '$.prompt'), \
             json_extract(job.request, '$.text'), '') LIKE $1"
        );
        assert_eq!(
            Postgres.text(sql),
            "SELECT id FROM job WHERE COALESCE(job.request::json ->> 'prompt', \
             job.request::json ->> 'text', '') ILIKE $1"
        );
    }

    #[test]
    fn what_is_among_texts_is_compared_row_by_row() {
        let sql = "SELECT id FROM job WHERE operation {among:$1}";
        assert_eq!(
            Sqlite.text(sql),
            "SELECT id FROM job WHERE operation IN (SELECT value FROM json_each($1))"
        );
        assert_eq!(
            Postgres.text(sql),
            "SELECT id FROM job WHERE operation = ANY (ARRAY(SELECT json_array_elements_text($1::json)))"
        );
    }

    #[test]
    fn letters_are_lowered_alike_everywhere() {
        let sql = "SELECT 1 FROM model WHERE name_key = {lower:job.model}";
        assert_eq!(
            Sqlite.text(sql),
            "SELECT 1 FROM model WHERE name_key = LOWER(job.model)"
        );
        assert_eq!(
            Postgres.text(sql),
            "SELECT 1 FROM model WHERE name_key = LOWER(job.model COLLATE \"C\") COLLATE \"default\""
        );
    }

    #[test]
    fn lines_are_places_or_arrays() {
        let sql = "INSERT INTO t (id, n) SELECT v.id, 0, v.n FROM {lines:id text, n bigint} WHERE TRUE ON CONFLICT DO NOTHING";
        let one = "INSERT INTO t (id, n) SELECT ?1, 0, ?2  WHERE TRUE ON CONFLICT DO NOTHING";
        assert_eq!(for_lines(sql, 1).as_deref(), Some(one));
        let two = "INSERT INTO t (id, n) VALUES (?1, 0, ?2 ),(?3, 0, ?4 )  ON CONFLICT DO NOTHING";
        assert_eq!(for_lines(sql, 2).as_deref(), Some(two));
        assert_eq!(
            Postgres.text_from(sql, 3),
            "INSERT INTO t (id, n) SELECT v.id, 0, v.n FROM UNNEST($3::text[], $4::bigint[]) AS v(id, n) \
             WHERE TRUE ON CONFLICT DO NOTHING"
        );
    }

    #[test]
    fn only_columns_of_the_lines_become_places() {
        let sql = "UPDATE t SET n = v.n FROM {lines:id text, n bigint} WHERE t.id = v.id AND inv.n = 1 AND t.a = v.name";
        let one = "UPDATE t SET n = ?2  WHERE t.id = ?1 AND inv.n = 1 AND t.a = v.name";
        assert_eq!(for_lines(sql, 1).as_deref(), Some(one));
        assert_eq!(for_lines(sql, 2), None, "a row is changed by one line");
    }
}
