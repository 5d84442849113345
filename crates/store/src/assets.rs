//! Assets: which files there are, whose, and until when.

use crate::{Result, Store};

/// A stored file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asset {
    /// Where the vault keeps it.
    pub key: String,
    /// The job it came from; empty for an input.
    pub job_id: String,
    /// Whose it is.
    pub account_id: String,
    /// Its media type.
    pub media_type: String,
    /// Its size.
    pub bytes: i64,
    /// When it may be deleted.
    pub expires_ms: i64,
    /// When it was stored.
    pub created_ms: i64,
}

/// A file to be recorded.
pub type NewAsset = Asset;

impl Store {
    /// The file with a key.
    pub async fn asset(&self, _key: &str) -> Result<Option<Asset>> {
        Err(crate::Error::NotFound)
    }
    /// Files that may be deleted, longest expired first.
    pub async fn expired_assets(&self, _now_ms: i64, _limit: i64) -> Result<Vec<Asset>> {
        Err(crate::Error::NotFound)
    }
    /// Forgets files that were deleted.
    pub async fn forget_assets(&self, _keys: &[String]) -> Result<()> {
        Err(crate::Error::NotFound)
    }
    /// Records inputs stored before their job is accepted; a known one only lives longer.
    pub async fn note_inputs(&self, _inputs: Vec<NewAsset>) -> Result<()> {
        Err(crate::Error::NotFound)
    }
}
