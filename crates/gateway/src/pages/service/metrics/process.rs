//! What the process takes of its machine, as far as the machine tells.

use std::fs;

use atelier_contract::metrics::table;

use super::exposition::Exposition;

/// Memory and open files.
pub(super) fn show(page: &mut Exposition) {
    if let Some(bytes) = resident() {
        page.value(&table::MEMORY, &[], bytes);
    }
    if let Ok(open) = fs::read_dir("/proc/self/fd") {
        page.value(&table::OPEN_FILES, &[], open.count());
    }
}

/// Bytes of memory; the file counts in kibibytes.
fn resident() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
