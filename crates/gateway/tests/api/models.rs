//! Models that nobody compiled: an operator describes one, and every client can use it.

mod documents;
mod nodes;
mod pages;
mod refusals;
mod shell;

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::gateway::{Account, Answer, Gateway};

/// A picture model with sizes of its own, at a price by size.
fn seedream() -> Value {
    json!({
        "name": "seedream-4-5", "title": "Seedream 4.5", "like": "imgmodel/image-1", "aliases": ["seedream"],
        "fields": { "size": { "allowed": ["1024x1024", "2048x2048"], "default": "1024x1024" }, "n": { "max": 4 } },
        "price": { "unit": "item", "amount": 0.5, "factors": { "size": { "1024x1024": 1, "2048x2048": 2 } } },
    })
}

/// A video model with lengths of its own, at a price for each second.
fn kling() -> Value {
    json!({
        "name": "kling-v3", "like": "vidgen_partner/video-2",
        "fields": { "seconds": { "allowed": [5, 2], "default": 5 }, "size": { "allowed": ["640x360"], "default": "640x360" } },
        "price": { "unit": "second", "amount": 2 },
    })
}

/// Makes a model; what the operator is shown of it.
async fn sell(gateway: &Gateway, model: Value) -> Value {
    let made = gateway
        .operate(Method::POST, "/admin/v1/models", Some(model))
        .await;
    assert_eq!(made.status, 200, "{}", made.json);
    made.json["data"].clone()
}

/// Changes a model.
async fn change(gateway: &Gateway, name: &str, change: Value) -> Answer {
    let path = format!("/admin/v1/models/{name}");
    gateway.operate(Method::PATCH, &path, Some(change)).await
}

/// Asks for a picture of a model.
async fn picture(gateway: &Gateway, caller: &Account, more: Value) -> Answer {
    let mut body = json!({ "prompt": "a lighthouse at dawn" });
    for (name, value) in more.as_object().expect("fields") {
        body[name] = value.clone();
    }
    gateway
        .post(&caller.key, "/v1/images/generations", body)
        .await
}

/// The names that an account is told.
async fn names(gateway: &Gateway, caller: &Account) -> Vec<String> {
    let list = gateway.get(&caller.key, "/v1/models").await;
    assert_eq!(list.status, 200, "{}", list.json);
    let rows = list.json["data"].as_array().expect("rows").iter();
    rows.filter_map(|row| row["id"].as_str())
        .map(str::to_owned)
        .collect()
}

/// The latest job of an account.
async fn latest_job(gateway: &Gateway, caller: &Account) -> Value {
    let list = gateway.get(&caller.key, "/jobs/v1?limit=1").await;
    list.json["data"][0].clone()
}

/// A video that has been made.
async fn finished_video(gateway: &Gateway, caller: &Account, id: &str) -> Value {
    let deadline = Instant::now() + Duration::from_mins(1);
    loop {
        let video = gateway
            .get(&caller.key, &format!("/v1/videos/{id}"))
            .await
            .json;
        if video["status"] == "completed" {
            return video;
        }
        assert!(
            video["status"] != "failed" && Instant::now() < deadline,
            "{video}"
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// The promise: one call of the operator's, and a client that names the new model has a picture of it, in a size that nobody
/// compiled, at the operator's price.
#[tokio::test]
async fn a_picture_model_that_nobody_compiled_is_sold_in_one_call() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    picture(&gateway, &caller, json!({ "model": "seedream-4-5" }))
        .await
        .assert_refused(400, "invalid_parameter");
    let made = sell(&gateway, seedream()).await;
    assert_eq!(
        (&made["name"], &made["revision"]),
        (&json!("seedream-4-5"), &json!(1))
    );
    assert_eq!(made["declared"], false, "{made}");

    let wish = json!({ "model": "seedream-4-5", "size": "2048x2048", "n": 2 });
    let answer = picture(&gateway, &caller, wish).await;
    assert_eq!(answer.status, 200, "{}", answer.json);
    assert_eq!(answer.json["data"].as_array().map(Vec::len), Some(2));
    assert_eq!(answer.json["size"], "2048x2048");
    assert_eq!(gateway.balance(&caller.key).await, (98.0, 0.0));

    let job = latest_job(&gateway, &caller).await;
    assert_eq!(job["model"], "seedream-4-5", "{job}");
    assert_eq!(job["modelRevision"], 1);
    assert_eq!(job["request"]["model"], "seedream-4-5");
    assert_eq!(job["request"]["size"], "2048x2048");
    assert!(job["request"].get("$model").is_none(), "{job}");
    let line = &job["price"][0];
    assert_eq!(line["unit"], "item", "{job}");
    assert_eq!(line["count"].as_f64(), Some(2.0), "{job}");
    assert_eq!(line["amount"].as_f64(), Some(0.5), "{job}");
    assert_eq!(line["factor"].as_f64(), Some(2.0), "{job}");

    // What a quote says is what is held.
    let question = json!({ "operation": "imgmodel.generations",
        "request": { "prompt": "x", "model": "seedream", "size": "2048x2048", "n": 2 } });
    let quote = gateway
        .post(&caller.key, "/account/v1/quote", question)
        .await;
    assert_eq!(quote.json["data"]["quota"].as_f64(), Some(2.0));
    assert_eq!(quote.json["data"]["lines"], job["price"], "{}", quote.json);
}

/// The promise: an alias and any case mean the model, a job is known by its name, and built-in models are as they were.
#[tokio::test]
async fn an_alias_means_the_model_and_built_in_models_stay() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    sell(&gateway, seedream()).await;
    for name in ["seedream", "SeeDream-4-5"] {
        let answer = picture(&gateway, &caller, json!({ "model": name })).await;
        assert_eq!(answer.status, 200, "{name}: {}", answer.json);
        let job = latest_job(&gateway, &caller).await;
        assert_eq!(job["model"], "seedream-4-5", "{job}");
    }
    let answer = picture(&gateway, &caller, json!({ "model": "art-2" })).await;
    assert_eq!(answer.status, 200, "{}", answer.json);
    let job = latest_job(&gateway, &caller).await;
    assert!(
        job.get("model").is_none() && job.get("price").is_none(),
        "{job}"
    );
    let shown = gateway.get(&caller.key, "/v1/models/seedream").await;
    assert_eq!(shown.json["id"], "seedream-4-5", "{}", shown.json);
    assert_eq!(shown.json["owned_by"], "imgmodel");
}

/// The promise: a video of a new model is told in the caller's own words, and one that follows it after the model is gone is
/// still of that model.
#[tokio::test]
async fn a_video_model_is_told_in_its_own_words_and_outlives_its_removal() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    sell(&gateway, kling()).await;
    let body = json!({ "model": "kling-v3", "prompt": "a paper boat", "seconds": "2" });
    let begun = gateway.post(&caller.key, "/v1/videos", body).await;
    assert_eq!(begun.status, 200, "{}", begun.json);
    let id = begun.json["id"].as_str().expect("an id");
    let video = finished_video(&gateway, &caller, id).await;
    assert_eq!(video["model"], "kling-v3", "{video}");
    assert_eq!(video["seconds"], "2", "{video}");
    assert_eq!(video["size"], "640x360", "{video}");
    assert_eq!(gateway.balance(&caller.key).await, (96.0, 0.0));

    let wrong = json!({ "model": "kling-v3", "prompt": "a paper boat", "seconds": "4" });
    let wrong = gateway.post(&caller.key, "/v1/videos", wrong).await;
    wrong.assert_refused(400, "invalid_parameter");
    assert_eq!(wrong.json["param"], "seconds", "{}", wrong.json);

    let path = "/admin/v1/models/kling-v3";
    let removed = gateway.operate(Method::DELETE, path, None).await;
    assert_eq!(removed.status, 200, "{}", removed.json);
    let gone = json!({ "model": "kling-v3", "prompt": "a paper boat" });
    let gone = gateway.post(&caller.key, "/v1/videos", gone).await;
    gone.assert_refused(400, "invalid_parameter");
    let path = format!("/v1/videos/{id}/remix");
    let remix = json!({ "prompt": "the same in the rain" });
    let remix = gateway.post(&caller.key, &path, remix).await;
    assert_eq!(remix.status, 200, "{}", remix.json);
    assert_eq!(remix.json["model"], "kling-v3", "{}", remix.json);
    assert_eq!(remix.json["seconds"], "2", "{}", remix.json);
    let id = remix.json["id"].as_str().expect("an id");
    finished_video(&gateway, &caller, id).await;
    assert_eq!(
        gateway.balance(&caller.key).await,
        (92.0, 0.0),
        "at the last known price"
    );
}

/// The promise: many requests at once name models as one does, each accepted or refused on its own and at its own price.
#[tokio::test]
async fn a_batch_names_models_too() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    sell(&gateway, kling()).await;
    let request = |more: Value| {
        let mut request = json!({ "prompt": "a paper boat" });
        for (name, value) in more.as_object().expect("fields") {
            request[name] = value.clone();
        }
        json!({ "operation": "vidgen_partner.generations", "request": request })
    };
    let requests = [
        request(json!({ "model": "kling-v3" })),
        request(json!({ "model": "kling-v3", "seconds": 4 })),
        request(json!({ "model": "no-such-1" })),
        request(json!({ "model": "KLING-V3", "seconds": 2 })),
    ];
    let body = json!({ "requests": requests });
    let batch = gateway.post(&caller.key, "/jobs/v1/batch", body).await;
    let data = &batch.json["data"];
    assert_eq!(data["accepted"], 2, "{}", batch.json);
    assert_eq!(data["answers"][1]["param"], "seconds", "{}", batch.json);
    assert_eq!(data["answers"][2]["param"], "model", "{}", batch.json);
    let (balance, held) = gateway.balance(&caller.key).await;
    assert!((100.0 - balance - 14.0).abs() < 0.001, "{balance} {held}");
}

/// The promise: a follow-up has the size of what it follows, sold by now or not, and costs what that cost; it is never an error of
/// ours.
#[tokio::test]
async fn a_follow_up_of_a_size_that_is_no_longer_sold_costs_what_it_cost() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    let sold = |sizes: Value, amount: u32| {
        let words: Vec<Value> = sizes
            .as_object()
            .expect("sizes")
            .keys()
            .map(|one| json!(one))
            .collect();
        json!({
            "fields": { "size": { "allowed": words }, "seconds": { "allowed": [1] } },
            "price": { "unit": "second", "amount": amount, "factors": { "size": sizes } },
        })
    };
    let mut model = sold(json!({ "128x128": 1.5, "64x64": 1 }), 2);
    model["name"] = json!("tiny-1");
    model["like"] = json!("vidgen_partner/video-2");
    sell(&gateway, model).await;
    let body = json!({ "model": "tiny-1", "prompt": "a paper boat", "size": "128x128" });
    let begun = gateway.post(&caller.key, "/v1/videos", body).await;
    assert_eq!(begun.status, 200, "{}", begun.json);
    let id = begun.json["id"].as_str().expect("an id").to_owned();
    finished_video(&gateway, &caller, &id).await;
    assert_eq!(gateway.balance(&caller.key).await, (97.0, 0.0));

    let narrowed = sold(json!({ "64x64": 1 }), 9);
    let changed = change(&gateway, "tiny-1", narrowed).await;
    assert_eq!(changed.status, 200, "{}", changed.json);
    for spent in [6.0, 9.0] {
        let request = json!({ "prompt": "in the rain", "remixed_from_video_id": id });
        let question = json!({ "operation": "vidgen_partner.generations", "request": request });
        let quote = gateway
            .post(&caller.key, "/account/v1/quote", question)
            .await;
        assert_eq!(
            quote.json["data"]["quota"].as_f64(),
            Some(3.0),
            "{}",
            quote.json
        );
        let path = format!("/v1/videos/{id}/remix");
        let remix = json!({ "prompt": "in the rain" });
        let remix = gateway.post(&caller.key, &path, remix).await;
        assert_eq!(remix.status, 200, "{}", remix.json);
        assert_eq!(remix.json["size"], "128x128", "{}", remix.json);
        let remixed = remix.json["id"].as_str().expect("an id");
        finished_video(&gateway, &caller, remixed).await;
        assert_eq!(gateway.balance(&caller.key).await, (100.0 - spent, 0.0));
        // The second time the model is gone.
        let path = "/admin/v1/models/tiny-1";
        gateway.operate(Method::DELETE, path, None).await;
    }
}
