//! The hostile requests of `tests/hostile/*.toml`, sent to the running service: each gets the status and the envelope it
//! must get, in time; none makes a job, holds quota or leaves anything on disk.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::gateway::{Account, Gateway, Options};
use crate::stopwatch::Stopwatch;

/// An answer that takes longer is none.
const IN_TIME: Duration = Duration::from_secs(8);
/// What must never be answered after a head that was refused.
const SMUGGLED: &str =
    "GET /artgen/v1/info HTTP/1.1\r\nHost: smuggled\r\nSVC-API-KEY: $KEY\r\n\r\n";

fn table<T: for<'de> Deserialize<'de>>(name: &str) -> T {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile");
    let text = std::fs::read_to_string(path.join(name)).expect("a data file");
    toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// One request and what must come back.
struct Row {
    send: String,
    status: u16,
    code: String,
    /// Whether the connection may be closed without an answer.
    may_close: bool,
}

/// A request with a key and a body, on a connection of its own.
fn request(method: &str, path: &str, key: &str, body: Option<&str>) -> String {
    let head = format!("{method} {path} HTTP/1.1\r\nHost: x\r\nSVC-API-KEY: {key}\r\n");
    match body {
        None => format!("{head}Connection: close\r\n\r\n"),
        Some(body) => format!(
            "{head}Content-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ),
    }
}

fn framing() -> Vec<Row> {
    #[derive(Deserialize)]
    struct Raw {
        status: u16,
        code: String,
        #[serde(default)]
        may_close: bool,
        send: Vec<String>,
    }
    #[derive(Deserialize)]
    struct File {
        raw: Vec<Raw>,
    }
    let rows = table::<File>("framing.toml").raw.into_iter();
    rows.flat_map(|raw| {
        let row = move |send: String| Row {
            send: send + SMUGGLED,
            status: raw.status,
            code: raw.code.clone(),
            may_close: raw.may_close,
        };
        raw.send.into_iter().map(row)
    })
    .collect()
}

fn routes() -> Vec<Row> {
    #[derive(Deserialize)]
    struct Calls {
        status: u16,
        code: String,
        methods: Vec<String>,
        paths: Vec<String>,
        #[serde(default)]
        keys: Vec<String>,
    }
    #[derive(Deserialize)]
    struct File {
        calls: Vec<Calls>,
    }
    let mut rows = Vec::new();
    for mut calls in table::<File>("routes.toml").calls {
        if calls.keys.is_empty() {
            calls.keys.push("$KEY".to_owned());
        }
        for path in &calls.paths {
            for method in &calls.methods {
                let of = calls.keys.iter().map(|key| Row {
                    send: request(method, path, key, None),
                    status: calls.status,
                    code: calls.code.clone(),
                    may_close: false,
                });
                rows.extend(of);
            }
        }
    }
    rows
}

fn bodies() -> Vec<Row> {
    #[derive(Deserialize)]
    struct Bodies {
        status: u16,
        code: String,
        send: Vec<String>,
    }
    #[derive(Deserialize)]
    struct File {
        paths: Vec<String>,
        bodies: Vec<Bodies>,
    }
    let file: File = table("bodies.toml");
    let mut rows = Vec::new();
    for path in &file.paths {
        for bodies in &file.bodies {
            rows.extend(bodies.send.iter().map(|body| Row {
                send: request("POST", path, "$KEY", Some(body)),
                status: bodies.status,
                code: bodies.code.clone(),
                may_close: false,
            }));
        }
    }
    rows
}

fn fields() -> Vec<Row> {
    #[derive(Deserialize)]
    struct Wrong {
        operation: String,
        field: String,
        values: Vec<String>,
    }
    #[derive(Deserialize)]
    struct File {
        fields: Vec<Wrong>,
    }
    let mut rows = Vec::new();
    for one in table::<File>("fields.toml").fields {
        let (_, submit) = atelier_contract::operation(&one.operation).expect("in the table");
        for value in &one.values {
            let mut body: Value = serde_json::from_str(submit.example).expect("JSON");
            body[&one.field] = "PLACE".into();
            let body = body.to_string().replace("\"PLACE\"", value);
            rows.push(Row {
                send: request("POST", submit.path, "$KEY", Some(&body)),
                status: 400,
                code: String::new(),
                may_close: false,
            });
        }
    }
    rows
}

/// Sends a row and says what is wrong with the answer.
async fn fault(gateway: &Gateway, account: &Account, row: &Row) -> Option<String> {
    let mut stream = TcpStream::connect(&gateway.addresses[0])
        .await
        .expect("a connection");
    let bytes = row.send.replace("$KEY", &account.key);
    let _ = stream.write_all(bytes.as_bytes()).await;
    let mut text = Vec::new();
    let begin = Stopwatch::start();
    let ended = timeout(IN_TIME * 8, stream.read_to_end(&mut text)).await;
    if ended.is_err() || begin.elapsed() > IN_TIME {
        return Some(format!("no end after {:?}", begin.elapsed()));
    }
    let text = String::from_utf8_lossy(&text);
    if row.may_close && text.is_empty() {
        return None;
    }
    if text.matches("x-request-id: ").count() != 1 {
        return Some(format!("not one answer: {text}"));
    }
    let status = text
        .get(9..12)
        .and_then(|digits| digits.parse::<u16>().ok());
    if status != Some(row.status) {
        return Some(format!("status {status:?}: {text}"));
    }
    let body = text
        .split_once("\r\n\r\n")
        .map(|(_, body)| body)
        .unwrap_or_default();
    let Ok(envelope) = serde_json::from_str::<Value>(body) else {
        return Some(format!("no envelope: {text}"));
    };
    let told = envelope["message"]
        .as_str()
        .is_some_and(|message| !message.is_empty());
    let shaped = envelope["status"] == "FAILED" && told && envelope.get("data").is_some();
    if !shaped || !(row.code.is_empty() || envelope["code"] == row.code.as_str()) {
        return Some(format!("envelope: {envelope}"));
    }
    None
}

/// What the service writes for itself: the database, and the mark that says whose files these are.
const OWN: [&str; 2] = ["atelier.db", "/installs/"];

/// Every file below a folder that is not the service's own.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if !OWN.iter().any(|own| path.to_string_lossy().contains(own)) {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[tokio::test]
async fn every_hostile_request_is_refused_and_leaves_nothing() {
    let gateway = Options::default()
        .set("LIMITS_WRONG_KEYS_PER_MINUTE", "0")
        .spawn()
        .await;
    let account = gateway.account(1_000).await;
    let mut before = files(gateway.folder.path());
    // The service's own mark may still be on its way.
    before.retain(|path| !path.to_string_lossy().contains("/.unfinished/"));
    let memory = gateway.peak_memory_kib();
    let (mut count, mut faults) = (0, Vec::new());
    for (file, rows) in [
        ("framing", framing()),
        ("routes", routes()),
        ("bodies", bodies()),
        ("fields", fields()),
    ] {
        for row in rows {
            count += 1;
            if let Some(fault) = fault(&gateway, &account, &row).await {
                faults.push(format!("{file}: {:?}\n    {fault}", row.send));
            }
        }
    }
    let grown = (gateway.peak_memory_kib() - memory) / 1024;
    eprintln!("{count} hostile requests, {grown} MiB");
    assert!(
        faults.is_empty(),
        "{} of {count}:\n{}",
        faults.len(),
        faults.join("\n")
    );
    assert!(count >= 300, "only {count}");
    assert!(grown < 50, "{grown} MiB");
    let jobs = gateway.get(&account.key, "/jobs/v1").await;
    assert_eq!(jobs.json["total"], 0, "no job was made");
    assert_eq!(
        gateway.balance(&account.key).await,
        (1_000.0, 0.0),
        "nothing is held"
    );
    assert_eq!(files(gateway.folder.path()), before, "nothing is on disk");
}
