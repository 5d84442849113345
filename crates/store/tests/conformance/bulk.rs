//! Many requests at once: one commit, exact holds, each admitted or refused in its turn, and repeated by one key.

use atelier_contract::JobState;
use atelier_store::{
    AcceptOutcome, BulkEntry, BulkItemOutcome, BulkOutcome, Guard, Idempotency, NewBulk,
    NewBulkItem,
};

use crate::rig::{NOW, Rig, quota};

each_db!(
    a_thousand_requests_are_accepted_in_one_commit_with_exact_holds,
    each_request_meets_queue_and_quota_in_its_turn,
    a_repeated_bulk_gives_the_first_one_and_holds_once,
    marks_show_the_unfinished_and_what_ended_since,
    old_bulks_are_forgotten_and_their_jobs_stay,
);

fn bulk(rig: &Rig, account_id: &str, prices: &[i64], key: Option<&str>) -> NewBulk {
    let items = prices.iter().map(|price| NewBulkItem {
        operation: "artgen.imagine".into(),
        wish: BulkEntry::Accept(Box::new(rig.accept(account_id, *price))),
    });
    NewBulk {
        id: rig.id("bulk"),
        account_id: account_id.into(),
        idempotency: key.map(|key| Idempotency {
            key: key.into(),
            fingerprint: format!("{prices:?}"),
            keep_after_ms: NOW - 1000,
        }),
        items: items.collect(),
        created_ms: NOW,
    }
}

async fn a_thousand_requests_are_accepted_in_one_commit_with_exact_holds(rig: Rig) {
    let id = rig.account(5000, 1000).await;
    let mut prices = vec![3; 999];
    prices.push(5);
    let bulk = bulk(&rig, &id, &prices, Some("k"));
    let commits = || async {
        let sql = "SELECT CAST(SUM(batch) AS BIGINT) FROM written";
        crate::rig::number(&rig.url, sql).await
    };
    let before = commits().await;
    let accepted = rig
        .store
        .jobs()
        .accept_bulk(bulk.clone())
        .await
        .expect("accepted");
    assert_eq!(commits().await - before, 1, "one commit");
    let BulkOutcome::New(answers) = accepted else {
        panic!("{accepted:?}")
    };
    assert_eq!(answers.len(), 1000);
    assert!(answers.iter().all(|one| *one
        == Some(AcceptOutcome::New {
            fence: 0,
            begun: false
        })));
    assert_eq!(rig.purse(&id).await, (quota(5000 - 3002), quota(3002)));
    let kept = rig
        .store
        .jobs()
        .find_bulk(&id, &bulk.id)
        .await
        .expect("read")
        .expect("kept");
    assert_eq!(kept.items.len(), 1000);
    assert_eq!(
        rig.store
            .jobs()
            .find_bulk("another", &bulk.id)
            .await
            .expect("read"),
        None
    );
}

async fn each_request_meets_queue_and_quota_in_its_turn(rig: Rig) {
    let id = rig.account(10, 3).await;
    let mut bulk = bulk(&rig, &id, &[4, 9, 4, 1, 1, 1], None);
    bulk.items[3].wish = BulkEntry::Refused("because".into());
    let accepted = rig
        .store
        .jobs()
        .accept_bulk(bulk.clone())
        .await
        .expect("accepted");
    let new = || {
        Some(AcceptOutcome::New {
            fence: 0,
            begun: false,
        })
    };
    let short = |balance| {
        Some(AcceptOutcome::QuotaShort {
            balance: quota(balance),
        })
    };
    let full = Some(AcceptOutcome::QueueFull { max_queue: 3 });
    let expected = vec![new(), short(6), new(), None, new(), full];
    assert_eq!(accepted, BulkOutcome::New(expected));
    assert_eq!(rig.purse(&id).await, (quota(1), quota(9)));
    let kept = rig
        .store
        .jobs()
        .find_bulk(&id, &bulk.id)
        .await
        .expect("read")
        .expect("kept");
    let told: Vec<BulkItemOutcome> = kept.items.into_iter().map(|item| item.told).collect();
    assert!(matches!(told[0], BulkItemOutcome::Job(_)));
    assert_eq!(
        told[1],
        BulkItemOutcome::QuotaShort {
            price: 9000,
            balance: 6000
        }
    );
    assert_eq!(told[3], BulkItemOutcome::Refused("because".into()));
    assert_eq!(told[5], BulkItemOutcome::QueueFull { max_queue: 3 });
}

async fn a_repeated_bulk_gives_the_first_one_and_holds_once(rig: Rig) {
    let id = rig.account(10, 10).await;
    let first = bulk(&rig, &id, &[2, 2], Some("k"));
    let accepted = rig
        .store
        .jobs()
        .accept_bulk(first.clone())
        .await
        .expect("accepted");
    assert!(matches!(accepted, BulkOutcome::New(_)));
    let again = rig
        .store
        .jobs()
        .accept_bulk(bulk(&rig, &id, &[2, 2], Some("k")))
        .await;
    let replayed = BulkOutcome::Replayed { bulk_id: first.id };
    assert_eq!(again.expect("answered"), replayed);
    let other = rig
        .store
        .jobs()
        .accept_bulk(bulk(&rig, &id, &[2], Some("k")))
        .await;
    assert_eq!(other.expect("answered"), BulkOutcome::Mismatch);
    assert_eq!(rig.purse(&id).await, (quota(6), quota(4)));
    // One that got nothing may be tried again with its key.
    let dear = || bulk(&rig, &id, &[100], Some("dear"));
    for _ in 0..2 {
        let accepted = rig
            .store
            .jobs()
            .accept_bulk(dear())
            .await
            .expect("answered");
        assert!(matches!(accepted, BulkOutcome::New(_)), "{accepted:?}");
    }
    let nobody = rig
        .store
        .jobs()
        .accept_bulk(bulk(&rig, "nobody", &[1], None))
        .await;
    assert_eq!(nobody.expect("answered"), BulkOutcome::NoAccount);
}

async fn marks_show_the_unfinished_and_what_ended_since(rig: Rig) {
    let id = rig.account(10, 10).await;
    let (waiting, failed) = (rig.waiting(&id, 1).await, rig.waiting(&id, 1).await);
    rig.settle(rig.failure(&failed, Guard::Unfinished)).await;
    let ended_ms = rig.job(&failed).await.finished_ms.expect("ended");
    let ids = async |since_ms| {
        let marks = rig
            .store
            .jobs()
            .summaries(&id, since_ms)
            .await
            .expect("marks");
        let mut ids: Vec<String> = marks.into_iter().map(|mark| mark.id).collect();
        ids.sort();
        ids
    };
    let mut both = vec![waiting.clone(), failed.clone()];
    both.sort();
    assert_eq!(ids(ended_ms).await, both);
    assert_eq!(ids(ended_ms + 1).await, std::slice::from_ref(&waiting));
    let some = [failed.clone(), "no-such-job".into()];
    let marks = rig
        .store
        .jobs()
        .summaries_of(&id, &some)
        .await
        .expect("marks");
    assert_eq!(marks.len(), 1);
    assert_eq!(
        (marks[0].state, marks[0].price),
        (JobState::Failed, quota(1))
    );
    let foreign = rig.store.jobs().summaries_of("another", &some).await;
    assert_eq!(foreign.expect("marks"), []);
}

async fn old_bulks_are_forgotten_and_their_jobs_stay(rig: Rig) {
    let id = rig.account(10, 10).await;
    let bulk = bulk(&rig, &id, &[2], None);
    rig.store
        .jobs()
        .accept_bulk(bulk.clone())
        .await
        .expect("accepted");
    let forgotten = rig.store.retention().forget_bulks(NOW + 1, 10).await;
    assert_eq!(forgotten.expect("forgotten"), 1);
    assert_eq!(
        rig.store
            .jobs()
            .find_bulk(&id, &bulk.id)
            .await
            .expect("read"),
        None
    );
    let all = atelier_store::JobFilter::default();
    assert_eq!(rig.store.jobs().list(all).await.expect("read").total, 1);
}
