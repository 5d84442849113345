//! How much room there is where results are kept.

use crate::config::Config;

/// Bytes that are free and bytes there are on the disk of the data folder; nothing when the files are in a bucket, or
/// when the disk does not say.
pub(crate) fn room(config: &Config) -> Option<(u64, u64)> {
    if !config.assets.url.is_empty() {
        return None;
    }
    let disk = rustix::fs::statvfs(&config.data_dir).ok()?;
    Some((disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize))
}
