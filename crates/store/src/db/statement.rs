//! What goes into a statement: its values, lines of them, lists as JSON.

/// A line for a statement with a `lines` mark: its values, in the order of the mark's columns.
pub(crate) trait Line {
    fn values<'a>(&'a self, out: &mut Vec<Arg<'a>>);
}

/// A value bound to a statement.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Arg<'a> {
    Text(Option<&'a str>),
    Int(Option<i64>),
    Flag(bool),
}

impl<'a> Arg<'a> {
    /// A text of a column of texts.
    pub(super) fn text(&self) -> Option<&'a str> {
        match *self {
            Self::Text(text) => text,
            Self::Int(None) => None,
            Self::Int(Some(_)) | Self::Flag(_) => panic!("no text for a column of texts"),
        }
    }

    /// A number of a column of numbers.
    pub(super) fn int(&self) -> Option<i64> {
        match *self {
            Self::Int(number) => number,
            Self::Text(None) => None,
            Self::Text(Some(_)) | Self::Flag(_) => panic!("no number for a column of numbers"),
        }
    }
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

/// A value on its way to another thread.
#[derive(Clone, Debug)]
pub(crate) enum OwnedArg {
    Text(Option<String>),
    Int(Option<i64>),
    Flag(bool),
}

impl From<&Arg<'_>> for OwnedArg {
    fn from(arg: &Arg<'_>) -> Self {
        match *arg {
            Arg::Text(text) => Self::Text(text.map(str::to_owned)),
            Arg::Int(number) => Self::Int(number),
            Arg::Flag(flag) => Self::Flag(flag),
        }
    }
}

impl<'a> From<&'a OwnedArg> for Arg<'a> {
    fn from(owned: &'a OwnedArg) -> Self {
        match owned {
            OwnedArg::Text(text) => Arg::Text(text.as_deref()),
            OwnedArg::Int(number) => Arg::Int(*number),
            OwnedArg::Flag(flag) => Arg::Flag(*flag),
        }
    }
}

/// The values of a statement, in the order of their places.
macro_rules! args {
    ($($value:expr),* $(,)?) => { &[$($crate::db::statement::Arg::from($value)),*] };
}
pub(crate) use args;

/// A JSON array for a statement.
pub(crate) fn json<T: serde::Serialize + ?Sized>(lines: &T) -> String {
    serde_json::to_string(lines).expect("plain lines are JSON")
}

/// The values of all lines, one after the other.
pub(super) fn flat(lines: &[impl Line]) -> Vec<Arg<'_>> {
    let mut values = Vec::new();
    for line in lines {
        line.values(&mut values);
    }
    values
}
