//! The least that a gateway which keeps pictures can do: passes a call on, writes the answer to a file while it passes it
//! back, and holds the last bytes until file and folder are on disk. It checks nothing and counts nothing.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context as _, Result, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::load::{field, find};
use crate::report::say;

/// Bytes that are passed on at once.
const PIECE: usize = 64 << 10;

struct Keeper {
    folder: std::path::PathBuf,
    kept: AtomicU64,
}

/// Listens, and has every caller a connection to the vendor of its own.
pub(crate) async fn serve(vendor: SocketAddr, folder: &Path) -> Result<()> {
    tokio::fs::create_dir_all(folder).await?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    say(&format!("listening on http://{}", listener.local_addr()?));
    let keeper = Arc::new(Keeper {
        folder: folder.to_owned(),
        kept: AtomicU64::new(0),
    });
    let mut callers = tokio::task::JoinSet::new();
    loop {
        let (caller, _) = listener.accept().await?;
        while callers.try_join_next().is_some() {}
        let keeper = keeper.clone();
        callers.spawn(async move { pass(caller, vendor, &keeper).await });
    }
}

/// Answers the calls of one connection until it is closed.
async fn pass(mut caller: TcpStream, vendor: SocketAddr, keeper: &Keeper) -> Result<()> {
    caller.set_nodelay(true)?;
    let mut vendor = TcpStream::connect(vendor).await?;
    vendor.set_nodelay(true)?;
    let mut buffer = vec![0; PIECE];
    loop {
        let mut call = message(&mut caller, &mut buffer).await?;
        ensure!(call.length <= buffer.len(), "the call is too long");
        while call.filled < call.length {
            let count = caller.read(&mut buffer[call.filled..]).await?;
            ensure!(count > 0, "the caller hung up");
            call.filled += count;
        }
        vendor.write_all(&buffer[..call.length]).await?;
        let answer = message(&mut vendor, &mut buffer).await?;
        let number = keeper.kept.fetch_add(1, Ordering::Relaxed);
        let path = keeper.folder.join(number.to_string());
        let mut file = tokio::fs::File::create(&path).await?;
        let (mut left, mut filled) = (answer.length, answer.filled);
        file.write_all(&buffer[answer.head..filled]).await?;
        while left > filled {
            caller.write_all(&buffer[..filled]).await?;
            left -= filled;
            filled = vendor.read(&mut buffer).await?;
            ensure!(filled > 0, "the vendor hung up");
            file.write_all(&buffer[..filled]).await?;
        }
        file.sync_all().await?;
        tokio::fs::File::open(&keeper.folder)
            .await?
            .sync_all()
            .await?;
        caller.write_all(&buffer[..filled]).await?;
    }
}

/// A message whose head has come.
struct Message {
    /// Where its body begins.
    head: usize,
    /// How long all of it is.
    length: usize,
    /// How much of it has come.
    filled: usize,
}

async fn message(stream: &mut TcpStream, buffer: &mut [u8]) -> Result<Message> {
    let mut filled = 0;
    loop {
        let count = stream.read(&mut buffer[filled..]).await?;
        ensure!(count > 0, "the connection was closed");
        filled += count;
        if let Some(head) = find(&buffer[..filled], b"\r\n\r\n") {
            let text = std::str::from_utf8(&buffer[..head])?;
            let body = field(text, "content-length").context("a length")?;
            let length = head + 4 + body.parse::<usize>()?;
            let head = head + 4;
            return Ok(Message {
                head,
                length,
                filled,
            });
        }
        ensure!(filled < buffer.len(), "the head is too long");
    }
}
