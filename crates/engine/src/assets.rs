//! The asset store: bytes of results and inputs, their addresses, and their end.

mod address_keys;
mod addresses;
mod asset;
mod credentials;
mod expiry;
mod inputs;
mod links;
mod orphans;
mod parent_cache;
mod pending_inputs;
mod result_cache;
mod results;
mod thumbs;
mod uploads;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use atelier_backends::backend::{FileReader, Work};
use atelier_backends::{Fault, WorkOutput};
use atelier_contract::body::Fields;
use atelier_contract::brief::Brief;
use atelier_contract::pages::files::ThumbSize;
use atelier_contract::{AccountId, Code, FileRole, Job, JobId, JobState, Output, Refusal, Spender};
use atelier_fairness::share::FairSemaphore;
use atelier_store::files::{FileStream, Files, FilesError};
use atelier_store::{Attribution, JobRow, Outcome};
use base64::Engine as _;
use bytes::Bytes;

use crate::context::{Context, unavailable};
use crate::sign::AddressFault;
use crate::tracer::TRACE_FIELD;
use addresses::Addresses;
use credentials::Credentials;
use inputs::Inputs;
use orphans::Orphans;
use parent_cache::ParentJobCache;
use result_cache::{JobKeyRef, ResultCache};
use thumbs::Thumbs;

pub(crate) use address_keys::PREFIX as ADDRESS_KEYS;
pub use addresses::ASSETS;
pub use asset::Asset;
pub use links::Links;
pub(crate) use orphans::{ASSET_FOLDERS, INSTALL, INSTALL_MARKERS};
pub(crate) use parent_cache::ParentJob;
pub(crate) use pending_inputs::InputGuard;
pub(crate) use result_cache::RenderedBody;
pub(crate) use results::Owner;
pub use uploads::Uploads;
pub(crate) use uploads::storage_full;

/// Keeps bytes and says where they are.
pub struct Assets {
    context: Arc<Context>,
    files: Files,
    addresses: Arc<Addresses>,
    inputs: Inputs,
    uploads: Uploads,
    links: Links,
    orphans: Orphans,
    rendered: ResultCache,
    parent_job: ParentJobCache,
    /// How many jobs have been forgotten.
    forgotten: AtomicU64,
    thumbs: Arc<Thumbs>,
    credentials: Credentials,
}

impl Assets {
    pub(crate) fn new(context: Arc<Context>, files: Files) -> Arc<Self> {
        let addresses = Arc::new(Addresses::new(context.clone()));
        Arc::new(Self {
            inputs: Inputs::new(context.clone(), files.clone(), addresses.clone()),
            uploads: Uploads::new(context.clone(), files.clone(), addresses.clone()),
            links: Links::new(context.clone(), addresses.clone()),
            orphans: Orphans::new(context.clone(), files.clone()),
            rendered: ResultCache::new(context.settings().jobs.result_cache_mib * 1024 * 1024),
            parent_job: ParentJobCache::new(),
            forgotten: AtomicU64::default(),
            thumbs: Thumbs::new(context.clone(), files.clone()),
            credentials: Credentials::new(context.clone(), files.clone(), addresses.clone()),
            addresses,
            files,
            context,
        })
    }

    /// Has small files made durable together. For a process that is known to be the only one. Nothing is served past a spool
    /// that could not be put back: rows name files that are nowhere else, and what is written meanwhile would be written over
    /// when it can be.
    pub(crate) async fn open_spool(&self) -> Result<(), atelier_store::Error> {
        let opened = self.files.open_spool().await;
        opened.map(|_| ()).map_err(|error| {
            atelier_store::Error::Files(format!(
                "files that were only in the spool (`.spool` in the folder of files) could not be put back: {error}; \
                 nothing is lost: mend what is in their way and start again"
            ))
        })
    }

    /// Has every file on disk by itself before the end.
    pub(crate) async fn close_spool(&self) {
        if let Err(error) = self.files.close_spool().await {
            tracing::warn!(%error, "the file spool was not emptied; the next start empties it");
        }
    }

    /// A row with its request and result read and its files' addresses signed.
    pub(crate) fn job(&self, row: JobRow) -> Job {
        let mut output: Option<Output> = row
            .output
            .as_deref()
            .and_then(|text| serde_json::from_str(text).ok());
        for file in output.iter_mut().flat_map(|output| &mut output.files) {
            (file.origin_url, file.cdn_url) = self.addresses.of(file);
        }
        let mut request: Fields = serde_json::from_str(&row.request).unwrap_or_default();
        let state = row.shown_state();
        // Which trace it belongs to is no part of what was asked.
        request.remove(TRACE_FIELD);
        // Until it ends, it has to be kept by the service's own time.
        let deadline_ms = if row.state.is_final() {
            row.deadline_ms
        } else {
            row.deadline_ms + self.context.clock().ahead_ms()
        };
        let price_lines = row.price_lines.as_deref();
        let price_lines = price_lines.and_then(|text| serde_json::from_str(text).ok());
        let price_lines = price_lines.unwrap_or_default();
        Job {
            id: JobId::new(row.id),
            operation: row.operation,
            state,
            progress: row.progress as u8,
            message: row.message,
            fault: row.fault,
            request,
            output,
            speed: row.speed,
            price: row.price,
            quota: row.quota,
            parent: row.parent_id.map(JobId::new),
            hook_url: row.hook_url,
            hook_times: row.hook_times as u32,
            created_ms: row.created_ms,
            started_ms: row.started_ms.filter(|_| state != JobState::Waiting),
            finished_ms: row.finished_ms,
            deadline_ms,
            updated_ms: row.updated_ms,
            revision: row.revision,
            price_lines,
            spender: spender(row.attribution),
        }
    }

    /// The memory that inputs of all jobs share.
    pub fn input_memory(&self) -> &Arc<FairSemaphore> {
        self.context.outbound().input_memory()
    }

    /// The files that wait for a thumbnail.
    pub fn thumbnails(&self) -> &Arc<FairSemaphore> {
        self.thumbs.queue()
    }

    /// The rendered body of a job that succeeded, if it is remembered.
    pub(crate) fn rendered(&self, account_id: &AccountId, job_id: &str) -> Option<RenderedBody> {
        self.rendered.get(account_id, job_id)
    }

    /// How many jobs have been forgotten; to be asked before a job is read that is to be remembered.
    pub(crate) fn forgotten(&self) -> u64 {
        self.forgotten.load(Ordering::SeqCst)
    }

    /// Remembers the rendered body of a job that succeeded, unless one was forgotten since it was read.
    pub(crate) fn remember(
        &self,
        account_id: &AccountId,
        job_id: &str,
        rendered: RenderedBody,
        forgotten: u64,
    ) {
        self.rendered.put(account_id, job_id, rendered);
        if self.forgotten() != forgotten {
            self.rendered.remove(account_id, job_id);
        }
    }

    /// Forgets a job that was deleted.
    pub(crate) fn forget(&self, account_id: &AccountId, job_id: &str) {
        self.forgotten.fetch_add(1, Ordering::SeqCst);
        self.rendered.remove(account_id, job_id);
        self.parent_job.remove(&JobKeyRef(account_id, job_id));
    }

    /// A job of an account that another one follows.
    pub(crate) async fn parent_job(
        &self,
        account_id: &AccountId,
        id: &JobId,
    ) -> Result<ParentJob, Refusal> {
        let asked = JobKeyRef(account_id, id.as_str());
        let (now_ms, forgotten) = (self.context.steady_ms(), self.forgotten());
        if let Some(parent_job) = self.parent_job.get(&asked, now_ms) {
            return Ok(parent_job);
        }
        let row = self
            .context
            .store()
            .jobs()
            .find(account_id, id.as_str())
            .await;
        let row = row.map_err(unavailable)?;
        let mut row = row.ok_or_else(Refusal::job_not_found)?;
        let parent_job = ParentJob {
            worker: row.worker.take().map(Arc::from),
            text: row.request.len() + row.output.as_ref().map_or(0, String::len),
            job: Arc::new(self.job(row)),
        };
        if parent_job.job.state.is_final() {
            self.parent_job.put(account_id, parent_job.clone(), now_ms);
            if self.forgotten() != forgotten {
                self.parent_job.remove(&asked);
            }
        }
        Ok(parent_job)
    }

    /// The key of the service's own file behind an address, when the address is signed and still good.
    pub(crate) fn own_asset(&self, url: &str) -> Option<String> {
        self.addresses.own(url)
    }

    /// The asset behind a key and its signed query.
    pub async fn asset(&self, key: &str, query: &str) -> Result<Asset, Refusal> {
        let gone = || Refusal::new(Code::Expired, "the URL has expired");
        self.addresses
            .verify(key, query)
            .await
            .map_err(|fault| match fault {
                AddressFault::Expired => gone(),
                AddressFault::BadSignature => {
                    Refusal::new(Code::Forbidden, "the URL is not signed by this service")
                }
            })?;
        // A good signature was ours once, so a missing row means that the file has been swept.
        let asset = self
            .context
            .store()
            .assets()
            .find(key)
            .await
            .map_err(unavailable)?;
        let now_ms = self.context.now_ms();
        let asset = asset.filter(|asset| asset.expires_ms > now_ms);
        let asset = asset.ok_or_else(gone)?;
        Ok(Asset::of(asset))
    }

    /// A small picture of an asset, and its bytes.
    pub async fn thumbnail(
        &self,
        asset: &Asset,
        size: ThumbSize,
    ) -> Result<(Asset, Bytes), Refusal> {
        self.thumbs.of(asset, size).await
    }

    /// Some of an asset's bytes, streamed.
    pub async fn asset_bytes(
        &self,
        asset: &Asset,
        range: Range<u64>,
    ) -> Result<FileStream<Bytes>, Refusal> {
        let read = self.files.read_range(&asset.key, range).await;
        read.map_err(|error| {
            tracing::error!(%error, key = asset.key, "an asset could not be read");
            match error {
                // It will not come back, so there is no use in trying again.
                FilesError::NotFound => Refusal::new(Code::Expired, "the file is gone"),
                _ => Refusal::new(
                    Code::Overloaded,
                    "the file cannot be read now; try again shortly",
                ),
            }
        })
    }

    /// The main files of a finished job in base64, for answers that carry them.
    pub async fn base64_files(&self, job: &Job) -> Result<Vec<String>, Refusal> {
        let mut encoded = Vec::new();
        for file in job.files(FileRole::Main) {
            let bytes = self.files.read(&file.key).await.map_err(|error| {
                tracing::error!(%error, key = file.key, "a result could not be read");
                Refusal::new(Code::Internal, "the result cannot be read")
            })?;
            encoded.push(base64::engine::general_purpose::STANDARD.encode(bytes));
        }
        Ok(encoded)
    }

    /// Files that callers upload.
    pub fn uploads(&self) -> &Uploads {
        &self.uploads
    }

    /// Links to files.
    pub fn links(&self) -> &Links {
        &self.links
    }

    /// Puts inline inputs into the asset store before their job is accepted
    pub(crate) async fn keep_inputs(
        &self,
        account_id: &AccountId,
        brief: &Brief,
    ) -> Result<InputGuard, Refusal> {
        self.inputs.keep(account_id, brief).await
    }

    /// Lets inputs go whose job was not accepted after all.
    pub(crate) async fn drop_inputs(&self, kept: InputGuard) {
        self.inputs.drop(kept).await;
    }

    /// Keeps what a vendor posted about a job of an account until a time.
    pub(crate) async fn keep_post(
        &self,
        key: String,
        account_id: &str,
        until_ms: i64,
        body: &Bytes,
    ) -> Result<(), Refusal> {
        self.inputs.keep_post(key, account_id, until_ms, body).await
    }

    /// Reads everything a work needs.
    pub(crate) async fn read_inputs(
        &self,
        account_id: &AccountId,
        work: &mut Work,
    ) -> Result<(), Fault> {
        self.inputs.read(account_id, work).await
    }

    /// Reads files of earlier jobs for a back end.
    pub(crate) fn reader(&self) -> FileReader {
        self.inputs.reader()
    }

    /// Puts a result into the asset store and says how its job ends.
    pub(crate) async fn store(
        &self,
        owner: &Owner<'_>,
        made: WorkOutput,
    ) -> Result<Outcome, Fault> {
        let made = self.credentials.on(owner, made).await;
        results::store(&self.context, &self.files, owner, made).await
    }

    /// Reads the keys that sign addresses.
    pub async fn load_address_keys(&self) -> Result<(), atelier_store::Error> {
        self.addresses.keys().load().await
    }

    /// Makes a new key that signs addresses from now on, on every node; its number.
    pub async fn rotate_address_key(&self, by: &str) -> Result<String, Refusal> {
        self.addresses.keys().rotate(by).await
    }

    /// The first address key under the name and in the form in which keys are stored.
    pub(crate) fn first_address_key(&self) -> (String, Vec<u8>) {
        self.addresses.keys().first()
    }

    /// Deletes some expired files; says whether more may be waiting.
    pub async fn expire_step(&self) -> Result<bool, atelier_store::Error> {
        expiry::step(&self.context, &self.files).await
    }

    /// Has files written before a time that no row knows expire at once; says how many.
    pub(crate) async fn give_up_orphans(
        &self,
        before_ms: i64,
    ) -> Result<u64, atelier_store::Error> {
        self.orphans.give_up(before_ms).await
    }
}

/// Who spends on a job, as the contract sees it.
fn spender(attribution: Attribution) -> Spender {
    let tags = attribution.tags;
    Spender {
        key_id: attribution.key_id,
        member_id: attribution.member_id,
        tags: tags
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default(),
        user: attribution.user,
    }
}
