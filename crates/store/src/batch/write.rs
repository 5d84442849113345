//! Writing a decided batch: one statement for each table, most of them at once.

use crate::batch::attempts::INSERT_ATTEMPTS;
use crate::batch::calls;
use crate::batch::decide::Decisions;
use crate::batch::key_windows::UPSERT_WINDOWS;
use crate::batch::lines::AttemptEnd;
use crate::batch::notices;
use crate::changes::asset;
use crate::db::{Conn, StatementBatch, args, json};
use crate::{Error, Result};

/// Writes what settlements cost, with their files: whoever takes both takes costs before files, so that nodes do not wait for each
/// other in a circle.
pub(crate) async fn costs(conn: &mut Conn, decisions: &Decisions<'_>) -> Result<()> {
    if decisions.costs.is_empty() {
        return Ok(());
    }
    decisions.costs.write(conn).await?;
    let files = asset::newest(&decisions.assets);
    if !files.is_empty() {
        conn.run_lines(&asset::recording(0), &files).await?;
    }
    Ok(())
}

/// Writes everything else that a batch decided.
pub(crate) async fn all(conn: &mut Conn, decisions: &Decisions<'_>) -> Result<()> {
    let changed = decisions.books.changed();
    let ends: Vec<AttemptEnd<'_>> = decisions.finals.iter().filter_map(AttemptEnd::of).collect();
    let files = asset::newest(&decisions.assets);
    let mut writes = StatementBatch::default();
    // First, so that its count is.
    writes.add(UPDATE_FINALS, &decisions.finals);
    writes.add(INSERT_JOBS, &decisions.new_jobs);
    writes.add(INSERT_ATTEMPTS, &decisions.new_attempts);
    changed.add_to(&mut writes);
    let windows = decisions.windows.changed();
    writes.add(UPSERT_WINDOWS, &windows);
    writes.add(END_ATTEMPTS, &ends);
    writes.add(INSERT_DELIVERIES, &decisions.deliveries);
    if decisions.costs.is_empty() {
        writes.add(asset::recording(0), &files);
    }
    let counts = conn.write(&writes).await?;
    let finals = decisions.finals.len() as u64;
    if finals > 0 && counts.first() != Some(&finals) {
        return Err(Error::Conflict("a job to be settled is not there".into()));
    }
    calls::write(conn, &decisions.calls, &decisions.new_calls).await?;
    if !decisions.windows.notices().is_empty() {
        notices::insert(conn, decisions.windows.notices()).await?;
    }
    if !decisions.new_bulks.is_empty() {
        let lines = json(&decisions.new_bulks);
        conn.run(INSERT_BULKS, args![&lines]).await?;
    }
    Ok(())
}

const INSERT_JOBS: &str = "INSERT INTO job (id, account_id, operation, queue, state, speed, progress, \
     request, request_bytes, price, quota, parent_id, lane, follows, hook_url, created_ms, started_ms, deadline_ms, updated_ms, \
     revision, turn_ms, not_before_ms, fence, lease_owner, lease_until_ms, tries, attempt_id, worker, batched, model, \
     model_revision, price_lines, counted_ms, key_id, key_above, member_id, used_model, tags, end_user) \
     SELECT v.id, v.account_id, v.operation, v.queue, v.state, v.speed, 0, v.request, v.request_bytes, v.price, 0, \
     v.parent_id, v.lane, v.follows, v.hook_url, v.created_ms, v.started_ms, v.deadline_ms, v.created_ms, 1, v.turn_ms, \
     0, v.fence, v.lease_owner, v.lease_until_ms, v.tries, v.attempt_id, v.worker, v.batched, v.model, v.model_revision, v.price_lines, \
     v.counted_ms, v.key_id, v.key_above, v.member_id, v.used_model, v.tags, v.end_user \
     FROM {lines:id text, account_id text, operation text, queue text, state bigint, speed bigint, \
     request text, request_bytes bigint, price bigint, parent_id text, lane text, follows text, hook_url text, created_ms bigint, started_ms bigint, \
     deadline_ms bigint, turn_ms bigint, fence bigint, lease_owner text, lease_until_ms bigint, tries bigint, attempt_id text, worker text, \
     batched bigint, model text, model_revision bigint, price_lines text, counted_ms bigint, \
     key_id text, key_above text, member_id text, used_model text, tags text, end_user text}";

const INSERT_BULKS: &str = "INSERT INTO bulk (id, account_id, items, bytes, created_ms) \
     SELECT v.id, v.account_id, v.items, v.bytes, v.created_ms \
     FROM {rows:$1 id text, account_id text, items text, bytes bigint, created_ms bigint}";

const UPDATE_FINALS: &str = "UPDATE job SET state = v.state, progress = v.progress, \
     message = v.message, output = v.output, alias = v.alias, quota = v.quota, \
     started_ms = v.started_ms, finished_ms = v.finished_ms, deadline_ms = v.deadline_ms, \
     updated_ms = v.finished_ms, revision = v.revision, fault = v.fault, lease_owner = NULL, lease_until_ms = NULL \
     FROM {lines:id text, state bigint, progress bigint, message text, output text, alias text, \
     quota bigint, started_ms bigint, finished_ms bigint, deadline_ms bigint, revision bigint, fault text} \
     WHERE job.id = v.id";

const END_ATTEMPTS: &str = "UPDATE attempt SET state = v.attempt_state, ended_ms = v.finished_ms \
     FROM {lines:attempt_id text, attempt_state text, finished_ms bigint} \
     WHERE attempt.id = v.attempt_id AND CASE WHEN attempt.ended_ms IS NULL THEN attempt.id END = v.attempt_id";

const INSERT_DELIVERIES: &str = "INSERT INTO delivery (id, job_id, account_id, url, host, state, \
     attempts, next_ms, created_ms) \
     SELECT v.id, v.job_id, v.account_id, v.url, v.host, v.state, v.attempts, v.next_ms, v.created_ms \
     FROM {lines:id text, job_id text, account_id text, url text, host text, state text, attempts bigint, \
     next_ms bigint, created_ms bigint}";
