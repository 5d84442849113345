//! The spool: small files are made durable together. The bytes of a group go behind each other into one file, which is synced
//! once; then each file is put into its place, and the system brings it to the disk when it likes. When a half of the spool
//! is full, the other one takes over, everything is synced, and the full one is empty again. Whoever opens the spool after
//! a power cut puts back what it has; after an orderly end it has nothing.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::Arc;

use super::error::FilesResult;
use super::record::{HEAD, SpoolRecord};
use super::temp_file::{SyncedFolders, TempFile, private_folder, sync_folder};

/// Where the halves are. Keys cannot begin with a dot, so none can name it.
const FOLDER: &str = ".spool";
/// Bytes of a half, a group more or less.
const HALF_BYTES: u64 = 32 * 1024 * 1024;
/// Files in a half, likewise.
const HALF_FILES: usize = 8_192;

/// Open halves, one of which is written to.
#[derive(Debug)]
pub(super) struct Spool {
    /// The folder, opened once: an error of the disk is told to each that has it open.
    root: Arc<File>,
    halves: [SpoolHalf; 2],
    current: usize,
    /// The filling in which each key was last written; what is done to such a file otherwise has to be told.
    keys: HashMap<String, u64>,
    /// The number of the last filling. None is used again, so that what is left of an old one is not taken for a new one.
    last: u64,
    /// Whether somebody syncs what a full half has.
    syncing: bool,
    /// A sync that failed leaves nothing to rely on.
    failed: bool,
}

#[derive(Debug)]
struct SpoolHalf {
    file: File,
    /// Which filling this is; none while it is empty.
    filling: Option<u64>,
    end: u64,
    files: usize,
    /// Groups whose files are not all in their places yet.
    placing: usize,
}

impl SpoolHalf {
    fn open(path: &Path) -> FilesResult<Option<Self>> {
        let mut file = fs::OpenOptions::new();
        let file = file.read(true).write(true).create(true).truncate(false);
        let file = file.mode(0o600).open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Ok(None),
            Err(fs::TryLockError::Error(error)) => return Err(error.into()),
        }
        Ok(Some(Self {
            file,
            filling: None,
            end: 0,
            files: 0,
            placing: 0,
        }))
    }

    fn is_full(&self) -> bool {
        self.end >= HALF_BYTES || self.files >= HALF_FILES
    }

    /// Writes behind what is there. Whoever hears of an error must not find it done after all.
    fn write(&mut self, records: &[u8], synced: bool) -> io::Result<()> {
        let mut written = self.file.write_all_at(records, self.end);
        if synced && written.is_ok() {
            written = self.file.sync_data();
        }
        match &written {
            Ok(()) => self.end += records.len() as u64,
            Err(_) => drop(self.file.set_len(self.end)),
        }
        written
    }

    /// Nothing in it counts any more.
    fn empty(&mut self) -> io::Result<()> {
        self.file.write_all_at(&[0; HEAD], 0)?;
        self.file.sync_data()?;
        (self.filling, self.end, self.files) = (None, 0, 0);
        Ok(())
    }
}

impl Spool {
    /// Opens the spool of a folder and puts back what is in it; `None` when another process has it.
    pub(super) fn open(root: &Path) -> FilesResult<Option<Self>> {
        let folder = root.join(FOLDER);
        private_folder().recursive(true).create(&folder)?;
        let opened = (
            SpoolHalf::open(&folder.join("a"))?,
            SpoolHalf::open(&folder.join("b"))?,
        );
        let (Some(first), Some(second)) = opened else {
            return Ok(None);
        };
        sync_folder(&folder)?;
        sync_folder(root)?;
        let mut number = [0; 7];
        getrandom::fill(&mut number).map_err(io::Error::other)?;
        let last = number
            .iter()
            .fold(1, |all, byte| all << 8 | u64::from(*byte));
        let mut spool = Self {
            root: Arc::new(File::open(root)?),
            halves: [first, second],
            current: 0,
            keys: HashMap::new(),
            last,
            syncing: false,
            failed: false,
        };
        restore(root, &mut spool.halves)?;
        spool.empty()?;
        Ok(Some(spool))
    }

    /// Whether all files are in their places.
    pub(super) fn is_quiet(&self) -> bool {
        self.halves.iter().all(|half| half.placing == 0)
    }

    /// Has everything on disk by itself, after which there is nothing in it.
    pub(super) fn empty(&mut self) -> io::Result<()> {
        // The older one first: what the newer one says of a key counts as long as the older one says something else.
        self.halves.sort_by_key(|half| half.filling);
        self.current = 1;
        if self.halves[1].filling.is_some() {
            let emptied = self.empty_halves();
            self.failed |= emptied.is_err();
            emptied?;
        }
        self.keys.clear();
        self.current = 0;
        Ok(())
    }

    fn empty_halves(&mut self) -> io::Result<()> {
        // The system tells of what it could not write only once.
        if self.failed {
            return Err(io::Error::other("a sync has failed before"));
        }
        sync_all(&self.root)?;
        let mut halves = self.halves.iter_mut();
        halves.try_for_each(|half| half.filling.map_or(Ok(()), |_| half.empty()))
    }

    /// Nothing is added any more, and what is in it stays for the next start.
    pub(super) fn fail(&mut self) {
        self.failed = true;
    }

    /// Whether the spool has a key since a filling.
    pub(super) fn covers(&self, key: &str, filling: u64) -> bool {
        self.keys.get(key).is_some_and(|at| *at >= filling)
    }

    /// Makes a group of files durable and says in which filling, if there was room; their places are next.
    pub(super) fn add<'a>(
        &mut self,
        files: impl Iterator<Item = (&'a str, &'a [u8])>,
    ) -> io::Result<Option<u64>> {
        if self.halves[self.current].is_full() && self.halves[1 - self.current].filling.is_none() {
            self.current = 1 - self.current;
        }
        if self.failed || self.halves[self.current].is_full() {
            return Ok(None);
        }
        let (mut records, filling) = (Vec::new(), self.filling());
        let mut keys = Vec::new();
        for (key, bytes) in files {
            SpoolRecord::put(filling, &mut records, key, bytes);
            keys.push((key.to_owned(), filling));
        }
        self.write(&records, keys.len(), true)?;
        self.keys.extend(keys);
        self.halves[self.current].placing += 1;
        Ok(Some(filling))
    }

    /// The files of a group are in their places.
    pub(super) fn placed(&mut self, filling: u64) {
        let mut halves = self.halves.iter_mut();
        if let Some(half) = halves.find(|half| half.filling == Some(filling)) {
            half.placing -= 1;
        }
    }

    /// The file of a key is no longer the one in the spool, if it was in it. What must be so after a power cut is synced.
    pub(super) fn forget(&mut self, key: &str, synced: bool) -> io::Result<()> {
        if !self.keys.contains_key(key) {
            return Ok(());
        }
        let (mut record, filling) = (Vec::new(), self.filling());
        SpoolRecord::gone(filling, &mut record, key);
        self.write(&record, 1, synced)?;
        self.keys.remove(key);
        Ok(())
    }

    /// The filling that waits for everything to be synced, and the folder to sync, for the first who asks.
    pub(super) fn filled(&mut self) -> Option<(u64, Arc<File>)> {
        let other = &self.halves[1 - self.current];
        let filling = other.filling.filter(|_| other.placing == 0)?;
        let first = !self.syncing && !self.failed;
        self.syncing |= first;
        first.then(|| (filling, Arc::clone(&self.root)))
    }

    /// Everything of a filling is on disk by itself.
    pub(super) fn emptied(&mut self, filling: u64) -> io::Result<()> {
        let mut halves = self.halves.iter_mut();
        if let Some(half) = halves.find(|half| half.filling == Some(filling)) {
            half.empty()?;
        }
        self.keys.retain(|_, at| *at != filling);
        self.syncing = false;
        Ok(())
    }

    /// The filling that is being written.
    fn filling(&mut self) -> u64 {
        let last = &mut self.last;
        *self.halves[self.current].filling.get_or_insert_with(|| {
            *last += 1;
            *last
        })
    }

    fn write(&mut self, records: &[u8], files: usize, synced: bool) -> io::Result<()> {
        let half = &mut self.halves[self.current];
        let written = half.write(records, synced);
        match &written {
            Ok(()) => half.files += files,
            // A full disk may have room again; a disk that could not sync is not to be trusted.
            Err(error) => self.failed |= error.kind() != io::ErrorKind::StorageFull,
        }
        written
    }
}

/// Syncs the whole file system that a folder is on.
pub(super) fn sync_all(root: &File) -> io::Result<()> {
    Ok(rustix::fs::syncfs(root)?)
}

/// Puts every file back and notes which halves have records. What lies in a place already is no proof: the system may show what it
/// could not write. Nothing is synced here; emptying the halves does that.
fn restore(root: &Path, halves: &mut [SpoolHalf]) -> FilesResult<()> {
    let mut found: Vec<(u64, &File, Vec<SpoolRecord>)> = Vec::new();
    for half in halves {
        let records = SpoolRecord::all(&half.file)?;
        half.filling = records.first().map(|first| first.filling);
        if let Some(filling) = half.filling {
            found.push((filling, &half.file, records));
        }
    }
    found.sort_by_key(|(filling, ..)| *filling);
    let mut last: HashMap<&str, (&File, &SpoolRecord)> = HashMap::new();
    for (_, file, records) in &found {
        last.extend(records.iter().map(|one| (one.key.as_str(), (*file, one))));
    }
    let (known, mut wrong) = (SyncedFolders::default(), None);
    for (key, (file, record)) in last {
        if let Err(error) = put_back(root, key, file, record, &known) {
            tracing::error!(%error, key, "a file of the spool could not be restored");
            wrong = Some(error);
        }
    }
    wrong.map_or(Ok(()), Err)
}

fn put_back(
    root: &Path,
    key: &str,
    file: &File,
    record: &SpoolRecord,
    known: &SyncedFolders,
) -> FilesResult<()> {
    super::key::check(key)?;
    if let Some(bytes) = record.bytes(file)? {
        let draft = TempFile::written(root, &bytes)?;
        draft.move_to(root, &root.join(key), known)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(name: &str) -> (std::path::PathBuf, Spool) {
        let root = format!("atelier-spool-{name}-{}", std::process::id());
        let root = std::env::temp_dir().join(root);
        fs::create_dir_all(root.join(super::super::temp_file::UNFINISHED)).expect("a folder");
        let spool = Spool::open(&root).expect("a folder").expect("a spool");
        (root, spool)
    }

    fn add(spool: &mut Spool, key: &str) -> u64 {
        let added = spool.add([(key, key.as_bytes())].into_iter());
        added.expect("written").expect("room")
    }

    /// What was answered is durable: a half counts until each of its files is in its place and on disk.
    #[test]
    fn a_full_half_is_emptied_only_when_its_files_are_in_their_places() {
        let (root, mut spool) = opened("placing");
        let first = add(&mut spool, "a");
        spool.halves[0].end = HALF_BYTES;
        let second = add(&mut spool, "b");
        assert_ne!(first, second);
        assert!(spool.filled().is_none(), "a is not in its place");
        spool.placed(first);
        let (filled, _) = spool.filled().expect("to be synced");
        assert_eq!(filled, first);
        assert!(spool.filled().is_none(), "somebody does it already");
        spool.halves[1].end = HALF_BYTES;
        let full = spool.add([("c", &b"c"[..])].into_iter());
        assert!(full.expect("nothing failed").is_none(), "no room");
        spool.emptied(first).expect("emptied");
        let third = add(&mut spool, "c");
        assert!(third > second);
        assert!(!spool.keys.contains_key("a") && spool.keys.contains_key("b"));
        // The newer half is the first one now; at the end the older one is emptied before it.
        spool.empty().expect("emptied");
        fs::remove_dir_all(root).expect("removed");
    }

    /// What could not be written has not happened, and what could not be told is told the next time.
    #[test]
    fn a_write_that_fails_leaves_no_trace() {
        let (root, mut spool) = opened("failing");
        add(&mut spool, "a");
        let path = root.join(FOLDER).join("a");
        let writable = std::mem::replace(
            &mut spool.halves[0].file,
            File::open(&path).expect("to be read only"),
        );
        assert!(spool.add([("b", &b"b"[..])].into_iter()).is_err());
        assert!(spool.forget("a", true).is_err());
        assert!(spool.keys.contains_key("a") && !spool.keys.contains_key("b"));
        spool.halves[0].file = writable;
        spool.forget("a", true).expect("told");
        let records = SpoolRecord::all(&spool.halves[0].file).expect("readable");
        let told: Vec<_> = records.iter().map(|one| (&*one.key, one.length)).collect();
        assert_eq!(told, [("a", Some(1)), ("a", None)]);
        assert!(
            spool.empty().is_err(),
            "the next start puts back what is in it"
        );
        fs::remove_dir_all(root).expect("removed");
    }
}
