//! Reading rows by column order, the same for both databases.

use atelier_contract::Quota;
use sqlx::Row;
use sqlx::postgres::PgRow;

/// The values of a row. Each is read once, so it may be taken out of it.
pub(crate) trait Cells {
    fn text(&mut self, column: usize) -> sqlx::Result<Option<String>>;
    fn int(&mut self, column: usize) -> sqlx::Result<Option<i64>>;
    fn flag(&mut self, column: usize) -> sqlx::Result<bool>;
}

impl Cells for PgRow {
    fn text(&mut self, column: usize) -> sqlx::Result<Option<String>> {
        self.try_get(column)
    }
    fn int(&mut self, column: usize) -> sqlx::Result<Option<i64>> {
        self.try_get(column)
    }
    fn flag(&mut self, column: usize) -> sqlx::Result<bool> {
        self.try_get(column)
    }
}

/// Hands out the columns of a row from left to right.
pub(crate) struct Columns<'a> {
    row: &'a mut dyn Cells,
    next: usize,
}

impl<'a> Columns<'a> {
    pub(crate) fn of(row: &'a mut dyn Cells) -> Self {
        Self { row, next: 0 }
    }

    fn step(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }

    pub(crate) fn maybe_text(&mut self) -> sqlx::Result<Option<String>> {
        let column = self.step();
        self.row.text(column)
    }

    pub(crate) fn text(&mut self) -> sqlx::Result<String> {
        let column = self.step();
        self.row.text(column)?.ok_or_else(|| missing(column))
    }

    pub(crate) fn maybe_int(&mut self) -> sqlx::Result<Option<i64>> {
        let column = self.step();
        self.row.int(column)
    }

    pub(crate) fn int(&mut self) -> sqlx::Result<i64> {
        let column = self.step();
        self.row.int(column)?.ok_or_else(|| missing(column))
    }

    pub(crate) fn quota(&mut self) -> sqlx::Result<Quota> {
        self.int().map(Quota::from_thousandths)
    }

    pub(crate) fn flag(&mut self) -> sqlx::Result<bool> {
        let column = self.step();
        self.row.flag(column)
    }
}

fn missing(column: usize) -> sqlx::Error {
    sqlx::Error::Decode(format!("column {column} is NULL").into())
}

/// A value made of the columns of a row, in the order its query names them.
pub(crate) trait FromRow: Sized {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self>;
}

impl FromRow for i64 {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        columns.int()
    }
}

impl FromRow for Option<i64> {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        columns.maybe_int()
    }
}

impl FromRow for String {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        columns.text()
    }
}

impl<A: FromRow, B: FromRow> FromRow for (A, B) {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok((A::read(columns)?, B::read(columns)?))
    }
}
