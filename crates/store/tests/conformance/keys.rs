//! Keys.

use atelier_store::{AccountPatch, AddKeyOutcome, AuditRow, Error, KeyTerms, NewKey, Store};

use crate::rig::{NOW, Rig, options, spawn};

each_db!(
    a_key_leads_to_its_account_until_revoked,
    a_key_of_a_disabled_account_leads_nowhere,
    an_expired_key_leads_nowhere,
    a_key_is_stored_once,
    only_keys_that_work_count_against_the_most,
    two_nodes_cannot_both_issue_the_last_key,
    the_act_is_written_with_the_key_or_not_at_all,
    keys_that_are_over_are_forgotten_after_a_while,
);

async fn revoke(rig: &Rig, account_id: &str, key_id: &str) -> Vec<String> {
    let revoked = rig.store.keys().revoke(account_id, key_id, NOW, None).await;
    revoked.expect("an answer")
}

async fn key(rig: &Rig, account_id: &str, expires_ms: Option<i64>) -> NewKey {
    let new = NewKey {
        id: rig.id("key"),
        account_id: account_id.into(),
        hash: rig.id("hash"),
        prefix: "at_abcdefghi".into(),
        name: "first".into(),
        scopes: "all".into(),
        now_ms: NOW,
        expires_ms,
        most: 2,
        above: None,
        terms: KeyTerms::default(),
        note: None,
        member_id: None,
        alive_since_ms: 0,
    };
    let added = rig
        .store
        .keys()
        .add(new.clone(), None)
        .await
        .expect("an answer");
    assert_eq!(added, AddKeyOutcome::Done);
    new
}

async fn a_key_leads_to_its_account_until_revoked(rig: Rig) {
    let id = rig.account(1, 10).await;
    let new = key(&rig, &id, None).await;
    let (account, (found, _)) = rig
        .store
        .keys()
        .account_for(&new.hash, NOW)
        .await
        .expect("a read")
        .expect("a caller");
    assert_eq!(
        (account.id.as_str(), found.id.as_str()),
        (id.as_str(), new.id.as_str())
    );
    assert_eq!(found.last_used_ms, None);
    rig.store
        .keys()
        .touch(&new.id, NOW + 7)
        .await
        .expect("touched");
    let keys = rig.store.keys().list(&id, NOW).await.expect("a list");
    assert_eq!((keys.len(), keys[0].last_used_ms), (1, Some(NOW + 7)));

    let other = rig.account(1, 10).await;
    assert!(revoke(&rig, &other, &new.id).await.is_empty(), "not theirs");
    let revoked = revoke(&rig, &id, &new.id).await;
    assert_eq!(revoked, std::slice::from_ref(&new.hash));
    assert!(revoke(&rig, &id, &new.id).await.is_empty(), "only once");
    assert_eq!(
        rig.store
            .keys()
            .account_for(&new.hash, NOW)
            .await
            .expect("a read"),
        None
    );
    assert!(
        rig.store
            .keys()
            .list(&id, NOW)
            .await
            .expect("a list")
            .is_empty()
    );
}

async fn a_key_of_a_disabled_account_leads_nowhere(rig: Rig) {
    let id = rig.account(1, 10).await;
    let new = key(&rig, &id, None).await;
    let patch = AccountPatch {
        disabled: Some(true),
        ..Default::default()
    };
    rig.store
        .accounts()
        .update(&id, patch, None)
        .await
        .expect("done");
    assert_eq!(
        rig.store
            .keys()
            .account_for(&new.hash, NOW)
            .await
            .expect("a read"),
        None
    );
}

async fn an_expired_key_leads_nowhere(rig: Rig) {
    let id = rig.account(1, 10).await;
    let new = key(&rig, &id, Some(NOW + 10)).await;
    assert!(
        rig.store
            .keys()
            .account_for(&new.hash, NOW + 9)
            .await
            .expect("a read")
            .is_some()
    );
    assert!(
        rig.store
            .keys()
            .account_for(&new.hash, NOW + 10)
            .await
            .expect("a read")
            .is_none()
    );
}

async fn a_key_is_stored_once(rig: Rig) {
    let id = rig.account(1, 10).await;
    let new = key(&rig, &id, None).await;
    let again = NewKey {
        id: rig.id("key"),
        ..new.clone()
    };
    assert!(matches!(
        rig.store.keys().add(again, None).await,
        Err(Error::Conflict(_))
    ));
    let stray = NewKey {
        account_id: "nobody".into(),
        hash: rig.id("hash"),
        ..new
    };
    let added = rig.store.keys().add(stray, None).await.expect("an answer");
    assert_eq!(added, AddKeyOutcome::NoAccount);
}

async fn only_keys_that_work_count_against_the_most(rig: Rig) {
    let id = rig.account(1, 10).await;
    let expired = key(&rig, &id, Some(NOW)).await;
    let first = key(&rig, &id, None).await;
    let second = key(&rig, &id, Some(NOW + 1)).await;
    let third = NewKey {
        id: rig.id("key"),
        hash: rig.id("hash"),
        ..second
    };
    let add = |new: &NewKey| rig.store.keys().add(new.clone(), None);
    assert_eq!(
        add(&third).await.expect("an answer"),
        AddKeyOutcome::TooMany
    );
    revoke(&rig, &id, &expired.id).await;
    assert_eq!(
        add(&third).await.expect("an answer"),
        AddKeyOutcome::TooMany
    );
    revoke(&rig, &id, &first.id).await;
    assert_eq!(add(&third).await.expect("an answer"), AddKeyOutcome::Done);
}

async fn two_nodes_cannot_both_issue_the_last_key(rig: Rig) {
    let id = rig.account(1, 10).await;
    let model = key(&rig, &id, None).await;
    let other = Store::open(&rig.url, options()).await.expect("opened");
    let tasks: Vec<_> = (0..12)
        .map(|turn| {
            let store = [&rig.store, &other][turn % 2].clone();
            let new = NewKey {
                id: rig.id("key"),
                hash: rig.id("hash"),
                most: 5,
                above: None,
                terms: KeyTerms::default(),
                note: None,
                member_id: None,
                alive_since_ms: 0,
                ..model.clone()
            };
            spawn(async move { store.keys().add(new, None).await })
        })
        .collect();
    let mut done = 0;
    for task in tasks {
        let added = task.await.expect("it ends").expect("an answer");
        done += usize::from(added == AddKeyOutcome::Done);
    }
    assert_eq!(done, 4);
    assert_eq!(
        rig.store.keys().list(&id, NOW).await.expect("a list").len(),
        5
    );
    other.close().await;
}

async fn the_act_is_written_with_the_key_or_not_at_all(rig: Rig) {
    let id = rig.account(1, 10).await;
    let model = key(&rig, &id, None).await;
    let act = |action: &str| AuditRow {
        id: rig.id("act"),
        time_ms: NOW,
        actor: "root".into(),
        action: action.into(),
        target: id.clone(),
        detail: String::new(),
        account_id: None,
    };
    let new = || NewKey {
        id: rig.id("key"),
        hash: rig.id("hash"),
        ..model.clone()
    };
    let second = new();
    for (new, expected) in [
        (second.clone(), AddKeyOutcome::Done),
        (new(), AddKeyOutcome::TooMany),
    ] {
        let added = rig.store.keys().add(new, Some(act("issue"))).await;
        assert_eq!(added.expect("an answer"), expected);
    }
    for _ in 0..2 {
        let revoked = rig
            .store
            .keys()
            .revoke(&id, &second.id, NOW, Some(act("revoke")))
            .await;
        revoked.expect("an answer");
    }
    let (acts, _) = rig.store.admin().audit_rows(0, 10).await.expect("a page");
    let mut actions: Vec<&str> = acts.iter().map(|act| act.action.as_str()).collect();
    actions.sort_unstable();
    assert_eq!(actions, ["issue", "revoke"]);
}

async fn keys_that_are_over_are_forgotten_after_a_while(rig: Rig) {
    let id = rig.account(1, 10).await;
    let revoked = key(&rig, &id, None).await;
    revoke(&rig, &id, &revoked.id).await;
    let expired = key(&rig, &id, Some(NOW)).await;
    let expires_later = key(&rig, &id, Some(NOW + 1_000)).await;
    let lasting = key(&rig, &id, None).await;
    let forget = |before_ms| rig.store.retention().forget_keys(before_ms, 10);
    assert_eq!(forget(NOW).await.expect("an answer"), 0, "not yet");
    assert_eq!(forget(NOW + 1).await.expect("an answer"), 2);
    let keys = rig.store.keys().list(&id, NOW).await.expect("a list");
    let mut left: Vec<&str> = keys.iter().map(|key| key.id.as_str()).collect();
    let mut expected = [expires_later.id.as_str(), lasting.id.as_str()];
    left.sort_unstable();
    expected.sort_unstable();
    assert_eq!(left, expected);
    assert!(!left.contains(&expired.id.as_str()));
}
