//! The program as a client of the service: the real binary on both sides.

mod batches;
mod lost;
mod receipts;
mod settings;
mod verify;

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use tokio::net::TcpStream;

use crate::gateway::{ADMIN_TOKEN, Gateway, Options};

/// Somebody at a terminal, with a home of their own.
struct Person {
    home: TempDir,
}

impl Person {
    fn new() -> Self {
        Self {
            home: tempfile::tempdir().expect("a folder"),
        }
    }

    fn file(&self) -> std::path::PathBuf {
        self.home.path().join("profiles.toml")
    }

    async fn run(&self, words: &[&str], typed: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_atelier"));
        command
            .args(words)
            .env("ATELIER_CLIENT_CONFIG", self.file())
            .current_dir(self.home.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let typed = typed.to_owned();
        let run = move || {
            let mut child = command.spawn().expect("the binary starts");
            let mut input = child.stdin.take().expect("a pipe");
            input.write_all(typed.as_bytes()).expect("written");
            drop(input);
            child.wait_with_output().expect("it ends")
        };
        tokio::task::spawn_blocking(run).await.expect("it ran")
    }

    /// Runs a command that succeeds; what it printed.
    async fn good(&self, words: &[&str]) -> String {
        let ran = self.run(words, "").await;
        let errors = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(ran.status.success(), "{words:?}: {errors}");
        String::from_utf8(ran.stdout).expect("text")
    }

    async fn sign_in(&self, url: &str, key: &str) {
        let ran = self.run(&["login", url], key).await;
        assert!(
            ran.status.success(),
            "{}",
            String::from_utf8_lossy(&ran.stderr)
        );
    }
}

fn pictures_in(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).expect("a folder");
    let names = files.map(|entry| {
        entry
            .expect("a file")
            .file_name()
            .to_string_lossy()
            .into_owned()
    });
    names
        .filter(|name| {
            std::path::Path::new(name)
                .extension()
                .is_some_and(|end| end == "png")
        })
        .collect()
}

#[tokio::test]
async fn a_person_signs_in_makes_a_picture_and_finds_it_saved_and_paid() {
    let gateway = Options::default().spawn().await;
    let account = gateway.account(100).await;
    let person = Person::new();
    let wrong = person.run(&["login", &gateway.base_url], "at_wrong").await;
    assert_eq!(wrong.status.code(), Some(4), "a wrong key is not kept");
    assert!(!person.file().exists());
    person.sign_in(&gateway.base_url, &account.key).await;
    let mode = person
        .file()
        .metadata()
        .expect("a file")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);

    assert_eq!(
        person
            .good(&["imagine", "a red fox", "--quote"])
            .await
            .trim(),
        "4"
    );
    let said = person
        .good(&["imagine", "a red fox", "--out", "made"])
        .await;
    let made = pictures_in(&person.home.path().join("made"));
    assert!(!made.is_empty(), "{said}");
    assert!(
        made.iter().all(|name| name.starts_with("a-red-fox-")),
        "{made:?}"
    );
    assert!(
        !said.contains('\u{1b}'),
        "nobody looks, so nothing is coloured"
    );

    let jobs: Value = serde_json::from_str(&person.good(&["jobs", "--json"]).await).expect("JSON");
    assert_eq!(jobs["total"], 1);
    let account: Value =
        serde_json::from_str(&person.good(&["account", "--json"]).await).expect("JSON");
    assert_eq!(account["account"]["balance"], 96);
    assert!(person.good(&["ledger"]).await.contains("capture"));
    let id = jobs["data"][0]["jobId"].as_str().expect("an id");
    assert!(person.good(&["watch", id]).await.contains("done"));
}

/// The promise: whoever pays for four images and finds one file is told why, and how to have the four.
#[tokio::test]
async fn a_grid_of_four_images_says_that_it_is_one_file() {
    let gateway = Options::default().spawn().await;
    let account = gateway.account(100).await;
    let person = Person::new();
    person.sign_in(&gateway.base_url, &account.key).await;
    let words = ["imagine", "a blue fox", "--out", "grid"];
    let ran = person.run(&words, "").await;
    let note = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(
        note.contains("one file with a grid of the four images; with getUImages=true"),
        "{note}"
    );
    assert_eq!(pictures_in(&person.home.path().join("grid")).len(), 1);
    let words = ["imagine", "a blue fox", "--out", "four", "getUImages=true"];
    person.good(&words).await;
    assert_eq!(pictures_in(&person.home.path().join("four")).len(), 5);
}

#[tokio::test]
async fn the_short_forms_take_pictures_of_this_machine_and_need_no_model() {
    let gateway = Options::default().spawn().await;
    let account = gateway.account(1000).await;
    let person = Person::new();
    person.sign_in(&gateway.base_url, &account.key).await;
    let file = person.home.path().join("ein Bild ☂.png");
    std::fs::write(&file, crate::files::png(64, 64)).expect("written");
    for short in atelier_contract::SHORTCUTS {
        let mut words = vec![short.word];
        words.extend(short.fields.iter().map(|field| match *field {
            "prompt" => "@ the sea, a boat",
            _ => "ein Bild ☂.png",
        }));
        words.push("--quote");
        let price = person.good(&words).await;
        assert!(
            price.trim().parse::<f64>().is_ok_and(|price| price > 0.0),
            "{price}"
        );
    }
    let made = person
        .good(&["edit", "ein Bild ☂.png", "a hat", "--out", "made"])
        .await;
    assert_eq!(made, "made/a-hat.png\n");
    let kept = person.good(&["files", "upload", "ein Bild ☂.png"]).await;
    assert!(kept.contains("image/png"), "{kept}");
    person
        .good(&["files", "upload", "file=@ein Bild ☂.png"])
        .await;
    let address = person
        .good(&["call", "artgen.imagine", "prompt=a lake", "--wait"])
        .await;
    assert!(
        address.starts_with("http") && address.lines().count() == 1,
        "{address}"
    );
}

#[tokio::test]
async fn a_reader_that_has_gone_is_no_error_and_strangers_words_steer_nothing() {
    let gateway = Options::default().spawn().await;
    let account = gateway.account(100).await;
    let person = Person::new();
    person.sign_in(&gateway.base_url, &account.key).await;
    let ran = person
        .run(&["imagine", "[[fail: a\u{1b}[31mb]]", "--quiet"], "")
        .await;
    assert_eq!(ran.status.code(), Some(6));
    assert!(!ran.stderr.contains(&0x1b), "{ran:?}");
    let gone = format!(
        "set -o pipefail; {} imagine 2>&1 x timeout=1 | true; echo $?",
        env!("CARGO_BIN_EXE_atelier")
    );
    let mut shell = Command::new("bash");
    shell
        .args(["-c", &gone])
        .env("ATELIER_CLIENT_CONFIG", person.file());
    let ran = tokio::task::spawn_blocking(move || shell.output().expect("a shell"));
    let ran = ran.await.expect("it ran");
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "3\n");
    let odd = person
        .run(&["imagine", "x", "--idempotency-key", "a\u{7f}b\n"], "")
        .await;
    assert_eq!(odd.status.code(), Some(2), "{odd:?}");
}

#[tokio::test]
async fn exit_codes_tell_what_went_wrong() {
    let gateway = Options::default().spawn().await;
    let poor = gateway.account(0).await;
    let person = Person::new();
    let code = async |words: &[&str]| person.run(words, "").await.status.code();
    assert_eq!(code(&["jobs"]).await, Some(4), "not signed in");
    person.sign_in(&gateway.base_url, &poor.key).await;
    assert_eq!(code(&["call", "artgen.imagine", "promt=x"]).await, Some(2));
    assert_eq!(code(&["imagine", "x", "timeout=1"]).await, Some(3));
    assert_eq!(code(&["imagine", "x"]).await, Some(5), "no quota");
    assert_eq!(code(&["accounts"]).await, Some(4), "no operator's token");
    let rich = gateway.account(100).await;
    person.sign_in(&gateway.base_url, &rich.key).await;
    assert_eq!(code(&["imagine", "[[fail: no]]"]).await, Some(6));
    assert_eq!(
        code(&["imagine", "[[delay 60s]]", "--within", "0"]).await,
        Some(8)
    );
}

#[tokio::test]
async fn an_operator_makes_accounts_and_grants_quota() {
    let gateway = Options::default().spawn().await;
    let person = Person::new();
    let ran = person
        .run(&["login", &gateway.base_url, "--operator"], ADMIN_TOKEN)
        .await;
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let made = person
        .good(&[
            "accounts",
            "create",
            "email=a@example.com",
            "balance=5",
            "--json",
        ])
        .await;
    let made: Value = serde_json::from_str(&made).expect("JSON");
    let id = made["data"]["id"].as_str().expect("an id");
    assert!(
        person
            .good(&["credit", id, "2.5", "reason=gift"])
            .await
            .contains("7.5")
    );
    // Who writes the name of a field that needs none means the same.
    assert!(
        person
            .good(&["credit", id, "amount=1", "reason=gift"])
            .await
            .contains("8.5")
    );
    assert!(person.good(&["accounts"]).await.contains("a@example.com"));
    assert!(person.good(&["prices"]).await.contains("artgen.imagine"));
    person.good(&["nodes"]).await;
    person.good(&["backends"]).await;
    let prices = person
        .good(&["prices", "change", "artgen.imagine.fast=9"])
        .await;
    assert!(prices.contains("artgen.imagine.fast"), "{prices}");
    let line = |line: &&str| line.starts_with("artgen.imagine.fast ");
    let all = person.good(&["prices"]).await;
    assert!(
        all.lines()
            .find(line)
            .is_some_and(|line| line.ends_with(" 9")),
        "{all}"
    );
}

fn free_port() -> u16 {
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    free.local_addr().expect("an address").port()
}

/// Waits until somebody listens there.
async fn until_heard(port: u16) {
    while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn callbacks_are_received_and_their_signatures_checked() {
    let gateway = Options::default().spawn().await;
    let account = gateway.account(100).await;
    let person = Person::new();
    person.sign_in(&gateway.base_url, &account.key).await;
    let port = free_port();
    let port_text = port.to_string();
    let words = [
        "callbacks",
        "listen",
        "--port",
        &port_text,
        "--count",
        "1",
        "--json",
    ];
    let listening = person.run(&words, "");
    let asking = async {
        until_heard(port).await;
        let hook = format!("hookUrl=http://127.0.0.1:{port}/");
        person
            .good(&["imagine", "a red fox", &hook, "--out", "made"])
            .await
    };
    let (heard, _) = tokio::join!(listening, asking);
    let line: Value = serde_json::from_slice(&heard.stdout).expect("one line of JSON");
    assert_eq!(line["verified"], true, "{line}");
    assert_eq!(line["body"]["status"], "SUCCESS");
}

#[tokio::test]
async fn a_callback_that_nobody_signed_is_told_apart_and_is_an_error() {
    let gateway = Options::default().spawn().await;
    let account = gateway.account(100).await;
    let person = Person::new();
    person.sign_in(&gateway.base_url, &account.key).await;
    let port = free_port();
    let port_text = port.to_string();
    let words = ["callbacks", "listen", "--port", &port_text, "--count", "1"];
    let listening = person.run(&words, "");
    let forging = async {
        until_heard(port).await;
        let forged = crate::gateway::client().post(format!("http://127.0.0.1:{port}/"));
        let answer = forged.body(r#"{"status":"SUCCESS"}"#).send().await;
        answer.expect("an answer").status()
    };
    let (heard, status) = tokio::join!(listening, forging);
    assert_eq!(status, 400);
    assert_eq!(heard.status.code(), Some(1), "{heard:?}");

    std::fs::write(person.home.path().join("secret"), "not a secret").expect("written");
    let words = [
        "callbacks",
        "listen",
        "--port",
        "0",
        "--secret-file",
        "secret",
    ];
    let refused = person.run(&words, "").await;
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(
        !refused.status.success() && said.contains("atelier callbacks secret"),
        "{said}"
    );
}

#[tokio::test]
async fn the_program_explains_itself() {
    let person = Person::new();
    let help = person.good(&["--help"]).await;
    for word in [
        "imagine",
        "call",
        "jobs",
        "doctor",
        "local",
        "For operators",
    ] {
        assert!(help.contains(word), "{word}\n{help}");
    }
    assert!(
        person
            .good(&["call", "artgen.imagine", "--help"])
            .await
            .contains("relax | fast | turbo")
    );
    // What two methods do is one entry.
    let listed = person.good(&["call", "--help"]).await;
    for (name, times) in [
        ("artgen.fetch ", 1),
        ("artgen.info ", 1),
        (".post", 0),
        (".get", 0),
    ] {
        assert_eq!(listed.matches(name).count(), times, "{name} in {listed}");
    }
    assert!(
        person
            .good(&["config", "explain", "jobs.max_queue"])
            .await
            .contains("ATELIER_JOBS_MAX_QUEUE")
    );
    assert!(person.good(&["config", "check"]).await.contains("valid"));
    assert!(
        person
            .good(&["completions", "bash"])
            .await
            .contains("complete -o default -F _atelier")
    );
    assert_eq!(
        person
            .good(&["complete", "bash", "atelier call artgen.imagine mode=t"])
            .await,
        "turbo\n"
    );
    person.good(&["man", "pages"]).await;
    let page = |name: &str| {
        let file = person.home.path().join("pages").join(name);
        std::fs::read_to_string(file).expect("a page")
    };
    assert!(page("atelier-keys-issue.1").contains(".SH SYNOPSIS"));
    // Examples are lines of their own, and the codes are ours.
    let man = page("atelier-man.1");
    assert!(man.contains(".SH NOTES\n.nf\n"), "{man}");
    assert!(man.contains("man atelier\\-call\n"), "{man}");
    assert!(man.contains(".SH EXIT STATUS\n.TP\n0\n"), "{man}");
    assert!(page("atelier.1").contains("atelier\\-call(1)"));
}

#[tokio::test]
async fn the_doctor_finds_a_good_house_good_and_says_what_is_wrong_with_a_bad_one() {
    let gateway: Gateway = Options::default().spawn().await;
    let said = gateway.command(&["doctor"]);
    for what in [
        "configuration",
        "database",
        "disk",
        "assets",
        "clock",
        "outbound",
        "back ends",
        "certificates",
    ] {
        assert!(said.contains(what), "{what}\n{said}");
    }
    let person = Person::new();
    let bad = person
        .run(&["doctor", "--config", "/nowhere/atelier.toml"], "")
        .await;
    assert_eq!(bad.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&bad.stdout).contains("BAD"),
        "{bad:?}"
    );
}
