//! Receipts: a success whose files were hashed gets one in the commit that captures its price, chained to the one before it, on any number
//! of nodes; what is not hashed gets none.

use atelier_contract::Quota;
use atelier_contract::receipts::{ReceiptPayload, receipt_hash};
use atelier_store::{
    Asset, FileHash, Guard, NewReceiptKey, Outcome, ReceiptKeyRow, ReceiptRow, Settlement, Store,
};

use crate::rig::{NOW, Rig, number, options, quota, spawn, sql};

each_db!(
    a_success_gets_a_receipt_in_the_commit_that_captures_its_price,
    nothing_is_written_where_there_are_none,
    receipts_of_an_account_are_one_chain_at_several_nodes,
    a_receipt_never_changes_and_a_change_is_found,
    receipts_go_into_the_archive_with_their_jobs,
    keys_are_added_once_and_stay,
);

/// The success of a job that made one file.
fn success(rig: &Rig, job: &str, account: &str, spent: i64) -> Settlement {
    let key = format!("out/1/{job}.png");
    let settlement = rig.success(job, Guard::Fence(1), spent);
    Settlement {
        outcome: Outcome::Succeeded {
            output: r#"{"made":1}"#.into(),
            alias: None,
            quota: quota(spent),
            assets: vec![Asset {
                key: key.clone(),
                job_id: job.to_owned(),
                account_id: account.to_owned(),
                media_type: "image/png".into(),
                bytes: 1,
                expires_ms: NOW + 1_000_000,
                created_ms: NOW,
            }],
            hashes: Some(vec![FileHash {
                key,
                sha256: format!("hash of {job}"),
            }]),
        },
        ..settlement
    }
}

async fn made(rig: &Rig, account: &str, spent: i64) -> String {
    let job = rig.running(account, spent + 1).await;
    rig.settle(success(rig, &job, account, spent)).await;
    job
}

async fn of(rig: &Rig, account: &str, job: &str) -> Option<ReceiptRow> {
    let found = rig.store.ledger().receipts().of(account, job).await;
    found.expect("a read")
}

fn said(row: &ReceiptRow) -> ReceiptPayload {
    serde_json::from_str(&row.payload).expect("a payload")
}

async fn a_success_gets_a_receipt_in_the_commit_that_captures_its_price(rig: Rig) {
    let account = rig.account(20, 10).await;
    let job = made(&rig, &account, 2).await;
    let row = of(&rig, &account, &job).await.expect("a receipt");
    let payload = said(&row);
    assert_eq!(
        (payload.v, &payload.job, &payload.account),
        (1, &job, &account)
    );
    assert_eq!(
        (payload.quota, payload.files),
        (quota(2), vec![format!("hash of {job}")])
    );
    assert_eq!((row.number, payload.previous), (1, None));
    assert_eq!(row.hash, receipt_hash(&row.payload));
    let kept = format!("SELECT COUNT(*) FROM asset WHERE sha256 = 'hash of {job}'");
    assert_eq!(number(&rig.url, &kept).await, 1);
    let other = rig.account(20, 10).await;
    assert_eq!(of(&rig, &other, &job).await, None, "of another account");
    let next = made(&rig, &account, 3).await;
    let next = of(&rig, &account, &next).await.expect("a receipt");
    assert_eq!((next.number, &next.previous), (2, &Some(row.hash.clone())));
    assert_eq!(said(&next).previous, Some(row.hash.clone()));
    let listed = rig.store.ledger().receipts().list(&account, 0, 10).await;
    assert_eq!(listed.expect("a read"), (vec![next, row], 2));
    let (broken, looked) = rig.store.ledger().receipts().check().await.expect("a look");
    assert_eq!((broken, looked), (Vec::new(), 2));
}

async fn nothing_is_written_where_there_are_none(rig: Rig) {
    let account = rig.account(20, 10).await;
    let (plain, failed) = (
        rig.running(&account, 1).await,
        rig.running(&account, 1).await,
    );
    rig.settle(rig.success(&plain, Guard::Fence(1), 1)).await;
    rig.settle(rig.failure(&failed, Guard::Fence(1))).await;
    assert_eq!(number(&rig.url, "SELECT COUNT(*) FROM receipt").await, 0);
}

/// The promise: one chain for each account, without a gap or a fork, whoever settles what at once.
async fn receipts_of_an_account_are_one_chain_at_several_nodes(rig: Rig) {
    let accounts = [rig.account(1_000, 100).await, rig.account(1_000, 100).await];
    let nodes = if rig.store.is_postgres() { 3 } else { 1 };
    let mut stores = vec![rig.store.clone()];
    for _ in 1..nodes {
        let store = Store::open(&rig.url, options()).await;
        stores.push(store.expect("another node"));
    }
    let mut settlements = Vec::new();
    for place in 0..60 {
        let account = &accounts[place % 2];
        let job = rig.running(account, 2).await;
        settlements.push(success(&rig, &job, account, 1));
    }
    let tasks = settlements.into_iter().enumerate();
    let tasks: Vec<_> = tasks
        .map(|(place, settlement)| {
            let store = stores[place % nodes].clone();
            spawn(async move { store.jobs().settle(settlement).await.expect("settled") })
        })
        .collect();
    for task in tasks {
        task.await.expect("a task");
    }
    let (broken, looked) = rig.store.ledger().receipts().check().await.expect("a look");
    assert_eq!((broken, looked), (Vec::new(), 60));
    for account in &accounts {
        let (_, count) = rig
            .store
            .ledger()
            .receipts()
            .list(account, 0, 1)
            .await
            .expect("a read");
        assert_eq!(count, 30);
    }
    for store in stores.into_iter().skip(1) {
        store.close().await;
    }
}

async fn a_receipt_never_changes_and_a_change_is_found(rig: Rig) {
    let account = rig.account(20, 10).await;
    let (first, second) = (made(&rig, &account, 1).await, made(&rig, &account, 1).await);
    for change in ["UPDATE receipt SET payload = '{}'", "DELETE FROM receipt"] {
        assert!(sql(&rig.url, change).await.is_err(), "{change}");
    }
    let off = if rig.store.is_postgres() {
        "ALTER TABLE receipt DISABLE TRIGGER receipt_kept"
    } else {
        "DROP TRIGGER receipt_kept"
    };
    sql(&rig.url, off).await.expect("off");
    let cheaper = format!(
        "UPDATE receipt SET payload = REPLACE(payload, '\"quota\":1', '\"quota\":9') WHERE job_id = '{first}'"
    );
    sql(&rig.url, &cheaper).await.expect("changed");
    let (broken, _) = rig.store.ledger().receipts().check().await.expect("a look");
    assert_eq!(broken, std::slice::from_ref(&first));
    // With a hash that fits it does not stand before the next one any more.
    let row = of(&rig, &account, &first).await.expect("a receipt");
    let forged = receipt_hash(&row.payload);
    let rehashed = format!("UPDATE receipt SET hash = '{forged}' WHERE job_id = '{first}'");
    sql(&rig.url, &rehashed).await.expect("changed");
    let (broken, _) = rig.store.ledger().receipts().check().await.expect("a look");
    assert_eq!(broken, [second]);
    let on = if rig.store.is_postgres() {
        "ALTER TABLE receipt ENABLE TRIGGER receipt_kept"
    } else {
        "CREATE TRIGGER receipt_kept BEFORE UPDATE ON receipt BEGIN SELECT RAISE(ABORT, 'a receipt never changes'); END"
    };
    sql(&rig.url, on).await.expect("on");
}

async fn receipts_go_into_the_archive_with_their_jobs(rig: Rig) {
    let account = rig.account(40, 10).await;
    let archived = async || {
        let before_ms = NOW + 86_400_000;
        let cut = rig.store.archive().cut("", before_ms).await;
        let cut = cut.expect("a read").expect("an account");
        let (lines, _) = rig
            .store
            .archive()
            .lines(&cut, cut.from)
            .await
            .expect("lines");
        let file = atelier_store::ArchiveFile {
            name: rig.id("archive"),
            hash: "hash".into(),
            before_ms,
            jobs: 1,
            entries: cut.to - cut.from,
            time_ms: before_ms,
        };
        rig.store
            .archive()
            .remove(vec![cut], file)
            .await
            .expect("archived");
        let of_receipts = lines.iter().filter(|line| line.contains("hash of"));
        of_receipts.count()
    };
    let mut last = String::new();
    for _ in 0..3 {
        last = made(&rig, &account, 1).await;
    }
    assert!(archived().await >= 3);
    let left = "SELECT COUNT(*) FROM receipt";
    assert_eq!(number(&rig.url, left).await, 1, "the next one names it");
    assert!(of(&rig, &account, &last).await.is_some());
    for _ in 0..2 {
        last = made(&rig, &account, 1).await;
    }
    assert_eq!(of(&rig, &account, &last).await.expect("one").number, 5);
    assert!(archived().await >= 2);
    assert_eq!(number(&rig.url, left).await, 1);
    made(&rig, &account, 1).await;
    let (broken, looked) = rig.store.ledger().receipts().check().await.expect("a look");
    assert_eq!((broken, looked), (Vec::new(), 2));
    assert_eq!(rig.purse(&account).await.1, Quota::ZERO);
}

async fn keys_are_added_once_and_stay(rig: Rig) {
    let key = |kid: &str, seen: Option<&str>, created_ms| NewReceiptKey {
        row: ReceiptKeyRow {
            kid: kid.into(),
            public: "x".into(),
            created_ms,
        },
        setting: format!("receipt-key:{kid}"),
        sealed: "sealed".into(),
        seen: seen.map(str::to_owned),
    };
    let add = async |key| {
        let added = rig.store.ledger().receipts().add_key(key, None).await;
        added.expect("an answer")
    };
    assert!(add(key("1", None, NOW)).await);
    assert!(!add(key("2", None, NOW)).await, "another was faster");
    assert!(add(key("3", Some("1"), NOW + 1)).await);
    let keys = rig.store.ledger().receipts().keys().await.expect("a read");
    let kids: Vec<&str> = keys.iter().map(|key| &*key.kid).collect();
    assert_eq!(kids, ["3", "1"]);
    let sealed = rig.store.settings().get("receipt-key:3").await;
    assert_eq!(sealed.expect("a read").as_deref(), Some("sealed"));
    // Without its master key the sealed part is given up; the public one stays.
    let names = vec!["receipt-key:3".to_owned(), "not there".to_owned()];
    let removed = rig.store.settings().remove_all(names, None).await;
    assert_eq!(removed.expect("removed"), 1);
    for change in [
        "UPDATE receipt_key SET public = 'y'",
        "DELETE FROM receipt_key",
    ] {
        assert!(sql(&rig.url, change).await.is_err(), "{change}");
    }
}
