//! A large file flows in and out of the asset store without being held in memory. Alone in its process, so that the peak
//! it measures is its own.

#[path = "files/defaults.rs"]
mod defaults;
#[path = "files/places.rs"]
mod places;

use atelier_store::files::Files;
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use places::Place;

const PIECE: usize = 256 * 1024;
const PIECES: u64 = 1200;
const SIZE: u64 = PIECES * PIECE as u64;
/// What streaming 300 MB may add to the memory of the process.
const MOST_KIB: u64 = 30 * 1024;

mod folder {
    #[tokio::test]
    async fn three_hundred_megabytes_stream_in_bounded_memory() {
        let folder = super::Place::folder();
        assert!(folder.root().exists());
        super::check("folder", &folder.files).await;
    }
}

mod s3 {
    #[tokio::test]
    #[ignore = "needs an S3 server"]
    async fn three_hundred_megabytes_stream_in_bounded_memory() {
        let place = super::Place::s3();
        // A first small round trip, so that the client's own set-up is not measured.
        let warm = super::Bytes::from_static(b"x");
        place.files.put("warm", warm).await.expect("put");
        assert_eq!(place.again().size("warm").await.expect("size"), Some(1));
        super::check("s3", &place.files).await;
        place.files.delete("big").await.expect("delete");
    }
}

async fn check(name: &str, files: &Files) {
    let pattern: Bytes = (0..PIECE + 251).map(|place| (place / 7) as u8).collect();
    reset_peak();
    let before = peak_kib();
    let started = tokio::time::Instant::now();
    let pieces = stream::iter(0..PIECES).map(|n| Ok::<_, std::io::Error>(piece(&pattern, n)));
    let stored = files.put_stream("big", pieces).await.expect("stored");
    assert_eq!(stored, SIZE);
    let wrote = started.elapsed();
    let mut flow = files.read_range("big", 0..SIZE).await.expect("a flow");
    let mut seen = 0;
    while let Some(bytes) = flow.next().await {
        let bytes = bytes.expect("bytes");
        let (number, place) = (seen / PIECE as u64, seen as usize % PIECE);
        assert_eq!(bytes[0], piece(&pattern, number)[place], "at byte {seen}");
        seen += bytes.len() as u64;
    }
    assert_eq!(seen, SIZE);
    let added = peak_kib().saturating_sub(before);
    eprintln!(
        "{name}: {} MB in {wrote:?}, out in {:?}, peak memory +{added} KiB",
        SIZE / 1_000_000,
        started.elapsed().saturating_sub(wrote)
    );
    assert!(added < MOST_KIB, "{name}: peak memory grew by {added} KiB");
}

/// The pieces are windows into one pattern, each a byte further, so that a swapped piece shows.
fn piece(pattern: &Bytes, number: u64) -> Bytes {
    let start = number as usize % 251;
    pattern.slice(start..start + PIECE)
}

/// Makes the kernel forget the highest memory use so far.
fn reset_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let digits = line.expect("a peak").chars().filter(char::is_ascii_digit);
    digits.collect::<String>().parse().expect("a number")
}
