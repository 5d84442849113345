//! Named operators.

use atelier_contract::pages::operators::OperatorRole;
use atelier_store::{AuditRow, Error, NewOperator};

use crate::rig::{NOW, Rig};

each_db!(
    a_token_leads_to_its_operator_until_revoked,
    a_name_is_used_once,
    no_change_is_made_without_its_act,
);

fn new(rig: &Rig, name: &str) -> NewOperator {
    NewOperator {
        id: rig.id("operator"),
        name: name.into(),
        role: OperatorRole::Viewer,
        hash: rig.id("hash"),
        prefix: "op_abcdef".into(),
        person_id: None,
        now_ms: NOW,
    }
}

fn act(rig: &Rig, action: &str, target: &str) -> AuditRow {
    AuditRow {
        id: rig.id("act"),
        time_ms: NOW,
        actor: "root".into(),
        action: action.into(),
        target: target.into(),
        detail: String::new(),
        account_id: None,
    }
}

async fn add(rig: &Rig, new: &NewOperator) -> Result<(), Error> {
    let act = act(rig, "operator.create", &new.id);
    rig.store.admin().add_operator(new.clone(), act).await
}

async fn revoke(rig: &Rig, id: &str) -> bool {
    let act = act(rig, "operator.revoke", id);
    let revoked = rig.store.admin().revoke_operator(id, NOW + 5, act).await;
    revoked.expect("an answer")
}

async fn a_token_leads_to_its_operator_until_revoked(rig: Rig) {
    let (one, other) = (new(&rig, "ada"), new(&rig, "ben"));
    add(&rig, &one).await.expect("made");
    add(&rig, &other).await.expect("made");
    let find = |hash: &str| {
        let (store, hash) = (rig.store.clone(), hash.to_owned());
        async move {
            store
                .admin()
                .operator_for_token(&hash)
                .await
                .expect("a read")
        }
    };
    let found = find(&one.hash).await.expect("an operator");
    assert_eq!(
        (found.name.as_str(), found.role),
        ("ada", OperatorRole::Viewer)
    );
    assert_eq!((found.last_used_ms, found.revoked_ms), (None, None));
    rig.store
        .admin()
        .touch_operator(&one.id, NOW + 3)
        .await
        .expect("touched");
    assert!(revoke(&rig, &one.id).await);
    assert!(!revoke(&rig, &one.id).await, "only once");
    assert!(!revoke(&rig, "nobody").await);
    assert_eq!(find(&one.hash).await, None);
    assert!(find(&other.hash).await.is_some());
    let listed = rig.store.admin().operators().await.expect("a list");
    let row = listed.iter().find(|row| row.id == one.id).expect("listed");
    assert_eq!(
        (listed.len(), row.last_used_ms, row.revoked_ms),
        (2, Some(NOW + 3), Some(NOW + 5))
    );
}

async fn a_name_is_used_once(rig: Rig) {
    let first = new(&rig, "ada");
    add(&rig, &first).await.expect("made");
    let again = add(&rig, &new(&rig, "ada")).await;
    assert!(matches!(again, Err(Error::Conflict(_))), "{again:?}");
    assert!(revoke(&rig, &first.id).await);
    let later = add(&rig, &new(&rig, "ada")).await;
    assert!(matches!(later, Err(Error::Conflict(_))), "{later:?}");
}

async fn no_change_is_made_without_its_act(rig: Rig) {
    let one = new(&rig, "ada");
    add(&rig, &one).await.expect("made");
    add(&rig, &new(&rig, "ada")).await.expect_err("a conflict");
    revoke(&rig, &one.id).await;
    revoke(&rig, &one.id).await;
    let (acts, total) = rig.store.admin().audit_rows(0, 10).await.expect("a page");
    assert_eq!(total, 2, "{acts:?}");
    // An act that cannot be written takes its change with it.
    let twice = new(&rig, "ben");
    let act = AuditRow {
        id: acts[0].id.clone(),
        ..act(&rig, "operator.create", &twice.id)
    };
    let refused = rig.store.admin().add_operator(twice, act).await;
    assert!(refused.is_err(), "the act's identifier is taken");
    assert_eq!(
        rig.store.admin().operators().await.expect("a list").len(),
        1
    );
}
