//! Thumbnails: a small WebP of a picture, or of the first frame of a clip, made when it is first asked for and kept
//! as long as what it shows.

use std::sync::Arc;

use atelier_contract::{Code, Refusal};
use atelier_store::files::{Files, FilesError};
use atelier_store::{Error as StoreError, NewAsset};
use bytes::Bytes;
use tokio::sync::Semaphore;

use super::asset::Asset;
use crate::house::{House, unavailable};

const MEDIA_TYPE: &str = "image/webp";
/// Files that are read for a thumbnail at the most.
const MOST_BYTES: u64 = 64 * 1024 * 1024;
/// Thumbnails that are made at once: they must not take the processor from the jobs.
const AT_ONCE: usize = 2;

/// Makes and keeps thumbnails.
pub(super) struct Thumbs {
    house: Arc<House>,
    files: Files,
    making: Semaphore,
}

impl Thumbs {
    pub(super) fn new(house: Arc<House>, files: Files) -> Self {
        Self {
            house,
            files,
            making: Semaphore::new(AT_ONCE),
        }
    }

    /// The thumbnail of a file and its bytes; the file itself was found behind a good address.
    pub(super) async fn of(&self, whole: &Asset) -> Result<(Asset, Bytes), Refusal> {
        let key = format!("thumb/{}.webp", whole.key);
        let asset = |bytes: &Bytes| Asset {
            key: key.clone(),
            media_type: MEDIA_TYPE.to_owned(),
            bytes: bytes.len() as u64,
            etag: format!("\"thumb-{}", whole.etag.trim_start_matches('"')),
            expires_ms: whole.expires_ms,
        };
        if let Some(bytes) = self.kept(&key).await? {
            return Ok((asset(&bytes), bytes));
        }
        if whole.bytes > MOST_BYTES {
            return Err(none());
        }
        let turn = self.making.acquire().await;
        let turn = turn.map_err(|_| unreadable("the house is closed"))?;
        // Somebody else may have made it while this one waited.
        if let Some(bytes) = self.kept(&key).await? {
            return Ok((asset(&bytes), bytes));
        }
        let bytes = match self.files.read(&whole.key).await {
            Ok(bytes) => bytes,
            Err(FilesError::NotFound) => {
                return Err(Refusal::new(Code::Expired, "the file is gone"));
            }
            Err(error) => return Err(unreadable(error)),
        };
        let made = atelier_backends::thumbnail(bytes, &whole.media_type).await;
        let bytes = made.map_err(|_| none())?;
        // It is made; writing it down is no business of those who wait to make one.
        drop(turn);
        self.keep(&key, whole, &bytes).await?;
        Ok((asset(&bytes), bytes))
    }

    async fn kept(&self, key: &str) -> Result<Option<Bytes>, Refusal> {
        match self.files.read(key).await {
            Ok(bytes) => Ok(Some(bytes)),
            Err(FilesError::NotFound) => Ok(None),
            Err(error) => Err(unreadable(error)),
        }
    }

    /// Keeps it until the file itself goes; one that is just being deleted is not kept.
    async fn keep(&self, key: &str, whole: &Asset, bytes: &Bytes) -> Result<(), Refusal> {
        let row = NewAsset {
            key: key.to_owned(),
            job_id: String::new(),
            account_id: String::new(),
            media_type: MEDIA_TYPE.to_owned(),
            bytes: bytes.len() as i64,
            expires_ms: whole.expires_ms,
            created_ms: self.house.now_ms(),
        };
        let noted = match self.house.store.note_inputs(vec![row]).await {
            // It is made, and can be made again.
            Err(StoreError::Busy) => return Ok(()),
            noted => noted.map_err(unavailable)?,
        };
        if noted.is_some() {
            let put = self.files.put(key, bytes.clone()).await;
            put.map_err(unreadable)?;
        }
        Ok(())
    }
}

fn none() -> Refusal {
    Refusal::new(Code::NotFound, "this file has no thumbnail")
}

fn unreadable(error: impl std::fmt::Display) -> Refusal {
    tracing::error!(%error, "a thumbnail could not be read or kept");
    Refusal::new(
        Code::Overloaded,
        "the thumbnail cannot be read now; try again shortly",
    )
}
