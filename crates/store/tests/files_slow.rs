//! A bucket that is slow, cuts the line or falls silent: what can be read is read whole, and nothing waits for ever.

#[path = "files/defaults.rs"]
mod defaults;

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use atelier_contract::Secret;
use atelier_store::files::{AssetSettings, Files, S3Timeouts};
use bytes::Bytes;
use futures_util::TryStreamExt as _;
use tokio::time::Instant;

use defaults::asset_defaults;

const SIZE: usize = 400_000;
const PIECE: usize = 10_000;
/// The longest a request may take; all pieces of a slow answer take longer.
const REQUEST: Duration = Duration::from_millis(3500);

/// How the server sends the bytes of an answer.
#[derive(Clone, Copy)]
enum Manner {
    /// A piece, a pause, a piece.
    Slow(Duration),
    /// Only so many pieces before the line is cut.
    Cut(usize),
    /// Only so many pieces before it says nothing more.
    Silent(usize),
}

/// A server with one file; counts the times it was read from.
struct Server {
    address: String,
    reads: Arc<AtomicU32>,
}

fn content() -> Vec<u8> {
    (0..SIZE)
        .map(|place| (place / 7 + place / 977) as u8)
        .collect()
}

impl Server {
    fn with(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let address = listener.local_addr().expect("an address").to_string();
        let reads = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&reads);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let count = Arc::clone(&count);
                thread::spawn(move || answer(stream, manner, &count));
            }
        });
        Self { address, reads }
    }

    /// For what is to arrive: neither a request nor a silence is too long because the machine stood still.
    fn files(&self) -> Files {
        self.files_within(Duration::from_secs(10))
    }

    fn files_within(&self, silence: Duration) -> Files {
        let settings = AssetSettings {
            url: "s3://media".into(),
            endpoint: format!("http://{}", self.address),
            access_key: Secret::new("key"),
            secret_key: Secret::new("secret"),
            ..asset_defaults()
        };
        let timeouts = S3Timeouts {
            request: REQUEST,
            silence,
        };
        Files::open_within(&settings, PathBuf::new(), timeouts).expect("a bucket")
    }
}

/// One request per connection, which is enough here.
fn answer(mut stream: TcpStream, manner: Manner, reads: &AtomicU32) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            _ => return,
        }
    }
    let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
    let range = head.split_once("range: bytes=").map(|(_, rest)| {
        let (first, rest) = rest.split_once('-').expect("a range");
        let last = rest.lines().next().expect("its end");
        let number = |text: &str| text.trim().parse::<usize>().expect("a number");
        number(first)..number(last) + 1
    });
    let (status, part) = match range {
        Some(range) => ("206 Partial Content", range),
        None => ("200 OK", 0..SIZE),
    };
    let said = write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\ncontent-range: bytes {}-{}/{SIZE}\r\n\
         etag: \"one\"\r\nlast-modified: Sun, 15 Nov 2026 08:00:00 GMT\r\nconnection: close\r\n\r\n",
        part.len(),
        part.start,
        part.end - 1,
    );
    if said.is_err() || head.starts_with("head") {
        return;
    }
    reads.fetch_add(1, Ordering::SeqCst);
    for (number, piece) in content()[part].chunks(PIECE).enumerate() {
        match manner {
            Manner::Slow(pause) => thread::sleep(pause),
            Manner::Cut(most) if number == most => return,
            Manner::Silent(most) if number == most => {
                thread::sleep(Duration::from_secs(5));
                return;
            }
            _ => {}
        }
        if stream.write_all(piece).is_err() {
            return;
        }
    }
}

async fn read_all(files: &Files) -> Result<Vec<u8>, atelier_store::files::FilesError> {
    let pieces = files.read_range("clip.mp4", 0..SIZE as u64).await?;
    let pieces: Vec<Bytes> = pieces.try_collect().await?;
    Ok(pieces.concat())
}

#[tokio::test]
async fn a_download_may_take_longer_than_any_request() {
    let slow = Manner::Slow(Duration::from_millis(100));
    let (server, other) = (Server::with(slow), Server::with(slow));
    let (files, others) = (server.files(), other.files());
    let began = Instant::now();
    let (seen, whole) = tokio::join!(read_all(&files), others.read("clip.mp4"));
    assert!(seen.expect("all of it") == content());
    assert!(whole.expect("all of it") == content());
    assert!(began.elapsed() > REQUEST, "it was slow");
    assert_eq!(server.reads.load(Ordering::SeqCst), 1, "in one go");
}

#[tokio::test]
async fn a_download_that_breaks_off_goes_on_where_it_was() {
    for manner in [Manner::Cut(9), Manner::Silent(17)] {
        let server = Server::with(manner);
        let files = server.files_within(Duration::from_millis(400));
        let seen = read_all(&files).await.expect("all of it");
        assert!(seen == content());
        assert!(server.reads.load(Ordering::SeqCst) >= 3, "in several goes");
    }
}

#[tokio::test]
async fn a_bucket_that_sends_nothing_is_given_up() {
    let server = Server::with(Manner::Cut(0));
    let read = tokio::time::timeout(Duration::from_secs(50), read_all(&server.files())).await;
    read.expect("it ends").expect_err("nothing came");
}
