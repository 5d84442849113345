//! Jobs and their files as agents reach them.

use std::sync::Arc;

use atelier_contract::{AccountId, Code, File, Job, JobId, Refusal};
use atelier_engine::ASSETS;
use atelier_engine::records::JobFilter;
use bytes::Bytes;
use futures_util::TryStreamExt as _;

use crate::app::App;

/// What the addresses of results begin with.
pub(super) const PREFIX: &str = "atelier://jobs/";
/// Larger files are not read into memory.
const LARGEST: u64 = 64 * 1024 * 1024;

/// The address of a file of a job.
pub(super) fn address_of(id: &JobId, number: usize) -> String {
    format!("{PREFIX}{id}/files/{number}")
}

/// The newest jobs of an account.
pub(super) async fn newest(
    app: &Arc<App>,
    account: &AccountId,
    limit: i64,
) -> Result<Vec<Job>, Refusal> {
    let filter = JobFilter::page(1, limit);
    Ok(app.engine.jobs().list(Some(account), filter).await?.rows)
}

/// The bytes of a file of a job.
pub(super) async fn bytes_of(app: &Arc<App>, file: &File) -> Result<Bytes, Refusal> {
    let gone = || Refusal::new(Code::Expired, "the file is gone");
    let url = url::Url::parse(&file.origin_url).map_err(|_| gone())?;
    let key = url
        .path()
        .split_once(ASSETS)
        .map(|(_, key)| key.trim_start_matches('/'))
        .ok_or_else(gone)?;
    let asset = app
        .engine
        .assets()
        .asset(key, url.query().unwrap_or_default())
        .await?;
    if asset.bytes > LARGEST {
        return Err(Refusal::new(
            Code::PayloadTooLarge,
            "the file is too large to be read this way; use its address",
        ));
    }
    let pieces = app
        .engine
        .assets()
        .asset_bytes(&asset, 0..asset.bytes)
        .await?;
    let all: Vec<Bytes> = pieces.try_collect().await.map_err(|_| gone())?;
    Ok(all.concat().into())
}
