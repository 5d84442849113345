//! A database of another program: its tables, their columns, and their rows in pages, every value as text. What differs between
//! SQLite, PostgreSQL and MySQL is said here and nowhere else. All is read at one moment, and nothing is written.

#[cfg(feature = "mysql")]
mod mysql;
mod postgres;
mod sqlite;

use std::fmt::Write as _;

use crate::error::ImportError;

/// A value as text; nothing for NULL.
pub(crate) type Cell = Option<String>;

/// A row: its values, in the order in which they were asked for.
pub(crate) struct TableRow(pub(crate) Vec<Cell>);

impl TableRow {
    /// The text at a place; empty for NULL.
    pub(crate) fn text(&self, place: usize) -> &str {
        self.maybe(place).unwrap_or_default()
    }

    /// The text at a place, unless there is none or it is empty.
    pub(crate) fn maybe(&self, place: usize) -> Option<&str> {
        let text = self.0.get(place)?.as_deref()?;
        Some(text).filter(|text| !text.is_empty())
    }

    /// The whole number at a place; 0 where there is none.
    pub(crate) fn int(&self, place: usize) -> i64 {
        self.maybe(place)
            .and_then(|text| text.trim().parse().ok())
            .unwrap_or_default()
    }

    /// Whether what stands at a place means yes.
    pub(crate) fn flag(&self, place: usize) -> bool {
        matches!(self.text(place), "1" | "t" | "true" | "TRUE")
    }
}

/// Which rows of a table to read, in the order of one of its columns.
pub(crate) struct TablePage<'a> {
    /// The table.
    pub(crate) table: &'a str,
    /// The columns, by name; one that the table lacks reads as NULL.
    pub(crate) columns: &'a [&'a str],
    /// The column that tells rows apart.
    pub(crate) key: &'a str,
    /// Whether that is a number.
    pub(crate) numbered: bool,
    /// Only rows behind this value of it.
    pub(crate) after: Option<&'a str>,
    /// Only rows with one of these values in a column.
    pub(crate) among: Option<(&'a str, &'a [String])>,
    /// Rows at most.
    pub(crate) limit: usize,
}

/// An open database.
pub struct SourceDatabase(Connection);

enum Connection {
    Sqlite(sqlite::SqliteSource),
    Postgres(Box<postgres::PostgresSource>),
    #[cfg(feature = "mysql")]
    MySql(Box<mysql::MySqlSource>),
}

/// How a database writes things.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wording {
    Sqlite,
    Postgres,
    #[cfg(feature = "mysql")]
    MySql,
}

impl Wording {
    fn name(self, name: &str) -> String {
        let quote = match self {
            Self::Sqlite | Self::Postgres => '"',
            #[cfg(feature = "mysql")]
            Self::MySql => '`',
        };
        format!("{quote}{name}{quote}")
    }

    const fn text_type(self) -> &'static str {
        match self {
            Self::Sqlite | Self::Postgres => "TEXT",
            #[cfg(feature = "mysql")]
            Self::MySql => "CHAR",
        }
    }

    const fn number_type(self) -> &'static str {
        match self {
            Self::Sqlite => "INTEGER",
            Self::Postgres => "BIGINT",
            #[cfg(feature = "mysql")]
            Self::MySql => "SIGNED",
        }
    }

    fn place(self, number: usize) -> String {
        match self {
            Self::Postgres => format!("${number}"),
            _ => "?".to_owned(),
        }
    }

    /// A column as text. Lists of PostgreSQL become JSON.
    fn column(self, column: &str, kind: &str) -> String {
        let name = self.name(column);
        if self == Self::Postgres && kind == "ARRAY" {
            return format!("CAST(array_to_json({name}) AS TEXT)");
        }
        if self == Self::Postgres && kind.starts_with("timestamp") {
            return format!("CAST(CAST(EXTRACT(EPOCH FROM {name}) * 1000 AS BIGINT) AS TEXT)");
        }
        format!("CAST({name} AS {})", self.text_type())
    }
}

/// A statement and the texts at its places.
struct TextQuery {
    sql: String,
    values: Vec<String>,
}

impl SourceDatabase {
    /// Opens a file of SQLite, or the address of a PostgreSQL or MySQL.
    pub async fn open(from: &str) -> Result<Self, ImportError> {
        let scheme = from.split_once("://").map(|(scheme, _)| scheme);
        Ok(Self(match scheme {
            Some("postgres" | "postgresql") => {
                Connection::Postgres(Box::new(postgres::PostgresSource::open(from).await?))
            }
            #[cfg(feature = "mysql")]
            Some("mysql" | "mariadb") => {
                Connection::MySql(Box::new(mysql::MySqlSource::open(from).await?))
            }
            #[cfg(not(feature = "mysql"))]
            Some("mysql" | "mariadb") => {
                let why = "this program was built without MySQL; take one with the feature `import`, or copy the database into \
                           SQLite";
                return Err(ImportError::Option(why.to_owned()));
            }
            Some("sqlite" | "file") => {
                let path = from.split_once("://").map_or(from, |(_, path)| path);
                Connection::Sqlite(sqlite::SqliteSource::open(path)?)
            }
            Some(other) => {
                let why = format!(
                    "--from: `{other}://` is not known; give a file, or an address with postgres:// or mysql://"
                );
                return Err(ImportError::Option(why));
            }
            None => Connection::Sqlite(sqlite::SqliteSource::open(from)?),
        }))
    }

    const fn wording(&self) -> Wording {
        match &self.0 {
            Connection::Sqlite(_) => Wording::Sqlite,
            Connection::Postgres(_) => Wording::Postgres,
            #[cfg(feature = "mysql")]
            Connection::MySql(_) => Wording::MySql,
        }
    }

    async fn run(
        &mut self,
        query: &TextQuery,
        columns: usize,
    ) -> Result<Vec<TableRow>, ImportError> {
        match &mut self.0 {
            Connection::Sqlite(source) => source.rows(query, columns),
            Connection::Postgres(source) => source.rows(query, columns).await,
            #[cfg(feature = "mysql")]
            Connection::MySql(source) => source.rows(query, columns).await,
        }
    }

    /// The columns of a table and the kind of each, in lower case unless it is `ARRAY`; none when there is no such table.
    pub(crate) async fn columns(
        &mut self,
        table: &str,
    ) -> Result<Vec<(String, String)>, ImportError> {
        let sql = match self.wording() {
            Wording::Sqlite => {
                "SELECT name, LOWER(type) FROM pragma_table_info(?) ORDER BY cid".to_owned()
            }
            Wording::Postgres => "SELECT column_name::text, data_type::text FROM information_schema.columns \
                 WHERE table_name = $1 AND table_schema = ANY (current_schemas(FALSE)) ORDER BY ordinal_position"
                .to_owned(),
            #[cfg(feature = "mysql")]
            Wording::MySql => "SELECT CAST(column_name AS CHAR), CAST(data_type AS CHAR) FROM information_schema.columns \
                 WHERE table_name = ? AND table_schema = DATABASE() ORDER BY ordinal_position"
                .to_owned(),
        };
        let query = TextQuery {
            sql,
            values: vec![table.to_owned()],
        };
        let rows = self.run(&query, 2).await?;
        Ok(rows
            .iter()
            .map(|row| (row.text(0).to_owned(), row.text(1).to_owned()))
            .collect())
    }

    /// How many rows a table has; none when there is no such table.
    pub(crate) async fn count(&mut self, table: &str) -> Result<i64, ImportError> {
        if self.columns(table).await?.is_empty() {
            return Ok(0);
        }
        let wording = self.wording();
        let query = TextQuery {
            sql: format!(
                "SELECT CAST(COUNT(*) AS {}) FROM {}",
                wording.text_type(),
                wording.name(table)
            ),
            values: Vec::new(),
        };
        let rows = self.run(&query, 1).await?;
        Ok(rows.first().map_or(0, |row| row.int(0)))
    }

    /// A page of a table.
    pub(crate) async fn page(
        &mut self,
        page: &TablePage<'_>,
    ) -> Result<Vec<TableRow>, ImportError> {
        let known = self.columns(page.table).await?;
        let wording = self.wording();
        let mut sql = String::from("SELECT ");
        for (place, column) in page.columns.iter().enumerate() {
            let comma = if place == 0 { "" } else { ", " };
            let kind = known.iter().find(|(name, _)| name == column);
            let read = kind.map_or("NULL".to_owned(), |(_, kind)| wording.column(column, kind));
            let _ = write!(sql, "{comma}{read}");
        }
        let _ = write!(sql, " FROM {}", wording.name(page.table));
        let mut values = Vec::new();
        let mut conditions = Vec::new();
        let key = wording.name(page.key);
        if let Some(after) = page.after {
            values.push(after.to_owned());
            let place = wording.place(values.len());
            conditions.push(if page.numbered {
                format!("{key} > CAST({place} AS {})", wording.number_type())
            } else {
                format!("{key} > {place}")
            });
        }
        if let Some((column, among)) = page.among {
            let mut places = Vec::new();
            for value in among {
                values.push(value.clone());
                places.push(wording.place(values.len()));
            }
            let column = wording.column(column, "");
            conditions.push(format!("{column} IN ({})", places.join(", ")));
        }
        if !conditions.is_empty() {
            let _ = write!(sql, " WHERE {}", conditions.join(" AND "));
        }
        let _ = write!(sql, " ORDER BY {key} LIMIT {}", page.limit);
        let query = TextQuery { sql, values };
        self.run(&query, page.columns.len()).await
    }
}
