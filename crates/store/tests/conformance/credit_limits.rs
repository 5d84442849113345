//! Credit limits: an account may owe so much for work and no thousandth more, however many submit at once; what comes in pays it first.

use atelier_contract::Quota;
use atelier_contract::plans::{PlanDefinition, Then};
use atelier_store::{AcceptOutcome, AccountPatch, Error, Guard, PaymentNews, Store};

use crate::credits::grant;
use crate::payments::{applied, bought, debt, free, product, told, written};
use crate::plans;
use crate::rig::{NOW, Rig, number, options, quota, spawn, sql};

each_db!(
    work_is_lent_up_to_the_limit,
    what_is_not_spent_is_paid_back,
    nothing_goes_beyond_the_limit_at_several_nodes,
    a_limit_that_is_taken_away_leaves_a_debt,
    a_plan_that_stops_is_not_gone_beyond,
    credits_are_spent_before_anything_is_lent,
    older_programs_and_credit_limits_keep_apart,
);

async fn limit(rig: &Rig, account: &str, most: i64) -> Result<(), Error> {
    let patch = AccountPatch {
        credit_limit: Some(quota(most)),
        alive_since_ms: NOW - 60_000,
        ..AccountPatch::default()
    };
    let changed = rig.store.accounts().update(account, patch, None).await?;
    assert_eq!(changed.expect("the account").credit_limit, quota(most));
    Ok(())
}

async fn submits(rig: &Rig, account: &str, price: i64) -> AcceptOutcome {
    rig.take(rig.accept(account, price)).await
}

async fn work_is_lent_up_to_the_limit(rig: Rig) {
    let account = rig.account(3, 10).await;
    limit(&rig, &account, 10).await.expect("set");
    rig.waiting(&account, 8).await;
    assert_eq!(rig.purse(&account).await, (Quota::ZERO, quota(8)));
    assert_eq!(debt(&rig, &account).await, quota(5));
    let short = submits(&rig, &account, 6).await;
    assert_eq!(short, AcceptOutcome::QuotaShort { balance: quota(5) });
    let asked = rig.accept(&account, 6).job;
    let asked = rig.store.jobs().precheck_refusal(&asked, 1_000_000).await;
    assert_eq!(asked.expect("a read"), Some(short));
    rig.waiting(&account, 5).await;
    let short = submits(&rig, &account, 1).await;
    assert_eq!(short, AcceptOutcome::QuotaShort { balance: quota(0) });
    // The invoice is paid: what is owed is gone, and the rest is the account's.
    written(&rig, &product("ten"), None).await;
    bought(&rig, &account, "ten").await;
    bought(&rig, &account, "ten").await;
    assert_eq!(debt(&rig, &account).await, Quota::ZERO);
    assert_eq!(free(&rig, &account).await, quota(10));
    let lent = format!(
        "SELECT CAST(SUM(amount) AS BIGINT) FROM ledger WHERE account_id = '{account}' AND cause = 'debt'"
    );
    assert_eq!(number(&rig.url, &lent).await, 0);
}

async fn what_is_not_spent_is_paid_back(rig: Rig) {
    let account = rig.account(0, 10).await;
    limit(&rig, &account, 10).await.expect("set");
    let (failed, cheap) = (
        rig.running(&account, 6).await,
        rig.running(&account, 4).await,
    );
    assert_eq!(debt(&rig, &account).await, quota(10));
    rig.settle(rig.failure(&failed, Guard::Fence(1))).await;
    assert_eq!(debt(&rig, &account).await, quota(4));
    rig.settle(rig.success(&cheap, Guard::Fence(1), 1)).await;
    assert_eq!(debt(&rig, &account).await, quota(1), "what was spent");
    assert_eq!(rig.purse(&account).await, (Quota::ZERO, Quota::ZERO));
    rig.waiting(&account, 9).await;
}

/// The promise: not a thousandth beyond the limit, with any number of nodes.
async fn nothing_goes_beyond_the_limit_at_several_nodes(rig: Rig) {
    let account = rig.account(2, 1_000).await;
    limit(&rig, &account, 20).await.expect("set");
    let nodes = if rig.store.is_postgres() { 3 } else { 1 };
    let mut stores = vec![rig.store.clone()];
    for _ in 1..nodes {
        let store = Store::open(&rig.url, options()).await;
        stores.push(store.expect("another node"));
    }
    let tasks: Vec<_> = (0..60)
        .map(|number| {
            let store = stores[number % nodes].clone();
            let accept = rig.accept(&account, 1 + (number % 3) as i64);
            spawn(async move { store.jobs().accept(accept).await.expect("an answer") })
        })
        .collect();
    let mut taken = 0;
    for task in tasks {
        taken += i64::from(matches!(
            task.await.expect("a task"),
            AcceptOutcome::New { .. }
        ));
    }
    assert!(taken > 7, "{taken}");
    let (free, held) = rig.purse(&account).await;
    assert_eq!(free, Quota::ZERO);
    assert_eq!(held, quota(2) + debt(&rig, &account).await);
    assert!(debt(&rig, &account).await <= quota(20));
    assert!(debt(&rig, &account).await >= quota(18), "as far as it goes");
    for store in stores.into_iter().skip(1) {
        store.close().await;
    }
}

async fn a_limit_that_is_taken_away_leaves_a_debt(rig: Rig) {
    let account = rig.account(0, 10).await;
    limit(&rig, &account, 10).await.expect("set");
    rig.waiting(&account, 7).await;
    limit(&rig, &account, 3).await.expect("set");
    let refused = submits(&rig, &account, 0).await;
    assert_eq!(refused, AcceptOutcome::Debt { debt: quota(7) });
    grant(&rig, &account, 4, NOW + 3_600_000).await;
    assert_eq!(debt(&rig, &account).await, quota(3));
    let short = submits(&rig, &account, 1).await;
    assert_eq!(short, AcceptOutcome::QuotaShort { balance: quota(0) });
    limit(&rig, &account, 0).await.expect("set");
    let refused = submits(&rig, &account, 0).await;
    assert_eq!(refused, AcceptOutcome::Debt { debt: quota(3) });
}

async fn a_plan_that_stops_is_not_gone_beyond(rig: Rig) {
    let account = rig.account(0, 10).await;
    limit(&rig, &account, 10).await.expect("set");
    let stops = PlanDefinition {
        then: Then::Stop,
        ..plans::plan("small", 5)
    };
    plans::written(&rig, &stops, None).await;
    plans::assign(&rig, &account, "small", (NOW, None)).await;
    rig.waiting(&account, 5).await;
    let short = submits(&rig, &account, 1).await;
    assert_eq!(short, AcceptOutcome::QuotaShort { balance: quota(0) });
}

async fn credits_are_spent_before_anything_is_lent(rig: Rig) {
    let account = rig.account(1, 10).await;
    limit(&rig, &account, 10).await.expect("set");
    grant(&rig, &account, 4, NOW + 3_600_000).await;
    rig.waiting(&account, 5).await;
    assert_eq!(debt(&rig, &account).await, Quota::ZERO);
    rig.waiting(&account, 2).await;
    assert_eq!(debt(&rig, &account).await, quota(2));
    // A refund of a payment adds to it, also beyond the limit.
    written(&rig, &product("ten"), None).await;
    let id = bought(&rig, &account, "ten").await;
    assert_eq!(free(&rig, &account).await, quota(8));
    rig.waiting(&account, 18).await;
    applied(&rig, told(&rig, &id, PaymentNews::Refunded, 300)).await;
    assert_eq!(debt(&rig, &account).await, quota(20));
    let refused = submits(&rig, &account, 0).await;
    assert_eq!(refused, AcceptOutcome::Debt { debt: quota(20) });
}

async fn older_programs_and_credit_limits_keep_apart(rig: Rig) {
    let account = rig.account(0, 10).await;
    let older = format!(
        "INSERT INTO node (id, started_ms, seen_ms, detail, knows) \
         SELECT 'older', 1, {NOW}, '{{}}', version - 1 FROM schema_version WHERE name = '0058_credit_limits'"
    );
    sql(&rig.url, &older).await.expect("noted");
    limit(&rig, &account, 0)
        .await
        .expect("none is no first one");
    let answer = limit(&rig, &account, 1).await;
    if rig.store.is_postgres() {
        assert!(matches!(answer, Err(Error::Conflict(_))), "{answer:?}");
        rig.store.nodes().forget("older").await.expect("stopped");
        limit(&rig, &account, 1).await.expect("set");
    }
    let widens = "SELECT widens FROM schema_version WHERE name = '0058_credit_limits'";
    assert_eq!(number(&rig.url, widens).await, 0, "older ones do not start");
}
