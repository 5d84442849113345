//! Signatures that cover a whole call: they are made when its address, its head and its body are known.

use http::{HeaderMap, Method};
use url::Url;

use crate::backend::Fault;

/// A call as it is about to be sent. What is added here is covered by no other signature.
pub(crate) struct UnsignedCall<'a> {
    pub(crate) method: &'a Method,
    pub(crate) url: &'a mut Url,
    pub(crate) headers: &'a mut HeaderMap,
    pub(crate) body: &'a [u8],
}

/// What signs the calls of a worker account.
pub(crate) trait RequestSigner: Send + Sync {
    /// Adds the signature, by the time in seconds since 1970.
    fn sign(&self, call: &mut UnsignedCall<'_>, now: u64) -> Result<(), Fault>;
}
