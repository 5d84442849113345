//! `atelier mcp`: the Model Context Protocol over standard input and output, passed on to a service. Pictures and clips of
//! this machine that are named by their paths are handed in first.

use std::collections::HashMap;
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use atelier_contract::catalogue::Catalogue;
use clap::Args;
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, LocalSet};

use super::client_options::ClientOptions;
use crate::client::{Client, UploadFile, Uploader, media_file_at};
use crate::command::{ClientCommand, Group, block_on};
use crate::terminal::screen;

/// The header that names a session.
const SESSION: &str = "mcp-session-id";
/// What an agent is told when the service cannot be reached.
const AWAY: i64 = -32000;

/// Connects agents to a service: the Model Context Protocol over standard input and output.
#[derive(Args)]
pub(super) struct Mcp {
    #[command(flatten)]
    client_options: ClientOptions,
    /// Offers only tools whose names start with one of these words, separated by commas.
    #[arg(long, value_name = "NAMES")]
    tools: Option<String>,
}

impl ClientCommand for Mcp {
    const NAME: &str = "mcp";
    const GROUP: Group = Group::Here;
    const EXAMPLES: &str = "\
atelier mcp
atelier mcp --profile work --tools artgen.imagine,design";

    fn run(self, catalogue: &'static Catalogue) -> Result<ExitCode> {
        block_on(self.pass_on(catalogue))
    }
}

/// What every message shares.
struct Bridge {
    client: Client,
    address: String,
    session: Mutex<Option<String>>,
    /// The requests that have no answer yet.
    asked: Mutex<HashMap<String, AbortHandle>>,
}

impl Mcp {
    async fn pass_on(self, catalogue: &'static Catalogue) -> Result<ExitCode> {
        let client = self.client_options.client(catalogue)?;
        let mut address = format!("{}/mcp", client.profile.url);
        if let Some(tools) = &self.tools {
            let tools: String = url::form_urlencoded::byte_serialize(tools.as_bytes()).collect();
            address = format!("{address}?tools={tools}");
        }
        let bridge = Rc::new(Bridge {
            client,
            address,
            session: Mutex::new(None),
            asked: Mutex::default(),
        });
        let mut lines = lines();
        let local = LocalSet::new();
        local
            .run_until(async {
                while let Some(line) = lines.recv().await {
                    let Ok(message) = serde_json::from_str::<Value>(&line) else {
                        continue;
                    };
                    let first = message["method"] == "initialize";
                    let id = message.get("id").map(Value::to_string);
                    let unwanted = message["method"] == "notifications/cancelled";
                    if unwanted && bridge.hang_up(&message["params"]["requestId"]) {
                        continue;
                    }
                    let sent = Rc::clone(&bridge).send(message);
                    if first {
                        // What follows needs the session that this answer names.
                        sent.await;
                    } else {
                        let task = tokio::task::spawn_local(sent);
                        bridge.remember(id, task.abort_handle());
                    }
                }
            })
            .await;
        // Answers that are still awaited have nobody left who asked.
        Ok(ExitCode::SUCCESS)
    }
}

impl Bridge {
    fn remember(&self, id: Option<String>, task: AbortHandle) {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.retain(|_, task| !task.is_finished());
        if let Some(id) = id {
            asked.insert(id, task);
        }
    }

    /// Without a session there is nobody to tell that a request is unwanted: hanging up says it.
    fn hang_up(&self, id: &Value) -> bool {
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let task = asked.remove(&id.to_string());
        match task {
            Some(task) if session.is_none() => {
                task.abort();
                true
            }
            _ => false,
        }
    }

    async fn send(self: Rc<Self>, mut message: Value) {
        let id = message.get("id").cloned();
        if message["method"] == "tools/call" {
            self.upload(&mut message["params"]["arguments"]).await;
        }
        if let Err(why) = self.exchange(&message).await
            && let Some(id) = id
        {
            let error = json!({ "code": AWAY, "message": why });
            screen::say(json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string());
        }
    }

    /// Hands in the files that arguments name, and names their addresses instead.
    async fn upload(&self, arguments: &mut Value) {
        let Ok(uploader) = Uploader::new(&self.client) else {
            return;
        };
        let mut paths = Vec::new();
        find_paths(arguments, &mut paths);
        for (place, file) in paths {
            // What cannot be handed in stays a path, and the service says what is wrong with it.
            if let Ok(address) = uploader.upload(file).await {
                *place = address.into();
            }
        }
    }

    /// Sends a message and writes whatever comes back, a message to a line.
    async fn exchange(&self, message: &Value) -> Result<(), String> {
        let session = self
            .session
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let mut request = self
            .client
            .http
            .post(&self.address)
            .bearer_auth(&self.client.profile.key)
            .header("accept", "application/json, text/event-stream")
            .json(message);
        if let Some(session) = session {
            request = request.header(SESSION, session);
        }
        let answer = request.send().await.map_err(|error| error.to_string())?;
        let header = |name: &str| {
            let value = answer
                .headers()
                .get(name)
                .and_then(|value| value.to_str().ok());
            value.unwrap_or_default().to_owned()
        };
        let (status, kind, named) = (answer.status(), header("content-type"), header(SESSION));
        if !named.is_empty() {
            *self.session.lock().unwrap_or_else(PoisonError::into_inner) = Some(named);
        }
        if status.as_u16() >= 400 {
            let body: Value = answer.json().await.unwrap_or_default();
            if body["jsonrpc"] == "2.0" {
                screen::say(body.to_string());
                return Ok(());
            }
            let why = body["message"].as_str().unwrap_or_default();
            return Err(format!("the service answered {status}: {why}"));
        }
        if kind.starts_with("application/json") {
            let text = answer.text().await.map_err(|error| error.to_string())?;
            if !text.is_empty() {
                screen::say(text);
            }
            return Ok(());
        }
        let mut chunks = answer.bytes_stream();
        let mut buffer = Vec::new();
        while let Some(chunk) = chunks.next().await {
            buffer.extend_from_slice(&chunk.map_err(|error| error.to_string())?);
            while let Some(end) = buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = buffer.drain(..=end).collect();
                if let Some(data) = String::from_utf8_lossy(&line)
                    .trim_end()
                    .strip_prefix("data: ")
                {
                    screen::say(data);
                }
            }
        }
        Ok(())
    }
}

/// The lines of standard input, read beside everything else.
fn lines() -> mpsc::UnboundedReceiver<String> {
    let (sender, receiver) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}

/// The places where pictures or clips of this machine are named by their whole paths, with the files.
fn find_paths<'a>(value: &'a mut Value, found: &mut Vec<(&'a mut Value, UploadFile)>) {
    let named = value.as_str().and_then(|text| {
        let path = text.strip_prefix("file://").unwrap_or(text);
        path.starts_with('/').then(|| media_file_at(path)).flatten()
    });
    if let Some(file) = named {
        found.push((value, file));
        return;
    }
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| find_paths(item, found)),
        Value::Object(fields) => fields.values_mut().for_each(|one| find_paths(one, found)),
        _ => {}
    }
}
