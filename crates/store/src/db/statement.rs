//! What goes into a statement: its values, lines of them, lists as JSON.

/// A line for a statement with a `lines` mark: its values, in the order of the mark's columns.
pub(crate) trait Line {
    fn values<'a>(&'a self, out: &mut Vec<Arg<'a>>);
}

/// A value bound to a statement.
#[derive(Clone, Copy, Debug, serde::Serialize)]
#[serde(untagged)]
pub(crate) enum Arg<'a> {
    Text(Option<&'a str>),
    Int(Option<i64>),
    Flag(bool),
}

macro_rules! arg {
    ($type:ty, $value:ident => $arg:expr) => {
        impl<'a> From<$type> for Arg<'a> {
            fn from($value: $type) -> Self {
                $arg
            }
        }
    };
}
arg!(&'a str, text => Arg::Text(Some(text)));
arg!(&'a String, text => Arg::Text(Some(text)));
arg!(Option<&'a str>, text => Arg::Text(text));
arg!(i64, number => Arg::Int(Some(number)));
arg!(Option<i64>, number => Arg::Int(number));
arg!(bool, flag => Arg::Flag(flag));

/// The values of a statement, in the order of their places.
macro_rules! args {
    ($($value:expr),* $(,)?) => { &[$($crate::db::statement::Arg::from($value)),*] };
}
pub(crate) use args;

/// A JSON array for a statement.
pub(crate) fn json<T: serde::Serialize + ?Sized>(lines: &T) -> String {
    serde_json::to_string(lines).expect("plain lines are JSON")
}

/// The statement for a driver with its values bound.
macro_rules! bound {
    ($driver:ident, $sql:expr, $args:expr) => {{
        let mut query = sqlx::query::<$driver>(sqlx::AssertSqlSafe($sql));
        for arg in $args {
            query = match *arg {
                $crate::db::statement::Arg::Text(text) => query.bind(text),
                $crate::db::statement::Arg::Int(number) => query.bind(number),
                $crate::db::statement::Arg::Flag(flag) => query.bind(flag),
            };
        }
        query
    }};
}
pub(super) use bound;
