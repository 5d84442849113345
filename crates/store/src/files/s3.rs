//! Files in an S3-compatible bucket. Small ones go in one request, large ones part by part; an upload that breaks off
//! is taken back, and a download that breaks off goes on where it was.

mod download;

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt as _, TryStreamExt as _};
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::{
    ClientOptions, MultipartUpload, ObjectStore as _, ObjectStoreExt as _, RetryConfig,
};

use super::error::{FileStream, FilesError, FilesResult};
use super::settings::{AssetSettings, BucketPath};

/// The size of one part of a large upload; S3 wants at least 5 MiB.
const PART_BYTES: usize = 8 * 1024 * 1024;
/// How long a failing request is tried again before the caller hears of it.
const RETRY: Duration = Duration::from_secs(30);

/// How long a bucket may take.
#[derive(Clone, Copy, Debug)]
pub struct S3Timeouts {
    /// One request, its whole body included, unless it reads a file: a file takes as long as whoever reads it.
    pub request: Duration,
    /// The longest silence within a request.
    pub silence: Duration,
}

impl Default for S3Timeouts {
    fn default() -> Self {
        Self {
            // A part of 8 MiB has this long even on a slow line.
            request: Duration::from_mins(5),
            silence: Duration::from_secs(30),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Bucket {
    client: Arc<AmazonS3>,
    /// The same bucket without a limit on whole requests, for flows.
    reader: Arc<AmazonS3>,
    prefix: String,
}

impl Bucket {
    pub(super) fn open(
        settings: &AssetSettings,
        path: BucketPath<'_>,
        timeouts: S3Timeouts,
    ) -> FilesResult<Self> {
        // The client's TLS has no provider of its own; when the process already chose one, that one stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
        if !path.prefix.is_empty() {
            super::key::check(path.prefix)?;
        }
        let mut builder = if settings.access_key.is_empty() {
            AmazonS3Builder::from_env()
        } else {
            AmazonS3Builder::new()
                .with_access_key_id(settings.access_key.reveal())
                .with_secret_access_key(settings.secret_key.reveal())
        };
        builder = builder
            .with_bucket_name(path.bucket)
            .with_virtual_hosted_style_request(!settings.path_style);
        if !settings.region.is_empty() {
            builder = builder.with_region(&settings.region);
        }
        if !settings.endpoint.is_empty() {
            builder = builder.with_endpoint(settings.endpoint.trim_end_matches('/'));
        }
        let build = |options, max_retries| {
            let retry = RetryConfig {
                max_retries,
                retry_timeout: RETRY,
                ..RetryConfig::default()
            };
            let client = builder.clone().with_client_options(options);
            let client = client.with_retry(retry).build();
            client.map(Arc::new).map_err(FilesError::Bucket)
        };
        let flows = ClientOptions::new()
            .with_allow_http(settings.endpoint.starts_with("http://"))
            .with_timeout_disabled()
            .with_read_timeout(timeouts.silence)
            .with_http1_only();
        Ok(Self {
            client: build(flows.clone().with_timeout(timeouts.request), 5)?,
            // A flow that breaks off is opened again anyway.
            reader: build(flows, 1)?,
            prefix: path.prefix.to_owned(),
        })
    }

    pub(super) async fn put(&self, key: &str, bytes: Bytes) -> FilesResult<()> {
        let put = self.client.put(&self.path(key), bytes.into()).await;
        put.map(drop).map_err(FilesError::Bucket)
    }

    pub(super) async fn put_stream<S>(&self, key: &str, mut pieces: S) -> FilesResult<u64>
    where
        S: Stream<Item = FilesResult<Bytes>> + Send + Unpin,
    {
        let mut part = BytesMut::new();
        while part.len() < PART_BYTES {
            let Some(piece) = pieces.next().await else {
                let size = part.len() as u64;
                return self.put(key, part.freeze()).await.map(|()| size);
            };
            part.extend_from_slice(&piece?);
        }
        let upload = self.client.put_multipart(&self.path(key)).await;
        let mut upload = upload.map_err(FilesError::Bucket)?;
        match send_parts(upload.as_mut(), part, pieces).await {
            Ok(size) => Ok(size),
            Err(error) => {
                // The error that broke the upload is the one worth telling.
                let _ = upload.abort().await;
                Err(error)
            }
        }
    }

    pub(super) async fn size(&self, key: &str) -> FilesResult<Option<u64>> {
        match self.client.head(&self.path(key)).await {
            Ok(meta) => Ok(Some(meta.size)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(FilesError::Bucket(error)),
        }
    }

    pub(super) async fn read(&self, key: &str) -> FilesResult<Bytes> {
        let mut flow = self.flow(key, None).await?;
        let mut bytes = BytesMut::new();
        while let Some(piece) = flow.next().await {
            bytes.extend_from_slice(&piece?);
        }
        Ok(bytes.freeze())
    }

    pub(super) async fn read_range(
        &self,
        key: &str,
        range: Range<u64>,
    ) -> FilesResult<FileStream<Bytes>> {
        let size = self.size(key).await?.ok_or(FilesError::NotFound)?;
        if range.end > size {
            return Err(FilesError::BadRange);
        }
        if range.is_empty() {
            return Ok(Box::pin(futures_util::stream::empty()));
        }
        if range == (0..1) {
            return self.first_byte(key, size).await;
        }
        self.flow(key, Some(range)).await
    }

    /// Some servers take `bytes=0-0` for the whole file, so the first byte is asked for together with the second.
    async fn first_byte(&self, key: &str, size: u64) -> FilesResult<FileStream<Bytes>> {
        let found = self.client.get_range(&self.path(key), 0..size.min(2)).await;
        let mut bytes = found.map_err(absent_or)?;
        bytes.truncate(1);
        Ok(Box::pin(futures_util::stream::once(async { Ok(bytes) })))
    }

    pub(super) async fn delete(&self, key: &str) -> FilesResult<()> {
        match self.client.delete(&self.path(key)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(FilesError::Bucket(error)),
        }
    }

    pub(super) fn list(&self, prefix: &str, before_ms: i64) -> FileStream<String> {
        let below = self.path(prefix);
        let whole = self.prefix.clone();
        let found = self.client.list(Some(&below)).map_err(FilesError::Bucket);
        Box::pin(found.try_filter_map(move |meta| {
            let old = meta.last_modified.timestamp_millis() < before_ms;
            let key = strip(meta.location.as_ref(), &whole).filter(|_| old);
            std::future::ready(Ok(key.map(str::to_owned)))
        }))
    }

    fn path(&self, key: &str) -> Path {
        Path::from(format!("{}/{key}", self.prefix))
    }
}

/// The key within the prefix.
fn strip<'a>(location: &'a str, prefix: &str) -> Option<&'a str> {
    if prefix.is_empty() {
        return Some(location);
    }
    location.strip_prefix(prefix)?.strip_prefix('/')
}

/// Sends a flow part by part, one at a time, so that no more than two parts are in memory.
async fn send_parts<S>(
    upload: &mut dyn MultipartUpload,
    mut part: BytesMut,
    mut pieces: S,
) -> FilesResult<u64>
where
    S: Stream<Item = FilesResult<Bytes>> + Send + Unpin,
{
    let mut size = 0;
    loop {
        if part.len() >= PART_BYTES {
            let full = part.split_to(PART_BYTES).freeze();
            size += full.len() as u64;
            upload
                .put_part(full.into())
                .await
                .map_err(FilesError::Bucket)?;
            continue;
        }
        match pieces.next().await {
            Some(piece) => part.extend_from_slice(&piece?),
            None => break,
        }
    }
    if !part.is_empty() {
        size += part.len() as u64;
        let last = part.freeze().into();
        upload.put_part(last).await.map_err(FilesError::Bucket)?;
    }
    upload.complete().await.map_err(FilesError::Bucket)?;
    Ok(size)
}

fn absent_or(error: object_store::Error) -> FilesError {
    match error {
        object_store::Error::NotFound { .. } => FilesError::NotFound,
        error => FilesError::Bucket(error),
    }
}
