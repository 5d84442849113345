//! Statements from outside: a month that is over is made once, and is the same bytes ever after, in every language and for whoever may
//! read it; and the archive of an account has everything.

use std::collections::BTreeMap;
use std::io::{Cursor, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use atelier_contract::hex;
use atelier_contract::month::Month;
use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;

use crate::backends::finished;
use crate::clocks::shifted_clock;
use crate::gateway::{Account, Answer, Gateway, Options, send};

needs!(
    sqlite:
    a_month_is_made_once_and_stays_as_it_is,
);

const DAY_MS: i64 = 24 * 3_600_000;

#[expect(
    clippy::disallowed_methods,
    reason = "the service goes by the machine's clock"
)]
pub(crate) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.expect("after 1970").as_millis() as i64
}

/// Something that costs 1 and ends well.
async fn picture(gateway: &Gateway, key: &str, prompt: &str) {
    let body = json!({ "prompt": prompt, "model": "image-1", "quality": "low" });
    let request = gateway.request(Method::POST, "/v1/images/generations");
    let answer = send(request.header("SVC-API-KEY", key).json(&body)).await;
    assert_eq!(answer.status, 200, "{}", answer.json);
}

async fn statement(gateway: &Gateway, account: &Account, rest: &str) -> Answer {
    gateway
        .get(&account.key, &format!("/account/v1/statements/{rest}"))
        .await
}

fn text(answer: &Answer) -> String {
    assert_eq!(answer.status, 200, "{}", answer.json);
    String::from_utf8(answer.bytes.clone()).expect("text")
}

/// A service with its clock in the month before this one, so that what it does is of a month that is over.
fn long_ago(library: &Path, logo: &Path) -> Options {
    let then_ms = Month::at(now_ms()).previous().from_ms() + 9 * DAY_MS;
    let shift = (then_ms - now_ms()) / 1_000;
    issuer(logo, "Northlight Media GmbH")
        .set("TEST_CLOCK_SHIFT", &shift.to_string())
        .preload(library)
}

fn issuer(logo: &Path, name: &str) -> Options {
    Options::default()
        .set("STATEMENTS_NAME", name)
        .set("STATEMENTS_ADDRESS", "Hafenstraße 7,20457 Hamburg")
        .set("STATEMENTS_TAX_LINE", "USt-IdNr. DE000000000")
        .set("STATEMENTS_LOGO", &logo.display().to_string())
}

fn logo(folder: &Path) -> PathBuf {
    let file = folder.join("logo.svg");
    let picture = r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 10"><rect width="40" height="10" fill="#224"/></svg>"##;
    std::fs::write(&file, picture).expect("written");
    file
}

/// An account with a month behind it in which it got 100, lost 7 and spent 3 by two keys; and a service whose month after it has begun.
async fn month_behind(folder: &Path) -> (Gateway, Account) {
    let (library, logo) = (shifted_clock(folder), logo(folder));
    let gateway = long_ago(&library, &logo).spawn().await;
    let owner = gateway.account(100).await;
    let wish = json!({ "name": "<b>shop</b>" });
    let issued = gateway.post(&owner.key, "/account/v1/keys", wish).await;
    let shop = issued.json["data"]["api_key"].as_str().expect("a key");
    picture(&gateway, &owner.key, "one").await;
    picture(&gateway, shop, "two").await;
    picture(&gateway, shop, "three").await;
    let correction = json!({ "amount": -7, "reason": "=a correction" });
    let path = format!("/admin/v1/accounts/{}/credit", owner.id);
    let corrected = gateway.operate(Method::POST, &path, Some(correction)).await;
    assert_eq!(corrected.status, 200, "{}", corrected.json);
    let early = statement(&gateway, &owner, &last_month().to_string()).await;
    early.assert_refused(409, "conflict");
    let none = gateway.get(&owner.key, "/account/v1/statements").await;
    assert_eq!(
        none.json["total"], 0,
        "no month of it is over: {}",
        none.json
    );
    let gateway = gateway.restart(issuer(&logo, "Northlight Media GmbH"));
    picture(&gateway, &owner.key, "four, which is of the month after").await;
    (gateway, owner)
}

fn last_month() -> Month {
    Month::at(now_ms()).previous()
}

async fn listed(gateway: &Gateway, account: &Account) -> Value {
    let listed = gateway.get(&account.key, "/account/v1/statements").await;
    let row = listed.json["data"][0].clone();
    assert_eq!(row["month"], last_month().to_string(), "{row}");
    row
}

async fn a_month_is_made_once_and_stays_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let (gateway, owner) = month_behind(folder.path()).await;
    let month = last_month();
    assert_eq!(listed(&gateway, &owner).await["closed"], false);
    let first = statement(&gateway, &owner, &month.to_string()).await;
    let csv = text(&first);
    let hash = hex(&Sha256::digest(csv.as_bytes()));
    assert_eq!(first.header("etag"), format!("\"{hash}\""));
    assert_eq!(first.header("content-type"), "text/csv; charset=utf-8");
    check_table(&csv);
    check_pages(&gateway, &owner, &hash).await;
    for (rest, status, code) in [
        (month.next().to_string(), 409, "conflict"),
        (month.previous().to_string(), 404, "not_found"),
        ("2026-13".to_owned(), 404, "not_found"),
        ("soon".to_owned(), 404, "not_found"),
        (format!("{month}?format=pdf"), 400, "invalid_parameter"),
        (
            format!("{month}?format=html&language=tlh"),
            400,
            "invalid_parameter",
        ),
    ] {
        statement(&gateway, &owner, &rest)
            .await
            .assert_refused(status, code);
    }

    // Another name of the operator changes nothing that was said.
    let gateway = gateway.restart(issuer(Path::new(""), "Somebody else"));
    assert_eq!(
        text(&statement(&gateway, &owner, &month.to_string()).await),
        csv
    );
    let path = format!("/admin/v1/accounts/{}/statements/{month}", owner.id);
    assert_eq!(text(&gateway.operate(Method::GET, &path, None).await), csv);
    close(&gateway, month).await;
    let path = format!("/admin/v1/statements/{month}?state=closed");
    let closed = gateway.operate(Method::GET, &path, None).await;
    assert!(closed.json.to_string().contains(&hash), "{}", closed.json);
    let row = listed(&gateway, &owner).await;
    assert_eq!(
        (&row["closed"], &row["closing"], &row["charged"]),
        (&json!(true), &json!(90), &json!(3))
    );

    // What has a statement may go into files, and is in the statement still.
    if Month::at(now_ms()).from_ms() + 3 * DAY_MS < now_ms() {
        let moved = gateway.command(&["archive", "--before", &format!("{}-01", month.next())]);
        assert!(moved.starts_with("3 jobs"), "{moved}");
    }
    assert_eq!(
        text(&statement(&gateway, &owner, &month.to_string()).await),
        csv
    );
    gateway.command(&["audit", "--live"]);
}

/// The amounts of a table add up, and no cell is a formula.
fn check_table(csv: &str) {
    let lines: Vec<Vec<&str>> = csv
        .split("\r\n")
        .map(|line| line.split(',').collect())
        .collect();
    let sum = |kind: &str| -> i64 {
        let of_kind = lines.iter().filter(|line| line[0] == kind);
        let amounts = of_kind.map(|line| line[11].parse::<f64>().expect("a number"));
        (amounts.sum::<f64>() * 1_000.0).round() as i64
    };
    let parts = ["opening", "credit", "adjustment", "charge", "closing"].map(sum);
    assert_eq!(parts, [0, 100_000, -7_000, -3_000, 90_000], "{csv}");
    assert!(csv.contains("'=a correction"), "{csv}");
    let charges = lines.iter().filter(|line| line[0] == "charge");
    assert_eq!(charges.count(), 2, "one line for each key: {csv}");
}

async fn check_pages(gateway: &Gateway, owner: &Account, hash: &str) {
    for (language, word) in [("en", "Statement"), ("de", "Kontoauszug"), ("zh", "对账单")] {
        let rest = format!("{}?format=html&language={language}", last_month());
        let page = statement(gateway, owner, &rest).await;
        let html = text(&page);
        assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
        let policy = page.header("content-security-policy");
        assert!(policy.contains("default-src 'none'"), "{policy}");
        for said in [
            word,
            "Northlight Media GmbH",
            "Hafenstraße 7",
            "USt-IdNr. DE000000000",
            &hash[..16],
        ] {
            assert!(html.contains(said), "{language}, {said}: {html}");
        }
        assert!(
            html.contains("&lt;b&gt;shop") && !html.contains("<b>shop"),
            "names are no markup"
        );
        assert!(
            html.contains("data:image/svg+xml;base64,"),
            "the logo is in it"
        );
        let etag = format!("\"{}\"", hex(&Sha256::digest(html.as_bytes())));
        assert_eq!(page.header("etag"), etag);
        let again = statement(gateway, owner, &rest).await;
        assert_eq!(again.bytes, page.bytes, "the same ever after");
    }
}

/// Has a month be closed, and waits until every account was looked at.
async fn close(gateway: &Gateway, month: Month) {
    let wish = json!({ "month": month });
    let begun = gateway
        .operate(Method::POST, "/admin/v1/statements", Some(wish))
        .await;
    assert_eq!(begun.status, 200, "{}", begun.json);
    let deadline = Instant::now() + Duration::from_mins(1);
    loop {
        let months = gateway
            .operate(Method::GET, "/admin/v1/statements", None)
            .await
            .json;
        let rows = months["data"].as_array().expect("months").clone();
        let row = rows
            .into_iter()
            .find(|row| row["month"] == month.to_string())
            .expect("the month");
        if row["finished_at"].is_string() {
            assert_eq!(
                (&row["closed"], &row["refused"]),
                (&row["accounts"], &json!(0)),
                "{row}"
            );
            return;
        }
        assert!(Instant::now() < deadline, "{row}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// The promise: a month that is not over is closed by nobody.
#[tokio::test]
async fn no_month_is_closed_before_its_end() {
    let gateway = Gateway::spawn().await;
    for (month, code, status) in [
        (Month::at(now_ms()).to_string(), "conflict", 409),
        ("2999-01".to_owned(), "conflict", 409),
        ("2026-00".to_owned(), "invalid_parameter", 400),
    ] {
        let wish = json!({ "month": month });
        let refused = gateway
            .operate(Method::POST, "/admin/v1/statements", Some(wish))
            .await;
        refused.assert_refused(status, code);
        assert_eq!(refused.json["param"], "month");
    }
}

fn unpacked(answer: &Answer) -> BTreeMap<String, Vec<u8>> {
    assert_eq!(answer.status, 200, "{}", answer.json);
    let mut zip = zip::ZipArchive::new(Cursor::new(&answer.bytes)).expect("a ZIP file");
    let mut files = BTreeMap::new();
    for place in 0..zip.len() {
        let mut file = zip.by_index(place).expect("a file");
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).expect("whole");
        files.insert(file.name().to_owned(), bytes);
    }
    files
}

/// The promise: whoever owns an account takes everything of it with one call, and nothing of anybody else.
#[tokio::test]
async fn the_archive_of_an_account_has_everything_of_it() {
    let gateway = Gateway::spawn().await;
    let (owner, other) = (gateway.account(100).await, gateway.account(100).await);
    picture(&gateway, &owner.key, "a fox for me").await;
    picture(&gateway, &other.key, "a fox for somebody else").await;
    let job = gateway.imagine(&owner.key, "a boat").await;
    let job = finished(&gateway, &owner.key, &job).await;
    let issued = gateway
        .post(&owner.key, "/account/v1/keys", json!({ "name": "shop" }))
        .await;
    let shop = issued.json["data"]["api_key"]
        .as_str()
        .expect("a key")
        .to_owned();
    let answer = gateway.get(&owner.key, "/account/v1/archive").await;
    assert_eq!(answer.header("content-type"), "application/zip");
    assert!(answer.header("content-disposition").contains("account-20"));
    let files = unpacked(&answer);
    for name in [
        "README.txt",
        "account.json",
        "plan.json",
        "credits.json",
        "keys.json",
        "jobs.jsonl",
        "ledger.csv",
        "usage.csv",
        "statements.json",
        "callbacks.jsonl",
        "payments.jsonl",
        "receipts.jsonl",
        "acts.jsonl",
        "notices.jsonl",
        "subscriptions.json",
        "hosted_accounts.json",
        "uploads.jsonl",
    ] {
        assert!(files.contains_key(name), "{name}: {:?}", files.keys());
    }
    let text = |name: &str| String::from_utf8(files[name].clone()).expect("text");
    let account: Value = serde_json::from_str(&text("account.json")).expect("JSON");
    assert_eq!(account["id"], owner.id);
    let jobs = text("jobs.jsonl");
    assert_eq!(jobs.lines().count(), 2);
    assert!(jobs.contains("a fox for me") && jobs.contains("a boat"));
    assert_eq!(
        text("ledger.csv").lines().count(),
        6,
        "names, a grant, two holds and two captures"
    );
    // The very bytes of the result that is handed out.
    let id = job["jobId"].as_str().expect("an id");
    let pictures: Vec<_> = files
        .iter()
        .filter(|(name, _)| name.starts_with(&format!("files/{id}/")))
        .collect();
    assert!(!pictures.is_empty(), "{:?}", files.keys());
    let whole = files
        .values()
        .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        .collect::<String>();
    assert!(!whole.contains("somebody else") && !whole.contains(&other.id));
    for secret in [&owner.key, &shop] {
        assert!(!whole.contains(secret.as_str()), "no secret of a key");
    }
    let path = format!("/admin/v1/accounts/{}/archive", owner.id);
    let of_operator = unpacked(&gateway.operate(Method::GET, &path, None).await);
    assert_eq!(of_operator["jobs.jsonl"], files["jobs.jsonl"]);
    // What another key made has no right to all of it.
    gateway
        .get(&shop, "/account/v1/archive")
        .await
        .assert_refused(403, "forbidden");
}
