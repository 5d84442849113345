//! Reading jobs: by owner, by name, by filter; counts and usage.

use atelier_contract::{JobState, Speed};
use atelier_store::{Backlog, Guard, JobCounts, JobFilter, JobPage, Outcome, Settlement, UsageRow};

use crate::fill::Fill;
use crate::rig::{NOW, Rig, quota};

each_db!(
    a_job_is_found_by_its_owner_only,
    a_named_job_is_found_by_its_owner_once_it_succeeded,
    jobs_are_listed_by_every_filter,
    jobs_are_found_by_their_words_and_by_what_they_follow,
    what_happened_lately_is_told_newest_first,
    usage_of_any_span_is_the_sum_of_its_jobs,
    counts_tell_what_there_is_to_do,
    usage_sums_by_day_and_operation,
    durations_are_of_the_latest_successes,
    the_store_answers_a_ping,
);

async fn a_job_is_found_by_its_owner_only(rig: Rig) {
    let (mine, theirs) = (rig.account(10, 10).await, rig.account(10, 10).await);
    let id = rig.waiting(&mine, 1).await;
    let found = rig
        .store
        .jobs()
        .find(&mine, &id)
        .await
        .expect("a read")
        .expect("mine");
    assert_eq!(found, rig.job(&id).await);
    assert_eq!(
        rig.store.jobs().find(&theirs, &id).await.expect("a read"),
        None
    );
    assert_eq!(
        rig.store
            .jobs()
            .find(&mine, "unknown")
            .await
            .expect("a read"),
        None
    );
    assert_eq!(
        rig.store
            .jobs()
            .find_of_any_account("unknown")
            .await
            .expect("a read"),
        None
    );
    let another = rig.waiting(&theirs, 1).await;
    let ids = [id.clone(), "unknown".into(), another.clone()];
    let several = rig
        .store
        .jobs()
        .find_many_of_any_account(&ids)
        .await
        .expect("a read");
    let mut several: Vec<String> = several.into_iter().map(|row| row.id).collect();
    several.sort();
    assert_eq!(several, [id.clone(), another]);
    let own = rig
        .store
        .jobs()
        .find_many(&mine, &ids)
        .await
        .expect("a read");
    let own: Vec<String> = own.into_iter().map(|row| row.id).collect();
    assert_eq!(own, [id], "nobody else's");
}

/// The promise: usage is exact for any span, though whole hours were added up before.
async fn usage_of_any_span_is_the_sum_of_its_jobs(rig: Rig) {
    let account = rig.account(10, 10_000).await;
    let fill = Fill {
        account_id: &account,
        name: "used",
        jobs: 300,
        state: 2,
        lane: "",
        apart_ms: 1_000_000,
        ..Fill::default()
    };
    fill.into(&rig.url).await;
    for (from, to) in [(0, 300), (1, 2), (7, 8), (10, 250), (3, 9)] {
        let (from_ms, to_ms) = (NOW - to * 1_000_000, NOW - from * 1_000_000);
        let rows = rig.store.statistics().usage(&account, from_ms, to_ms).await;
        let rows = rows.expect("usage");
        let jobs: i64 = rows.iter().map(|row| row.jobs).sum();
        assert_eq!(jobs, to - from, "from {from} to {to}");
    }
}

fn named(rig: &Rig, job_id: &str, alias: &str) -> Settlement {
    Settlement {
        outcome: Outcome::Succeeded {
            output: "{}".into(),
            alias: Some(alias.into()),
            quota: quota(1),
            assets: Vec::new(),
            hashes: None,
        },
        ..rig.success(job_id, Guard::Unfinished, 1)
    }
}

async fn a_named_job_is_found_by_its_owner_once_it_succeeded(rig: Rig) {
    let (mine, theirs) = (rig.account(10, 10).await, rig.account(10, 10).await);
    let (one, two) = (rig.waiting(&mine, 1).await, rig.waiting(&mine, 1).await);
    let names = ["fox".to_owned(), "owl".to_owned(), "it's".to_owned()];
    assert!(
        rig.store
            .jobs()
            .by_alias(&mine, &names)
            .await
            .expect("rows")
            .is_empty()
    );
    rig.settle(named(&rig, &one, "fox")).await;
    rig.settle(named(&rig, &two, "it's")).await;
    let found = rig
        .store
        .jobs()
        .by_alias(&mine, &names)
        .await
        .expect("rows");
    assert_eq!(
        found.iter().map(|job| &job.id).collect::<Vec<_>>(),
        [&one, &two]
    );
    assert!(
        rig.store
            .jobs()
            .by_alias(&theirs, &names)
            .await
            .expect("rows")
            .is_empty()
    );
    assert!(
        rig.store
            .jobs()
            .by_alias(&mine, &[])
            .await
            .expect("rows")
            .is_empty()
    );
}

async fn jobs_are_listed_by_every_filter(rig: Rig) {
    let (mine, theirs) = (rig.account(100, 100).await, rig.account(100, 100).await);
    let mut ids = Vec::new();
    for number in 0..6 {
        let mut accept = rig.accept(if number == 5 { &theirs } else { &mine }, 1);
        accept.job.created_ms = NOW + number;
        accept.job.operation = if number % 2 == 0 {
            "artgen.imagine"
        } else {
            "artgen.blend"
        }
        .into();
        ids.push(accept.job.id.clone());
        rig.take(accept).await;
    }
    rig.settle(rig.success(&ids[0], Guard::Unfinished, 1)).await;
    let base = JobFilter {
        account_id: Some(mine.clone()),
        limit: 10,
        ..Default::default()
    };
    let list = async |filter: JobFilter| {
        let JobPage { rows, total, .. } = rig.store.jobs().list(filter).await.expect("a page");
        let rows: Vec<String> = rows.into_iter().map(|row| row.id).collect();
        (rows, total)
    };
    let newest_first: Vec<String> = ids[..5].iter().rev().cloned().collect();
    assert_eq!(list(base.clone()).await, (newest_first.clone(), 5));
    let page = JobFilter {
        offset: 1,
        limit: 2,
        ..base.clone()
    };
    assert_eq!(list(page).await, (newest_first[1..3].to_vec(), 5));
    let up = JobFilter {
        ascending: true,
        ..base.clone()
    };
    assert_eq!(list(up).await, (ids[..5].to_vec(), 5));
    let blends = JobFilter {
        operations: vec!["artgen.blend".into()],
        ..base.clone()
    };
    assert_eq!(
        list(blends).await,
        (vec![ids[3].clone(), ids[1].clone()], 2)
    );
    let done = JobFilter {
        state: Some(JobState::Succeeded),
        ..base.clone()
    };
    assert_eq!(list(done).await, (vec![ids[0].clone()], 1));
    let recent = JobFilter {
        created_from_ms: Some(NOW + 4),
        ..base
    };
    assert_eq!(list(recent).await, (vec![ids[4].clone()], 1));
    let all = JobFilter {
        limit: 10,
        ..Default::default()
    };
    assert_eq!(list(all).await.1, 6);
}

async fn jobs_are_found_by_their_words_and_by_what_they_follow(rig: Rig) {
    let account = rig.account(100, 100).await;
    let mut ids = Vec::new();
    for (number, request) in [
        r#"{"prompt":"A red Fox in the rain","speed":"fast"}"#,
        r#"{"user_prompt":"the FOX again"}"#,
        r#"{"prompt":"50 % of_a lake","note":"fox"}"#,
    ]
    .into_iter()
    .enumerate()
    {
        let mut accept = rig.accept(&account, 1);
        accept.job.created_ms = NOW + number as i64;
        accept.job.request = request.into();
        accept.job.parent_id = ids.first().cloned();
        ids.push(accept.job.id.clone());
        rig.take(accept).await;
    }
    rig.settle(rig.success(&ids[1], Guard::Unfinished, 1)).await;
    let list = async |text: Option<&str>, parent: Option<&str>, open: bool| {
        let filter = JobFilter {
            account_id: Some(account.clone()),
            text: text.map(str::to_owned),
            parent_id: parent.map(str::to_owned),
            open,
            limit: 10,
            ..Default::default()
        };
        let JobPage { rows, total, .. } = rig.store.jobs().list(filter).await.expect("a page");
        assert_eq!(rows.len() as i64, total);
        rows.into_iter().map(|row| row.id).collect::<Vec<_>>()
    };
    let pick = |places: &[usize]| -> Vec<String> {
        places.iter().map(|place| ids[*place].clone()).collect()
    };
    assert_eq!(list(Some("fox"), None, false).await, pick(&[1, 0]));
    assert_eq!(list(Some("fox"), None, true).await, pick(&[0]));
    assert_eq!(list(Some("% of_"), None, false).await, pick(&[2]));
    assert_eq!(list(Some("x%r"), None, false).await, pick(&[]));
    assert_eq!(list(Some(&ids[2]), None, false).await, pick(&[2]));
    assert_eq!(list(None, Some(&ids[0]), false).await, pick(&[2, 1]));
    assert_eq!(list(None, None, true).await, pick(&[2, 0]));
}

async fn what_happened_lately_is_told_newest_first(rig: Rig) {
    let account = rig.account(100, 100).await;
    let owed = rig.store.statistics().backlog().await;
    assert_eq!(owed.expect("sums"), Backlog::default());
    let mut ids = Vec::new();
    for number in 0..3 {
        let mut accept = rig.accept(&account, 2);
        accept.job.created_ms = NOW + number;
        accept.job.hook_url = Some("https://example.com/".into());
        ids.push(accept.job.id.clone());
        rig.take(accept).await;
    }
    let at = |settlement: Settlement, now_ms: i64| Settlement {
        now_ms,
        ..settlement
    };
    rig.settle(at(rig.success(&ids[0], Guard::Unfinished, 1), NOW + 1_000))
        .await;
    rig.settle(at(rig.failure(&ids[1], Guard::Unfinished), NOW + 2_000))
        .await;
    let ended = rig.store.statistics().ended_since(NOW, 10).await;
    let ended = ended.expect("rows");
    let told: Vec<(JobState, i64)> = ended
        .iter()
        .map(|row| (row.state, row.finished_ms))
        .collect();
    assert_eq!(
        told,
        [
            (JobState::Failed, NOW + 2_000),
            (JobState::Succeeded, NOW + 1_000)
        ]
    );
    let later = rig.store.statistics().ended_since(NOW + 1_500, 10).await;
    assert_eq!(later.expect("rows").len(), 1);
    let owed = rig.store.statistics().backlog().await.expect("sums");
    assert_eq!(owed.held, quota(2));
    assert_eq!(owed.oldest_waiting_ms, Some(NOW + 2));
    assert!(owed.oldest_callback_ms.is_some());
    assert_eq!(owed.failing_receivers, 0);
    let lags = rig.store.statistics().callback_lags(NOW, 10).await;
    assert_eq!(lags.expect("lags"), Vec::<i64>::new());
    let running = rig.running(&account, 1).await;
    let fence = rig.job(&running).await.fence;
    assert!(rig.begin(&running, fence, "t1").await);
    let attempts = rig
        .store
        .attempts()
        .list(None, &running)
        .await
        .expect("attempts");
    assert_eq!(attempts.len(), 1);
    assert_eq!(attempts[0].ended_ms, None);
    assert!(
        rig.store
            .attempts()
            .list(Some(&account), "unknown")
            .await
            .expect("none")
            .is_empty()
    );
}

async fn counts_tell_what_there_is_to_do(rig: Rig) {
    let account = rig.account(10, 10).await;
    assert_eq!(
        rig.store.statistics().counts().await.expect("counts"),
        JobCounts::default()
    );
    rig.waiting(&account, 1).await;
    rig.running(&account, 1).await;
    let mut hooked = rig.accept(&account, 1);
    hooked.job.hook_url = Some("https://example.com/".into());
    let id = hooked.job.id.clone();
    rig.take(hooked).await;
    rig.settle(rig.failure(&id, Guard::Unfinished)).await;
    let counts = rig.store.statistics().counts().await.expect("counts");
    assert_eq!(
        counts,
        JobCounts {
            waiting: 1,
            running: 1,
            deliveries_due: 1
        }
    );
}

async fn usage_sums_by_day_and_operation(rig: Rig) {
    let account = rig.account(100, 100).await;
    let day_ms = 86_400_000;
    let day = NOW / day_ms;
    for (spent, at) in [
        (3, day * day_ms),
        (4, (day + 1) * day_ms - 1),
        (5, (day + 1) * day_ms),
    ] {
        let id = rig.waiting(&account, 9).await;
        let settlement = rig.success(&id, Guard::Unfinished, spent);
        rig.settle(Settlement {
            now_ms: at,
            ..settlement
        })
        .await;
    }
    let failed = rig.waiting(&account, 9).await;
    rig.settle(rig.failure(&failed, Guard::Unfinished)).await;
    let row = |day, jobs, amount| UsageRow {
        day,
        operation: "artgen.imagine".into(),
        jobs,
        quota: quota(amount),
    };
    let usage = rig
        .store
        .statistics()
        .usage(&account, day * day_ms, (day + 2) * day_ms)
        .await
        .expect("rows");
    assert_eq!(usage, [row(day, 2, 7), row(day + 1, 1, 5)]);
    let usage = rig
        .store
        .statistics()
        .usage(&account, 0, (day + 1) * day_ms)
        .await
        .expect("rows");
    assert_eq!(usage, [row(day, 2, 7)], "the end is not included");
}

async fn durations_are_of_the_latest_successes(rig: Rig) {
    let account = rig.account(100, 100).await;
    for duration in [1_000, 2_000, 3_000] {
        let id = rig.running(&account, 1).await;
        let settlement = rig.success(&id, Guard::Fence(1), 1);
        rig.settle(Settlement {
            now_ms: NOW + duration,
            ..settlement
        })
        .await;
    }
    let operations = ["artgen.imagine".to_owned(), "artgen.blend".to_owned()];
    let fast = rig
        .store
        .statistics()
        .recent_durations(&operations, Speed::Fast, 2)
        .await
        .expect("numbers");
    assert_eq!(fast, [3_000, 2_000]);
    let relax = rig
        .store
        .statistics()
        .recent_durations(&operations, Speed::Relax, 2)
        .await
        .expect("numbers");
    assert!(relax.is_empty());
}

async fn the_store_answers_a_ping(rig: Rig) {
    rig.store.ping().await.expect("an answer");
}
