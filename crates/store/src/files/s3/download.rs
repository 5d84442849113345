//! Reading a file from a bucket, as slowly as its reader likes. A line that breaks or falls silent is opened again for
//! the rest, as long as every opening brings something.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt as _, stream};
use object_store::aws::AmazonS3;
use object_store::path::Path;
use object_store::{GetOptions, ObjectStore as _};

use super::{Bucket, absent_or};
use crate::files::error::{FileStream, FilesError, FilesResult};

/// Openings in a row that may bring nothing.
const BARREN_MOST: u32 = 3;
/// The pause before the first of them; it doubles.
const PAUSE: Duration = Duration::from_millis(100);

/// A file on its way.
struct ObjectReader {
    client: Arc<AmazonS3>,
    path: Path,
    etag: Option<String>,
    left: Range<u64>,
    barren: u32,
    pieces: BoxStream<'static, object_store::Result<Bytes>>,
}

impl Bucket {
    /// A file or a part of it, piece by piece.
    pub(super) async fn flow(
        &self,
        key: &str,
        range: Option<Range<u64>>,
    ) -> FilesResult<FileStream<Bytes>> {
        let (client, path) = (Arc::clone(&self.reader), self.path(key));
        let options = GetOptions {
            range: range.map(Into::into),
            ..GetOptions::default()
        };
        let found = client.get_opts(&path, options).await.map_err(absent_or)?;
        let reading = ObjectReader {
            client,
            path,
            etag: found.meta.e_tag.clone(),
            left: found.range.clone(),
            barren: 0,
            pieces: found.into_stream(),
        };
        Ok(Box::pin(stream::try_unfold(reading, next)))
    }
}

/// The next piece; nothing behind the last byte.
async fn next(mut reading: ObjectReader) -> FilesResult<Option<(Bytes, ObjectReader)>> {
    while !reading.left.is_empty() {
        let error = match reading.pieces.next().await {
            Some(Ok(piece)) if piece.is_empty() => continue,
            Some(Ok(piece)) => {
                reading.left.start += piece.len() as u64;
                reading.barren = 0;
                return Ok(Some((piece, reading)));
            }
            Some(Err(error)) => error,
            None => cut_off(),
        };
        reading.go_on(error).await?;
    }
    Ok(None)
}

impl ObjectReader {
    /// Asks for the rest, of the same content only.
    async fn go_on(&mut self, mut error: object_store::Error) -> FilesResult<()> {
        while self.barren < BARREN_MOST {
            tokio::time::sleep(PAUSE * 2_u32.pow(self.barren)).await;
            self.barren += 1;
            tracing::debug!(%error, path = %self.path, "a download from the bucket was interrupted");
            let options = GetOptions {
                range: Some(self.left.clone().into()),
                if_match: self.etag.clone(),
                ..GetOptions::default()
            };
            match self.client.get_opts(&self.path, options).await {
                Ok(found) if found.range == self.left => {
                    self.pieces = found.into_stream();
                    return Ok(());
                }
                Ok(_) => error = cut_off(),
                Err(other) => error = other,
            }
        }
        Err(FilesError::Bucket(error))
    }
}

fn cut_off() -> object_store::Error {
    object_store::Error::Generic {
        store: "S3",
        source: "the answer ended before the file".into(),
    }
}
