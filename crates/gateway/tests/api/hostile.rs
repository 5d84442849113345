//! Hostile addresses through the whole service, in every field that takes one: the expected refusal, no job, no quota
//! held, and not one connection on the canaries.

use std::collections::BTreeSet;
use std::time::Duration;

use atelier_contract::FAMILIES;
use atelier_contract::family::SubmitEndpoint;
use futures_util::StreamExt as _;
use reqwest::Method;
use schemars::SchemaGenerator;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::gateway::{Account, Gateway, Options};
use crate::hostile_list::{REDIRECTS, REFUSED, oversized};
use crate::outside::{Outside, answer, read};

/// Canaries wherever this machine can be reached from itself, and one receiver that is allowed on the same port.
struct Ground {
    canaries: Vec<Outside>,
    sink: Outside,
    port: u16,
    gateway: Gateway,
    account: Account,
}

impl Ground {
    async fn new() -> Self {
        let sink = Outside::listen("127.0.0.2", 0, serve_sink).expect("a free port");
        let port = sink.address.port();
        let inside = ["127.0.0.1", "127.0.0.53", "127.255.255.254", "::1"];
        let places = inside
            .into_iter()
            .flat_map(|ip| [port, 80, 443].map(|port| (ip, port)));
        // The usual ports may be taken or forbidden on this machine; the canaries' own port never is.
        let canaries: Vec<_> = places
            .filter_map(|(ip, port)| Outside::listen(ip, port, drop))
            .collect();
        assert!(canaries.len() >= 3, "too few canaries could be set up");
        let gateway = Options::default()
            .set("OUTBOUND_ALLOW", &format!("127.0.0.2/32:{port}"))
            .set("OUTBOUND_PORTS", &format!("80,443,{port}"))
            .spawn()
            .await;
        let account = gateway.account(1_000).await;
        Self {
            canaries,
            sink,
            port,
            gateway,
            account,
        }
    }

    fn assert_untouched(&self) {
        for canary in &self.canaries {
            assert_eq!(canary.connections(), 0, "{} was reached", canary.address);
        }
    }

    async fn jobs(&self) -> Value {
        let list = self.gateway.get(&self.account.key, "/jobs/v1").await;
        list.json["total"].clone()
    }

    /// Submits a job and waits for its end.
    async fn ended(&self, operation: &str, body: Value) -> Value {
        let path = path_of(operation);
        let key = &self.account.key;
        let accepted = self.gateway.post(key, path, body).await;
        let id = accepted.json["data"]["jobId"].as_str();
        let id = id.unwrap_or_else(|| panic!("{}", accepted.json)).to_owned();
        let deadline = Instant::now() + Duration::from_mins(1);
        loop {
            let job = self.gateway.get(key, &format!("/jobs/v1/{id}")).await.json["data"].clone();
            if matches!(job["status"].as_str(), Some("SUCCESS" | "FAILED")) {
                return job;
            }
            assert!(Instant::now() < deadline, "{job}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// The path of an operation.
fn path_of(operation: &str) -> &'static str {
    atelier_contract::operation(operation)
        .expect("in the table")
        .1
        .path
}

/// Redirects to what the query says; a loop, a banner and a plain answer besides.
fn serve_sink(mut stream: std::net::TcpStream) {
    let Some(request) = read(&mut stream) else {
        return;
    };
    match request.path().split_once("?to=") {
        Some((_, target)) => {
            let query = format!("to={target}");
            let to = url::form_urlencoded::parse(query.as_bytes()).next();
            let to = to.map(|(_, to)| to.into_owned()).unwrap_or_default();
            let location = format!("location: {to}\r\n");
            answer(&mut stream, "307 Temporary Redirect", &location, b"");
        }
        None if request.path() == "/loop" => {
            answer(&mut stream, "302 Found", "location: /loop\r\n", b"");
        }
        None => answer(&mut stream, "200 OK", "", b"<html>hunter2</html>"),
    }
}

/// A field that takes an address: the names and lists (`[]`) that lead to it.
type Path = Vec<String>;

/// Every field of an operation whose schema asks for an address or an image.
fn address_fields(submit: &SubmitEndpoint) -> BTreeSet<Path> {
    let mut generator = SchemaGenerator::default();
    let schema = (submit.schema)(&mut generator).to_value();
    let definitions = generator.take_definitions(true);
    let mut found = BTreeSet::new();
    visit(&schema, &definitions, &mut Vec::new(), &mut found);
    found
}

fn visit(
    schema: &Value,
    definitions: &serde_json::Map<String, Value>,
    path: &mut Path,
    found: &mut BTreeSet<Path>,
) {
    if let Some(name) = schema["$ref"]
        .as_str()
        .and_then(|name| name.rsplit('/').next())
    {
        return visit(&definitions[name], definitions, path, found);
    }
    let widget = schema["x-widget"].as_str().unwrap_or_default();
    if matches!(widget, "image" | "video" | "mask" | "address") || schema["format"] == "uri" {
        found.insert(path.clone());
    }
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        path.push(name.clone());
        visit(inner, definitions, path, found);
        path.pop();
    }
    if schema["items"].is_object() {
        path.push("[]".to_owned());
        visit(&schema["items"], definitions, path, found);
        path.pop();
    }
    for kind in ["anyOf", "oneOf", "allOf"] {
        for inner in schema[kind].as_array().into_iter().flatten() {
            visit(inner, definitions, path, found);
        }
    }
}

/// Puts a value where a path leads, making what is missing on the way.
fn put(body: &mut Value, path: &[String], value: &str) {
    match path {
        [] => *body = json!(value),
        [step, rest @ ..] if step == "[]" => {
            // A list that takes two pictures at least gets the same one twice.
            let mut one = body.get_mut(0).map(Value::take).unwrap_or_default();
            put(&mut one, rest, value);
            *body = if body.as_array().is_some_and(|list| list.len() > 1) {
                json!([one, one])
            } else {
                json!([one])
            };
        }
        [step, rest @ ..] => {
            if !body.is_object() {
                *body = json!({});
            }
            put(&mut body[step.as_str()], rest, value);
        }
    }
}

/// The example of an operation, with what would make a field be ignored taken out.
fn example(submit: &SubmitEndpoint, field: &str, parents: &Value) -> Value {
    let mut body: Value = serde_json::from_str(submit.example).expect("JSON");
    if !parents[submit.name].is_null() {
        body["jobId"] = parents[submit.name].clone();
    }
    match (submit.name, field) {
        ("artgen.describe", "url") => drop(body["base64"].take()),
        ("vidgen.no_watermark", _) => {
            body["jobId"].take();
            body["url"] = json!("https://example.com/clip.mp4");
        }
        _ => {}
    }
    body
}

/// Finished jobs for the operations that follow one.
async fn parents(ground: &Ground) -> Value {
    let picture = ground
        .ended(
            "artgen.imagine",
            json!({ "prompt": "a small boat --ar 1:1" }),
        )
        .await;
    let image = picture["files"][0]["url"].clone();
    let body = json!({ "prompt": "waves", "imageUrl": image, "bs": 1 });
    let video = ground.ended("artgen.video.submit", body).await;
    let body = json!({ "userPrompt": "waves" });
    let motion = ground.ended("motion.generations", body).await;
    for job in [&picture, &video, &motion] {
        assert_eq!(job["status"], "SUCCESS", "{job}");
    }
    json!({
        "artgen.action": picture["jobId"],
        "artgen.inpaint": picture["jobId"],
        "artgen.seed": picture["jobId"],
        "artgen.video.extend": video["jobId"],
        "motion.extend": motion["jobId"],
    })
}

#[tokio::test]
async fn every_hostile_address_is_refused_in_every_field_of_every_operation() {
    let ground = Ground::new().await;
    let parents = parents(&ground).await;
    let (jobs, purse) = (
        ground.jobs().await,
        ground.gateway.balance(&ground.account.key).await,
    );
    let port = ground.port.to_string();
    let mut rows: Vec<String> = REFUSED
        .iter()
        .map(|row| row.replace("PORT", &port))
        .collect();
    rows.extend(oversized());
    let begin = Instant::now();
    let (mut fields, mut calls) = (0, 0);
    for submit in FAMILIES.iter().flat_map(|family| family.submits) {
        for path in address_fields(submit) {
            fields += 1;
            let (path, parents, ground) = (&path, &parents, &ground);
            let refused = rows.iter().map(|row| async move {
                let mut body = example(submit, &path[0], parents);
                put(&mut body, path, row);
                let key = &ground.account.key;
                let answer = ground.gateway.post(key, submit.path, body).await;
                let what = format!("{} {path:?} {row:?}: {}", submit.name, answer.json);
                assert_eq!(answer.status, 400, "{what}");
                let param = answer.json["param"].as_str().unwrap_or_default();
                let named = param.split(['[', '.']).next().unwrap_or_default();
                let same = |name: &str| name.replace('_', "").to_lowercase();
                assert_eq!(same(named), same(&path[0]), "{what}");
                let message = answer.json["message"].as_str().unwrap_or_default();
                assert!(message.contains(named), "{what}");
            });
            let refused = futures_util::stream::iter(refused).buffer_unordered(16);
            calls += refused.count().await;
        }
    }
    let (count, took) = (rows.len(), begin.elapsed());
    eprintln!("{count} addresses in {fields} fields: {calls} calls refused in {took:?}");
    assert!(fields >= 45, "only {fields} fields were found");
    assert_eq!(ground.jobs().await, jobs, "no job was made");
    assert_eq!(
        ground.gateway.balance(&ground.account.key).await,
        purse,
        "nothing is held"
    );
    ground.assert_untouched();
    assert_eq!(ground.sink.connections(), 0);
}

#[tokio::test]
async fn addresses_in_a_prompt_and_the_other_spelling_of_the_hook_are_refused_too() {
    let ground = Ground::new().await;
    let port = ground.port.to_string();
    for row in REFUSED
        .iter()
        .filter(|row| row.starts_with("http://127.") && row.is_ascii())
    {
        let row = row.replace("PORT", &port);
        let bodies = [
            json!({ "prompt": "a boat", "hook_url": row }),
            json!({ "prompt": format!("{row}a.png a boat") }),
            json!({ "prompt": format!("a boat --sref {row}a.png") }),
            json!({ "prompt": format!("a boat --cref {row}a.png") }),
        ];
        for body in bodies {
            // In a prompt, what has not the form of an address is words.
            if body["hook_url"].is_null() && row.contains(['@', '%', '\t']) {
                continue;
            }
            let answer = ground
                .gateway
                .post(&ground.account.key, "/artgen/v1/imagine", body)
                .await;
            assert_eq!(answer.status, 400, "{row}: {}", answer.json);
        }
    }
    let own = format!("{}/artgen/v1/info", ground.gateway.base_url);
    let body = json!({ "prompt": "a boat", "hookUrl": own });
    let answer = ground
        .gateway
        .post(&ground.account.key, "/artgen/v1/imagine", body)
        .await;
    answer.assert_refused(400, "address_not_allowed");
    assert_eq!(ground.jobs().await, 0);
    ground.assert_untouched();
}

#[tokio::test]
async fn redirects_and_strange_answers_fail_the_job_with_one_sentence() {
    let ground = Ground::new().await;
    let port = ground.port.to_string();
    let encode = |target: &str| -> String {
        url::form_urlencoded::byte_serialize(target.as_bytes()).collect()
    };
    let mut images: Vec<String> = REDIRECTS
        .iter()
        .map(|target| format!("/?to={}", encode(&target.replace("PORT", &port))))
        .collect();
    images.extend(["/loop".to_owned(), "/banner".to_owned()]);
    let mut messages = BTreeSet::new();
    for path in &images {
        let url = ground.sink.url(path);
        let body = json!({ "targetImage": url, "swapImage": url });
        let job = ground.ended("facegen.swap", body).await;
        assert_eq!(job["status"], "FAILED", "{path}: {job}");
        messages.insert(job["message"].as_str().unwrap_or_default().to_owned());
        let body = json!({ "image": url });
        let answer = ground
            .gateway
            .post(&ground.account.key, path_of("design.vectorize"), body)
            .await;
        assert_eq!(answer.status, 400, "{path}: {}", answer.json);
        assert!(
            !answer.json.to_string().contains("hunter2"),
            "{}",
            answer.json
        );
    }
    let messages: Vec<String> = messages.into_iter().collect();
    assert_eq!(
        messages,
        ["[Invalid link] targetImage: the image could not be read"]
    );
    ground.assert_untouched();
}

#[tokio::test]
async fn a_callback_that_is_redirected_inside_is_a_failed_try() {
    let ground = Ground::new().await;
    let inside = format!("http://127.0.0.1:{}/", ground.port);
    let hook = ground.sink.url(&format!("/?to={inside}"));
    let body = json!({ "prompt": "a boat [[fail: over]]", "hookUrl": hook });
    let job = ground.ended("artgen.imagine", body).await;
    let callback = format!(
        "/account/v1/callbacks/cb_{}",
        job["jobId"].as_str().expect("an id")
    );
    let deadline = Instant::now() + Duration::from_secs(10);
    let shown = loop {
        let request = ground.gateway.request(Method::GET, &callback);
        let shown = crate::gateway::send(request.header("SVC-API-KEY", &ground.account.key)).await;
        if shown.json["data"]["attempts"] == 1 && shown.json["data"]["status"] == "due" {
            break shown.json;
        }
        assert!(Instant::now() < deadline, "{}", shown.json);
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    assert_eq!(shown["data"]["lastStatus"], 307, "{shown}");
    assert_eq!(
        ground.sink.connections(),
        1,
        "the ground itself can be reached"
    );
    ground.assert_untouched();
}
