//! How a store is opened.

/// How a store is opened.
#[derive(Clone, Debug)]
pub struct Options {
    pub readers: u32,
    /// The most changes in one commit.
    pub batch_most: usize,
    /// The most changes that may be in the queue; one more is [`crate::Error::Busy`] for callers, and waits for its place otherwise.
    pub queue_most: usize,
    /// Whether SQLite is to look whether anything refers to what is deleted. Archiving makes sure of that itself: looking
    /// would read whole tables for every job.
    pub references: bool,
    /// Whether every step at SQLite is waited for in place, with nothing else happening meanwhile: for simulations, whose
    /// virtual time must not move before a commit has come to its end.
    pub in_place: bool,
    /// The address of a pooler before PostgreSQL that lends connections for one transaction at a time. Reads and commits
    /// go there; the schema is changed and hints are heard at the database itself.
    pub pooler: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            readers: 8,
            batch_most: 256,
            queue_most: 4096,
            references: true,
            in_place: false,
            pooler: None,
        }
    }
}
