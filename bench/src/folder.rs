//! The folder of this run. All of it is removed at the end and nothing before: ext4 looks through what was deleted in the last
//! minutes for every file that it makes, so that the leavings of one round would be paid for by the next. For what others have
//! deleted, the folders are put where the disk is emptiest (`chattr +T`), where there is such a thing.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

fn root() -> PathBuf {
    std::env::temp_dir().join(format!("atelier-bench-{}", std::process::id()))
}

/// A folder in it, made if need be.
pub(crate) fn fresh(name: &str) -> Result<PathBuf> {
    let root = root();
    if !root.exists() {
        std::fs::create_dir_all(&root)?;
        // Other file systems have no such word.
        let _ = Command::new("chattr").arg("+T").arg(&root).output();
    }
    let folder = root.join(name);
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Removes it.
pub(crate) fn clear() {
    let _ = std::fs::remove_dir_all(root());
}
