//! Exports that are made each day, as operators see them.

use atelier_contract::pages::exports::{DailyExport, DailyExportFile};
use atelier_contract::time::timestamp;
use atelier_engine::records::{ExportPart, ExportRun};

const DAY_MS: i64 = 86_400_000;

/// An export with its files.
pub(crate) fn daily_export(run: ExportRun, parts: Vec<ExportPart>) -> DailyExport {
    let file = |part: ExportPart| DailyExportFile {
        name: part.name,
        sha256: part.hash,
        bytes: part.bytes,
        rows: part.entries,
    };
    DailyExport {
        day: timestamp(run.day * DAY_MS)[..10].to_owned(),
        kind: run.kind,
        rows: run.entries,
        files: parts.into_iter().map(file).collect(),
        begun_at: timestamp(run.created_ms),
        finished_at: run.ended_ms.map(timestamp),
        error: run.error,
    }
}
