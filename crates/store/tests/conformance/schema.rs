//! The schema: a newer one is refused, a wider one is worked beside, opening again changes nothing.

use atelier_store::migrate::MIGRATIONS;
use atelier_store::{Error, Guard, JobFilter, JobPage, Store};

use crate::rig::{Folder, NOW, Rig, number, options, quota, spawn, sql};

each_db!(
    opening_again_changes_nothing,
    a_newer_schema_is_refused,
    a_schema_that_is_only_wider_is_worked_beside,
    jobs_from_before_there_were_totals_are_in_them,
    what_an_older_program_deletes_is_no_longer_counted,
    two_nodes_may_start_at_once,
);

<<<<<<< HEAD
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
    (
        "0011_written",
        "7cc4cf2ad5df2e3ba84a9cb3d639fcc54a5bb34595c125ab04e3c9a198478f41",
    ),
    (
        "0012_lanes",
        "d9805c4cb55a01821989b5f9467dc9b23ac04e968e7fb929171d223071d89af7",
    ),
    (
        "0013_tallies",
        "cb3b948d0098db30213c541cdea3d07eba673a342b8282fd635a63debc36fb5e",
    ),
    (
        "0014_open",
        "ddead4a8bf3aab57d33d0c19689a0475db08340c54ff1ee1f1ae99ef1b795809",
    ),
    (
        "0015_audit_chain",
        "74a051c067d1faf04aae8bc6f64511475e4972a1aeb2f5bad5c4df38d52b2201",
    ),
    (
        "0016_sessions",
        "07f140d7165d2f886918cba31a250228cdbcc1d61067b9169f7e3efbfbb02ecd",
    ),
    (
        "0017_switches",
        "186ea7265c56ae467092ff2e24559dd6132b6142045a981ccb69f2c9e64d096c",
    ),
    (
        "0018_faults",
        "2067db8a3b76ff56ce69e7e3d679dc95cfde7fa895c1c95daeb4ec19660fe386",
    ),
    (
        "0019_looking",
        "ef6fee8094c21ba04edfbf05b4261db59890491f422ebc07557a32f167da251b",
    ),
    (
        "0020_archive",
        "8a1abb7d3d35f31c8683e68333e480c9d02f8228526151f0b761c80a4057264d",
    ),
    (
        "0021_uploads",
        "f3d892231520c03399e6db91e99c32d5f4f5bbd4095c2717ec8f98320f3686e8",
    ),
    (
        "0022_bulks",
        "f569481f3e68d2df1bc975aab70b2f9391e26b5ac45effbf96961684f87269f5",
    ),
    (
        "0023_ended",
        "8fb927496204d9abc8b9e98ed520cd690ec23f3ae5728e4fe5ea44243bf724d9",
    ),
    (
        "0024_deleted",
        "c9b611b0b71316aa56f107ad2cb179e58c3bdbe332db2bb27d0465025420ae9e",
    ),
    (
        "0025_costs",
        "f75a08ae6d88ba8765e64f60690b95c04cc463f04894c19ca0c8165d72f65ae8",
    ),
    (
        "0026_shares",
        "42c164ddbf41dc5044c81e51f7aa9d29d0d422d997d50d7331a00481e6cb360b",
    ),
    (
        "0028_widens",
        "c13c76cd9f0f0dc0fa002661087bb91434880e311132a542d4cea82ddad6e502",
    ),
    (
        "0029_listed",
        "595400bc62d060607f1622cc9dfc87c91c4cf480938754b8542fdf14423a97c6",
    ),
    (
        "0030_totals",
        "0b02998e1cb9689180e009a5a9fa548a664b7d58356ed5404e6288bc0412ec43",
    ),
    (
        "0031_uncounted",
        "02e76215cc6b77d297d390923f2702fac4a24614581908a7760b19fa6d7666d9",
    ),
    (
        "0032_clock",
        "f1b71ee6265525e170903570c678f7c9b59278d2c6f3e08e1e87a6c52b78241b",
    ),
    (
        "0036_words",
        "6cbab6fdaa6f4189739617e73ea291f811500c0edfe5b8dc2ab1c6565cc5f7b6",
    ),
    (
        "0037_failed_words",
        "5ea80b68ca5dab13457e3622d1118e7d8847a930860d5f2ec37c04499dc34085",
    ),
    (
        "0038_account_acts",
        "1bb0bf00e98b051d9da3fa7994d718e8048c2ad2d1faf997e9b02fcda66d8220",
    ),
    (
        "0039_batched",
        "64446afc10e2a0ec677f997d2e42f300d82dcc5ed4265c171e748baed43ccc8e",
    ),
    (
        "0041_bound_sessions",
        "d06d704cc01c7da3e1cf9323b17e3703d29e78efe2f9635045b249f73c0e36ae",
    ),
    (
        "0042_words_removed",
        "0f50107224e1ce9c2f669b5006264cca51568d4d8686552ca3d087d408dbd0a0",
    ),
    (
        "0043_models",
        "96b31a30bb122ce1beace9149c825747991e24b3b168e592067da156556457ff",
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

=======
>>>>>>> 6131918a (store: keep the tests of changes and of migrations in files of their own)
/// The promise: a grant that an earlier version wrote twice is named by the auditor, and stops nobody from starting.
#[test]
fn a_ledger_row_written_twice_is_found() {
    let folder = Folder::new();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let store = Store::open(&folder.url(), options()).await.expect("opened");
        let rig = Rig {
            store,
            url: folder.url(),
        };
        let account = rig.account(10, 10).await;
        rig.store.close().await;
        let twice = "DROP INDEX ledger_once; \
             INSERT INTO ledger SELECT id, account_id, 2, job_id, kind, amount, balance_delta, frozen_delta, \
             2 * balance_after, frozen_after, reason, idempotency_key, time_ms FROM ledger; \
             UPDATE account SET balance = 2 * balance, entries = 2";
        sql(&rig.url, twice).await.expect("as it was");
        let store = Store::open(&rig.url, options()).await.expect("opened");
        let found = store.invariants().check_books().await.expect("an audit");
        assert!(found.iter().any(|one| one.ends_with("ledger_once")), "{found:?}");
        let (_, text) = MIGRATIONS
            .iter()
            .find(|(name, _)| *name == "0011_written")
            .expect("the migration");
        let (_, repair) = text.split_once("-- only sqlite").expect("its repair");
        sql(&rig.url, repair).await.expect("repaired");
        let unique = "CREATE UNIQUE INDEX ledger_once ON ledger (id)";
        sql(&rig.url, unique).await.expect("every row once");
        let account = store.accounts().find(&account).await.expect("a read");
        assert_eq!(account.expect("it").balance, quota(20), "nothing moved");
        let found = store.invariants().check_books().await.expect("an audit");
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("ledger row was written twice: ledger-"), "{found:?}");
        store.close().await;
    });
}

/// The promise: one process works on the jobs of a SQLite database, and a second one is told why it may not.
#[test]
fn a_second_process_on_one_folder_is_refused() {
    let folder = Folder::new();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let first = Store::open(&folder.url(), options()).await.expect("opened");
        let second = Store::open(&folder.url(), options()).await.expect("opened");
        first.lock_exclusively().expect("alone");
        first.lock_exclusively().expect("still");
        let refused = second.lock_exclusively().expect_err("refused");
        assert!(matches!(refused, Error::InUse(_)));
        assert!(refused.to_string().contains("another process"), "{refused}");
        second
            .accounts()
            .find("any")
            .await
            .expect("looking is allowed");
        first.close().await;
        second.lock_exclusively().expect("alone now");
        second.close().await;
    });
}

#[test]
fn no_other_user_of_the_machine_can_read_the_database() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let store = Store::open(&folder.url(), options()).await.expect("open");
        store.settings().put("a", "b").await.expect("stored");
        let mut seen = 0;
        for entry in std::fs::read_dir(&folder.0).expect("a folder") {
            let entry = entry.expect("an entry");
            let mode = entry.metadata().expect("metadata").permissions().mode();
            assert_eq!(mode & 0o077, 0, "{:?} has mode {mode:o}", entry.file_name());
            seen += 1;
        }
        assert!(seen >= 2, "the database and its log");
        store.close().await;
    });
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
    assert!(
        again
            .accounts()
            .find(&account)
            .await
            .expect("a read")
            .is_some()
    );
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

async fn a_schema_that_is_only_wider_is_worked_beside(rig: Rig) {
    let account = rig.account(10, 10).await;
    sql(
        &rig.url,
        "ALTER TABLE account ADD COLUMN later BIGINT NOT NULL DEFAULT 7; \
         INSERT INTO schema_version (version, name, widens) VALUES (998, 'later', 1), (999, 'later still', 1)",
    )
    .await
    .expect("a wider schema");
    let beside = Store::open(&rig.url, options()).await.expect("opened");
    assert!(
        beside
            .accounts()
            .find(&account)
            .await
            .expect("a read")
            .is_some()
    );
    beside.close().await;
    sql(
        &rig.url,
        "UPDATE schema_version SET widens = 0 WHERE version = 998",
    )
    .await
    .expect("a narrower one between");
    let opened = Store::open(&rig.url, options()).await;
    assert!(matches!(opened, Err(Error::NewerSchema { found: 999, .. })));
}

/// The promise: a database of the release before gets its totals when it is opened, and those of jobs that end later.
async fn jobs_from_before_there_were_totals_are_in_them(rig: Rig) {
    let account = rig.account(10, 10).await;
    let end = async |store: &Store| {
        let job = rig.running(&account, 2).await;
        let ended = store
            .jobs()
            .settle(rig.failure(&job, Guard::Fence(1)))
            .await;
        ended.expect("it ends");
    };
    end(&rig.store).await;
    end(&rig.store).await;
    let functions = if rig.store.is_postgres() {
        "DROP TRIGGER job_totalled ON job; DROP TRIGGER tally_lowered ON tally; \
         DROP FUNCTION total_job; DROP FUNCTION lower_total; DROP TRIGGER job_final ON job; \
         CREATE TRIGGER job_final BEFORE UPDATE ON job FOR EACH ROW WHEN (false) EXECUTE FUNCTION refuse_change('no'); \
         DROP TRIGGER job_words_removed ON job; DROP TRIGGER bulk_words_removed ON bulk; \
         DROP FUNCTION remove_job_words; DROP FUNCTION remove_bulk_words;"
    } else {
        "DROP TRIGGER job_totalled; DROP TRIGGER tally_lowered; DROP TRIGGER job_final; \
         CREATE TRIGGER job_final BEFORE UPDATE ON job WHEN 0 BEGIN SELECT RAISE(ABORT, 'no'); END; \
         DROP TRIGGER job_words_removed; DROP TRIGGER bulk_words_removed;"
    };
    // And nothing of what came after them.
    let before = format!(
        "{functions} DROP TABLE tally_total; DROP TABLE clock; DROP TABLE account_act; DROP INDEX job_failed_words; \
         ALTER TABLE account DROP COLUMN words; ALTER TABLE bulk DROP COLUMN bytes; \
         ALTER TABLE job DROP COLUMN request_bytes; ALTER TABLE job DROP COLUMN batched; \
         DROP TABLE model; ALTER TABLE node DROP COLUMN knows; ALTER TABLE job DROP COLUMN model; \
         ALTER TABLE job DROP COLUMN model_revision; ALTER TABLE job DROP COLUMN price_lines; \
         ALTER TABLE console_session DROP COLUMN bound_hash; DELETE FROM schema_version WHERE name >= '0030_totals'"
    );
    sql(&rig.url, &before).await.expect("as it was");
    let store = Store::open(&rig.url, options()).await.expect("opened");
    end(&store).await;
    let filter = JobFilter {
        account_id: Some(account.clone()),
        limit: 10,
        ..JobFilter::default()
    };
    let JobPage {
        rows: jobs, total, ..
    } = store.jobs().list(filter).await.expect("a page");
    assert_eq!((jobs.len(), total), (3, 3));
    let found = store.invariants().check_books().await.expect("an audit");
    assert!(found.is_empty(), "{found:?}");
    store.close().await;
}

/// The promise: a program from before words were counted, at work beside this one, deletes a job and then its account, and what went
/// is counted no more.
async fn what_an_older_program_deletes_is_no_longer_counted(rig: Rig) {
    let account = rig.account(10, 10).await;
    let ended = async || {
        let job = rig.waiting(&account, 1).await;
        rig.settle(rig.success(&job, Guard::Unfinished, 1)).await;
        job
    };
    let (first, second) = (ended().await, ended().await);
    let told = format!(
        "INSERT INTO bulk (id, account_id, items, created_ms, bytes) VALUES ('b', '{account}', '[]', 1, 70); \
         UPDATE account SET words = words + 70 WHERE id = '{account}'"
    );
    sql(&rig.url, &told).await.expect("a batch");
    let counted = async || {
        let found = rig
            .store
            .invariants()
            .check_books()
            .await
            .expect("an audit");
        assert!(found.is_empty(), "{found:?}");
        let words = format!("SELECT words FROM account WHERE id = '{account}'");
        number(&rig.url, &words).await
    };
    let bytes = format!("SELECT request_bytes FROM job WHERE id = '{second}'");
    let bytes = number(&rig.url, &bytes).await;
    assert!(bytes > 0, "its words are counted");
    assert_eq!(counted().await, 2 * bytes + 70);

    let later = NOW + 9_000;
    let wordless = format!(
        "UPDATE job SET deleted_ms = {later}, request = '{{}}', message = NULL, alias = NULL, hook_url = NULL, parent_id = NULL, \
         output = CASE WHEN state = 2 THEN '{{\"made\":0}}' END \
         WHERE state >= 2 AND deleted_ms IS NULL AND account_id = '{account}'"
    );
    let one = format!("{wordless} AND id = '{first}'");
    assert_eq!(sql(&rig.url, &one).await.expect("deleted"), 1);
    assert_eq!(counted().await, bytes + 70, "without the job");

    let all = format!(
        "{wordless}; DELETE FROM bulk WHERE account_id = '{account}'; \
         UPDATE account SET email = 'deleted-' || id, email_key = 'deleted-' || id, email_verified_ms = NULL, \
         disabled = TRUE WHERE id = '{account}'"
    );
    sql(&rig.url, &all).await.expect("deleted");
    assert_eq!(counted().await, 0, "without the account");
}

/// The promise: nodes that start together on a fresh database all start. On SQLite several times, since it takes a bad moment.
async fn two_nodes_may_start_at_once(rig: Rig) {
    if rig.store.is_postgres() {
        sql(&rig.url, "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
            .await
            .expect("emptied");
        return four_start(&rig.url).await;
    }
    for number in 0..10 {
        four_start(&format!("{}-{number}", rig.url)).await;
    }
}

async fn four_start(url: &str) {
    let tasks: Vec<_> = (0..4)
        .map(|_| {
            let url = url.to_owned();
            spawn(async move { Store::open(&url, options()).await })
        })
        .collect();
    for task in tasks {
        let store = task.await.expect("it ends").expect("it opens");
        store.ping().await.expect("it answers");
        store.close().await;
    }
}
