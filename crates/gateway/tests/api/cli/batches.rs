//! Many calls from a file.

use std::path::PathBuf;

use reqwest::Method;
use serde_json::{Value, json};

use super::{Person, pictures_in};
use crate::files::png;
use crate::gateway::{Account, Gateway, Options};

/// Somebody who is signed in, with a file of calls.
async fn person_with(gateway: &Gateway, account: &Account, name: &str, text: &str) -> Person {
    let person = Person::new();
    person.sign_in(&gateway.base_url, &account.key).await;
    std::fs::write(person.home.path().join(name), text).expect("written");
    person
}

async fn jobs(gateway: &Gateway, account: &Account) -> Value {
    gateway.get(&account.key, "/jobs/v1").await.json["total"].clone()
}

#[tokio::test]
async fn every_row_becomes_a_saved_picture_however_short_the_queue() {
    let gateway = Options::default().spawn().await;
    let account = gateway.account(100).await;
    let path = format!("/admin/v1/accounts/{}", account.id);
    let wish = Some(json!({ "max_queue": 2 }));
    gateway.operate(Method::PATCH, &path, wish).await;
    let table = "prompt,mode\n\"a fox, at dawn\",fast\n,\nein Boot,\na lake,turbo\n";
    let person = person_with(&gateway, &account, "calls.csv", table).await;
    let words = [
        "call",
        "artgen.imagine",
        "--batch",
        "calls.csv",
        "--out",
        "made",
        "getUImages=false",
        "--idempotency-key",
        "the-one",
    ];
    let said = person.good(&words).await;
    let mut made = pictures_in(&person.home.path().join("made"));
    made.sort();
    assert_eq!(made.len(), 3, "{made:?}\n{said}");
    for (name, start) in made
        .iter()
        .zip(["1-a-fox-at-dawn-", "2-ein-boot-", "3-a-lake-"])
    {
        assert!(name.starts_with(start), "{made:?}");
        assert!(said.contains(&format!("made/{name}\n")), "{said}");
    }
    let paid = gateway.balance(&account.key).await;
    assert_eq!(jobs(&gateway, &account).await, 3);
    let again = person.good(&words).await;
    assert_eq!(
        jobs(&gateway, &account).await,
        3,
        "the same calls by their name"
    );
    assert_eq!(gateway.balance(&account.key).await, paid);
    let mut names: Vec<&str> = again.lines().collect();
    names.sort_unstable();
    assert_eq!(
        names,
        made.iter()
            .map(|name| format!("made/{name}"))
            .collect::<Vec<_>>()
    );
    assert_eq!(pictures_in(&person.home.path().join("made")).len(), 3);
}

#[tokio::test]
async fn a_table_that_cannot_be_sent_as_it_is_submits_nothing() {
    let gateway = Options::default().spawn().await;
    let account = gateway.account(100).await;
    let many = "a boat\n".repeat(1001);
    let tables = [
        (format!("prompt\n{many}"), "at most 1000 rows"),
        ("prompt\na\n\"b\nc\n".into(), "line 3: a quote is opened"),
        ("prompt,prompt\na,b\n".into(), "takes one value"),
        ("promt\na\n".into(), "has no field `promt`"),
        ("mode\nfast\n".into(), "needs prompt"),
        ("\u{feff}\r\n\r\n".into(), "has no rows"),
    ];
    for (table, said) in tables {
        let person = person_with(&gateway, &account, "calls.csv", &table).await;
        let words = ["call", "artgen.imagine", "--batch", "calls.csv"];
        let ended = person.run(&words, "").await;
        let why = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(2), "{why}");
        assert!(why.contains(said), "{why}");
    }
    assert_eq!(jobs(&gateway, &account).await, 0);
}

#[tokio::test]
async fn rows_fail_and_are_refused_on_their_own_and_the_exit_code_says_so() {
    let gateway = Options::default().spawn().await;
    let account = gateway.account(100).await;
    let lines = concat!(
        "{\"prompt\":\"a fox\"}\n",
        "{\"prompt\":\"[[fail: the sea was too rough]]\"}\n",
        "{\"prompt\":\"a nude statue\"}\n"
    );
    let person = person_with(&gateway, &account, "calls.jsonl", lines).await;
    let words = [
        "call",
        "artgen.imagine",
        "--batch",
        "calls.jsonl",
        "--wait",
        "--json",
    ];
    let ran = person.run(&words, "").await;
    assert_eq!(ran.status.code(), Some(6), "{ran:?}");
    let told = String::from_utf8(ran.stdout).expect("text");
    let mut rows: Vec<Value> = told
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    rows.sort_by_key(|row| row["row"].as_u64());
    let states: Vec<&Value> = rows.iter().map(|row| &row["status"]).collect();
    assert_eq!(states, ["SUCCESS", "FAILED", "REFUSED"]);
    assert!(rows[1]["message"].to_string().contains("too rough"));
    assert_eq!(rows[2]["code"], "banned_prompt");
    assert!(String::from_utf8_lossy(&ran.stderr).contains("1 done, 1 failed, 1 refused of 3 rows"));

    // What is wrong in a way that can be seen from here is not begun at all.
    let wrong = "prompt,moode\na,fast\n";
    let ran = person
        .run(&["call", "artgen.imagine", "--batch", "-"], wrong)
        .await;
    assert_eq!(ran.status.code(), Some(2));
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(
        said.contains("row 1: artgen.imagine has no field `moode`"),
        "{said}"
    );
    assert_eq!(jobs(&gateway, &account).await, 2, "nothing was submitted");
    let poor = gateway.account(4).await;
    person.sign_in(&gateway.base_url, &poor.key).await;
    let ran = person
        .run(
            &["call", "artgen.imagine", "--batch", "-"],
            "prompt\na\nb\n",
        )
        .await;
    assert_eq!(ran.status.code(), Some(5), "the second is too much");
    assert!(String::from_utf8_lossy(&ran.stdout).starts_with("1  "));
}

/// The promise: a row that the service would refuse by its table of operations is refused before anything is submitted, in the same
/// words; what only the service can know is left to it.
#[tokio::test]
async fn rows_are_judged_here_by_the_rules_of_the_service() {
    let gateway = Options::default().spawn().await;
    let account = gateway.account(100).await;
    for (operation, table, field, request) in [
        (
            "artgen.imagine",
            "prompt,mode\na,fast\nb,fsat\n",
            "row 2: mode: ",
            json!({ "prompt": "b", "mode": "fsat" }),
        ),
        (
            "artgen.imagine",
            "prompt,timeout\na,1\n",
            "row 1: timeout: ",
            json!({ "prompt": "a", "timeout": 1 }),
        ),
        (
            "imgmodel.generations",
            "prompt,model,n\na,image-1,99\n",
            "row 1: n: ",
            json!({ "prompt": "a", "model": "image-1", "n": 99 }),
        ),
    ] {
        let person = person_with(&gateway, &account, "calls.csv", table).await;
        let words = ["call", operation, "--batch", "calls.csv"];
        let ran = person.run(&words, "").await;
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(ran.status.code(), Some(2), "{said}");
        assert!(
            said.contains(field) && said.contains("nothing was submitted"),
            "{said}"
        );
        let (_, submit) = atelier_contract::operation(operation).expect("an operation");
        let refused = gateway.post(&account.key, submit.path, request).await;
        let message = refused.json["message"].as_str().expect("a message");
        assert!(said.contains(message), "{message} in {said}");
    }
    // A model that this program does not know may be one of the operator's.
    let table = "prompt,model,n\na,somebodys,99\n";
    let person = person_with(&gateway, &account, "calls.csv", table).await;
    let words = ["call", "imgmodel.generations", "--batch", "calls.csv"];
    let ran = person.run(&words, "").await;
    assert_eq!(ran.status.code(), Some(3), "{ran:?}");
    assert_eq!(jobs(&gateway, &account).await, 0);
}

/// The promise: whoever names a file that is not there is told so, and not that it is no base64.
#[tokio::test]
async fn a_file_that_is_not_there_is_told_before_anything_is_sent() {
    let gateway = Options::default().spawn().await;
    let account = gateway.account(100).await;
    let person = person_with(&gateway, &account, "there.png", "no image").await;
    for (words, wanted) in [
        (
            &["edit", "missing.png", "a hat"][..],
            "image: there is no file `missing.png`",
        ),
        (
            &["call", "artgen.describe", "base64=missing.png"],
            "base64: there is no file `missing.png`; give @FILE, a URL or base64",
        ),
        (
            &["call", "artgen.describe", "base64=there.png"],
            "base64: `there.png` is a file; write base64=@there.png",
        ),
        (
            &["call", "artgen.describe", "base64=@missing.png"],
            "missing.png",
        ),
    ] {
        let ran = person.run(words, "").await;
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(
            !ran.status.success() && said.contains(wanted),
            "{words:?}: {said}"
        );
    }
    assert_eq!(jobs(&gateway, &account).await, 0);
}

#[tokio::test]
async fn pictures_beside_the_list_are_handed_in_once_also_when_it_is_repeated() {
    let gateway = Options::default().spawn().await;
    let account = gateway.account(100).await;
    let table = "targetImage,swapImage\n@a face.png,@b.png\n@b.png,@a face.png\n";
    let person = person_with(&gateway, &account, "calls.csv", table).await;
    let folder = person.home.path().join("liste ☂");
    std::fs::create_dir(&folder).expect("a folder");
    let from: PathBuf = person.home.path().join("calls.csv");
    std::fs::rename(from, folder.join("calls.csv")).expect("moved");
    for (name, side) in [("a face.png", 64), ("b.png", 80)] {
        std::fs::write(folder.join(name), png(side, side)).expect("written");
    }
    let words = [
        "call",
        "facegen.swap",
        "--batch",
        "liste ☂/calls.csv",
        "--idempotency-key",
        "swaps",
    ];
    person.good(&words).await;
    person.good(&words).await;
    let files = gateway.get(&account.key, "/files/v1").await;
    assert_eq!(files.json["total"], 2, "{}", files.json);
    assert_eq!(jobs(&gateway, &account).await, 2);
}
