//! An act of an operator and the row that tells of it are one commit: both are there, or neither.

use atelier_store::{
    AccountPatch, AuditRow, Credit, CreditKind, CreditOutcome, Error, KeyTerms, NewAccount, NewKey,
    Period,
};

use crate::rig::{NOW, Rig, quota};

each_db!(
    acts_of_an_account_are_a_list_of_its_own,
    an_act_that_cannot_be_written_down_does_not_happen,
    an_act_that_does_not_happen_is_not_written_down,
    an_account_without_its_first_key_is_not_made,
    prices_change_together_or_not_at_all,
);

fn act(id: &str) -> AuditRow {
    AuditRow {
        id: id.into(),
        time_ms: NOW,
        actor: "root".into(),
        action: "test".into(),
        target: "target".into(),
        detail: String::new(),
        account_id: None,
    }
}

fn account(rig: &Rig, email: &str) -> NewAccount {
    NewAccount {
        id: rig.id("account"),
        email: email.into(),
        email_verified_ms: None,
        balance: quota(5),
        max_queue: 1,
        ledger_id: rig.id("ledger"),
        now_ms: NOW,
    }
}

fn key(rig: &Rig, account_id: &str, hash: &str) -> NewKey {
    NewKey {
        id: rig.id("key"),
        account_id: account_id.into(),
        hash: hash.into(),
        prefix: "at_".into(),
        name: "first".into(),
        scopes: "all".into(),
        now_ms: NOW,
        expires_ms: None,
        most: 9,
        above: None,
        terms: KeyTerms::default(),
        note: None,
        member_id: None,
        alive_since_ms: 0,
    }
}

fn credit(rig: &Rig, account_id: &str, amount: i64) -> Credit {
    Credit {
        id: rig.id("ledger"),
        account_id: account_id.into(),
        amount: quota(amount),
        kind: CreditKind::Adjust,
        reason: "because".into(),
        idempotency_key: None,
        end: None,
        now_ms: NOW,
    }
}

async fn written(rig: &Rig) -> i64 {
    rig.store.admin().audit_rows(0, 1).await.expect("a page").1
}

async fn an_act_that_cannot_be_written_down_does_not_happen(rig: Rig) {
    let id = rig.account(10, 10).await;
    let issued = key(&rig, &id, "known");
    let (store, key_id) = (&rig.store, issued.id.clone());
    let keys = store.keys();
    keys.add(issued, Some(act("taken"))).await.expect("issued");
    // The identifier of the row is taken, which is as good as a process that dies before it is written.
    let twin = || Some(act("taken"));
    let new = account(&rig, "new@example.com");
    let first = key(&rig, &new.id, "first");
    let patch = AccountPatch {
        max_queue: Some(99),
        ..AccountPatch::default()
    };
    let settings = vec![("price:a".to_owned(), "1".to_owned())];
    let failures = [
        store
            .accounts()
            .create(new, Some(first), twin())
            .await
            .map(|_| ()),
        store
            .accounts()
            .update(&id, patch, twin())
            .await
            .map(|_| ()),
        store
            .ledger()
            .credit(credit(&rig, &id, 7), twin())
            .await
            .map(|_| ()),
        keys.add(key(&rig, &id, "other"), twin()).await.map(|_| ()),
        keys.revoke(&id, &key_id, NOW, twin()).await.map(|_| ()),
        store.settings().put_all(settings, twin()).await,
        store.settings().add("b", "1", twin()).await.map(|_| ()),
    ];
    for (number, failure) in failures.iter().enumerate() {
        assert!(
            matches!(failure, Err(Error::Conflict(_))),
            "{number}: {failure:?}"
        );
    }
    let account = store
        .accounts()
        .find(&id)
        .await
        .expect("read")
        .expect("there");
    assert_eq!((account.balance, account.max_queue), (quota(10), 10));
    assert_eq!(store.keys().list(&id, NOW).await.expect("read").len(), 1);
    assert_eq!(
        store
            .accounts()
            .by_email("new@example.com")
            .await
            .expect("read"),
        None
    );
    assert_eq!(store.settings().get("price:a").await.expect("read"), None);
    assert_eq!(store.settings().get("b").await.expect("read"), None);
    assert_eq!(written(&rig).await, 1);
}

async fn an_act_that_does_not_happen_is_not_written_down(rig: Rig) {
    let id = rig.account(10, 10).await;
    let store = &rig.store;
    let too_much = store
        .ledger()
        .credit(credit(&rig, &id, -11), Some(act("a")))
        .await;
    assert!(matches!(too_much, Ok(CreditOutcome::TooLow(_))));
    let keyed = || Credit {
        idempotency_key: Some("invoice 7".into()),
        ..credit(&rig, &id, 1)
    };
    let first = store.ledger().credit(keyed(), Some(act("b"))).await;
    assert!(matches!(first, Ok(CreditOutcome::Done(_))));
    let again = store.ledger().credit(keyed(), Some(act("c"))).await;
    assert!(matches!(again, Ok(CreditOutcome::Repeated(_))));
    let nobody = store
        .keys()
        .revoke(&id, "no such", NOW, Some(act("d")))
        .await;
    assert!(nobody.expect("an answer").is_empty());
    let patch = AccountPatch::default();
    let nobody = store
        .accounts()
        .update("nobody", patch, Some(act("e")))
        .await;
    assert_eq!(nobody.expect("an answer"), None);
    store.settings().add("x", "1", None).await.expect("stored");
    let stands = store.settings().add("x", "2", Some(act("f"))).await;
    assert_eq!(stands.expect("an answer"), "1");
    assert_eq!(written(&rig).await, 1);
}

async fn an_account_without_its_first_key_is_not_made(rig: Rig) {
    let id = rig.account(0, 1).await;
    let known = key(&rig, &id, "known");
    rig.store.keys().add(known, None).await.expect("issued");
    let new = account(&rig, "new@example.com");
    let twin = key(&rig, &new.id, "known");
    let refused = rig
        .store
        .accounts()
        .create(new.clone(), Some(twin), Some(act("a")))
        .await;
    assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
    let found = rig.store.accounts().by_email("new@example.com").await;
    assert_eq!(found.expect("read"), None);
    assert_eq!(written(&rig).await, 0);
    let first = key(&rig, &new.id, "fresh");
    let made = rig
        .store
        .accounts()
        .create(new, Some(first), Some(act("a")))
        .await
        .expect("made");
    assert_eq!(made.balance, quota(5));
    let (owner, _) = rig
        .store
        .keys()
        .account_for("fresh", NOW)
        .await
        .expect("read")
        .expect("its key works");
    assert_eq!(owner.id, made.id);
    assert_eq!(written(&rig).await, 1);
}

async fn prices_change_together_or_not_at_all(rig: Rig) {
    let set = |amount: &str| {
        vec![
            ("price:a".to_owned(), amount.to_owned()),
            ("price:b".to_owned(), amount.to_owned()),
        ]
    };
    let done = rig.store.settings().put_all(set("1"), Some(act("a"))).await;
    done.expect("changed");
    let failed = rig.store.settings().put_all(set("2"), Some(act("a"))).await;
    assert!(failed.is_err());
    let found = rig.store.settings().list("price:").await.expect("a list");
    assert_eq!(found, set("1"));
}

async fn acts_of_an_account_are_a_list_of_its_own(rig: Rig) {
    let id = rig.account(1, 1).await;
    for (number, account_id) in [Some(&id), Some(&id), None].into_iter().enumerate() {
        let act = AuditRow {
            account_id: account_id.cloned(),
            time_ms: number as i64,
            ..act(&format!("own-{number}"))
        };
        let name = format!("setting-{number}");
        rig.store
            .settings()
            .put_if_absent(&name, "a")
            .await
            .expect("kept");
        let settings = rig.store.settings();
        let replaced = settings.replace(&name, "a", "b", Some(act)).await;
        assert!(replaced.expect("replaced"));
    }
    let list = async || {
        rig.store
            .admin()
            .account_acts(&id, Period::default(), 0, 10)
            .await
            .expect("rows")
    };
    let (rows, total) = list().await;
    let ids: Vec<_> = rows.iter().map(|row| &*row.id).collect();
    assert_eq!((ids, total), (vec!["own-1", "own-0"], 2));
    // Pages are the same from whichever end they are read.
    for (offset, limit, want) in [
        (0, 1, vec!["own-1"]),
        (1, 1, vec!["own-0"]),
        (1, 10, vec!["own-0"]),
        (2, 10, vec![]),
        (i64::MAX, 10, vec![]),
    ] {
        let own = rig.store.admin();
        let page = own.account_acts(&id, Period::default(), offset, limit);
        let (rows, total) = page.await.expect("rows");
        let ids: Vec<_> = rows.iter().map(|row| &*row.id).collect();
        assert_eq!((ids, total), (want, 2), "{offset} {limit}");
    }
    let late = Period {
        from_ms: Some(1),
        to_ms: Some(2),
    };
    let page = rig.store.admin().account_acts(&id, late, 0, 10).await;
    let (rows, total) = page.expect("rows");
    assert_eq!((rows.len(), &*rows[0].id, total), (1, "own-1", 1));
    let (rows, total) = rig.store.admin().audit_rows(0, 10).await.expect("rows");
    assert_eq!((&*rows[0].id, total), ("own-2", 1));
    assert_eq!(
        rig.store.admin().check_audit().await.expect("checked"),
        [""; 0]
    );
    let gone = rig.store.retention().forget_account_acts(1, 10).await;
    assert_eq!(gone.expect("forgotten"), 1);
    assert_eq!(list().await.1, 1);
}
