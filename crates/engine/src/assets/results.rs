//! Results: what a back end made is put into the asset store, and what the job comes to is worked out.

use atelier_backends::backend::Work;
use atelier_backends::{Fault, OutputFile, WorkOutput, video_seconds};
use atelier_contract::family::ResultLifetime;
use atelier_contract::{AccountId, File, FileRole, Notes, Output, Quota, hex};
use atelier_store::files::Files;
use atelier_store::{FileHash, NewAsset, Outcome};
use futures_util::future::try_join_all;
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;

use crate::context::Context;
use crate::crash;

/// Bytes that are hashed without a pause: less than a millisecond.
const HASHED_AT_ONCE: usize = 128 * 1024;

/// Whose result it is.
pub(crate) struct Owner<'a> {
    pub(crate) job_id: &'a str,
    pub(crate) account_id: &'a AccountId,
    pub(crate) operation: &'a str,
    pub(crate) fence: i64,
    /// When the job was accepted.
    pub(crate) created_ms: i64,
    /// What was held for the job.
    pub(crate) price: Quota,
    /// How many items were asked for.
    pub(crate) asked: u32,
    /// What was worked on, without the bytes of its inputs.
    pub(crate) work: Option<&'a Work>,
}

/// Puts the files into the asset store and says how the job ends.
pub(crate) async fn store(
    context: &Context,
    files: &Files,
    owner: &Owner<'_>,
    made: WorkOutput,
) -> Result<Outcome, Fault> {
    let Some((family, submit)) = atelier_contract::operation(owner.operation) else {
        let detail = format!("unknown operation {}", owner.operation);
        return Err(Fault::ours(detail));
    };
    let writer = ResultWriter {
        context,
        files,
        owner,
        keep: submit.keep.unwrap_or(family.keep),
        now_ms: context.now_ms(),
    };
    let stored = made.files.into_iter().enumerate();
    let stored = stored.map(|(number, file)| writer.store(number, file));
    let (mut assets, mut files, mut hashes) = (Vec::new(), Vec::new(), Vec::new());
    for stored in try_join_all(stored).await? {
        assets.push(stored.asset);
        files.push(stored.file);
        hashes.extend(stored.hash);
    }
    let output = Output {
        prompts: made.prompts,
        seed: made.seed,
        revised_prompt: made.revised_prompt,
        alias: made.alias,
        made: made.made,
        ignored: made.ignored,
        notes: Notes::of(&made.notes),
        files,
    };
    let alias = output.alias.clone();
    let quota = consumed(owner, output.made);
    let output = serde_json::to_string(&output).map_err(|error| Fault::ours(error.to_string()))?;
    Ok(Outcome::Succeeded {
        output,
        alias,
        quota,
        assets,
        hashes: context.settings().receipts.enabled.then_some(hashes),
    })
}

/// A file that was stored.
struct StoredResult {
    asset: NewAsset,
    file: File,
    /// For its receipt, where there are receipts.
    hash: Option<FileHash>,
}

/// Stores the files of one result.
struct ResultWriter<'a> {
    context: &'a Context,
    files: &'a Files,
    owner: &'a Owner<'a>,
    keep: ResultLifetime,
    now_ms: i64,
}

impl ResultWriter<'_> {
    /// Stores one file; the others are stored meanwhile.
    async fn store(&self, number: usize, file: OutputFile) -> Result<StoredResult, Fault> {
        let (context, owner) = (self.context, self.owner);
        // Results of jobs of the same minute share a folder, so that one sync makes many names durable. The fence in the
        // key keeps a worker that lost its lease from touching the winner's files; who stores it again writes it again.
        let key = format!(
            "out/{}/{}-{}-{number}.{}",
            owner.created_ms / 60_000,
            owner.job_id,
            owner.fence,
            extension(file.media_type)
        );
        let keep = if file.role == FileRole::Small {
            ResultLifetime::Month
        } else {
            self.keep
        };
        let expires_ms = self.now_ms + context.settings().retention.lifetime_ms(keep);
        let bytes = file.bytes.len() as u64;
        let is_clip = file.media_type == "video/mp4";
        let seconds = is_clip.then(|| video_seconds(&file.bytes)).flatten();
        let hash = if context.settings().receipts.enabled {
            Some(FileHash {
                key: key.clone(),
                sha256: sha256(&file.bytes).await,
            })
        } else {
            None
        };
        let began = Instant::now();
        // Its row comes with the settlement.
        let put = self.files.put_unseen(&key, file.bytes).await;
        context.meters().stored(began.elapsed());
        put.map_err(|error| Fault::internal(format!("asset store: {error}")))?;
        crash::point("runner.file_stored");
        let asset = NewAsset {
            key: key.clone(),
            job_id: owner.job_id.to_owned(),
            account_id: owner.account_id.to_string(),
            media_type: file.media_type.to_owned(),
            bytes: bytes as i64,
            expires_ms,
            created_ms: self.now_ms,
        };
        let file = File {
            key,
            role: file.role,
            media_type: file.media_type.to_owned(),
            width: file.width,
            height: file.height,
            seconds,
            bytes,
            expires_ms,
            ..File::default()
        };
        Ok(StoredResult { asset, file, hash })
    }
}

/// The hash of a file, a part at a time: others get their turns.
async fn sha256(bytes: &[u8]) -> String {
    let mut digest = Sha256::new();
    for part in bytes.chunks(HASHED_AT_ONCE) {
        digest.update(part);
        tokio::task::yield_now().await;
    }
    hex(&digest.finalize())
}

/// What a job costs when it made some of what was asked for: its share of what was held.
fn consumed(owner: &Owner<'_>, made: u32) -> Quota {
    if made >= owner.asked {
        return owner.price;
    }
    let share = owner.price.thousandths() * i64::from(made) / i64::from(owner.asked);
    Quota::from_thousandths(share)
}

pub(super) fn extension(media_type: &str) -> &'static str {
    match media_type {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/webp" => "webp",
        "image/gif" => "gif",
        "image/svg+xml" => "svg",
        "video/mp4" => "mp4",
        "video/webm" => "webm",
        _ => "bin",
    }
}
