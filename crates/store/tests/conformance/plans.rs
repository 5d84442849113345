//! Plans: a period gives its quota once, whoever renews it, and what is left goes over as far as the plan says.

use atelier_contract::Quota;
use atelier_contract::plans::{Every, PlanDefinition, Then};
use atelier_store::{
    AcceptOutcome, AccountPatch, AccountPlan, BulkEntry, BulkOutcome, Guard, NewBulk, NewBulkItem,
    PLAN_EDITION, PlanAssignment, PlanOutcome, RevisionChange, RevisionDraft, RevisionOutcome,
    Store,
};

use crate::credits::{credits, grant};
use crate::groups;
use crate::rig::{NOW, Rig, number, options, quota, spawn, sql};

each_db!(
    a_period_gives_its_quota_and_ends_with_it,
    a_renewal_happens_once_at_several_nodes,
    what_is_left_goes_over_as_far_as_the_plan_says,
    a_plan_that_stops_spends_nothing_else,
    an_upgrade_is_at_once_and_a_downgrade_with_the_next_renewal,
    a_plan_that_shrinks_below_what_is_held_loses_nothing,
    a_plan_may_begin_later_and_ends_with_its_period,
    the_group_of_a_plan_holds_while_the_plan_does,
    a_service_that_was_away_for_long_renews_once,
    a_plan_is_refused_for_what_it_is,
    a_plan_that_an_account_has_stays,
    what_a_plan_gave_never_changes,
    older_programs_and_plans_keep_apart,
    what_jobs_held_before_a_renewal_does_not_go_over,
    many_small_rests_go_over_as_one,
    what_a_period_is_decides_what_is_above_it,
    an_upgrade_in_the_last_moment_waits_for_the_renewal,
    a_plan_that_cannot_be_read_ends_for_nobody,
    batches_wait_for_the_renewal_as_well,
    a_deleted_account_gets_no_plan,
);

const DAY_MS: i64 = 86_400_000;
const EVERY: i64 = 30;

pub(crate) fn plan(name: &str, whole: i64) -> PlanDefinition {
    PlanDefinition {
        name: name.into(),
        every: Every::Days { days: EVERY },
        quota: quota(whole),
        rollover_cap: Quota::ZERO,
        group: None,
        then: Then::PayAsYouGo,
    }
}

async fn append(rig: &Rig, plan: &PlanDefinition, expected: Option<u32>) -> RevisionOutcome {
    let seen = rig.store.settings().get(PLAN_EDITION).await;
    let change = RevisionChange {
        drafts: vec![RevisionDraft {
            name: plan.name.clone(),
            definition: serde_json::to_string(plan).expect("JSON"),
            removed: false,
            expected_revision: expected,
        }],
        seen_edition: seen.expect("a read"),
        seen_beside: None,
        edition: rig.id("edition"),
        changed_ms: NOW,
        alive_since_ms: NOW - 60_000,
    };
    let outcome = rig.store.ledger().plans().append(change, None).await;
    outcome.expect("an answer")
}

pub(crate) async fn written(rig: &Rig, plan: &PlanDefinition, expected: Option<u32>) {
    let next = expected.map_or(1, |before| before + 1);
    let outcome = append(rig, plan, expected).await;
    assert_eq!(outcome, RevisionOutcome::Written(vec![next]));
}

/// Takes a plan away, if no one has it.
pub(crate) async fn removed(rig: &Rig, name: &str, expected: u32) -> RevisionOutcome {
    let seen = rig.store.settings().get(PLAN_EDITION).await;
    let change = RevisionChange {
        drafts: vec![RevisionDraft {
            name: name.into(),
            definition: "{}".into(),
            removed: true,
            expected_revision: Some(expected),
        }],
        seen_edition: seen.expect("a read"),
        seen_beside: None,
        edition: rig.id("edition"),
        changed_ms: NOW,
        alive_since_ms: NOW - 60_000,
    };
    let removed = rig.store.ledger().plans().append(change, None).await;
    removed.expect("an answer")
}

pub(crate) async fn assign(
    rig: &Rig,
    account: &str,
    plan: &str,
    (now_ms, from_ms): (i64, Option<i64>),
) -> PlanOutcome {
    let assignment = PlanAssignment {
        account_id: account.to_owned(),
        plan: plan.to_owned(),
        from_ms,
        now_ms,
        alive_since_ms: NOW - 60_000,
    };
    let assigned = rig.store.ledger().plans().assign(assignment, None).await;
    assigned.expect("an answer")
}

async fn given(rig: &Rig, account: &str, plan: &str, now_ms: i64) -> AccountPlan {
    match assign(rig, account, plan, (now_ms, None)).await {
        PlanOutcome::Done(row) => row,
        other => panic!("{other:?}"),
    }
}

/// Renews what is due, as the service does; how many there were.
async fn renew(rig: &Rig, now_ms: i64) -> usize {
    renew_at(&rig.store, now_ms).await.0
}

/// How many were due at a node, and which accounts are in another group now.
async fn renew_at(store: &Store, now_ms: i64) -> (usize, Vec<String>) {
    let due = store.ledger().plans().due(now_ms, 100).await;
    let due = due.expect("a read");
    let mut moved = Vec::new();
    for account in &due {
        let renewed = store.ledger().plans().renew(account, now_ms).await;
        if renewed.expect("renewed") {
            moved.push(account.clone());
        }
    }
    (due.len(), moved)
}

async fn of(rig: &Rig, account: &str) -> Option<AccountPlan> {
    let found = rig.store.ledger().plans().of(account).await;
    found.expect("a read")
}

async fn end(rig: &Rig, account: &str) -> bool {
    let ended = rig.store.ledger().plans().end(account, NOW, None).await;
    ended.expect("an answer")
}

/// What is left, held, spent and lapsed of each credit of an account, those that have ended as well.
async fn parts(rig: &Rig, account: &str, now_ms: i64) -> Vec<[i64; 4]> {
    let found = credits(rig, account, now_ms).await;
    let whole = |amount: Quota| amount.thousandths() / 1_000;
    let parts = found
        .credits
        .iter()
        .map(|one| [one.left, one.held, one.spent, one.lapsed].map(whole));
    parts.collect()
}

async fn take(rig: &Rig, account: &str, price: i64, now_ms: i64) -> Result<String, AcceptOutcome> {
    let mut accept = rig.accept(account, price);
    (accept.job.created_ms, accept.job.deadline_ms) = (now_ms, now_ms + 300_000);
    let id = accept.job.id.clone();
    match rig.take(accept).await {
        AcceptOutcome::New { .. } => Ok(id),
        other => Err(other),
    }
}

async fn spend(rig: &Rig, account: &str, price: i64, now_ms: i64) {
    let job = take(rig, account, price, now_ms).await.expect("accepted");
    let mut success = rig.success(&job, Guard::Unfinished, price);
    success.now_ms = now_ms;
    rig.settle(success).await;
}

async fn check(rig: &Rig) {
    let found = rig.store.invariants().check_books().await;
    assert_eq!(found.expect("an audit"), Vec::<String>::new());
}

async fn a_period_gives_its_quota_and_ends_with_it(rig: Rig) {
    let account = rig.account(1, 10).await;
    written(&rig, &plan("small", 10), None).await;
    let row = given(&rig, &account, "Small", NOW).await;
    let until_ms = NOW + EVERY * DAY_MS;
    assert_eq!(
        (row.from_ms, row.until_ms, row.begun),
        (NOW, until_ms, true)
    );
    assert_eq!(rig.purse(&account).await, (quota(11), quota(0)));
    let has = credits(&rig, &account, NOW).await;
    assert_eq!((has.base, &*has.credits[0].source), (quota(1), "plan"));
    assert_eq!(has.credits[0].expires_ms, until_ms);
    spend(&rig, &account, 4, NOW).await;
    assert_eq!(renew(&rig, until_ms - 1).await, 0);
    // From its instant on nothing is spent until it is renewed: neither of it nor of the base.
    let due = take(&rig, &account, 1, until_ms).await.expect_err("over");
    assert_eq!(due, AcceptOutcome::PlanDue);
    assert_eq!(renew(&rig, until_ms).await, 1);
    assert_eq!(
        parts(&rig, &account, until_ms).await,
        [[10, 0, 0, 0], [0, 0, 4, 6]]
    );
    assert_eq!(rig.purse(&account).await, (quota(11), quota(0)));
    let row = of(&rig, &account).await;
    let row = row.expect("a plan");
    assert_eq!(
        (row.from_ms, row.until_ms),
        (until_ms, until_ms + EVERY * DAY_MS)
    );
    check(&rig).await;
}

/// The promise: nodes that renew at once, and one whose clock is behind, give a period's quota once.
async fn a_renewal_happens_once_at_several_nodes(rig: Rig) {
    written(&rig, &plan("small", 10), None).await;
    let mut accounts = Vec::new();
    for _ in 0..5 {
        let account = rig.account(0, 10).await;
        given(&rig, &account, "small", NOW).await;
        accounts.push(account);
    }
    let mut nodes = vec![rig.store.clone()];
    for _ in 0..2 {
        nodes.push(Store::open(&rig.url, options()).await.expect("a node"));
    }
    let until_ms = NOW + EVERY * DAY_MS;
    let renewals: Vec<_> = (0..9)
        .map(|number| {
            let node = nodes[number % 3].clone();
            let now_ms = until_ms + number as i64 * 400 - 800;
            spawn(async move {
                renew_at(&node, now_ms).await;
            })
        })
        .collect();
    for renewal in renewals {
        renewal.await.expect("it ends");
    }
    for account in &accounts {
        assert_eq!(rig.purse(account).await, (quota(10), quota(0)));
        assert_eq!(
            parts(&rig, account, until_ms).await,
            [[10, 0, 0, 0], [0, 0, 0, 10]]
        );
    }
    let periods = "SELECT COUNT(*) FROM plan_period";
    assert_eq!(number(&rig.url, periods).await, 10);
    check(&rig).await;
    for node in nodes.into_iter().skip(1) {
        node.close().await;
    }
}

async fn what_is_left_goes_over_as_far_as_the_plan_says(rig: Rig) {
    let account = rig.account(0, 10).await;
    let rolling = PlanDefinition {
        rollover_cap: quota(7),
        ..plan("rolling", 10)
    };
    written(&rig, &rolling, None).await;
    given(&rig, &account, "rolling", NOW).await;
    spend(&rig, &account, 1, NOW).await;
    let at = |period: i64| NOW + period * EVERY * DAY_MS;
    renew(&rig, at(1)).await;
    // Nine were left, seven go over, and they are spent before what is new.
    assert_eq!(parts(&rig, &account, at(1)).await.len(), 2);
    assert_eq!(rig.purse(&account).await, (quota(17), quota(0)));
    spend(&rig, &account, 9, at(1)).await;
    assert_eq!(rig.purse(&account).await, (quota(8), quota(0)));
    renew(&rig, at(2)).await;
    assert_eq!(rig.purse(&account).await, (quota(17), quota(0)));
    spend(&rig, &account, 2, at(2)).await;
    renew(&rig, at(3)).await;
    assert_eq!(rig.purse(&account).await, (quota(17), quota(0)));
    check(&rig).await;
    // With the end of the plan nothing goes over.
    assert!(end(&rig, &account).await);
    renew(&rig, at(4)).await;
    assert_eq!(rig.purse(&account).await, (quota(0), quota(0)));
    assert_eq!(of(&rig, &account).await, None);
    assert!(!end(&rig, &account).await);
    check(&rig).await;
}

async fn a_plan_that_stops_spends_nothing_else(rig: Rig) {
    let (stops, goes) = (rig.account(50, 10).await, rig.account(50, 10).await);
    let stopping = PlanDefinition {
        then: Then::Stop,
        ..plan("stopping", 10)
    };
    written(&rig, &stopping, None).await;
    written(&rig, &plan("going", 10), None).await;
    given(&rig, &stops, "stopping", NOW).await;
    given(&rig, &goes, "going", NOW).await;
    for account in [&stops, &goes] {
        grant(&rig, account, 5, NOW + DAY_MS).await;
        spend(&rig, account, 8, NOW).await;
    }
    // What ends first is spent first where anything may be.
    assert_eq!(credits(&rig, &goes, NOW).await.base, quota(50));
    assert_eq!(parts(&rig, &goes, NOW).await, [[7, 0, 3, 0], [0, 0, 5, 0]]);
    assert_eq!(parts(&rig, &stops, NOW).await, [[5, 0, 0, 0], [2, 0, 8, 0]]);
    let short = take(&rig, &stops, 3, NOW).await.expect_err("nothing else");
    assert_eq!(short, AcceptOutcome::QuotaShort { balance: quota(2) });
    spend(&rig, &stops, 2, NOW).await;
    let short = take(&rig, &stops, 1, NOW)
        .await
        .expect_err("nothing at all");
    assert_eq!(short, AcceptOutcome::QuotaShort { balance: quota(0) });
    take(&rig, &goes, 50, NOW).await.expect("it goes on");
    // When the plan has ended the rest is there again.
    end(&rig, &stops).await;
    let until_ms = NOW + EVERY * DAY_MS;
    renew(&rig, until_ms).await;
    take(&rig, &stops, 50, until_ms)
        .await
        .expect("what never ends");
    check(&rig).await;
}

async fn an_upgrade_is_at_once_and_a_downgrade_with_the_next_renewal(rig: Rig) {
    let account = rig.account(0, 10).await;
    for (name, whole) in [("small", 10), ("big", 100), ("same", 10)] {
        written(&rig, &plan(name, whole), None).await;
    }
    given(&rig, &account, "small", NOW).await;
    spend(&rig, &account, 4, NOW).await;
    let third_ms = NOW + 20 * DAY_MS;
    let until_ms = NOW + EVERY * DAY_MS;
    let row = given(&rig, &account, "big", third_ms).await;
    assert_eq!(
        (&*row.plan, row.until_ms, row.next.as_deref()),
        ("big", until_ms, None)
    );
    // A third of the time is left: a third of the quota, rounded down to a thousandth; the old one is over.
    let has = rig.purse(&account).await.0;
    assert_eq!(has, Quota::from_thousandths(33_333));
    assert_eq!(parts(&rig, &account, third_ms).await[1], [0, 0, 4, 6]);
    let row = given(&rig, &account, "small", third_ms).await;
    assert_eq!((&*row.plan, row.next.as_deref()), ("big", Some("small")));
    assert_eq!(rig.purse(&account).await.0, has, "nothing is taken back");
    // The same plan again is a change of mind.
    let row = given(&rig, &account, "big", third_ms).await;
    assert_eq!((row.next, row.ends), (None, false));
    given(&rig, &account, "same", third_ms).await;
    renew(&rig, until_ms).await;
    let row = of(&rig, &account).await;
    let row = row.expect("a plan");
    assert_eq!((&*row.plan, row.next.as_deref()), ("same", None));
    assert_eq!(
        row.until_ms,
        until_ms + EVERY * DAY_MS,
        "the same renewal day"
    );
    assert_eq!(rig.purse(&account).await, (quota(10), quota(0)));
    check(&rig).await;
}

async fn a_plan_that_shrinks_below_what_is_held_loses_nothing(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &plan("small", 10), None).await;
    written(&rig, &plan("big", 40), None).await;
    given(&rig, &account, "big", NOW).await;
    let (fails, succeeds) = (
        take(&rig, &account, 15, NOW).await.expect("accepted"),
        take(&rig, &account, 20, NOW).await.expect("accepted"),
    );
    given(&rig, &account, "small", NOW).await;
    let until_ms = NOW + EVERY * DAY_MS;
    renew(&rig, until_ms).await;
    assert_eq!(rig.purse(&account).await, (quota(10), quota(35)));
    check(&rig).await;
    let mut failure = rig.failure(&fails, Guard::Unfinished);
    failure.now_ms = until_ms + 1;
    rig.settle(failure).await;
    assert_eq!(
        rig.purse(&account).await,
        (quota(10), quota(20)),
        "it lapsed"
    );
    let mut success = rig.success(&succeeds, Guard::Unfinished, 18);
    success.now_ms = until_ms + 2;
    rig.settle(success).await;
    assert_eq!(rig.purse(&account).await, (quota(10), quota(0)));
    assert_eq!(
        parts(&rig, &account, until_ms).await,
        [[10, 0, 0, 0], [0, 0, 18, 22]]
    );
    check(&rig).await;
}

async fn a_plan_may_begin_later_and_ends_with_its_period(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &plan("small", 10), None).await;
    written(&rig, &plan("big", 20), None).await;
    let from_ms = NOW + 3 * DAY_MS;
    let later = assign(&rig, &account, "small", (NOW, Some(from_ms))).await;
    assert!(matches!(later, PlanOutcome::Done(row) if !row.begun && row.until_ms == from_ms));
    assert_eq!(rig.purse(&account).await, (quota(0), quota(0)));
    // Another one in its place begins then as well.
    let row = given(&rig, &account, "big", NOW).await;
    assert_eq!(
        (&*row.plan, row.begun, row.until_ms),
        ("big", false, from_ms)
    );
    assert_eq!(renew(&rig, from_ms - 1).await, 0);
    assert_eq!(renew(&rig, from_ms + 5_000).await, 1);
    let row = of(&rig, &account).await;
    let row = row.expect("a plan");
    assert_eq!(
        (row.from_ms, row.begun),
        (from_ms, true),
        "not when somebody looked"
    );
    assert_eq!(rig.purse(&account).await, (quota(20), quota(0)));
    let running = assign(&rig, &account, "small", (NOW, Some(from_ms + DAY_MS))).await;
    assert_eq!(running, PlanOutcome::Running);
    end(&rig, &account).await;
    spend(&rig, &account, 20, from_ms + DAY_MS).await;
    assert_eq!(renew(&rig, row.until_ms).await, 1);
    assert_eq!(of(&rig, &account).await, None);
    // A plan that has ended can be had again.
    given(&rig, &account, "small", row.until_ms).await;
    assert_eq!(rig.purse(&account).await, (quota(10), quota(0)));
    check(&rig).await;
}

async fn the_group_of_a_plan_holds_while_the_plan_does(rig: Rig) {
    let group = async |account: &str| {
        let found = rig.store.accounts().find(account).await;
        found.expect("a read").expect("an account").group
    };
    let into = async |account: &str, group: &str| {
        let patch = AccountPatch {
            group: Some(Some(group.to_owned())),
            ..AccountPatch::default()
        };
        let patched = rig.store.accounts().update(account, patch, None).await;
        patched.expect("done");
    };
    for name in ["before", "vip", "best"] {
        groups::written(&rig, name, None).await;
    }
    let (own, moved) = (rig.account(0, 10).await, rig.account(0, 10).await);
    let of_group = |name: &str, whole: i64, group: &str| PlanDefinition {
        group: Some(group.into()),
        ..plan(name, whole)
    };
    written(&rig, &of_group("small", 10, "vip"), None).await;
    written(&rig, &of_group("big", 20, "best"), None).await;
    written(&rig, &plan("plain", 5), None).await;
    into(&own, "before").await;
    for account in [&own, &moved] {
        given(&rig, account, "small", NOW).await;
        assert_eq!(group(account).await.as_deref(), Some("vip"));
    }
    given(&rig, &own, "big", NOW).await;
    assert_eq!(group(&own).await.as_deref(), Some("best"));
    given(&rig, &own, "plain", NOW).await;
    assert_eq!(
        group(&own).await.as_deref(),
        Some("best"),
        "until it is renewed"
    );
    let until_ms = NOW + EVERY * DAY_MS;
    // What an operator makes of it meanwhile stays.
    into(&moved, "before").await;
    end(&rig, &moved).await;
    let (due, regrouped) = renew_at(&rig.store, until_ms).await;
    assert_eq!(due, 2);
    assert!(regrouped.contains(&own), "{regrouped:?}");
    assert_eq!(group(&own).await.as_deref(), Some("before"));
    assert_eq!(group(&moved).await.as_deref(), Some("before"));
    let nobody = of_group("nobody", 9, "nobody");
    let gone = append(&rig, &nobody, None).await;
    assert_eq!(gone, RevisionOutcome::Crossed, "its group is not there");
    // A group that a plan names stays, though no account is in it.
    let in_use = groups::removed(&rig, "best").await;
    let users = 1;
    let best = RevisionOutcome::InUse {
        name: "best".into(),
        users,
    };
    assert_eq!(in_use, best);
    assert!(matches!(
        groups::removed(&rig, "unnamed").await,
        RevisionOutcome::Conflict { .. }
    ));
    check(&rig).await;
}

async fn a_service_that_was_away_for_long_renews_once(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &plan("small", 10), None).await;
    given(&rig, &account, "small", NOW).await;
    let back_ms = NOW + (4 * EVERY + 3) * DAY_MS;
    assert_eq!(renew(&rig, back_ms).await, 1);
    assert_eq!(renew(&rig, back_ms).await, 0);
    let row = of(&rig, &account).await;
    let row = row.expect("a plan");
    let from_ms = NOW + 4 * EVERY * DAY_MS;
    assert_eq!(
        (row.from_ms, row.until_ms),
        (from_ms, from_ms + EVERY * DAY_MS)
    );
    assert_eq!(rig.purse(&account).await, (quota(10), quota(0)));
    check(&rig).await;
}

async fn a_plan_is_refused_for_what_it_is(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &plan("small", 10), None).await;
    let nobody = assign(&rig, "nobody", "small", (NOW, None)).await;
    assert_eq!(nobody, PlanOutcome::NoAccount);
    let nothing = assign(&rig, &account, "nothing", (NOW, None)).await;
    assert_eq!(nothing, PlanOutcome::NoPlan);
    // An account that is deleted has none, and what it had ends when it was to.
    given(&rig, &account, "small", NOW).await;
    let deleted = rig.store.accounts().delete(&account, NOW, None).await;
    assert!(deleted.expect("an answer"));
    assert_eq!(of(&rig, &account).await, None);
    let until_ms = NOW + EVERY * DAY_MS;
    assert_eq!(renew(&rig, until_ms).await, 0);
    let ended = rig.store.ledger().credits().end_due(until_ms, 10).await;
    assert_eq!(ended.expect("ended"), 1);
    assert_eq!(rig.purse(&account).await, (quota(0), quota(0)));
}

async fn a_plan_that_an_account_has_stays(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &plan("small", 10), None).await;
    given(&rig, &account, "small", NOW).await;
    let removal = async || removed(&rig, "small", 1).await;
    let in_use = RevisionOutcome::InUse {
        name: "small".into(),
        users: 1,
    };
    assert_eq!(removal().await, in_use);
    end(&rig, &account).await;
    renew(&rig, NOW + EVERY * DAY_MS).await;
    assert_eq!(removal().await, RevisionOutcome::Written(vec![2]));
    let current = rig.store.ledger().plans().current().await.expect("a read");
    assert!(current.iter().all(|row| row.removed));
    let first = rig.store.ledger().plans().revision("Small", 1).await;
    let first = first.expect("a read").expect("it stays");
    assert!(!first.removed && first.definition != "{}", "{first:?}");
    assert_eq!((first.name.as_str(), first.revision), ("small", 1));
    let gone = assign(&rig, &account, "small", (NOW, None)).await;
    assert_eq!(gone, PlanOutcome::NoPlan);
}

async fn what_a_plan_gave_never_changes(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &plan("small", 10), None).await;
    given(&rig, &account, "small", NOW).await;
    for damage in [
        "UPDATE plan SET definition = '{}'",
        "DELETE FROM plan",
        "UPDATE plan_period SET quota = 0",
        "DELETE FROM plan_period",
    ] {
        let refused = sql(&rig.url, damage).await.expect_err("refused");
        assert!(refused.to_string().contains("never"), "{refused}");
    }
}

/// The promise: while a program that knows no plans is at work there is none, and none starts once there is one.
async fn older_programs_and_plans_keep_apart(rig: Rig) {
    let widens = "SELECT widens FROM schema_version WHERE name = '0056_plans'";
    let older = format!(
        "INSERT INTO node (id, started_ms, seen_ms, detail, knows) \
         SELECT 'older', 1, {NOW}, '{{}}', version - 1 FROM schema_version WHERE name = '0056_plans'"
    );
    sql(&rig.url, &older).await.expect("noted");
    let answer = append(&rig, &plan("small", 10), None).await;
    if rig.store.is_postgres() {
        assert_eq!(answer, RevisionOutcome::OlderNode("older".into()));
        assert_eq!(number(&rig.url, widens).await, 1, "older ones may start");
        rig.store.nodes().forget("older").await.expect("stopped");
        written(&rig, &plan("small", 10), None).await;
    } else {
        let alone = RevisionOutcome::Written(vec![1]);
        assert_eq!(answer, alone, "one process has the database");
    }
    assert_eq!(number(&rig.url, widens).await, 0, "older ones do not start");
    let beside = "UPDATE schema_version SET widens = 1 WHERE name = '0054_credits'";
    sql(&rig.url, beside).await.expect("as at first");
    let account = rig.account(0, 10).await;
    given(&rig, &account, "small", NOW).await;
    let widens = "SELECT widens FROM schema_version WHERE name = '0054_credits'";
    assert_eq!(number(&rig.url, widens).await, 0, "what it gives ends");
}

/// The promise: no more goes over than the plan says, whatever jobs held meanwhile and gave back later.
async fn what_jobs_held_before_a_renewal_does_not_go_over(rig: Rig) {
    let account = rig.account(0, 10).await;
    let rolling = PlanDefinition {
        rollover_cap: quota(10),
        ..plan("rolling", 100)
    };
    written(&rig, &rolling, None).await;
    given(&rig, &account, "rolling", NOW).await;
    let (fails, succeeds) = (
        take(&rig, &account, 60, NOW).await.expect("accepted"),
        take(&rig, &account, 20, NOW).await.expect("accepted"),
    );
    let until_ms = NOW + EVERY * DAY_MS;
    renew(&rig, until_ms).await;
    assert_eq!(rig.purse(&account).await, (quota(110), quota(80)));
    let after = take(&rig, &account, 5, until_ms).await.expect("accepted");
    for job in [&fails, &after] {
        let mut failure = rig.failure(job, Guard::Unfinished);
        failure.now_ms = until_ms + 1;
        rig.settle(failure).await;
    }
    // What the new period held returns, what the old one held does not.
    assert_eq!(rig.purse(&account).await, (quota(110), quota(20)));
    let mut success = rig.success(&succeeds, Guard::Unfinished, 15);
    success.now_ms = until_ms + 2;
    rig.settle(success).await;
    assert_eq!(rig.purse(&account).await, (quota(110), quota(0)));
    check(&rig).await;
    renew(&rig, NOW + 2 * EVERY * DAY_MS).await;
    assert_eq!(rig.purse(&account).await, (quota(110), quota(0)));
    check(&rig).await;
}

/// The promise: an account has few credits to be read with each call, however often little of a plan is left.
async fn many_small_rests_go_over_as_one(rig: Rig) {
    let account = rig.account(0, 10).await;
    let daily = PlanDefinition {
        every: Every::Days { days: 1 },
        rollover_cap: quota(1_000),
        ..plan("daily", 2)
    };
    written(&rig, &daily, None).await;
    given(&rig, &account, "daily", NOW).await;
    for day in 1..=50 {
        let now_ms = NOW + day * DAY_MS;
        renew(&rig, now_ms).await;
        spend(&rig, &account, 1, now_ms).await;
        let has = credits(&rig, &account, now_ms).await;
        let open = has.credits.iter().filter(|one| one.left > Quota::ZERO);
        assert!(open.count() <= 12, "{has:?}");
    }
    assert_eq!(rig.purse(&account).await, (quota(52), quota(0)));
    check(&rig).await;
}

/// The promise: another plan is more or less than what the account has, not than what that plan has become since.
async fn what_a_period_is_decides_what_is_above_it(rig: Rig) {
    let (rich, poor) = (rig.account(0, 10).await, rig.account(0, 10).await);
    written(&rig, &plan("shrunk", 1_000), None).await;
    written(&rig, &plan("grown", 10), None).await;
    written(&rig, &plan("middle", 500), None).await;
    given(&rig, &rich, "shrunk", NOW).await;
    given(&rig, &poor, "grown", NOW).await;
    written(&rig, &plan("shrunk", 100), Some(1)).await;
    written(&rig, &plan("grown", 5_000), Some(1)).await;
    let row = given(&rig, &rich, "middle", NOW).await;
    assert_eq!(
        (&*row.plan, row.next.as_deref()),
        ("shrunk", Some("middle"))
    );
    assert_eq!(rig.purse(&rich).await.0, quota(1_000));
    let row = given(&rig, &poor, "middle", NOW).await;
    assert_eq!((&*row.plan, row.next), ("middle", None));
    assert_eq!(rig.purse(&poor).await.0, quota(500));
    renew(&rig, NOW + EVERY * DAY_MS).await;
    let row = of(&rig, &rich).await.expect("a plan");
    assert_eq!((&*row.plan, row.revision), ("middle", 1));
    check(&rig).await;
}

/// The promise: a plan that stops does so until its last moment.
async fn an_upgrade_in_the_last_moment_waits_for_the_renewal(rig: Rig) {
    let account = rig.account(50, 10).await;
    for (name, whole) in [("small", 10), ("big", 20)] {
        let stopping = PlanDefinition {
            then: Then::Stop,
            ..plan(name, whole)
        };
        written(&rig, &stopping, None).await;
    }
    given(&rig, &account, "small", NOW).await;
    spend(&rig, &account, 10, NOW).await;
    let until_ms = NOW + EVERY * DAY_MS;
    let row = given(&rig, &account, "big", until_ms - 1).await;
    assert_eq!((&*row.plan, row.next.as_deref()), ("small", Some("big")));
    let short = take(&rig, &account, 1, until_ms - 1).await;
    assert!(matches!(short, Err(AcceptOutcome::QuotaShort { .. })));
    renew(&rig, until_ms).await;
    assert_eq!(rig.purse(&account).await, (quota(70), quota(0)));
    check(&rig).await;
}

/// The promise: what another release wrote and this one cannot read takes no plan away and holds up no other.
async fn a_plan_that_cannot_be_read_ends_for_nobody(rig: Rig) {
    let (odd, plain) = (rig.account(0, 10).await, rig.account(0, 10).await);
    written(&rig, &plan("odd", 10), None).await;
    written(&rig, &plan("plain", 10), None).await;
    given(&rig, &odd, "odd", NOW).await;
    given(&rig, &plain, "plain", NOW + 1).await;
    let newer = format!(
        "INSERT INTO plan (name_key, revision, name, definition, removed, changed_ms) \
         VALUES ('odd', 2, 'odd', '{{\"every\":\"fortnight\"}}', FALSE, {NOW})"
    );
    sql(&rig.url, &newer).await.expect("written");
    let until_ms = NOW + EVERY * DAY_MS;
    let plans = rig.store.ledger().plans();
    let due = plans.due(until_ms + 1, 10).await.expect("a read");
    assert_eq!(due, [odd.clone(), plain.clone()]);
    assert!(plans.renew(&odd, until_ms + 1).await.is_err());
    assert!(plans.renew(&plain, until_ms + 1).await.is_ok());
    assert_eq!(of(&rig, &odd).await.expect("it stays").until_ms, until_ms);
    assert_eq!(rig.purse(&odd).await, (quota(10), quota(0)));
    check(&rig).await;
}

async fn batches_wait_for_the_renewal_as_well(rig: Rig) {
    let account = rig.account(5, 10).await;
    written(&rig, &plan("small", 10), None).await;
    given(&rig, &account, "small", NOW).await;
    let until_ms = NOW + EVERY * DAY_MS;
    let bulk = |rig: &Rig| {
        let mut accept = rig.accept(&account, 8);
        (accept.job.created_ms, accept.job.deadline_ms) = (until_ms, until_ms + 300_000);
        let wish = BulkEntry::Accept(Box::new(accept));
        NewBulk {
            id: rig.id("bulk"),
            account_id: account.clone(),
            idempotency: None,
            items: vec![NewBulkItem {
                operation: "artgen.imagine".into(),
                wish,
            }],
            created_ms: until_ms,
        }
    };
    let jobs = rig.store.jobs();
    let first = jobs.accept_bulk(bulk(&rig)).await.expect("an answer");
    assert_eq!(first, BulkOutcome::PlanDue);
    // Whoever is told so looks again after the renewal; a look before has nothing to say against it.
    let mut look = rig.accept(&account, 12).job;
    look.created_ms = until_ms;
    let looked = jobs.precheck_refusal(&look, i64::MAX).await;
    assert_eq!(looked.expect("a look"), None);
    renew(&rig, until_ms).await;
    let second = jobs.accept_bulk(bulk(&rig)).await.expect("an answer");
    assert!(matches!(second, BulkOutcome::New(_)), "{second:?}");
    assert_eq!(rig.purse(&account).await, (quota(7), quota(8)));
    check(&rig).await;
}

async fn a_deleted_account_gets_no_plan(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &plan("small", 10), None).await;
    let deleted = rig.store.accounts().delete(&account, NOW, None).await;
    assert!(deleted.expect("an answer"));
    let refused = assign(&rig, &account, "small", (NOW, None)).await;
    assert_eq!(refused, PlanOutcome::NoAccount);
}
