//! Rehearsals: what copies may cost is set aside before they are made, sums add up, and it all goes with its back end.

use atelier_contract::fields::Real;
use atelier_contract::pages::backends::Shadow;
use atelier_contract::pages::cost::Amount;
use atelier_store::{
    AuditRow, BackendChange, BackendChangeOutcome, RehearsalCounts, RehearsalResult,
    RehearsalSumRow,
};

use crate::rig::{NOW, Rig, number, spawn, sql};
use crate::workers::{backend, put_backend};

each_db!(
    a_cap_is_never_passed,
    what_was_compared_adds_up,
    only_the_latest_differences_are_kept,
    a_rehearsal_begins_anew_and_goes_with_its_back_end,
    older_programs_and_rehearsals_keep_apart,
);

fn sum(model: &str, differs: bool) -> RehearsalSumRow {
    let side = |cost, took_ms| RehearsalCounts {
        succeeded: 1,
        cost,
        costed: 1,
        took_ms,
        slowest_ms: took_ms,
    };
    RehearsalSumRow {
        operation: "imgmodel.generations".into(),
        model: model.into(),
        calls: 1,
        alike: i64::from(!differs),
        status: 0,
        count: i64::from(differs),
        size: 0,
        answered: side(40, 1_000),
        copied: side(30, 2_000),
    }
}

fn result(rig: &Rig, model: &str, call: Option<String>, beyond: i64) -> RehearsalResult {
    RehearsalResult {
        id: rig.id("copy"),
        backend_id: "b".into(),
        sum: sum(model, call.is_some()),
        call,
        beyond,
        at_ms: NOW,
    }
}

fn act(rig: &Rig) -> AuditRow {
    AuditRow {
        id: rig.id("act"),
        time_ms: NOW,
        actor: "root".into(),
        action: "rehearsal.clear".into(),
        target: "b".into(),
        detail: String::new(),
        account_id: None,
    }
}

async fn spent(rig: &Rig) -> i64 {
    let all = rig.store.rehearsals().all().await.expect("a read");
    all.first().map_or(0, |row| row.spent)
}

async fn a_cap_is_never_passed(rig: Rig) {
    let tries = (0..50).map(|_| {
        let store = rig.store.clone();
        spawn(async move {
            let set = store.rehearsals().set_aside("b", 30, 1_000, NOW).await;
            set.expect("an answer").1
        })
    });
    let mut fits = 0;
    for one in tries.collect::<Vec<_>>() {
        fits += i64::from(one.await.expect("an answer"));
    }
    assert_eq!((fits, spent(&rig).await), (33, 990));
    let rehearsals = rig.store.rehearsals();
    rehearsals.give_back("b", 30).await.expect("given back");
    assert_eq!(spent(&rig).await, 960);
    // It took more than was set aside: that counts, and nothing more is made.
    let dear = result(&rig, "", None, 500);
    rehearsals.record(dear).await.expect("written down");
    assert_eq!(spent(&rig).await, 1_460);
    let free = rehearsals.set_aside("b", 0, 1_000, NOW).await;
    assert!(!free.expect("an answer").1, "the cap is spent");
    let raised = rehearsals.set_aside("b", 30, 2_000, NOW).await;
    assert!(raised.expect("an answer").1);
    // A vendor that is slow is left alone until a moment.
    rehearsals.pause("b", NOW + 10).await.expect("paused");
    for (now_ms, may) in [(NOW, false), (NOW + 9, false), (NOW + 10, true)] {
        let set = rehearsals.set_aside("b", 1, 2_000, now_ms).await;
        assert_eq!(set.expect("an answer").1, may, "{now_ms}");
    }
}

async fn what_was_compared_adds_up(rig: Rig) {
    let rehearsals = rig.store.rehearsals();
    rehearsals
        .set_aside("b", 100, 1_000, NOW)
        .await
        .expect("begun");
    for (model, call) in [
        ("image-1", None),
        ("image-1", Some("{}".to_owned())),
        ("art-3", None),
    ] {
        rehearsals
            .record(result(&rig, model, call, 0))
            .await
            .expect("written down");
    }
    let sums = rehearsals.sums("b").await.expect("a read");
    assert_eq!(sums.len(), 2);
    let most = &sums[0];
    assert_eq!(
        (&*most.model, most.calls, most.alike, most.count),
        ("image-1", 2, 1, 1)
    );
    let answered = &most.answered;
    assert_eq!(
        (answered.cost, answered.took_ms, answered.slowest_ms),
        (80, 2_000, 1_000)
    );
    assert_eq!(
        (
            most.copied.cost,
            most.copied.took_ms,
            most.copied.slowest_ms
        ),
        (60, 4_000, 2_000)
    );
    assert!(rehearsals.sums("another").await.expect("a read").is_empty());
}

async fn only_the_latest_differences_are_kept(rig: Rig) {
    let rehearsals = rig.store.rehearsals();
    for place in 0..230_i64 {
        let call = RehearsalResult {
            at_ms: NOW + place,
            ..result(&rig, "", Some(place.to_string()), 0)
        };
        rehearsals.record(call).await.expect("written down");
    }
    let latest = rehearsals.latest("b", 3).await.expect("a read");
    assert_eq!(latest, ["229", "228", "227"]);
    let kept = number(&rig.url, "SELECT COUNT(*) FROM rehearsal_call").await;
    assert_eq!(kept, 200);
}

async fn a_rehearsal_begins_anew_and_goes_with_its_back_end(rig: Rig) {
    let rehearsals = rig.store.rehearsals();
    assert!(
        !rehearsals.clear("b", act(&rig)).await.expect("an answer"),
        "there is none"
    );
    for again in [true, false] {
        rehearsals
            .set_aside("b", 100, 1_000, NOW)
            .await
            .expect("begun");
        let call = result(&rig, "", Some("{}".into()), 0);
        rehearsals.record(call).await.expect("written down");
        if again {
            assert!(rehearsals.clear("b", act(&rig)).await.expect("an answer"));
        } else {
            put_backend(&rig, backend("b", None)).await;
            let removed = rig.store.workers().remove_backend(None, "b", None).await;
            removed.expect("an answer");
        }
        for table in ["rehearsal", "rehearsal_sum", "rehearsal_call"] {
            let sql = format!("SELECT COUNT(*) FROM {table}");
            assert_eq!(number(&rig.url, &sql).await, 0, "{table}");
        }
    }
    let acts = "SELECT COUNT(*) FROM audit WHERE action = 'rehearsal.clear'";
    assert_eq!(
        number(&rig.url, acts).await,
        1,
        "what did not happen leaves no row"
    );
}

/// The promise: a program that would give jobs to a back end that is rehearsed is not at work beside one.
async fn older_programs_and_rehearsals_keep_apart(rig: Rig) {
    let widens = "SELECT widens FROM schema_version WHERE name = '0081_rehearsal'";
    let older = format!(
        "INSERT INTO node (id, started_ms, seen_ms, detail, knows) \
         SELECT 'older', 1, {NOW}, '{{}}', version - 1 FROM schema_version WHERE name = '0081_rehearsal'"
    );
    sql(&rig.url, &older).await.expect("noted");
    put_backend(&rig, backend("a", None)).await;
    assert_eq!(
        number(&rig.url, widens).await,
        1,
        "nothing is rehearsed yet"
    );
    let mut row = backend("b", None);
    let share: Real<0, 1000, 10> = serde_json::from_str("0.25").expect("a share");
    row.spec.shadow = Some(Shadow {
        share,
        cap: Amount::from_micros(5_000_000),
    });
    let change = || BackendChange {
        backends: vec![row.clone()],
        alive_since_ms: NOW - 60_000,
        ..BackendChange::default()
    };
    let workers = rig.store.workers();
    let answer = workers.apply_backend_change(change(), None).await;
    let answer = answer.expect("an answer");
    if rig.store.is_postgres() {
        assert_eq!(answer, BackendChangeOutcome::OlderNode("older".into()));
        assert_eq!(number(&rig.url, widens).await, 1, "older ones may start");
        rig.store.nodes().forget("older").await.expect("stopped");
        let done = workers.apply_backend_change(change(), None).await;
        assert_eq!(done.expect("an answer"), BackendChangeOutcome::Done);
    } else {
        assert_eq!(
            answer,
            BackendChangeOutcome::Done,
            "one process has the database"
        );
    }
    assert_eq!(number(&rig.url, widens).await, 0, "older ones do not start");
    let there = workers.backends().await.expect("a read");
    let stored = there
        .iter()
        .find(|one| one.id == "b")
        .expect("the back end");
    assert_eq!(stored.spec, row.spec);
    // What cannot be read gets no jobs all the same.
    sql(
        &rig.url,
        "UPDATE backend SET shadow = '{\"later\": 1}' WHERE id = 'b'",
    )
    .await
    .expect("done");
    let there = workers.backends().await.expect("a read");
    let stored = there
        .iter()
        .find(|one| one.id == "b")
        .expect("the back end");
    let shadow = stored.spec.shadow.as_ref().expect("it is rehearsed");
    assert_eq!(shadow.cap.micros(), 0);
}
