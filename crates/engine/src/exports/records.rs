//! Rows of the store as they are exported.

use std::collections::BTreeMap;

use atelier_contract::Quota;
use atelier_contract::pages::exports::{ExportedJob, ExportedMovement, ExportedUsage};
use atelier_contract::time::timestamp;
use atelier_store::{JobExport, LedgerExport, UsageExport};

const HOUR_MS: i64 = 3_600_000;

pub(super) fn job(row: JobExport, account_id: Option<String>) -> ExportedJob {
    let tags = row.tags.as_deref();
    let tags: Option<BTreeMap<String, String>> =
        tags.and_then(|tags| serde_json::from_str(tags).ok());
    ExportedJob {
        account_id,
        job_id: row.id,
        operation: row.operation,
        model: row.model,
        status: row.state.word(),
        created_at: timestamp(row.created_ms),
        started_at: row.started_ms.map(timestamp),
        finished_at: row.finished_ms.map(timestamp),
        quota: row.quota,
        held: if row.state.is_final() {
            Quota::ZERO
        } else {
            row.price
        },
        key_id: row.key_id,
        member_id: row.member_id,
        user: row.user,
        tags: tags.unwrap_or_default(),
        parent_job_id: row.parent_id,
        message: row.message,
        prompt: row.prompt,
    }
}

pub(super) fn movement(row: LedgerExport, account_id: Option<String>) -> ExportedMovement {
    ExportedMovement {
        account_id,
        id: row.id,
        time: timestamp(row.time_ms),
        kind: row.cause.unwrap_or(row.kind),
        amount: row.amount,
        change: row.balance_delta,
        freeze_change: row.frozen_delta,
        balance: row.balance_after,
        freeze_balance: row.frozen_after,
        job_id: row.job_id,
        reason: row.reason,
        key_id: row.key_id,
        member_id: row.member_id,
        model: row.model,
    }
}

pub(super) fn usage(row: UsageExport, account_id: Option<String>) -> ExportedUsage {
    let named = |text: String| Some(text).filter(|text| !text.is_empty());
    ExportedUsage {
        account_id,
        hour: timestamp(row.hour * HOUR_MS),
        key_id: named(row.key_id),
        member_id: named(row.member_id),
        model: named(row.model),
        operation: row.operation,
        jobs: row.jobs,
        quota: row.quota,
    }
}
