//! What every place of files has in common: how it fails, and how pieces flow out of it.

use std::pin::Pin;

use futures_util::Stream;

/// A flow of pieces or names that may break off.
pub type FileStream<T> = Pin<Box<dyn Stream<Item = FilesResult<T>> + Send>>;

/// What can go wrong with a stored file.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// Keys are letters, digits, `_`, `-`, `.` and `/`.
    #[error("`{0}` is not a key of the asset store")]
    BadKey(String),
    /// Nothing is stored under the key.
    #[error("there is no such file in the asset store")]
    NotFound,
    /// The range does not lie within the file.
    #[error("the file has no such range")]
    BadRange,
    /// The flow of bytes to be stored broke off; nothing was stored.
    #[error("the file to be stored broke off")]
    Source(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("the asset store's folder failed")]
    Io(#[from] std::io::Error),
    #[error("the asset store's bucket failed")]
    Bucket(#[source] object_store::Error),
}

/// The result of an asset store call.
pub type FilesResult<T> = std::result::Result<T, FilesError>;
