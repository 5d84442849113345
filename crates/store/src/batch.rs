//! A batch of acceptances and settlements inside one transaction: what they need is read at once, decided in
//! memory in the order of arrival, and written with one statement for each table.

pub(crate) mod attempts;
pub(crate) mod books;
mod calls;
mod costs;
mod decide;
mod lines;
pub(crate) mod tries;
mod write;

use std::collections::HashMap;

use crate::Result;
use crate::db::{Conn, args, json};
use crate::jobs::accept::{Accept, Accepted};
use crate::jobs::bulk::{BulkAccepted, NewBulk};
use crate::jobs::row::{JOB_COLUMNS, JobRow};
use crate::jobs::settle::{Ending, Settled};
use crate::pending::Pending;

use books::Books;
use decide::Decisions;

/// Decides and writes a batch; the answers are left with each change.
pub(crate) async fn run(
    conn: &mut Conn,
    accepts: &mut [Pending<Accept, Accepted>],
    bulks: &mut [Pending<NewBulk, BulkAccepted>],
    settles: &mut [Pending<Ending, Settled>],
) -> Result<()> {
    let settle_ids: Vec<&str> = settles
        .iter()
        .map(|one| &*one.input.settlement.job_id)
        .collect();
    let single = accepts.iter().map(|one| &*one.input.job.account_id);
    let together = bulks.iter().map(|one| &*one.input.account_id);
    let account_ids: Vec<&str> = single.chain(together).collect();
    let books = Books::load(conn, &account_ids, &settle_ids).await?;
    let jobs = load_jobs(conn, &settle_ids).await?;
    let calls = calls::load(conn, accepts, bulks).await?;

    let mut decisions = Decisions::new(books, jobs, calls);
    let settled: Vec<Settled> = settles
        .iter()
        .map(|one| decisions.settle(&one.input))
        .collect();
    let accepted: Vec<Accepted> = accepts
        .iter()
        .map(|one| decisions.accept(&one.input))
        .collect();
    let bulk_accepted: Vec<BulkAccepted> = bulks
        .iter()
        .map(|one| decisions.accept_bulk(&one.input))
        .collect();
    write::all(conn, &decisions).await?;

    for (one, answer) in settles.iter_mut().zip(settled) {
        one.answer = Some(answer);
    }
    for (one, answer) in accepts.iter_mut().zip(accepted) {
        one.answer = Some(answer);
    }
    for (one, answer) in bulks.iter_mut().zip(bulk_accepted) {
        one.answer = Some(answer);
    }
    Ok(())
}

async fn load_jobs(conn: &mut Conn, ids: &[&str]) -> Result<HashMap<String, JobRow>> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let sql =
        format!("SELECT {JOB_COLUMNS} FROM job WHERE id IN ({{list:$1}}) ORDER BY id {{lock}}");
    let rows: Vec<JobRow> = conn.all(&sql, args![&json(ids)]).await?;
    Ok(rows.into_iter().map(|row| (row.id.clone(), row)).collect())
}
