//! The descriptions in `config/vendors`, which operators copy: each is taken as it stands, says where it is from, and makes what
//! it serves at a server that gives the recorded answers.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use atelier_backends::{StartOutcome, WorkOutput};
use serde_json::{Value, json};

use crate::local::{film, picture, request};
use crate::stand::{RecordedRequest, Reply, Stand, bytes, polled, status, worker};
use crate::studio::Studio;

/// What every file says of itself.
const HEADINGS: &[&str] = &["# Source: ", "# Verified: ", "# Not verified: "];

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../config/vendors");
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    files
}

/// The back end of a file.
fn backend(file: &Path) -> Value {
    let text = std::fs::read_to_string(file).expect("a file");
    let read: Value = toml::from_str(&text).unwrap_or_else(|wrong| panic!("{file:?}: {wrong}"));
    read["backends"][0].clone()
}

/// The description of a vendor, and its address.
pub(crate) fn copied(name: &str) -> Value {
    let file = files()
        .into_iter()
        .find(|file| file.ends_with(format!("{name}.toml")));
    backend(&file.unwrap_or_else(|| panic!("{name} is not described")))
}

/// The path of the address.
pub(crate) fn path(backend: &Value) -> String {
    let address = backend["base_url"].as_str().expect("an address");
    let rest = address.split("://").nth(1).unwrap_or_default();
    rest.split_once('/')
        .map_or(String::new(), |(_, path)| format!("/{path}"))
}

/// A recorded answer to a step of a call, with the files on the server that was asked.
fn recorded(settings: &Value, call: &str, to: &str, number: usize) -> Option<Value> {
    let all = settings["recorded"].as_array().expect("answers");
    let good = all.iter().filter(|one| {
        let means = &one["means"];
        one["to"] == to && (call.is_empty() || one["call"] == call) && means.get("class").is_none()
    });
    good.cloned().nth(number)
}

fn given(answer: &Value, seen: &RecordedRequest) -> Reply {
    if answer["body"].is_string() {
        // Where a file stands for one that is no text.
        return bytes("image/png", picture());
    }
    let mut text = answer["body"].to_string();
    while let Some(at) = text.find("https://") {
        let end = text[at..]
            .find(['"', '\\'])
            .map_or(text.len(), |end| at + end);
        let film = text[at..end].ends_with(".mp4");
        let here = seen.here(if film { "/made.mp4" } else { "/made.png" });
        text.replace_range(at..end, &here);
    }
    let body = serde_json::from_str(&text).expect("JSON");
    status(answer["status"].as_u64().unwrap_or(200) as u16, &body)
}

/// A server that gives the recorded answers of a call in their order.
fn server(settings: &Value, call: &str) -> Stand {
    let (settings, call, asked) = (settings.clone(), call.to_owned(), AtomicUsize::new(0));
    let upload = settings["upload"]["request"]["path"].as_str().map(|path| {
        let path = path.rsplit("//").next().unwrap_or_default();
        path.rsplit_once('/')
            .map_or(path, |(_, end)| end)
            .to_owned()
    });
    Stand::new(move |seen| match &*seen.line {
        "GET /made.png" => bytes("image/png", picture()),
        "GET /made.mp4" => bytes("video/mp4", film()),
        line if upload.as_ref().is_some_and(|end| line.ends_with(&**end)) => given(
            &recorded(&settings, "", "upload", 0).expect("an upload"),
            seen,
        ),
        _ => {
            let number = asked.fetch_add(1, Ordering::SeqCst);
            let answer = match number {
                0 => recorded(&settings, &call, "submit", 0),
                number => recorded(&settings, &call, "poll", number - 1),
            };
            answer.map_or(Reply::Cut, |answer| given(&answer, seen))
        }
    })
}

/// A request for an operation, with the pictures that a variant is for.
fn wish(key: &str, picture: &str) -> (String, Value) {
    let (operation, variant) = key.split_once('/').unwrap_or((key, ""));
    let mut body = request(operation, picture);
    let field = match operation {
        "motion.generations" => "imageUrl",
        "clipgen.generations" => "refer_images",
        _ => "referImages",
    };
    if !variant.is_empty() {
        let one = json!(picture);
        body[field] = if field == "imageUrl" {
            one
        } else {
            json!([picture])
        };
    }
    if variant == "end" {
        body["imageEndUrl"] = json!(picture);
        body["modelName"] = json!("motion-v1");
    }
    (operation.to_owned(), body)
}

/// Every field that was sent is one of the example.
fn assert_known(sent: &Value, example: &Value, place: &str) {
    let (Value::Object(sent), Value::Object(example)) = (sent, example) else {
        return;
    };
    for (name, value) in sent {
        let known = example.get(name);
        let known =
            known.unwrap_or_else(|| panic!("{place}.{name} is not in the recorded request"));
        assert_known(value, known, &format!("{place}.{name}"));
    }
}

async fn made(stand: &Stand, backend: &Value, key: &str) -> WorkOutput {
    let here = stand.url("");
    // What has a host of its own is on this server as well.
    let mut text = backend["settings"].to_string();
    for host in ["https://kieai.redpandaai.co", "https://huggingface.co"] {
        text = text.replace(host, &here);
    }
    let settings: Value = serde_json::from_str(&text).expect("JSON");
    let worker = worker("http", &stand.url(&path(backend)), settings);
    let worker = worker.unwrap_or_else(|wrong| panic!("{key}: {wrong}"));
    let studio = Studio::new();
    let hosted = studio.host("a.png", &atelier_media::Picture::filled(720, 1280, [9; 4]));
    let (operation, body) = wish(key, &hosted);
    let (work, _) = studio.work(&operation, &body, None);
    let started = worker.start(work.clone()).await;
    let output = match started.unwrap_or_else(|fault| panic!("{key}: {fault:?}")) {
        StartOutcome::Done(output) => Ok(output),
        StartOutcome::Ticket(ticket) => polled(&worker, &work, &ticket).await,
    };
    output.unwrap_or_else(|fault| panic!("{key}: {fault:?}"))
}

#[test]
fn every_description_says_where_it_is_from_and_is_taken_as_it_stands() {
    assert_eq!(files().len(), 9);
    for file in files() {
        let text = std::fs::read_to_string(&file).expect("a file");
        for heading in HEADINGS {
            assert!(text.contains(heading), "{file:?} has no {heading}");
        }
        let backend = backend(&file);
        assert_eq!(backend["vendor"], "http", "{file:?}");
        let address = backend["base_url"].as_str().expect("an address");
        let taken = worker("http", address, backend["settings"].clone());
        assert!(taken.is_ok(), "{file:?}: {:?}", taken.err());
    }
}

#[tokio::test]
async fn every_operation_of_every_description_is_made_from_the_recorded_answers() {
    for file in files() {
        let backend = backend(&file);
        let settings = &backend["settings"];
        for (key, entry) in settings["models"].as_object().expect("a table") {
            let call = entry["call"].as_str().expect("a call");
            let stand = server(settings, call);
            let output = made(&stand, &backend, key).await;
            assert!(!output.files.is_empty(), "{file:?} {key}");
            let order = recorded(settings, call, "submit", 0).expect("an order");
            let example = &order["request"];
            let sent = stand.seen();
            let sent = sent
                .iter()
                .find(|seen| seen.line.starts_with("POST") && !seen.line.contains("upload"));
            let sent = sent.expect("an order");
            if !key.contains('/') {
                let line = format!("POST {}", example["path"].as_str().expect("a path"));
                assert_eq!(sent.line, line, "{file:?} {key}");
                assert_known(&sent.json(), &example["json"], &format!("{file:?} {key}"));
            }
            assert!(!String::from_utf8_lossy(&sent.body).contains("very-secret"));
        }
    }
}
