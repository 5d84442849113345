//! The door for clients of midjourney-proxy: its numbers and tasks over plain HTTP, and our own adapter in both dialects
//! against the door of a second service.

use std::time::Duration;

use base64::Engine as _;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::backends::finished;
use crate::files::png;
use crate::gateway::{Account, Gateway, Options, send};
use crate::outside::{Outside, answer, read};

fn picture(width: u32, height: u32) -> String {
    let bytes = base64::engine::general_purpose::STANDARD.encode(png(width, height));
    format!("data:image/png;base64,{bytes}")
}

struct Proxy<'a> {
    gateway: &'a Gateway,
    key: &'a str,
}

impl Proxy<'_> {
    async fn post(&self, path: &str, body: Value) -> Value {
        let request = self.gateway.request(Method::POST, path);
        let sent = send(request.header("mj-api-secret", self.key).json(&body)).await;
        assert_eq!(sent.status, 200, "{path}: {}", sent.json);
        sent.json
    }

    async fn task(&self, id: &Value) -> Value {
        let deadline = Instant::now() + Duration::from_mins(1);
        loop {
            let path = format!("/mj/task/{}/fetch", id.as_str().expect("an id"));
            let request = self.gateway.request(Method::GET, &path);
            let task = send(request.bearer_auth(self.key)).await.json;
            if matches!(task["status"].as_str(), Some("SUCCESS" | "FAILURE")) {
                return task;
            }
            assert!(Instant::now() < deadline, "{task}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one story, told in order")]
async fn a_proxy_client_draws_follows_up_and_is_called_back_with_its_task() {
    let (sender, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let receiver = Outside::start(move |mut stream| {
        if let Some(request) = read(&mut stream) {
            let _ = sender.send((request.head, request.body));
            answer(&mut stream, "200 OK", "", b"");
        }
    });
    let gateway = Gateway::spawn().await;
    let account = gateway.account(200).await;
    let proxy = Proxy {
        gateway: &gateway,
        key: &account.key,
    };
    let hook = receiver.url("/hook");
    let body = json!({ "prompt": "a fox", "base64Array": [picture(64, 64)], "state": "mine", "notifyHook": hook });
    let begun = proxy.post("/mj-fast/mj/submit/imagine", body).await;
    assert!([1, 22].map(Value::from).contains(&begun["code"]), "{begun}");
    let grid = proxy.task(&begun["result"]).await;
    assert_eq!(
        (
            &grid["status"],
            &grid["action"],
            &grid["state"],
            &grid["mode"]
        ),
        (
            &json!("SUCCESS"),
            &json!("IMAGINE"),
            &json!("mine"),
            &json!("FAST")
        ),
        "{grid}"
    );
    let id = begun["result"].as_str().expect("an id");
    let job = gateway.get(&account.key, &format!("/jobs/v1/{id}")).await;
    let asked = job.json["data"]["request"].as_object().expect("a request");
    assert!(asked.contains_key("prompt"), "{asked:?}");
    assert!(
        !asked.contains_key("mjState"),
        "what the door keeps for itself is no part of what was asked: {asked:?}"
    );
    assert_eq!(grid["imageUrls"].as_array().map(Vec::len), Some(4));
    let (head, told) = heard.recv().await.expect("a callback");
    assert!(
        head.to_lowercase().contains("webhook-signature: v1,"),
        "{head}"
    );
    let told: Value = serde_json::from_slice(&told).expect("JSON");
    assert_eq!(
        (&told["id"], &told["status"], &told["buttons"]),
        (&grid["id"], &json!("SUCCESS"), &grid["buttons"])
    );

    // Both dialects, the window of a region, and a description.
    let labels: Vec<&Value> = grid["buttons"]
        .as_array()
        .expect("buttons")
        .iter()
        .map(|one| &one["label"])
        .collect();
    assert!(
        labels.contains(&&json!("U2")) && labels.contains(&&json!("V4")),
        "{labels:?}"
    );
    let u2 = grid["buttons"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|one| one["label"] == "U2")
        .expect("a button");
    let pressed = proxy
        .post(
            "/mj/submit/action",
            json!({ "taskId": grid["id"], "customId": u2["customId"] }),
        )
        .await;
    let single = proxy.task(&pressed["result"]).await;
    assert_eq!(
        (&single["status"], &single["action"]),
        (&json!("SUCCESS"), &json!("UPSCALE")),
        "{single}"
    );
    for (path, body) in [
        (
            "/mj/submit/change",
            json!({ "taskId": grid["id"], "action": "VARIATION", "index": 3 }),
        ),
        (
            "/mj/submit/simple-change",
            json!({ "content": format!("{} R", grid["id"].as_str().expect("an id")) }),
        ),
        ("/mj/submit/describe", json!({ "base64": picture(64, 64) })),
        (
            "/mj/submit/blend",
            json!({ "base64Array": [picture(64, 64), picture(32, 64)] }),
        ),
        (
            "/mj/submit/video",
            json!({ "prompt": "it moves", "image": picture(64, 64), "batchSize": 1 }),
        ),
    ] {
        let begun = proxy.post(path, body).await;
        let task = proxy.task(&begun["result"]).await;
        assert_eq!(task["status"], "SUCCESS", "{path}: {task}");
    }
    let region = single["buttons"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|one| one["label"] == "Vary (Region)")
        .expect("a button");
    let window = proxy
        .post(
            "/mj/submit/action",
            json!({ "taskId": single["id"], "customId": region["customId"] }),
        )
        .await;
    assert_eq!(window["code"], 21, "{window}");
    let size = |name: &str| single[name].as_u64().expect("a size") as u32;
    let mask = picture(size("width"), size("height"));
    let confirmed = proxy
        .post(
            "/mj/submit/modal",
            json!({ "taskId": window["result"], "prompt": "a red hat", "maskBase64": mask }),
        )
        .await;
    assert_eq!(proxy.task(&confirmed["result"]).await["status"], "SUCCESS");

    let listed = send(
        gateway
            .request(Method::GET, "/mj/task/list")
            .bearer_auth(&account.key),
    )
    .await
    .json;
    assert_eq!(listed.as_array().map(Vec::len), Some(8), "{listed}");
    let some = proxy
        .post(
            "/mj/task/list-by-condition",
            json!({ "ids": [grid["id"], "no-such"] }),
        )
        .await;
    assert_eq!(some[0]["id"], grid["id"]);
}

#[tokio::test]
async fn shorter_prompts_come_with_a_button_for_each_at_every_speed() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(200).await;
    let proxy = Proxy {
        gateway: &gateway,
        key: &account.key,
    };
    let words = "a very beautiful old lighthouse on a high cliff above the sea at dawn";
    let body = json!({ "prompt": words, "state": "short", "lang": "en" });
    let begun = proxy.post("/mj-relax/mj/submit/shorten", body).await;
    let short = proxy.task(&begun["result"]).await;
    assert_eq!(
        (&short["action"], &short["status"], &short["mode"]),
        (&json!("SHORTEN"), &json!("SUCCESS"), &json!("RELAX")),
        "{short}"
    );
    let found = short["properties"]["finalPrompt"]
        .as_str()
        .expect("prompts");
    assert!(found.lines().count() > 1, "{found}");
    let id = short["id"].as_str().expect("an id");
    let job = gateway.get(&account.key, &format!("/jobs/v1/{id}")).await;
    assert_eq!(job.json["data"]["ignored"], json!(["lang"]), "{}", job.json);
    // A button draws one of them.
    let second = &short["buttons"][1]["customId"];
    let pressed = proxy
        .post(
            "/mj/submit/action",
            json!({ "taskId": id, "customId": second }),
        )
        .await;
    let drawn = proxy.task(&pressed["result"]).await;
    assert_eq!(drawn["action"], "IMAGINE", "{drawn}");
    let prompt = drawn["prompt"].as_str().expect("a prompt");
    assert!(
        found.contains(prompt) && prompt.len() < words.len(),
        "{prompt}"
    );

    for path in [
        "/mj/task/list-by-ids",
        "/mj-relax/mj/task/list-by-condition",
    ] {
        let some = proxy.post(path, json!({ "ids": [id] })).await;
        assert_eq!(some[0]["id"], short["id"], "{path}");
    }
    let path = format!("/mj-turbo/mj/task/{id}/fetch");
    let fetched = send(
        gateway
            .request(Method::GET, &path)
            .bearer_auth(&account.key),
    )
    .await;
    assert_eq!(fetched.json["id"], short["id"]);
    let path = format!("/mj-slow/mj/task/{id}/fetch");
    let nowhere = send(
        gateway
            .request(Method::GET, &path)
            .bearer_auth(&account.key),
    )
    .await;
    assert_eq!(nowhere.status, 404);
    // That program's clients name it where others have a token.
    let request = gateway.request(Method::GET, "/mj/task/list");
    let request = request.header("mj-api-secret", &account.key);
    assert_eq!(
        send(request.bearer_auth("midjourney-proxy")).await.status,
        200
    );
}

#[tokio::test]
async fn pictures_are_kept_edited_and_served_at_every_speed() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(200).await;
    let proxy = Proxy {
        gateway: &gateway,
        key: &account.key,
    };
    let kept = proxy
        .post(
            "/mj/submit/upload-discord-images",
            json!({ "base64Array": [picture(64, 64), picture(32, 32)] }),
        )
        .await;
    assert_eq!(kept["code"], 1, "{kept}");
    let urls = kept["result"].as_array().expect("URLs");
    assert_eq!(urls.len(), 2);
    for image in [urls[0].clone(), picture(64, 64).into()] {
        let body = json!({ "prompt": "make it night", "image": image, "state": "mine" });
        let begun = proxy.post("/mj-fast/mj/submit/edits", body).await;
        let edited = proxy.task(&begun["result"]).await;
        assert_eq!(
            (&edited["action"], &edited["status"], &edited["state"]),
            (&json!("EDIT"), &json!("SUCCESS"), &json!("mine")),
            "{edited}"
        );
        let path = format!(
            "/mj-turbo/mj/image/{}",
            edited["id"].as_str().expect("an id")
        );
        let file = send(
            gateway
                .request(Method::GET, &path)
                .bearer_auth(&account.key),
        )
        .await;
        assert_eq!(
            (file.status.as_u16(), &file.bytes[1..4]),
            (200, &b"PNG"[..])
        );
        let strange = send(gateway.request(Method::GET, &path)).await;
        assert_eq!(strange.status, 401);
    }
    // An edit that nobody asked for as a task is none.
    let other = json!({ "model": "image-1", "prompt": "make it night", "image": picture(64, 64), "async": true });
    gateway.post(&account.key, "/v1/images/edits", other).await;
    for path in ["/mj/task/list", "/mj-fast/mj/task/list"] {
        let listed = send(gateway.request(Method::GET, path).bearer_auth(&account.key)).await;
        assert_eq!(
            listed.json.as_array().map(Vec::len),
            Some(2),
            "{}",
            listed.json
        );
    }
}

#[tokio::test]
async fn refusals_come_as_the_numbers_of_that_program() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(41).await;
    let proxy = Proxy {
        gateway: &gateway,
        key: &account.key,
    };
    let code = async |path: &str, body: Value| proxy.post(path, body).await["code"].clone();
    assert_eq!(
        code("/mj/submit/imagine", json!({ "prompt": "gore" })).await,
        24
    );
    assert_eq!(code("/mj/submit/imagine", json!({})).await, 4);
    assert_eq!(
        code(
            "/mj/submit/change",
            json!({ "taskId": "none", "action": "UPSCALE", "index": 1 })
        )
        .await,
        3
    );
    assert_eq!(
        code(
            "/mj/submit/action",
            json!({ "taskId": "none", "customId": "MJ::JOB::upsample::1::x" })
        )
        .await,
        3
    );
    let stall = json!({ "prompt": "a lake [[stall]]" });
    let mut last = Value::Null;
    for _ in 0..10 {
        last = proxy.post("/mj/submit/imagine", stall.clone()).await;
        assert!([1, 22].map(Value::from).contains(&last["code"]), "{last}");
    }
    assert_eq!(code("/mj/submit/imagine", stall.clone()).await, 23);
    let path = format!(
        "/mj/task/{}/cancel",
        last["result"].as_str().expect("an id")
    );
    assert_eq!(code(&path, json!({})).await, 1);
    assert_eq!(proxy.task(&last["result"]).await["status"], "FAILURE");
    let nobody = send(
        gateway
            .request(Method::POST, "/mj/submit/imagine")
            .header("mj-api-secret", "wrong")
            .json(&stall),
    )
    .await;
    nobody.assert_refused(401, "unauthorized");
    let none = send(
        gateway
            .request(Method::GET, "/mj/task/none/fetch")
            .bearer_auth(&account.key),
    )
    .await;
    assert_eq!((none.status.as_u16(), &*none.bytes), (200, &b"null"[..]));
}

/// A service whose pictures are made by another one, through its door for clients of midjourney-proxy.
async fn behind_proxy(dialect: &str) -> (Gateway, Gateway, Account) {
    let back = Gateway::spawn().await;
    let upstream = back.account(1_000).await;
    let front = Options::default().spawn().await;
    let body = json!({
        "vendor": "midjourney-proxy", "name": "proxy", "base_url": back.base_url, "rank": 10,
        "settings": { "dialect": dialect, "poll_ms": 100 },
    });
    let made = front
        .operate(Method::POST, "/admin/v1/backends", Some(body))
        .await;
    assert_eq!(made.status, 200, "{}", made.json);
    let path = format!(
        "/admin/v1/backends/{}/accounts",
        made.json["data"]["id"].as_str().expect("an id")
    );
    let body = json!({ "name": "first", "credential": upstream.key, "concurrency": 20 });
    let made = front.operate(Method::POST, &path, Some(body)).await;
    assert_eq!(made.status, 200, "{}", made.json);
    (front, back, upstream)
}

async fn through(dialect: &str, follow_ups: &[Value]) {
    let (front, back, upstream) = behind_proxy(dialect).await;
    let caller = front.account(100).await;
    let grid = front.imagine(&caller.key, "a fox --seed 7").await;
    let job = finished(&front, &caller.key, &grid).await;
    assert_eq!(job["status"], "SUCCESS", "{job}");
    for (path, body) in follow_ups
        .iter()
        .filter_map(|one| Some((one["path"].as_str()?, &one["body"])))
    {
        let mut body = body.clone();
        if body.get("jobId").is_some() {
            body["jobId"] = grid.as_str().into();
        }
        let answer = front.post(&caller.key, path, body).await;
        let id = answer.json["data"]["jobId"]
            .as_str()
            .unwrap_or_else(|| panic!("{}", answer.json));
        let job = finished(&front, &caller.key, id).await;
        assert_eq!(job["status"], "SUCCESS", "{path}: {job}");
    }
    let made = back.get(&upstream.key, "/jobs/v1?limit=100").await.json;
    assert_eq!(
        made["total"].as_u64(),
        Some(1 + follow_ups.len() as u64),
        "the other service did it all"
    );
}

#[tokio::test]
async fn our_adapter_works_with_the_door_in_the_newer_dialect() {
    let follow_ups = [
        json!({ "path": "/artgen/v1/action", "body": { "jobId": "", "action": "upsample2" } }),
        json!({ "path": "/artgen/v1/action", "body": { "jobId": "", "action": "reroll" } }),
        json!({ "path": "/artgen/v1/seed", "body": { "jobId": "" } }),
        json!({ "path": "/artgen/v1/describe", "body": { "base64": picture(64, 64) } }),
        json!({ "path": "/artgen/v1/shorten", "body": { "prompt": "a very old lighthouse on a high cliff at dawn" } }),
        json!({ "path": "/artgen/v1/blend", "body": { "imgBase64Array": [picture(64, 64), picture(48, 64)] } }),
    ];
    through("action", &follow_ups).await;
}

#[tokio::test]
async fn our_adapter_works_with_the_door_in_the_older_dialect() {
    let follow_ups = [
        json!({ "path": "/artgen/v1/action", "body": { "jobId": "", "action": "upsample3" } }),
        json!({ "path": "/artgen/v1/action", "body": { "jobId": "", "action": "variation1" } }),
        json!({ "path": "/artgen/v1/describe", "body": { "base64": picture(64, 64) } }),
    ];
    through("change", &follow_ups).await;
}
