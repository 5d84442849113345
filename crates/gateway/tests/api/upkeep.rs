//! Looking after what is kept: the audit, backups and the archive, while the service works.

use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::gateway::{Gateway, Options};

needs!(
    sqlite:
    backups_of_a_busy_service_are_whole_and_those_that_are_not_say_so,
    a_spool_that_cannot_be_put_back_is_not_served_past,
);

/// Runs a command of the binary on a folder; whether it succeeded, and what it printed.
fn atelier(words: &[&str]) -> (bool, String) {
    let ran = Command::new(env!("CARGO_BIN_EXE_atelier"))
        .args(words)
        .output();
    let ran = ran.expect("the binary starts");
    let text = [ran.stdout, ran.stderr].concat();
    (
        ran.status.success(),
        String::from_utf8_lossy(&text).into_owned(),
    )
}

async fn until_done(gateway: &Gateway, key: &str, job: &str) -> Value {
    for _ in 0..300 {
        let body = json!({ "jobId": job });
        let answer = gateway.post(key, "/artgen/v1/fetch", body).await;
        if answer.json["status"] == "SUCCESS" {
            return answer.json;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the job never ended");
}

#[tokio::test]
async fn an_audit_of_a_service_at_work_finds_nothing_and_says_what_it_saw() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(100).await;
    let job = gateway.imagine(&account.key, "a fox").await;
    gateway.imagine(&account.key, "[[stall]] a fox").await;
    until_done(&gateway, &account.key, &job).await;
    let report: Value =
        serde_json::from_str(&gateway.command(&["audit", "--live", "--json"])).expect("JSON");
    assert_eq!(report["ok"], true, "{report}");
    assert_eq!(report["faults"], json!([]));
    assert!(report["rows"].as_u64() > Some(5), "{report}");
    assert!(report["files"].as_u64() > Some(0), "{report}");
    let words = gateway.command(&["audit"]);
    assert!(words.contains("the ledger balances"), "{words}");
}

#[tokio::test]
async fn a_lost_file_fails_the_audit_by_name() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(100).await;
    let job = gateway.imagine(&account.key, "a fox").await;
    until_done(&gateway, &account.key, &job).await;
    let assets = gateway.folder.path().join("assets/out");
    std::fs::remove_dir_all(assets).expect("lost");
    let folder = gateway.folder.path().display().to_string();
    let mut words = vec!["audit", "--json", "--data-dir", &folder];
    let database = gateway.database();
    if database.starts_with("postgres") {
        words.extend(["--database", &database]);
    }
    let (fine, text) = atelier(&words);
    assert!(!fine, "{text}");
    let report: Value = serde_json::from_str(&text).expect("JSON");
    assert!(
        report["broken"]["files.stored"].as_u64() > Some(0),
        "{report}"
    );
}

/// The promise: a backup is made while the service works, and a service that starts on it knows what was known then.
#[tokio::test]
async fn what_was_backed_up_is_there_after_a_restore() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(100).await;
    let job = gateway.imagine(&account.key, "a fox").await;
    let before = until_done(&gateway, &account.key, &job).await;
    let place = tempfile::tempdir().expect("a folder");
    let kept = place.path().join("kept").display().to_string();
    let folder = tempfile::tempdir().expect("a folder");
    let fresh = folder.path().display().to_string();
    let own = gateway.folder.path().display().to_string();
    if gateway.database().starts_with("postgres") {
        let words = ["backup", "--to", &kept, "--database", &gateway.database()];
        let (fine, text) = atelier(&words);
        assert!(!fine && text.contains("pg_dump"), "{text}");
        return;
    }
    let (fine, text) = atelier(&["backup", "--to", &kept, "--data-dir", &own]);
    assert!(fine, "{text}");
    let (fine, text) = atelier(&["backup", "--to", &kept, "--data-dir", &own]);
    assert!(!fine && text.contains("not empty"), "{text}");
    let (fine, text) = atelier(&["restore", "--from", &kept, "--data-dir", &own]);
    assert!(!fine && text.contains("there already"), "{text}");
    let (fine, text) = atelier(&["restore", "--from", &kept, "--data-dir", &fresh]);
    assert!(fine, "{text}");
    let (fine, text) = atelier(&["audit", "--data-dir", &fresh]);
    assert!(fine, "{text}");
    drop(gateway);
    let again = Options::default().spawn_on(folder).await;
    let after = until_done(&again, &account.key, &job).await;
    assert_eq!(after["data"]["prompt"], before["data"]["prompt"]);
    let (balance, frozen) = again.balance(&account.key).await;
    assert!(balance < 100.0 && frozen == 0.0);
}

/// Callers make and delete jobs all the time while backups are made: each can be gone on with.
async fn backups_of_a_busy_service_are_whole_and_those_that_are_not_say_so() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(10_000).await;
    let own = gateway.folder.path().display().to_string();
    let place = tempfile::tempdir().expect("a folder");
    let busy = async {
        for round in 0.. {
            let job = gateway.imagine(&account.key, "a fox").await;
            until_done(&gateway, &account.key, &job).await;
            if round % 2 == 0 {
                let path = format!("/jobs/v1/{job}");
                let gone = gateway
                    .request(reqwest::Method::DELETE, &path)
                    .header("SVC-API-KEY", &account.key)
                    .send()
                    .await;
                assert!(gone.expect("an answer").status().is_success());
            }
        }
    };
    let backups = async {
        for number in 0..3 {
            let at = |name: &str| place.path().join(format!("{name}-{number}"));
            let at = |name: &str| at(name).display().to_string();
            let (own, kept, fresh) = (own.clone(), at("kept"), at("fresh"));
            let commands = tokio::task::spawn_blocking(move || {
                let words = ["backup", "--to", &kept, "--data-dir", &own];
                let (fine, text) = atelier(&words);
                assert!(fine && text.contains("were audited"), "{text}");
                let words = ["restore", "--from", &kept, "--data-dir", &fresh];
                let (fine, text) = atelier(&words);
                assert!(fine, "{text}");
                let (fine, text) = atelier(&["audit", "--data-dir", &fresh]);
                assert!(fine, "{text}");
            });
            commands.await.expect("three commands");
        }
    };
    tokio::select! {
        () = busy => {}
        () = backups => {}
    }
    let job = gateway.imagine(&account.key, "a fox").await;
    until_done(&gateway, &account.key, &job).await;
    std::fs::remove_dir_all(gateway.folder.path().join("assets/out")).expect("lost");
    let kept = place.path().join("lost");
    let words = [
        "backup",
        "--to",
        &kept.display().to_string(),
        "--data-dir",
        &own,
    ];
    let (fine, text) = atelier(&words);
    assert!(
        !fine && text.contains("is no backup") && text.contains("files.stored"),
        "{text}"
    );
    assert!(!kept.join("backup.json").exists());
}

#[tokio::test]
async fn the_archive_takes_nothing_that_is_young() {
    let gateway = Gateway::spawn().await;
    let folder = gateway.folder.path().display().to_string();
    let (fine, text) = atelier(&["archive", "--before", "soon", "--data-dir", &folder]);
    assert!(!fine && text.contains("must be a date"), "{text}");
    let (fine, text) = atelier(&["archive", "--before", "2999-01-01", "--data-dir", &folder]);
    assert!(!fine && text.contains("two days ago"), "{text}");
    let said = gateway.command(&["archive", "--before", "2020-01-01"]);
    assert!(said.starts_with("moved 0 jobs, 0 ledger rows"), "{said}");
}

/// What an archiving left that was killed before its rows were moved holds words that their owner may have had removed since.
#[tokio::test]
async fn what_a_killed_archiving_left_is_removed_by_the_next() {
    let gateway = Gateway::spawn().await;
    let folder = gateway.folder.path().join("archive");
    std::fs::create_dir_all(&folder).expect("a folder");
    let left = folder.join("unfinished.part");
    std::fs::write(&left, "words").expect("written");
    let said = gateway.command(&["archive", "--before", "2020-01-01"]);
    assert!(said.starts_with("moved 0 jobs, 0 ledger rows"), "{said}");
    assert!(!left.exists());
}

/// Files that were only in the spool when the power went are put back before anything is served, or nothing is.
async fn a_spool_that_cannot_be_put_back_is_not_served_past() {
    let mut gateway = Gateway::spawn().await;
    let account = gateway.account(100).await;
    let job = gateway.imagine(&account.key, "a fox").await;
    until_done(&gateway, &account.key, &job).await;
    gateway.kill();
    let folder = gateway.folder.path().to_owned();
    // Something stands where the folder of a small file has to be.
    let (place, aside) = (folder.join("assets/installs"), folder.join("aside"));
    std::fs::rename(&place, &aside).expect("moved");
    std::fs::write(&place, "in the way").expect("written");
    let served = tokio::process::Command::new(env!("CARGO_BIN_EXE_atelier"))
        .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
        .arg(&folder)
        .kill_on_drop(true)
        .output();
    let served = tokio::time::timeout(Duration::from_mins(1), served).await;
    let served = served.expect("it ends").expect("a command");
    let text = String::from_utf8_lossy(&served.stderr);
    assert!(
        !served.status.success() && text.contains("could not be put back"),
        "{text}"
    );
    std::fs::remove_file(&place).expect("out of the way");
    std::fs::rename(&aside, &place).expect("moved back");
    let again = tokio::task::spawn_blocking(move || gateway.restart(Options::default())).await;
    let again = again.expect("a gateway");
    until_done(&again, &account.key, &job).await;
    again.command(&["audit", "--live"]);
}
