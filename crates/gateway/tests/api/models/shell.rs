//! Models on the command line: one command makes one, and a shell completes its name.

use std::process::{Command, Output};

use serde_json::{Value, json};

use super::{picture, seedream, sell};
use crate::gateway::{ADMIN_TOKEN, Account, Gateway};

/// Runs a command as the operator who is an account's owner, too.
async fn run(gateway: &Gateway, account: &Account, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_atelier"));
    command
        .args(words)
        .env("ATELIER_CLIENT_CONFIG", "/nonexistent/profiles.toml")
        .env("ATELIER_CLIENT_URL", &gateway.base_url)
        .env("ATELIER_CLIENT_KEY", &account.key)
        .env("ATELIER_CLIENT_TOKEN", ADMIN_TOKEN);
    let run = move || command.output().expect("the binary starts");
    tokio::task::spawn_blocking(run).await.expect("it ran")
}

/// Runs a command that succeeds; what it printed.
async fn good(gateway: &Gateway, account: &Account, words: &[&str]) -> String {
    let ran = run(gateway, account, words).await;
    let errors = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(ran.status.success(), "{words:?}: {errors}");
    String::from_utf8(ran.stdout).expect("text")
}

/// The promise: from an empty house to a picture of a new model in one command and one call.
#[tokio::test]
async fn one_command_makes_a_model() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    let words = [
        "models",
        "add",
        "acme/picture-9",
        "--like",
        "imgmodel/image-1",
        "--price",
        "item=0.5",
        "--allow",
        "size=1024x1024,2048x2048",
        "--default",
        "size=2048x2048",
        "--route",
        "embedded",
    ];
    good(&gateway, &caller, &words).await;
    let answer = picture(&gateway, &caller, json!({ "model": "acme/picture-9" })).await;
    assert_eq!(answer.status, 200, "{}", answer.json);
    assert_eq!(answer.json["size"], "2048x2048");
    assert_eq!(gateway.balance(&caller.key).await, (99.5, 0.0));

    let listed = good(&gateway, &caller, &["models"]).await;
    assert!(
        listed.contains("acme/picture-9") && listed.contains("0.5 an item"),
        "{listed}"
    );
    let own = Command::new(env!("CARGO_BIN_EXE_atelier"))
        .args(["models", "--json"])
        .env("ATELIER_CLIENT_CONFIG", "/nonexistent/profiles.toml")
        .env("ATELIER_CLIENT_URL", &gateway.base_url)
        .env("ATELIER_CLIENT_KEY", &caller.key)
        .output()
        .expect("the binary starts");
    let own = String::from_utf8_lossy(&own.stdout).into_owned();
    assert!(
        own.contains("acme/picture-9") && own.contains("image-1"),
        "{own}"
    );
    let name = "acme/picture-9";
    let change = ["models", "change", name, "--price", "item=1", "--json"];
    let changed = good(&gateway, &caller, &change).await;
    let changed: Value = serde_json::from_str(&changed).expect("JSON");
    assert_eq!(changed["data"]["revision"], 2, "{changed}");
    assert_eq!(
        changed["data"]["fields"]["size"]["default"], "2048x2048",
        "what was not named stays: {changed}"
    );
    let late = ["models", "change", name, "--title", "x", "--revision", "1"];
    let late = run(&gateway, &caller, &late).await;
    assert_eq!(late.status.code(), Some(3), "another revision is there");
    let preview = ["models", "preview", name, "--price", "item=2", "--json"];
    let preview = good(&gateway, &caller, &preview).await;
    let preview: Value = serde_json::from_str(&preview).expect("JSON");
    assert_eq!(preview["data"]["wouldBe"].as_f64(), Some(2.0), "{preview}");
    good(&gateway, &caller, &["models", "remove", name]).await;
    let gone = run(&gateway, &caller, &["models", "get", name]).await;
    assert_eq!(gone.status.code(), Some(3), "it is gone");
    let wrong = ["models", "add", "x", "--like", "nothing"];
    let wrong = run(&gateway, &caller, &wrong).await;
    let told = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(told.contains("like"), "{told}");
}

/// The promise: a shell offers what the service has now, and waits for nobody who does not answer.
#[tokio::test]
async fn a_shell_completes_models_of_the_service() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    sell(&gateway, seedream()).await;
    for (line, wanted) in [
        (
            "atelier call imgmodel.generations model=seed",
            "model=seedream-4-5",
        ),
        ("atelier models change seed", "seedream-4-5"),
    ] {
        let offered = good(&gateway, &caller, &["complete", "zsh", line]).await;
        assert!(offered.contains(wanted), "{line}: {offered}");
    }
    let nobody = Gateway::spawn().await;
    let away = Account {
        id: String::new(),
        key: String::from("at_unknown"),
    };
    let line = "atelier call imgmodel.generations model=";
    let offered = good(&nobody, &away, &["complete", "zsh", line]).await;
    assert!(offered.contains("model=image-1"), "{offered}");
}
