//! Exports: pages that have every row once, and exports of each day that one node makes at a time.

use std::collections::BTreeSet;

use atelier_contract::pages::jobs::JobCursor;
use atelier_store::{
    ExportClaim, ExportOwner, ExportPart, ExportProgress, Guard, RowSpender, SpenderFilter,
    UsageExport,
};

use crate::rig::{NOW, Rig, quota};
use crate::spending;

each_db!(
    pages_have_every_row_once,
    usage_is_what_jobs_consumed,
    an_export_of_a_day_is_one_nodes_at_a_time,
);

const HOUR_MS: i64 = 3_600_000;

fn owner(account_id: &str, is_own: bool) -> ExportOwner<'_> {
    ExportOwner { account_id, is_own }
}

fn begin() -> JobCursor {
    JobCursor {
        created_ms: 0,
        id: String::new(),
    }
}

async fn pages_have_every_row_once(rig: Rig) {
    let (account, other) = (rig.account(100, 50).await, rig.account(100, 50).await);
    let mut ids = BTreeSet::new();
    for _ in 0..7 {
        let job = rig.waiting(&account, 2).await;
        rig.settle(rig.success(&job, Guard::Unfinished, 1)).await;
        ids.insert(job);
        rig.waiting(&other, 1).await;
    }
    let exports = rig.store.ledger().exports();
    let (mut after, mut found) = (begin(), Vec::new());
    loop {
        let page = exports
            .jobs(owner(&account, true), &after, i64::MAX, 3)
            .await
            .expect("read");
        let Some(last) = page.last() else {
            break;
        };
        after = JobCursor {
            created_ms: last.created_ms,
            id: last.id.clone(),
        };
        found.extend(page);
    }
    let told: BTreeSet<String> = found.iter().map(|job| job.id.clone()).collect();
    assert_eq!((found.len(), &told), (7, &ids));
    assert!(
        found
            .iter()
            .all(|job| job.quota == quota(1) && job.state.is_final())
    );
    let none = exports
        .jobs(owner(&account, false), &begin(), 1, 10)
        .await
        .expect("read");
    assert!(none.is_empty(), "before a moment");

    let span = exports
        .ledger_span(owner(&account, true), None, None)
        .await
        .expect("read");
    assert_eq!(
        (span.after, span.until),
        (0, 15),
        "a grant, and a hold and a capture of each"
    );
    let (mut rest, mut rows) = (span, Vec::new());
    while rest.after < rest.until {
        let page = exports
            .ledger(owner(&account, true), rest, false, 4)
            .await
            .expect("read");
        rest.after = page.last().expect("a row").number;
        rows.extend(page);
    }
    let numbers: Vec<i64> = rows.iter().map(|row| row.number).collect();
    assert_eq!(numbers, (1..=15).collect::<Vec<_>>());
    let later = exports
        .ledger_span(owner(&account, true), Some(NOW * 2), None)
        .await
        .expect("read");
    assert_eq!((later.after, later.until), (15, 15));
    let earlier = exports
        .ledger_span(owner(&account, true), None, Some(0))
        .await
        .expect("read");
    assert_eq!((earlier.after, earlier.until), (0, 0));
    let accounts = exports.accounts("", 100).await.expect("read");
    assert!(accounts.is_sorted() && accounts.contains(&account) && accounts.contains(&other));
    assert_eq!(
        exports.accounts(&accounts[0], 1).await.expect("read"),
        accounts[1..2]
    );
}

async fn usage_is_what_jobs_consumed(rig: Rig) {
    let account = rig.account(100, 50).await;
    let key = spending::key(&rig, &account, &[], spending::limits(&[])).await;
    for by_key in [true, true, false] {
        let accept = if by_key {
            spending::by(&rig, &account, &[&key], 2)
        } else {
            rig.accept(&account, 2)
        };
        let id = accept.job.id.clone();
        rig.take(accept).await;
        rig.settle(rig.success(&id, Guard::Unfinished, 2)).await;
    }
    let exports = rig.store.ledger().exports();
    let first = UsageExport::default();
    let named = exports
        .usage(owner(&account, true), &first, i64::MAX, 10)
        .await
        .expect("read");
    assert_eq!(named.len(), 1);
    assert_eq!(
        (named[0].key_id.as_str(), named[0].jobs, named[0].quota),
        (key.as_str(), 2, quota(4))
    );
    let more = exports
        .usage(owner(&account, true), &named[0], i64::MAX, 10)
        .await
        .expect("read");
    assert!(more.is_empty(), "behind the last one");
    let rest = exports
        .unnamed_usage(owner(&account, true), &first, i64::MAX, 10)
        .await
        .expect("read");
    let rest: Vec<_> = rest.iter().filter(|row| row.jobs > 0).collect();
    assert_eq!(rest.len(), 1);
    assert_eq!((rest[0].jobs, rest[0].quota), (1, quota(2)));
    let used = exports
        .used_jobs(owner(&account, true), &begin(), i64::MAX, 10)
        .await
        .expect("read");
    assert_eq!(used.len(), 3);
    let of = SpenderFilter {
        key_id: Some(key.clone()),
        ..SpenderFilter::default()
    };
    let by_key = used.iter().filter(|job| {
        of.matches(&RowSpender {
            key_id: job.key_id.as_deref(),
            ..RowSpender::default()
        })
    });
    assert_eq!(by_key.count(), 2);
    let hour = named[0].hour;
    let before = exports
        .usage(owner(&account, true), &first, hour, 10)
        .await
        .expect("read");
    assert!(before.is_empty(), "hours before one");
    let until_ms = hour * HOUR_MS;
    let before = exports
        .used_jobs(owner(&account, true), &begin(), until_ms, 10)
        .await
        .expect("read");
    assert!(before.is_empty());
}

async fn an_export_of_a_day_is_one_nodes_at_a_time(rig: Rig) {
    let exports = rig.store.ledger().exports();
    assert_eq!(exports.latest_day().await.expect("read"), None);
    for _ in 0..2 {
        exports
            .plan(7, &["jobs", "usage"], "csv", NOW)
            .await
            .expect("planned");
    }
    assert_eq!(exports.latest_day().await.expect("read"), Some(7));
    let claim = |node: &str, now_ms| ExportClaim {
        node: node.into(),
        now_ms,
        until_ms: now_ms + 1_000,
    };
    let take =
        async |node: &str, now_ms| exports.claim(claim(node, now_ms)).await.expect("claimed");
    let one = take("one", NOW).await.expect("a run");
    let two = take("two", NOW).await.expect("another run");
    assert_eq!((one.kind.as_str(), two.kind.as_str()), ("jobs", "usage"));
    assert_eq!(take("three", NOW).await, None, "both are taken");
    assert_eq!(
        take("one", NOW).await.map(|run| run.fence),
        Some(one.fence),
        "its own"
    );
    let progress = |run: &atelier_store::ExportRun, part: i64, ended_ms| ExportProgress {
        day: run.day,
        kind: run.kind.clone(),
        fence: run.fence,
        place: format!("behind {part}"),
        part: (part > 0).then(|| ExportPart {
            part,
            name: format!("{}-{part}", run.kind),
            hash: "hash".into(),
            bytes: 3,
            entries: 10,
        }),
        until_ms: NOW + 1_000,
        ended_ms,
    };
    assert!(
        exports
            .record_part(progress(&one, 1, None))
            .await
            .expect("noted")
    );
    assert!(exports.renew(&one, NOW + 2_000).await.expect("renewed"));
    assert_eq!(
        take("heir", NOW + 1_999).await.map(|run| run.kind),
        Some(two.kind.clone())
    );
    assert!(
        !exports.renew(&two, NOW + 9_000).await.expect("answered"),
        "it is the heir's"
    );
    // The first node was away for too long; what it notes then counts no more.
    let heir = take("heir", NOW + 2_000).await.expect("taken over");
    assert_eq!(
        (heir.kind.as_str(), heir.fence, heir.place.as_str()),
        ("jobs", one.fence + 1, "behind 1")
    );
    assert!(
        !exports
            .record_part(progress(&one, 2, None))
            .await
            .expect("answered")
    );
    assert!(
        exports
            .record_part(progress(&heir, 2, None))
            .await
            .expect("noted")
    );
    exports
        .record_error(&heir, "no room", NOW + 9_000)
        .await
        .expect("noted");
    let (runs, total) = exports.runs(0, 10).await.expect("read");
    assert_eq!(total, 2);
    assert_eq!(
        (runs[0].error.as_deref(), runs[0].parts, runs[0].entries),
        (Some("no room"), 2, 20)
    );
    let again = take("heir", NOW + 9_000).await.expect("again");
    assert!(
        exports
            .record_part(progress(&again, 0, Some(NOW + 9_001)))
            .await
            .expect("noted")
    );
    let parts = exports.parts(7, "jobs").await.expect("read");
    assert_eq!(
        parts.iter().map(|part| part.part).collect::<Vec<_>>(),
        [1, 2]
    );
    let (runs, _) = exports.runs(0, 10).await.expect("read");
    assert_eq!(
        (runs[0].ended_ms, &runs[0].error),
        (Some(NOW + 9_001), &None)
    );
    assert!(
        !exports
            .record_part(progress(&again, 3, None))
            .await
            .expect("answered"),
        "it is whole"
    );
}
