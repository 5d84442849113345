//! A file on its way into the folder: written aside, synced, then moved to its place, whose folders are synced in turn.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::error::Result;

/// Where files lie until they are whole. Keys cannot begin with a dot, so none can name it.
pub(super) const UNFINISHED: &str = ".unfinished";
/// How often a folder that vanishes is made again for one file.
const FOLDER_TRIES: u32 = 20;

/// A file that is being written; it goes away unless it is finished.
pub(super) struct Draft {
    pub(super) path: PathBuf,
    file: Option<fs::File>,
    finished: bool,
}

impl Draft {
    /// A file with these bytes, which are yet to be synced.
    pub(super) fn written(root: &Path, bytes: &[u8]) -> Result<Self> {
        let mut draft = Self::create(root)?;
        if let Some(file) = &mut draft.file {
            file.write_all(bytes)?;
        }
        Ok(draft)
    }

    /// Syncs what was written.
    pub(super) fn sync(mut self) -> Result<Self> {
        if let Some(file) = self.file.take() {
            file.sync_all()?;
        }
        Ok(self)
    }

    pub(super) fn create(root: &Path) -> Result<Self> {
        let mut name = [0_u8; 16];
        getrandom::fill(&mut name).map_err(io::Error::other)?;
        let name = format!("{:032x}", u128::from_be_bytes(name));
        let path = root.join(UNFINISHED).join(name);
        let mut file = fs::OpenOptions::new();
        let file = file.write(true).create_new(true).mode(0o600).open(&path)?;
        Ok(Self {
            path,
            file: Some(file),
            finished: false,
        })
    }

    /// Moves the synced file to its place and makes the new name durable.
    pub(super) fn finish(self, root: &Path, target: &Path) -> Result<()> {
        for folder in self.move_to(root, target)? {
            sync_folder(&folder)?;
        }
        Ok(())
    }

    /// Moves the synced file to its place; the folders whose sync makes the new name durable.
    pub(super) fn move_to(mut self, root: &Path, target: &Path) -> Result<Vec<PathBuf>> {
        let folder = target.parent().unwrap_or(root);
        let mut tries = 0;
        let fresh = loop {
            let moved = create_folders(root, folder)
                .and_then(|fresh| fs::rename(&self.path, target).map(|()| fresh));
            match moved {
                Ok(fresh) => break fresh,
                // Somebody deleted the last file of the folder, and the folder with it, in between.
                Err(error) if error.kind() == io::ErrorKind::NotFound && tries < FOLDER_TRIES => {
                    tries += 1;
                }
                Err(error) => return Err(error.into()),
            }
        };
        self.finished = true;
        Ok(std::iter::once(folder.to_path_buf()).chain(fresh).collect())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.finished {
            // What cannot be removed now is removed by the sweep.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Folders that no other user of the machine can look into.
pub(super) fn private_folder() -> fs::DirBuilder {
    let mut folder = fs::DirBuilder::new();
    folder.mode(0o700);
    folder
}

/// Creates what is missing of `folder`; gives back the folders that got a new entry and so need a sync.
fn create_folders(root: &Path, folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut missing: Vec<&Path> = folder
        .ancestors()
        .take_while(|above| above.starts_with(root) && !above.is_dir())
        .collect();
    let changed = missing
        .iter()
        .filter_map(|path| path.parent().map(Path::to_path_buf))
        .collect();
    while let Some(path) = missing.pop() {
        match private_folder().create(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    Ok(changed)
}

pub(super) fn sync_folder(folder: &Path) -> Result<()> {
    Ok(fs::File::open(folder)?.sync_all()?)
}
