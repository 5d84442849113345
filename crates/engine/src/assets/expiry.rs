//! Expired files are deleted, some at a time, in a loop of its own: an asset store that is slow or away delays no deadline.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use atelier_store::DELETING_MS;
use atelier_store::files::Files;
use futures_util::StreamExt as _;
use tokio::time::{Instant, timeout};

use crate::context::Context;
use crate::crash;

/// Files condemned in one step.
const AT_ONCE: usize = 128;
/// Files deleted at the same time, and files that cannot be deleted until a step gives up: one round of an asset store that
/// is away.
const PARALLEL: usize = 16;
/// A file that could not be deleted has its turn again after this.
const AGAIN_MS: i64 = 600_000;
/// One deletion may take this long, and none begins later than this after the files were condemned: well before
/// somebody else may store them anew.
const DELETION: Duration = Duration::from_millis(DELETING_MS as u64 / 3);

/// Deletes expired files and forgets their rows; says whether more may be waiting. Those that could not be deleted have
/// their turn again later and hold up no others.
pub(crate) async fn step(context: &Context, files: &Files) -> Result<bool, atelier_store::Error> {
    let now_ms = context.now_ms();
    let condemned = context
        .store()
        .assets()
        .condemn(now_ms, now_ms - AGAIN_MS, AT_ONCE as i64)
        .await?;
    let gone = delete(files, condemned).await;
    if !gone.is_empty() {
        crash::point("sweeper.before_forget");
        context.store().assets().forget(&gone, now_ms).await?;
    }
    Ok(gone.len() == AT_ONCE)
}

/// Deletes files until too many cannot be deleted; gives back those that are gone.
async fn delete(files: &Files, keys: Vec<String>) -> Vec<String> {
    let (failed, begun) = (AtomicUsize::new(0), Instant::now());
    let delete = async |key: String| {
        if failed.load(Ordering::Relaxed) >= PARALLEL || begun.elapsed() > DELETION {
            return None;
        }
        let error = match timeout(DELETION, files.delete(&key)).await {
            Ok(Ok(())) => return Some(key),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "it took too long".to_owned(),
        };
        if failed.fetch_add(1, Ordering::Relaxed) == 0 {
            tracing::warn!(error, key, "an expired file could not be deleted");
        }
        None
    };
    let deletions = futures_util::stream::iter(keys).map(delete);
    let deletions = deletions.buffer_unordered(PARALLEL);
    deletions.filter_map(std::future::ready).collect().await
}
