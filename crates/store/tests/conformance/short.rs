//! Whether somebody works on a job is told apart from who has leased it; long work gives way to short work of its account.

use atelier_contract::{JobState, Speed};
use atelier_store::{
    Guard, JobFilter, Lease, LeaseRequest, ProgressNote, RequeueRequest, SettleOutcome, ShortWork,
    YieldRule, work_kind,
};

use crate::rig::{NOW, Rig};

each_db!(
    a_leased_job_waits_until_somebody_works_on_it,
    a_ticket_is_the_vendors_word,
    the_end_tells_when_the_work_began,
    long_work_gives_way_to_short_work_of_its_account,
    one_of_many_gives_way_like_long_work,
);

/// A job that is leased and that nobody works on.
async fn leased(rig: &Rig, account: &str) -> String {
    let mut accept = rig.accept(account, 1);
    accept.lease = Some(Lease {
        owner: "node".into(),
        until_ms: NOW + 30_000,
    });
    let id = accept.job.id.clone();
    rig.take(accept).await;
    id
}

/// What single jobs, lists, marks and counts say of the only job there is: waiting and running ones.
async fn told(rig: &Rig, account: &str, id: &str) -> (JobState, [i64; 2]) {
    let state = rig.job(id).await.shown_state();
    let marks = rig
        .store
        .jobs()
        .summaries(account, NOW)
        .await
        .expect("marks");
    assert_eq!(marks[0].state, state, "the mark");
    let mut totals = [0, 0];
    let states = [JobState::Waiting, JobState::Running];
    for (total, state) in totals.iter_mut().zip(states) {
        for account_id in [None, Some(account.to_owned())] {
            let filter = JobFilter {
                account_id,
                state: Some(state),
                limit: 10,
                ..JobFilter::default()
            };
            let page = rig.store.jobs().list(filter).await.expect("a list");
            assert_eq!(page.rows.len() as i64, page.total);
            *total = page.total;
        }
    }
    let counts = rig.store.statistics().counts().await.expect("counts");
    assert_eq!([counts.waiting, counts.running], totals);
    (state, totals)
}

async fn a_leased_job_waits_until_somebody_works_on_it(rig: Rig) {
    let account = rig.account(10, 10).await;
    let id = leased(&rig, &account).await;
    assert_eq!(told(&rig, &account, &id).await, (JobState::Waiting, [1, 0]));
    let note = |fence| ProgressNote {
        job_id: id.clone(),
        fence,
        progress: 0,
        began_ms: Some(NOW + 7),
    };
    let write = async |fence| {
        let written = rig
            .store
            .attempts()
            .write_progress(vec![note(fence)], NOW + 9)
            .await;
        written.expect("written");
    };
    write(2).await;
    assert_eq!(told(&rig, &account, &id).await, (JobState::Waiting, [1, 0]));
    let before = rig.job(&id).await;
    write(1).await;
    assert_eq!(told(&rig, &account, &id).await, (JobState::Running, [0, 1]));
    let job = rig.job(&id).await;
    assert_eq!(
        (job.started_ms, job.updated_ms, job.revision),
        (Some(NOW + 7), NOW + 9, before.revision + 1)
    );
    write(1).await;
    assert_eq!(rig.job(&id).await, job, "told once");
    // A retried job waits again, also when it has been leased again.
    let requeue = RequeueRequest {
        job_id: id.clone(),
        fence: 1,
        not_before_ms: 0,
        why: "it failed".into(),
        now_ms: NOW + 10,
        attempt_state: "rejected",
        counts: true,
    };
    assert!(
        rig.store
            .attempts()
            .requeue(requeue)
            .await
            .expect("an answer")
    );
    assert_eq!(told(&rig, &account, &id).await, (JobState::Waiting, [1, 0]));
    assert_eq!(rig.lease("node", NOW + 11, 1).await.len(), 1);
    assert_eq!(told(&rig, &account, &id).await, (JobState::Waiting, [1, 0]));
    assert_eq!(rig.job(&id).await.started_ms, None);
}

async fn a_ticket_is_the_vendors_word(rig: Rig) {
    let account = rig.account(10, 10).await;
    let id = leased(&rig, &account).await;
    assert!(rig.begin(&id, 1, "attempt-t").await);
    assert_eq!(told(&rig, &account, &id).await, (JobState::Waiting, [1, 0]));
    let ticket = |now_ms| {
        rig.store
            .attempts()
            .record_ticket(&id, 1, "attempt-t", "{}", now_ms)
    };
    assert!(ticket(NOW + 3).await.expect("an answer"));
    assert_eq!(told(&rig, &account, &id).await, (JobState::Running, [0, 1]));
    let job = rig.job(&id).await;
    assert_eq!(job.started_ms, Some(NOW + 3));
    assert!(ticket(NOW + 4).await.expect("an answer"));
    assert_eq!(rig.job(&id).await.started_ms, Some(NOW + 3));
}

async fn the_end_tells_when_the_work_began(rig: Rig) {
    let account = rig.account(10, 10).await;
    for began_ms in [None, Some(NOW + 3)] {
        let id = leased(&rig, &account).await;
        let mut success = rig.success(&id, Guard::Fence(1), 1);
        success.began_ms = began_ms;
        let SettleOutcome::Done(row) = rig.settle(success).await else {
            panic!("it ends");
        };
        assert_eq!(row.started_ms, began_ms);
        assert_eq!(rig.job(&id).await, row);
    }
}

const VIDEO: &str = "vidgen.generations";

async fn video(rig: &Rig, account: &str) -> String {
    let mut accept = rig.accept(account, 1);
    accept.job.operation = VIDEO.into();
    let id = accept.job.id.clone();
    rig.take(accept).await;
    id
}

fn short(since_ms: i64) -> ShortWork {
    ShortWork {
        operations: vec!["artgen.imagine", "artgen.blend"],
        lanes: vec![String::new(), "at:b".into()],
        since_ms,
    }
}

/// Leases videos alone, as they give way, and gives them back.
async fn videos(rig: &Rig, since_ms: i64, now_ms: i64) -> Vec<String> {
    let request = LeaseRequest {
        owner: "node".into(),
        until_ms: now_ms + 30_000,
        now_ms,
        ahead_ms: 0,
        kinds: Vec::new(),
        narrow: vec![YieldRule {
            kind: work_kind(VIDEO, Speed::Fast, ""),
            long: true,
            short: short(since_ms),
        }],
        limit: 10,
    };
    let rows = rig.store.queue().lease_next(request).await.expect("leases");
    for row in &rows {
        let requeue = RequeueRequest {
            job_id: row.id.clone(),
            fence: row.fence,
            not_before_ms: 0,
            why: "looked".into(),
            now_ms,
            attempt_state: "lost",
            counts: false,
        };
        assert!(
            rig.store
                .attempts()
                .requeue(requeue)
                .await
                .expect("given back")
        );
    }
    rows.into_iter().map(|row| row.id).collect()
}

async fn long_work_gives_way_to_short_work_of_its_account(rig: Rig) {
    let (account, other) = (rig.account(50, 50).await, rig.account(50, 50).await);
    let (one, two) = (video(&rig, &account).await, video(&rig, &other).await);
    let has = async |since_ms, now_ms| {
        let short = short(since_ms);
        let queue = rig.store.queue();
        let looked = queue.has_short_work(&account, &short, now_ms).await;
        let looked = looked.expect("a look");
        let asked = rig
            .store
            .queue()
            .caller_has_short_work(&account, &short, now_ms);
        assert_eq!(asked.await.expect("a look"), looked, "whoever asks");
        looked
    };
    assert!(!has(NOW, NOW).await);
    assert_eq!(
        videos(&rig, NOW, NOW).await.len(),
        2,
        "nothing short is there"
    );
    // One that waits, and that these slots do not serve.
    let mut elsewhere = rig.accept(&account, 1);
    elsewhere.job.lane = "at:c".into();
    rig.take(elsewhere).await;
    assert!(!has(NOW, NOW).await);
    assert_eq!(videos(&rig, NOW, NOW).await.len(), 2);
    let picture = rig.waiting(&account, 1).await;
    for since_ms in [NOW, i64::MAX] {
        assert!(has(since_ms, NOW).await, "it waits");
        assert_eq!(
            videos(&rig, since_ms, NOW).await,
            std::slice::from_ref(&two)
        );
    }
    // Leased, it does not wait, but it came a moment ago.
    assert_eq!(rig.lease("node", NOW, 1).await[0].id, picture);
    assert!(has(NOW, NOW).await && !has(NOW + 1, NOW).await);
    assert_eq!(videos(&rig, NOW, NOW).await, std::slice::from_ref(&two));
    assert_eq!(videos(&rig, i64::MAX, NOW).await, [one, two]);
}

async fn one_of_many_gives_way_like_long_work(rig: Rig) {
    let account = rig.account(50, 50).await;
    let mut many = Vec::new();
    for _ in 0..2 {
        let mut accept = rig.accept(&account, 1);
        accept.job.batched = true;
        accept.job.created_ms = NOW - 100_000;
        many.push(accept.job.id.clone());
        rig.take(accept).await;
    }
    assert!(rig.job(&many[0]).await.batched);
    let lease = async || {
        let request = LeaseRequest {
            owner: "node".into(),
            until_ms: NOW + 30_000,
            now_ms: NOW,
            ahead_ms: 0,
            kinds: Vec::new(),
            narrow: vec![YieldRule {
                kind: work_kind("artgen.imagine", Speed::Fast, ""),
                long: false,
                short: short(NOW - 60_000),
            }],
            limit: 1,
        };
        let rows = rig.store.queue().lease_next(request).await.expect("leases");
        let ids = rows.into_iter().map(|row| row.id);
        ids.collect::<Vec<String>>()
    };
    let all = short(0);
    let looked = rig.store.queue().has_short_work(&account, &all, NOW);
    assert!(!looked.await.expect("a look"), "they are not short");
    assert_eq!(lease().await, [many[0].clone()]);
    let picture = rig.waiting(&account, 1).await;
    assert_eq!(lease().await, [picture], "whatever waits before it");
    assert!(lease().await.is_empty());
}
