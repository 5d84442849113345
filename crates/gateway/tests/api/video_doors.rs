//! Video tasks in the wire formats of new-api, Kling and Jimeng, over plain HTTP, and our own adapter for Kling against its format
//! here.

use std::time::Duration;

use base64::Engine as _;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::files::png;
use crate::gateway::{Account, Answer, Gateway, Options, send};
use crate::outside::{Outside, answer, read};

fn picture(width: u32, height: u32) -> String {
    base64::engine::general_purpose::STANDARD.encode(png(width, height))
}

struct Client<'a> {
    gateway: &'a Gateway,
    account: &'a Account,
}

impl Client<'_> {
    async fn post(&self, path: &str, body: Value) -> Answer {
        let request = self.gateway.request(Method::POST, path);
        send(request.bearer_auth(&self.account.key).json(&body)).await
    }

    async fn get(&self, path: &str) -> Value {
        let request = self.gateway.request(Method::GET, path);
        let sent = send(request.bearer_auth(&self.account.key)).await;
        assert_eq!(sent.status, 200, "{path}: {}", sent.json);
        sent.json
    }

    /// Asks until an answer says that it is over.
    async fn until(&self, path: &str, is_over: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + Duration::from_mins(2);
        loop {
            let seen = self.get(path).await;
            if is_over(&seen) {
                return seen;
            }
            assert!(Instant::now() < deadline, "{seen}");
            sleep(Duration::from_millis(100)).await;
        }
    }

    async fn job(&self, id: &str) -> Value {
        let job = self
            .gateway
            .get(&self.account.key, &format!("/jobs/v1/{id}"))
            .await;
        job.json["data"].clone()
    }
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name]
        .as_str()
        .unwrap_or_else(|| panic!("{name}: {value}"))
}

#[tokio::test]
async fn a_gateways_client_has_a_video_made_and_reads_it_in_both_forms() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(100).await;
    let client = Client {
        gateway: &gateway,
        account: &account,
    };
    let body = json!({
        "model": "video-2", "prompt": "a paper boat", "duration": 4.0, "width": 1280, "height": 720, "fps": 30, "n": 1,
        "response_format": "url", "user": "u-1", "metadata": { "negative_prompt": "rain" },
    });
    let begun = client.post("/v1/video/generations", body).await;
    assert_eq!(begun.status, 200, "{}", begun.json);
    let id = text(&begun.json, "task_id").to_owned();
    assert_eq!(begun.json["id"], begun.json["task_id"]);
    let path = format!("/v1/video/generations/{id}");
    let over = client
        .until(&path, |task| {
            matches!(task["status"].as_str(), Some("completed" | "failed"))
        })
        .await;
    assert_eq!(over["status"], "completed", "{over}");
    assert_eq!(
        (
            &over["code"],
            &over["data"]["status"],
            &over["data"]["progress"]
        ),
        (&json!("success"), &json!("SUCCESS"), &json!("100%")),
        "{over}"
    );
    assert_eq!(over["metadata"]["width"], 1280);
    assert!(text(&over, "url").starts_with("http"), "{over}");
    assert_eq!(over["url"], over["data"]["result_url"]);
    let job = client.job(&id).await;
    assert_eq!(
        job["ignored"],
        json!(["fps", "metadata.negative_prompt"]),
        "{job}"
    );
    assert_eq!(job["user"], "u-1");
    assert!(job["request"].get("$ignored").is_none(), "{job}");
    // Its price is the model's, and polls cost nothing.
    let left = 100.0 - job["quota"].as_f64().expect("a price");
    let (balance, _) = gateway.balance(&account.key).await;
    assert!((balance - left).abs() < 1e-9, "{balance} and not {left}");
}

#[tokio::test]
async fn a_video_is_made_by_the_model_that_is_named_or_by_the_usual_one() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(400).await;
    let client = Client {
        gateway: &gateway,
        account: &account,
    };
    let made = gateway
        .operate(
            Method::POST,
            "/admin/v1/models",
            Some(json!({
                "name": "kling-v2-master", "like": "vidgen_partner/video-2", "aliases": ["kling"],
                "fields": { "seconds": { "allowed": [5, 10] }, "size": { "allowed": ["1280x720", "720x1280", "960x960"] } },
                "price": { "unit": "second", "amount": 0.1 },
            })),
        )
        .await;
    assert_eq!(made.status, 200, "{}", made.json);
    for (body, operation, model) in [
        (
            json!({ "model": "KLING", "prompt": "a boat", "duration": 5, "metadata": { "aspect_ratio": "1:1" } }),
            "vidgen_partner.generations",
            Some("kling-v2-master"),
        ),
        (
            json!({ "model": "motion-v1", "prompt": "a boat", "duration": 5, "size": "1280x720" }),
            "motion.generations",
            None,
        ),
        (
            json!({ "model": "veo-9", "prompt": "a boat", "seconds": "4" }),
            "vidgen_partner.generations",
            None,
        ),
    ] {
        let begun = client.post("/v1/video/generations", body.clone()).await;
        assert_eq!(begun.status, 200, "{body}: {}", begun.json);
        let job = client.job(text(&begun.json, "task_id")).await;
        assert_eq!(job["operation"], operation, "{job}");
        assert_eq!(job["model"].as_str(), model, "{job}");
        if body["model"] == "KLING" {
            assert_eq!(job["request"]["size"], "960x960", "{job}");
        }
        if body["model"] == "veo-9" {
            assert_eq!(job["ignored"], json!(["model"]), "{job}");
        }
    }
    for (body, field) in [
        (
            json!({ "model": "kling", "prompt": "a", "duration": 7 }),
            "duration",
        ),
        (
            json!({ "model": "kling", "prompt": "a", "aspect_ratio": "21:9" }),
            "aspect_ratio",
        ),
        (json!({ "model": "image-1", "prompt": "a" }), "model"),
        (json!({ "prompt": "a", "duration": 5 }), "duration"),
        (json!({ "duration": 4 }), "prompt"),
        (json!({ "prompt": "a", "n": 2 }), "n"),
    ] {
        let refused = client.post("/v1/video/generations", body.clone()).await;
        assert_eq!(refused.status, 400, "{body}");
        assert_eq!(refused.json["param"], field, "{body}: {}", refused.json);
        let said = text(&refused.json["error"], "message");
        assert!(said.starts_with(field), "{said}");
    }
}

#[tokio::test]
async fn klings_client_gets_klings_words_and_its_callback() {
    let (sender, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let receiver = Outside::start(move |mut stream| {
        if let Some(request) = read(&mut stream) {
            let _ = sender.send(request.body);
            answer(&mut stream, "200 OK", "", b"");
        }
    });
    let gateway = Gateway::spawn().await;
    let account = gateway.account(100).await;
    let client = Client {
        gateway: &gateway,
        account: &account,
    };
    let body = json!({
        "model_name": "motion-v1", "prompt": "it moves", "image": picture(64, 64), "mode": "std", "duration": "5",
        "cfg_scale": 0.5, "external_task_id": "mine-1", "callback_url": receiver.url("/hook"),
    });
    let begun = client
        .post("/kling/v1/videos/image2video", body.clone())
        .await;
    assert_eq!(begun.status, 200, "{}", begun.json);
    let data = &begun.json["data"];
    assert_eq!(
        (&begun.json["code"], &begun.json["message"]),
        (&json!(0), &json!("SUCCEED"))
    );
    assert_eq!(data["task_info"]["external_task_id"], "mine-1");
    let id = text(data, "task_id").to_owned();
    // Its own name finds it, and begins it once.
    let again = client.post("/kling/v1/videos/image2video", body).await;
    assert_eq!(again.json["data"]["task_id"], data["task_id"]);
    let by_name = client.get("/kling/v1/videos/image2video/mine-1").await;
    assert_eq!(by_name["data"]["task_id"], data["task_id"]);
    let over = client
        .until(&format!("/kling/v1/videos/image2video/{id}"), |seen| {
            matches!(
                seen["data"]["task_status"].as_str(),
                Some("succeed" | "failed")
            )
        })
        .await;
    let video = &over["data"]["task_result"]["videos"][0];
    assert_eq!(over["data"]["task_status"], "succeed", "{over}");
    assert!(text(video, "url").starts_with("http"), "{over}");
    let told: Value =
        serde_json::from_slice(&heard.recv().await.expect("a callback")).expect("JSON");
    assert_eq!(
        (&told["task_id"], &told["task_status"]),
        (&json!(id), &json!("succeed")),
        "{told}"
    );
    let job = client.job(&id).await;
    assert_eq!(job["ignored"], json!(["cfg_scale"]), "{job}");
    let listed = client
        .get("/kling/v1/videos/text2video?pageNum=1&pageSize=5")
        .await;
    assert_eq!(listed["data"][0]["task_id"], json!(id));
}

#[tokio::test]
async fn klings_client_reads_its_refusals() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(100).await;
    let client = Client {
        gateway: &gateway,
        account: &account,
    };
    let refused = client
        .post("/kling/v1/videos/image2video", json!({ "prompt": "a" }))
        .await;
    assert_eq!(refused.status, 400);
    assert_eq!(refused.json["code"], 1201, "{}", refused.json);
    assert!(text(&refused.json["error"], "message").starts_with("image"));
    let nobody = send(
        gateway
            .request(Method::GET, "/kling/v1/videos/text2video/x")
            .bearer_auth("wrong"),
    )
    .await;
    assert_eq!(
        (nobody.status.as_u16(), &nobody.json["code"]),
        (401, &json!(1002))
    );
}

#[tokio::test]
async fn jimengs_client_says_in_the_query_what_it_wants() {
    let gateway = Gateway::spawn().await;
    let (account, poor) = (gateway.account(100).await, gateway.account(0).await);
    let client = Client {
        gateway: &gateway,
        account: &account,
    };
    let submit = "/jimeng/?Action=CVSync2AsyncSubmitTask&Version=2022-08-31";
    let body = json!({ "req_key": "jimeng_t2v_v30", "prompt": "a boat", "frames": 97, "aspect_ratio": "16:9", "seed": -1 });
    let begun = client.post(submit, body.clone()).await;
    assert_eq!(
        (begun.status.as_u16(), &begun.json["code"]),
        (200, &json!(10_000)),
        "{}",
        begun.json
    );
    let id = text(&begun.json["data"], "task_id").to_owned();
    let fetch = "/jimeng/?Action=CVSync2AsyncGetResult&Version=2022-08-31";
    let deadline = Instant::now() + Duration::from_mins(2);
    let over = loop {
        let seen = client
            .post(fetch, json!({ "req_key": "jimeng_t2v_v30", "task_id": id }))
            .await;
        assert_eq!(seen.status, 200, "{}", seen.json);
        if seen.json["data"]["status"] == "done" {
            break seen.json;
        }
        assert!(Instant::now() < deadline, "{}", seen.json);
        sleep(Duration::from_millis(100)).await;
    };
    assert!(
        text(&over["data"], "video_url").starts_with("http"),
        "{over}"
    );
    let job = client.job(&id).await;
    assert_eq!(job["request"]["seconds"], 4, "{job}");
    assert_eq!(job["ignored"], json!(["req_key", "seed"]), "{job}");

    let no_task = client.post(fetch, json!({ "task_id": "none" })).await;
    assert_eq!(
        (no_task.status.as_u16(), &no_task.json["code"]),
        (400, &json!(50_400))
    );
    let other = client.post("/jimeng/?Action=Other", json!({})).await;
    assert_eq!(other.json["param"], "Action");
    let client = Client {
        account: &poor,
        ..client
    };
    let refused = client.post(submit, body).await;
    assert_eq!(refused.status, 400, "{}", refused.json);
    assert!(text(&refused.json["error"], "code") == "insufficient_quota");
}

/// Both formats are somebody else's: what our adapter for it sends, our API takes.
#[tokio::test]
async fn our_adapter_for_kling_works_with_klings_form_here() {
    let back = Gateway::spawn().await;
    let upstream = back.account(1_000).await;
    let front = Options::default().spawn().await;
    let body = json!({
        "vendor": "roletask", "name": "kling", "base_url": format!("{}/kling", back.base_url), "rank": 10,
        "operations": ["motion"],
        "settings": { "dialect": "kling_v1", "video_model": "motion-v1", "poll_seconds": 1 },
    });
    let made = front
        .operate(Method::POST, "/admin/v1/backends", Some(body))
        .await;
    assert_eq!(made.status, 200, "{}", made.json);
    let id = text(&made.json["data"], "id");
    let body = json!({ "name": "first", "credential": upstream.key });
    let path = format!("/admin/v1/backends/{id}/accounts");
    let made = front.operate(Method::POST, &path, Some(body)).await;
    assert_eq!(made.status, 200, "{}", made.json);
    let probe = format!("/admin/v1/backends/{id}/probe");
    let probed = front.operate(Method::POST, &probe, Some(json!({}))).await;
    assert_eq!(probed.status, 200, "{}", probed.json);
    let caller = front.account(100).await;
    let body = json!({ "userPrompt": "a boat", "aspectRatio": "16:9", "duration": "5s" });
    let begun = front
        .post(&caller.key, "/motion/v1/generations", body)
        .await;
    let id = text(&begun.json["data"], "jobId").to_owned();
    let client = Client {
        gateway: &front,
        account: &caller,
    };
    let over = |seen: &Value| matches!(seen["data"]["status"].as_str(), Some("SUCCESS" | "FAILED"));
    let job = client.until(&format!("/jobs/v1/{id}"), over).await;
    assert_eq!(job["data"]["status"], "SUCCESS", "{job}");
    let made = back.get(&upstream.key, "/jobs/v1?limit=10").await.json;
    assert_eq!(made["data"][0]["operation"], "motion.generations", "{made}");
}
