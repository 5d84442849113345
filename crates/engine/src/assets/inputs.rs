//! The inputs of a job: read from the asset store or from their addresses, judged, and held against the memory that all
//! inputs share until the vendor has them. What may pass by itself does not fail the job for good.

use std::sync::Arc;

use atelier_backends::backend::{BoxFuture, FileReader, Work};
use atelier_backends::http::{FetchError, InputMemory, OutboundError};
use atelier_backends::{Class, Fault};
use atelier_contract::brief::{Brief, Source};
use atelier_contract::fields::{ImageData, ImageHeader};
use atelier_contract::{AccountId, Code, Refusal};
use atelier_store::files::{Files, FilesError};
use atelier_store::{Error as StoreError, NewAsset};
use bytes::Bytes;

use crate::assets::addresses::Addresses;
use crate::assets::pending_inputs::{InputGuard, PendingInputs};
use crate::context::{Context, unavailable};

/// The largest video read from an address.
pub(super) const VIDEO_BYTES: u64 = 200 * 1024 * 1024;
const NO_IMAGE: &str = "the image could not be read";
const NO_VIDEO: &str = "the video could not be read";

/// Where an input is, and how many bytes it may have.
struct InputLocation<'a> {
    field: &'a str,
    /// The key in the asset store, or else the address.
    kept: Option<String>,
    url: &'a str,
    bytes: u64,
}

/// The bytes of all inputs of a job.
#[derive(Default)]
struct Bodies {
    sources: Vec<Bytes>,
    hints: Vec<Bytes>,
    mask: Option<Bytes>,
    video: Option<Bytes>,
}

/// Keeps inline inputs and reads inputs of all kinds.
pub(crate) struct Inputs {
    context: Arc<Context>,
    files: Files,
    addresses: Arc<Addresses>,
    pending: Arc<PendingInputs>,
}

impl Inputs {
    pub(crate) fn new(context: Arc<Context>, files: Files, addresses: Arc<Addresses>) -> Self {
        Self {
            context,
            files,
            addresses,
            pending: Arc::default(),
        }
    }

    /// Puts inline pictures into the asset store before the job is accepted, so that an accepted job has its inputs. They
    /// are recorded first: from then on nobody deletes what is stored.
    pub(crate) async fn keep(
        &self,
        account_id: &AccountId,
        brief: &Brief,
    ) -> Result<InputGuard, Refusal> {
        let now_ms = self.context.now_ms();
        let (mut rows, mut contents) = (Vec::new(), Vec::new());
        for Source { image, .. } in brief.inputs() {
            let ImageData::Inline(inline) = image else {
                continue;
            };
            let (Some(bytes), Some(header)) = (&inline.bytes, inline.header) else {
                continue;
            };
            rows.push(NewAsset {
                key: input_key(account_id, &inline.hash),
                job_id: String::new(),
                account_id: account_id.to_string(),
                media_type: header.media_type.to_owned(),
                bytes: bytes.len() as i64,
                expires_ms: now_ms + self.context.settings().retention.input_days.ms(),
                created_ms: now_ms,
            });
            contents.push(bytes);
        }
        let kept = self.pending.begin(&rows);
        if rows.is_empty() {
            return Ok(kept);
        }
        let noted = self
            .context
            .store()
            .assets()
            .note_inputs(rows.clone())
            .await;
        if matches!(noted, Err(StoreError::Busy)) {
            kept.release();
            return Err(unavailable(StoreError::Busy));
        }
        let Some(noted) = noted.map_err(unavailable)? else {
            kept.release();
            return Err(not_stored(
                &"an expired copy of the same image is just being deleted",
            ));
        };
        kept.recorded(&rows, noted);
        for (row, bytes) in rows.iter().zip(contents) {
            let bytes = Bytes::copy_from_slice(bytes);
            if let Err(error) = self.files.put(&row.key, bytes).await {
                self.drop(kept).await;
                return Err(not_stored(&error));
            }
        }
        Ok(kept)
    }

    /// Keeps what a vendor posted about a job of an account until a time. It is recorded before it is stored, as everything is
    /// that may have to be deleted.
    pub(crate) async fn keep_post(
        &self,
        key: String,
        account_id: &str,
        until_ms: i64,
        body: &Bytes,
    ) -> Result<(), Refusal> {
        let row = NewAsset {
            key,
            job_id: String::new(),
            account_id: account_id.to_owned(),
            media_type: "application/json".to_owned(),
            bytes: body.len() as i64,
            expires_ms: until_ms,
            created_ms: self.context.now_ms(),
        };
        let key = row.key.clone();
        let noted = self
            .context
            .store()
            .assets()
            .note_inputs(vec![row])
            .await
            .map_err(unavailable)?;
        if noted.is_none() {
            return Err(not_stored(&"an expired copy is just being deleted"));
        }
        let put = self.files.put(&key, body.clone()).await;
        put.map_err(|error| not_stored(&error))
    }

    /// Lets inputs go whose job was not accepted; those that others have sent too stay.
    pub(crate) async fn drop(&self, kept: InputGuard) {
        let unused = kept.release();
        if unused.is_empty() {
            return;
        }
        if let Err(error) = self.context.store().assets().drop_inputs(&unused).await {
            tracing::warn!(%error, "inputs of a rejected call are kept until they expire");
        }
    }

    /// Reads everything the work needs. Memory is taken as bytes come; when there is none left, it is given back and
    /// taken anew for all of it at once: a job that had some and waited for more could wait for another that does the
    /// same.
    pub(crate) async fn read(&self, account_id: &AccountId, work: &mut Work) -> Result<(), Fault> {
        let brief = &work.brief;
        let mut locations = Vec::new();
        let hints = brief.hints.iter().map(|hint| &hint.source);
        for source in brief.sources.iter().chain(hints).chain(&brief.mask) {
            locations.push(self.image_location(account_id, source).await?);
        }
        if let Some((field, url)) = &brief.video {
            let kept = self.addresses.own(url.as_str());
            let location = self.location(field, kept, url.as_str(), VIDEO_BYTES, NO_VIDEO);
            locations.push(location.await?);
        }
        let outbound = self.context.outbound();
        let mut room = outbound.room(&work.whose);
        let mut read = self.read_all(brief, &locations, &mut room).await;
        if read.is_err() && room.was_short() {
            let bytes = locations.iter().map(|location| location.bytes).sum();
            room = outbound.reserve(&work.whose, bytes).await;
            read = self.read_all(brief, &locations, &mut room).await;
        }
        let read = read?;
        (work.sources, work.hints) = (read.sources, read.hints);
        (work.mask, work.video) = (read.mask, read.video);
        Ok(())
    }

    async fn read_all(
        &self,
        brief: &Brief,
        locations: &[InputLocation<'_>],
        room: &mut InputMemory,
    ) -> Result<Bodies, Fault> {
        let (mut locations, mut read) = (locations.iter(), Bodies::default());
        let mut first = None;
        for (source, location) in brief.sources.iter().zip(&mut locations) {
            let part = room.split(location.bytes);
            let (bytes, header) = self.image(source, location, part, first).await?;
            first = first.or(Some(header));
            read.sources.push(bytes);
        }
        for hint in &brief.hints {
            let Some(location) = locations.next() else {
                break;
            };
            let part = room.split(location.bytes);
            let (bytes, _) = self.image(&hint.source, location, part, None).await?;
            read.hints.push(bytes);
        }
        if let Some(mask) = &brief.mask
            && let Some(location) = locations.next()
        {
            let part = room.split(location.bytes);
            read.mask = Some(self.image(mask, location, part, first).await?.0);
        }
        if let Some(location) = locations.next() {
            let part = room.split(location.bytes);
            read.video = Some(self.video(location, part).await?);
        }
        Ok(read)
    }

    /// Reads files of earlier jobs for a back end.
    pub(crate) fn reader(&self) -> FileReader {
        let files = self.files.clone();
        Arc::new(
            move |key: String| -> BoxFuture<'static, Result<Bytes, Fault>> {
                let files = files.clone();
                Box::pin(async move {
                    let gone = "a file of the earlier job is no longer kept";
                    let read = files.read(&key).await;
                    read.map_err(|error| asset_store_fault(Fault::unusable(gone), &error))
                })
            },
        )
    }

    async fn image_location<'a>(
        &self,
        account_id: &AccountId,
        source: &'a Source,
    ) -> Result<InputLocation<'a>, Fault> {
        let most = self.context.outbound().limits().image_bytes;
        let (kept, url) = match &source.image {
            ImageData::Inline(inline) => (Some(input_key(account_id, &inline.hash)), ""),
            ImageData::Url(url) => (self.addresses.own(url.as_str()), url.as_str()),
        };
        self.location(&source.field, kept, url, most, NO_IMAGE)
            .await
    }

    /// Finds out how much memory an input needs before any of it is read.
    async fn location<'a>(
        &self,
        field: &'a str,
        kept: Option<String>,
        url: &'a str,
        most: u64,
        unreadable: &str,
    ) -> Result<InputLocation<'a>, Fault> {
        let mut bytes = most;
        if let Some(key) = &kept {
            let fault = |error| asset_store_fault(Fault::bad_link(field, unreadable), &error);
            let size = self.files.size(key).await.map_err(fault)?;
            bytes = size.ok_or_else(|| fault(FilesError::NotFound))?;
            if bytes > most {
                return Err(Fault::bad_link(field, "the file is too large"));
            }
        }
        Ok(InputLocation {
            field,
            kept,
            url,
            bytes,
        })
    }

    /// The bytes of an input picture, judged by their header.
    async fn image(
        &self,
        source: &Source,
        location: &InputLocation<'_>,
        mut room: InputMemory,
        first: Option<ImageHeader>,
    ) -> Result<(Bytes, ImageHeader), Fault> {
        let field = location.field;
        let bytes = if let Some(key) = &location.kept {
            self.kept(field, key, location.bytes, &mut room, NO_IMAGE)
                .await?
        } else {
            let fetched = self
                .context
                .outbound()
                .fetch_image_within(location.url, &mut room);
            let fetched = fetched.await;
            fetched
                .map_err(|fault| link_fault(field, NO_IMAGE, &fault))?
                .bytes
        };
        let header = ImageHeader::read(&bytes).map_err(|why| Fault::bad_link(field, why))?;
        source
            .check(header, bytes.len() as u64, first)
            .map_err(|refusal| Fault::unusable(refusal.message))?;
        // Where, when and with what a picture was taken is no business of whoever works on it.
        let stripped = atelier_backends::without_metadata(&bytes);
        let stripped = stripped.map_err(|damaged| Fault::bad_link(field, damaged.to_string()))?;
        let bytes = stripped.map_or(bytes, Bytes::from);
        Ok((room.hold(bytes), header))
    }

    async fn video(
        &self,
        location: &InputLocation<'_>,
        mut room: InputMemory,
    ) -> Result<Bytes, Fault> {
        let field = location.field;
        let bytes = if let Some(key) = &location.kept {
            self.kept(field, key, location.bytes, &mut room, NO_VIDEO)
                .await?
        } else {
            let read = async {
                let download = self
                    .context
                    .outbound()
                    .fetch_file_for(room.whose(), location.url, VIDEO_BYTES)
                    .await?;
                download.collect_within(&mut room).await
            };
            read.await
                .map_err(|fault| link_fault(field, NO_VIDEO, &fault))?
        };
        Ok(room.hold(bytes))
    }

    async fn kept(
        &self,
        field: &str,
        key: &str,
        bytes: u64,
        room: &mut InputMemory,
        unreadable: &str,
    ) -> Result<Bytes, Fault> {
        if !room.fits(bytes) {
            return Err(Fault::internal("no memory is free for an input"));
        }
        let read = self.files.read(key).await;
        read.map_err(|error| asset_store_fault(Fault::bad_link(field, unreadable), &error))
    }
}

/// Where an inline input of an account is kept.
pub(super) fn input_key(account_id: &AccountId, hash: &str) -> String {
    format!("in/{account_id}/{hash}")
}

/// An input could not be stored; nothing was accepted.
pub(super) fn not_stored(why: &dyn std::fmt::Display) -> Refusal {
    tracing::error!(%why, "an input was not stored");
    Refusal::new(
        Code::Overloaded,
        "the service cannot store the file now; try again shortly",
    )
}

/// What a file that could not be read from the asset store means: it is gone, or the asset store is away for now.
fn asset_store_fault(gone: Fault, error: &FilesError) -> Fault {
    let detail = format!("asset store: {error}");
    match error {
        FilesError::NotFound | FilesError::BadKey(_) => Fault { detail, ..gone },
        _ => Fault::internal(detail),
    }
}

/// What an address that gave no file means. The caller reads the same words whatever was behind it.
fn link_fault(field: &str, unreadable: &str, fault: &FetchError) -> Fault {
    let detail = format!("{:?}", fault.trouble);
    if fault.trouble == OutboundError::Busy {
        return Fault::internal(detail);
    }
    let link = Fault::bad_link(field, unreadable);
    let class = if fault.trouble.may_pass() {
        Class::Retry
    } else {
        link.class
    };
    Fault {
        class,
        detail,
        ..link
    }
}
