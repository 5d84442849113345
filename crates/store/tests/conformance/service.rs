//! Audit list, settings, nodes, wake-ups.

use std::time::Duration;

use atelier_store::{AuditRow, Period};

use crate::rig::{NOW, Rig};

each_db!(
    acts_are_listed_newest_first,
    a_setting_is_stored_and_replaced,
    a_setting_given_first_stands,
    nodes_are_known_while_they_beat,
    wake_ups_reach_every_listener,
);

async fn acts_are_listed_newest_first(rig: Rig) {
    let act = |id: &str, time_ms| AuditRow {
        id: id.into(),
        time_ms,
        actor: "operator".into(),
        action: "credit".into(),
        target: "account".into(),
        detail: "{\"amount\":5}".into(),
        account_id: None,
    };
    for (id, time_ms) in [("a", NOW), ("b", NOW + 1), ("c", NOW + 1)] {
        rig.store
            .settings()
            .put_all(Vec::new(), Some(act(id, time_ms)))
            .await
            .expect("added");
    }
    let (rows, total) = rig.store.admin().audit_rows(0, 2).await.expect("a page");
    assert_eq!(
        (rows, total),
        (vec![act("c", NOW + 1), act("b", NOW + 1)], 3)
    );
    assert_eq!(
        rig.store.admin().audit_rows(2, 2).await.expect("a page").0,
        [act("a", NOW)]
    );
    // A period has its first moment and not its last one.
    for (from_ms, to_ms, want) in [
        (Some(NOW), Some(NOW + 1), 1),
        (Some(NOW + 1), None, 2),
        (None, Some(NOW + 1), 1),
        (Some(NOW + 2), None, 0),
    ] {
        let period = Period { from_ms, to_ms };
        let page = rig.store.admin().audit_of(period, 0, 10).await;
        let (rows, total) = page.expect("a page");
        assert_eq!((rows.len() as i64, total), (want, want), "{period:?}");
    }
}

async fn a_setting_is_stored_and_replaced(rig: Rig) {
    assert_eq!(
        rig.store.settings().get("price.a").await.expect("a read"),
        None
    );
    rig.store
        .settings()
        .put("price.a", "1")
        .await
        .expect("stored");
    rig.store
        .settings()
        .put("price.a", "2")
        .await
        .expect("stored");
    rig.store
        .settings()
        .put("price_b", "3")
        .await
        .expect("stored");
    rig.store
        .settings()
        .put("price.b", "4")
        .await
        .expect("stored");
    assert_eq!(
        rig.store
            .settings()
            .get("price.a")
            .await
            .expect("a read")
            .as_deref(),
        Some("2")
    );
    let account = rig.account(0, 1).await;
    for (name, value) in [("price.a", Some("2")), ("price.c", None)] {
        let found = rig.store.settings().get_for(&account, name).await;
        assert_eq!(found.expect("a read").as_deref(), value, "for an account");
    }
    let found = rig.store.settings().list("price.").await.expect("a list");
    assert_eq!(
        found,
        [
            ("price.a".into(), "2".into()),
            ("price.b".into(), "4".into())
        ]
    );
    assert_eq!(
        rig.store.settings().list("").await.expect("a list").len(),
        3
    );
}

async fn a_setting_given_first_stands(rig: Rig) {
    let put = async |value: &str| {
        rig.store
            .settings()
            .put_if_absent("secret", value)
            .await
            .expect("a value")
    };
    assert_eq!(put("first").await, "first");
    assert_eq!(put("second").await, "first");
    let replace = async |old: &str, new: &str| {
        let replaced = rig.store.settings().replace("secret", old, new, None).await;
        replaced.expect("an answer")
    };
    assert!(replace("first", "third").await);
    assert!(!replace("first", "fourth").await, "somebody was faster");
    assert_eq!(put("second").await, "third");
}

async fn nodes_are_known_while_they_beat(rig: Rig) {
    rig.store
        .nodes()
        .beat("one", NOW, NOW, "{}")
        .await
        .expect("noted");
    rig.store
        .nodes()
        .beat("two", NOW + 1, NOW + 1, "{}")
        .await
        .expect("noted");
    rig.store
        .nodes()
        .beat("one", NOW, NOW + 50, "{\"jobs\":1}")
        .await
        .expect("noted");
    let alive = rig.store.nodes().list(NOW + 2).await.expect("a list");
    assert_eq!(alive.len(), 1);
    assert_eq!((alive[0].id.as_str(), alive[0].started_ms), ("one", NOW));
    assert_eq!(
        (alive[0].seen_ms, alive[0].detail.as_str()),
        (NOW + 50, "{\"jobs\":1}")
    );
    rig.store.nodes().forget("one").await.expect("forgotten");
    assert_eq!(
        rig.store.nodes().list(0).await.expect("a list")[0].id,
        "two"
    );
}

async fn wake_ups_reach_every_listener(rig: Rig) {
    let Some(mut wake) = rig.store.nodes().listener() else {
        assert!(!rig.store.is_postgres(), "only SQLite has none");
        return;
    };
    let mut second = rig.store.nodes().listener().expect("another");
    // A listener connects when it is first asked, and hears what is told from then on.
    for listener in [&mut wake, &mut second] {
        let teller = async {
            loop {
                rig.store
                    .nodes()
                    .notify(&["hello".into()])
                    .await
                    .expect("told");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::select! {
            heard = listener.next() => assert_eq!(heard, "hello"),
            () = teller => {}
        }
    }
    rig.store
        .nodes()
        .notify(&["work".into(), "hook".into()])
        .await
        .expect("told");
    let limit = Duration::from_secs(10);
    let heard = async {
        for listener in [&mut wake, &mut second] {
            let mut said = "hello".to_owned();
            while said == "hello" {
                said = listener.next().await;
            }
            assert_eq!(said, "work");
            assert_eq!(listener.next().await, "hook");
        }
    };
    tokio::time::timeout(limit, heard)
        .await
        .expect("heard in time");
}
