//! A batch of acceptances and settlements inside one transaction: what they need is read at once, decided in
//! memory in the order of arrival, and written with one statement for each table.

pub(crate) mod attempts;
mod calls;
pub(crate) mod costs;
pub(crate) mod credits;
mod decide;
pub(crate) mod key_windows;
pub(crate) mod ledger_batch;
mod lines;
pub(crate) mod notices;
mod receipts;
pub(crate) mod tries;
mod write;

use std::collections::{BTreeSet, HashMap};

use crate::Result;
use crate::changes::accept::{AcceptOutcome, Acceptance};
use crate::changes::attempt::Attempt;
use crate::changes::bulk::{BulkOutcome, NewBulk};
use crate::changes::settle::{SettleOutcome, SettlementChange};
use crate::db::{Conn, PrefetchQuery, args, json};
use crate::jobs::row::{JOB_COLUMNS, JobRow};
use crate::pending::PendingChange;

use attempts::Workload;
use decide::Decisions;
use key_windows::KeyWindows;
use ledger_batch::LedgerBatch;

/// What is decided together.
pub(crate) struct JointChanges<'a> {
    pub(crate) accepts: &'a mut [PendingChange<Acceptance, AcceptOutcome>],
    pub(crate) bulks: &'a mut [PendingChange<NewBulk, BulkOutcome>],
    pub(crate) settles: &'a mut [PendingChange<SettlementChange, SettleOutcome>],
}

/// Decides and writes a batch; the answers are left with each change. What workers have afterwards, those of these later attempts
/// as well. Rows that several nodes change are locked in one order: accounts, jobs that end, costs and files, workers.
pub(crate) async fn run(
    conn: &mut Conn,
    changes: JointChanges<'_>,
    later: &[&Attempt],
) -> Result<Workload> {
    let JointChanges {
        accepts,
        bulks,
        settles,
    } = changes;
    let (account_ids, settle_ids) = affected_ids(accepts, bulks, settles);
    let books = LedgerBatch::load(conn, &account_ids, &settle_ids).await?;
    let jobs = load_jobs(conn, &settle_ids).await?;
    let calls = calls::load(conn, accepts, bulks).await?;
    let windows = KeyWindows::load(conn, &books, (accepts, bulks), &jobs).await?;

    let mut decisions = Decisions::new(books, jobs, calls, windows);
    let settled: Vec<SettleOutcome> = settles
        .iter()
        .map(|one| decisions.settle(&one.input))
        .collect();
    write::costs(conn, &decisions).await?;
    let together = bulks.iter().flat_map(|one| one.input.accepts());
    let all = accepts.iter().map(|one| &one.input).chain(together);
    let firsts = all.filter_map(|accept| accept.attempt.as_ref());
    let attempts: Vec<&Attempt> = firsts.chain(later.iter().copied()).collect();
    decisions.workload = Workload::read(conn, &attempts).await?;
    let accepted: Vec<AcceptOutcome> = accepts
        .iter()
        .map(|one| decisions.accept(&one.input))
        .collect();
    let bulk_accepted: Vec<BulkOutcome> = bulks
        .iter()
        .map(|one| decisions.accept_bulk(&one.input))
        .collect();
    write::all(conn, &decisions).await?;
    receipts::write(conn, std::mem::take(&mut decisions.receipts)).await?;
    let workload = decisions.workload;

    for (one, answer) in settles.iter_mut().zip(settled) {
        one.answer = Some(answer);
    }
    for (one, answer) in accepts.iter_mut().zip(accepted) {
        one.answer = Some(answer);
    }
    for (one, answer) in bulks.iter_mut().zip(bulk_accepted) {
        one.answer = Some(answer);
    }
    Ok(workload)
}

/// What [`run`] will ask first.
pub(crate) fn prefetch_queries(
    accepts: &[PendingChange<Acceptance, AcceptOutcome>],
    bulks: &[PendingChange<NewBulk, BulkOutcome>],
    settles: &[PendingChange<SettlementChange, SettleOutcome>],
) -> Vec<PrefetchQuery> {
    let (account_ids, settle_ids) = affected_ids(accepts, bulks, settles);
    let mut questions = LedgerBatch::questions(&account_ids, &settle_ids);
    if !settle_ids.is_empty() {
        questions.push(PrefetchQuery {
            name: "jobs",
            sql: jobs_sql().into(),
            values: vec![json(&settle_ids)],
        });
    }
    questions
}

/// The accounts of new jobs, and the jobs that are to end.
fn affected_ids<'a>(
    accepts: &'a [PendingChange<Acceptance, AcceptOutcome>],
    bulks: &'a [PendingChange<NewBulk, BulkOutcome>],
    settles: &'a [PendingChange<SettlementChange, SettleOutcome>],
) -> (Vec<&'a str>, Vec<&'a str>) {
    let single = accepts.iter().map(|one| &*one.input.job.account_id);
    let together = bulks.iter().map(|one| &*one.input.account_id);
    let account_ids: BTreeSet<&str> = single.chain(together).collect();
    let ending = settles.iter().map(|one| &*one.input.settlement.job_id);
    (account_ids.into_iter().collect(), ending.collect())
}

async fn load_jobs(conn: &mut Conn, ids: &[&str]) -> Result<HashMap<String, JobRow>> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let rows: Vec<JobRow> = conn.all(&jobs_sql(), args![&json(ids)]).await?;
    Ok(rows.into_iter().map(|row| (row.id.clone(), row)).collect())
}

fn jobs_sql() -> String {
    format!("SELECT {JOB_COLUMNS} FROM job WHERE id IN ({{list:$1}}) ORDER BY id {{lock}}")
}
