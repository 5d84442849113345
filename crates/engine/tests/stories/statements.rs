//! Statements: over random months they are what the ledger says, and the same bytes ever after.

use std::path::Path;

use atelier_contract::month::Month;
use atelier_contract::pages::statements::{Language, StatementRecord};
use atelier_contract::{AccountId, Code, Quota};
use atelier_engine::archive::{ArchiveError, archive};
use atelier_engine::{
    Caller, CreditRequest, Engine, KeyHolder, KeyRequest, StatementIssuer, close_before,
};
use atelier_store::{Account, LedgerRow, Options, Statement, Store};
use fastrand::Rng;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use sqlx::{Connection as _, SqliteConnection};

use crate::rig::{Rig, settings};

const DAY_MS: i64 = 24 * 3_600_000;
/// A month can be closed this long after its end.
const SETTLED_MS: i64 = 300_000;
/// Months of each account that are looked at.
const MONTHS: usize = 24;
const ACCOUNTS: usize = 5;

async fn account(rig: &Rig, id: &AccountId) -> Account {
    rig.engine
        .admin()
        .accounts()
        .one(id)
        .await
        .expect("the account")
}

async fn credit(
    rig: &Rig,
    caller: &Caller,
    thousandths: i64,
    reason: &str,
    expires_ms: Option<i64>,
) {
    let request = CreditRequest {
        amount: Quota::from_thousandths(thousandths),
        reason: reason.into(),
        idempotency_key: None,
        expires_ms,
    };
    let credits = rig.engine.admin().credits();
    let credited = credits.credit("root", &caller.account_id, request).await;
    credited.expect("credited");
}

async fn statement(engine: &Engine, account: &Account, month: Month) -> Statement {
    let made = engine.statements().statement(account, month).await;
    made.expect("a statement")
}

/// The rows of a ledger, oldest first, by a way of its own.
async fn ledger(store: &Store, id: &AccountId) -> Vec<LedgerRow> {
    let (mut rows, total) = store
        .ledger()
        .list(Some(id), 0, 1_000_000)
        .await
        .expect("rows");
    assert_eq!(rows.len() as i64, total);
    rows.reverse();
    rows
}

fn sum(amounts: impl Iterator<Item = Quota>) -> Quota {
    amounts.fold(Quota::ZERO, |sum, amount| sum + amount)
}

/// The amounts of the lines of a table that are of a kind.
fn amounts(csv: &str, line: &str) -> Quota {
    let rows = csv
        .split("\r\n")
        .filter(|row| row.starts_with(&format!("{line},")));
    let amount = |row: &str| {
        let cell = row.rsplit(',').nth(1).expect("an amount").to_owned();
        Quota::parse(&cell).unwrap_or_else(|| panic!("{row}"))
    };
    sum(rows.map(amount))
}

/// Everything that a statement says against the rows of the ledger that are of its month.
fn check(statement: &Statement, month: Month, rows: &[LedgerRow], before: &mut Quota) {
    let of_month: Vec<&LedgerRow> = rows
        .iter()
        .filter(|row| Month::at(row.time_ms) == month)
        .collect();
    let moved = |kind: &str| {
        sum(of_month
            .iter()
            .filter(|row| row.kind == kind)
            .map(|row| row.amount))
    };
    assert_eq!(
        statement.opening, *before,
        "{month} opens with what the month before closed with"
    );
    assert_eq!(statement.credited, moved("grant"), "{month}");
    assert_eq!(statement.adjusted, moved("adjust"), "{month}");
    assert_eq!(statement.charged, moved("capture"), "{month}");
    let last = rows.iter().rfind(|row| Month::at(row.time_ms) <= month);
    let closing = last.map_or(Quota::ZERO, |row| row.balance_after + row.frozen_after);
    assert_eq!(statement.closing, closing, "{month}");
    *before = closing;
    let record: StatementRecord = serde_json::from_str(&statement.record).expect("a record");
    for sums in [
        &record.by_operation,
        &record.by_model,
        &record.by_key,
        &record.by_member,
    ] {
        assert_eq!(
            sum(sums.iter().map(|one| one.quota)),
            record.charged,
            "{month}"
        );
        assert_eq!(
            sums.iter().map(|one| one.jobs).sum::<i64>(),
            record.jobs,
            "{month}"
        );
    }
    assert_eq!(
        sum(record.charges.iter().map(|one| one.quota)),
        record.charged
    );
    // Whoever adds the table up in a spreadsheet finds the same.
    let moved = amounts(&statement.csv, "credit")
        + amounts(&statement.csv, "adjustment")
        + amounts(&statement.csv, "charge");
    let closing = amounts(&statement.csv, "closing");
    assert_eq!(
        amounts(&statement.csv, "opening") + moved,
        closing,
        "{}",
        statement.csv
    );
    let digest = Sha256::digest(statement.csv.as_bytes());
    assert_eq!(statement.hash, atelier_contract::hex(&digest));
}

/// The promise: over random months, whatever was granted, taken, spent, given back and lapsed, every statement is what the ledger says of
/// its month and goes on where the one before it ends.
#[tokio::test]
async fn statements_of_random_months_are_what_the_ledger_says() {
    let seed = fastrand::u64(..);
    eprintln!("seed {seed}");
    let mut rng = Rng::with_seed(seed);
    let mut looked = 0;
    for _ in 0..ACCOUNTS {
        let rig = Rig::new().await;
        let caller = rig.account(rng.i64(0..200)).await;
        let keys = rig.engine.admin().keys();
        let mut callers = vec![caller.clone()];
        for name in ["=laptop", "the, \"shop\""] {
            let request = KeyRequest::named(name);
            let (_, key) = keys
                .issue(&caller.account_id, request, KeyHolder::Operator("root"))
                .await
                .expect("a key");
            callers.push(
                rig.engine
                    .admin()
                    .callers()
                    .authenticate(&key)
                    .await
                    .expect("works"),
            );
        }
        let (mut made, mut before) = (Vec::new(), Quota::ZERO);
        let first = Month::at(rig.clock.now_ms());
        for _ in 0..MONTHS {
            let month = Month::at(rig.clock.now_ms());
            for _ in 0..rng.usize(0..10) {
                let who = rng.choice(&callers).expect("one").clone();
                match rng.u8(0..10) {
                    0..=1 => {
                        credit(&rig, &caller, rng.i64(1..90_000), "=invoice, \"17\"", None).await
                    }
                    2 => {
                        let ends_ms = rig.clock.now_ms() + rng.i64(1..40) * DAY_MS;
                        credit(&rig, &caller, rng.i64(1..50_000), "trial", Some(ends_ms)).await;
                    }
                    3 => {
                        let has = account(&rig, &caller.account_id)
                            .await
                            .balance
                            .thousandths();
                        if has > 1 {
                            credit(&rig, &caller, -rng.i64(1..has), "wrong invoice", None).await;
                        }
                    }
                    4 => drop(rig.imagine(&who, "fail a fox").await),
                    5 => drop(rig.imagine(&who, "hang a fox").await),
                    6 => {
                        let body =
                            json!({ "prompt": "a fox", "model": "image-1", "quality": "low" });
                        drop(rig.call(&who, "imgmodel.generations", body, false).await);
                    }
                    _ => drop(rig.imagine(&who, "a fox").await),
                }
                rig.settle_down().await;
                let left = month.until_ms() - rig.clock.now_ms();
                rig.clock.advance(rng.i64(0..(left / 4).max(1)));
                rig.engine
                    .admin()
                    .credits()
                    .end_step()
                    .await
                    .expect("ended");
                rig.engine.runner().sweep_step().await.expect("swept");
            }
            // Sometimes nobody asks for a month until later ones are over.
            let now_ms = rig.clock.now_ms();
            if now_ms < month.until_ms() + SETTLED_MS {
                let own = account(&rig, &caller.account_id).await;
                let early = rig.engine.statements().statement(&own, month).await;
                let refusal = early.expect_err("it is not over");
                assert_eq!(refusal.code, Code::Conflict, "{refusal:?}");
                rig.clock
                    .advance(month.until_ms() + SETTLED_MS - now_ms + rng.i64(0..20 * DAY_MS));
                rig.engine
                    .admin()
                    .credits()
                    .end_step()
                    .await
                    .expect("ended");
                rig.engine.runner().sweep_step().await.expect("swept");
            }
            if rng.bool() {
                let own = account(&rig, &caller.account_id).await;
                made.push((month, statement(&rig.engine, &own, month).await));
            }
        }
        let last = Month::at(rig.clock.now_ms() - SETTLED_MS).previous();
        let rows = ledger(&rig.store, &caller.account_id).await;
        let own = account(&rig, &caller.account_id).await;
        let other = rig.node_with("other", settings());
        let mut month = first;
        while month <= last {
            let now = statement(&rig.engine, &own, month).await;
            check(&now, month, &rows, &mut before);
            assert_eq!(
                statement(&other, &own, month).await,
                now,
                "the same on every node"
            );
            if let Some((_, then)) = made.iter().find(|(one, _)| *one == month) {
                assert_eq!(*then, now, "the same ever after");
            }
            looked += 1;
            month = month.next();
        }
        rig.check_books().await;
    }
    assert!(looked >= ACCOUNTS * MONTHS, "{looked}");
    eprintln!("{looked} months of {ACCOUNTS} accounts add up");
}

/// The promise: a page is the same bytes whenever it is asked for, also when the operator has another name by then.
#[tokio::test]
async fn a_statement_keeps_what_it_said() {
    let rig = Rig::new().await;
    let caller = rig.account(100).await;
    rig.imagine(&caller, "a fox").await.expect("accepted");
    rig.settle_down().await;
    let month = Month::at(rig.clock.now_ms());
    rig.clock.advance(40 * DAY_MS);
    let named = |name: &str, logo: &Path| {
        let mut settings = settings();
        settings.statements.name = name.into();
        settings.statements.address = vec!["1 Example <Road>".into()];
        settings.statements.logo = logo.to_owned();
        rig.node_with(name, settings)
    };
    let logo = rig.folder.join("logo.png");
    std::fs::write(&logo, b"\x89PNG\r\n\x1a\nnot much of one").expect("written");
    let own = account(&rig, &caller.account_id).await;
    let (first, later) = (named("First & Sons", &logo), named("Later", Path::new("")));
    let english = first
        .statements()
        .page(&own, month, Language::En)
        .await
        .expect("a page");
    assert!(
        english.html.contains("First &amp; Sons")
            && english.html.contains("1 Example &lt;Road&gt;")
    );
    assert!(
        english.html.contains("data:image/png;base64,"),
        "the logo is in it"
    );
    assert!(!english.html.contains("{{") && !english.html.contains("<script"));
    let digest = Sha256::digest(english.html.as_bytes());
    assert_eq!(
        english.hash,
        atelier_contract::hex(&digest),
        "the hash is of what is sent"
    );
    std::fs::remove_file(&logo).expect("gone");
    let again = later
        .statements()
        .page(&own, month, Language::En)
        .await
        .expect("a page");
    assert_eq!(again, english);
    // A language that nobody has asked for yet is of the same statement.
    for language in [Language::De, Language::Zh] {
        let page = later
            .statements()
            .page(&own, month, language)
            .await
            .expect("a page");
        assert!(
            page.html.contains("First &amp; Sons")
                && page
                    .html
                    .contains(&again.html[again.html.len() - 90..again.html.len() - 80])
        );
    }
    // What is kept goes with nothing: neither with the account nor by anybody's hand.
    let before = statement(&later, &own, month).await;
    later
        .admin()
        .accounts()
        .delete("root", &caller.account_id)
        .await
        .expect("deleted");
    let gone = account(&rig, &caller.account_id).await;
    assert_eq!(statement(&later, &gone, month).await, before);
    let url = format!("sqlite:{}", rig.folder.join("atelier.db").display());
    let mut conn = SqliteConnection::connect(&url).await.expect("a connection");
    for sql in [
        "UPDATE statement SET closing = closing + 1, opening = opening + 1",
        "DELETE FROM statement",
        "DELETE FROM statement_page",
        "UPDATE statement_page SET html = ''",
        "DELETE FROM statement_logo",
    ] {
        let done = sqlx::query(sql).execute(&mut conn).await;
        let error = done.expect_err(sql).to_string();
        assert!(error.contains("never"), "{error}");
    }
}

/// The promise: a ledger that does not add up has no statement.
#[tokio::test]
async fn a_ledger_that_does_not_add_up_has_no_statement() {
    let rig = Rig::new().await;
    let caller = rig.account(100).await;
    rig.imagine(&caller, "a fox").await.expect("accepted");
    rig.settle_down().await;
    let month = Month::at(rig.clock.now_ms());
    rig.clock.advance(40 * DAY_MS);
    let url = format!("sqlite:{}", rig.folder.join("atelier.db").display());
    let mut conn = SqliteConnection::connect(&url).await.expect("a connection");
    for sql in [
        "DROP TRIGGER ledger_kept",
        "UPDATE ledger SET balance_after = balance_after + 1000 WHERE number = 2",
    ] {
        sqlx::query(sql).execute(&mut conn).await.expect(sql);
    }
    let own = account(&rig, &caller.account_id).await;
    // The last row says what it always said, so that only what lies between tells.
    let whole = rig.engine.statements().statement(&own, month).await;
    whole.expect("nothing that is added up has changed");
    let other = rig.account(100).await;
    rig.clock.advance(40 * DAY_MS);
    let sql = "UPDATE ledger SET amount = amount + 1, balance_delta = balance_delta + 1 WHERE account_id = $1 AND kind = 'grant'";
    sqlx::query(sql)
        .bind(other.account_id.as_str())
        .execute(&mut conn)
        .await
        .expect(sql);
    let own = account(&rig, &other.account_id).await;
    let month = Month::at(own.created_ms);
    let refused = rig.engine.statements().statement(&own, month).await;
    let refusal = refused.expect_err("it does not add up");
    assert_eq!(refusal.code, Code::Internal);
    assert!(
        refusal.message.contains("does not add up"),
        "{}",
        refusal.message
    );
    rig.engine
        .statements()
        .close("root", month)
        .await
        .expect("begun");
    while rig.engine.statements().step().await.expect("a step") {}
    let (books, total) = rig
        .engine
        .statements()
        .books(month, Some("refused"), 1, 10)
        .await
        .expect("books");
    assert_eq!(total, 1);
    assert_eq!(books[0].account_id, other.account_id.as_str());
}

/// The promise: closing a month gives every account its statement once, whoever works on it, and says whose is missing.
#[tokio::test]
async fn a_month_is_closed_for_all_accounts() {
    let rig = Rig::new().await;
    let mut callers = Vec::new();
    for _ in 0..120 {
        callers.push(rig.account(10).await);
    }
    rig.imagine(&callers[0], "a fox").await.expect("accepted");
    rig.settle_down().await;
    let month = Month::at(rig.clock.now_ms());
    let early = rig.engine.statements().close("root", month).await;
    assert_eq!(early.expect_err("it is not over").code, Code::Conflict);
    rig.clock.advance(40 * DAY_MS);
    let young = rig.account(5).await;
    let second = rig.second_node();
    rig.engine
        .statements()
        .close("root", month)
        .await
        .expect("begun");
    rig.engine
        .statements()
        .close("root", month)
        .await
        .expect("under way already");
    let (tally, _) = rig.engine.statements().month(month).await.expect("a tally");
    assert_eq!(
        (tally.accounts, tally.closed),
        (120, 0),
        "the young one is of no such month"
    );
    let steps = async |engine: &Engine| while engine.statements().step().await.expect("a step") {};
    let ((), ()) = tokio::join!(steps(&rig.engine), steps(&second));
    rig.clock.advance(10 * 60_000);
    steps(&second).await;
    let (tally, close) = rig.engine.statements().month(month).await.expect("a tally");
    assert_eq!((tally.accounts, tally.closed, tally.refused), (120, 120, 0));
    assert_eq!(tally.charged, Quota::from_thousandths(4_000));
    assert!(close.expect("a close").ended_ms.is_some());
    let (open, total) = rig
        .engine
        .statements()
        .books(month, Some("open"), 1, 10)
        .await
        .expect("books");
    assert_eq!((open.len(), total), (0, 0));
    let own = account(&rig, &young.account_id).await;
    let earlier = rig.engine.statements().statement(&own, month).await;
    assert_eq!(earlier.expect_err("younger").code, Code::NotFound);
    let (acts, _) = rig.store.admin().audit_rows(0, 10).await.expect("acts");
    let closes = acts.iter().filter(|act| act.action == "month.close");
    assert_eq!(closes.count(), 1, "what was under way already is no act");
    // By itself, on its day.
    let mut own = settings();
    own.statements.close_on_day = 3;
    let node = rig.node_with("closing", own);
    rig.clock.advance(10 * DAY_MS);
    steps(&node).await;
    let next = month.next();
    let (tally, close) = node.statements().month(next).await.expect("a tally");
    assert_eq!(tally.closed, 121, "{next}: {close:?}");
}

/// The promise: no row goes into the archive that nobody has a statement of, and what has gone leaves the statements whole.
#[tokio::test]
async fn the_archive_takes_only_what_has_a_statement() {
    let rig = Rig::new().await;
    let caller = rig.account(100).await;
    rig.imagine(&caller, "a fox").await.expect("accepted");
    rig.settle_down().await;
    let month = Month::at(rig.clock.now_ms());
    rig.clock.advance(40 * DAY_MS);
    rig.imagine(&caller, "another fox").await.expect("accepted");
    rig.settle_down().await;
    let second = Month::at(rig.clock.now_ms());
    rig.clock.advance(40 * DAY_MS);
    let url = format!("sqlite:{}", rig.folder.join("atelier.db").display());
    let options = Options {
        references: false,
        ..Options::default()
    };
    let store = Store::open(&url, options).await.expect("a store");
    let (folder, now_ms) = (rig.folder.join("archive"), rig.clock.now_ms());
    let before_ms = second.until_ms();
    let own = account(&rig, &caller.account_id).await;
    statement(&rig.engine, &own, month).await;
    let refused = archive(&store, &folder, before_ms, now_ms).await;
    let Err(ArchiveError::NoStatement {
        account_id,
        month: missing,
    }) = refused
    else {
        panic!("{refused:?}");
    };
    assert_eq!((account_id.as_str(), missing), (own.id.as_str(), second));
    let issuer = StatementIssuer::default();
    let made = close_before(&store, &issuer, before_ms, now_ms)
        .await
        .expect("made");
    assert_eq!(made, 1);
    let (first, then) = (
        statement(&rig.engine, &own, month).await,
        statement(&rig.engine, &own, second).await,
    );
    let moved = archive(&store, &folder, before_ms, now_ms)
        .await
        .expect("archived");
    assert_eq!(moved.jobs, 2, "{moved:?}");
    assert_eq!(statement(&rig.engine, &own, month).await, first);
    assert_eq!(statement(&rig.engine, &own, second).await, then);
    let (mut before, third) = (then.closing, Month::at(now_ms));
    rig.imagine(&caller, "a third fox").await.expect("accepted");
    rig.settle_down().await;
    rig.clock.advance(40 * DAY_MS);
    let now = statement(&rig.engine, &own, third).await;
    check(&now, third, &ledger(&rig.store, &own.id).await, &mut before);
    store.close().await;
    rig.check_books().await;
}
