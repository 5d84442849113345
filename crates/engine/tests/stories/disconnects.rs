//! Callers hang up whenever they like: a job that was accepted is worked on all the same, and at once.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use atelier_contract::JobState;
use atelier_engine::records::JobFilter;

use crate::rig::Rig;

/// Lets a call go on so often and drops it then.
async fn hang_up_after(turns: usize, call: impl Future) {
    let mut call = Box::pin(call);
    for _ in 0..turns {
        let over = poll_fn(|context| Poll::Ready(call.as_mut().poll(context).is_ready())).await;
        if over {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn a_job_accepted_while_its_caller_hung_up_is_worked_on_at_once() {
    let rig = Rig::new().await;
    let caller = rig.account(100).await;
    for turns in [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64] {
        hang_up_after(turns, rig.imagine(&caller, "fox")).await;
        rig.until_quiet().await;
    }
    rig.settle_down().await;
    let filter = JobFilter::page(1, 100);
    let listed = rig
        .engine
        .jobs()
        .list(Some(&caller.account_id), filter)
        .await;
    let page = listed.expect("a list");
    let (jobs, count) = (page.rows, page.total);
    assert!(count > 0, "some were accepted");
    let left: Vec<_> = jobs
        .iter()
        .filter(|job| job.state != JobState::Succeeded)
        .map(|job| (job.id.as_str(), job.state))
        .collect();
    assert!(left.is_empty(), "nobody works on {left:?} of {count}");
    rig.check_books().await;
}
