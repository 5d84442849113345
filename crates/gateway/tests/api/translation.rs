//! Prompts in other languages: put into English before they are worked with, and what was understood is shown.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::gateway::{Account, Gateway, Options};
use crate::outside::{Outside, answer, read};

const PATIENCE: Duration = Duration::from_mins(1);
const GERMAN: &str = "ein roter Fuchs im Wald";

/// Somebody who translates; what was asked is remembered.
fn translator(says: &'static str) -> (Outside, Arc<Mutex<Vec<Value>>>) {
    let asked: Arc<Mutex<Vec<Value>>> = Arc::default();
    let kept = asked.clone();
    let outside = Outside::start(move |mut stream| {
        let Some(request) = read(&mut stream) else {
            return;
        };
        let body = serde_json::from_slice(&request.body).unwrap_or_default();
        kept.lock().expect("no panic under the lock").push(body);
        let type_of = "content-type: application/json\r\n";
        answer(&mut stream, "200 OK", type_of, says.as_bytes());
    });
    (outside, asked)
}

/// Makes a picture of a prompt; the job as its caller sees it at the end.
async fn made(gateway: &Gateway, account: &Account, body: Value) -> Value {
    let path = "/artgen/v1/imagine";
    let answer = gateway.post(&account.key, path, body).await;
    assert_eq!(answer.status, 200, "{}", answer.json);
    let id = answer.json["data"]["jobId"].as_str().expect("a job id");
    let deadline = Instant::now() + PATIENCE;
    loop {
        let job = gateway.get(&account.key, &format!("/jobs/v1/{id}")).await;
        let job = job.json["data"].clone();
        if job["status"] == "SUCCESS" {
            return job;
        }
        assert!(Instant::now() < deadline, "{job}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// The promise: a prompt is translated once, its flags stay as they are, and the job says what was worked with.
#[tokio::test]
async fn a_libretranslate_puts_prompts_into_english() {
    let (outside, asked) = translator(r#"{"translatedText":"a red fox in the woods"}"#);
    let options = Options::default().set("TRANSLATION_URL", &outside.url(""));
    let gateway = options.spawn().await;
    let account = gateway.account(1000).await;
    for _ in 0..2 {
        let body = json!({ "prompt": format!("{GERMAN} --ar 3:2") });
        let job = made(&gateway, &account, body).await;
        assert_eq!(job["understood"], "a red fox in the woods", "{job}");
        assert_eq!(job["request"]["prompt"], format!("{GERMAN} --ar 3:2"));
    }
    let asked = asked.lock().expect("no panic under the lock").clone();
    assert_eq!(asked.len(), 1, "an answer is remembered: {asked:?}");
    assert_eq!(asked[0]["q"], GERMAN);
    assert_eq!(asked[0]["target"], "en");
}

/// The promise: who wants their words as they are gets them so.
#[tokio::test]
async fn a_language_model_translates_where_translation_is_asked_for() {
    let says = r#"{"choices":[{"message":{"role":"assistant","content":"a red fox"}}]}"#;
    let (outside, asked) = translator(says);
    let options = Options::default()
        .set("TRANSLATION_URL", &outside.url("/v1"))
        .set("TRANSLATION_MODEL", "small");
    let gateway = options.spawn().await;
    let account = gateway.account(1000).await;
    let job = made(&gateway, &account, json!({ "prompt": GERMAN })).await;
    assert_eq!(job["understood"], "a red fox", "{job}");
    let plain = json!({ "prompt": "un bateau bleu", "translation": false });
    let job = made(&gateway, &account, plain).await;
    assert_eq!(job.get("understood"), None, "{job}");
    let asked = asked.lock().expect("no panic under the lock").clone();
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert_eq!(asked[0]["model"], "small");
    assert_eq!(asked[0]["messages"][1]["content"], GERMAN);
}

/// The promise: what is submitted together is translated like what is submitted alone.
#[tokio::test]
async fn prompts_of_a_batch_are_translated_too() {
    let (outside, asked) = translator(r#"{"translatedText":"a red fox in the woods"}"#);
    let options = Options::default().set("TRANSLATION_URL", &outside.url(""));
    let gateway = options.spawn().await;
    let account = gateway.account(1000).await;
    let one =
        |prompt: &str| json!({ "operation": "artgen.imagine", "request": { "prompt": prompt } });
    let body = json!({ "requests": [one(GERMAN), one("ein Fuchs"), { "operation": "no.such", "request": {} }] });
    let answer = gateway.post(&account.key, "/jobs/v1/batch", body).await;
    assert_eq!(answer.json["data"]["accepted"], 2, "{}", answer.json);
    let jobs = gateway.get(&account.key, "/jobs/v1").await.json;
    let jobs = jobs["data"].as_array().expect("a list").clone();
    assert_eq!(jobs.len(), 2);
    for job in jobs {
        let id = job["jobId"].as_str().expect("an id");
        let job = gateway.get(&account.key, &format!("/jobs/v1/{id}")).await;
        let understood = &job.json["data"]["understood"];
        assert_eq!(understood, "a red fox in the woods", "{}", job.json);
    }
    assert_eq!(asked.lock().expect("no panic under the lock").len(), 2);
}

/// The promise: nobody waits for a translator that is away: the dictionaries are behind it.
#[tokio::test]
async fn dictionaries_stand_behind_a_translator_that_is_away() {
    let options = Options::default().set("TRANSLATION_URL", "http://127.0.0.1:9");
    let gateway = options.spawn().await;
    let account = gateway.account(1000).await;
    let job = made(&gateway, &account, json!({ "prompt": GERMAN })).await;
    let understood = job["understood"].as_str().unwrap_or_default();
    assert!(understood.contains("fox"), "{job}");
    let job = made(&gateway, &account, json!({ "prompt": "a red fox" })).await;
    assert_eq!(job.get("understood"), None, "English is English: {job}");
}

/// The promise: a translation is judged as the words themselves are, alone and in a batch, and nothing is held for it.
#[tokio::test]
async fn a_translation_is_judged_again() {
    let (outside, _) = translator(r#"{"translatedText":"a nude statue"}"#);
    let options = Options::default().set("TRANSLATION_URL", &outside.url(""));
    let gateway = options.spawn().await;
    let account = gateway.account(1000).await;
    let body = json!({ "prompt": "eine nackte Statue --ar 3:2" });
    let answer = gateway.post(&account.key, "/artgen/v1/imagine", body).await;
    answer.assert_refused(400, "banned_prompt");
    assert_eq!(answer.json["param"], "prompt");
    assert!(answer.json["message"].to_string().contains("[nude]"));
    let one =
        |prompt: &str| json!({ "operation": "artgen.imagine", "request": { "prompt": prompt } });
    let plain = json!({ "operation": "artgen.imagine",
        "request": { "prompt": "[[stall]] a fox", "translation": false } });
    let body = json!({ "requests": [one("eine nackte Frau"), plain] });
    let answer = gateway.post(&account.key, "/jobs/v1/batch", body).await;
    assert_eq!(answer.json["data"]["accepted"], 1, "{}", answer.json);
    let items = answer.json["data"]["answers"].to_string();
    assert!(items.contains("banned_prompt"), "{items}");
    let (balance, held) = gateway.balance(&account.key).await;
    assert!(
        (balance + held - 1000.0).abs() < 0.001,
        "{balance} and {held}"
    );
    assert!((held - 4.0).abs() < 0.001, "{held} held");
}
