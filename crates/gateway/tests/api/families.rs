//! Every operation of the table, from its example to its result: jobs with a callback that equals the fetch, calls
//! with their answer. Addresses of the examples are served by a local server, jobs they follow are made first.

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use atelier_contract::FAMILIES;
use atelier_contract::family::{AnswerMode, Family, SubmitEndpoint};
use atelier_media::{Encoding, Limits, Picture, decode, encode};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::gateway::{Account, Gateway};

const PORTRAIT: &[u8] = include_bytes!("../../../media/tests/data/portrait.jpg");
const PATIENCE: Duration = Duration::from_mins(5);

/// A local host of pictures that also takes callbacks.
struct Outside {
    base: String,
    heard: Arc<Mutex<HashMap<String, Value>>>,
}

impl Outside {
    fn start() -> Self {
        let portrait = decode(PORTRAIT, Limits::default())
            .expect("a portrait")
            .resized(512, 512);
        let png = |picture: &Picture| encode(picture, Encoding::Png, None);
        let mut mask = Picture::filled(256, 256, [0, 0, 0, 255]);
        for (x, y) in (64..128).flat_map(|x| (64..128).map(move |y| (x, y))) {
            mask.set(x, y, [255; 4]);
        }
        let files = HashMap::from([
            ("/picture.png", png(&portrait.resized(256, 256))),
            ("/template.png", png(&portrait)),
            ("/face.png", png(&portrait)),
            ("/mask.png", png(&mask)),
        ]);
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let base = format!("http://{}", listener.local_addr().expect("bound"));
        let heard: Arc<Mutex<HashMap<String, Value>>> = Arc::default();
        let (files, log) = (Arc::new(files), heard.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (files, log) = (files.clone(), log.clone());
                std::thread::spawn(move || serve(stream.expect("a connection"), &files, &log));
            }
        });
        Self { base, heard }
    }

    /// The example of an operation with addresses that are served here.
    fn example(&self, submit: &SubmitEndpoint) -> Value {
        let text = submit.example.replace("https://example.com", &self.base);
        let mut body: Value = serde_json::from_str(&text).expect("JSON");
        if submit.name.starts_with("artgen.video.") {
            body["bs"] = json!(1);
        }
        body
    }

    /// The callback of a job, once it has come.
    async fn callback(&self, id: &str) -> Value {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            if let Some(body) = self.heard.lock().expect("no panic under the lock").get(id) {
                return body.clone();
            }
            assert!(Instant::now() < deadline, "no callback for {id}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

fn serve(
    mut stream: TcpStream,
    files: &HashMap<&str, Vec<u8>>,
    log: &Mutex<HashMap<String, Value>>,
) {
    let (mut bytes, mut chunk) = (Vec::new(), [0; 16384]);
    let (head, body) = loop {
        match stream.read(&mut chunk) {
            Ok(0) | Err(_) => return,
            Ok(count) => bytes.extend_from_slice(&chunk[..count]),
        }
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let lower = head.to_ascii_lowercase();
        let length = lower
            .lines()
            .find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
        if body.len() >= length.unwrap_or(0) {
            break (head.to_owned(), body.to_owned());
        }
    };
    if head.starts_with("POST") {
        let body: Value = serde_json::from_str(&body).expect("JSON");
        let id = body["jobId"].as_str().expect("a job id").to_owned();
        log.lock()
            .expect("no panic under the lock")
            .insert(id, body);
    }
    let path = head.split(' ').nth(1).unwrap_or_default();
    let nothing = Vec::new();
    let file = files.get(path).unwrap_or(&nothing);
    let length = file.len();
    let _ = stream.write_all(
        format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n")
            .as_bytes(),
    );
    let _ = stream.write_all(file);
}

/// A caller that works through the table.
pub(crate) struct Walk {
    pub(crate) gateway: Gateway,
    account: Account,
    outside: Outside,
    /// The last finished job of each operation, as fetch shows it.
    finished: HashMap<&'static str, Value>,
}

impl Walk {
    /// Begins at a service, with a square picture that the mask of the inpaint example fits, and that actions and
    /// seed follow.
    pub(crate) async fn begin(gateway: Gateway) -> Self {
        let account = gateway.account(2000).await;
        let mut walk = Self {
            gateway,
            account,
            outside: Outside::start(),
            finished: HashMap::new(),
        };
        let (family, imagine) = atelier_contract::operation("artgen.imagine").expect("known");
        let body = json!({ "prompt": "a small boat --ar 1:1" });
        let square = walk.job(family, imagine, body).await;
        walk.finished.insert("square", square);
        walk
    }

    /// The example with local addresses, and with jobs that exist where it names a parent.
    fn request(&self, submit: &SubmitEndpoint) -> Value {
        let mut body = self.outside.example(submit);
        if let Some(job) = self.finished.get(parent_of(submit.name)) {
            body["jobId"] = job["jobId"].clone();
        }
        if submit.name == "vidgen.characters" {
            body["url"] = self.finished["motion.generations"]["data"]["videoUrl"].clone();
        }
        body
    }

    async fn job(
        &mut self,
        family: &'static Family,
        submit: &'static SubmitEndpoint,
        mut body: Value,
    ) -> Value {
        body["hookUrl"] = json!(format!("{}/hook", self.outside.base));
        let answer = self
            .gateway
            .post(&self.account.key, submit.path, body)
            .await;
        assert_eq!(answer.status, 200, "{}: {}", submit.name, answer.json);
        let id = answer.json["data"]["jobId"]
            .as_str()
            .expect("a job id")
            .to_owned();
        let fetch = family.fetches[0];
        let deadline = Instant::now() + PATIENCE;
        loop {
            let path = format!("{}?{}={id}", fetch.path, fetch.param);
            let job = self.gateway.get(&self.account.key, &path).await.json;
            match job["status"].as_str() {
                Some("SUCCESS") => {
                    let callback = self.outside.callback(&id).await;
                    assert_eq!(
                        callback, job,
                        "{}: the callback equals the fetch",
                        submit.name
                    );
                    return job;
                }
                Some("FAILED") | None => panic!("{}: {job}", submit.name),
                _ => assert!(Instant::now() < deadline, "{}: {job}", submit.name),
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    async fn quote(&self, submit: &SubmitEndpoint, body: &Value) -> f64 {
        let question = json!({ "operation": submit.name, "request": body });
        let answer = self
            .gateway
            .post(&self.account.key, "/account/v1/quote", question)
            .await;
        assert_eq!(answer.status, 200, "{}: {}", submit.name, answer.json);
        answer.json["data"]["quota"].as_f64().expect("a number")
    }

    /// Runs one operation and checks that it cost what the quote said; says how much.
    pub(crate) async fn run(
        &mut self,
        family: &'static Family,
        submit: &'static SubmitEndpoint,
    ) -> f64 {
        let body = self.request(submit);
        let (before, _) = self.gateway.balance(&self.account.key).await;
        let quoted = self.quote(submit, &body).await;
        if matches!(submit.answers_with, AnswerMode::Job) {
            let job = self.job(family, submit, body).await;
            self.finished.insert(submit.name, job);
        } else {
            let answer = self
                .gateway
                .post(&self.account.key, submit.path, body)
                .await;
            assert_eq!(answer.status, 200, "{}: {}", submit.name, answer.json);
            assert!(
                answer.json["data"].is_object() || answer.json["data"].is_array(),
                "{}: {}",
                submit.name,
                answer.json
            );
        }
        let (after, held) = self.gateway.balance(&self.account.key).await;
        assert!(
            (before - after - quoted).abs() < 0.0005,
            "{}: {before} - {after} is not {quoted}",
            submit.name
        );
        assert!(held.abs() < 0.0005, "{}: {held} is still held", submit.name);
        quoted
    }
}

/// The finished job that an example follows; `square` is a square picture that the mask of the inpaint fits.
fn parent_of(operation: &str) -> &'static str {
    match operation {
        "artgen.action" | "artgen.inpaint" | "artgen.seed" => "square",
        "artgen.video.extend" => "artgen.video.submit",
        "motion.extend" => "motion.generations",
        "vidgen.no_watermark" => "vidgen.generations",
        _ => "",
    }
}

/// Every operation of the table, in an order in which each finds the jobs it follows.
pub(crate) fn operations() -> Vec<(&'static Family, &'static SubmitEndpoint)> {
    let mut operations: Vec<_> = FAMILIES
        .iter()
        .flat_map(|family| family.submits.iter().map(move |submit| (family, submit)))
        .collect();
    // A character is taken from a video, so the videos come first.
    operations.sort_by_key(|(_, submit)| {
        (
            submit.name == "vidgen.characters",
            submit.name.contains("extend"),
        )
    });
    operations
}

#[tokio::test]
async fn every_example_finishes_costs_its_quote_and_its_callback_equals_its_fetch() {
    let mut walk = Walk::begin(Gateway::spawn().await).await;
    for (family, submit) in operations() {
        walk.run(family, submit).await;
    }
    let list = walk
        .gateway
        .request(Method::GET, "/jobs/v1?limit=100")
        .header("SVC-API-KEY", &walk.account.key);
    let listed = crate::gateway::send(list).await;
    let count = FAMILIES
        .iter()
        .map(|family| family.submits.len())
        .sum::<usize>()
        + 1;
    assert_eq!(
        listed.json["total"], count,
        "synchronous calls are jobs as well"
    );
}
