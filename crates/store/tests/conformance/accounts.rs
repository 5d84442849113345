//! Accounts.

use atelier_contract::pages::accounts::AccountOrder;
use atelier_store::{AccountFilter, AccountPatch, Error, NewAccount};

use crate::rig::{NOW, Rig, quota};

each_db!(
    an_account_starts_with_its_grant,
    an_email_is_taken_in_any_case,
    accounts_are_found_by_a_part_of_their_email_and_by_their_id,
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
    let all = AccountFilter::default();
    let (_, total) = rig
        .store
        .accounts()
        .list(&all, 0, 10)
        .await
        .expect("a page");
    assert_eq!(total, 1);
}

async fn accounts_are_listed_in_pages(rig: Rig) {
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(rig.account(1, 10).await);
    }
    let all = AccountFilter::default();
    let (page, total) = rig.store.accounts().list(&all, 2, 2).await.expect("a page");
    assert_eq!(total, 5);
    let page: Vec<String> = page.iter().map(|account| account.id.to_string()).collect();
    assert_eq!(page, ids[2..4]);
}

async fn accounts_are_found_by_a_part_of_their_email_and_by_their_id(rig: Rig) {
    let make = async |email: &str, balance: i64| {
        let new = NewAccount {
            id: rig.id("account"),
            email: email.into(),
            email_verified_ms: None,
            balance: quota(balance),
            max_queue: 10,
            ledger_id: rig.id("ledger"),
            now_ms: NOW,
        };
        let made = rig.store.accounts().create(new, None, None).await;
        made.expect("made").id.to_string()
    };
    let fox = make("Red_Fox@example.com", 2).await;
    let crane = make("crane@example.com", 5).await;
    let find = async |text: &str, order: AccountOrder| {
        let filter = AccountFilter {
            text: text.into(),
            order,
        };
        let page = rig.store.accounts().list(&filter, 0, 10).await;
        let (rows, total) = page.expect("a page");
        assert_eq!(rows.len() as i64, total);
        rows.iter()
            .map(|row| row.id.to_string())
            .collect::<Vec<_>>()
    };
    let created = AccountOrder::Created;
    assert_eq!(find("RED_f", created).await, [fox.as_str()]);
    assert_eq!(find("red%f", created).await, Vec::<String>::new());
    assert_eq!(find(&crane, created).await, [crane.as_str()]);
    let both = [crane.as_str(), fox.as_str()];
    assert_eq!(find("example.com", AccountOrder::Email).await, both);
    assert_eq!(find("", AccountOrder::Balance).await, both);
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
        notes: Some(Some("pays by the year".into())),
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
    assert_eq!(after.notes.as_deref(), Some("pays by the year"));
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
