//! The exports of each day: planned once when the day is over, and written part by part by whichever node has them. Where the next part
//! begins is committed after a part is durable, so that whoever goes on after a crash writes that part anew and none twice.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Arc;

use atelier_contract::hex;
use atelier_contract::pages::exports::{ExportFormat, ExportKind};
use atelier_contract::time::timestamp;
use atelier_store::files::{Files, FilesError};
use atelier_store::{ExportClaim, ExportPart, ExportProgress, ExportRun, SpenderFilter};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::stream;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tokio::sync::Mutex;

use super::export_request::ExportRequest;
use super::export_rows::ExportRows;
use crate::context::Context;
use crate::crash;
use crate::settings::ExportSettings;

const DAY_MS: i64 = 86_400_000;
/// A part is closed with so many rows.
const PART_ROWS: usize = 200_000;
/// What is compressed is handed on in pieces of so many bytes.
const PIECE: usize = 64 * 1024;
/// A node that is not heard of for so long has lost the export.
const CLAIM_MS: i64 = 60_000;
/// It is heard of this often while it writes a part.
const RENEW_MS: i64 = 10_000;
/// After a failure it is tried again after so long.
const AGAIN_MS: i64 = 60_000;
/// Days that were missed are made up for, so many at most.
const MISSED_MOST: i64 = 31;

/// Plans what is due, or goes on with what is planned; whether there may be more to do.
pub(super) async fn step(
    context: &Arc<Context>,
    files: &Files,
) -> Result<bool, atelier_store::Error> {
    let settings = &context.settings().exports;
    let Some(at_ms) = settings.schedule.ms() else {
        return Ok(false);
    };
    plan(context, settings, at_ms).await?;
    let (exports, now_ms) = (context.store().ledger().exports(), context.steady_ms());
    let claim = ExportClaim {
        node: context.node().to_owned(),
        now_ms,
        until_ms: now_ms + CLAIM_MS,
    };
    let Some(run) = exports.claim(claim).await? else {
        return Ok(false);
    };
    match go_on(context, files, &run).await {
        Ok(()) => Ok(true),
        Err(error) => {
            tracing::warn!(%error, day = %day_text(run.day), kind = run.kind, "an export could not go on");
            let again_ms = context.steady_ms() + AGAIN_MS;
            exports
                .record_error(&run, &error.to_string(), again_ms)
                .await?;
            Ok(false)
        }
    }
}

/// Notes the exports of the days that are over, once.
async fn plan(
    context: &Context,
    settings: &ExportSettings,
    at_ms: i64,
) -> Result<(), atelier_store::Error> {
    let now_ms = context.now_ms();
    let latest = (now_ms - at_ms).div_euclid(DAY_MS) - 1;
    let exports = context.store().ledger().exports();
    let known = exports.latest_day().await?;
    let first = known.map_or(latest, |known| (known + 1).max(latest - MISSED_MOST + 1));
    for day in first..=latest {
        let kinds = ExportKind::ALL.map(ExportKind::word);
        exports
            .plan(day, &kinds, settings.format.word(), now_ms)
            .await?;
    }
    Ok(())
}

/// Writes the next part, or the list of contents when all are written.
async fn go_on(context: &Arc<Context>, files: &Files, run: &ExportRun) -> Result<(), ExportError> {
    let rows = rows_of(context, run).ok_or(ExportError::Unknown)?;
    let mut progress = ExportProgress {
        day: run.day,
        kind: run.kind.clone(),
        fence: run.fence,
        place: run.place.clone(),
        part: None,
        until_ms: context.steady_ms() + CLAIM_MS,
        ended_ms: None,
    };
    if rows.is_over() {
        contents(context, files, run).await?;
        progress.ended_ms = Some(context.now_ms());
    } else {
        let claim = PartClaim {
            context: context.clone(),
            run: run.clone(),
            renewed_ms: context.steady_ms(),
        };
        let (part, place) = write_part(files, claim, rows).await?;
        progress.part = Some(part);
        progress.place = place;
        progress.until_ms = context.steady_ms() + CLAIM_MS;
    }
    crash::point("exports.written");
    if !context
        .store()
        .ledger()
        .exports()
        .record_part(progress)
        .await?
    {
        tracing::info!(day = %day_text(run.day), kind = run.kind, "an export is another node's by now");
    }
    Ok(())
}

fn rows_of(context: &Arc<Context>, run: &ExportRun) -> Option<ExportRows> {
    let request = ExportRequest {
        kind: ExportKind::from_word(&run.kind)?,
        format: ExportFormat::from_word(&run.format)?,
        account_id: None,
        is_own: false,
        of: SpenderFilter::default(),
        from_ms: Some(run.day * DAY_MS),
        to_ms: Some((run.day + 1) * DAY_MS),
    };
    Some(ExportRows::new(context.clone(), request).go_on_at(&run.place))
}

/// Writes a part; where the next one begins.
async fn write_part(
    files: &Files,
    claim: PartClaim,
    rows: ExportRows,
) -> Result<(ExportPart, String), ExportError> {
    let run = claim.run.clone();
    let number = run.parts + 1;
    let mut name = format!("{}-{number:04}", base(run.day, &run.kind));
    if run.fence > 1 {
        // Whoever was at it before may write still; its file is another one, and is in no list.
        write!(name, "-{}", run.fence).expect("a text takes everything");
    }
    write!(name, ".{}.gz", run.format).expect("a text takes everything");
    let writer = Arc::new(Mutex::new(PartWriter::new(claim, rows)?));
    let pieces = stream::unfold(writer.clone(), |writer| async move {
        let piece = writer.lock().await.piece().await.transpose()?;
        Some((piece, writer))
    });
    let bytes = files.put_stream(&name, pieces).await?;
    let writer = writer.lock().await;
    let part = ExportPart {
        part: number,
        name,
        hash: hex(&writer.hash.clone().finalize()),
        bytes: bytes as i64,
        entries: writer.rows_written as i64,
    };
    Ok((part, writer.rows.place()))
}

/// Says which files an export has. It is written last: an export without it is not whole.
async fn contents(context: &Context, files: &Files, run: &ExportRun) -> Result<(), ExportError> {
    let parts = context
        .store()
        .ledger()
        .exports()
        .parts(run.day, &run.kind)
        .await?;
    let part = |part: &ExportPart| json!({ "name": part.name, "sha256": part.hash, "bytes": part.bytes, "rows": part.entries });
    let parts: Vec<_> = parts.iter().map(part).collect();
    let list = json!({
        "day": day_text(run.day),
        "kind": run.kind,
        "format": run.format,
        "rows": run.entries,
        "parts": parts,
    });
    let name = format!("{}.json", base(run.day, &run.kind));
    files.put(&name, format!("{list:#}\n").into()).await?;
    Ok(())
}

/// What the names of an export's files begin with.
fn base(day: i64, kind: &str) -> String {
    format!("exports/{}/{kind}", day_text(day))
}

fn day_text(day: i64) -> String {
    timestamp(day * DAY_MS)[..10].to_owned()
}

/// Why an export did not go on.
#[derive(Debug, thiserror::Error)]
enum ExportError {
    #[error(transparent)]
    Store(#[from] atelier_store::Error),
    #[error(transparent)]
    Files(#[from] FilesError),
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error("another node has it")]
    Lost,
    /// A later program planned it.
    #[error("this program does not know this export")]
    Unknown,
}

/// That an export is this node's while it writes a part.
struct PartClaim {
    context: Arc<Context>,
    run: ExportRun,
    renewed_ms: i64,
}

impl PartClaim {
    async fn keep(&mut self) -> Result<(), ExportError> {
        let now_ms = self.context.steady_ms();
        if now_ms - self.renewed_ms < RENEW_MS {
            return Ok(());
        }
        self.renewed_ms = now_ms;
        let exports = self.context.store().ledger().exports();
        if exports.renew(&self.run, now_ms + CLAIM_MS).await? {
            Ok(())
        } else {
            Err(ExportError::Lost)
        }
    }
}

/// A part that is being written: compressed, and added up for its hash.
struct PartWriter {
    claim: PartClaim,
    rows: ExportRows,
    encoder: Option<GzEncoder<Vec<u8>>>,
    hash: Sha256,
    rows_written: usize,
}

impl PartWriter {
    fn new(claim: PartClaim, rows: ExportRows) -> std::io::Result<Self> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(rows.header().as_bytes())?;
        Ok(Self {
            claim,
            rows,
            encoder: Some(encoder),
            hash: Sha256::new(),
            rows_written: 0,
        })
    }

    /// The next bytes; none when the part is whole.
    async fn piece(&mut self) -> Result<Option<Bytes>, ExportError> {
        while let Some(encoder) = &mut self.encoder {
            self.claim.keep().await?;
            let next = if self.rows_written < PART_ROWS {
                self.rows.next().await?
            } else {
                None
            };
            if let Some(next) = next {
                encoder.write_all(next.text.as_bytes())?;
                self.rows_written += next.rows;
                if encoder.get_ref().len() < PIECE {
                    continue;
                }
                let bytes = std::mem::take(encoder.get_mut());
                return Ok(Some(self.counted(bytes)));
            }
            if let Some(encoder) = self.encoder.take() {
                let bytes = encoder.finish()?;
                return Ok(Some(self.counted(bytes)));
            }
        }
        Ok(None)
    }

    fn counted(&mut self, bytes: Vec<u8>) -> Bytes {
        self.hash.update(&bytes);
        bytes.into()
    }
}
