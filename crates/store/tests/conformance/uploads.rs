//! Uploads: recorded, listed by owner, dropped, and ended like every other file.

use atelier_store::Asset;

use crate::rig::{NOW, Rig};

each_db!(
    uploads_are_listed_to_their_owner_newest_first,
    a_dropped_upload_is_condemned_at_once,
    an_upload_that_does_not_fit_is_not_recorded,
);

fn asset(key: &str, account: &str, created_ms: i64) -> Asset {
    Asset {
        key: key.into(),
        job_id: String::new(),
        account_id: account.into(),
        media_type: "image/png".into(),
        bytes: 7,
        expires_ms: NOW + 1000,
        created_ms,
    }
}

async fn uploads_are_listed_to_their_owner_newest_first(rig: Rig) {
    for (id, account, at) in [
        ("u1", "a", 1),
        ("u2", "a", 2),
        ("u3", "b", 3),
        ("u4", "a", 4),
    ] {
        let asset = asset(&format!("in/files/{id}"), account, NOW + at);
        let noted = rig.store.assets().note_upload(id, asset, 1000).await;
        assert_eq!(noted.expect("noted"), Ok(()));
    }
    // Other files of the account are none of its uploads.
    let input = asset("in/a/hash", "a", NOW);
    rig.store
        .assets()
        .note_inputs(vec![input])
        .await
        .expect("noted");
    let list = async |now_ms, offset| {
        let (page, total) = rig
            .store
            .assets()
            .uploads("a", now_ms, offset, 2)
            .await
            .expect("read");
        let ids: Vec<String> = page.into_iter().map(|one| one.id).collect();
        (ids.join(" "), total)
    };
    assert_eq!(list(NOW, 0).await, ("u4 u2".to_owned(), 3));
    assert_eq!(list(NOW, 2).await, ("u1".to_owned(), 3));
    assert_eq!(list(NOW + 1000, 0).await, (String::new(), 0), "expired");
    let twice = rig
        .store
        .assets()
        .note_upload("u1", asset("in/x", "a", NOW), 1000)
        .await;
    assert!(twice.is_err(), "an identifier is used once");
}

async fn a_dropped_upload_is_condemned_at_once(rig: Rig) {
    let upload = asset("in/files/u", "a", NOW);
    let noted = rig.store.assets().note_upload("u", upload, 1000).await;
    assert_eq!(noted.expect("noted"), Ok(()));
    let drop = async |account: &str| {
        rig.store
            .assets()
            .drop_upload(account, "u", NOW)
            .await
            .expect("done")
    };
    assert!(!drop("b").await, "it belongs to another account");
    assert!(drop("a").await);
    assert!(!drop("a").await, "it is gone");
    let condemned = rig.store.assets().condemn(NOW, NOW - 1, 10).await;
    assert_eq!(condemned.expect("condemned"), ["in/files/u"]);
}

async fn an_upload_that_does_not_fit_is_not_recorded(rig: Rig) {
    let id = rig.account(1, 1).await;
    let note = async |name: &str, most| {
        let asset = asset(&format!("in/files/{name}"), &id, NOW);
        rig.store
            .assets()
            .note_upload(name, asset, most)
            .await
            .expect("asked")
    };
    assert_eq!(note("one", 14).await, Ok(()));
    assert_eq!(note("two", 14).await, Ok(()));
    assert_eq!(note("three", 14).await, Err(14));
    let (_, total) = rig
        .store
        .assets()
        .uploads(&id, NOW, 0, 10)
        .await
        .expect("read");
    assert_eq!(total, 2);
}
