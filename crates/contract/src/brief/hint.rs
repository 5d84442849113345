//! A picture that only lends something: its manner, or the looks of who is on it.

use super::Source;

/// What is taken from a hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HintKind {
    /// Colours, light and style.
    Style,
    /// The looks of its subject.
    Looks,
}

/// A picture to take something from; back ends that take words as they came find it there, too.
#[derive(Clone, Debug, PartialEq)]
pub struct Hint {
    /// What is taken from it.
    pub lends: HintKind,
    /// The picture that something is taken from.
    pub source: Source,
}
