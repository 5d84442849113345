//! What the remote is asked.

use atelier_contract::Notes;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::server::{RecordedRequest, Remote, Reply};
use crate::work::{finish, picture, png, settled, work};
use atelier_backends::StartOutcome;
use atelier_contract::Job;

fn accepting() -> Remote {
    Remote::start(|_| {
        Reply::Json(
            200,
            json!({ "status": "SUCCESS", "message": "success", "data": { "jobId": "remote-1" } }),
        )
    })
}

/// What the remote gets for a body.
async fn sent(name: &str, body: Value, parent: Option<&Job>, cited: &[Job]) -> RecordedRequest {
    let remote = accepting();
    let relay = remote.worker("relay", Value::Null);
    let (work, _) = work(name, &body, parent, cited);
    let started = relay.start(work).await.expect("accepted");
    assert!(
        matches!(started, StartOutcome::Ticket(ticket) if ticket == json!({ "jobId": "remote-1" }))
    );
    remote.last()
}

/// A finished grid that the remote knows as `remote-grid`.
async fn grid() -> Job {
    let remote = Remote::start(|asked| match asked.path.as_str() {
        "/artgen/v1/imagine" => Reply::Json(200, json!({ "data": { "jobId": "remote-grid" } })),
        "/grid.png" => Reply::Raw(200, "", png(32, 32, [9; 4])),
        _ => Reply::Json(
            200,
            json!({ "status": "SUCCESS", "originImage": "/grid.png" }),
        ),
    });
    let (work, job) = work("artgen.imagine", &json!({ "prompt": "a fox" }), None, &[]);
    let made = finish(&*remote.worker("relay", Value::Null), &work).await;
    settled(job, &made.expect("a grid"))
}

#[tokio::test]
async fn a_request_goes_on_with_its_documented_fields_and_without_its_callback() {
    let body = json!({
        "prompt": "a fox --ar 3:2", "mode": "turbo", "getUImages": true,
        "hookUrl": "https://example.com/hook",
    });
    let asked = sent("artgen.imagine", body, None, &[]).await;
    assert_eq!(
        (asked.method.as_str(), asked.path.as_str()),
        ("POST", "/artgen/v1/imagine")
    );
    assert_eq!(asked.header("svc-api-key"), "the-credential");
    assert_eq!(
        asked.header("idempotency-key"),
        "019a0000-0000-7000-8000-00000000000a"
    );
    assert_eq!(
        asked.json(),
        json!({
            "prompt": "a fox --ar 3:2", "mode": "turbo", "timeout": 300, "getUImages": true,
            "translation": true,
        })
    );
}

#[tokio::test]
async fn inline_pictures_go_as_data_uris_and_masks_bare() {
    let (one, two) = (png(8, 8, [1; 4]), png(8, 8, [2; 4]));
    let uri = |bytes: &[u8]| format!("data:image/png;base64,{}", STANDARD.encode(bytes));
    let body = json!({ "imgBase64Array": [uri(&one), STANDARD.encode(&two)] });
    let asked = sent("artgen.blend", body, None, &[]).await;
    assert_eq!(
        asked.json()["imgBase64Array"],
        json!([uri(&one), uri(&two)])
    );

    let mask = STANDARD.encode(png(32, 32, [255; 4]));
    let body = json!({ "jobId": "ours", "mask": mask, "prompt": "a hat" });
    let mut parent = grid().await;
    parent.id = atelier_contract::JobId::new("ours");
    let asked = sent("artgen.inpaint", body, Some(&parent), &[]).await;
    assert_eq!(
        asked.json(),
        json!({ "jobId": "remote-grid", "mask": mask, "prompt": "a hat", "timeout": 300 })
    );
}

#[tokio::test]
async fn addresses_become_bytes_where_bytes_are_taken_and_stay_elsewhere() {
    let uri = format!("data:image/png;base64,{}", STANDARD.encode(picture()));
    let here = "http://own.example/files/a.png";
    let body = json!({ "prompt": "draw", "referImages": [here] });
    let asked = sent("imgmodel.chat", body, None, &[]).await;
    assert_eq!(asked.json()["referImages"], json!([uri]));

    let body = json!({
        "prompt": "x", "model": "anime-diffusion-4-5-full", "vibe_transfer": [{ "image": here }],
    });
    let asked = sent("animegen.text_to_image", body, None, &[]).await;
    assert_eq!(asked.json()["vibe_transfer"][0]["image"], json!(uri));

    let body = json!({ "targetImage": here, "swapImage": "http://own.example/b.png" });
    let asked = sent("facegen.swap", body.clone(), None, &[]).await;
    assert_eq!(asked.json(), body);

    let body = json!({ "prompt": here });
    let asked = sent("artgen.imagine", body, None, &[]).await;
    assert_eq!(asked.json()["prompt"], here, "a prompt is never a picture");
}

#[tokio::test]
async fn edits_go_as_a_form_with_files() {
    let (image, mask) = (png(16, 16, [3; 4]), png(16, 16, [0; 4]));
    let body = json!({
        "model": "art-2", "prompt": "a hat", "n": 2,
        "image": STANDARD.encode(&image), "mask": STANDARD.encode(&mask),
    });
    let remote = Remote::start(|_| Reply::Json(200, json!({ "data": [{ "url": "/x.png" }] })));
    let relay = remote.worker("relay", Value::Null);
    let (work, _) = work("imgmodel.edits", &body, None, &[]);
    relay.start(work).await.expect("answered");
    let asked = remote.last();
    let content_type = asked.header("content-type").to_owned();
    let boundary = content_type
        .strip_prefix("multipart/form-data; boundary=")
        .expect("a form");
    let part = |name: &str, more: &str, bytes: &[u8]| {
        let head = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"{more}\r\n\r\n"
        );
        [head.as_bytes(), bytes, b"\r\n"].concat()
    };
    let has = |part: Vec<u8>| asked.body.windows(part.len()).any(|bytes| bytes == part);
    let file = |name: &str| format!("; filename=\"{name}.png\"\r\nContent-Type: image/png");
    assert!(has(part("image", &file("image"), &image)));
    assert!(has(part("mask", &file("mask"), &mask)));
    assert!(has(part("prompt", "", b"a hat")));
    assert!(has(part("n", "", b"2")));
    assert!(
        asked
            .body
            .ends_with(format!("--{boundary}--\r\n").as_bytes())
    );
}

#[tokio::test]
async fn characters_are_called_as_the_remote_calls_them() {
    let remote = Remote::start(|asked| match asked.path.as_str() {
        "/vidgen/characters" => Reply::Json(200, json!({ "data": { "jobId": "c" } })),
        "/p.png" => Reply::Raw(200, "", picture()),
        _ => Reply::Json(
            200,
            json!({ "status": "SUCCESS", "data": { "username": "fox_9", "previewUrl": "/p.png" } }),
        ),
    });
    let body = json!({ "url": "https://example.com/a.mp4", "timestamps": "1,3" });
    let (made_of, job) = work("vidgen.characters", &body, None, &[]);
    let made = finish(&*remote.worker("relay", Value::Null), &made_of)
        .await
        .expect("a character");
    assert_eq!(made.alias.as_deref(), Some("fox_9"));
    let mut character = settled(job, &made);
    // The service may call it by another name than the remote does.
    character.output.as_mut().expect("an output").alias = Some("fox".into());
    let body = json!({ "model": "video-2", "prompt": "@Fox runs, @fox jumps" });
    let asked = sent("vidgen.generations", body, None, &[character]).await;
    assert_eq!(asked.json()["prompt"], "@fox_9 runs, @fox_9 jumps");
}

#[tokio::test]
async fn a_parent_that_another_back_end_made_is_refused_before_anything_is_sent() {
    let mut parent = grid().await;
    parent.output.as_mut().expect("an output").notes = Notes::of(&json!({ "kind": "scene" }));
    let remote = accepting();
    let relay = remote.worker("relay", Value::Null);
    let body = json!({ "jobId": parent.id.as_str(), "action": "upsample1" });
    let (work, _) = work("artgen.action", &body, Some(&parent), &[]);
    let fault = crate::work::refused(&*relay, &work).await;
    assert_eq!(fault.class, atelier_backends::Class::BadRequest);
    assert_eq!(fault.field.as_deref(), Some("jobId"));
    assert!(remote.asked().is_empty());
}

/// A route says what the remote calls an operator's model; what only that model knows goes along with it.
#[tokio::test]
async fn a_model_of_the_operators_goes_by_the_remotes_name_and_in_the_callers_words() {
    let body = json!({ "prompt": "a fox", "model": "video-2" });
    let note =
        json!({ "name": "film", "revision": 1, "said": { "model": "film", "duration": 33 } });
    for (routed, model) in [
        (Some("film-at-the-remote"), "film-at-the-remote"),
        (None, "video-2"),
    ] {
        let remote = accepting();
        let relay = remote.worker("relay", Value::Null);
        let (mut work, _) = work("vidgen.generations", &body, None, &[]);
        work.request.insert("$model".to_owned(), note.clone());
        work.brief.vendor_model = routed.map(str::to_owned);
        relay.start(work).await.expect("accepted");
        let asked = remote.last().json();
        assert_eq!(asked["model"], model);
        assert_eq!(asked["duration"] == json!(33), routed.is_some(), "{asked}");
        assert!(asked.get("$model").is_none(), "{asked}");
    }
}
