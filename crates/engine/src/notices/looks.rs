//! What is looked for again and again on behalf of accounts: balances that fell below what somebody named, keys that end soon, jobs that
//! fail in a row. Limits, plans and callbacks are told of in the commits that make them so.

use atelier_contract::time::timestamp;
use atelier_store::{EndedJob, NewNotice};
use serde_json::json;

use crate::context::Context;

const DAY_MS: i64 = 86_400_000;
/// A key is told of when it ends within this.
const EXPIRES_MS: i64 = 7 * DAY_MS;
/// Rows that one look reads at once.
const AT_ONCE: i64 = 200;
/// Jobs of an account that are looked at: those that may have ended since the last look, and more.
const ENDED: i64 = 400;

pub(super) async fn look(context: &Context) -> Result<(), atelier_store::Error> {
    balances(context).await?;
    keys(context).await?;
    failures(context).await
}

/// Balances that are on another side of what a subscription names than they were.
async fn balances(context: &Context) -> Result<(), atelier_store::Error> {
    let (notices, mut after) = (context.store().deliveries().notices(), String::new());
    loop {
        let moved = notices.balances(&after, AT_ONCE).await?;
        let Some(last) = moved.last() else {
            return Ok(());
        };
        after.clone_from(&last.subscription_id);
        for seen in moved {
            let now_ms = context.now_ms();
            let facts =
                json!({ "balance": seen.balance.to_string(), "below": seen.below.to_string() });
            let notice = (seen.balance < seen.below).then(|| NewNotice {
                account_id: seen.account_id.clone(),
                kind: "balance_low",
                subject: seen.below.to_string(),
                window_ms: now_ms - now_ms.rem_euclid(DAY_MS),
                since_ms: now_ms,
                facts: facts.to_string(),
                now_ms,
            });
            notices.balance_moved(seen, notice, now_ms).await?;
        }
    }
}

/// Keys that end within a week and were meant to last longer.
async fn keys(context: &Context) -> Result<(), atelier_store::Error> {
    let notices = context.store().deliveries().notices();
    loop {
        let now_ms = context.now_ms();
        let ending = notices.expiring_keys(now_ms, EXPIRES_MS, AT_ONCE).await?;
        if ending.is_empty() {
            return Ok(());
        }
        let notice = |key: &atelier_store::ExpiringKey| NewNotice {
            account_id: key.account_id.clone(),
            kind: "key_expiring",
            subject: key.id.clone(),
            window_ms: key.expires_ms,
            since_ms: key.expires_ms - EXPIRES_MS,
            facts: json!({ "keyId": key.id, "expires": timestamp(key.expires_ms) }).to_string(),
            now_ms,
        };
        notices.note(ending.iter().map(notice).collect()).await?;
    }
}

/// Jobs that failed in a row, of accounts that want to know.
async fn failures(context: &Context) -> Result<(), atelier_store::Error> {
    let (notices, mut after) = (context.store().deliveries().notices(), String::new());
    loop {
        let watched = notices.watched_for_failures(&after, AT_ONCE).await?;
        let Some((last, _)) = watched.last() else {
            return Ok(());
        };
        after.clone_from(last);
        for (account_id, least) in watched {
            let ended = notices.latest_ended(&account_id, ENDED).await?;
            let runs = runs(&ended, least as usize);
            if runs.is_empty() {
                continue;
            }
            let own = notices.subscriptions(&account_id).await?;
            let (now_ms, mut found) = (context.now_ms(), Vec::new());
            for one in own.iter().filter(|one| {
                one.kind
                    .as_deref()
                    .is_none_or(|kind| kind == "jobs_failing")
            }) {
                // What was before anybody asked is nobody's business.
                let of_it = runs.iter().filter(|run| {
                    run.jobs.len() as i64 >= one.jobs && run.jobs[0].finished_ms >= one.created_ms
                });
                found.extend(of_it.map(|run| run.notice(&account_id, one.jobs, now_ms)));
            }
            if !found.is_empty() {
                notices.note(found).await?;
            }
        }
    }
}

/// Jobs that failed one after the other, the first one first.
struct FailureRun<'a> {
    jobs: Vec<&'a EndedJob>,
}

impl FailureRun<'_> {
    fn notice(&self, account_id: &str, jobs: i64, now_ms: i64) -> NewNotice {
        let first = self.jobs[0];
        let reached = self.jobs[jobs as usize - 1];
        let message = reached.message.as_deref().unwrap_or_default();
        let facts = json!({ "jobs": jobs.to_string(), "message": message, "first": first.job_id });
        NewNotice {
            account_id: account_id.to_owned(),
            kind: "jobs_failing",
            subject: format!("{jobs} {}", first.job_id),
            window_ms: first.finished_ms,
            since_ms: first.finished_ms,
            facts: facts.to_string(),
            now_ms,
        }
    }
}

/// Runs of at least so many failures among jobs that are given with the latest first. One whose beginning is not among them is none: it
/// was told of when it began.
fn runs(ended: &[EndedJob], least: usize) -> Vec<FailureRun<'_>> {
    let (mut found, mut jobs) = (Vec::new(), Vec::new());
    let whole = (ended.len() as i64) < ENDED;
    let mut begun = whole;
    for job in ended.iter().rev() {
        if job.failed {
            jobs.push(job);
            continue;
        }
        let run = std::mem::take(&mut jobs);
        if begun && run.len() >= least {
            found.push(FailureRun { jobs: run });
        }
        begun = true;
    }
    if begun && jobs.len() >= least {
        found.push(FailureRun { jobs });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(marks: &str) -> Vec<EndedJob> {
        let job = |(place, mark): (usize, char)| EndedJob {
            job_id: place.to_string(),
            finished_ms: place as i64,
            failed: mark == 'x',
            message: None,
        };
        let mut jobs: Vec<EndedJob> = marks.chars().enumerate().map(job).collect();
        jobs.reverse();
        jobs
    }

    fn found(marks: &str, least: usize) -> Vec<(String, usize)> {
        let ended = ended(marks);
        let runs = runs(&ended, least).into_iter();
        runs.map(|run| (run.jobs[0].job_id.clone(), run.jobs.len()))
            .collect()
    }

    #[test]
    fn failures_in_a_row_are_one_run_by_where_it_began() {
        assert_eq!(found("xxx", 3), [("0".into(), 3)]);
        assert_eq!(found(".xx.xxx", 3), [("4".into(), 3)]);
        assert_eq!(found("xxx.xxxx", 3), [("0".into(), 3), ("4".into(), 4)]);
        assert!(found("xx.xx.", 3).is_empty());
        assert!(found("", 3).is_empty());
    }

    #[test]
    fn a_run_whose_beginning_is_too_far_back_was_told_of_before() {
        let marks = "x".repeat(ENDED as usize);
        assert!(found(&marks, 3).is_empty());
    }
}
