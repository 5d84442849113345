//! The schema: shipped migrations stay as they are, a newer one is refused, opening again changes nothing.

use std::fmt::Write;

use atelier_store::migrate::MIGRATIONS;
use atelier_store::{Error, Store};
use sha2::{Digest, Sha256};

use crate::rig::{Rig, options, spawn, sql};

each_db!(
    opening_again_changes_nothing,
    a_newer_schema_is_refused,
    two_nodes_may_start_at_once,
);

/// SHA-256 of every migration that has been shipped. Lines are only ever added.
const SHIPPED: &[(&str, &str)] = &[
    (
        "0001_accounts",
        "f26423fcc492198d441197363ec3115b58061d644b1868bd0f06e6e1091f768f",
    ),
    (
        "0002_jobs",
        "486c7cfa8b9d24f5bd5af68c46a3317b18a16afff218433af7bcc35fc1b6d410",
    ),
    (
        "0003_ledger",
        "ef468962c6f3f9b425dffb59f54eeb0aaaab9e7c2a805de45127f652fc740f6e",
    ),
    (
        "0004_deliveries",
        "adfb2e38ac4e931bff6c6e0a6c372074b6a59ecfe53836b776776af9d9eb92e4",
    ),
    (
        "0005_house",
        "b1e4dd4cae19f88811440f9783e6f5199000d9a537c1bffa5273764f2b338e06",
    ),
    (
        "0007_retention",
        "3a0f419315b8269164d6cf2e31260cac85bff818aaf700428e1ea2da8d6cf298",
    ),
    (
        "0008_workers",
        "a111f833136abec89234c862ec3134ffb8a886e8298fb851829eb7b906a0726a",
    ),
    (
        "0009_tries",
        "a83489e3fe5e3649519a8bc9284f4b108c366ed67e58b119e982be424f68c085",
    ),
    (
        "0010_operators",
        "882f3f6f49bb5cf2bec8bbc755810aa9e6b0495fc3526cd43c47ee2c297e3943",
    ),
];

#[test]
fn shipped_migrations_never_change() {
    let hex = |text: &str| {
        Sha256::digest(text.as_bytes())
            .iter()
            .fold(String::new(), |mut hex, byte| {
                write!(hex, "{byte:02x}").expect("a text takes everything");
                hex
            })
    };
    let digests: Vec<(&str, String)> = MIGRATIONS
        .iter()
        .map(|(name, text)| (*name, hex(text)))
        .collect();
    let digests: Vec<(&str, &str)> = digests
        .iter()
        .map(|(name, digest)| (*name, digest.as_str()))
        .collect();
    assert_eq!(digests, SHIPPED);
}

#[test]
fn an_address_of_another_kind_is_refused() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let opened = runtime.block_on(Store::open("mysql://localhost/x", options()));
    assert!(matches!(opened, Err(Error::Address(_))));
}

async fn opening_again_changes_nothing(rig: Rig) {
    let account = rig.account(10, 10).await;
    let again = Store::open(&rig.url, options())
        .await
        .expect("opened again");
    assert!(again.account(&account).await.expect("a read").is_some());
    again.close().await;
}

async fn a_newer_schema_is_refused(rig: Rig) {
    sql(
        &rig.url,
        "INSERT INTO schema_version (version, name) VALUES (999, 'later')",
    )
    .await
    .expect("a later version");
    let opened = Store::open(&rig.url, options()).await;
    assert!(matches!(opened, Err(Error::NewerSchema { found: 999, .. })));
}

async fn two_nodes_may_start_at_once(rig: Rig) {
    let url = if rig.store.is_postgres() {
        sql(&rig.url, "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
            .await
            .expect("emptied");
        rig.url.clone()
    } else {
        format!("{}-second", rig.url)
    };
    let tasks: Vec<_> = (0..4)
        .map(|_| {
            let url = url.clone();
            spawn(async move { Store::open(&url, options()).await })
        })
        .collect();
    for task in tasks {
        let store = task.await.expect("it ends").expect("it opens");
        store.ping().await.expect("it answers");
        store.close().await;
    }
}
