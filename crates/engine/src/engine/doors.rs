//! The doors of the parts, as the gateway knows them: one line each.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use atelier_backends::{Backend, Fault};
use atelier_contract::body::Fields;
use atelier_contract::family::Family;
use atelier_contract::{FamilyStatus, Job, JobId, Quota, Refusal};
use atelier_store::files::Flow;
use atelier_store::{AuditRow, BackendRow, Node, WorkerRow};
use bytes::Bytes;

use crate::Engine;
use crate::intake::{Call, Submitted};
use crate::names::WorkerName;
use crate::vault::Asset;
use crate::views::{CallbackView, JobsFilter, TryView};
use crate::wake::Changes;

/// Intake.
impl Engine {
    /// Accepts a call or refuses it; after an acceptance the job survives anything.
    pub async fn submit(&self, call: Call) -> Result<Submitted, Refusal> {
        self.intake.submit(call).await
    }

    /// What a submit of the same fields would hold, without running it; with `custody`, on the custody host.
    pub async fn quote(
        &self,
        account_id: &str,
        operation: &str,
        fields: Fields,
        custody: bool,
    ) -> Result<Quota, Refusal> {
        let intake = &self.intake;
        intake.quote(account_id, operation, fields, custody).await
    }

    /// The banned word a prompt contains, if any.
    pub fn banned_word(&self, prompt: &str) -> Option<String> {
        self.intake.banned_word(prompt)
    }
}

/// Jobs.
impl Engine {
    /// A job of an account.
    pub async fn job(&self, account_id: &str, id: &JobId) -> Result<Job, Refusal> {
        self.jobs.job(account_id, id).await
    }

    /// The body of a fetch: what the family shows of the job.
    pub async fn fetch_body(
        &self,
        account_id: &str,
        family: &'static Family,
        id: &JobId,
    ) -> Result<Bytes, Refusal> {
        self.jobs.fetch_body(account_id, family, id).await
    }

    /// Waits for a job to become final. Out of time is a refusal; the job goes its own way.
    pub async fn finished(
        &self,
        account_id: &str,
        id: &JobId,
        wait: Duration,
    ) -> Result<Job, Refusal> {
        self.jobs.finished(account_id, id, wait).await
    }

    /// Why a synchronous call has no result.
    pub fn refusal_of(job: &Job) -> Refusal {
        crate::jobs::refusal_of(job)
    }

    /// Jobs in pages, of one account or of all.
    pub async fn jobs(
        &self,
        account_id: Option<&str>,
        filter: JobsFilter,
    ) -> Result<(Vec<Job>, i64), Refusal> {
        self.jobs.jobs(account_id, filter).await
    }

    /// Hints about changes of a job.
    pub fn changes(&self, id: &JobId) -> Changes {
        self.jobs.changes(id)
    }

    /// Ends a job at its caller's wish: the hold goes back, and whoever works on it is told to stop.
    pub async fn cancel(&self, account_id: &str, id: &JobId) -> Result<Job, Refusal> {
        self.jobs.cancel(account_id, id).await
    }
}

/// The floor.
impl Engine {
    /// Leases waiting jobs for free places and sets to work on them; says how many.
    pub async fn run_step(&self) -> Result<usize, atelier_store::Error> {
        self.floor.run_step().await
    }

    /// Asks about every job whose turn it is; says how many and how many milliseconds there are until the next.
    pub fn poll_step(&self) -> (usize, i64) {
        self.floor.poll_step()
    }

    /// Ends overdue jobs and takes up jobs of silent nodes; says whether more may be waiting.
    pub async fn sweep_step(&self) -> Result<bool, atelier_store::Error> {
        self.floor.sweep_step().await
    }

    /// Writes down progress that changed.
    pub async fn progress_step(&self) -> Result<(), atelier_store::Error> {
        self.floor.progress_step().await
    }

    /// Brings the pool and the store together.
    pub async fn pool_step(&self) -> Result<(), atelier_store::Error> {
        self.floor.pool_step().await
    }

    /// Takes over the back ends and worker accounts as they are stored now.
    pub async fn load_pool(&self) -> Result<(), atelier_store::Error> {
        self.floor.load_pool().await
    }

    /// A vendor posted that a job is worth a look: the vendor is asked, and nothing else is believed.
    pub fn vendor_hook(&self, backend_id: &str, token: &str) -> bool {
        self.floor.vendor_hook(backend_id, token)
    }

    /// How the endpoints of a family are, by speed and by path.
    pub async fn family_status(&self, family: &Family) -> Result<FamilyStatus, Refusal> {
        self.floor.family_status(family).await
    }

    pub(crate) async fn write_notes(
        &self,
        act: Option<AuditRow>,
    ) -> Result<(), atelier_store::Error> {
        self.floor.write_notes(act).await
    }

    pub(crate) fn build_worker(
        &self,
        backend: &BackendRow,
        row: &WorkerRow,
    ) -> Result<Arc<dyn Backend>, String> {
        self.floor.build_worker(backend, row)
    }

    pub(crate) async fn probe_worker(
        &self,
        name: &WorkerName,
        backend: &dyn Backend,
    ) -> Result<(), Fault> {
        self.floor.probe_worker(name, backend).await
    }
}

/// The house as a whole.
impl Engine {
    /// Forgets what has been kept for long enough and gives up orphaned files; says how many rows and files.
    pub async fn tidy_step(&self) -> Result<u64, atelier_store::Error> {
        self.tidy.step().await
    }

    /// Says that this node is alive and still works on what it has in hand; stops what it has lost.
    pub async fn renew_step(&self) -> Result<(), atelier_store::Error> {
        self.floor.renew_step().await?;
        self.vault.load_address_keys().await?;
        self.house.beat().await
    }

    /// The nodes that share the store and were heard of lately.
    pub(crate) async fn alive_nodes(&self) -> Result<Vec<Node>, atelier_store::Error> {
        self.house.alive_nodes().await
    }
}

/// The vault and the courier.
impl Engine {
    /// The asset behind a key and its signed query.
    pub async fn asset(&self, key: &str, query: &str) -> Result<Asset, Refusal> {
        self.vault.asset(key, query).await
    }

    /// Some of an asset's bytes, streamed.
    pub async fn asset_bytes(
        &self,
        asset: &Asset,
        range: Range<u64>,
    ) -> Result<Flow<Bytes>, Refusal> {
        self.vault.asset_bytes(asset, range).await
    }

    /// The main files of a finished job in base64, for answers that carry them.
    pub async fn base64_files(&self, job: &Job) -> Result<Vec<String>, Refusal> {
        self.vault.base64_files(job).await
    }

    /// Reads the keys that sign addresses.
    pub async fn load_address_keys(&self) -> Result<(), atelier_store::Error> {
        self.vault.load_address_keys().await
    }

    /// Makes a new key that signs addresses from now on, on every node; its number.
    pub async fn rotate_address_key(&self, by: &str) -> Result<String, Refusal> {
        self.vault.rotate_address_key(by).await
    }

    /// Deletes some expired files; says whether more may be waiting.
    pub async fn expire_step(&self) -> Result<bool, atelier_store::Error> {
        self.vault.expire_step().await
    }

    /// Claims callbacks that are due and posts each in a task of its own; says how many.
    pub async fn deliver_step(&self) -> Result<usize, atelier_store::Error> {
        self.courier.step().await
    }

    /// Callbacks in pages, newest first, of one account or of all.
    pub async fn callbacks(
        &self,
        account_id: Option<&str>,
        page: i64,
        limit: i64,
    ) -> Result<(Vec<CallbackView>, i64), Refusal> {
        self.courier.callbacks(account_id, page, limit).await
    }

    /// One callback of an account and its tries, oldest first, as far as they are still remembered.
    pub async fn callback(
        &self,
        account_id: &str,
        id: &str,
    ) -> Result<(CallbackView, Vec<TryView>), Refusal> {
        self.courier.callback(account_id, id).await
    }

    /// Sends a callback again, now.
    pub async fn redeliver(&self, account_id: &str, id: &str) -> Result<(), Refusal> {
        self.courier.redeliver(account_id, id).await
    }

    /// Sends every callback again that was given up since a time; says how many.
    pub async fn redeliver_since(&self, account_id: &str, since_ms: i64) -> Result<u64, Refusal> {
        self.courier.redeliver_since(account_id, since_ms).await
    }

    /// The secret callbacks are signed with.
    pub async fn callback_secret(&self, account_id: &str) -> Result<String, Refusal> {
        self.courier.secret(account_id).await
    }

    /// A new secret; the old one goes on signing beside it for a day, however often it is changed.
    pub async fn rotate_callback_secret(&self, account_id: &str) -> Result<String, Refusal> {
        self.courier.rotate_secret(account_id).await
    }
}
