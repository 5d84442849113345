//! Thumbnails: a small WebP of a picture, or of the first frame of a clip, in one of two sizes, made when it is first asked
//! for and kept as long as what it shows.
//!
//! Nobody needs a key to ask for one, so asking must not cost more than the answer: a file is worked on once, however many
//! ask for it; one that cannot be shown is remembered; and what waits is bounded and shared by whose files they are.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use atelier_contract::pages::files::ThumbSize;
use atelier_contract::{Code, Refusal};
use atelier_fairness::share::{FairPermit, FairSemaphore};
use atelier_store::files::{Files, FilesError};
use atelier_store::{Error as StoreError, NewAsset};
use bytes::Bytes;
use quick_cache::sync::Cache;
use tokio::sync::watch;
use tokio::time::timeout;

use super::asset::Asset;
use crate::context::{Context, unavailable};

const MEDIA_TYPE: &str = "image/webp";
/// Files that are read for a thumbnail at the most.
const MOST_BYTES: u64 = 64 * 1024 * 1024;
/// Thumbnails that are made at once: they must not take the processor from the jobs.
const AT_ONCE: u64 = 2;
/// Files that are worked on or wait for it; an eighth of them may be one account's.
const QUEUE: u64 = 128;
/// How long somebody waits for one. It is made all the same, and there for whoever asks next.
const WAIT: Duration = Duration::from_secs(10);
/// Files that are known to have none: a file never changes, so that trying again would tell the same.
const FAILURES: usize = 10_000;
/// How long they are known.
const FAILED_MS: i64 = 3_600_000;

/// What became of a file, as soon as that is known.
type ThumbResult = watch::Receiver<Option<Result<Bytes, Refusal>>>;

/// Makes and keeps thumbnails.
pub(super) struct Thumbs {
    context: Arc<Context>,
    files: Files,
    /// Files that are worked on or wait for it, by whose they are.
    queue: Arc<FairSemaphore>,
    /// Files that are worked on.
    making: Arc<FairSemaphore>,
    /// What those who ask for a file that is in the queue wait for.
    underway: Mutex<HashMap<String, ThumbResult>>,
    /// Until when a file is known to have none.
    failed: Cache<String, i64>,
}

/// A file in the queue. When this is dropped, it is there no more.
struct QueuedThumb {
    thumbs: Arc<Thumbs>,
    key: String,
    _place: FairPermit,
}

impl Drop for QueuedThumb {
    fn drop(&mut self) {
        self.thumbs.underway().remove(&self.key);
    }
}

impl Thumbs {
    pub(super) fn new(context: Arc<Context>, files: Files) -> Arc<Self> {
        Arc::new(Self {
            context,
            files,
            queue: FairSemaphore::fixed("thumbnails", QUEUE, 1),
            making: FairSemaphore::elastic("thumbnails_at_once", AT_ONCE),
            underway: Mutex::default(),
            failed: Cache::new(FAILURES),
        })
    }

    /// The files that wait for a thumbnail.
    pub(super) fn queue(&self) -> &Arc<FairSemaphore> {
        &self.queue
    }

    /// The thumbnail of a file and its bytes; the file itself was found behind a good address.
    pub(super) async fn of(
        self: &Arc<Self>,
        whole: &Asset,
        size: ThumbSize,
    ) -> Result<(Asset, Bytes), Refusal> {
        let key = key_of(whole, size);
        let now_ms = self.context.steady_ms();
        let failed = self.failed.get(&key).is_some_and(|until| now_ms < until);
        if failed || whole.bytes > MOST_BYTES {
            return Err(none());
        }
        let bytes = match self.kept(&key).await? {
            Some(bytes) => bytes,
            None => self.made(&key, whole, size).await?,
        };
        let asset = Asset {
            key,
            account_id: Arc::clone(&whole.account_id),
            media_type: MEDIA_TYPE.to_owned(),
            bytes: bytes.len() as u64,
            etag: format!("\"{}-{}", size.word(), whole.etag.trim_start_matches('"')),
            expires_ms: whole.expires_ms,
        };
        Ok((asset, bytes))
    }

    /// Has it made, or waits for whoever has.
    async fn made(
        self: &Arc<Self>,
        key: &str,
        whole: &Asset,
        size: ThumbSize,
    ) -> Result<Bytes, Refusal> {
        let mut outcome = self.outcome(key, whole, size)?;
        let known = timeout(WAIT, outcome.wait_for(Option::is_some)).await;
        match known {
            Ok(Ok(known)) => known.clone().unwrap_or_else(|| Err(later())),
            Ok(Err(_)) | Err(_) => Err(later()),
        }
    }

    /// What will become of a file. Whoever asks first has it put into the queue, where it stays when nobody waits any more.
    fn outcome(
        self: &Arc<Self>,
        key: &str,
        whole: &Asset,
        size: ThumbSize,
    ) -> Result<ThumbResult, Refusal> {
        let mut underway = self.underway();
        if let Some(outcome) = underway.get(key) {
            return Ok(outcome.clone());
        }
        let place = self.queue.try_take(&whole.account_id, 1);
        let place = place.map_err(|_| later())?;
        let (tell, outcome) = watch::channel(None);
        underway.insert(key.to_owned(), outcome.clone());
        drop(underway);
        let one = QueuedThumb {
            thumbs: Arc::clone(self),
            key: key.to_owned(),
            _place: place,
        };
        let whole = whole.clone();
        self.context.tasks().spawn(async move {
            let thumbs = Arc::clone(&one.thumbs);
            let made = thumbs.make(&one.key, &whole, size).await;
            if made.as_ref().is_err_and(|why| why.code == Code::NotFound) {
                let until_ms = thumbs.context.steady_ms() + FAILED_MS;
                thumbs.failed.insert(one.key.clone(), until_ms);
            }
            // It is made; writing it down is no business of those who wait for it.
            let bytes = made.as_ref().ok().cloned();
            tell.send_replace(Some(made));
            if let Some(bytes) = bytes
                && let Err(refusal) = thumbs.keep(&one.key, &whole, &bytes).await
            {
                tracing::warn!(%refusal, key = one.key, "a thumbnail could not be cached");
            }
        });
        Ok(outcome)
    }

    /// Makes it, when its account has a turn.
    async fn make(&self, key: &str, whole: &Asset, size: ThumbSize) -> Result<Bytes, Refusal> {
        let _turn = self.making.take(&whole.account_id, 1).await;
        // Another node, or whoever was here just before, may have made it.
        if let Some(bytes) = self.kept(key).await? {
            return Ok(bytes);
        }
        let bytes = match self.files.read(&whole.key).await {
            Ok(bytes) => bytes,
            Err(FilesError::NotFound) => {
                return Err(Refusal::new(Code::Expired, "the file is gone"));
            }
            Err(error) => return Err(unreadable(error)),
        };
        let whose = &whole.account_id;
        let made = atelier_backends::thumbnail(whose, bytes, &whole.media_type, size).await;
        made.map_err(|_| none())
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
            created_ms: self.context.now_ms(),
        };
        let noted = match self.context.store().assets().note_inputs(vec![row]).await {
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

    fn underway(&self) -> MutexGuard<'_, HashMap<String, ThumbResult>> {
        self.underway.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where it is kept. Small ones have been there since before there were others.
fn key_of(whole: &Asset, size: ThumbSize) -> String {
    match size {
        ThumbSize::Small => format!("thumb/{}.webp", whole.key),
        ThumbSize::Medium => format!("thumb/{}.medium.webp", whole.key),
    }
}

fn none() -> Refusal {
    Refusal::new(Code::NotFound, "this file has no thumbnail")
}

fn later() -> Refusal {
    Refusal::new(
        Code::Overloaded,
        "too many thumbnails are waited for; try again shortly",
    )
}

fn unreadable(error: impl std::fmt::Display) -> Refusal {
    tracing::error!(%error, "a thumbnail could not be read or cached");
    Refusal::new(
        Code::Overloaded,
        "the thumbnail cannot be read now; try again shortly",
    )
}
