//! How much room there is where results are kept.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use atelier_contract::{Code, Refusal};
use tokio::time::Instant;

use crate::config::Config;

/// How long an answer of the disk is believed.
const BELIEVED_MS: u64 = 500;

/// Whether there is room for more work.
pub(crate) struct Disk {
    since: Instant,
    asked_ms: AtomicU64,
    full: AtomicBool,
}

impl Default for Disk {
    fn default() -> Self {
        Self {
            since: Instant::now(),
            asked_ms: AtomicU64::new(0),
            full: AtomicBool::new(false),
        }
    }
}

impl Disk {
    /// Refuses work while less is free than the settings want.
    pub(crate) fn admit(&self, config: &Config) -> Result<(), Refusal> {
        let now_ms = self.since.elapsed().as_millis() as u64 + BELIEVED_MS;
        if now_ms - self.asked_ms.load(Ordering::Relaxed) >= BELIEVED_MS {
            self.asked_ms.store(now_ms, Ordering::Relaxed);
            let limits = &config.limits;
            let full = room(config).is_some_and(|(free, whole)| {
                free < limits.disk_free_mib * 1024 * 1024
                    || free < whole / 100 * limits.disk_free_percent
            });
            if full && !self.full.load(Ordering::Relaxed) {
                tracing::error!("the disk is nearly full; no jobs are accepted");
            }
            self.full.store(full, Ordering::Relaxed);
        }
        if self.full.load(Ordering::Relaxed) {
            let message = "the service has no room for more results now; nothing was accepted";
            return Err(Refusal::new(Code::Overloaded, message));
        }
        Ok(())
    }
}

/// Bytes that are free and bytes there are on the disk of the data folder; nothing when the files are in a bucket, or
/// when the disk does not say.
pub(crate) fn room(config: &Config) -> Option<(u64, u64)> {
    if !config.assets.url.is_empty() {
        return None;
    }
    let disk = rustix::fs::statvfs(&config.data_dir).ok()?;
    Some((disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize))
}
