//! Everything that lists models follows them while the service runs: the OpenAPI document, the console's part of it, the tools
//! for agents, and the counters.

use reqwest::Method;
use serde_json::{Value, json};

use super::{change, kling, picture, seedream, sell};
use crate::gateway::{Answer, Gateway, send};

async fn document(gateway: &Gateway, path: &str) -> Answer {
    send(gateway.request(Method::GET, path)).await
}

/// The words that a request's schema has for its model.
fn models_in(document: &Value, path: &str) -> Vec<String> {
    let body = &document["paths"][path]["post"]["requestBody"]["content"];
    let schema = &body["application/json"]["schema"];
    let name = schema["$ref"].as_str().unwrap_or_default();
    let name = name.rsplit('/').next().unwrap_or_default();
    let field = &document["components"]["schemas"][name]["properties"]["model"];
    let words = field["enum"].as_array().into_iter().flatten();
    words.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The promise: the document knows a new model at once and under another mark, and is the first one again when it is gone.
#[tokio::test]
async fn the_document_changes_with_the_models() {
    let gateway = Gateway::spawn().await;
    let first = document(&gateway, "/openapi.json").await;
    let mark = first.header("etag").to_owned();
    let again = gateway
        .request(Method::GET, "/openapi.json")
        .header("if-none-match", &mark);
    assert_eq!(send(again).await.status, 304);
    sell(&gateway, seedream()).await;
    sell(&gateway, kling()).await;
    let again = gateway
        .request(Method::GET, "/openapi.json")
        .header("if-none-match", &mark);
    let second = send(again).await;
    assert_eq!(second.status, 200);
    assert_ne!(second.header("etag"), mark);
    for (path, name) in [
        ("/v1/images/generations", "seedream-4-5"),
        ("/v1/images/generations", "seedream"),
        ("/v1/images/edits", "seedream-4-5"),
        ("/v1/videos", "kling-v3"),
        ("/v1/images/generations", "image-1"),
    ] {
        let models = models_in(&second.json, path);
        assert!(models.contains(&name.to_owned()), "{path}: {models:?}");
    }
    let videos = models_in(&second.json, "/v1/videos");
    assert!(!videos.contains(&"seedream-4-5".to_owned()), "{videos:?}");
    let console = document(&gateway, "/console/catalogue.json").await;
    let models = models_in(&console.json, "/v1/images/generations");
    assert!(models.contains(&"seedream-4-5".to_owned()), "{models:?}");

    change(&gateway, "seedream-4-5", json!({ "enabled": false })).await;
    let off = document(&gateway, "/openapi.json").await;
    assert!(!models_in(&off.json, "/v1/images/generations").contains(&"seedream-4-5".to_owned()));
    for name in ["seedream-4-5", "kling-v3"] {
        let path = format!("/admin/v1/models/{name}");
        gateway.operate(Method::DELETE, &path, None).await;
    }
    let last = document(&gateway, "/openapi.json").await;
    assert_eq!(last.header("etag"), mark);
    assert_eq!(
        last.bytes, first.bytes,
        "without models, every byte is as before"
    );
}

/// The promise: an agent that lists its tools is told of a new model and can use it, in the same session.
#[tokio::test]
async fn tools_for_agents_name_the_models() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    let ask = async |method: &str, params: Value| {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let request = gateway.request(Method::POST, "/mcp?tools=imgmodel.generations");
        send(request.bearer_auth(&caller.key).json(&message)).await
    };
    let models = async || {
        let answer = ask("tools/list", json!({})).await.json;
        let tools = answer["result"]["tools"].as_array().expect("tools").clone();
        let tool = tools
            .iter()
            .find(|tool| tool["name"] == "imgmodel_generations");
        let tool = tool.expect("the tool");
        tool["inputSchema"]["properties"]["model"]["enum"].to_string()
    };
    assert!(!models().await.contains("seedream-4-5"));
    sell(&gateway, seedream()).await;
    assert!(models().await.contains("seedream-4-5"));
    let call = json!({ "name": "imgmodel_generations",
        "arguments": { "prompt": "a fox", "model": "seedream-4-5" } });
    let answer = ask("tools/call", call).await;
    let text = String::from_utf8_lossy(&answer.bytes).into_owned();
    assert!(
        text.contains("jobId") && !text.contains("\"isError\":true"),
        "{text}"
    );
    assert_eq!(gateway.balance(&caller.key).await, (99.5, 0.0));
}

/// The promise: jobs are counted by model for models of the operator alone, so that callers cannot make rows of a metric.
#[tokio::test]
async fn jobs_are_counted_by_the_models_of_the_operator() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    sell(&gateway, seedream()).await;
    for model in ["seedream", "SEEDREAM-4-5", "art-2", "no-such-1"] {
        picture(&gateway, &caller, json!({ "model": model })).await;
    }
    let page = document(&gateway, "/metrics").await;
    let text = String::from_utf8_lossy(&page.bytes).into_owned();
    let rows: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("atelier_model_jobs_total{") && !line.ends_with(" 0"))
        .collect();
    let wanted = r#"atelier_model_jobs_total{model="seedream-4-5",outcome="succeeded"} 2"#;
    assert_eq!(rows, [wanted], "{text}");
}
