//! Links to files: one at the most for a file, for as long as it and the file last.

use atelier_store::{Asset, Link, NewLink};

use crate::rig::{NOW, Rig};

each_db!(
    a_link_shows_a_file_until_it_ends,
    a_file_has_one_link_and_only_its_account_makes_it,
);

const FILE_ENDS_MS: i64 = NOW + 1_000;

async fn file(rig: &Rig, key: &str) {
    let file = Asset {
        key: key.into(),
        job_id: String::new(),
        account_id: "account".into(),
        media_type: "image/png".into(),
        bytes: 7,
        expires_ms: FILE_ENDS_MS,
        created_ms: NOW,
    };
    let noted = rig.store.assets().note_inputs(vec![file]).await;
    noted.expect("noted");
}

async fn link(rig: &Rig, id: &str, (account, key): (&str, &str), ends_ms: i64) -> Option<Link> {
    let link = NewLink {
        id: id.into(),
        account_id: account.into(),
        key: key.into(),
        ends_ms,
        now_ms: NOW,
    };
    rig.store.assets().link(link).await.expect("a change")
}

async fn linked(rig: &Rig, id: &str, now_ms: i64) -> Option<String> {
    let found = rig.store.assets().linked(id, now_ms).await;
    found.expect("a read").map(|link| link.asset.key)
}

async fn listed(rig: &Rig, now_ms: i64) -> (Vec<String>, i64) {
    let links = rig.store.assets().links("account", now_ms, 0, 10).await;
    let (links, total) = links.expect("a page");
    (links.into_iter().map(|link| link.id).collect(), total)
}

async fn a_link_shows_a_file_until_it_ends(rig: Rig) {
    file(&rig, "out/a").await;
    file(&rig, "out/b").await;
    let short = link(&rig, "short", ("account", "out/a"), NOW + 10).await;
    assert_eq!(short.map(|link| link.ends_ms), Some(NOW + 10));
    // No longer than the file is kept.
    let long = link(&rig, "long", ("account", "out/b"), NOW + 90_000).await;
    assert_eq!(long.map(|link| link.ends_ms), Some(FILE_ENDS_MS));
    assert_eq!(
        listed(&rig, NOW).await,
        (vec!["long".into(), "short".into()], 2)
    );
    assert_eq!(linked(&rig, "short", NOW + 9).await, Some("out/a".into()));
    assert_eq!(linked(&rig, "short", NOW + 10).await, None);
    assert_eq!(listed(&rig, NOW + 10).await, (vec!["long".into()], 1));
    assert_eq!(linked(&rig, "long", FILE_ENDS_MS).await, None);
    assert_eq!(listed(&rig, FILE_ENDS_MS).await, (Vec::new(), 0));
}

async fn a_file_has_one_link_and_only_its_account_makes_it(rig: Rig) {
    file(&rig, "out/a").await;
    let foreign = link(&rig, "foreign", ("another", "out/a"), NOW + 10).await;
    assert_eq!(foreign, None);
    let missing = link(&rig, "missing", ("account", "out/z"), NOW + 10).await;
    assert_eq!(missing, None);
    link(&rig, "first", ("account", "out/a"), NOW + 10).await;
    link(&rig, "second", ("account", "out/a"), NOW + 10).await;
    assert_eq!(linked(&rig, "first", NOW).await, None, "another was made");
    assert_eq!(linked(&rig, "second", NOW).await, Some("out/a".into()));
    let ended = async |account: &str| {
        let ended = rig.store.assets().unlink(account, "second").await;
        ended.expect("a change")
    };
    assert!(!ended("another").await);
    assert_eq!(linked(&rig, "second", NOW).await, Some("out/a".into()));
    assert!(ended("account").await);
    assert_eq!(linked(&rig, "second", NOW).await, None);
    assert!(!ended("account").await, "it has ended");
}
