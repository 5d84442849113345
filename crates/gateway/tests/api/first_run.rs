//! The first start: a key that works, a curl line that works when pasted, and none of it a second time.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::gateway::{Gateway, Options};

needs!(postgres: a_strict_service_wants_its_master_key_elsewhere_than_in_the_database);

#[tokio::test]
async fn the_printed_curl_line_works_as_it_stands() {
    let gateway = Gateway::spawn().await;
    let printed = gateway.printed();
    assert!(
        printed.contains("demo@example.com with 1000 quota"),
        "{printed}"
    );
    assert!(
        printed.contains(&format!("{}/console/", gateway.base_url)),
        "{printed}"
    );
    // A token that was given is not printed back.
    assert!(!printed.contains(crate::gateway::ADMIN_TOKEN), "{printed}");
    let line = printed
        .lines()
        .find(|line| line.trim_start().starts_with("curl "))
        .expect("a curl line");
    let ran = Command::new("sh")
        .args(["-c", line])
        .stderr(Stdio::inherit())
        .output()
        .expect("sh runs");
    let answer: Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    assert_eq!(answer["status"], "SUCCESS", "{answer}");
    assert!(answer["data"]["jobId"].is_string(), "{answer}");
}

#[tokio::test]
async fn a_second_start_prints_no_secrets_and_the_key_still_works() {
    let gateway = Gateway::spawn().await;
    let key = printed_key(&gateway.printed());
    assert_eq!(
        gateway.get(&key, "/artgen/v1/info").await.json["data"]["email"],
        "demo@example.com"
    );
    let gateway = gateway.restart(Options::default());
    let printed = gateway.printed();
    assert!(
        !printed.contains("at_") && !printed.contains("operator token"),
        "{printed}"
    );
    assert_eq!(gateway.get(&key, "/artgen/v1/info").await.status, 200);
}

#[tokio::test]
async fn without_a_given_token_one_is_made_and_printed_once() {
    let gateway = Options::default().set("ADMIN_TOKEN", "").spawn().await;
    let printed = gateway.printed();
    let token = printed
        .lines()
        .find_map(|line| line.trim().strip_prefix("operator token"))
        .expect("a token");
    let request = gateway
        .request(reqwest::Method::GET, "/admin/v1/accounts")
        .bearer_auth(token.trim());
    assert_eq!(crate::gateway::send(request).await.status, 200);
    let token = token.trim().to_owned();
    let gateway = gateway.restart(Options::default().set("ADMIN_TOKEN", ""));
    assert!(!gateway.printed().contains("operator token"));
    let request = gateway
        .request(reqwest::Method::GET, "/admin/v1/accounts")
        .bearer_auth(token);
    assert_eq!(crate::gateway::send(request).await.status, 200);
}

#[test]
fn a_wrong_setting_is_named_and_nothing_starts() {
    let ran = Command::new(env!("CARGO_BIN_EXE_atelier"))
        .env("ATELIER_LISTNE", "x")
        .output()
        .expect("it runs");
    assert!(!ran.status.success());
    assert!(String::from_utf8_lossy(&ran.stderr).contains("ATELIER_LISTNE: no such setting"));
}

/// The promise: a strict service does not keep its master key in the database whose secrets it seals.
async fn a_strict_service_wants_its_master_key_elsewhere_than_in_the_database() {
    let gateway = Gateway::spawn().await;
    let ran = Command::new(env!("CARGO_BIN_EXE_atelier"))
        .args([
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--database",
            &gateway.database(),
        ])
        .env("ATELIER_STRICT", "true")
        .env("ATELIER_DATA_DIR", gateway.folder.path().join("strict"))
        .output()
        .expect("it runs");
    assert!(!ran.status.success());
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(said.contains("master_key: not set"), "{said}");
}

/// The key among the lines of a first start.
fn printed_key(printed: &str) -> String {
    let line = printed
        .lines()
        .find_map(|line| line.trim().strip_prefix("API key"))
        .expect("a key");
    line.trim().to_owned()
}

#[tokio::test]
async fn the_printed_link_signs_in_once() {
    let gateway = Gateway::spawn().await;
    let printed = gateway.printed();
    let (_, rest) = printed.split_once("/console/#").expect("a link");
    let word = rest.split_whitespace().next().expect("a word");
    let open = || {
        let request = gateway.request(reqwest::Method::POST, "/console/session");
        crate::gateway::send(request.json(&serde_json::json!({ "secret": word })))
    };
    let first = open().await;
    assert_eq!(first.status, 200, "{}", first.json);
    assert_eq!(first.json["data"]["account"]["email"], "demo@example.com");
    open().await.assert_refused(401, "unauthorized");
}
