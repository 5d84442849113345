//! The chain of the audit list: whoever changes, removes or slips in an act is noticed.

use atelier_contract::pages::operators::OperatorRole;
use atelier_store::{AuditRow, NewOperator, Store};

use crate::rig::{NOW, Rig, options, spawn, sql};

each_db!(
    an_untouched_chain_is_sound,
    a_changed_act_is_noticed,
    a_removed_act_is_noticed,
    a_slipped_in_act_is_noticed,
    old_acts_are_forgotten_without_alarm,
    an_act_behind_a_younger_one_is_kept_with_it,
    two_nodes_write_one_chain,
);

/// Makes an operator, which is an act.
async fn act(store: &Store, number: i64) {
    let row = AuditRow {
        id: format!("act-{number}"),
        time_ms: NOW + number,
        actor: "root".into(),
        action: "operator.create".into(),
        target: format!("operator-{number}"),
        detail: "ada, viewer".into(),
        account_id: None,
    };
    let new = NewOperator {
        id: row.target.clone(),
        name: row.target.clone(),
        role: OperatorRole::Viewer,
        hash: format!("hash-{number}"),
        prefix: "op_".into(),
        person_id: None,
        now_ms: NOW,
    };
    store.admin().add_operator(new, row).await.expect("made");
}

async fn acts(rig: &Rig, count: i64) {
    for number in 1..=count {
        act(&rig.store, number).await;
    }
}

async fn faults(rig: &Rig) -> Vec<String> {
    rig.store.admin().check_audit().await.expect("a check")
}

async fn tamper(rig: &Rig, statement: &str) {
    sql(&rig.url, statement).await.expect("done");
}

async fn an_untouched_chain_is_sound(rig: Rig) {
    assert_eq!(faults(&rig).await, Vec::<String>::new(), "no acts at all");
    acts(&rig, 4).await;
    assert_eq!(faults(&rig).await, Vec::<String>::new());
}

async fn a_changed_act_is_noticed(rig: Rig) {
    acts(&rig, 4).await;
    for (number, column) in [(1, "actor"), (2, "detail"), (3, "action"), (4, "target")] {
        let set = |to: &str| format!("UPDATE audit SET {column} = {to} WHERE number = {number}");
        tamper(&rig, &set(&format!("{column} || '!'"))).await;
        assert_eq!(faults(&rig).await.len(), 1, "{column} of {number}");
        let back = format!("substr({column}, 1, length({column}) - 1)");
        tamper(&rig, &set(&back)).await;
        assert_eq!(faults(&rig).await, Vec::<String>::new());
    }
    tamper(
        &rig,
        "UPDATE audit SET time_ms = time_ms + 1 WHERE number = 2",
    )
    .await;
    assert_eq!(faults(&rig).await.len(), 1);
}

async fn a_removed_act_is_noticed(rig: Rig) {
    acts(&rig, 6).await;
    tamper(&rig, "DELETE FROM audit WHERE number = 3").await;
    assert_eq!(faults(&rig).await, ["audit: acts 3 to 3 are missing"]);
    tamper(&rig, "DELETE FROM audit WHERE number = 1").await;
    assert_eq!(faults(&rig).await.len(), 2);
    tamper(&rig, "DELETE FROM audit WHERE number = 6").await;
    assert_eq!(faults(&rig).await.len(), 3);
    tamper(&rig, "DELETE FROM audit").await;
    assert_eq!(faults(&rig).await, ["audit: acts 1 to 6 are missing"]);
}

async fn a_slipped_in_act_is_noticed(rig: Rig) {
    acts(&rig, 3).await;
    // In the place of a removed one, with everything that can be copied from it.
    tamper(
        &rig,
        "INSERT INTO audit (id, time_ms, actor, action, target, detail, number, previous) \
         SELECT 'forged', time_ms, actor, action, target, detail, 0, previous FROM audit WHERE number = 2",
    )
    .await;
    tamper(&rig, "DELETE FROM audit WHERE number = 2").await;
    tamper(&rig, "UPDATE audit SET number = 2 WHERE id = 'forged'").await;
    assert_eq!(faults(&rig).await.len(), 1);
}

async fn old_acts_are_forgotten_without_alarm(rig: Rig) {
    acts(&rig, 5).await;
    assert_eq!(
        rig.store
            .retention()
            .forget_audit(NOW + 3, 10)
            .await
            .expect("done"),
        2
    );
    assert_eq!(faults(&rig).await, Vec::<String>::new());
    assert_eq!(
        rig.store
            .retention()
            .forget_audit(NOW + 9, 10)
            .await
            .expect("done"),
        3
    );
    assert_eq!(faults(&rig).await, Vec::<String>::new());
    act(&rig.store, 6).await;
    assert_eq!(faults(&rig).await, Vec::<String>::new());
    tamper(&rig, "DELETE FROM audit WHERE number = 6").await;
    assert_eq!(faults(&rig).await.len(), 1);
}

async fn an_act_behind_a_younger_one_is_kept_with_it(rig: Rig) {
    // The clocks of two nodes differ: the second act looks older than the first.
    act(&rig.store, 5).await;
    act(&rig.store, 1).await;
    assert_eq!(
        rig.store
            .retention()
            .forget_audit(NOW + 3, 10)
            .await
            .expect("done"),
        0
    );
    assert_eq!(faults(&rig).await, Vec::<String>::new());
    assert_eq!(
        rig.store
            .retention()
            .forget_audit(NOW + 9, 10)
            .await
            .expect("done"),
        2
    );
    assert_eq!(faults(&rig).await, Vec::<String>::new());
}

async fn two_nodes_write_one_chain(rig: Rig) {
    let other = Store::open(&rig.url, options()).await.expect("opened");
    let tasks: Vec<_> = (1..=20)
        .map(|number| {
            let store = [&rig.store, &other][number as usize % 2].clone();
            spawn(async move { act(&store, number).await })
        })
        .collect();
    for task in tasks {
        task.await.expect("it ends");
    }
    assert_eq!(faults(&rig).await, Vec::<String>::new());
    assert_eq!(
        rig.store.admin().audit_rows(0, 1).await.expect("a page").1,
        20
    );
    other.close().await;
}
