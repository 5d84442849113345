//! A file on its way into the folder: written aside, synced, then moved to its place, whose folders are synced in turn.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::error::FilesResult;

/// Where files lie until they are whole. Keys cannot begin with a dot, so none can name it.
pub(super) const UNFINISHED: &str = ".unfinished";
/// How often a folder that vanishes is made again for one file.
const FOLDER_TRIES: u32 = 20;

/// A file that is being written; it goes away unless it is finished.
pub(super) struct TempFile {
    pub(super) path: PathBuf,
    file: Option<fs::File>,
    finished: bool,
}

impl TempFile {
    /// A file with these bytes, which are yet to be synced.
    pub(super) fn written(root: &Path, bytes: &[u8]) -> FilesResult<Self> {
        let mut draft = Self::create(root)?;
        if let Some(file) = &mut draft.file {
            file.write_all(bytes)?;
        }
        Ok(draft)
    }

    /// Syncs what was written.
    pub(super) fn sync(mut self) -> FilesResult<Self> {
        if let Some(file) = self.file.take() {
            file.sync_all()?;
        }
        Ok(self)
    }

    pub(super) fn create(root: &Path) -> FilesResult<Self> {
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
    pub(super) fn finish(
        self,
        root: &Path,
        target: &Path,
        known: &SyncedFolders,
    ) -> FilesResult<()> {
        for folder in self.move_to(root, target, known)? {
            sync_folder(&folder)?;
        }
        known.learn(root, target);
        Ok(())
    }

    /// Moves the synced file to its place; the folders whose sync makes the new name durable. A folder that another has just
    /// made may not have been synced by it yet, so that only what is known to be is left out.
    pub(super) fn move_to(
        mut self,
        root: &Path,
        target: &Path,
        known: &SyncedFolders,
    ) -> FilesResult<Vec<PathBuf>> {
        let folder = target.parent().unwrap_or(root);
        let mut tries = 0;
        loop {
            let moved =
                create_folders(root, folder, known).and_then(|()| fs::rename(&self.path, target));
            match moved {
                Ok(()) => break,
                // Somebody deleted the last file of the folder, and the folder with it, in between.
                Err(error) if error.kind() == io::ErrorKind::NotFound && tries < FOLDER_TRIES => {
                    tries += 1;
                }
                Err(error) => return Err(error.into()),
            }
        }
        self.finished = true;
        Ok(known.to_be_synced(root, folder))
    }
}

/// Puts bytes that are durable elsewhere, and that nobody reads yet, into a file of their own, at its place at once: should this
/// come to no end, they are put there again. What is there already is replaced as a whole. The folders whose sync makes the name
/// durable.
pub(super) fn place(
    root: &Path,
    target: &Path,
    bytes: &[u8],
    known: &SyncedFolders,
) -> FilesResult<Vec<PathBuf>> {
    let folder = target.parent().unwrap_or(root);
    let create = || {
        let mut file = fs::OpenOptions::new();
        file.write(true).create_new(true).mode(0o600).open(target)
    };
    let created = match create() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            create_folders(root, folder, known).and_then(|()| create())
        }
        created => created,
    };
    let Ok(mut file) = created else {
        return TempFile::written(root, bytes)?.move_to(root, target, known);
    };
    if let Err(error) = file.write_all(bytes) {
        // Half a file is none, but the name may be another's by now: it is left to whoever comes next, or to the sweep.
        let _ = file.set_len(0);
        return Err(error.into());
    }
    Ok(known.to_be_synced(root, folder))
}

impl Drop for TempFile {
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

/// Creates what is missing of `folder`; what is new is not known to be durable.
fn create_folders(root: &Path, folder: &Path, known: &SyncedFolders) -> io::Result<()> {
    let mut missing: Vec<&Path> = folder
        .ancestors()
        .take_while(|above| above.starts_with(root) && !above.is_dir())
        .collect();
    while let Some(path) = missing.pop() {
        known.forget(path);
        match private_folder().create(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// A folder and those above it that are below the root.
fn folders_below<'a>(root: &'a Path, folder: &'a Path) -> impl Iterator<Item = &'a Path> {
    let all = folder.ancestors();
    all.take_while(move |one| *one != root && one.starts_with(root))
}

/// Folders whose own names are known to be durable, so that they need no sync for every file.
#[derive(Debug, Default)]
pub(super) struct SyncedFolders(Mutex<HashSet<PathBuf>>);

impl SyncedFolders {
    /// More are not remembered.
    const MOST: usize = 1_024;

    fn has(&self, folder: &Path) -> bool {
        self.folders().contains(folder)
    }

    /// The folders to be synced for a new name in one of them.
    fn to_be_synced(&self, root: &Path, folder: &Path) -> Vec<PathBuf> {
        let unknown = folders_below(root, folder).filter(|one| !self.has(one));
        let above = unknown.filter_map(Path::parent).map(Path::to_path_buf);
        std::iter::once(folder.to_path_buf()).chain(above).collect()
    }

    /// Everything that the name of a file needs has been synced.
    pub(super) fn learn(&self, root: &Path, target: &Path) {
        let mut folders = self.folders();
        if folders.len() > Self::MOST {
            folders.clear();
        }
        let above = target.parent().into_iter();
        let above = above.flat_map(|folder| folders_below(root, folder));
        for folder in above {
            if !folders.contains(folder) {
                folders.insert(folder.to_path_buf());
            }
        }
    }

    /// The folder has gone, or is about to be made.
    pub(super) fn forget(&self, folder: &Path) {
        self.folders().remove(folder);
    }

    fn folders(&self) -> MutexGuard<'_, HashSet<PathBuf>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn sync_folder(folder: &Path) -> FilesResult<()> {
    Ok(fs::File::open(folder)?.sync_all()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is answered is durable: a folder that another one has made, and perhaps not synced yet, is synced by everybody until
    /// its name is known to be on disk; one that was made anew is not known.
    #[test]
    fn a_folder_is_trusted_only_once_it_was_synced() {
        let root = std::env::temp_dir().join(format!("atelier-draft-{}", std::process::id()));
        let (out, minute) = (root.join("out"), root.join("out/1"));
        fs::create_dir_all(root.join(UNFINISHED)).expect("a folder");
        fs::create_dir_all(&minute).expect("somebody else's folder");
        let known = SyncedFolders::default();
        let moved = |name: &str| {
            let draft = TempFile::written(&root, b"x").expect("a file");
            let draft = draft.sync().expect("it is synced");
            draft
                .move_to(&root, &minute.join(name), &known)
                .expect("it is moved")
        };
        let all = [minute.clone(), out, root.clone()];
        assert_eq!(moved("a"), all);
        assert_eq!(moved("b"), all, "nobody has said that it was synced");
        known.learn(&root, &minute.join("b"));
        assert_eq!(moved("c"), all[..1]);
        fs::remove_dir_all(&minute).expect("it is removed");
        assert_eq!(moved("d"), all[..2]);
        fs::remove_dir_all(&root).expect("it is removed");
    }
}
