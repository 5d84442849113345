//! A slow or failing disk under SQLite. A case runs in a process of its own, behind a library that stands before the
//! disk and does what a file tells it to.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use atelier_store::{Credit, CreditKind, CreditOutcome, Error, Store};

use crate::rig::{Folder, NOW, options, quota};

/// What a process that stands behind the library is to do.
const ACT: &str = "ATELIER_FAULT_ACT";
const FOLDER: &str = "ATELIER_FAULT_FOLDER";
/// What the library does at the next sync.
const PLAN: &str = "ATELIER_DISK";

/// A library, made from its source by the compiler that links this test.
pub(crate) fn library(folder: &Path, name: &str) -> PathBuf {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults");
    let source = sources.join(name).with_extension("c");
    let library = folder.join(name).with_extension("so");
    let made = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .args([&library, &source])
        .arg("-ldl")
        .status();
    assert!(made.expect("cc is installed").success(), "{name}");
    library
}

/// Runs an act in a process of its own.
fn act(name: &str, folder: &Path, library: Option<&Path>) -> Output {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command
        .args([
            "disk::child::acts_of_a_process_of_its_own",
            "--exact",
            "--ignored",
            "--nocapture",
        ])
        .env(ACT, name)
        .env(FOLDER, folder)
        .env(PLAN, folder.join("plan"));
    if let Some(library) = library {
        command.env("LD_PRELOAD", library);
    }
    command.output().expect("the act runs")
}

pub(crate) fn said(output: &Output) -> String {
    let text = [&*output.stdout, &*output.stderr].concat();
    String::from_utf8_lossy(&text).into_owned()
}

#[expect(clippy::disallowed_methods, reason = "how the parent tells what to do")]
pub(crate) fn told(name: &str) -> String {
    std::env::var(name).expect("the parent says what to do")
}

mod child {
    #[test]
    #[ignore = "run by another test"]
    fn acts_of_a_process_of_its_own() {
        super::acts_of_a_process_of_its_own();
    }
}

/// Does what the parent process asked for.
fn acts_of_a_process_of_its_own() {
    let (act, folder) = (told(ACT), PathBuf::from(told(FOLDER)));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        match &*act {
            "slow" => grant_at(&folder, "slow 35000").await,
            "fail once" => grant_at(&folder, "fail").await,
            "fail always" => grant_at(&folder, "fail always").await,
            "look" => look(&folder).await,
            other => panic!("no such act: {other}"),
        }
    });
    if act.starts_with("fail") {
        std::process::abort();
    }
}

fn url(folder: &Path) -> String {
    format!("sqlite:{}", folder.join("atelier.db").display())
}

/// Grants once while the disk does something, and says what was answered.
async fn grant_at(folder: &Path, plan: &str) {
    let store = Store::open(&url(folder), options()).await.expect("a store");
    let new = atelier_store::NewAccount {
        id: "account".into(),
        email: "a@example.com".into(),
        email_verified_ms: None,
        balance: quota(1),
        max_queue: 10,
        ledger_id: "first".into(),
        now_ms: NOW,
    };
    let made = store.accounts().create(new, None, None).await;
    made.expect("an account");
    std::fs::write(folder.join("plan"), plan).expect("a plan");
    let grant = Credit {
        id: "second".into(),
        account_id: "account".into(),
        amount: quota(10),
        kind: CreditKind::Grant,
        reason: String::new(),
        idempotency_key: None,
        end: None,
        now_ms: NOW,
    };
    match store.ledger().credit(grant, None).await {
        Ok(CreditOutcome::Done(_)) => eprintln!("answer: done"),
        Err(Error::Unresolved) => eprintln!("answer: unknown"),
        other => eprintln!("answer: refused, {other:?}"),
    }
}

/// Says what the ledger holds.
async fn look(folder: &Path) {
    let store = Store::open(&url(folder), options()).await.expect("a store");
    let (rows, total) = store
        .ledger()
        .list(Some("account"), 0, 10)
        .await
        .expect("a page");
    assert_eq!(rows.len() as i64, total);
    eprintln!("grants: {}", total - 1);
    assert_eq!(
        store.invariants().check_books().await.expect("an audit"),
        Vec::<String>::new()
    );
    store.close().await;
}

/// What was answered, and how often the grant is in the ledger afterwards.
fn fate_of(name: &str) -> (String, String) {
    let folder = Folder::new();
    let library = library(&folder.0, "disk");
    let answer = said(&act(name, &folder.0, Some(&library)));
    let books = said(&act("look", &folder.0, None));
    (answer, books)
}

/// The promise: one grant is one row, however long the disk takes.
#[test]
fn a_commit_that_takes_long_is_waited_for_and_happens_once() {
    let (answer, books) = fate_of("slow");
    assert!(answer.contains("answer: done"), "{answer}");
    assert!(books.contains("grants: 1"), "{books}");
}

/// The promise: whatever is answered about a commit that failed is true, also after a crash.
#[test]
fn a_sync_that_fails_once_makes_no_answer_wrong() {
    let (answer, books) = fate_of("fail once");
    let done = answer.contains("answer: done");
    assert!(done || answer.contains("answer: refused"), "{answer}");
    let expected = if done { "grants: 1" } else { "grants: 0" };
    assert!(books.contains(expected), "{answer}\n{books}");
}

/// The promise: nobody is told that nothing happened while that is not known.
#[test]
fn a_disk_that_stays_broken_is_an_unknown_outcome() {
    let (answer, books) = fate_of("fail always");
    let granted = books.contains("grants: 1");
    assert!(granted || books.contains("grants: 0"), "{books}");
    let refused = answer.contains("answer: refused");
    assert!(
        !(granted && refused),
        "refused, and yet it stands: {answer}\n{books}"
    );
}
