//! Leases: who runs a job. Held by time and fence, never by an open transaction.

use crate::jobs::JobRow;
use crate::{Result, Store};

/// A wish for work.
#[derive(Clone, Debug)]
pub struct LeaseRequest {
    /// The node.
    pub owner: String,
    /// Until when.
    pub until_ms: i64,
    /// The time.
    pub now_ms: i64,
    /// Only these operations.
    pub operations: Vec<String>,
    /// At most so many.
    pub limit: i64,
}

impl Store {
    /// Leases the waiting jobs whose turn it is.
    pub async fn lease_next(&self, _request: LeaseRequest) -> Result<Vec<JobRow>> {
        Err(crate::Error::NotFound)
    }
    /// Extends leases; the jobs that are still the owner's.
    pub async fn renew_leases(
        &self,
        _owner: &str,
        _ids: &[String],
        _until_ms: i64,
    ) -> Result<Vec<String>> {
        Err(crate::Error::NotFound)
    }
    /// Running jobs whose lease ran out.
    pub async fn expired_leases(&self, _now_ms: i64, _limit: i64) -> Result<Vec<JobRow>> {
        Err(crate::Error::NotFound)
    }
    /// Adopts a running job whose lease ran out, with its attempt and ticket.
    pub async fn take_lease(
        &self,
        _job_id: &str,
        _old_fence: i64,
        _owner: &str,
        _until_ms: i64,
        _now_ms: i64,
    ) -> Result<Option<JobRow>> {
        Err(crate::Error::NotFound)
    }
    /// Ends the leases of one owner, or all; how many.
    pub async fn void_leases(&self, _owner: Option<&str>, _now_ms: i64) -> Result<u64> {
        Err(crate::Error::NotFound)
    }
    /// Unfinished jobs past their deadline.
    pub async fn overdue(&self, _now_ms: i64, _limit: i64) -> Result<Vec<String>> {
        Err(crate::Error::NotFound)
    }
}
