//! The spool of small files: what was answered is there after a power cut, as it was last.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use atelier_store::files::Files;
use bytes::Bytes;
use futures_util::future::join_all;

/// A folder that goes away with the test.
struct Root(PathBuf);

impl Root {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("atelier-spool-{}-{number}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    async fn open(&self) -> Files {
        let files = Files::own_folder(&self.0).expect("a folder");
        assert!(files.open_spool().await.expect("a spool"));
        files
    }

    /// Takes away what a power cut may take: everything that was not synced. The spool is.
    fn cut_power(&self) {
        for folder in ["out", "in"] {
            let _ = std::fs::remove_dir_all(self.0.join(folder));
        }
    }

    fn at(&self, key: &str) -> PathBuf {
        self.0.join(key)
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A process that ends without a word. Who has answered last gives the spool back a moment later.
async fn close(root: &Root, files: Files) {
    drop(files);
    let is_free = |half: &str| {
        let file = std::fs::File::open(root.0.join(".spool").join(half));
        file.expect("a half of the spool").try_lock().is_ok()
    };
    for _ in 0..3000 {
        if is_free("a") && is_free("b") {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the spool was not given back");
}

fn bytes(number: usize) -> Bytes {
    Bytes::from(format!("file {number} ").repeat(100 + number % 7))
}

async fn put_many(files: &Files, numbers: std::ops::Range<usize>) {
    let puts = numbers.map(|number| async move {
        let key = format!("out/{}/{number}", number % 3);
        // Either way.
        let put = if number % 2 == 0 {
            files.put(&key, bytes(number)).await
        } else {
            files.put_unseen(&key, bytes(number)).await
        };
        put.expect("put");
    });
    join_all(puts).await;
}

fn assert_there(root: &Root, numbers: std::ops::Range<usize>) {
    for number in numbers {
        let key = format!("out/{}/{number}", number % 3);
        let read = std::fs::read(root.at(&key)).expect("it is there");
        assert_eq!(read, bytes(number), "{key}");
    }
}

/// How many bytes both halves of the spool have.
fn spooled(root: &Path) -> u64 {
    let halves = ["a", "b"].map(|half| root.join(".spool").join(half));
    let sizes = halves.map(|half| half.metadata().expect("a half").len());
    sizes.iter().sum()
}

#[tokio::test]
async fn what_was_answered_comes_back_after_a_power_cut() {
    let root = Root::new();
    let files = root.open().await;
    put_many(&files, 0..200).await;
    assert_there(&root, 0..200);
    close(&root, files).await;
    root.cut_power();
    let half = root.at("out/0/0");
    std::fs::create_dir_all(half.parent().expect("a folder")).expect("a folder");
    std::fs::write(&half, b"").expect("a name without bytes");
    let files = root.open().await;
    assert_there(&root, 0..200);
    // What came back is durable by itself: the spool has nothing more to say of it.
    close(&root, files).await;
    root.cut_power();
    let _files = root.open().await;
    assert!(!half.exists());
}

#[tokio::test]
async fn the_last_that_was_done_to_a_file_counts() {
    let root = Root::new();
    let files = root.open().await;
    let large = Bytes::from(vec![7; 300_000]);
    let middle = Bytes::from(vec![8; 100_000]);
    let flow = futures_util::stream::iter([Ok::<_, std::io::Error>(large.clone())]);
    for key in ["again", "deleted", "large", "middle", "flow", "back"] {
        let key = format!("out/{key}");
        files.put(&key, bytes(1)).await.expect("put");
    }
    files.put("out/again", bytes(2)).await.expect("put");
    files.delete("out/deleted").await.expect("delete");
    files.put("out/large", large.clone()).await.expect("put");
    files.put("out/middle", middle.clone()).await.expect("put");
    files.put_stream("out/flow", flow).await.expect("put");
    files.delete("out/back").await.expect("delete");
    files.put("out/back", bytes(3)).await.expect("put");
    close(&root, files).await;
    let files = root.open().await;
    let there = async |key: &str| files.read(key).await.ok();
    assert_eq!(there("out/again").await, Some(bytes(2)));
    assert_eq!(there("out/deleted").await, None);
    assert_eq!(there("out/large").await, Some(large));
    assert_eq!(there("out/middle").await, Some(middle));
    let flow = there("out/flow").await.map(|flow| flow.len());
    assert_eq!(flow, Some(300_000));
    assert_eq!(there("out/back").await, Some(bytes(3)));
}

/// What was being written when the power went is no file, and what older fillings left behind it is none either.
#[tokio::test]
async fn half_a_record_and_an_old_one_are_passed_over() {
    let root = Root::new();
    let files = root.open().await;
    put_many(&files, 0..50).await;
    close(&root, files).await;
    // The spool is empty now, but for the bytes that are left in it.
    let files = root.open().await;
    put_many(&files, 100..110).await;
    close(&root, files).await;
    root.cut_power();
    close(&root, root.open().await).await;
    assert_there(&root, 100..110);
    assert!(!root.at("out/0/30").exists(), "of an older filling");

    let files = root.open().await;
    files.put("out/0/1", bytes(1)).await.expect("put");
    files.put("out/0/2", bytes(2)).await.expect("put");
    close(&root, files).await;
    let half = root.at(".spool/a");
    let whole = std::fs::read(&half).expect("the spool");
    for cut in (0..2000).step_by(97) {
        root.cut_power();
        let mut torn = whole.clone();
        torn[cut] ^= 1;
        std::fs::write(&half, torn).expect("a torn spool");
        close(&root, root.open().await).await;
        for number in [1, 2] {
            let read = std::fs::read(root.at(&format!("out/0/{number}")));
            assert!(
                read.map_or(true, |read| read == bytes(number)),
                "byte {cut}"
            );
        }
    }
}

/// A spool that is full is emptied while files come, and what was in it is there.
#[tokio::test]
async fn a_spool_goes_round_and_keeps_its_size() {
    let root = Root::new();
    let files = root.open().await;
    let big = |number: usize| Bytes::from(vec![number as u8; 60_000]);
    for turn in 0..40 {
        let puts = (0..64).map(|number| {
            let (files, number) = (files.clone(), turn * 64 + number);
            async move {
                let key = format!("in/{number}");
                files.put(&key, big(number)).await.expect("put");
            }
        });
        join_all(puts).await;
    }
    assert!(spooled(&root.0) < 80_000_000, "{}", spooled(&root.0));
    close(&root, files).await;
    let files = root.open().await;
    for number in 0..40 * 64 {
        let read = files.read(&format!("in/{number}")).await.expect("read");
        assert_eq!(read, big(number));
    }
}

/// A process that ends as it should leaves nothing in the spool: what is deleted by hand then does not come back.
#[tokio::test]
async fn after_an_orderly_end_the_spool_has_nothing_to_say() {
    let root = Root::new();
    let files = root.open().await;
    put_many(&files, 0..20).await;
    files.close_spool().await.expect("closed");
    put_many(&files, 20..25).await;
    close(&root, files).await;
    assert_there(&root, 0..25);
    root.cut_power();
    close(&root, root.open().await).await;
    assert!(!root.at("out/0/0").exists());
}

/// Another process has no spool and spoils nothing of the first one's.
#[tokio::test]
async fn two_processes_may_have_one_folder() {
    let root = Root::new();
    let first = root.open().await;
    put_many(&first, 0..20).await;
    let second = Files::own_folder(&root.0).expect("a folder");
    assert!(!second.open_spool().await.expect("it is taken"));
    put_many(&second, 20..40).await;
    put_many(&first, 40..60).await;
    assert_there(&root, 0..60);
    drop(second);
    close(&root, first).await;
    for gone in 0..20 {
        let key = format!("out/{}/{gone}", gone % 3);
        std::fs::remove_file(root.at(&key)).expect("it was there");
    }
    close(&root, root.open().await).await;
    assert_there(&root, 0..60);
}

/// Whoever is interrupted leaves half a file at its place, which is none: the next one replaces it, and so does the next start.
#[tokio::test]
async fn half_a_file_at_its_place_is_replaced() {
    let root = Root::new();
    let files = root.open().await;
    files.put_unseen("out/0/1", bytes(1)).await.expect("put");
    for key in ["out/0/1", "out/0/2"] {
        std::fs::write(root.at(key), &bytes(1)[..3]).expect("half a file");
    }
    files.put_unseen("out/0/2", bytes(2)).await.expect("put");
    assert_eq!(files.read("out/0/2").await.expect("read"), bytes(2));
    close(&root, files).await;
    let files = root.open().await;
    assert_eq!(files.read("out/0/1").await.expect("read"), bytes(1));
    assert_eq!(files.read("out/0/2").await.expect("read"), bytes(2));
}
