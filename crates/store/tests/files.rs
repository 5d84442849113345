//! What the asset store promises, on a folder and on a real S3-compatible server (`scripts/s3 start DIR` prints the address
//! for `ATELIER_TEST_S3`); the cases on the server are ignored unless they are asked for.

#[path = "files/defaults.rs"]
mod defaults;
#[path = "files/places.rs"]
mod places;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use atelier_store::files::{Files, FilesError};
use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _};
use places::Place;

#[expect(clippy::disallowed_methods, reason = "files carry the machine's time")]
fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.expect("after 1970").as_millis() as i64
}

/// Bytes that differ at every place, so that a shifted or swapped part shows.
fn pattern(size: usize) -> Bytes {
    (0..size)
        .map(|place| (place * 31 + place / 251 + place / 65_521) as u8)
        .collect()
}

async fn part(files: &Files, key: &str, range: std::ops::Range<u64>) -> Vec<u8> {
    let pieces = files.read_range(key, range).await.expect("a flow");
    let pieces: Vec<Bytes> = pieces.try_collect().await.expect("pieces");
    pieces.concat()
}

async fn keys(files: &Files, prefix: &str, before_ms: i64) -> Vec<String> {
    let found = files.list(prefix, before_ms).await.expect("a list");
    let mut keys: Vec<String> = found.try_collect().await.expect("keys");
    keys.sort();
    keys
}

async fn what_was_put_is_read_back(place: Place) {
    let files = &place.files;
    for (key, size) in [("a/b/c.png", 70_000), ("a/b/d.png", 1), ("top", 0)] {
        files.put(key, pattern(size)).await.expect("put");
        assert_eq!(files.size(key).await.expect("size"), Some(size as u64));
        assert_eq!(files.read(key).await.expect("read"), pattern(size));
    }
    files.put("a/b/c.png", pattern(3)).await.expect("replace");
    assert_eq!(files.read("a/b/c.png").await.expect("read"), pattern(3));
}

async fn files_put_at_once_are_each_whole(place: Place) {
    let files = &place.files;
    files.put("taken", pattern(1)).await.expect("put");
    let puts = (0..200_usize).map(|number| async move {
        let key = format!("out/{}/{number}.png", number / 3);
        files.put(&key, pattern(number * 50)).await.expect("put");
        let read = files.read(&key).await.expect("read");
        assert_eq!(read, pattern(number * 50), "{key}");
    });
    futures_util::future::join_all(puts).await;
    assert_eq!(keys(files, "out", i64::MAX).await.len(), 200);
    assert_eq!(files.sweep_unfinished(i64::MAX).await.expect("swept"), 0);
}

async fn what_is_absent_is_absent(place: Place) {
    let files = &place.files;
    files.put("folder/file", pattern(9)).await.expect("put");
    for key in ["nothing", "folder", "folder/file/below"] {
        assert_eq!(files.size(key).await.expect("size"), None, "{key}");
        let read = files.read(key).await;
        assert!(matches!(read, Err(FilesError::NotFound)), "{key}: {read:?}");
        let flow = files.read_range(key, 0..1).await;
        assert!(matches!(flow, Err(FilesError::NotFound)), "{key}");
    }
    files.delete("nothing").await.expect("deleting nothing");
    files.delete("folder/file").await.expect("delete");
    files.delete("folder/file").await.expect("delete again");
    assert_eq!(files.size("folder/file").await.expect("size"), None);
}

async fn ranges_are_exact(place: Place) {
    let files = &place.files;
    let whole = pattern(200_000);
    files.put("clip.mp4", whole.clone()).await.expect("put");
    for range in [
        0..1,
        0..200_000,
        199_999..200_000,
        65_535..131_073,
        7..7,
        200_000..200_000,
    ] {
        let expected = &whole[range.start as usize..range.end as usize];
        assert_eq!(
            part(files, "clip.mp4", range.clone()).await,
            expected,
            "{range:?}"
        );
    }
    #[expect(clippy::reversed_empty_ranges, reason = "a range that must be refused")]
    let bad = [0..200_001, 200_000..200_001, 9..3];
    for range in bad {
        let flow = files.read_range("clip.mp4", range.clone()).await;
        assert!(matches!(flow, Err(FilesError::BadRange)), "{range:?}");
    }
}

async fn a_flow_is_stored_whole_in_any_cut(place: Place) {
    let files = &place.files;
    for (name, size, cut) in [
        ("empty", 0, 1),
        ("small", 1000, 7),
        ("parts", 20_000_003, 1_000_003),
        ("exact", 16 * 1024 * 1024, 4 * 1024 * 1024),
    ] {
        let whole = pattern(size);
        let pieces: Vec<std::io::Result<Bytes>> = whole
            .chunks(cut)
            .map(|piece| Ok(whole.slice_ref(piece)))
            .collect();
        let stored = files
            .put_stream(name, futures_util::stream::iter(pieces))
            .await;
        assert_eq!(stored.expect("stored"), size as u64, "{name}");
        assert!(files.read(name).await.expect("read") == whole, "{name}");
    }
}

async fn a_flow_that_breaks_off_leaves_nothing(place: Place) {
    let files = &place.files;
    for (name, good) in [("early", 10), ("late", 12 * 1024 * 1024)] {
        let pieces = [Ok(pattern(good)), Err(std::io::Error::other("cut off"))];
        let stored = files
            .put_stream(name, futures_util::stream::iter(pieces))
            .await;
        assert!(matches!(stored, Err(FilesError::Source(_))), "{stored:?}");
        assert_eq!(files.size(name).await.expect("size"), None, "{name}");
    }
    assert_eq!(
        keys(files, "", now_ms() + 60_000).await,
        Vec::<String>::new()
    );
}

async fn keys_are_listed_by_prefix_and_age(place: Place) {
    let files = &place.files;
    for key in ["x/1", "x/y/2", "xx/3", "4"] {
        files.put(key, pattern(5)).await.expect("put");
    }
    let later = now_ms() + 60_000;
    assert_eq!(keys(files, "", later).await, ["4", "x/1", "x/y/2", "xx/3"]);
    assert_eq!(keys(files, "x", later).await, ["x/1", "x/y/2"]);
    assert_eq!(keys(files, "none", later).await, Vec::<String>::new());
    assert_eq!(
        keys(files, "", now_ms() - 60_000).await,
        Vec::<String>::new()
    );
    // Every listed key can be used as it is.
    for key in keys(files, "", later).await {
        files.delete(&key).await.expect("delete");
    }
    assert_eq!(keys(files, "", later).await, Vec::<String>::new());
}

async fn bad_keys_are_refused_by_every_call(place: Place) {
    let files = &place.files;
    for key in [
        "../out",
        "/etc/passwd",
        "a//b",
        ".unfinished/x",
        "a\0b",
        "%2e%2e/x",
        "",
    ] {
        let nothing = futures_util::stream::empty::<std::io::Result<Bytes>>();
        let results = [
            files.put(key, pattern(1)).await.is_err(),
            files.put_stream(key, nothing).await.is_err(),
            files.size(key).await.is_err(),
            files.read(key).await.is_err(),
            files.read_range(key, 0..1).await.is_err(),
            files.delete(key).await.is_err(),
        ];
        assert_eq!(results, [true; 6], "{key:?}");
    }
    assert!(files.list("../", 0).await.is_err());
}

async fn two_nodes_share_one_place(place: Place) {
    let second = place.again();
    place.files.put("shared/1", pattern(10)).await.expect("put");
    assert_eq!(second.read("shared/1").await.expect("read"), pattern(10));
    second.delete("shared/1").await.expect("delete");
    assert_eq!(place.files.size("shared/1").await.expect("size"), None);
}

/// Runs each test on a folder and on the S3 server.
macro_rules! each_place {
    ($($test:ident),* $(,)?) => {
        mod folder {
            $(#[tokio::test]
            async fn $test() {
                super::$test(super::Place::folder()).await;
            })*
        }
        mod s3 {
            $(#[tokio::test]
            #[ignore = "needs an S3 server"]
            async fn $test() {
                super::$test(super::Place::s3()).await;
            })*
        }
    };
}

each_place!(
    what_was_put_is_read_back,
    files_put_at_once_are_each_whole,
    what_is_absent_is_absent,
    ranges_are_exact,
    a_flow_is_stored_whole_in_any_cut,
    a_flow_that_breaks_off_leaves_nothing,
    keys_are_listed_by_prefix_and_age,
    bad_keys_are_refused_by_every_call,
    two_nodes_share_one_place,
);

#[tokio::test]
async fn what_a_crash_left_unfinished_is_invisible_and_swept() {
    let place = Place::folder();
    let root = place.root().to_owned();
    std::fs::write(root.join(".unfinished/left-over"), b"half a file").expect("a left-over");
    std::fs::write(root.join("strange name"), b"not ours").expect("a stray file");
    place.files.put("whole", pattern(3)).await.expect("put");
    assert_eq!(keys(&place.files, "", now_ms() + 60_000).await, ["whole"]);
    let fresh = place.files.sweep_unfinished(now_ms() - 60_000).await;
    assert_eq!(fresh.expect("sweep"), 0, "a write may still be under way");
    let old = place.files.sweep_unfinished(now_ms() + 60_000).await;
    assert_eq!(old.expect("sweep"), 1);
    assert!(root.join("strange name").exists());
}

#[tokio::test]
async fn a_write_that_is_dropped_half_way_leaves_no_file() {
    let place = Place::folder();
    let pieces = futures_util::stream::once(async { Ok::<_, std::io::Error>(pattern(1000)) })
        .chain(futures_util::stream::pending());
    let write = place.files.put_stream("never", pieces);
    let waited = tokio::time::timeout(Duration::from_millis(200), write).await;
    assert!(waited.is_err());
    assert_eq!(place.files.size("never").await.expect("size"), None);
    let unfinished = std::fs::read_dir(place.root().join(".unfinished")).expect("the folder");
    assert_eq!(unfinished.count(), 0);
}

/// Only on a folder: the test server writes over files in place, which a real bucket never shows.
#[tokio::test]
async fn a_reader_never_sees_half_a_replacement() {
    let place = Place::folder();
    let files = place.files.clone();
    let (old, new) = (
        Bytes::from(vec![b'o'; 300_000]),
        Bytes::from(vec![b'n'; 300_000]),
    );
    files.put("key", old.clone()).await.expect("put");
    let writer = async {
        for turn in 0..10 {
            let content = if turn % 2 == 0 { &new } else { &old };
            files.put("key", content.clone()).await.expect("replace");
        }
    };
    let reader = async {
        for _ in 0..20 {
            let seen = files.read("key").await.expect("read");
            assert!(
                seen == old || seen == new,
                "a mixture of {} bytes",
                seen.len()
            );
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::join!(writer, reader);
}

#[tokio::test]
async fn a_folder_goes_with_its_last_file_while_others_write_into_it() {
    let place = Place::folder();
    let (files, root) = (&place.files, place.root());
    for key in ["out/job/1", "out/job/2"] {
        files.put(key, pattern(3)).await.expect("put");
    }
    files.delete("out/job/1").await.expect("delete");
    assert!(root.join("out/job").exists(), "it still has a file");
    files.delete("out/job/2").await.expect("delete");
    assert!(!root.join("out/job").exists());
    assert!(root.join("out").exists());
    // Nobody who writes is hurt by somebody who clears away.
    let turns = |name: &'static str| async move {
        for _ in 0..200 {
            let key = format!("out/busy/{name}");
            files.put(&key, pattern(3)).await.expect("put");
            assert_eq!(files.read(&key).await.expect("read"), pattern(3));
            files.delete(&key).await.expect("delete");
        }
    };
    tokio::join!(turns("a"), turns("b"), turns("c"));
    assert!(!root.join("out/busy").exists());
}

#[tokio::test]
async fn no_other_user_of_the_machine_can_read_the_files() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::folder();
    let stored = place.files.put("out/job/1.png", pattern(9)).await;
    stored.expect("put");
    let mut folders = vec![place.root().to_owned()];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        let mode = folder.metadata().expect("there").permissions().mode();
        assert_eq!(mode & 0o077, 0, "{} has mode {mode:o}", folder.display());
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let mode = path.metadata().expect("there").permissions().mode();
            assert_eq!(mode & 0o077, 0, "{} has mode {mode:o}", path.display());
            seen += 1;
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
    assert!(seen >= 4, "{seen} files and folders");
}
