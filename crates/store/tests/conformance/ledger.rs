//! Credit, and the rules of the ledger itself.

use atelier_contract::Quota;
use atelier_store::{Credit, CreditKind, CreditOutcome, Guard};

use crate::rig::{NOW, Rig, quota, sql};

each_db!(
    credit_adds_up_and_never_goes_below_zero,
    a_repeated_credit_changes_nothing,
    every_movement_has_a_row_with_what_it_left,
    ledger_rows_cannot_be_changed_or_deleted,
    a_hold_cannot_be_made_or_resolved_twice,
    balances_cannot_go_below_zero,
    the_auditor_notices_a_cooked_balance,
);

fn credit(rig: &Rig, account_id: &str, amount: i64) -> Credit {
    Credit {
        id: rig.id("ledger"),
        account_id: account_id.into(),
        amount: quota(amount),
        kind: if amount > 0 {
            CreditKind::Grant
        } else {
            CreditKind::Adjust
        },
        reason: "because".into(),
        idempotency_key: None,
        end: None,
        now_ms: NOW,
    }
}

async fn credit_adds_up_and_never_goes_below_zero(rig: Rig) {
    let id = rig.account(10, 10).await;
    let done = rig
        .store
        .ledger()
        .credit(credit(&rig, &id, 5), None)
        .await
        .expect("an answer");
    assert!(matches!(done, CreditOutcome::Done(account) if account.balance == quota(15)));
    let done = rig
        .store
        .ledger()
        .credit(credit(&rig, &id, -15), None)
        .await
        .expect("an answer");
    assert!(matches!(done, CreditOutcome::Done(account) if account.balance == quota(0)));
    let mut small = credit(&rig, &id, -1);
    small.amount = Quota::from_thousandths(-1);
    let done = rig
        .store
        .ledger()
        .credit(small, None)
        .await
        .expect("an answer");
    assert!(matches!(done, CreditOutcome::TooLow(account) if account.balance == quota(0)));
    let done = rig
        .store
        .ledger()
        .credit(credit(&rig, "nobody", 5), None)
        .await
        .expect("an answer");
    assert_eq!(done, CreditOutcome::NoAccount);
    assert_eq!(rig.purse(&id).await, (quota(0), quota(0)));
}

async fn a_repeated_credit_changes_nothing(rig: Rig) {
    let id = rig.account(0, 10).await;
    let other = rig.account(0, 10).await;
    let keyed = |account: &str| Credit {
        idempotency_key: Some("invoice 7".into()),
        ..credit(&rig, account, 5)
    };
    let first = rig
        .store
        .ledger()
        .credit(keyed(&id), None)
        .await
        .expect("an answer");
    assert!(matches!(first, CreditOutcome::Done(_)));
    let second = rig
        .store
        .ledger()
        .credit(keyed(&id), None)
        .await
        .expect("an answer");
    assert!(matches!(second, CreditOutcome::Repeated(account) if account.balance == quota(5)));
    for other in [
        Credit {
            amount: quota(6),
            ..keyed(&id)
        },
        Credit {
            reason: "another".into(),
            ..keyed(&id)
        },
    ] {
        let third = rig
            .store
            .ledger()
            .credit(other, None)
            .await
            .expect("an answer");
        assert_eq!(third, CreditOutcome::Mismatch);
    }
    assert_eq!(rig.purse(&id).await, (quota(5), quota(0)));
    let theirs = rig
        .store
        .ledger()
        .credit(keyed(&other), None)
        .await
        .expect("an answer");
    assert!(
        matches!(theirs, CreditOutcome::Done(_)),
        "a key belongs to its account"
    );
}

async fn every_movement_has_a_row_with_what_it_left(rig: Rig) {
    let id = rig.account(10, 10).await;
    let one = rig.running(&id, 4).await;
    let two = rig.running(&id, 6).await;
    rig.settle(rig.success(&one, Guard::Fence(1), 3)).await;
    rig.settle(rig.failure(&two, Guard::Fence(1))).await;
    let (rows, total) = rig
        .store
        .ledger()
        .list(Some(&id), 0, 10)
        .await
        .expect("a page");
    let told: Vec<_> = rows
        .iter()
        .map(|row| {
            (
                row.kind.as_str(),
                row.amount,
                row.balance_after,
                row.frozen_after,
            )
        })
        .collect();
    assert_eq!(total, 5);
    assert_eq!(
        told,
        [
            ("release", quota(6), quota(7), quota(0)),
            ("capture", quota(3), quota(1), quota(6)),
            ("hold", quota(6), quota(0), quota(10)),
            ("hold", quota(4), quota(6), quota(4)),
            ("grant", quota(10), quota(10), quota(0)),
        ]
    );
    assert_eq!(rows[1].job_id.as_deref(), Some(&*one));
    assert_eq!(
        (rows[1].balance_delta, rows[1].frozen_delta),
        (quota(1), quota(-4))
    );
    let (page, total) = rig
        .store
        .ledger()
        .list(None, 1, 2)
        .await
        .expect("a page of all");
    assert_eq!((page.len(), total), (2, 5));
}

async fn ledger_rows_cannot_be_changed_or_deleted(rig: Rig) {
    let id = rig.account(10, 10).await;
    for text in [
        "UPDATE ledger SET amount = 1",
        "UPDATE ledger SET reason = 'other'",
        "DELETE FROM ledger",
    ] {
        let refused = sql(&rig.url, text).await.expect_err(text);
        assert!(
            refused.to_string().contains("ledger row never"),
            "{refused}"
        );
    }
    assert_eq!(
        rig.store
            .ledger()
            .list(Some(&id), 0, 10)
            .await
            .expect("a page")
            .1,
        1
    );
}

async fn a_hold_cannot_be_made_or_resolved_twice(rig: Rig) {
    let id = rig.account(10, 10).await;
    let job = rig.running(&id, 4).await;
    rig.settle(rig.success(&job, Guard::Fence(1), 4)).await;
    for kind in ["hold", "capture", "release"] {
        let forged = format!(
            "INSERT INTO ledger (id, account_id, number, job_id, kind, amount, balance_delta, \
             frozen_delta, balance_after, frozen_after, reason, time_ms) \
             VALUES ('x', '{id}', 99, '{job}', '{kind}', 0, 0, 0, 6000, 0, '', 0)"
        );
        assert!(sql(&rig.url, &forged).await.is_err(), "a second {kind}");
    }
}

async fn balances_cannot_go_below_zero(rig: Rig) {
    rig.account(10, 10).await;
    for column in ["balance", "frozen"] {
        assert!(
            sql(&rig.url, &format!("UPDATE account SET {column} = -1"))
                .await
                .is_err()
        );
    }
}

async fn the_auditor_notices_a_cooked_balance(rig: Rig) {
    let id = rig.account(10, 10).await;
    let job = rig.waiting(&id, 4).await;
    for (cook, mend, word) in [
        (
            "UPDATE account SET balance = 7000",
            "UPDATE account SET balance = 6000",
            "balance",
        ),
        (
            "UPDATE account SET frozen = 5000",
            "UPDATE account SET frozen = 4000",
            "open holds",
        ),
        (
            "UPDATE in_flight SET jobs = 2",
            "UPDATE in_flight SET jobs = 1",
            "counter",
        ),
        (
            "UPDATE job SET price = 3000",
            "UPDATE job SET price = 4000",
            "no hold of its price",
        ),
    ] {
        sql(&rig.url, cook).await.expect("cooked");
        let found = rig
            .store
            .invariants()
            .check_books()
            .await
            .expect("an audit")
            .join("\n");
        assert!(found.contains(word), "{cook}: {found}");
        sql(&rig.url, mend).await.expect("mended");
    }
    assert_eq!(
        rig.store
            .invariants()
            .check_books()
            .await
            .expect("an audit"),
        Vec::<String>::new()
    );
    rig.settle(rig.failure(&job, Guard::Unfinished)).await;
}
