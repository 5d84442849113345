//! Names that are stored as one text and mean two things: each has one form, written and read here and nowhere else.

use std::fmt;

use atelier_contract::JobId;
use atelier_store::WorkerRow;
use serde::{Serialize, Serializer};

/// A worker account, by its back end and its own identifier; what runs inside this process has no account.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct WorkerName {
    backend: String,
    account: Option<String>,
}

impl WorkerName {
    /// A worker account at a back end.
    pub(crate) fn account(backend_id: &str, worker_id: &str) -> Self {
        Self {
            backend: backend_id.to_owned(),
            account: Some(worker_id.to_owned()),
        }
    }

    /// Whoever works inside this process.
    pub(crate) fn inside(name: &str) -> Self {
        Self {
            backend: name.to_owned(),
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

    /// Its back end.
    pub(crate) fn backend(&self) -> &str {
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

/// One attempt at a job: the job and the fence of its lease.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct AttemptId {
    job: JobId,
    fence: i64,
}

impl AttemptId {
    pub(crate) fn new(job: JobId, fence: i64) -> Self {
        Self { job, fence }
    }

    /// Reads the stored form.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (job, fence) = text.rsplit_once('-')?;
        let fence = fence.parse().ok()?;
        Some(Self::new(JobId::new(job), fence))
    }

    /// The job it belongs to.
    pub(crate) fn into_job(self) -> JobId {
        self.job
    }
}

impl fmt::Display for AttemptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.job, self.fence)
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
        let attempt = AttemptId::new(JobId::new("0190-ab-7"), 12);
        assert_eq!(attempt.to_string(), "0190-ab-7-12");
        assert_eq!(AttemptId::read("0190-ab-7-12"), Some(attempt));
        assert_eq!(AttemptId::read("no-fence-"), None);
    }
}
