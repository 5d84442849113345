//! Exports from outside: every row of a kind as a file, filtered as the lists are.

use std::collections::BTreeMap;

use reqwest::Method;
use serde_json::{Value, json};

use crate::backends::finished;
use crate::gateway::{Account, Answer, Gateway, send};

/// Something that costs 1 and is there with its answer.
async fn picture(gateway: &Gateway, account: &Account, prompt: &str, tags: &str, user: &str) {
    let body = json!({ "prompt": prompt, "model": "image-1", "quality": "low", "user": user });
    let request = gateway
        .request(Method::POST, "/v1/images/generations")
        .header("SVC-API-KEY", &account.key)
        .header("X-Atelier-Tags", tags);
    let answer = send(request.json(&body)).await;
    assert_eq!(answer.status, 200, "{}", answer.json);
}

async fn export(gateway: &Gateway, account: &Account, what: &str) -> Answer {
    let path = format!("/account/v1/exports/{what}");
    gateway.get(&account.key, &path).await
}

fn lines(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.status, 200, "{}", answer.json);
    let text = String::from_utf8(answer.bytes.clone()).expect("text");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("a line of JSON"))
        .collect()
}

/// The cells of a table by the names of its columns. The cells of these tests have no line breaks.
fn table(answer: &Answer) -> Vec<BTreeMap<String, String>> {
    assert_eq!(answer.status, 200, "{}", answer.json);
    let text = String::from_utf8(answer.bytes.clone()).expect("text");
    let mut rows = text
        .strip_suffix("\r\n")
        .expect("an end")
        .split("\r\n")
        .map(cells);
    let names = rows.next().expect("names");
    let row = |row: Vec<String>| {
        assert_eq!(row.len(), names.len(), "{row:?}");
        names.iter().cloned().zip(row).collect()
    };
    rows.map(row).collect()
}

fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => cell.extend(letters.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(std::mem::take(&mut cell)),
            other => cell.push(other),
        }
    }
    cells.push(cell);
    cells
}

/// The promise: an export has every row of its kind, in both formats the same, and only the caller's own.
#[tokio::test]
async fn exports_have_every_row_and_no_formula() {
    let gateway = Gateway::spawn().await;
    let (owner, other) = (gateway.account(100).await, gateway.account(100).await);
    picture(&gateway, &owner, "=1+1", "project=a,customer=b", "eve").await;
    picture(
        &gateway,
        &owner,
        "a \"quiet\" fox, asleep",
        "project=c",
        "bob",
    )
    .await;
    picture(&gateway, &other, "not theirs", "project=a", "eve").await;
    let failed = gateway
        .imagine(&owner.key, "a fox [[fail: no paint]]")
        .await;
    finished(&gateway, &owner.key, &failed).await;

    let answer = export(&gateway, &owner, "jobs").await;
    assert_eq!(answer.header("content-type"), "text/csv; charset=utf-8");
    let disposition = answer.header("content-disposition");
    assert!(
        disposition.starts_with("attachment; filename=\"jobs-20"),
        "{disposition}"
    );
    let jobs = table(&answer);
    let prompts: Vec<&str> = jobs.iter().map(|job| &*job["prompt"]).collect();
    assert_eq!(
        prompts,
        [
            "'=1+1",
            "a \"quiet\" fox, asleep",
            "a fox [[fail: no paint]]"
        ],
        "in the order in which they were accepted, and none is a formula"
    );
    assert_eq!(jobs[0]["tags"], "customer=b,project=a");
    assert_eq!((&*jobs[0]["quota"], &*jobs[0]["status"]), ("1", "SUCCESS"));
    assert_eq!((&*jobs[2]["quota"], &*jobs[2]["status"]), ("0", "FAILED"));
    assert!(jobs[2]["message"].contains("no paint"), "{:?}", jobs[2]);
    assert!(
        !jobs[0].contains_key("accountId"),
        "it is known whose it is"
    );

    let same = lines(&export(&gateway, &owner, "jobs?format=jsonl").await);
    assert_eq!(same.len(), 3);
    assert_eq!(same[0]["prompt"], "=1+1", "JSON computes nothing");
    assert_eq!(same[0]["tags"], json!({ "customer": "b", "project": "a" }));
    assert_eq!(same[2]["jobId"], failed);
    check_sums(&gateway, &owner).await;
}

/// The ledger is what its list shows, and adds up to what the account has; usage adds up to what was consumed.
async fn check_sums(gateway: &Gateway, owner: &Account) {
    let ledger = table(&export(gateway, owner, "ledger").await);
    let listed = gateway
        .get(&owner.key, "/account/v1/ledger?limit=100")
        .await;
    let mut ids: Vec<&str> = listed.json["data"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| row["id"].as_str().expect("an id"))
        .collect();
    ids.reverse();
    let exported: Vec<&str> = ledger.iter().map(|row| &*row["id"]).collect();
    assert_eq!(exported, ids, "the same rows, oldest first");
    let sum = |name: &str| -> f64 {
        ledger
            .iter()
            .map(|row| row[name].parse::<f64>().expect("a number"))
            .sum()
    };
    let (balance, held) = gateway.balance(&owner.key).await;
    assert!((sum("change") - balance).abs() < 1e-9 && (sum("freezeChange") - held).abs() < 1e-9);

    let usage = table(&export(gateway, owner, "usage").await);
    let used: f64 = usage
        .iter()
        .map(|row| row["quota"].parse::<f64>().expect("a number"))
        .sum();
    assert!((used - 2.0).abs() < 1e-9, "{usage:?}");
    assert_eq!(usage[0]["model"], "image-1");
}

/// The promise: exports are filtered as the lists are.
#[tokio::test]
async fn exports_are_filtered_as_lists_are() {
    let gateway = Gateway::spawn().await;
    let owner = gateway.account(100).await;
    picture(&gateway, &owner, "one", "project=a", "eve").await;
    picture(&gateway, &owner, "two", "project=b", "eve").await;
    picture(&gateway, &owner, "three", "project=a", "bob").await;
    gateway.swap(&owner.key).await;
    let keys = gateway.get(&owner.key, "/account/v1/keys").await;
    let key = keys.json["data"][0]["id"]
        .as_str()
        .expect("a key")
        .to_owned();
    for (kind, filter, rows) in [
        ("jobs", "tag=project:a".to_owned(), 2),
        ("jobs", "tag=project:a&user=eve".to_owned(), 1),
        ("jobs", "operation=imgmodel.generations".to_owned(), 3),
        ("jobs", "model=image-1".to_owned(), 3),
        ("jobs", format!("keyId={key}"), 4),
        ("jobs", "keyId=nobody".to_owned(), 0),
        ("jobs", "to=2020-01-01".to_owned(), 0),
        ("jobs", "from=2020-01-01".to_owned(), 4),
        // A hold and a capture of each.
        ("ledger", "tag=project:a".to_owned(), 4),
        ("ledger", "model=image-1".to_owned(), 6),
        ("ledger", "to=2020-01-01".to_owned(), 0),
        ("usage", "user=bob".to_owned(), 1),
        ("usage", "tag=project:c".to_owned(), 0),
        ("usage", "model=image-1".to_owned(), 1),
        ("usage", "model=art-3".to_owned(), 0),
        ("usage", "to=2020-01-01".to_owned(), 0),
    ] {
        let path = format!("{kind}?format=jsonl&{filter}");
        let found = lines(&export(&gateway, &owner, &path).await);
        // An hour may have ended in between.
        let found_rows = if kind == "usage" && rows > 0 {
            rows.min(found.len())
        } else {
            found.len()
        };
        assert_eq!(found_rows, rows, "{path}: {found:?}");
    }
    let tagged = lines(&export(&gateway, &owner, "usage?format=jsonl&tag=project:a").await);
    let jobs: i64 = tagged
        .iter()
        .map(|row| row["jobs"].as_i64().expect("a number"))
        .sum();
    assert_eq!(jobs, 2, "{tagged:?}");
    for (wrong, field) in [
        ("jobs?format=xls", "format"),
        ("jobs?from=yesterday", "from"),
        ("jobs?tag=nothing", "tag"),
    ] {
        let refused = export(&gateway, &owner, wrong).await;
        refused.assert_refused(400, "invalid_parameter");
        assert_eq!(refused.json["param"], field, "{wrong}");
    }
    export(&gateway, &owner, "keys")
        .await
        .assert_refused(404, "not_found");
}

/// The promise: operators take the rows of one account or of all, and see whose they are.
#[tokio::test]
async fn operators_export_over_all_accounts() {
    let gateway = Gateway::spawn().await;
    let (one, two) = (gateway.account(10).await, gateway.account(10).await);
    picture(&gateway, &one, "one", "project=a", "eve").await;
    picture(&gateway, &two, "two", "project=a", "eve").await;
    let take = async |path: String| gateway.operate(Method::GET, &path, None).await;
    let all = table(&take("/admin/v1/exports/jobs".to_owned()).await);
    let of = |row: &BTreeMap<String, String>| (row["accountId"].clone(), row["prompt"].clone());
    let mut found: Vec<_> = all.iter().map(of).collect();
    found.sort_by(|a, b| a.1.cmp(&b.1));
    let expected = [
        (one.id.clone(), "one".to_owned()),
        (two.id.clone(), "two".to_owned()),
    ];
    assert_eq!(found, expected);
    for path in [
        format!("/admin/v1/exports/ledger?accountId={}", one.id),
        format!("/admin/v1/accounts/{}/exports/ledger", one.id),
    ] {
        let ledger = table(&take(path).await);
        assert_eq!(ledger.len(), 3, "a grant, a hold and a capture");
        assert!(ledger.iter().all(|row| row["accountId"] == one.id));
    }
    for path in [
        "/admin/v1/exports/usage?accountId=nobody",
        "/admin/v1/accounts/nobody/exports/jobs",
    ] {
        take(path.to_owned()).await.assert_refused(404, "not_found");
    }
    let daily = take("/admin/v1/exports".to_owned()).await;
    assert_eq!(daily.json["total"], 0, "none is made unless it is set");
}
