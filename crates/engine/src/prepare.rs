//! Before and after the back end: inputs are read for it, and what it made is put into the vault.

use std::sync::Arc;

use atelier_backends::backend::{Gauge, Later, ReadFile, Work};
use atelier_backends::{Fault, Made};
use atelier_contract::body::Fields;
use atelier_contract::brief::Source;
use atelier_contract::family::Keep;
use atelier_contract::fields::{ImageData, ImageHeader};
use atelier_contract::{Code, File, JobId, Output, Quota, Refusal, Role};
use atelier_store::{JobRow, NewAsset};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use tokio_util::sync::CancellationToken;

use crate::crash;
use crate::engine::Engine;
use crate::settle::Ending;
use crate::submit::input_key;

/// The largest video read from an address.
const VIDEO_BYTES: u64 = 200 * 1024 * 1024;

impl Engine {
    /// Everything a back end needs for one attempt.
    pub(crate) async fn prepare(
        &self,
        row: &JobRow,
        gauge: Gauge,
        cancelled: &CancellationToken,
    ) -> Result<Work, Fault> {
        let mut work = self.prepare_again(row, gauge, cancelled).await?;
        work.attempt_id = format!("{}-{}", row.id, row.fence);
        self.with_inputs(work, &row.account_id).await
    }

    /// The work with the bytes of its inputs.
    pub(crate) async fn with_inputs(
        &self,
        mut work: Work,
        account_id: &str,
    ) -> Result<Work, Fault> {
        let mut first = None;
        for source in &work.brief.sources {
            let (bytes, header) = self.input(account_id, source, first).await?;
            first = first.or(Some(header));
            work.sources.push(bytes);
        }
        if let Some(mask) = &work.brief.mask {
            work.mask = Some(self.input(account_id, mask, first).await?.0);
        }
        if let Some((field, url)) = &work.brief.video {
            work.video = Some(self.video_input(field, url.as_str()).await?);
        }
        Ok(work)
    }

    /// What is needed to go on with an attempt that a vendor knows already: everything but the inputs.
    pub(crate) async fn prepare_again(
        &self,
        row: &JobRow,
        gauge: Gauge,
        cancelled: &CancellationToken,
    ) -> Result<Work, Fault> {
        let fields: Fields =
            serde_json::from_str(&row.request).map_err(|error| Fault::ours(error.to_string()))?;
        let Some((_, submit)) = atelier_contract::operation(&row.operation) else {
            return Err(Fault::ours(format!("unknown operation {}", row.operation)));
        };
        let refused = |refusal: Refusal| match refusal.code {
            Code::Overloaded => Fault::house(refusal.message),
            _ => Fault::unusable(refusal.message),
        };
        let request = (submit.parse_stored)(fields.clone()).map_err(refused)?;
        let ordered = self
            .ordered(&row.account_id, request.as_ref())
            .await
            .map_err(refused)?;
        Ok(Work {
            job_id: JobId::new(row.id.clone()),
            attempt_id: row.attempt_id.clone().unwrap_or_default(),
            operation: row.operation.clone(),
            request: fields,
            brief: ordered.order.brief,
            sources: Vec::new(),
            mask: None,
            video: None,
            parent: ordered.parent,
            cited: ordered.cited,
            read: self.reader(),
            progress: gauge,
            cancelled: cancelled.clone(),
            hook_url: None,
        })
    }

    fn reader(&self) -> ReadFile {
        let files = self.files.clone();
        Arc::new(move |key: String| -> Later<'static, Result<Bytes, Fault>> {
            let files = files.clone();
            Box::pin(async move {
                files.read(&key).await.map_err(|error| {
                    let gone = "a file of the earlier job is no longer kept";
                    Fault {
                        detail: error.to_string(),
                        ..Fault::unusable(gone)
                    }
                })
            })
        })
    }

    /// The bytes of an input picture, from the vault or from its address, judged by their header.
    async fn input(
        &self,
        account_id: &str,
        source: &Source,
        first: Option<ImageHeader>,
    ) -> Result<(Bytes, ImageHeader), Fault> {
        let unreadable = |detail: String| {
            let fault = Fault::bad_link(&source.field, "the image could not be read");
            Fault { detail, ..fault }
        };
        let kept = match &source.image {
            ImageData::Inline(inline) => Some(input_key(account_id, &inline.hash)),
            ImageData::Url(url) => self.own_asset(url.as_str()),
        };
        let bytes = match (kept, &source.image) {
            (None, ImageData::Url(url)) => {
                let fetched = self.outbound.fetch_image(url.as_str()).await;
                fetched
                    .map_err(|fault| unreadable(fault.to_string()))?
                    .bytes
            }
            (key, _) => {
                let read = self.files.read(&key.unwrap_or_default()).await;
                read.map_err(|error| unreadable(error.to_string()))?
            }
        };
        let header =
            ImageHeader::read(&bytes).map_err(|why| Fault::bad_link(&source.field, why))?;
        source
            .check(header, bytes.len() as u64, first)
            .map_err(|refusal| Fault::unusable(refusal.message))?;
        // Where, when and with what a picture was taken is no business of whoever works on it.
        let bytes = atelier_backends::without_metadata(&bytes).map_or(bytes, Bytes::from);
        Ok((bytes, header))
    }

    async fn video_input(&self, field: &str, url: &str) -> Result<Bytes, Fault> {
        let unreadable = |detail: String| {
            let fault = Fault::bad_link(field, "the video could not be read");
            Fault { detail, ..fault }
        };
        if let Some(key) = self.own_asset(url) {
            return self
                .files
                .read(&key)
                .await
                .map_err(|error| unreadable(error.to_string()));
        }
        let mut download = self
            .outbound
            .fetch_file(url, VIDEO_BYTES)
            .await
            .map_err(|fault| unreadable(fault.to_string()))?;
        let mut bytes = BytesMut::new();
        while let Some(piece) = download.next().await {
            bytes.extend_from_slice(&piece.map_err(|fault| unreadable(fault.to_string()))?);
        }
        Ok(bytes.freeze())
    }

    /// Puts the files into the vault and says what the job comes to.
    pub(crate) async fn store_output(
        &self,
        row: &JobRow,
        made: Made,
        asked: u32,
    ) -> Result<Ending, Fault> {
        let Some((family, submit)) = atelier_contract::operation(&row.operation) else {
            return Err(Fault::ours(format!("unknown operation {}", row.operation)));
        };
        let keep = submit.keep.unwrap_or(family.keep);
        let now_ms = self.now_ms();
        let mut output = Output {
            prompts: made.prompts,
            seed: made.seed,
            revised_prompt: made.revised_prompt,
            alias: made.alias,
            made: made.made,
            notes: made.notes,
            files: Vec::new(),
        };
        let mut assets = Vec::new();
        for (number, file) in made.files.into_iter().enumerate() {
            // The fence in the key keeps a worker that lost its lease from touching the winner's files.
            let key = format!(
                "out/{}/{}-{number}.{}",
                row.id,
                row.fence,
                extension(file.media_type)
            );
            let keep = if file.role == Role::Small {
                Keep::Month
            } else {
                keep
            };
            let expires_ms = now_ms + self.settings.lifetime_ms(keep);
            let bytes = file.bytes.len() as u64;
            self.files
                .put(&key, file.bytes)
                .await
                .map_err(|error| Fault::house(format!("vault: {error}")))?;
            crash::point("runner.file_stored");
            assets.push(NewAsset {
                key: key.clone(),
                job_id: row.id.clone(),
                account_id: row.account_id.clone(),
                media_type: file.media_type.to_owned(),
                bytes: bytes as i64,
                expires_ms,
                created_ms: now_ms,
            });
            output.files.push(File {
                key,
                role: file.role,
                media_type: file.media_type.to_owned(),
                width: file.width,
                height: file.height,
                bytes,
                expires_ms,
                ..File::default()
            });
        }
        let alias = output.alias.clone();
        let quota = consumed(row, output.made, asked);
        let output =
            serde_json::to_string(&output).map_err(|error| Fault::ours(error.to_string()))?;
        Ok(Ending::Success {
            output,
            alias,
            quota,
            assets,
        })
    }
}

/// What a job costs when it made some of what was asked for: its share of what was held.
fn consumed(row: &JobRow, made: u32, asked: u32) -> Quota {
    if made >= asked {
        return row.price;
    }
    Quota::from_thousandths(row.price.thousandths() * i64::from(made) / i64::from(asked))
}

fn extension(media_type: &str) -> &'static str {
    match media_type {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/webp" => "webp",
        "image/gif" => "gif",
        "image/svg+xml" => "svg",
        "video/mp4" => "mp4",
        _ => "bin",
    }
}
