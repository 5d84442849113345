//! Keys that are changed, replaced and revoked, with those below them.

use atelier_contract::LimitWindow;
use atelier_store::{
    AddKeyOutcome, Key, KeyChange, KeyChangeOutcome, KeyRotation, KeyTerms, NewKey, RotateOutcome,
};

use crate::rig::{NOW, Rig, number, quota, sql};
use crate::spending::{by, change, check, key, limits, reached, seen};

each_db!(
    with_a_key_ends_what_is_below_it,
    the_list_of_keys_has_an_end,
    revoking_a_key_ends_all_below_it,
    a_new_secret_changes_nothing_but_the_secret,
    of_two_changes_of_a_key_one_stands,
    older_programs_and_limits_keep_apart,
);

async fn revoking_a_key_ends_all_below_it(rig: Rig) {
    let account = rig.account(1, 10).await;
    let top = key(&rig, &account, &[], KeyTerms::default()).await;
    let middle = key(&rig, &account, &[&top], KeyTerms::default()).await;
    let low = key(&rig, &account, &[&top, &middle], KeyTerms::default()).await;
    let keys = rig.store.keys();
    let found = keys
        .account_for(&format!("hash of {low}"), NOW)
        .await
        .expect("a read");
    let (_, (_, above)) = found.expect("a caller");
    let above: Vec<&str> = above.iter().map(|key| key.id.as_str()).collect();
    assert_eq!(above, [&top, &middle]);
    let mut revoked = keys
        .revoke(&account, &middle, NOW, None)
        .await
        .expect("revoked");
    revoked.sort_unstable();
    let mut expected = vec![format!("hash of {middle}"), format!("hash of {low}")];
    expected.sort_unstable();
    assert_eq!(revoked, expected);
    let works = async |id: &str| {
        let found = keys.account_for(&format!("hash of {id}"), NOW).await;
        found.expect("a read").is_some()
    };
    assert!(works(&top).await && !works(&middle).await && !works(&low).await);
    // As an older program revokes it, which knows nothing of keys below.
    let other = key(&rig, &account, &[&top], KeyTerms::default()).await;
    let text = format!("UPDATE api_key SET revoked_ms = 1 WHERE id = '{top}'");
    sql(&rig.url, &text).await.expect("revoked");
    assert!(!works(&other).await);
    let new = NewKey {
        id: rig.id("key"),
        account_id: account.clone(),
        hash: "late".into(),
        prefix: "at_1234".into(),
        name: "late".into(),
        scopes: "all".into(),
        now_ms: NOW,
        expires_ms: None,
        most: 100,
        above: Some(top.clone()),
        terms: KeyTerms::default(),
        note: None,
        member_id: None,
        alive_since_ms: 0,
    };
    let added = keys.add(new, None).await.expect("an answer");
    assert_eq!(added, AddKeyOutcome::NoParent);
}

async fn a_new_secret_changes_nothing_but_the_secret(rig: Rig) {
    let account = rig.account(100, 10).await;
    let id = key(&rig, &account, &[], limits(&[(LimitWindow::Total, 5)])).await;
    let low = key(&rig, &account, &[&id], KeyTerms::default()).await;
    rig.take(by(&rig, &account, &[&id], 4)).await;
    let rotate = |hash: &str, until_ms: i64, most: i64| KeyRotation {
        account_id: account.clone(),
        key_id: id.clone(),
        hash: hash.to_owned(),
        prefix: "at_new".into(),
        old_id: rig.id("old"),
        old_until_ms: until_ms,
        now_ms: NOW,
        most,
    };
    let keys = rig.store.keys();
    let many = rig.store.keys().rotate(rotate("new", NOW + 10, 2), None);
    let many = many.await.expect("an answer");
    assert_eq!(many, RotateOutcome::TooMany);
    let old = format!("hash of {id}");
    let done = keys
        .rotate(rotate("new", NOW + 10, 100), None)
        .await
        .expect("an answer");
    assert_eq!(done, RotateOutcome::Done(old.clone()));
    let who = async |hash: &str, at_ms: i64| {
        let found = keys.account_for(hash, at_ms).await.expect("a read");
        found.map(|(_, (key, _))| key.id)
    };
    assert_eq!(who("new", NOW).await.as_deref(), Some(&*id));
    assert_eq!(
        who(&old, NOW + 9).await.as_deref(),
        Some(&*id),
        "for a while"
    );
    assert_eq!(who(&old, NOW + 10).await, None);
    assert_eq!(
        who(&format!("hash of {low}"), NOW).await.as_deref(),
        Some(&*low)
    );
    assert_eq!(
        keys.list(&account, NOW).await.expect("a list").len(),
        2,
        "no key more"
    );
    let full = rig.take(by(&rig, &account, &[&id], 2)).await;
    assert_eq!(reached(&full).map(|limit| limit.spent), Some(quota(4)));
    let done = keys
        .rotate(rotate("newest", NOW, 100), None)
        .await
        .expect("an answer");
    assert_eq!(done, RotateOutcome::Done("new".into()));
    assert_eq!(who("new", NOW).await, None, "at once");
    let gone = keys
        .revoke(&account, &id, NOW, None)
        .await
        .expect("revoked");
    assert_eq!(gone.len(), 3, "both secrets, and the key below: {gone:?}");
    assert_eq!(who(&old, NOW).await, None);
    check(&rig).await;
}

async fn of_two_changes_of_a_key_one_stands(rig: Rig) {
    let account = rig.account(100, 10).await;
    let id = key(&rig, &account, &[], KeyTerms::default()).await;
    let seen = seen(&rig, &account, &id).await;
    let change = |most: i64| KeyChange {
        wanted: Key {
            terms: limits(&[(LimitWindow::Day, most)]),
            ..seen.clone()
        },
        seen: seen.clone(),
        now_ms: NOW,
        alive_since_ms: 0,
    };
    let keys = rig.store.keys();
    let both = tokio::join!(keys.change(change(1), None), keys.change(change(2), None));
    let both = [both.0.expect("an answer"), both.1.expect("an answer")];
    assert!(both.contains(&KeyChangeOutcome::Crossed), "{both:?}");
    assert!(
        both.iter()
            .any(|one| matches!(one, KeyChangeOutcome::Done(_))),
        "{both:?}"
    );
    keys.revoke(&account, &id, NOW, None)
        .await
        .expect("revoked");
    let gone = keys.change(change(3), None).await.expect("an answer");
    assert_eq!(gone, KeyChangeOutcome::NoKey);
}

/// The promise: while a program that keeps to no limits is at work no key has any, and none starts once one does.
async fn older_programs_and_limits_keep_apart(rig: Rig) {
    let widens = "SELECT widens FROM schema_version WHERE name = '0044_keys'";
    let account = rig.account(100, 10).await;
    let plain = key(&rig, &account, &[], KeyTerms::default()).await;
    key(&rig, &account, &[&plain], KeyTerms::default()).await;
    assert_eq!(
        number(&rig.url, widens).await,
        1,
        "keys below others are none"
    );
    let older = format!(
        "INSERT INTO node (id, started_ms, seen_ms, detail, knows) VALUES ('older', 1, {NOW}, '{{}}', 37)"
    );
    sql(&rig.url, &older).await.expect("noted");
    let refused = change(&rig, &account, &plain, limits(&[(LimitWindow::Day, 1)])).await;
    if rig.store.is_postgres() {
        assert_eq!(refused, KeyChangeOutcome::OlderNode("older".into()));
        assert_eq!(
            seen(&rig, &account, &plain).await.terms,
            KeyTerms::default()
        );
        assert_eq!(number(&rig.url, widens).await, 1, "older ones may start");
        rig.store.nodes().forget("older").await.expect("stopped");
        key(
            &rig,
            &account,
            &[],
            KeyTerms {
                rules: Some("{}".into()),
                ..KeyTerms::default()
            },
        )
        .await;
    } else {
        assert!(
            matches!(refused, KeyChangeOutcome::Done(_)),
            "one process has the database"
        );
    }
    assert_eq!(number(&rig.url, widens).await, 0, "older ones do not start");
}

/// The promise: a key that ends sooner from now on takes those below it along, and no row of theirs is counted for ever.
async fn with_a_key_ends_what_is_below_it(rig: Rig) {
    let account = rig.account(1, 10).await;
    let top = key(&rig, &account, &[], KeyTerms::default()).await;
    let low = key(&rig, &account, &[&top], KeyTerms::default()).await;
    let other = key(&rig, &account, &[], KeyTerms::default()).await;
    let seen_top = seen(&rig, &account, &top).await;
    let change = KeyChange {
        wanted: Key {
            expires_ms: Some(NOW + 60_000),
            ..seen_top.clone()
        },
        seen: seen_top,
        now_ms: NOW,
        alive_since_ms: NOW - 60_000,
    };
    let changed = rig.store.keys().change(change, None).await;
    assert!(matches!(changed, Ok(KeyChangeOutcome::Done(_))));
    assert_eq!(
        seen(&rig, &account, &low).await.expires_ms,
        Some(NOW + 60_000)
    );
    assert_eq!(seen(&rig, &account, &other).await.expires_ms, None);
    let working = rig.store.keys().working(&account, NOW + 60_000).await;
    let working: Vec<String> = working
        .expect("a list")
        .into_iter()
        .map(|key| key.id)
        .collect();
    assert_eq!(working, [other]);
}

/// The promise: however many keys have ended, those that work are found, and a list is never longer than one can be.
async fn the_list_of_keys_has_an_end(rig: Rig) {
    let account = rig.account(1, 10).await;
    let works = key(&rig, &account, &[], KeyTerms::default()).await;
    let ended = format!(
        "WITH RECURSIVE many(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many WHERE n < 320) \
         INSERT INTO api_key (id, account_id, hash, prefix, name, scopes, created_ms, expires_ms) \
         SELECT 'ended-' || n, '{account}', 'hash-' || n, 'p', 'name ' || n, 'all', n, {NOW} - n FROM many"
    );
    sql(&rig.url, &ended).await.expect("written");
    let keys = rig.store.keys();
    let working = keys.working(&account, NOW).await.expect("a list");
    assert_eq!(working.len(), 1);
    let all = keys.list(&account, NOW).await.expect("a list");
    assert_eq!(all.len(), 301);
    assert!(all.iter().any(|key| key.id == works));
    assert!(all.iter().any(|key| key.id == "ended-1"));
    assert!(!all.iter().any(|key| key.id == "ended-320"));
    keys.revoke(&account, "ended-7", NOW, None)
        .await
        .expect("revoked");
    let asked = ["ended-7", "nobody"];
    let names = rig.store.keys().names(&account, &asked).await;
    let expected = [("ended-7".to_owned(), "name 7".to_owned())];
    assert_eq!(names.expect("a read"), expected);
}
