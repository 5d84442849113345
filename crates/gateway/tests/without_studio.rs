//! The service without a painter of its own: what no vendor serves is refused before it costs anything, and vendors
//! serve as ever. Without the feature `studio` this holds of the binary itself, with it of `studio.enabled = false`.

#[path = "api/documented.rs"]
mod documented;
#[path = "api/gateway.rs"]
#[expect(dead_code, reason = "other tests use the rest of the harness")]
mod gateway;
#[path = "api/outside.rs"]
#[expect(dead_code, reason = "other tests use the rest of the harness")]
mod outside;
#[path = "../../../tests/shared/stopwatch.rs"]
mod stopwatch;

use atelier_contract::FAMILIES;
use atelier_media::{Encoding, Picture, encode, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use serde_json::{Value, json};

use gateway::{Gateway, Options};
use outside::{Outside, answer, read};

/// These need an earlier job, which nobody could have made.
const FOLLOW_UPS: [&str; 6] = [
    "artgen.action",
    "artgen.seed",
    "artgen.inpaint",
    "artgen.video.extend",
    "vidgen.no_watermark",
    "motion.extend",
];

async fn vendors_only() -> Gateway {
    let options = Options::default();
    #[cfg(feature = "studio")]
    let options = options.set("STUDIO_ENABLED", "false");
    options.spawn().await
}

#[tokio::test]
async fn a_job_that_nobody_can_serve_is_refused_when_it_is_submitted_and_holds_nothing() {
    let gateway = vendors_only().await;
    let account = gateway.account(1000).await;
    let submits = FAMILIES.iter().flat_map(|family| family.submits);
    let mut asked = 0;
    for submit in submits.filter(|one| !FOLLOW_UPS.contains(&one.name)) {
        let body: Value = serde_json::from_str(submit.example).expect("an example");
        let refused = gateway.post(&account.key, submit.path, body).await;
        let text = refused.json.to_string();
        assert_eq!(refused.status, 400, "{}: {text}", submit.name);
        assert!(
            text.contains("no_available_account"),
            "{}: {text}",
            submit.name
        );
        asked += 1;
    }
    assert!(asked > 20, "{asked} operations were asked for");
    assert_eq!(gateway.balance(&account.key).await, (1000.0, 0.0));
    let jobs = gateway.get(&account.key, "/jobs/v1").await;
    assert_eq!(jobs.json["total"], 0, "{}", jobs.json);
}

#[tokio::test]
async fn a_vendor_serves_without_the_studio() {
    let vendor = Outside::start(|mut stream| {
        while let Some(request) = read(&mut stream) {
            assert_eq!(request.path(), "/v1/images/generations");
            let picture = Picture::filled(1024, 1024, [200, 120, 40, 255]);
            let file = STANDARD.encode(encode(&picture, Encoding::Png, None));
            let body = json!({ "created": 1, "data": [{ "b64_json": file }] }).to_string();
            answer(
                &mut stream,
                "200 OK",
                "content-type: application/json\r\n",
                body.as_bytes(),
            );
        }
    });
    let gateway = vendors_only().await;
    let made = json!({
        "vendor": "openai",
        "name": "pictures",
        "base_url": vendor.url("/v1"),
        "settings": { "image_model": "any" },
    });
    let made = gateway
        .operate(Method::POST, "/admin/v1/backends", Some(made))
        .await;
    assert_eq!(made.status, 200, "{}", made.json);
    let id = made.json["data"]["id"].as_str().expect("an id");
    let worker = json!({ "name": "first", "credential": "sk-test" });
    let path = format!("/admin/v1/backends/{id}/accounts");
    let added = gateway.operate(Method::POST, &path, Some(worker)).await;
    assert_eq!(added.status, 200, "{}", added.json);

    let account = gateway.account(100).await;
    let body = json!({ "prompt": "a lamp", "response_format": "b64_json" });
    let answer = gateway
        .post(&account.key, "/v1/images/generations", body)
        .await;
    assert_eq!(answer.status, 200, "{}", answer.json);
    let picture = answer.json["data"][0]["b64_json"]
        .as_str()
        .expect("a picture");
    let picture = STANDARD.decode(picture).expect("base64");
    assert_eq!(header(&picture).expect("a picture").width, 1024);
}
