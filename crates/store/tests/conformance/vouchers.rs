//! Vouchers: a code is worth what its batch says, once, whoever asks where and when.

use atelier_store::{
    AccountPatch, AuditRow, NewVouchers, RedeemOutcome, Redeemed, Redemption, Store, VoucherBatch,
    VoucherTerms,
};

use crate::credits::credits;
use crate::rig::{NOW, Rig, number, options, quota, spawn, sql};

each_db!(
    a_code_gives_its_worth_once,
    a_code_is_refused_for_what_it_is,
    quota_of_a_code_ends_as_its_batch_says,
    a_code_redeemed_at_several_nodes_at_once_gives_once,
    a_batch_is_redeemed_so_often_by_one_account,
    a_paused_account_redeems_nothing,
    batches_are_listed_with_their_counts,
    what_was_redeemed_never_changes,
    a_redemption_and_its_act_are_one_commit,
);

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;

pub(crate) fn terms(amount: i64) -> VoucherTerms {
    VoucherTerms {
        note: "spring fair".into(),
        amount: quota(amount),
        per_account: 1,
        expires_ms: None,
        credit_expires_ms: None,
        credit_days: None,
    }
}

/// Makes a batch; its identifier and its codes.
pub(crate) async fn batch(rig: &Rig, count: usize, terms: VoucherTerms) -> (String, Vec<String>) {
    let id = rig.id("batch");
    let hashes: Vec<String> = (0..count).map(|_| rig.id("code")).collect();
    let new = NewVouchers {
        id: id.clone(),
        terms,
        hashes: hashes.clone(),
        now_ms: NOW,
    };
    rig.store
        .ledger()
        .vouchers()
        .make(new, None)
        .await
        .expect("made");
    (id, hashes)
}

fn redemption(rig: &Rig, account: &str, code: &str, now_ms: i64) -> Redemption {
    Redemption {
        account_id: account.to_owned(),
        hash: code.to_owned(),
        ledger_id: rig.id("ledger"),
        now_ms,
        alive_since_ms: NOW - 60_000,
    }
}

pub(crate) async fn redeem(rig: &Rig, account: &str, code: &str, now_ms: i64) -> RedeemOutcome {
    let wish = redemption(rig, account, code, now_ms);
    let redeemed = rig.store.ledger().vouchers().redeem(wish, None).await;
    redeemed.expect("an answer")
}

pub(crate) fn done(outcome: RedeemOutcome) -> Redeemed {
    match outcome {
        RedeemOutcome::Done(redeemed) => redeemed,
        other => panic!("{other:?}"),
    }
}

async fn one(rig: &Rig, id: &str) -> VoucherBatch {
    let found = rig.store.ledger().vouchers().one(id).await;
    found.expect("a read").expect("the batch")
}

async fn a_code_gives_its_worth_once(rig: Rig) {
    let (account, other) = (rig.account(1, 10).await, rig.account(0, 10).await);
    let (id, codes) = batch(&rig, 2, terms(7)).await;
    let first = done(redeem(&rig, &account, &codes[0], NOW).await);
    assert_eq!((first.amount, first.expires_ms), (quota(7), None));
    assert_eq!((&first.batch_id, first.redeemed_ms), (&id, NOW));
    assert_eq!(rig.purse(&account).await, (quota(8), quota(0)));
    // The same account is told the same, whatever has become of the batch.
    let revoked = rig.store.ledger().vouchers().revoke(&id, NOW, None).await;
    assert!(revoked.expect("an answer"));
    let again = redeem(&rig, &account, &codes[0], NOW + DAY_MS).await;
    assert_eq!(again, RedeemOutcome::Repeated(first));
    assert_eq!(
        redeem(&rig, &other, &codes[0], NOW).await,
        RedeemOutcome::Used
    );
    assert_eq!(
        redeem(&rig, &other, &codes[1], NOW).await,
        RedeemOutcome::Revoked
    );
    assert_eq!(rig.purse(&account).await, (quota(8), quota(0)));
    assert_eq!(rig.purse(&other).await, (quota(0), quota(0)));
    let again = rig.store.ledger().vouchers().revoke(&id, NOW, None).await;
    assert!(!again.expect("an answer"), "it was revoked before");
    assert_eq!(one(&rig, &id).await.revoked_ms, Some(NOW));
}

async fn a_code_is_refused_for_what_it_is(rig: Rig) {
    let account = rig.account(0, 10).await;
    let end_ms = NOW + HOUR_MS;
    let ending = VoucherTerms {
        expires_ms: Some(end_ms),
        per_account: 5,
        ..terms(3)
    };
    let (_, codes) = batch(&rig, 3, ending).await;
    assert_eq!(
        redeem(&rig, &account, "no code", NOW).await,
        RedeemOutcome::Unknown
    );
    assert_eq!(
        redeem(&rig, "nobody", &codes[0], NOW).await,
        RedeemOutcome::NoAccount
    );
    done(redeem(&rig, &account, &codes[0], end_ms - 1).await);
    let late = redeem(&rig, &account, &codes[1], end_ms).await;
    assert_eq!(late, RedeemOutcome::Expired, "at the very instant");
    assert_eq!(rig.purse(&account).await, (quota(3), quota(0)));
    // What would give nothing any more is over as well.
    let spent = VoucherTerms {
        credit_expires_ms: Some(end_ms),
        ..terms(3)
    };
    let (_, codes) = batch(&rig, 1, spent).await;
    let late = redeem(&rig, &account, &codes[0], end_ms).await;
    assert_eq!(late, RedeemOutcome::Expired);
    let none = rig
        .store
        .ledger()
        .vouchers()
        .one("no batch")
        .await
        .expect("a read");
    assert_eq!(none, None);
}

async fn quota_of_a_code_ends_as_its_batch_says(rig: Rig) {
    let fixed_ms = NOW + 10 * DAY_MS;
    for (fixed, days, ends) in [
        (None, Some(3), Some(NOW + 3 * DAY_MS)),
        (Some(fixed_ms), None, Some(fixed_ms)),
        (Some(fixed_ms), Some(3), Some(NOW + 3 * DAY_MS)),
        (Some(fixed_ms), Some(30), Some(fixed_ms)),
        (None, None, None),
    ] {
        let account = rig.account(0, 10).await;
        let terms = VoucherTerms {
            credit_expires_ms: fixed,
            credit_days: days,
            ..terms(4)
        };
        let (_, codes) = batch(&rig, 1, terms).await;
        let redeemed = done(redeem(&rig, &account, &codes[0], NOW).await);
        assert_eq!(redeemed.expires_ms, ends);
        let has = credits(&rig, &account, NOW).await;
        let shown: Vec<_> = has
            .credits
            .iter()
            .map(|one| (&*one.id, &*one.source, &*one.origin, Some(one.expires_ms)))
            .collect();
        if ends.is_some() {
            let credit = (&*redeemed.ledger_id, "voucher", "spring fair", ends);
            assert_eq!((shown, has.base), (vec![credit], quota(0)));
        } else {
            assert_eq!((shown, has.base), (vec![], quota(4)));
        }
        let again = redeem(&rig, &account, &codes[0], NOW + DAY_MS).await;
        assert_eq!(again, RedeemOutcome::Repeated(redeemed));
    }
}

/// The promise: one code, asked for at three nodes by many accounts at once, gives one of them its worth.
async fn a_code_redeemed_at_several_nodes_at_once_gives_once(rig: Rig) {
    let ending = VoucherTerms {
        credit_days: Some(1),
        per_account: 9,
        ..terms(5)
    };
    let (_, codes) = batch(&rig, 3, ending).await;
    let mut nodes = vec![rig.clone()];
    for _ in 0..2 {
        let store = Store::open(&rig.url, options()).await.expect("a node");
        let url = rig.url.clone();
        nodes.push(Rig { store, url });
    }
    let mut accounts = Vec::new();
    for _ in 0..6 {
        accounts.push(rig.account(0, 10).await);
    }
    let mut tasks = Vec::new();
    for number in 0..36 {
        let (node, account) = (nodes[number % 3].clone(), accounts[number % 6].clone());
        let code = codes[number / 12].clone();
        tasks.push(spawn(
            async move { redeem(&node, &account, &code, NOW).await },
        ));
    }
    let (mut gave, mut told) = (0, 0);
    for task in tasks {
        match task.await.expect("it ends") {
            RedeemOutcome::Done(_) => gave += 1,
            RedeemOutcome::Repeated(_) => told += 1,
            RedeemOutcome::Used => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((gave, told), (3, 3), "each account asked twice for a code");
    let mut sum = 0;
    for account in &accounts {
        sum += rig.purse(account).await.0.thousandths();
    }
    assert_eq!(sum, 15_000);
    for node in nodes.into_iter().skip(1) {
        node.store.close().await;
    }
}

async fn a_batch_is_redeemed_so_often_by_one_account(rig: Rig) {
    let account = rig.account(0, 10).await;
    let twice = VoucherTerms {
        per_account: 2,
        ..terms(1)
    };
    let (_, codes) = batch(&rig, 20, twice).await;
    let other = Store::open(&rig.url, options()).await.expect("a node");
    let other = Rig {
        store: other,
        url: rig.url.clone(),
    };
    let mut tasks = Vec::new();
    for (place, code) in codes.iter().enumerate() {
        let node = if place % 2 == 0 { &rig } else { &other };
        let (node, account, code) = (node.clone(), account.clone(), code.clone());
        tasks.push(spawn(
            async move { redeem(&node, &account, &code, NOW).await },
        ));
    }
    let mut gave = 0;
    for task in tasks {
        match task.await.expect("it ends") {
            RedeemOutcome::Done(_) => gave += 1,
            outcome => assert_eq!(outcome, RedeemOutcome::Limit { per_account: 2 }),
        }
    }
    assert_eq!(gave, 2);
    // Another batch is another count.
    let (_, codes) = batch(&rig, 1, terms(1)).await;
    done(redeem(&rig, &account, &codes[0], NOW).await);
    assert_eq!(rig.purse(&account).await, (quota(3), quota(0)));
    other.store.close().await;
}

async fn a_paused_account_redeems_nothing(rig: Rig) {
    let account = rig.account(0, 10).await;
    let (_, codes) = batch(&rig, 1, terms(1)).await;
    for disabled in [true, false] {
        let patch = AccountPatch {
            disabled: Some(disabled),
            ..AccountPatch::default()
        };
        let patched = rig.store.accounts().update(&account, patch, None).await;
        patched.expect("done");
        let outcome = redeem(&rig, &account, &codes[0], NOW).await;
        assert_eq!(outcome == RedeemOutcome::Paused, disabled, "{outcome:?}");
    }
    assert_eq!(rig.purse(&account).await, (quota(1), quota(0)));
}

async fn batches_are_listed_with_their_counts(rig: Rig) {
    let account = rig.account(0, 10).await;
    let (first, codes) = batch(&rig, 1_200, terms(1)).await;
    let (second, _) = batch(&rig, 2, terms(9)).await;
    done(redeem(&rig, &account, &codes[1_199], NOW).await);
    let (listed, total) = rig
        .store
        .ledger()
        .vouchers()
        .list(0, 10)
        .await
        .expect("a read");
    assert_eq!(total, 2);
    let mut shown: Vec<(&str, i64, i64)> = listed
        .iter()
        .map(|one| (&*one.id, one.codes, one.redeemed))
        .collect();
    shown.sort_by_key(|(_, codes, _)| *codes);
    assert_eq!(shown, [(&*second, 2, 0), (&*first, 1_200, 1)]);
    let (rest, _) = rig
        .store
        .ledger()
        .vouchers()
        .list(1, 10)
        .await
        .expect("a read");
    assert_eq!(rest.len(), 1);
}

async fn what_was_redeemed_never_changes(rig: Rig) {
    let account = rig.account(0, 10).await;
    let (_, codes) = batch(&rig, 2, terms(1)).await;
    done(redeem(&rig, &account, &codes[0], NOW).await);
    for damage in [
        "UPDATE voucher SET account_id = NULL, ledger_id = NULL, redeemed_ms = NULL",
        "DELETE FROM voucher",
        "UPDATE voucher_batch SET amount = 2",
        "DELETE FROM voucher_batch",
    ] {
        let refused = sql(&rig.url, damage).await.expect_err("refused");
        assert!(refused.to_string().contains("never"), "{refused}");
    }
}

async fn a_redemption_and_its_act_are_one_commit(rig: Rig) {
    let account = rig.account(0, 10).await;
    let (_, codes) = batch(&rig, 1, terms(1)).await;
    let act = || AuditRow {
        id: rig.id("act"),
        time_ms: NOW,
        actor: "key".into(),
        action: "voucher.redeem".into(),
        target: "it".into(),
        detail: String::new(),
        account_id: Some(account.clone()),
    };
    for code in ["none", &codes[0], &codes[0]] {
        let wish = redemption(&rig, &account, code, NOW);
        let redeemed = rig
            .store
            .ledger()
            .vouchers()
            .redeem(wish, Some(act()))
            .await;
        redeemed.expect("an answer");
    }
    assert_eq!(
        number(&rig.url, "SELECT COUNT(*) FROM account_act").await,
        1
    );
}
