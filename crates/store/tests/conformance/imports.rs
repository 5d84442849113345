//! What is taken over from other programs: each row once, money with its ledger row, and a page is one commit.

use atelier_contract::LimitWindow;
use atelier_store::{
    AuditRow, Error, ImportPage, ImportedAccount, ImportedKey, KeyLimit, KeyTerms,
};

use crate::rig::{NOW, Rig, number, quota, sql};

each_db!(
    accounts_arrive_with_what_they_had,
    a_row_is_taken_over_once,
    a_page_is_taken_over_whole_or_not_at_all,
    keys_work_for_their_accounts,
    a_deleted_account_is_remembered_without_its_name,
);

pub(crate) fn account(rig: &Rig, origin: &str, balance: i64) -> ImportedAccount {
    ImportedAccount {
        id: rig.id("imported"),
        origin: origin.to_owned(),
        name: format!("user {origin}"),
        email: format!("User.{origin}@example.com"),
        max_queue: 7,
        disabled: false,
        group: None,
        balance: quota(balance),
        ledger_id: rig.id("ledger"),
        created_ms: NOW - 5,
    }
}

fn key(rig: &Rig, origin: &str, account_id: &str) -> ImportedKey {
    ImportedKey {
        id: rig.id("key"),
        origin: origin.to_owned(),
        account_id: account_id.to_owned(),
        hash: rig.id("hash"),
        prefix: "sk-abcd".into(),
        name: "website".into(),
        scopes: "submit read manage".into(),
        created_ms: NOW - 5,
        expires_ms: None,
        terms: KeyTerms::default(),
    }
}

pub(crate) fn page<T>(rows: Vec<T>) -> ImportPage<T> {
    ImportPage {
        source: "new-api".into(),
        rows,
        now_ms: NOW,
        alive_since_ms: NOW - 60_000,
    }
}

pub(crate) fn act(rig: &Rig) -> AuditRow {
    AuditRow {
        id: rig.id("act"),
        time_ms: NOW,
        actor: "command line".into(),
        action: "import.accounts".into(),
        target: "new-api".into(),
        detail: String::new(),
        account_id: None,
    }
}

async fn acts(rig: &Rig) -> i64 {
    let sql = "SELECT COUNT(*) FROM audit WHERE action = 'import.accounts'";
    number(&rig.url, sql).await
}

async fn accounts_arrive_with_what_they_had(rig: Rig) {
    let imports = rig.store.imports();
    assert!(!imports.any().await.expect("a read"));
    let rich = account(&rig, "1", 40);
    let poor = ImportedAccount {
        disabled: true,
        group: Some("vip".into()),
        ..account(&rig, "2", 0)
    };
    let (rich_id, poor_id) = (rich.id.clone(), poor.id.clone());
    let taken = imports
        .add_accounts(page(vec![rich, poor]), act(&rig))
        .await;
    taken.expect("taken over");
    assert!(imports.any().await.expect("a read"));
    assert_eq!(rig.purse(&rich_id).await, (quota(40), quota(0)));
    assert_eq!(rig.purse(&poor_id).await, (quota(0), quota(0)));
    let there = rig.store.accounts().by_email("user.1@EXAMPLE.com").await;
    let there = there.expect("a read").expect("the account");
    assert_eq!(
        (there.email.as_str(), there.max_queue),
        ("User.1@example.com", 7)
    );
    assert_eq!(
        (there.email_verified_ms, there.created_ms),
        (Some(NOW), NOW - 5)
    );
    let poor = rig.store.accounts().find(&poor_id).await;
    let poor = poor.expect("a read").expect("the account");
    assert_eq!((poor.disabled, poor.group.as_deref()), (true, Some("vip")));
    let rows = "SELECT COUNT(*) FROM ledger WHERE kind = 'grant' AND cause = 'import' AND idempotency_key = 'import:new-api:1'";
    assert_eq!(number(&rig.url, rows).await, 1);
    assert_eq!(imports.brought("new-api").await.expect("a sum"), quota(40));
    assert_eq!(imports.brought("one-api").await.expect("a sum"), quota(0));
    let asked = ["1", "2", "3"].map(str::to_owned);
    let found = imports.accounts("new-api", &asked).await.expect("a read");
    let mut found: Vec<_> = found
        .iter()
        .map(|row| (&*row.origin, &*row.name, &*row.target))
        .collect();
    found.sort_unstable();
    assert_eq!(
        found,
        [("1", "user 1", &*rich_id), ("2", "user 2", &*poor_id)]
    );
    assert!(
        imports
            .accounts("one-api", &asked)
            .await
            .expect("a read")
            .is_empty()
    );
    let emails = ["user.1@example.com", "user.9@example.com"].map(str::to_owned);
    let taken = imports.emails_taken(&emails).await.expect("a read");
    assert_eq!(taken, ["user.1@example.com"]);
    assert_eq!(acts(&rig).await, 1);
}

async fn a_row_is_taken_over_once(rig: Rig) {
    let imports = rig.store.imports();
    let first = account(&rig, "1", 40);
    let id = first.id.clone();
    let taken = imports.add_accounts(page(vec![first]), act(&rig)).await;
    taken.expect("taken over");
    // The same row under another address, and another row under the same address.
    let again = ImportedAccount {
        email: "another@example.com".into(),
        ..account(&rig, "1", 40)
    };
    let namesake = ImportedAccount {
        email: "USER.1@example.com".into(),
        ..account(&rig, "2", 3)
    };
    for one in [again, namesake] {
        let taken = imports.add_accounts(page(vec![one]), act(&rig)).await;
        assert!(matches!(taken, Err(Error::Conflict(_))), "{taken:?}");
    }
    assert_eq!(rig.purse(&id).await, (quota(40), quota(0)));
    assert_eq!(number(&rig.url, "SELECT COUNT(*) FROM account").await, 1);
    assert_eq!(imports.brought("new-api").await.expect("a sum"), quota(40));
    assert_eq!(acts(&rig).await, 1, "what did not happen leaves no row");
}

async fn a_page_is_taken_over_whole_or_not_at_all(rig: Rig) {
    let imports = rig.store.imports();
    let mut rows: Vec<_> = (0..500).map(|n| account(&rig, &n.to_string(), n)).collect();
    rows.push(ImportedAccount {
        id: rows[0].id.clone(),
        email: "same@example.com".into(),
        ..account(&rig, "501", 1)
    });
    let taken = imports.add_accounts(page(rows.clone()), act(&rig)).await;
    assert!(taken.is_err(), "two rows have one identifier");
    for table in ["account", "imported", "ledger"] {
        let sql = format!("SELECT COUNT(*) FROM {table}");
        assert_eq!(number(&rig.url, &sql).await, 0, "{table}");
    }
    rows.pop();
    let taken = imports.add_accounts(page(rows), act(&rig)).await;
    taken.expect("taken over");
    let sum = imports.brought("new-api").await.expect("a sum");
    assert_eq!(sum, quota((0..500).sum()));
    assert_eq!(
        number(&rig.url, "SELECT SUM(balance) FROM account").await,
        sum.thousandths()
    );
}

async fn keys_work_for_their_accounts(rig: Rig) {
    let imports = rig.store.imports();
    let owner = account(&rig, "1", 40);
    let owner_id = owner.id.clone();
    let taken = imports.add_accounts(page(vec![owner]), act(&rig)).await;
    taken.expect("taken over");
    let free = key(&rig, "1", &owner_id);
    let limited = ImportedKey {
        expires_ms: Some(NOW + 10),
        terms: KeyTerms {
            limits: vec![KeyLimit {
                window: LimitWindow::Total,
                quota: quota(3),
            }],
            ..KeyTerms::default()
        },
        ..key(&rig, "2", &owner_id)
    };
    let hashes = [free.hash.clone(), limited.hash.clone(), "none".to_owned()];
    let older = imports
        .add_keys(page(vec![free.clone(), limited.clone()]), act(&rig))
        .await;
    assert_eq!(older.expect("an answer"), None, "no node speaks against it");
    let taken = imports.hashes_taken(&hashes).await.expect("a read");
    assert_eq!(taken.len(), 2);
    let who = |hash: String, now_ms: i64| {
        let store = rig.store.clone();
        async move {
            store
                .keys()
                .account_for(&hash, now_ms)
                .await
                .expect("a read")
        }
    };
    let (found, (found_key, above)) = who(free.hash.clone(), NOW).await.expect("a caller");
    assert_eq!(
        (&*found.id, &*found_key.id, above.len()),
        (&*owner_id, &*free.id, 0)
    );
    let (_, (found_key, _)) = who(limited.hash.clone(), NOW).await.expect("a caller");
    assert_eq!(found_key.terms.limits, limited.terms.limits);
    assert!(
        who(limited.hash.clone(), NOW + 10).await.is_none(),
        "it has expired"
    );
    let counting = "SELECT counting_keys FROM account";
    assert_eq!(number(&rig.url, counting).await, 1);
    // A key is nobody's twice: neither its row nor its hash.
    for again in [
        ImportedKey {
            hash: rig.id("hash"),
            ..key(&rig, "1", &owner_id)
        },
        ImportedKey {
            hash: free.hash.clone(),
            ..key(&rig, "3", &owner_id)
        },
    ] {
        let taken = imports.add_keys(page(vec![again]), act(&rig)).await;
        assert!(matches!(taken, Err(Error::Conflict(_))), "{taken:?}");
    }
    let found = imports
        .keys("new-api", &["1".to_owned()])
        .await
        .expect("a read");
    assert_eq!(found[0].target, free.id);
}

async fn a_deleted_account_is_remembered_without_its_name(rig: Rig) {
    let imports = rig.store.imports();
    let gone = account(&rig, "1", 40);
    let id = gone.id.clone();
    let taken = imports.add_accounts(page(vec![gone]), act(&rig)).await;
    taken.expect("taken over");
    let deleted = rig.store.accounts().delete(&id, NOW, None).await;
    assert!(deleted.expect("an answer"));
    let found = imports
        .accounts("new-api", &["1".to_owned()])
        .await
        .expect("a read");
    assert_eq!((&*found[0].name, &*found[0].target), ("", &*id));
    let back = imports
        .add_accounts(page(vec![account(&rig, "1", 40)]), act(&rig))
        .await;
    assert!(matches!(back, Err(Error::Conflict(_))), "{back:?}");
    assert_eq!(
        sql(&rig.url, "DELETE FROM imported").await.expect("done"),
        1
    );
}
