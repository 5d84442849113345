//! What the engine asks of the machine that it is on, by way of whoever started it.

use std::fmt;
use std::sync::Arc;

/// Bytes that are free, and bytes there are, where results are kept.
pub type DiskLook = Arc<dyn Fn() -> Option<(u64, u64)> + Send + Sync>;
/// Certificates of the service by name, and when each ends.
pub type CertificateLook = Arc<dyn Fn() -> Vec<(String, i64)> + Send + Sync>;

/// What can be asked of the machine.
#[derive(Clone, Default)]
pub struct MachineLook {
    /// What it is called.
    pub name: String,
    pub disk: Option<DiskLook>,
    pub certificates: Option<CertificateLook>,
}

impl fmt::Debug for MachineLook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MachineLook")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
