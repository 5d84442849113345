//! Notices: there once for what they are about, spread once over whoever subscribed, claimed and tried as callbacks are.

use atelier_contract::LimitWindow;
use atelier_store::{
    AcceptOutcome, Claim, DeliveryResult, DeliveryState, Guard, NewNotice, NewNoticeDelivery,
    NewNoticeSubscription, NoticeDelivery, NoticeFilter, NoticeSubscription, Period,
};

use crate::deliveries;
use crate::rig::{NOW, Rig, number, quota, spawn, sql};
use crate::spending;

each_db!(
    the_same_is_noted_once,
    limits_are_noted_in_the_commit_that_reaches_them,
    a_callback_that_is_given_up_is_noted_in_the_same_commit,
    a_notice_is_spread_once_and_sent_as_callbacks_are,
    what_is_looked_for_is_found_once,
    a_deleted_account_is_told_nothing,
    old_notices_are_forgotten,
);

const DAY_MS: i64 = 86_400_000;

pub(crate) fn notice(account_id: &str, subject: &str) -> NewNotice {
    NewNotice {
        account_id: account_id.to_owned(),
        kind: "limit_80",
        subject: subject.to_owned(),
        window_ms: 0,
        since_ms: NOW,
        facts: "{}".into(),
        now_ms: NOW,
    }
}

pub(crate) fn subscription(rig: &Rig, account_id: &str) -> NoticeSubscription {
    NoticeSubscription {
        id: rig.id("subscription"),
        account_id: account_id.to_owned(),
        member_id: None,
        kind: None,
        channel: "webhook".into(),
        shown: "https://example.com/".into(),
        host: "example.com".into(),
        quiet: None,
        language: "en".into(),
        below: None,
        jobs: 3,
        created_ms: NOW,
    }
}

pub(crate) async fn subscribe(rig: &Rig, one: &NoticeSubscription) -> bool {
    let new = NewNoticeSubscription {
        address: (format!("notice-address:{}", one.id), "sealed".into()),
        subscription: one.clone(),
        most: 2,
    };
    rig.store
        .deliveries()
        .notices()
        .subscribe(new, None)
        .await
        .expect("answered")
}

pub(crate) async fn spread(rig: &Rig, notice: &NewNotice, one: &NoticeSubscription) {
    let owed = NewNoticeDelivery {
        notice_id: notice.id(),
        subscription: one.clone(),
        next_ms: NOW,
    };
    let spread = rig
        .store
        .deliveries()
        .notices()
        .spread(vec![notice.id()], vec![owed], NOW);
    spread.await.expect("spread");
}

async fn claim(rig: &Rig, now_ms: i64) -> Vec<NoticeDelivery> {
    let claim = Claim {
        now_ms,
        for_ms: 30_000,
        limit: 10,
        per_route: 10,
        routes: Vec::new(),
        per_account: 10,
        accounts: Vec::new(),
    };
    rig.store
        .deliveries()
        .notices()
        .claim(&claim, || now_ms)
        .await
        .expect("claims")
}

fn tried(one: &NoticeDelivery, state: DeliveryState) -> DeliveryResult {
    DeliveryResult {
        id: one.id.clone(),
        attempts: one.attempts,
        state,
        failures: one.failures + i64::from(state != DeliveryState::Delivered),
        status: Some(200),
        error: None,
        duration_ms: 1,
        answer_start: String::new(),
        now_ms: NOW,
    }
}

async fn kinds(rig: &Rig, account_id: &str) -> Vec<String> {
    let filter = NoticeFilter {
        account_id,
        kind: None,
        period: Period::default(),
    };
    let (found, total) = rig
        .store
        .deliveries()
        .notices()
        .list(filter, 0, 100)
        .await
        .expect("read");
    assert_eq!(found.len() as i64, total);
    let mut kinds: Vec<String> = found.into_iter().map(|one| one.kind).collect();
    kinds.sort();
    kinds
}

async fn the_same_is_noted_once(rig: Rig) {
    let account = rig.account(1, 1).await;
    let one = notice(&account, "a");
    let notices = rig.store.deliveries().notices();
    let note = async |some: Vec<NewNotice>| notices.note(some).await.expect("noted");
    assert_eq!(note(vec![one.clone(), one.clone()]).await, 1);
    let later = NewNotice {
        since_ms: NOW + 1,
        facts: "{\"a\":\"b\"}".into(),
        ..one.clone()
    };
    assert_eq!(note(vec![later]).await, 0, "the first one stands");
    let other = NewNotice {
        window_ms: 1,
        ..one.clone()
    };
    assert_eq!(
        note(vec![other, notice(&account, "b"), notice("", "a")]).await,
        3
    );
    assert_eq!(kinds(&rig, &account).await.len(), 3);
    assert_eq!(kinds(&rig, "").await.len(), 1, "the operators'");
    let of_kind = NoticeFilter {
        account_id: &account,
        kind: Some("disk_low"),
        period: Period::default(),
    };
    assert_eq!(notices.list(of_kind, 0, 10).await.expect("read").1, 0);
    let mut tasks = Vec::new();
    for _ in 0..8 {
        let (store, one) = (rig.store.clone(), notice(&account, "crowd"));
        tasks.push(spawn(async move {
            store
                .deliveries()
                .notices()
                .note(vec![one])
                .await
                .expect("noted")
        }));
    }
    let mut new = 0;
    for task in tasks {
        new += task.await.expect("ended");
    }
    assert_eq!(new, 1);
    let found = notices.find_many(&[one.id()]).await.expect("read");
    assert_eq!((found.len(), found[0].since_ms), (1, NOW));
}

async fn limits_are_noted_in_the_commit_that_reaches_them(rig: Rig) {
    let account = rig.account(1_000, 100).await;
    let terms = spending::limits(&[(LimitWindow::Day, 10), (LimitWindow::Total, 20)]);
    let parent = spending::key(&rig, &account, &[], terms).await;
    let child = spending::key(&rig, &account, &[&parent], spending::limits(&[])).await;
    let spend = async |price: i64| {
        let accept = spending::by(&rig, &account, &[&parent, &child], price);
        rig.take(accept).await
    };
    assert!(matches!(spend(7).await, AcceptOutcome::New { .. }));
    assert!(kinds(&rig, &account).await.is_empty());
    assert!(matches!(spend(1).await, AcceptOutcome::New { .. }));
    assert_eq!(kinds(&rig, &account).await, ["limit_80"], "8 of 10");
    for _ in 0..3 {
        assert!(spending::reached(&spend(3).await).is_some());
    }
    assert_eq!(
        kinds(&rig, &account).await,
        ["limit_100", "limit_80"],
        "it refuses, although it is not full"
    );
    assert!(matches!(spend(2).await, AcceptOutcome::New { .. }));
    assert_eq!(kinds(&rig, &account).await.len(), 2, "full, which was told");
}

async fn a_callback_that_is_given_up_is_noted_in_the_same_commit(rig: Rig) {
    let account = rig.account(10, 100).await;
    for state in [
        DeliveryState::Exhausted,
        DeliveryState::Stopped,
        DeliveryState::Exhausted,
    ] {
        deliveries::owed(&rig, &account, "example.com").await;
        for one in deliveries::claim(&rig, deliveries::DUE, 10, 10).await {
            let result = deliveries::result(&one, state, 500);
            assert!(
                rig.store
                    .deliveries()
                    .finish(result.clone())
                    .await
                    .expect("noted")
            );
            assert!(
                !rig.store
                    .deliveries()
                    .finish(result)
                    .await
                    .expect("answered")
            );
        }
    }
    assert_eq!(
        kinds(&rig, &account).await,
        ["callback_exhausted"],
        "once for a receiver and a day"
    );
}

async fn a_notice_is_spread_once_and_sent_as_callbacks_are(rig: Rig) {
    let account = rig.account(1, 1).await;
    let one = subscription(&rig, &account);
    assert!(subscribe(&rig, &one).await);
    assert!(subscribe(&rig, &subscription(&rig, &account)).await);
    assert!(
        !subscribe(&rig, &subscription(&rig, &account)).await,
        "as many as it may have"
    );
    let notices = rig.store.deliveries().notices();
    assert_eq!(
        notices.subscriptions(&account).await.expect("read").len(),
        2
    );
    assert_eq!(
        notices
            .subscriptions_of(&[&account, "other"])
            .await
            .expect("read")
            .len(),
        2
    );
    assert_eq!(
        notices.subscriptions_by_id(&[&one.id]).await.expect("read"),
        [one.clone()]
    );
    let fresh = notice(&account, "a");
    notices.note(vec![fresh.clone()]).await.expect("noted");
    assert_eq!(notices.fresh(10).await.expect("read").len(), 1);
    for _ in 0..2 {
        spread(&rig, &fresh, &one).await;
    }
    assert!(notices.fresh(10).await.expect("read").is_empty());
    let claimed = claim(&rig, NOW).await;
    assert_eq!((claimed.len(), claimed[0].attempts), (1, 1));
    assert!(claim(&rig, NOW).await.is_empty(), "it is being sent");
    let again = DeliveryState::Due {
        next_ms: NOW + 5_000,
    };
    assert!(
        notices
            .finish(tried(&claimed[0], again))
            .await
            .expect("noted")
    );
    assert!(
        !notices
            .finish(tried(&claimed[0], again))
            .await
            .expect("answered"),
        "an older try"
    );
    assert!(claim(&rig, NOW + 4_999).await.is_empty());
    let second = claim(&rig, NOW + 5_000).await;
    assert_eq!(
        (second.len(), second[0].attempts, second[0].failures),
        (1, 2, 1)
    );
    assert_eq!(notices.free_claims(NOW + 6_000).await.expect("freed"), 1);
    let third = claim(&rig, NOW + 6_000).await;
    assert!(
        notices
            .finish(tried(&third[0], DeliveryState::Delivered))
            .await
            .expect("noted")
    );
    let owed = notices.deliveries_of(&[fresh.id()]).await.expect("read");
    assert_eq!(
        (owed.len(), owed[0].state.as_str(), owed[0].delivered_ms),
        (1, "delivered", Some(NOW))
    );
    let other = notice(&account, "b");
    notices.note(vec![other.clone()]).await.expect("noted");
    spread(&rig, &other, &one).await;
    let setting = format!("notice-address:{}", one.id);
    assert!(
        !notices
            .unsubscribe("other", &one.id, &setting, None)
            .await
            .expect("answered")
    );
    assert!(
        notices
            .unsubscribe(&account, &one.id, &setting, None)
            .await
            .expect("ended")
    );
    assert_eq!(
        rig.store.settings().get(&setting).await.expect("read"),
        None
    );
    assert!(
        claim(&rig, NOW + 9_000).await.is_empty(),
        "what was owed to it is not sent"
    );
}

async fn what_is_looked_for_is_found_once(rig: Rig) {
    let account = rig.account(10, 100).await;
    let low = NoticeSubscription {
        below: Some(quota(20)),
        ..subscription(&rig, &account)
    };
    subscribe(&rig, &low).await;
    let notices = rig.store.deliveries().notices();
    let seen = notices.balances("", 10).await.expect("read");
    assert_eq!(
        (seen.len(), seen[0].balance, seen[0].low_ms),
        (1, quota(10), None)
    );
    assert!(
        notices
            .balances(&low.id, 10)
            .await
            .expect("read")
            .is_empty(),
        "behind it"
    );
    for subject in ["one node", "another node"] {
        let told = notices.balance_moved(seen[0].clone(), Some(notice(&account, subject)), NOW);
        told.await.expect("noted");
    }
    assert_eq!(kinds(&rig, &account).await.len(), 1, "whoever was first");
    assert!(notices.balances("", 10).await.expect("read").is_empty());
    sql(&rig.url, "UPDATE notice_subscription SET below = 5000")
        .await
        .expect("changed");
    let risen = notices.balances("", 10).await.expect("read");
    assert_eq!(risen[0].low_ms, Some(NOW));
    notices
        .balance_moved(risen[0].clone(), None, NOW)
        .await
        .expect("noted");
    assert!(notices.balances("", 10).await.expect("read").is_empty());

    let key = spending::key(&rig, &account, &[], spending::limits(&[])).await;
    sql(
        &rig.url,
        &format!(
            "UPDATE api_key SET created_ms = 0, expires_ms = {} WHERE id = '{key}'",
            NOW + DAY_MS
        ),
    )
    .await
    .expect("changed");
    let ending = notices
        .expiring_keys(NOW, 7 * DAY_MS, 10)
        .await
        .expect("read");
    assert_eq!((ending.len(), ending[0].id.as_str()), (1, key.as_str()));
    assert!(
        notices
            .expiring_keys(NOW, DAY_MS / 2, 10)
            .await
            .expect("read")
            .is_empty()
    );
    let told = NewNotice {
        kind: "key_expiring",
        window_ms: NOW + DAY_MS,
        ..notice(&account, &key)
    };
    notices.note(vec![told]).await.expect("noted");
    assert!(
        notices
            .expiring_keys(NOW, 7 * DAY_MS, 10)
            .await
            .expect("read")
            .is_empty()
    );

    let watched = notices.watched_for_failures("", 10).await.expect("read");
    assert_eq!(watched, [(account.clone(), 3)]);
    for price in [1, 1] {
        let job = rig.waiting(&account, price).await;
        rig.settle(rig.failure(&job, Guard::Unfinished)).await;
    }
    let job = rig.waiting(&account, 1).await;
    rig.settle(rig.success(&job, Guard::Unfinished, 1)).await;
    let ended = notices.latest_ended(&account, 10).await.expect("read");
    let failed = ended.iter().filter(|job| job.failed).count();
    assert_eq!((ended.len(), failed), (3, 2));
}

async fn a_deleted_account_is_told_nothing(rig: Rig) {
    let account = rig.account(1, 1).await;
    let one = subscription(&rig, &account);
    subscribe(&rig, &one).await;
    let fresh = notice(&account, "a");
    rig.store
        .deliveries()
        .notices()
        .note(vec![fresh.clone()])
        .await
        .expect("noted");
    spread(&rig, &fresh, &one).await;
    assert!(
        rig.store
            .accounts()
            .delete(&account, NOW, None)
            .await
            .expect("deleted")
    );
    for table in ["notice", "notice_subscription", "notice_delivery"] {
        assert_eq!(
            number(&rig.url, &format!("SELECT COUNT(*) FROM {table}")).await,
            0,
            "{table}"
        );
    }
    assert_eq!(
        rig.store
            .settings()
            .list("notice-address:")
            .await
            .expect("read"),
        []
    );
}

async fn old_notices_are_forgotten(rig: Rig) {
    let account = rig.account(1, 1).await;
    let one = subscription(&rig, &account);
    subscribe(&rig, &one).await;
    let (sent, owed) = (notice(&account, "sent"), notice(&account, "owed"));
    rig.store
        .deliveries()
        .notices()
        .note(vec![sent.clone(), owed.clone()])
        .await
        .expect("noted");
    spread(&rig, &sent, &one).await;
    let claimed = claim(&rig, NOW).await;
    let tried = tried(&claimed[0], DeliveryState::Delivered);
    assert!(
        rig.store
            .deliveries()
            .notices()
            .finish(tried)
            .await
            .expect("noted")
    );
    spread(&rig, &owed, &one).await;
    let forget = async |before_ms| {
        rig.store
            .retention()
            .forget_notices(before_ms, 10)
            .await
            .expect("forgotten")
    };
    assert_eq!(forget(NOW).await, 0);
    assert_eq!(forget(NOW + 1).await, 1, "what is owed stays");
    assert_eq!(number(&rig.url, "SELECT COUNT(*) FROM notice_log").await, 0);
}
