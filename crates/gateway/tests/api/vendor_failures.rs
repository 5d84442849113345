//! What callers and operators read when a vendor refuses: the next back end is asked, accounts stay as well as they are, and no
//! word of a vendor's reaches a caller.

use reqwest::Method;
use serde_json::{Value, json};

use crate::backends::finished;
use crate::gateway::{Gateway, Options};
use crate::stand::{RecordedRequest, Reply, Stand, base64, json as answer, png, status};

const SECRET: &str = "secret-model-9";

/// A back end at a server, with one worker account.
async fn connect(gateway: &Gateway, vendor: &str, stand: &Stand, more: Value) -> String {
    let mut body = json!({ "vendor": vendor, "name": vendor, "base_url": stand.url("/v1"),
        "operations": ["imgmodel"] });
    for (name, value) in more.as_object().into_iter().flatten() {
        body[name] = value.clone();
    }
    let made = gateway
        .operate(Method::POST, "/admin/v1/backends", Some(body))
        .await;
    assert_eq!(made.status, 200, "{}", made.json);
    let id = made.json["data"]["id"].as_str().expect("an id").to_owned();
    let path = format!("/admin/v1/backends/{id}/accounts");
    let body = json!({ "name": "first", "credential": "a-credential", "concurrency": 2 });
    let made = gateway.operate(Method::POST, &path, Some(body)).await;
    assert_eq!(made.status, 200, "{}", made.json);
    id
}

/// The condition of a back end's worker account, and all that is told of it.
async fn condition(gateway: &Gateway, backend: &str) -> (String, String) {
    let path = format!("/admin/v1/backends/{backend}");
    let shown = gateway.operate(Method::GET, &path, None).await;
    let health = &shown.json["data"]["accounts"][0]["health"];
    let condition = health["condition"].as_str().unwrap_or_default();
    (condition.to_owned(), shown.json.to_string())
}

fn picture() -> Value {
    json!({ "data": [{ "b64_json": base64(png(1024, 1024, [9, 99, 9, 255])) }] })
}

/// Asks for a picture without waiting, and waits for its end.
async fn drawn(gateway: &Gateway, key: &str) -> Value {
    let body = json!({ "prompt": "a lighthouse", "model": "image-1", "async": true });
    let accepted = gateway.post(key, "/v1/images/generations", body).await;
    let id = accepted.json["id"].as_str();
    let id = id.unwrap_or_else(|| panic!("{}", accepted.json)).to_owned();
    finished(gateway, key, &id).await
}

/// The promise: a model that one vendor does not know is made by the next, the account stays well, the route says so, and the
/// vendor's name of the model is read by operators alone.
#[tokio::test]
async fn a_renamed_model_is_made_by_the_next_back_end_and_marked() {
    let words = format!("The model '{SECRET}' does not exist.");
    let refusal = json!({ "error": { "message": words, "type": "invalid_request_error",
        "param": "model", "code": "invalid_value" } });
    let renamed = Stand::new(move |seen: &RecordedRequest| {
        if seen.line.starts_with("POST") {
            status(400, &refusal)
        } else {
            answer(&json!({ "data": [] }))
        }
    });
    let spare = Stand::always(answer(&picture()));
    let gateway = Gateway::spawn().await;
    let first = connect(
        &gateway,
        "openai",
        &renamed,
        json!({ "name": "first", "rank": 1, "settings": { "image_model": SECRET } }),
    )
    .await;
    let second = json!({ "name": "second", "rank": 2, "settings": { "image_model": "m" } });
    let second = connect(&gateway, "openai", &spare, second).await;
    let model = json!({ "name": "image-1",
        "routes": [{ "backend": "first" }, { "backend": "second" }] });
    let made = gateway
        .operate(Method::POST, "/admin/v1/models", Some(model))
        .await;
    assert_eq!(made.status, 200, "{}", made.json);
    let caller = gateway.account(1_000).await;
    let job = drawn(&gateway, &caller.key).await;
    assert_eq!(job["status"], "SUCCESS", "{job}");
    assert_eq!(renamed.asked("POST").len(), 1, "asked once");
    let (state, told) = condition(&gateway, &first).await;
    // Nothing has shown yet that its vendor takes work, and nothing speaks against the account.
    assert_eq!(state, "untested", "{told}");
    let shown = gateway
        .operate(Method::GET, "/admin/v1/models/image-1", None)
        .await
        .json;
    let problem = shown["data"]["route_health"][0]["problem"].as_str();
    let problem = problem.unwrap_or_else(|| panic!("{shown}"));
    assert!(
        problem.contains("does not know the model image-1"),
        "{problem}"
    );
    assert!(problem.contains(&words), "{problem}");
    assert!(!problem.contains('\\'), "unescaped: {problem}");
    assert_eq!(shown["data"]["route_health"][1]["problem"], Value::Null);

    // Without the spare one the job fails, and says nothing of the vendor's.
    let path = format!("/admin/v1/backends/{second}");
    let off = gateway.operate(Method::PATCH, &path, Some(json!({ "enabled": false })));
    assert_eq!(off.await.status, 200);
    let body = json!({ "prompt": "a lighthouse", "model": "image-1" });
    let refused = gateway
        .post(&caller.key, "/v1/images/generations", body)
        .await;
    let text = refused.json.to_string();
    assert!(
        text.contains("the back end does not know the model"),
        "{text}"
    );
    assert!(!text.contains("secret"), "{text}");
}

fn limit(quota: &str, delay: &str) -> Reply {
    let words = "You exceeded your current quota, please check your plan and billing details.";
    let details = json!([
        { "@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{ "quotaId": quota }] },
        { "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay }]);
    status(
        429,
        &json!({ "error": { "code": 429, "message": words, "status": "RESOURCE_EXHAUSTED", "details": details } }),
    )
}

/// The promise: a limit of a minute is over when the vendor says so, whatever it says of plan and billing.
#[tokio::test]
async fn a_limit_of_a_minute_pauses_the_account_for_as_long_as_the_vendor_says() {
    let made = json!({ "candidates": [{ "finishReason": "STOP", "content": { "parts": [
        { "inlineData": { "mimeType": "image/png", "data": base64(png(1024, 1024, [9; 4])) } }] } }] });
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let google = Stand::new(move |seen: &RecordedRequest| {
        let is_order = seen.line.contains(":generateContent");
        let before = asked.fetch_add(usize::from(is_order), std::sync::atomic::Ordering::SeqCst);
        match (is_order, before) {
            (true, 0) => limit("GenerateRequestsPerMinutePerProjectPerModel", "1.5s"),
            (true, _) => answer(&made),
            _ => answer(&json!({ "models": [] })),
        }
    });
    let gateway = Gateway::spawn().await;
    let backend = connect(&gateway, "google", &google, json!({})).await;
    let caller = gateway.account(1_000).await;
    let job = drawn(&gateway, &caller.key).await;
    assert_eq!(job["status"], "SUCCESS", "{job}");
    assert_eq!(google.asked(":generateContent").len(), 2);
    let (state, told) = condition(&gateway, &backend).await;
    assert_ne!(state, "out_of_credit", "{told}");
}

/// The promise: whoever waits for an account that is out for longer than the job may take reads so at once.
#[tokio::test]
async fn a_job_that_nobody_can_begin_in_time_ends_at_once() {
    let google = Stand::new(|seen: &RecordedRequest| {
        if seen.line.contains(":generateContent") {
            limit("GenerateRequestsPerDayPerProjectPerModel", "26s")
        } else {
            answer(&json!({ "models": [] }))
        }
    });
    let gateway = Gateway::spawn().await;
    connect(&gateway, "google", &google, json!({})).await;
    let caller = gateway.account(1_000).await;
    let job = drawn(&gateway, &caller.key).await;
    assert_eq!(job["status"], "FAILED", "{job}");
    assert!(job.to_string().contains("no back end available"), "{job}");
    assert_eq!(gateway.balance(&caller.key).await, (1_000.0, 0.0));
}

/// The promise: no word of a vendor's reaches a caller, also where a proxy passes on what another one said.
#[tokio::test]
async fn the_words_of_a_proxy_are_for_operators() {
    let words = "litellm.BadRequestError: OpenAIException - Invalid size '10x10'";
    let proxy = Stand::new(move |seen: &RecordedRequest| {
        if seen.line.starts_with("POST") {
            status(
                400,
                &json!({ "error": { "message": words, "code": "400" } }),
            )
        } else {
            answer(&json!({ "data": [] }))
        }
    });
    let gateway = Gateway::spawn().await;
    let settings = json!({ "settings": { "image_model": SECRET } });
    let backend = connect(&gateway, "openai", &proxy, settings).await;
    let caller = gateway.account(1_000).await;
    let job = drawn(&gateway, &caller.key).await;
    assert_eq!(job["status"], "FAILED", "{job}");
    let text = job.to_string();
    assert!(
        text.contains("the back end cannot work with this request"),
        "{text}"
    );
    assert!(
        !text.contains("litellm") && !text.contains("10x10"),
        "{text}"
    );
    let (state, told) = condition(&gateway, &backend).await;
    assert_eq!(state, "untested");
    assert!(told.contains(words), "{told}");
    let id = job["jobId"].as_str().expect("an id");
    let path = format!("/admin/v1/jobs/{id}/trail");
    let trail = gateway.operate(Method::GET, &path, None).await;
    let trail = trail.json.to_string();
    assert_eq!(trail.matches(words).count(), 1, "{trail}");
    let path = format!("/jobs/v1/{id}/trail");
    let own = gateway.get(&caller.key, &path).await.json.to_string();
    assert!(!own.contains("litellm"), "{own}");
    assert!(!told.contains("\\\\\\"), "escaped twice: {told}");
}

/// The promise: a vendor is given an address to post to only where it can reach it.
#[tokio::test]
async fn no_vendor_is_told_of_an_address_that_only_this_machine_knows() {
    for (options, tells) in [
        (Options::default(), false),
        (
            Options::default().set("BASE_URL", "http://media.example.com"),
            false,
        ),
        (
            Options::default().set("HOOK_BASE_URL", "https://hooks.example.com/"),
            true,
        ),
    ] {
        let fal = Stand::always(status(422, &json!({ "detail": "no" })));
        let gateway = options.spawn().await;
        let settings = json!({ "settings": { "schema_url": "" } });
        connect(&gateway, "fal", &fal, settings).await;
        let caller = gateway.account(1_000).await;
        drawn(&gateway, &caller.key).await;
        let order = fal.asked("POST").pop().expect("an order");
        assert_eq!(order.line.contains("fal_webhook="), tells, "{}", order.line);
        let base = "hooks.example.com%2Fhooks%2Fv1";
        assert_eq!(order.line.contains(base), tells, "{}", order.line);
    }
}
