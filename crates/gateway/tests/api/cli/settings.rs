//! What a start refuses is told before it by `atelier config check`, and by the doctor.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use tempfile::TempDir;
use tokio::time::Instant;

const VENDOR: &str =
    r#"[{ name = "a", vendor = "nobody", base_url = "https://vendor.example", accounts = [] }]"#;
const ACCOUNT: &str = r#"[{ name = "a", vendor = "openai", base_url = "https://vendor.example", accounts = [{ concurrency = "many" }] }]"#;
const MODEL: &str =
    r#"[{ name = "a", like = "imgmodel/image-1", routes = [{ backend = "not there" }] }]"#;

/// Variables that no service starts with, and what is told of each.
const BAD: [(&[(&str, &str)], &str); 16] = [
    (&[("BACKENDS", VENDOR)], "vendor: must be one of"),
    (
        &[("BACKENDS", ACCOUNT)],
        "backends[0].accounts[0].concurrency: must be a whole number",
    ),
    (
        &[("OUTBOUND_PORTS", "[\"x\"]")],
        "outbound.ports[0]: must be a whole number from 0 to 65535, is \"x\"",
    ),
    (
        &[("LISTENERS", "[{ adress = \"x\" }]")],
        "no such setting: `adress`",
    ),
    (
        &[("LISTEN", "0.0.0.0:0"), ("STRICT", "true")],
        "base_url: not set although the service listens on 0.0.0.0",
    ),
    (&[("MODELS", MODEL)], "not there"),
    (&[("PRICES_FILE", "nowhere.toml")], "nowhere.toml"),
    (
        &[
            ("TLS_CERTIFICATE", "nowhere.pem"),
            ("TLS_KEY", "nowhere.pem"),
        ],
        "nowhere.pem",
    ),
    (
        &[
            ("CREDENTIALS_CERTIFICATE", "nowhere.pem"),
            ("CREDENTIALS_KEY", "nowhere.pem"),
        ],
        "nowhere.pem",
    ),
    (&[("LOG_FORMAT", "xml")], "log.format"),
    (&[("LOG_LEVEL", "loud")], "log.level"),
    (&[("LOG_ACCESS", "no/such/folder/access.log")], "log.access"),
    (&[("PROXIES_TRUSTED", "10.0.0.0/99")], "10.0.0.0/99"),
    (&[("OUTBOUND_ALLOW", "everything here")], "outbound.allow"),
    (&[("LISTEN", "nowhere")], "nowhere"),
    (&[("DATABASE", "mysql://localhost/db")], "mysql"),
];

fn run(folder: &Path, words: &[&str], settings: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_atelier"));
    command
        .args(words)
        .arg("--data-dir")
        .arg(folder.join("data"));
    command
        .current_dir(folder)
        .env("ATELIER_LISTEN", "127.0.0.1:0");
    for (name, value) in settings {
        command.env(format!("ATELIER_{name}"), value);
    }
    command.output().expect("the binary starts")
}

fn told(ran: &Output) -> String {
    let text = [ran.stdout.as_slice(), ran.stderr.as_slice()].concat();
    String::from_utf8(text).expect("text")
}

/// The promise: whatever a start refuses, `config check` and the doctor refuse in the same words, and `config check` makes nothing.
#[test]
fn what_a_start_refuses_is_told_before_it() {
    for (settings, word) in BAD {
        let folder = TempDir::new().expect("a folder");
        let checked = run(folder.path(), &["config", "check"], settings);
        let said = told(&checked);
        assert!(
            !checked.status.success(),
            "{settings:?} is approved: {said}"
        );
        assert!(said.contains(word), "{settings:?}: {said}");
        assert!(!folder.path().join("data").exists(), "{settings:?}");
        let doctor = run(folder.path(), &["doctor"], settings);
        assert_eq!(
            doctor.status.code(),
            Some(1),
            "{settings:?}: {}",
            told(&doctor)
        );
        assert!(
            told(&doctor).contains(word),
            "{settings:?}: {}",
            told(&doctor)
        );
        let started = run(folder.path(), &["serve"], settings);
        assert_eq!(
            started.status.code(),
            checked.status.code(),
            "{settings:?} ends otherwise: {}",
            told(&started)
        );
        assert!(
            told(&started).contains(word),
            "{settings:?}: {}",
            told(&started)
        );
    }
}

/// The promise: an error says its cause once, then what to do, without numbers and types of the program.
#[test]
fn an_error_of_a_start_says_what_to_do() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
    let taken = taken.local_addr().expect("an address").to_string();
    for (settings, wanted) in [
        (
            &[("DATABASE", "postgres://127.0.0.1:1/x")][..],
            "the database cannot be opened: PostgreSQL at 127.0.0.1:1: Connection refused; check that the server runs",
        ),
        (
            &[("LISTEN", taken.as_str())],
            "another program listens there already; stop it, or choose another address (--listen)",
        ),
        (
            &[("LISTEN", "8080")],
            "listen: must be an address and a port, such as 127.0.0.1:8080, is `8080`",
        ),
        (
            &[("LISTNE", "x")],
            "ATELIER_LISTNE: no such setting; did you mean ATELIER_LISTEN?",
        ),
    ] {
        let folder = TempDir::new().expect("a folder");
        let ran = run(folder.path(), &["serve"], settings);
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(
            !ran.status.success() && said.contains(wanted),
            "{settings:?}: {said}"
        );
        assert!(!said.contains("os error"), "{said}");
    }
    let folder = TempDir::new().expect("a folder");
    fs::create_dir(folder.path().join("data")).expect("made");
    fs::write(
        folder.path().join("data/atelier.db"),
        "words, and no pages at all",
    )
    .expect("written");
    let said = told(&run(folder.path(), &["serve"], &[]));
    let wanted = "atelier.db: it is no SQLite database; move it away, or restore a backup";
    assert!(
        said.contains(wanted) && said.matches("SQLite").count() == 1,
        "{said}"
    );
}

/// The promise: a price that no operation has is a mistake that is told before the start, with the one that was meant, and the file is
/// looked for beside the file of settings.
#[test]
fn an_unknown_price_is_refused_with_the_nearest_one() {
    let folder = TempDir::new().expect("a folder");
    let write =
        |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("written");
    fs::create_dir(folder.path().join("etc")).expect("made");
    write("etc/atelier.toml", "[prices]\nfile = \"prices.toml\"\n");
    let check = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_atelier"));
        let command = command.args(["config", "check", "--config", "etc/atelier.toml"]);
        command
            .current_dir(folder.path())
            .output()
            .expect("the binary starts")
    };
    let missing = told(&check());
    assert!(
        missing.contains("etc/prices.toml: No such file"),
        "{missing}"
    );
    write("etc/prices.toml", "[artgen.imagine]\nfats = 3\n");
    let wrong = told(&check());
    let wanted = "artgen.imagine.fats: no such price; did you mean artgen.imagine.fast?";
    assert!(wrong.contains(wanted), "{wrong}");
    write("etc/prices.toml", "[artgen.imagine]\nfast = 3\n");
    assert!(check().status.success(), "{}", told(&check()));
}

/// The promise: whoever lost a key gets another one by the address of the account, wherever the options stand.
#[test]
fn a_lost_key_is_replaced_by_the_address_of_its_account() {
    let folder = TempDir::new().expect("a folder");
    let made = run(
        folder.path(),
        &["local", "account", "create", "Somebody@Example.com"],
        &[],
    );
    assert!(made.status.success(), "{}", told(&made));
    let first = told(&made);
    let key = run(
        folder.path(),
        &["local", "account", "key", "somebody@example.com"],
        &[],
    );
    let key = String::from_utf8(key.stdout).expect("text");
    assert!(
        key.starts_with("at_") && !first.contains(key.trim()),
        "{key}"
    );
    let unknown = run(
        folder.path(),
        &["local", "account", "key", "body@example.com"],
        &[],
    );
    assert!(
        told(&unknown).contains("there is no account body@example.com"),
        "{}",
        told(&unknown)
    );
}

/// The promise: an answer that cannot be written is a failure, of every command, and of the service only where it is not kept anywhere
/// else.
#[test]
fn an_answer_that_cannot_be_written_is_a_failure() {
    let folder = TempDir::new().expect("a folder");
    let data = folder.path().join("data");
    let full = || {
        fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .expect("a full device")
    };
    for words in [
        &["--help"][..],
        &["--version"],
        &["completions", "bash"],
        &["config", "print"],
        &["local", "migrate", "--data-dir", "data"],
        &[
            "local",
            "account",
            "create",
            "a@example.com",
            "--data-dir",
            "data",
        ],
        &["local", "account", "list", "--data-dir", "data"],
        &["doctor", "--data-dir", "data"],
        &["audit", "--data-dir", "data"],
        &["call", "artgen.imagine", "--help"],
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_atelier"));
        let ran = command
            .args(words)
            .current_dir(folder.path())
            .stdout(full());
        let ran = ran.output().expect("the binary starts");
        assert_eq!(ran.status.code(), Some(1), "{words:?}: {}", told(&ran));
        assert!(
            told(&ran).contains("cannot write to standard output"),
            "{words:?}: {}",
            told(&ran)
        );
    }
    let other = folder.path().join("other");
    let mut serve = Command::new(env!("CARGO_BIN_EXE_atelier"))
        .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
        .arg(&other)
        .stdout(full())
        .stderr(fs::File::create(folder.path().join("log")).expect("a file"))
        .spawn()
        .expect("the binary starts");
    let log = || fs::read_to_string(folder.path().join("log")).unwrap_or_default();
    let began = Instant::now();
    while !log().contains("listening on") && began.elapsed() < Duration::from_secs(60) {
        assert!(serve.try_wait().expect("a process").is_none(), "{}", log());
        std::thread::sleep(Duration::from_millis(50));
    }
    let _ = serve.kill();
    let _ = serve.wait();
    assert!(log().contains("first-start.txt"), "{}", log());
    let kept = fs::read_to_string(other.join("first-start.txt")).expect("a file");
    assert!(
        kept.contains("API key         at_") && data.exists(),
        "{kept}"
    );
}

/// The promise: a data folder that is none is refused before a start as well.
#[test]
fn a_file_in_the_place_of_the_data_folder_is_refused() {
    let folder = TempDir::new().expect("a folder");
    fs::write(folder.path().join("data"), "words").expect("written");
    for words in [&["config", "check"][..], &["serve"]] {
        let ran = run(folder.path(), words, &[]);
        assert!(!ran.status.success(), "{words:?}");
        assert!(told(&ran).contains("data_dir"), "{}", told(&ran));
    }
}

/// The promise: what is good is approved, with nothing left behind.
#[test]
fn good_settings_are_approved_and_nothing_is_made() {
    let folder = TempDir::new().expect("a folder");
    let settings = [("LOG_FORMAT", "json"), ("LOG_ACCESS", "access.log")];
    let checked = run(folder.path(), &["config", "check"], &settings);
    assert!(checked.status.success(), "{}", told(&checked));
    let left = fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(left, 0, "something was made");
}

/// The promise: the doctor reads the pages of the database, and a damaged one is not good.
#[test]
fn the_doctor_finds_damaged_pages() {
    let folder = TempDir::new().expect("a folder");
    let data = folder.path().join("data");
    let made = run(folder.path(), &["local", "migrate"], &[]);
    assert!(made.status.success(), "{}", told(&made));
    let well = run(folder.path(), &["doctor"], &[]);
    assert!(told(&well).contains("good  pages"), "{}", told(&well));
    let file = data.join("atelier.db");
    let mut bytes = fs::read(&file).expect("a database");
    // Not the first pages, without which it is no database.
    let half = bytes.len() / 2;
    bytes[half..].fill(0xA5);
    fs::write(&file, &bytes).expect("written");
    let ill = run(folder.path(), &["doctor"], &[]);
    assert_eq!(ill.status.code(), Some(1), "{}", told(&ill));
    assert!(told(&ill).contains("BAD"), "{}", told(&ill));
}
