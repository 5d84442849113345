//! Accounts.

use atelier_store::{AccountPatch, Error, NewAccount};

use crate::rig::{NOW, Rig, quota};

each_db!(
    an_account_starts_with_its_grant,
    an_email_is_taken_in_any_case,
    accounts_are_listed_in_pages,
    a_patch_changes_only_what_it_names,
);

async fn an_account_starts_with_its_grant(rig: Rig) {
    let id = rig.account(50, 10).await;
    let account = rig
        .store
        .accounts()
        .find(&id)
        .await
        .expect("a read")
        .expect("there");
    assert_eq!((account.balance, account.frozen), (quota(50), quota(0)));
    assert_eq!((account.max_queue, account.disabled), (10, false));
    let own = rig.store.accounts().find_own(&id).await.expect("a read");
    assert_eq!(own, Some(account));
    let (rows, total) = rig
        .store
        .ledger()
        .list(Some(&id), 0, 10)
        .await
        .expect("a page");
    assert_eq!((rows.len(), total), (1, 1));
    assert_eq!(
        (rows[0].kind.as_str(), rows[0].amount),
        ("grant", quota(50))
    );

    let poor = rig.account(0, 10).await;
    assert_eq!(
        rig.store
            .ledger()
            .list(Some(&poor), 0, 10)
            .await
            .expect("a page")
            .1,
        0
    );
    assert_eq!(
        rig.store.accounts().find("nobody").await.expect("a read"),
        None
    );
}

async fn an_email_is_taken_in_any_case(rig: Rig) {
    let new = NewAccount {
        id: rig.id("account"),
        email: "Fox@Example.com".into(),
        email_verified_ms: None,
        balance: quota(1),
        max_queue: 10,
        ledger_id: rig.id("ledger"),
        now_ms: NOW,
    };
    let made = rig
        .store
        .accounts()
        .create(new.clone(), None, None)
        .await
        .expect("made");
    assert_eq!(made.email, "Fox@Example.com");
    let again = NewAccount {
        id: rig.id("account"),
        email: "fOX@example.COM".into(),
        ..new
    };
    assert!(matches!(
        rig.store.accounts().create(again, None, None).await,
        Err(Error::Conflict(_))
    ));
    let found = rig
        .store
        .accounts()
        .by_email("FOX@EXAMPLE.COM")
        .await
        .expect("a read");
    assert_eq!(found, Some(made));
    assert_eq!(rig.store.accounts().list(0, 10).await.expect("a page").1, 1);
}

async fn accounts_are_listed_in_pages(rig: Rig) {
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(rig.account(1, 10).await);
    }
    let (page, total) = rig.store.accounts().list(2, 2).await.expect("a page");
    assert_eq!(total, 5);
    let page: Vec<String> = page.iter().map(|account| account.id.to_string()).collect();
    assert_eq!(page, ids[2..4]);
}

async fn a_patch_changes_only_what_it_names(rig: Rig) {
    let id = rig.account(3, 10).await;
    let other = rig.account(3, 10).await;
    let before = rig
        .store
        .accounts()
        .find(&id)
        .await
        .expect("a read")
        .expect("there");
    let patch = AccountPatch {
        max_queue: Some(3),
        disabled: Some(true),
        ..Default::default()
    };
    let after = rig
        .store
        .accounts()
        .update(&id, patch, None)
        .await
        .expect("done")
        .expect("there");
    assert_eq!((after.max_queue, after.disabled), (3, true));
    assert_eq!(
        (after.email.as_str(), after.balance),
        (before.email.as_str(), quota(3))
    );
    assert_eq!(after.email_verified_ms, Some(NOW));

    let patch = AccountPatch {
        email: Some("New@example.com".into()),
        email_verified_ms: Some(None),
        ..Default::default()
    };
    let after = rig
        .store
        .accounts()
        .update(&id, patch.clone(), None)
        .await
        .expect("done")
        .expect("there");
    assert_eq!(
        (after.email.as_str(), after.email_verified_ms),
        ("New@example.com", None)
    );
    let taken = rig
        .store
        .accounts()
        .update(&other, patch.clone(), None)
        .await;
    assert!(matches!(taken, Err(Error::Conflict(_))));
    assert_eq!(
        rig.store
            .accounts()
            .update("nobody", AccountPatch::default(), None)
            .await
            .expect("done"),
        None
    );
}
