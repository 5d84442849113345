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
             INSERT INTO ledger (id, account_id, number, job_id, kind, amount, balance_delta, frozen_delta, balance_after, \
             frozen_after, reason, idempotency_key, time_ms) SELECT id, account_id, 2, job_id, kind, amount, balance_delta, frozen_delta, \
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
         DROP FUNCTION remove_job_words; DROP FUNCTION remove_bulk_words; DROP TRIGGER job_used ON job; DROP FUNCTION use_job; \
         DROP TRIGGER receipt_stays ON receipt; DROP FUNCTION keep_receipt;"
    } else {
        "DROP TRIGGER job_totalled; DROP TRIGGER tally_lowered; DROP TRIGGER job_final; \
         CREATE TRIGGER job_final BEFORE UPDATE ON job WHEN 0 BEGIN SELECT RAISE(ABORT, 'no'); END; \
         DROP TRIGGER job_words_removed; DROP TRIGGER bulk_words_removed; DROP TRIGGER job_used;"
    };
    let columns = [
        (
            "job",
            "key_id key_above member_id used_model tags end_user counted_ms",
        ),
        ("ledger", "key_id member_id used_model cause"),
        (
            "api_key",
            "parent_id above stands_for limits max_queue rules note",
        ),
        ("account", "notes"),
        ("asset", "link_id link_ends_ms"),
    ];
    let columns = columns.map(|(table, names)| {
        let drop = |name: &str| format!("ALTER TABLE {table} DROP COLUMN {name};");
        names.split(' ').map(drop).collect::<String>()
    });
    let columns = columns.concat();
    // And nothing of what came after them.
    let before = format!(
        "{functions} DROP TABLE tally_total; DROP TABLE clock; DROP TABLE account_act; DROP INDEX job_failed_words; \
         ALTER TABLE account DROP COLUMN words; ALTER TABLE bulk DROP COLUMN bytes; \
         ALTER TABLE job DROP COLUMN request_bytes; ALTER TABLE job DROP COLUMN batched; \
         DROP TABLE model; DROP TABLE price_group; DROP INDEX account_group; ALTER TABLE account DROP COLUMN group_key; \
         ALTER TABLE node DROP COLUMN knows; ALTER TABLE job DROP COLUMN model; \
         ALTER TABLE job DROP COLUMN model_revision; ALTER TABLE job DROP COLUMN price_lines; \
         DROP TABLE used; DROP INDEX api_key_ends; DROP INDEX asset_link; DROP INDEX asset_links; DROP TABLE key_window; DROP TABLE taking; ALTER TABLE account DROP COLUMN counting_keys; \
         DROP TABLE payment_event; DROP TABLE payment_reference; DROP TABLE refund; DROP TABLE subscription; DROP TABLE topup; DROP TABLE payment_customer; DROP TABLE receipt; DROP TABLE receipt_key; ALTER TABLE asset DROP COLUMN sha256; DROP TABLE payment; DROP TABLE product; \
         ALTER TABLE account DROP COLUMN credit_limit; ALTER TABLE account DROP COLUMN debt; ALTER TABLE ledger_checkpoint DROP COLUMN debt; DROP TABLE account_plan; DROP TABLE plan_period; DROP TABLE plan; DROP TABLE voucher; DROP TABLE voucher_batch; \
         DROP TABLE hold_part; DROP TABLE credit; DROP TABLE imported; DROP TABLE rehearsal; DROP TABLE rehearsal_sum; DROP TABLE rehearsal_call; ALTER TABLE backend DROP COLUMN shadow; ALTER TABLE account DROP COLUMN credits; {columns} ALTER TABLE console_session DROP COLUMN bound_hash; DELETE FROM schema_version WHERE name >= '0030_totals'"
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
