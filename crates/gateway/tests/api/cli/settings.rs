//! What a start refuses is told before it by `atelier config check`, and by the doctor.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

const VENDOR: &str =
    r#"[{ name = "a", vendor = "nobody", base_url = "https://vendor.example", accounts = [] }]"#;
const MODEL: &str =
    r#"[{ name = "a", like = "imgmodel/image-1", routes = [{ backend = "not there" }] }]"#;

/// Variables that no service starts with, and what is told of each.
const BAD: [(&[(&str, &str)], &str); 12] = [
    (&[("BACKENDS", VENDOR)], "vendor: must be one of"),
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
        assert!(!started.status.success(), "{settings:?} starts");
        assert!(
            told(&started).contains(word),
            "{settings:?}: {}",
            told(&started)
        );
    }
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
