//! Agents: the Model Context Protocol over HTTP, and over standard input and output.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::gateway::{Gateway, Options, client};

/// An agent with a session.
struct Agent<'a> {
    gateway: &'a Gateway,
    key: String,
    session: String,
}

impl<'a> Agent<'a> {
    async fn new(gateway: &'a Gateway, key: &str) -> Self {
        let mut agent = Self {
            gateway,
            key: key.to_owned(),
            session: String::new(),
        };
        let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        let (session, answers) = agent
            .say(json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }))
            .await;
        assert_eq!(answers[0]["result"]["protocolVersion"], "2025-06-18");
        agent.session = session;
        assert!(!agent.session.is_empty());
        agent
    }

    /// Sends a message; the session that is named and every message that comes back.
    async fn say(&self, message: Value) -> (String, Vec<Value>) {
        let request = client()
            .post(format!("{}/mcp", self.gateway.base_url))
            .bearer_auth(&self.key)
            .header("mcp-session-id", &self.session)
            .json(&message);
        let answer = request.send().await.expect("an answer");
        assert!(answer.status().is_success(), "{}", answer.status());
        let session = answer
            .headers()
            .get("mcp-session-id")
            .and_then(|value| value.to_str().ok());
        let session = session.unwrap_or_default().to_owned();
        let text = answer.text().await.expect("a body");
        let lines = text
            .lines()
            .map(|line| line.strip_prefix("data: ").unwrap_or(line));
        (
            session,
            lines
                .filter_map(|line| serde_json::from_str(line).ok())
                .collect(),
        )
    }

    async fn ask(&self, id: u32, method: &str, params: Value) -> Value {
        let (_, answers) = self
            .say(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .await;
        answers.last().cloned().unwrap_or_default()
    }
}

#[tokio::test]
async fn an_agent_makes_a_picture_sees_it_and_reads_it_whole() {
    let gateway = Options::default().spawn().await;
    let account = gateway.account(100).await;
    let agent = Agent::new(&gateway, &account.key).await;
    let tools = agent.ask(1, "tools/list", json!({})).await;
    let tools = tools["result"]["tools"].as_array().expect("tools").len();
    assert!(tools > 30, "{tools}");
    let params = json!({
        "name": "artgen_imagine", "arguments": { "prompt": "a red fox [[delay 300ms]]" }, "_meta": { "progressToken": "p" },
    });
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params });
    let (_, answers) = agent.say(call.clone()).await;
    let heard = |one: &&Value| {
        one["method"] == "notifications/progress" && one["params"]["progressToken"] == "p"
    };
    assert!(answers.iter().any(|one| heard(&one)), "{answers:?}");
    let result = &answers.last().expect("a result")["result"];
    assert_eq!(result["isError"], false, "{result}");
    let content = result["content"].as_array().expect("content");
    let image = content
        .iter()
        .find(|part| part["type"] == "image")
        .expect("a picture");
    let bytes = STANDARD
        .decode(image["data"].as_str().expect("text"))
        .expect("base64");
    let header = atelier_media::header(&bytes).expect("a picture");
    assert!(header.width.max(header.height) <= 2048);
    let link = content
        .iter()
        .find(|part| part["type"] == "resource_link")
        .expect("a link");
    let read = agent
        .ask(3, "resources/read", json!({ "uri": link["uri"] }))
        .await;
    let blob = read["result"]["contents"][0]["blob"]
        .as_str()
        .expect("a blob");
    let whole = STANDARD.decode(blob).expect("base64");
    assert_eq!(
        atelier_media::header(&whole)
            .expect("a picture")
            .format
            .media_type(),
        "image/png"
    );
    let listed = agent.ask(4, "resources/list", json!({})).await;
    assert_eq!(listed["result"]["resources"][0]["uri"], link["uri"]);

    // The same request again is the same job, and quota was taken once.
    agent.say(call).await;
    let quota = agent.ask(5, "tools/call", json!({ "name": "quota" })).await;
    assert_eq!(
        quota["result"]["structuredContent"]["balance"], 96,
        "{quota}"
    );
}

#[tokio::test]
async fn an_agent_is_told_what_is_wrong_and_what_goes_on() {
    let gateway = Options::default().spawn().await;
    let account = gateway.account(100).await;
    let agent = Agent::new(&gateway, &account.key).await;
    let wrong = agent
        .ask(
            1,
            "tools/call",
            json!({ "name": "artgen_imagine", "arguments": { "prompt": "x", "mode": "warp" } }),
        )
        .await;
    assert_eq!(wrong["result"]["isError"], true);
    assert!(
        wrong["result"]["content"][0]["text"]
            .as_str()
            .is_some_and(|text| text.contains("mode")),
        "{wrong}"
    );
    assert_eq!(
        agent.ask(2, "tools/call", json!({ "name": "none" })).await["error"]["code"],
        -32602
    );
    assert_eq!(
        agent.ask(3, "server/discover", json!({})).await["error"]["code"],
        -32601
    );
    let slow = json!({ "name": "artgen_imagine", "arguments": { "prompt": "x [[delay 1s]]", "waitSeconds": 0 } });
    let slow = agent.ask(4, "tools/call", slow).await;
    let id = slow["result"]["structuredContent"]["jobId"]
        .as_str()
        .expect("a job");
    let over = agent
        .ask(
            5,
            "tools/call",
            json!({ "name": "wait_for_job", "arguments": { "jobId": id } }),
        )
        .await;
    assert_eq!(
        over["result"]["structuredContent"]["status"], "SUCCESS",
        "{over}"
    );
    let stranger = gateway.account(1).await;
    let stranger = Agent::new(&gateway, &stranger.key).await;
    let uri = format!("atelier://jobs/{id}/files/0");
    assert!(
        stranger
            .ask(1, "resources/read", json!({ "uri": uri }))
            .await["error"]
            .is_object()
    );
}

#[tokio::test]
async fn a_call_that_is_no_longer_wanted_ends_its_job() {
    let gateway = Options::default().spawn().await;
    let account = gateway.account(100).await;
    let agent = Agent::new(&gateway, &account.key).await;
    let params = json!({ "name": "artgen_imagine", "arguments": { "prompt": "x [[delay 60s]]" } });
    let waiting = agent.ask(7, "tools/call", params);
    let cancelling = async {
        while gateway.balance(&account.key).await.1 == 0.0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
        let params = json!({ "requestId": 7, "reason": "changed my mind" });
        agent
            .say(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }))
            .await
    };
    let both = async { tokio::join!(waiting, cancelling) };
    let (ended, _) = tokio::time::timeout(Duration::from_secs(30), both)
        .await
        .expect("it ends");
    assert_eq!(ended["result"]["isError"], true, "{ended}");
    assert_eq!(gateway.balance(&account.key).await, (100.0, 0.0));
}

#[tokio::test]
async fn a_call_is_ended_by_a_process_that_never_saw_it_and_a_wait_ends_no_job() {
    let gateway = Options::default().spawn().await;
    let account = gateway.account(100).await;
    let agent = Agent::new(&gateway, &account.key).await;
    let arguments = json!({ "prompt": "x [[delay 60s]]", "waitSeconds": 0 });
    let params = json!({ "name": "artgen_imagine", "arguments": arguments });
    let begun = agent.ask(7, "tools/call", params).await;
    let id = begun["result"]["structuredContent"]["jobId"].clone();
    let (key, session) = (agent.key.clone(), agent.session.clone());
    let gateway = gateway.restart(Options::default());
    let agent = Agent {
        gateway: &gateway,
        key,
        session,
    };
    let cancel = async |id: u32| {
        let params = json!({ "requestId": id });
        let note =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        agent.say(note).await;
    };
    let arguments = json!({ "jobId": id, "waitSeconds": 1 });
    let params = json!({ "name": "wait_for_job", "arguments": arguments });
    let giving_up = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        cancel(8).await;
    };
    tokio::join!(agent.ask(8, "tools/call", params), giving_up);
    assert_eq!(gateway.balance(&account.key).await, (96.0, 4.0));
    cancel(7).await;
    assert_eq!(gateway.balance(&account.key).await, (100.0, 0.0));
}

/// A request of the revision in which every one says of which it is.
fn told(version: &str, mut params: Value) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": {},
    });
    params["_meta"] = meta;
    params
}

#[tokio::test]
async fn the_revision_without_a_handshake_needs_no_session_and_ends_what_is_hung_up_on() {
    let gateway = Options::default().spawn().await;
    let account = gateway.account(100).await;
    let newest = "2026-07-28";
    let agent = Agent {
        gateway: &gateway,
        key: account.key.clone(),
        session: String::new(),
    };
    let found = agent
        .ask(1, "server/discover", told(newest, json!({})))
        .await;
    assert_eq!(found["result"]["supportedVersions"], json!([newest]));
    assert_eq!(found["result"]["resultType"], "complete");
    let quota = told(newest, json!({ "name": "quota" }));
    let quota = agent.ask(2, "tools/call", quota).await;
    assert_eq!(quota["result"]["structuredContent"]["balance"], 100);
    assert_eq!(quota["result"]["resultType"], "complete");

    let send = |message: Value| {
        let post = client().post(format!("{}/mcp", gateway.base_url));
        post.bearer_auth(&account.key).json(&message).send()
    };
    let later = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/list", "params": told("2099-01-01", json!({})) });
    let refused = send(later).await.expect("an answer");
    assert_eq!(refused.status(), 400);
    let refused: Value = refused.json().await.expect("JSON");
    assert_eq!(refused["error"]["data"]["supported"], json!([newest]));

    let long = json!({ "name": "artgen_imagine", "arguments": { "prompt": "x [[delay 60s]]" } });
    let call =
        json!({ "jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": told(newest, long) });
    let answer = send(call).await.expect("an answer");
    assert_eq!(gateway.balance(&account.key).await, (96.0, 4.0));
    drop(answer);
    let ended = async {
        while gateway.balance(&account.key).await != (100.0, 0.0) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let ended = tokio::time::timeout(Duration::from_secs(30), ended).await;
    ended.expect("the job of a call that was hung up on ends");
}

#[tokio::test]
async fn the_same_works_over_standard_input_and_output_with_pictures_of_this_machine() {
    let gateway = Options::default().spawn().await;
    let account = gateway.account(100).await;
    let folder = tempfile::tempdir().expect("a folder");
    let picture = atelier_media::Picture::filled(64, 64, [200, 30, 30, 255]);
    let file = folder.path().join("red.png");
    std::fs::write(
        &file,
        atelier_media::encode(&picture, atelier_media::Encoding::Png, None),
    )
    .expect("written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_atelier"));
    command
        .args(["mcp", "--tools", "imgmodel"])
        .env("ATELIER_CLIENT_CONFIG", folder.path().join("none.toml"))
        .env("ATELIER_CLIENT_URL", &gateway.base_url)
        .env("ATELIER_CLIENT_KEY", &account.key)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let run = move || {
        let mut child = command.spawn().expect("the binary starts");
        let mut input = child.stdin.take().expect("a pipe");
        let arguments = json!({ "model": "image-1", "image": file, "prompt": "a hat" });
        for message in [
            json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": "2025-11-25" } }),
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
            json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "imgmodel_edits", "arguments": arguments } }),
        ] {
            writeln!(input, "{message}").expect("written");
        }
        let mut lines = std::io::BufRead::lines(std::io::BufReader::new(
            child.stdout.take().expect("a pipe"),
        ));
        let mut answers: Vec<Value> = Vec::new();
        while answers.last().is_none_or(|last| last["id"] != 2) {
            let line = lines.next().expect("an answer").expect("text");
            answers.push(serde_json::from_str(&line).expect("one message to a line"));
        }
        drop(input);
        assert!(child.wait().expect("it ends").success());
        answers
    };
    let answers = tokio::task::spawn_blocking(run).await.expect("it ran");
    let result = &answers.last().expect("a result")["result"];
    assert_eq!(result["isError"], false, "{result}");
    let content = result["content"].as_array().expect("content");
    assert!(
        content.iter().any(|part| part["type"] == "image"),
        "{content:?}"
    );
}
