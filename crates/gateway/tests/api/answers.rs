//! The ways in which a synchronous operation is answered: later, as a stream, with signs of life, in a batch, by a callback; and
//! that one key finds one job whichever way is asked.

mod callbacks;
mod kept_alive;
mod later;
mod streams;

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::gateway::{Answer, Gateway, send};

const GENERATIONS: &str = "/v1/images/generations";
const EDITS: &str = "/v1/images/edits";
const DESIGN: &str = "/design/images/generations";

/// A small picture by address.
fn small(prompt: &str) -> Value {
    json!({ "model": "art-2", "prompt": prompt, "size": "256x256" })
}

/// A picture of the model whose answers carry bytes and can be streamed.
fn streamable(prompt: &str) -> Value {
    json!({ "model": "image-1", "prompt": prompt, "quality": "low", "output_format": "webp" })
}

/// A body with another field.
fn with(mut body: Value, field: &str, value: impl Into<Value>) -> Value {
    body[field] = value.into();
    body
}

/// A call with a name of its own.
async fn call(gateway: &Gateway, key: &str, path: &str, name: &str, body: &Value) -> Answer {
    let request = gateway.request(Method::POST, path);
    let request = request.header("SVC-API-KEY", key).json(body);
    send(request.header("Idempotency-Key", name)).await
}

/// The answer at a path once it is there.
async fn answered(gateway: &Gateway, key: &str, path: &str) -> Answer {
    let deadline = Instant::now() + Duration::from_mins(1);
    loop {
        let answer = gateway.get(key, path).await;
        if answer.status != 202 {
            return answer;
        }
        assert!(
            ["queued", "in_progress"].contains(&answer.json["status"].as_str().expect("a word"))
        );
        assert!(Instant::now() < deadline, "{}", answer.json);
        sleep(Duration::from_millis(50)).await;
    }
}

fn path_of(id: &str) -> String {
    format!("/jobs/v1/{id}/answer")
}

/// How many jobs an account has, and the latest of them.
async fn jobs(gateway: &Gateway, key: &str) -> (i64, String) {
    let list = gateway.get(key, "/jobs/v1?limit=1").await;
    let id = list.json["data"][0]["jobId"].as_str();
    let count = list.json["total"].as_i64().expect("a number");
    (count, id.unwrap_or_default().to_owned())
}
