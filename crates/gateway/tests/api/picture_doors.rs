//! Pictures for conversations: chat completions and Gemini's calls, whole and as events, over plain HTTP.

use base64::Engine as _;
use reqwest::Method;
use serde_json::{Value, json};

use crate::files::png;
use crate::gateway::{Account, Answer, Gateway, send};

fn picture() -> String {
    base64::engine::general_purpose::STANDARD.encode(png(64, 64))
}

async fn post(gateway: &Gateway, account: &Account, path: &str, body: &Value) -> Answer {
    let request = gateway.request(Method::POST, path);
    send(request.bearer_auth(&account.key).json(body)).await
}

async fn job(gateway: &Gateway, account: &Account, answer: &Answer) -> Value {
    let path = format!("/jobs/v1/{}", answer.header("x-atelier-job-id"));
    gateway.get(&account.key, &path).await.json["data"].clone()
}

fn png_of(base64: &str) -> Vec<u8> {
    let bytes = base64::engine::general_purpose::STANDARD.decode(base64);
    let bytes = bytes.expect("base64");
    assert_eq!(&bytes[1..4], b"PNG");
    bytes
}

/// The data of every event.
fn events(answer: &Answer) -> Vec<Value> {
    let text = String::from_utf8_lossy(&answer.bytes).into_owned();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter(|data| *data != "[DONE]")
        .map(|data| serde_json::from_str(data).expect("JSON"))
        .collect()
}

#[tokio::test]
async fn a_conversation_is_answered_with_its_picture() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(100).await;
    let url = format!("data:image/png;base64,{}", picture());
    let body = json!({
        "model": "chat-image", "temperature": 0.7, "user": "u-2",
        "messages": [
            { "role": "system", "content": "you are brief" },
            { "role": "user", "content": [
                { "type": "text", "text": "a lighthouse like this" },
                { "type": "image_url", "image_url": { "url": url } },
            ] },
        ],
    });
    let answer = post(&gateway, &account, "/v1/chat/completions", &body).await;
    assert_eq!(answer.status, 200, "{}", answer.json);
    let said = &answer.json["choices"][0];
    assert_eq!(
        (&answer.json["object"], &said["finish_reason"]),
        (&json!("chat.completion"), &json!("stop"))
    );
    assert_eq!(answer.json["model"], "chat-image");
    let content = said["message"]["content"].as_str().expect("text");
    assert!(content.starts_with("![image](http"), "{content}");
    let image = said["message"]["images"][0]["image_url"]["url"]
        .as_str()
        .expect("an image");
    png_of(
        image
            .strip_prefix("data:image/png;base64,")
            .expect("a data-URI"),
    );
    assert!(answer.json["usage"]["total_tokens"].as_u64() > Some(0));
    let job = job(&gateway, &account, &answer).await;
    assert_eq!(job["operation"], "imgmodel.chat", "{job}");
    assert_eq!(job["ignored"], json!(["temperature"]), "{job}");
    assert_eq!(job["user"], "u-2");
    assert_eq!(job["request"]["prompt"], "a lighthouse like this");
    assert!(job["request"].get("$chatModel").is_none(), "{job}");
}

#[tokio::test]
async fn a_stream_says_how_far_it_is_and_ends_with_the_picture() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(100).await;
    let body = json!({
        "model": "chat-image", "stream": true, "stream_options": { "include_usage": true },
        "messages": [{ "role": "user", "content": "a fox" }],
    });
    let answer = post(&gateway, &account, "/v1/chat/completions", &body).await;
    assert_eq!(answer.status, 200);
    assert!(
        answer
            .header("content-type")
            .starts_with("text/event-stream")
    );
    assert!(answer.bytes.ends_with(b"data: [DONE]\n\n"));
    let events = events(&answer);
    let delta = |event: &Value| event["choices"][0]["delta"].clone();
    assert_eq!(delta(&events[0])["role"], "assistant");
    let pictures: Vec<Value> = events
        .iter()
        .map(delta)
        .filter(|delta| delta["images"].is_array())
        .collect();
    assert_eq!(pictures.len(), 1, "{events:?}");
    assert!(
        pictures[0]["content"]
            .as_str()
            .is_some_and(|text| text.starts_with("![image]("))
    );
    // What says how far it is is no part of the answer.
    let answer_text: String = events
        .iter()
        .filter_map(|event| delta(event)["content"].as_str().map(str::to_owned))
        .collect();
    assert!(!answer_text.contains('%'), "{answer_text}");
    let last = events.last().expect("events");
    assert!(last["usage"]["total_tokens"].as_u64() > Some(0), "{last}");
    assert!(events.iter().all(|event| event["id"] == events[0]["id"]));

    // What fails is told in the stream, too.
    let body = json!({ "model": "chat-image", "stream": true, "messages": [{ "role": "user", "content": "a fox [[fail: no]]" }] });
    let answer = post(&gateway, &account, "/v1/chat/completions", &body).await;
    let failed = self::events(&answer);
    assert!(
        failed.last().expect("events")["error"]["message"].is_string(),
        "{failed:?}"
    );
    let (_, frozen) = gateway.balance(&account.key).await;
    assert!(frozen.abs() < f64::EPSILON, "{frozen}");
}

#[tokio::test]
async fn picture_models_are_named_and_text_models_refused_with_what_there_is() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(100).await;
    let made = gateway
        .operate(
            Method::POST,
            "/admin/v1/models",
            Some(json!({
                "name": "gemini-2.5-flash-image", "like": "imgmodel.chat", "aliases": ["nano-banana"],
                "price": { "unit": "call", "amount": 2 },
            })),
        )
        .await;
    assert_eq!(made.status, 200, "{}", made.json);
    let ask = |model: &str| json!({ "model": model, "messages": [{ "role": "user", "content": "a fox" }] });
    for (model, operation) in [
        ("nano-banana", "imgmodel.chat"),
        ("image-1", "imgmodel.generations"),
        ("art-3", "imgmodel.generations"),
    ] {
        let answer = post(&gateway, &account, "/v1/chat/completions", &ask(model)).await;
        assert_eq!(answer.status, 200, "{model}: {}", answer.json);
        assert_eq!(answer.json["model"], model);
        let job = job(&gateway, &account, &answer).await;
        assert_eq!(job["operation"], operation, "{job}");
    }
    let url = format!("data:image/png;base64,{}", picture());
    let edit = json!({ "model": "image-1", "size": "1536x1024", "messages": [{ "role": "user", "content": [
        { "type": "text", "text": "make it night" }, { "type": "image_url", "image_url": { "url": url } }] }] });
    let answer = post(&gateway, &account, "/v1/chat/completions", &edit).await;
    assert_eq!(answer.status, 200, "{}", answer.json);
    let job = job(&gateway, &account, &answer).await;
    assert_eq!(
        (&job["operation"], &job["request"]["size"]),
        (&json!("imgmodel.edits"), &json!("1536x1024"))
    );
}

#[tokio::test]
async fn what_no_picture_model_can_do_is_refused_with_the_field() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(100).await;
    let text = json!({ "model": "gpt-4o", "messages": [{ "role": "user", "content": "a fox" }] });
    let refused = post(&gateway, &account, "/v1/chat/completions", &text).await;
    assert_eq!(
        (refused.status.as_u16(), &refused.json["param"]),
        (400, &json!("model"))
    );
    let said = refused.json["error"]["message"]
        .as_str()
        .expect("a sentence");
    for name in ["chat-image", "image-1", "art-3", "`gpt-4o`"] {
        assert!(said.contains(name), "{said}");
    }
    let listed = gateway.get(&account.key, "/v1/models").await.json;
    let names: Vec<&str> = listed["data"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|one| one["id"].as_str())
        .collect();
    assert!(names.contains(&"chat-image"), "{names:?}");
    for (body, field) in [
        (
            json!({ "model": "chat-image", "n": 2, "messages": [{ "role": "user", "content": "a" }] }),
            "n",
        ),
        (json!({ "model": "chat-image", "messages": [] }), "messages"),
        (
            json!({ "model": "image-1", "size": "1x1", "messages": [{ "role": "user", "content": "a" }] }),
            "size",
        ),
    ] {
        let refused = post(&gateway, &account, "/v1/chat/completions", &body).await;
        assert_eq!(
            (refused.status.as_u16(), refused.json["param"].as_str()),
            (400, Some(field)),
            "{}",
            refused.json
        );
    }
}

#[tokio::test]
async fn geminis_clients_get_the_bytes() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(100).await;
    let body = json!({
        "contents": [{ "role": "user", "parts": [
            { "text": "a lighthouse" }, { "inlineData": { "mimeType": "image/png", "data": picture() } },
        ] }],
        "generationConfig": { "responseModalities": ["IMAGE"], "temperature": 1, "imageConfig": { "aspectRatio": "16:9" } },
        "safetySettings": [],
    });
    let path = "/v1beta/models/chat-image:generateContent";
    // The key stands where Google's clients have it: in a header, or in the query.
    let request = gateway
        .request(Method::POST, path)
        .header("x-goog-api-key", &account.key);
    let answer = send(request.json(&body)).await;
    assert_eq!(answer.status, 200, "{}", answer.json);
    let candidate = &answer.json["candidates"][0];
    assert_eq!(
        (&candidate["finishReason"], &candidate["content"]["role"]),
        (&json!("STOP"), &json!("model"))
    );
    let data = candidate["content"]["parts"][0]["inlineData"]["data"]
        .as_str()
        .expect("bytes");
    png_of(data);
    assert_eq!(answer.json["modelVersion"], "chat-image");
    let path = format!("/jobs/v1/{}", answer.header("x-atelier-job-id"));
    let job = gateway.get(&account.key, &path).await.json["data"].clone();
    assert_eq!(
        job["ignored"],
        json!([
            "generationConfig.imageConfig.aspectRatio",
            "generationConfig.temperature",
            "safetySettings"
        ]),
        "{job}"
    );
}

#[tokio::test]
async fn geminis_clients_stream_predict_and_list() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(100).await;
    let plain = json!({ "contents": [{ "parts": [{ "text": "a fox" }] }],
        "generationConfig": { "imageConfig": { "aspectRatio": "16:9" } } });
    let path = format!(
        "/v1beta/models/art-3:streamGenerateContent?alt=sse&key={}",
        account.key
    );
    let streamed = send(gateway.request(Method::POST, &path).json(&plain)).await;
    assert_eq!(streamed.status, 200, "{}", streamed.json);
    let events = events(&streamed);
    let last = events.last().expect("events");
    png_of(
        last["candidates"][0]["content"]["parts"][0]["inlineData"]["data"]
            .as_str()
            .expect("bytes"),
    );
    // Its clients take a comment for a part of an event.
    assert!(!streamed.bytes.starts_with(b":"));

    let older = json!({ "instances": [{ "prompt": "a fox" }], "parameters": { "sampleCount": 2 } });
    let path = "/v1beta/models/art-2:predict";
    let answer = send(
        gateway
            .request(Method::POST, path)
            .header("x-goog-api-key", &account.key)
            .json(&older),
    )
    .await;
    assert_eq!(
        answer.json["predictions"].as_array().map(Vec::len),
        Some(2),
        "{}",
        answer.json
    );
    png_of(
        answer.json["predictions"][0]["bytesBase64Encoded"]
            .as_str()
            .expect("bytes"),
    );

    let models = send(
        gateway
            .request(Method::GET, "/v1beta/models")
            .header("x-goog-api-key", &account.key),
    )
    .await;
    assert!(
        models.json["models"]
            .as_array()
            .into_iter()
            .flatten()
            .any(|one| one["name"] == "models/chat-image")
    );
    let request = gateway.request(Method::POST, "/v1beta/models/gemini-3:generateContent");
    let refused = send(request.header("x-goog-api-key", &account.key).json(&plain)).await;
    assert_eq!(refused.status, 400);
    assert_eq!(
        refused.json["error"]["status"], "INVALID_ARGUMENT",
        "{}",
        refused.json
    );
    let nobody = send(gateway.request(Method::POST, path).json(&plain)).await;
    assert_eq!(
        (nobody.status.as_u16(), &nobody.json["error"]["status"]),
        (401, &json!("UNAUTHENTICATED"))
    );
}

/// Newer clients call what is no beta, by the paths of OpenAI's models.
#[tokio::test]
async fn geminis_newer_clients_share_paths_with_openais() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(100).await;
    let newer = "/v1/models/art-2:predict";
    let body = json!({ "instances": [{ "prompt": "a fox" }], "parameters": { "sampleCount": 2 } });
    let request = gateway.request(Method::POST, newer);
    let request = request.header("x-goog-api-key", &account.key);
    let answer = send(request.json(&body)).await;
    assert_eq!(
        answer.json["predictions"].as_array().map(Vec::len),
        Some(2),
        "{}",
        answer.json
    );
    let list = async |path| {
        let request = gateway.request(Method::GET, path);
        send(request.header("x-goog-api-key", &account.key))
            .await
            .json
    };
    let models = list("/v1/models").await;
    assert!(models["models"].is_array(), "{models}");
    assert_eq!(models, list("/v1beta/models").await);
    let list = gateway.get(&account.key, "/v1/models").await;
    assert_eq!(list.json["object"], "list", "{}", list.json);
    let nobody = send(gateway.request(Method::POST, newer).json(&body)).await;
    assert_eq!(
        nobody.json["error"]["status"], "UNAUTHENTICATED",
        "{}",
        nobody.json
    );
}
