//! The service's own time: what is kept of it, and that what is due is kept in it while what is shown is not.

use atelier_contract::Speed;
use atelier_store::{ClockNote, Guard, LeaseRequest, SettleOutcome, Settlement, work_kind};

use crate::rig::{NOW, Rig};

/// How far the time that is shown is ahead.
const AHEAD: i64 = -3_600_000;

each_db!(
    what_a_clock_was_is_noted_for_each_machine,
    one_of_all_nodes_changes_what_they_agree_on,
    what_is_due_is_kept_apart_from_what_is_shown,
);

fn note(machine: &str, steady_ms: i64, wall_ms: i64) -> ClockNote {
    ClockNote {
        machine: machine.into(),
        boot_ms: steady_ms - NOW,
        steady_ms,
        wall_ms,
    }
}

async fn what_a_clock_was_is_noted_for_each_machine(rig: Rig) {
    let notes = async || rig.store.nodes().clock_notes().await.expect("a list");
    assert_eq!(notes().await, []);
    let month = 32 * 24 * 3_600_000;
    let (old, one) = (note("old", NOW, NOW), note("one", NOW + month, NOW + 7));
    let one_later = note("one", NOW + month + 5, NOW + 9);
    for one in [&old, &one, &one_later] {
        rig.store
            .nodes()
            .note_clock(one.clone())
            .await
            .expect("noted");
    }
    assert_eq!(notes().await, [one_later], "the old one is forgotten");
}

async fn one_of_all_nodes_changes_what_they_agree_on(rig: Rig) {
    let agree = async |old: Option<&ClockNote>, new: &ClockNote| {
        let agreed = rig
            .store
            .nodes()
            .agree_on_clock(old.cloned(), new.clone())
            .await;
        agreed.expect("an answer")
    };
    let (first, mut second) = (note("", NOW, NOW), note("", NOW + 5, NOW + 60_005));
    assert!(agree(None, &first).await);
    assert!(!agree(None, &second).await, "somebody was faster");
    assert!(agree(Some(&first), &second).await);
    assert!(!agree(Some(&first), &first).await, "somebody was faster");
    second.boot_ms = 0;
    assert_eq!(
        rig.store.nodes().clock_notes().await.expect("a list"),
        [second]
    );
}

async fn what_is_due_is_kept_apart_from_what_is_shown(rig: Rig) {
    let account = rig.account(10, 10).await;
    let mut accept = rig.accept(&account, 1);
    accept.job.created_ms = NOW + AHEAD;
    accept.job.ahead_ms = AHEAD;
    accept.job.hook_url = Some("https://example.com/hook".into());
    let (late, early) = (accept.job.id.clone(), rig.waiting(&account, 1).await);
    rig.take(accept).await;
    let request = LeaseRequest {
        owner: "node".into(),
        until_ms: NOW + 30_000,
        now_ms: NOW,
        ahead_ms: AHEAD,
        kinds: vec![work_kind("artgen.imagine", Speed::Fast, "")],
        narrow: Vec::new(),
        limit: 10,
    };
    let leased = rig.store.queue().lease_next(request).await.expect("leases");
    let ids: Vec<&str> = leased.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(
        ids,
        [&*early, &*late],
        "as they came, not as they are dated"
    );
    let overdue = rig.store.queue().overdue(NOW + 299_999, 10).await;
    assert_eq!(overdue.expect("a list"), [""; 0]);
    let settlement = Settlement {
        now_ms: NOW + AHEAD + 5_000,
        ahead_ms: AHEAD,
        ..rig.success(&late, Guard::Fence(1), 1)
    };
    let SettleOutcome::Done(row) = rig.settle(settlement).await else {
        panic!("it was ours");
    };
    assert_eq!(row.deadline_ms, NOW + AHEAD + 300_000, "only shown now");
    assert_eq!(rig.job(&late).await, row);
    let owed = rig
        .store
        .deliveries()
        .find(&account, &format!("cb_{late}"))
        .await;
    let owed = owed.expect("an answer").expect("it is owed");
    assert_eq!(
        (owed.next_ms, owed.created_ms),
        (NOW + 5_000, NOW + AHEAD + 5_000)
    );
}
