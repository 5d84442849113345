//! Claims of deliveries: fair between accounts and hosts, by the commit that ends a job, and free when nobody speaks of them.

use atelier_store::{
    AccountSlots, Claim, Delivery, DeliveryState, Error, Guard, RouteSlots, SettleOutcome,
    Settlement,
};
use std::time::Duration;

use crate::deliveries::{DUE, claim, claim_with, owed, result};
use crate::fill::Fill;
use crate::rig::{Rig, sql};
use crate::stopwatch::Stopwatch;

each_db!(
    a_delivery_can_be_claimed_by_the_commit_that_ends_its_job,
    what_was_claimed_so_and_never_sent_is_due_again_as_if_untried,
    claims_are_fair_between_hosts,
    claims_are_fair_between_accounts,
    a_route_gives_as_many_as_it_has_room_for,
    an_account_gives_no_more_than_its_share_however_many_hosts_it_has,
    what_a_full_route_owes_does_not_delay_others,
    giving_back_many_is_quick_however_many_are_on_their_way,
    receivers_on_other_ports_are_other_hosts,
    claims_of_a_dead_process_are_free_at_once,
);

/// Ends a job; the same commit claims its delivery until a time.
async fn end_and_claim(
    rig: &Rig,
    settlement: Settlement,
    until_ms: i64,
) -> Result<(SettleOutcome, Option<Delivery>), Error> {
    let write_slot = rig.store.write_slot().await?;
    rig.store
        .jobs()
        .settle_in(write_slot, settlement, Some(until_ms))
        .await
}

/// A finished job whose delivery to a host was claimed by the commit that ended it, until a time.
async fn claimed_at_once(rig: &Rig, account_id: &str, until_ms: i64) -> Delivery {
    let mut accept = rig.accept(account_id, 0);
    accept.job.hook_url = Some("https://a.example/hook".into());
    let id = accept.job.id.clone();
    rig.take(accept).await;
    let failure = rig.failure(&id, Guard::Unfinished);
    let settled = end_and_claim(rig, failure.clone(), until_ms).await;
    let (settled, claimed) = settled.expect("an answer");
    let SettleOutcome::Done(row) = settled else {
        panic!("it settles");
    };
    assert_eq!(row, rig.job(&id).await, "as it is stored");
    let again = end_and_claim(rig, failure, until_ms).await;
    assert_eq!(again.expect("an answer"), (SettleOutcome::Lost, None));
    claimed.expect("a delivery")
}

async fn a_delivery_can_be_claimed_by_the_commit_that_ends_its_job(rig: Rig) {
    let account = rig.account(1, 100).await;
    let claimed = claimed_at_once(&rig, &account, DUE + 30_000).await;
    let stored = rig.store.deliveries().find(&account, &claimed.id).await;
    assert_eq!(stored.expect("an answer").as_ref(), Some(&claimed));
    assert_eq!((claimed.state.as_str(), claimed.attempts), ("sending", 1));
    assert!(
        claim(&rig, DUE + 29_999, 10, 10).await.is_empty(),
        "it is on its way"
    );
    let lost = claim(&rig, DUE + 30_000, 10, 10).await;
    assert_eq!(lost.len(), 1, "nobody spoke of it again");
    assert_eq!(lost[0].attempts, 2);
    let next = claimed_at_once(&rig, &account, DUE + 30_000).await;
    let tried = result(&next, DeliveryState::Delivered, 200);
    assert!(
        rig.store
            .deliveries()
            .finish(tried)
            .await
            .expect("an answer")
    );
    let without = rig.running(&account, 0).await;
    let failure = rig.failure(&without, Guard::Unfinished);
    let settled = end_and_claim(&rig, failure, DUE + 30_000).await;
    assert_eq!(settled.expect("an answer").1, None, "it owes nothing");
}

async fn what_was_claimed_so_and_never_sent_is_due_again_as_if_untried(rig: Rig) {
    let account = rig.account(1, 100).await;
    let claimed = claimed_at_once(&rig, &account, DUE + 30_000).await;
    let ids = [claimed.id.clone(), "cb_unknown".to_owned()];
    let returned = rig.store.deliveries().return_unsent(&ids, DUE).await;
    assert_eq!(returned.expect("an answer"), 1);
    let again = claim(&rig, DUE, 10, 10).await;
    assert_eq!(again.len(), 1);
    assert_eq!((again[0].id.as_str(), again[0].attempts), (&*claimed.id, 1));
    let tried = result(&again[0], DeliveryState::Due { next_ms: DUE }, 500);
    assert!(
        rig.store
            .deliveries()
            .finish(tried)
            .await
            .expect("an answer")
    );
    assert_eq!(claim(&rig, DUE, 10, 10).await[0].attempts, 2);
    let returned = rig.store.deliveries().return_unsent(&ids, DUE).await;
    assert_eq!(returned.expect("an answer"), 0, "it has been tried");
}

/// A burst may end more jobs than can be handed over, and those that are given back must not hold up the others' commits.
async fn giving_back_many_is_quick_however_many_are_on_their_way(rig: Rig) {
    let account = rig.account(0, 10).await;
    for _ in 0..8 {
        // A plan that is kept was made when there was next to nothing.
        let returned = rig
            .store
            .deliveries()
            .return_unsent(&["cb_no".into()], DUE)
            .await;
        assert_eq!(returned.expect("an answer"), 0);
    }
    let fill = Fill {
        account_id: &account,
        name: "sent",
        jobs: 20_000,
        state: 2,
        host: "a.example",
        ..Fill::default()
    };
    fill.into(&rig.url).await;
    sql(
        &rig.url,
        "UPDATE delivery SET state = 'sending', attempts = 1",
    )
    .await
    .expect("all are on their way");
    let ids: Vec<String> = (1..=2_000)
        .map(|number| format!("cb_sent-{number:08}"))
        .collect();
    let mut took = Vec::new();
    for some in ids.chunks(250) {
        let start = Stopwatch::start();
        let returned = rig.store.deliveries().return_unsent(some, DUE).await;
        assert_eq!(returned.expect("an answer"), 250);
        took.push(start.elapsed());
    }
    let fastest = took.iter().min().expect("some");
    assert!(*fastest < Duration::from_millis(250), "{took:?}");
}

/// The promise: however much is owed to a receiver that is left alone, claims of others are as quick as ever.
async fn what_a_full_route_owes_does_not_delay_others(rig: Rig) {
    let (dead, alive) = (rig.account(0, 10).await, rig.account(0, 10).await);
    let closed = vec![RouteSlots {
        account_id: dead.clone(),
        host: "dead.example".into(),
        places: 0,
    }];
    // What the machine does beside it only adds to some of them, so the fastest tells.
    let fastest_claim = async || {
        let mut took = Vec::new();
        for _ in 0..10 {
            let id = owed(&rig, &alive, "alive.example").await;
            let start = Stopwatch::start();
            let claimed = claim_with(&rig, DUE, 8, 4, closed.clone()).await;
            took.push(start.elapsed());
            assert_eq!(claimed.len(), 1);
            assert_eq!(claimed[0].id, id);
        }
        took.into_iter().min().expect("some")
    };
    let usual = fastest_claim().await;
    let fill = Fill {
        account_id: &dead,
        name: "owed",
        jobs: 30_000,
        state: 2,
        apart_ms: 10,
        host: "dead.example",
        ..Fill::default()
    };
    fill.into(&rig.url).await;
    let behind = fastest_claim().await;
    let most = usual * 3 + Duration::from_millis(50);
    assert!(behind < most, "{behind:?}, usually {usual:?}");
}

async fn claims_are_fair_between_hosts(rig: Rig) {
    let account = rig.account(1, 1_000).await;
    for _ in 0..10 {
        owed(&rig, &account, "crowd.example").await;
    }
    owed(&rig, &account, "quiet.example").await;
    let claimed = claim(&rig, DUE, 4, 3).await;
    let crowd = claimed
        .iter()
        .filter(|one| one.host == "crowd.example")
        .count();
    assert_eq!((claimed.len(), crowd), (4, 3));
    assert_eq!(claim(&rig, DUE, 2, 1).await.len(), 1, "one for each host");
    assert_eq!(claim(&rig, DUE, 100, 100).await.len(), 6);
}

async fn claims_are_fair_between_accounts(rig: Rig) {
    let (many, few) = (rig.account(1, 100).await, rig.account(1, 100).await);
    for number in 0..10 {
        owed(&rig, &many, &format!("h{number}.example")).await;
    }
    owed(&rig, &few, "only.example").await;
    let claimed = claim(&rig, DUE, 2, 10).await;
    let whose: Vec<&str> = claimed.iter().map(|one| &*one.account_id).collect();
    assert!(whose.contains(&&*few), "{whose:?}");
    // The same host is another route for another account.
    owed(&rig, &few, "h9.example").await;
    let closed = (0..10).map(|number| RouteSlots {
        account_id: many.clone(),
        host: format!("h{number}.example"),
        places: 0,
    });
    let claimed = claim_with(&rig, DUE, 100, 10, closed.collect()).await;
    let whose: Vec<&str> = claimed.iter().map(|one| &*one.account_id).collect();
    assert_eq!(whose, [&*few]);
}

async fn an_account_gives_no_more_than_its_share_however_many_hosts_it_has(rig: Rig) {
    let (many, few) = (rig.account(1, 100).await, rig.account(1, 100).await);
    for number in 0..10 {
        owed(&rig, &many, &format!("h{number}.example")).await;
    }
    for number in 0..3 {
        owed(&rig, &few, &format!("h{number}.example")).await;
    }
    let claim = Claim {
        now_ms: DUE,
        for_ms: 60_000,
        limit: 100,
        per_route: 10,
        routes: Vec::new(),
        per_account: 4,
        accounts: vec![AccountSlots {
            account_id: few.clone(),
            places: 1,
        }],
    };
    let claimed = rig.store.deliveries().claim(&claim, || DUE).await;
    let claimed = claimed.expect("claims");
    let count = |account: &str| {
        let theirs = claimed.iter().filter(|one| one.account_id == account);
        theirs.count()
    };
    assert_eq!((count(&many), count(&few)), (4, 1));
}

async fn a_route_gives_as_many_as_it_has_room_for(rig: Rig) {
    let account = rig.account(1, 100).await;
    for host in [
        "dead", "dead", "probe", "probe", "wide", "wide", "live", "live",
    ] {
        owed(&rig, &account, &format!("{host}.example")).await;
    }
    let places = |host: &str, places| RouteSlots {
        account_id: account.clone(),
        host: format!("{host}.example"),
        places,
    };
    let routes = vec![
        places("dead", 0),
        places("probe", 1),
        places("wide", 9),
        places("gone", 3),
    ];
    let claimed = claim_with(&rig, DUE, 100, 1, routes).await;
    let mut hosts: Vec<&str> = claimed.iter().map(|one| &*one.host).collect();
    hosts.sort_unstable();
    let expected = [
        "live.example",
        "probe.example",
        "wide.example",
        "wide.example",
    ];
    assert_eq!(hosts, expected);
}

async fn receivers_on_other_ports_are_other_hosts(rig: Rig) {
    let account = rig.account(1, 100).await;
    for host in ["one.example:443", "one.example:8443", "[2001:db8::1]:9"] {
        owed(&rig, &account, host).await;
    }
    let claimed = claim(&rig, DUE, 10, 10).await;
    let mut hosts: Vec<&str> = claimed.iter().map(|one| &*one.host).collect();
    hosts.sort_unstable();
    assert_eq!(
        hosts,
        ["[2001:db8::1]:9", "one.example", "one.example:8443"]
    );
}

async fn claims_of_a_dead_process_are_free_at_once(rig: Rig) {
    let account = rig.account(1, 100).await;
    let id = owed(&rig, &account, "a.example").await;
    claim(&rig, DUE, 1, 1).await;
    assert_eq!(
        rig.store
            .deliveries()
            .free_claims(DUE + 1)
            .await
            .expect("a count"),
        1
    );
    assert_eq!(
        rig.store
            .deliveries()
            .free_claims(DUE + 1)
            .await
            .expect("a count"),
        0
    );
    let again = claim(&rig, DUE + 1, 1, 1).await.remove(0);
    assert_eq!((again.id, again.attempts), (id, 2));
}
