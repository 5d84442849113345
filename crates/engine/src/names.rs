//! Names of worker accounts, which are stored as one text and mean two things: one form, written and read here and nowhere
//! else.

use std::fmt;

use atelier_contract::{BackendId, WorkerId};
use atelier_store::WorkerRow;
use serde::{Serialize, Serializer};

/// A worker account, by its back end and its own identifier; what runs inside this process has no account.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct WorkerName {
    backend: BackendId,
    account: Option<WorkerId>,
}

impl WorkerName {
    /// A worker account at a back end.
    pub(crate) fn account(backend_id: &str, worker_id: &str) -> Self {
        Self {
            backend: backend_id.into(),
            account: Some(worker_id.into()),
        }
    }

    /// Whoever works inside this process.
    pub(crate) fn inside(name: &str) -> Self {
        Self {
            backend: name.into(),
            account: None,
        }
    }

    /// Reads the stored form.
    pub(crate) fn read(text: &str) -> Self {
        match text.split_once('/') {
            Some((backend, worker)) => Self::account(backend, worker),
            None => Self::inside(text),
        }
    }

    /// Its own identifier, where it has one.
    pub(crate) fn worker_id(&self) -> Option<&WorkerId> {
        self.account.as_ref()
    }

    pub(crate) fn backend(&self) -> &BackendId {
        &self.backend
    }
}

impl From<&WorkerRow> for WorkerName {
    fn from(row: &WorkerRow) -> Self {
        Self::account(&row.backend_id, &row.id)
    }
}

impl fmt::Display for WorkerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.account {
            Some(account) => write!(f, "{}/{account}", self.backend),
            None => f.write_str(&self.backend),
        }
    }
}

impl Serialize for WorkerName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_as_it_was_written() {
        for name in [
            WorkerName::account("b-1", "w/2"),
            WorkerName::inside("embedded"),
        ] {
            assert_eq!(WorkerName::read(&name.to_string()), name);
        }
    }
}
