//! A ZIP file that is written into an answer while that is sent. Whoever writes waits until what was written is taken, so that its memory
//! does not grow with the file.

use std::io::{self, Write};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

use atelier_contract::Refusal;
use bytes::Bytes;
use futures_util::stream;
use tokio::sync::mpsc;
use zip::result::ZipError as ArchiveFault;
use zip::write::{SimpleFileOptions, StreamWriter, ZipWriter};
use zip::{CompressionMethod, DateTime};

use crate::http::payload::ByteStream;

/// What is written is handed on in pieces of at least so many bytes.
const PIECE: usize = 64 * 1024;
/// Pieces that wait to be taken.
const WAITING: usize = 1;

/// Why a ZIP file breaks off.
#[derive(Debug, thiserror::Error)]
pub(super) enum ZipError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("{0}")]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Zip(#[from] ArchiveFault),
}

/// What was written and not yet handed on.
#[derive(Clone, Default)]
struct ZipBuffer(Arc<Mutex<Vec<u8>>>);

impl ZipBuffer {
    fn with<T>(&self, act: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for ZipBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.with(|written| written.extend_from_slice(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A ZIP file that is being written.
pub(super) struct ZipStream {
    zip: Option<ZipWriter<StreamWriter<ZipBuffer>>>,
    written: ZipBuffer,
    taken: mpsc::Sender<Bytes>,
    made_at: DateTime,
}

impl ZipStream {
    /// Begins a file in it; text is made smaller.
    pub(super) fn begin(&mut self, name: &str, is_text: bool) -> Result<(), ZipError> {
        let method = if is_text {
            CompressionMethod::Deflated
        } else {
            CompressionMethod::Stored
        };
        let options = SimpleFileOptions::default()
            .compression_method(method)
            .last_modified_time(self.made_at)
            .large_file(true);
        Ok(self.zip()?.start_file(name, options)?)
    }

    /// Writes some of that file.
    pub(super) async fn write(&mut self, bytes: &[u8]) -> Result<(), ZipError> {
        for piece in bytes.chunks(PIECE) {
            self.zip()?.write_all(piece)?;
            self.hand_on(PIECE).await?;
        }
        Ok(())
    }

    /// Writes the list of contents.
    pub(super) async fn end(&mut self) -> Result<(), ZipError> {
        if let Some(zip) = self.zip.take() {
            zip.finish()?;
        }
        self.hand_on(1).await
    }

    fn zip(&mut self) -> Result<&mut ZipWriter<StreamWriter<ZipBuffer>>, ZipError> {
        let ended = || ZipError::Io(io::ErrorKind::WriteZero.into());
        self.zip.as_mut().ok_or_else(ended)
    }

    async fn hand_on(&mut self, least: usize) -> Result<(), ZipError> {
        let piece = self
            .written
            .with(|written| (written.len() >= least).then(|| Bytes::from(std::mem::take(written))));
        if let Some(piece) = piece {
            let taken = self.taken.send(piece).await;
            taken.map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
        }
        Ok(())
    }
}

/// The bytes of a ZIP file that somebody writes; its files are of a time.
pub(super) fn flow<F>(
    made_at: &str,
    write: impl FnOnce(ZipStream) -> F + Send + 'static,
) -> ByteStream
where
    F: Future<Output = Result<(), ZipError>> + Send + 'static,
{
    let (taken, mut pieces) = mpsc::channel(WAITING);
    let written = ZipBuffer::default();
    let zip = ZipStream {
        zip: Some(ZipWriter::new_stream(written.clone())),
        written,
        taken,
        made_at: date_of(made_at),
    };
    // It is written as part of being sent: who hangs up ends both.
    let mut writing: Option<Pin<Box<F>>> = Some(Box::pin(write(zip)));
    Box::pin(stream::poll_fn(move |context| {
        if let Some(future) = &mut writing
            && let Poll::Ready(ended) = future.as_mut().poll(context)
        {
            writing = None;
            if let Err(error) = ended {
                tracing::info!(%error, "an archive of an account broke off");
                return Poll::Ready(Some(Err(io::Error::other(error))));
            }
        }
        pieces.poll_recv(context).map(|piece| piece.map(Ok))
    }))
}

/// A time as files in a ZIP file have it, of `YYYY-MM-DD HH:MM:SS`.
fn date_of(text: &str) -> DateTime {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<u16>().ok();
    let date = || {
        let small = |from, to| number(from, to).map(|number| number as u8);
        DateTime::from_date_and_time(
            number(0, 4)?,
            small(5, 7)?,
            small(8, 10)?,
            small(11, 13)?,
            small(14, 16)?,
            small(17, 19)?,
        )
        .ok()
    };
    date().unwrap_or_default()
}
