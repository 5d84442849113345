//! The vault: bytes of results and inputs, their addresses, and their end.

mod address_keys;
mod addresses;
mod asset;
mod credentials;
mod expiry;
mod followed;
mod inputs;
mod keeping;
mod orphans;
mod result_cache;
mod results;
mod thumbs;
mod uploads;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use atelier_backends::backend::{ReadFile, Work};
use atelier_backends::shares::Shares;
use atelier_backends::{Fault, Made};
use atelier_contract::body::Fields;
use atelier_contract::brief::Brief;
use atelier_contract::{AccountId, Code, Job, JobId, JobState, Output, Refusal, Role};
use atelier_store::files::{Files, FilesError, Flow};
use atelier_store::{JobRow, Outcome};
use base64::Engine as _;
use bytes::Bytes;

use crate::house::{House, unavailable};
use crate::sign::AddressFault;
use crate::tracer::NOTE;
use addresses::Addresses;
use credentials::Credentials;
use followed::FollowedJobs;
use inputs::Inputs;
use orphans::Orphans;
use result_cache::{Asked, ResultCache};
use thumbs::Thumbs;

pub(crate) use address_keys::PREFIX as ADDRESS_KEYS;
pub use addresses::ASSETS;
pub use asset::Asset;
pub(crate) use followed::Followed;
pub(crate) use keeping::Kept;
pub(crate) use orphans::{INSTALL, MARKS, OURS};
pub(crate) use result_cache::Rendered;
pub(crate) use results::Owner;
pub use uploads::Uploads;
pub(crate) use uploads::storage_full;

/// Keeps bytes and says where they are.
pub struct Vault {
    house: Arc<House>,
    files: Files,
    addresses: Arc<Addresses>,
    inputs: Inputs,
    uploads: Uploads,
    orphans: Orphans,
    rendered: ResultCache,
    followed: FollowedJobs,
    /// How many jobs have been forgotten.
    forgotten: AtomicU64,
    thumbs: Arc<Thumbs>,
    credentials: Credentials,
}

impl Vault {
    pub(crate) fn new(house: Arc<House>, files: Files) -> Arc<Self> {
        let addresses = Arc::new(Addresses::new(house.clone()));
        Arc::new(Self {
            inputs: Inputs::new(house.clone(), files.clone(), addresses.clone()),
            uploads: Uploads::new(house.clone(), files.clone(), addresses.clone()),
            orphans: Orphans::new(house.clone(), files.clone()),
            rendered: ResultCache::new(house.settings.result_cache_bytes),
            followed: FollowedJobs::new(),
            forgotten: AtomicU64::default(),
            thumbs: Thumbs::new(house.clone(), files.clone()),
            credentials: Credentials::new(house.clone(), files.clone(), addresses.clone()),
            addresses,
            files,
            house,
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
            tracing::warn!(%error, "the spool of files was not emptied; the next start does it");
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
        request.remove(NOTE);
        // Until it ends, it has to be kept by the service's own time.
        let deadline_ms = if row.state.is_final() {
            row.deadline_ms
        } else {
            row.deadline_ms + self.house.clock.ahead_ms()
        };
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
        }
    }

    /// The memory that inputs of all jobs share.
    pub fn input_memory(&self) -> &Arc<Shares> {
        self.house.outbound.input_memory()
    }

    /// The files that wait for a thumbnail.
    pub fn thumbnails(&self) -> &Arc<Shares> {
        self.thumbs.queue()
    }

    /// The rendered body of a job that succeeded, if it is remembered.
    pub(crate) fn rendered(&self, account_id: &AccountId, job_id: &str) -> Option<Rendered> {
        self.rendered.get(account_id, job_id)
    }

    /// How many jobs have been forgotten; to be asked before a job is read that is to be remembered.
    pub(crate) fn forgotten(&self) -> u64 {
        self.forgotten.load(Ordering::SeqCst)
    }

    /// Remembers the rendered body of a job that succeeded, unless one was forgotten since it was read.
    pub(crate) fn remember(
        &self,
        (account_id, job_id): (&AccountId, &str),
        rendered: Rendered,
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
        self.followed.remove(&Asked(account_id, job_id));
    }

    /// A job of an account that another one follows.
    pub(crate) async fn followed(
        &self,
        account_id: &AccountId,
        id: &JobId,
    ) -> Result<Followed, Refusal> {
        let asked = Asked(account_id, id.as_str());
        let (now_ms, forgotten) = (self.house.steady_ms(), self.forgotten());
        if let Some(followed) = self.followed.get(&asked, now_ms) {
            return Ok(followed);
        }
        let row = self.house.store.job(account_id, id.as_str()).await;
        let row = row.map_err(unavailable)?;
        let mut row = row.ok_or_else(Refusal::job_not_found)?;
        let followed = Followed {
            worker: row.worker.take().map(Arc::from),
            text: row.request.len() + row.output.as_ref().map_or(0, String::len),
            job: Arc::new(self.job(row)),
        };
        if followed.job.state.is_final() {
            self.followed.put(account_id, followed.clone(), now_ms);
            if self.forgotten() != forgotten {
                self.followed.remove(&asked);
            }
        }
        Ok(followed)
    }

    /// The key of the service's own file behind an address, when the address is signed and still good.
    pub(crate) fn own_asset(&self, url: &str) -> Option<String> {
        self.addresses.own(url)
    }

    /// The asset behind a key and its signed query.
    pub async fn asset(&self, key: &str, query: &str) -> Result<Asset, Refusal> {
        let gone = || Refusal::new(Code::Expired, "the address has expired");
        self.addresses
            .verify(key, query)
            .await
            .map_err(|fault| match fault {
                AddressFault::Expired => gone(),
                AddressFault::BadSignature => {
                    Refusal::new(Code::Forbidden, "the address is not signed by this service")
                }
            })?;
        // A good signature was ours once, so a missing row means that the file has been swept.
        let asset = self.house.store.asset(key).await.map_err(unavailable)?;
        let now_ms = self.house.now_ms();
        let asset = asset.filter(|asset| asset.expires_ms > now_ms);
        let asset = asset.ok_or_else(gone)?;
        Ok(Asset {
            etag: format!("\"{:x}-{:x}\"", asset.created_ms, asset.bytes),
            key: asset.key,
            account_id: asset.account_id.into(),
            media_type: asset.media_type,
            bytes: asset.bytes as u64,
            expires_ms: asset.expires_ms,
        })
    }

    /// A small picture of an asset, and its bytes.
    pub async fn thumbnail(&self, asset: &Asset) -> Result<(Asset, Bytes), Refusal> {
        self.thumbs.of(asset).await
    }

    /// Some of an asset's bytes, streamed.
    pub async fn asset_bytes(
        &self,
        asset: &Asset,
        range: Range<u64>,
    ) -> Result<Flow<Bytes>, Refusal> {
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
        for file in job.files(Role::Main) {
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

    /// Puts inline inputs into the vault before their job is accepted
    pub(crate) async fn keep_inputs(
        &self,
        account_id: &AccountId,
        brief: &Brief,
    ) -> Result<Kept, Refusal> {
        self.inputs.keep(account_id, brief).await
    }

    /// Lets inputs go whose job was not accepted after all.
    pub(crate) async fn drop_inputs(&self, kept: Kept) {
        self.inputs.drop(kept).await;
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
    pub(crate) fn reader(&self) -> ReadFile {
        self.inputs.reader()
    }

    /// Puts a result into the vault and says how its job ends.
    pub(crate) async fn store(&self, owner: &Owner<'_>, made: Made) -> Result<Outcome, Fault> {
        let made = self.credentials.on(owner, made).await;
        results::store(&self.house, &self.files, owner, made).await
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
        expiry::step(&self.house, &self.files).await
    }

    /// Has files written before a time that no row knows expire at once; says how many.
    pub(crate) async fn give_up_orphans(
        &self,
        before_ms: i64,
    ) -> Result<u64, atelier_store::Error> {
        self.orphans.give_up(before_ms).await
    }
}
