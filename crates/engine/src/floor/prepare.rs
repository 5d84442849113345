//! Before and after the back end: its work is put together, and what it made is put into the vault.

use atelier_backends::backend::{Gauge, Work};
use atelier_backends::{Fault, Made};
use atelier_contract::body::Fields;
use atelier_contract::family::Keep;
use atelier_contract::{Code, File, JobId, Output, Quota, Refusal, Role};
use atelier_store::{JobRow, NewAsset};
use tokio_util::sync::CancellationToken;

use crate::crash;
use crate::engine::Engine;
use crate::floor::settle::Ending;

impl Engine {
    /// Everything a back end needs for one attempt.
    pub(crate) async fn prepare(
        &self,
        row: &JobRow,
        gauge: Gauge,
        cancelled: &CancellationToken,
        takes_hints: bool,
    ) -> Result<Work, Fault> {
        let mut work = self.prepare_again(row, gauge, cancelled).await?;
        work.attempt_id = format!("{}-{}", row.id, row.fence);
        // A back end that does not look at them finds their addresses in the words.
        if !takes_hints {
            work.brief.hints.clear();
        }
        self.with_inputs(work, &row.account_id).await
    }

    /// The work with the bytes of its inputs.
    pub(crate) async fn with_inputs(
        &self,
        mut work: Work,
        account_id: &str,
    ) -> Result<Work, Fault> {
        self.read_inputs(account_id, &mut work).await?;
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
            hints: Vec::new(),
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
