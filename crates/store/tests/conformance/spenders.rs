//! Who spent what is found again: usage, lists of jobs and the ledger by key, model, tag and end user.

use atelier_store::{
    Guard, JobFilter, KeyTerms, LedgerFilter, SpenderFilter, UsageKind, UsageQuestion,
};

use crate::fill::Fill;
use crate::rig::{NOW, Rig, number};
use crate::spending::{by, check, key};

const DAY_MS: i64 = 86_400_000;

each_db!(
    usage_by_a_tag_says_how_far_it_looked,
    who_spent_what_is_found_again,
);

async fn who_spent_what_is_found_again(rig: Rig) {
    let account = rig.account(1_000, 1_000).await;
    let keys = [
        key(&rig, &account, &[], KeyTerms::default()).await,
        key(&rig, &account, &[], KeyTerms::default()).await,
    ];
    let mut ids = Vec::new();
    for place in 0..6 {
        let mut accept = by(&rig, &account, &[&keys[place % 2]], 3);
        accept.job.attribution.model = (place > 1).then(|| format!("model-{}", place % 2));
        accept.job.attribution.tags = (place > 3).then(|| r#"{"a":"x","b":"1"}"#.to_owned());
        accept.job.attribution.user = (place == 5).then(|| "me".to_owned());
        let id = accept.job.id.clone();
        rig.take(accept).await;
        rig.settle(rig.success(&id, Guard::Unfinished, 2)).await;
        ids.push(id);
    }
    // As a program from before there were keys on jobs accepts it.
    let plain = rig.waiting(&account, 1).await;
    rig.settle(rig.success(&plain, Guard::Unfinished, 1)).await;
    usage_is_grouped(&rig, &account, &keys).await;
    lists_are_filtered(&rig, &account, &keys).await;
    let row = rig.job(&ids[5]).await;
    assert_eq!(row.attribution.user.as_deref(), Some("me"));
    // Its tags go with its words; that it was spent, and by whom, stays.
    let words = number(&rig.url, "SELECT words FROM account").await;
    assert!(
        rig.store
            .jobs()
            .delete(&account, &ids[5], &[], NOW)
            .await
            .expect("deleted")
    );
    assert!(number(&rig.url, "SELECT words FROM account").await < words);
    let row = rig.job(&ids[5]).await.attribution;
    assert_eq!(
        (row.tags, row.user, row.key_id),
        (None, None, Some(keys[1].clone()))
    );
    check(&rig).await;
}

/// What one of the keys spent.
fn of_key(keys: &[String; 2], place: usize) -> SpenderFilter {
    SpenderFilter {
        key_id: Some(keys[place].clone()),
        ..SpenderFilter::default()
    }
}

async fn usage_is_grouped(rig: &Rig, account: &str, keys: &[String; 2]) {
    let question = |by: UsageKind, of: SpenderFilter, wide: i64| UsageQuestion {
        account_id: account.to_owned(),
        by,
        of,
        from_ms: NOW - wide,
        to_ms: NOW + wide,
    };
    // Whole hours that were added up, and parts of one that are counted.
    for wide in [50 * 3_600_000, 6_000] {
        let groups = async |by: UsageKind, of: SpenderFilter| {
            let found = rig
                .store
                .statistics()
                .usage_by(&question(by, of, wide))
                .await;
            let groups = found.expect("usage").groups.into_iter();
            let mut groups: Vec<_> = groups
                .map(|one| (one.id, one.jobs, one.quota.thousandths() / 1000))
                .collect();
            groups.sort();
            groups
        };
        let some = |id: &str, jobs: i64, quota: i64| (Some(id.to_owned()), jobs, quota);
        let mut expected = vec![(None, 1, 1), some(&keys[0], 3, 6), some(&keys[1], 3, 6)];
        expected.sort();
        assert_eq!(
            groups(UsageKind::Key, SpenderFilter::default()).await,
            expected
        );
        let expected = [(None, 3, 5), some("model-0", 2, 4), some("model-1", 2, 4)];
        assert_eq!(
            groups(UsageKind::Model, SpenderFilter::default()).await,
            expected
        );
        assert_eq!(
            groups(UsageKind::Operation, SpenderFilter::default()).await,
            [some("artgen.imagine", 7, 13)]
        );
        assert_eq!(
            groups(UsageKind::Model, of_key(keys, 1)).await,
            [(None, 1, 2), some("model-1", 2, 4)]
        );
        let expected = [(None, 5, 9), some("x", 2, 4)];
        assert_eq!(
            groups(UsageKind::Tag("a".into()), SpenderFilter::default()).await,
            expected
        );
        let tagged = SpenderFilter {
            tag: Some(("b".into(), "1".into())),
            ..of_key(keys, 0)
        };
        assert_eq!(groups(UsageKind::Key, tagged).await, [some(&keys[0], 1, 2)]);
        let none = SpenderFilter {
            tag: Some(("b".into(), "X".into())),
            ..SpenderFilter::default()
        };
        assert_eq!(groups(UsageKind::Key, none).await, []);
    }
}

async fn lists_are_filtered(rig: &Rig, account: &str, keys: &[String; 2]) {
    let list = async |of: SpenderFilter, to_ms: Option<i64>| {
        let filter = JobFilter {
            account_id: Some(account.to_owned()),
            of,
            created_to_ms: to_ms,
            ..JobFilter::page(1, 10)
        };
        rig.store.jobs().list(filter).await.expect("a page").total
    };
    assert_eq!(list(of_key(keys, 0), None).await, 3);
    let user = SpenderFilter {
        user: Some("me".into()),
        ..SpenderFilter::default()
    };
    assert_eq!(list(user.clone(), None).await, 1);
    assert_eq!(list(SpenderFilter::default(), Some(NOW)).await, 0);
    assert_eq!(list(SpenderFilter::default(), Some(NOW + 1)).await, 7);
    let ledger = async |of: SpenderFilter, from_ms: Option<i64>, to_ms: Option<i64>| {
        let filter = LedgerFilter {
            account_id: account.to_owned(),
            of,
            from_ms,
            to_ms,
            offset: 0,
            limit: 100,
        };
        let (rows, total) = rig.store.ledger().filtered(&filter).await.expect("a page");
        assert_eq!(rows.len() as i64, total);
        total
    };
    assert_eq!(
        ledger(of_key(keys, 0), None, None).await,
        6,
        "holds and captures"
    );
    assert_eq!(ledger(user, None, None).await, 2);
    let all = SpenderFilter {
        operation: Some("artgen.imagine".into()),
        ..SpenderFilter::default()
    };
    assert_eq!(ledger(all.clone(), None, None).await, 14);
    assert_eq!(ledger(all.clone(), Some(NOW + DAY_MS), None).await, 0);
    assert_eq!(ledger(all, None, Some(NOW)).await, 0);
}

/// The promise: a look for what hardly any job has ends like any other, and says since when it holds.
async fn usage_by_a_tag_says_how_far_it_looked(rig: Rig) {
    let account = rig.account(10, 10).await;
    let many = Fill {
        account_id: &account,
        name: "many",
        jobs: 100_500,
        state: 2,
        apart_ms: 1,
        ..Fill::default()
    };
    many.into(&rig.url).await;
    let asked = UsageQuestion {
        account_id: account,
        by: UsageKind::Tag("project".into()),
        of: SpenderFilter {
            user: Some("nobody".into()),
            ..SpenderFilter::default()
        },
        from_ms: NOW - DAY_MS,
        to_ms: NOW + DAY_MS,
    };
    let found = rig.store.statistics().usage_by(&asked).await;
    let found = found.expect("a look");
    assert!(found.groups.is_empty());
    assert!(found.from_ms > NOW - DAY_MS, "it looked at no more");
}
