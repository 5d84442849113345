//! Uploads: kept, listed, good as inputs of their own account alone, and gone when they are deleted.

use atelier_media::{Encoding, Picture, encode};
use reqwest::Method;
use reqwest::multipart::{Form, Part};
use serde_json::json;

use crate::backends::finished;
use crate::gateway::{Answer, Gateway, send};

/// A picture of one colour.
pub(crate) fn png(width: u32, height: u32) -> Vec<u8> {
    encode(
        &Picture::filled(width, height, [180, 60, 20, 255]),
        Encoding::Png,
        None,
    )
}

/// Uploads a file.
pub(crate) async fn upload(gateway: &Gateway, key: &str, bytes: Vec<u8>, kind: &str) -> Answer {
    let part = Part::bytes(bytes).file_name("a-file");
    let part = part.mime_str(kind).expect("a media type");
    let request = gateway.request(Method::POST, "/files/v1");
    let form = Form::new().part("file", part);
    send(request.header("SVC-API-KEY", key).multipart(form)).await
}

#[tokio::test]
async fn an_upload_is_good_in_image_fields_until_it_is_deleted() {
    let gateway = Gateway::spawn().await;
    let (owner, other) = (gateway.account(100).await, gateway.account(100).await);
    let kept = upload(&gateway, &owner.key, png(64, 48), "image/png").await;
    assert_eq!(kept.status, 200, "{}", kept.json);
    let file = &kept.json["data"];
    assert_eq!(file["type"], "image/png");
    assert_eq!(file["bytes"], png(64, 48).len());
    let url = file["url"].as_str().expect("an address");
    let bytes = reqwest::get(url).await.expect("an answer").bytes().await;
    assert_eq!(bytes.expect("a body"), png(64, 48));

    // As an address, and where otherwise only bytes are taken.
    let design = json!({ "image": url });
    let answer = gateway
        .post(
            &owner.key,
            "/design/images/removeBackground",
            design.clone(),
        )
        .await;
    assert_eq!(answer.status, 200, "{}", answer.json);
    let describe = json!({ "base64": url });
    let answer = gateway
        .post(&owner.key, "/artgen/v1/describe", describe.clone())
        .await;
    let id = answer.json["data"]["jobId"].as_str().expect("a job");
    let job = finished(&gateway, &owner.key, id).await;
    assert_eq!(job["status"], "SUCCESS", "{job}");

    // It is the owner's alone.
    for (path, body, field) in [
        ("/design/images/removeBackground", &design, "image"),
        ("/artgen/v1/describe", &describe, "base64"),
    ] {
        let answer = gateway.post(&other.key, path, body.clone()).await;
        answer.assert_refused(400, "address_not_allowed");
        assert_eq!(answer.json["param"], field);
    }
    // Other addresses are no bytes.
    let strange = json!({ "base64": "https://example.com/a.png" });
    let answer = gateway
        .post(&owner.key, "/artgen/v1/describe", strange)
        .await;
    answer.assert_refused(400, "invalid_parameter");

    let list = gateway.get(&owner.key, "/files/v1").await;
    assert_eq!(
        (&list.json["total"], &list.json["data"][0]),
        (&json!(1), file)
    );
    let path = format!("/files/v1/{}", file["id"].as_str().expect("an id"));
    let delete = async |key: &str| {
        let request = gateway.request(Method::DELETE, &path);
        send(request.header("SVC-API-KEY", key)).await
    };
    delete(&other.key).await.assert_refused(404, "not_found");
    assert_eq!(delete(&owner.key).await.status, 200);
    delete(&owner.key).await.assert_refused(404, "not_found");
    assert_eq!(gateway.get(&owner.key, "/files/v1").await.json["total"], 0);
    let gone = reqwest::get(url).await.expect("an answer");
    assert_eq!(gone.status(), 410);
    let answer = gateway
        .post(&owner.key, "/design/images/removeBackground", design)
        .await;
    answer.assert_refused(400, "address_not_allowed");
}

#[tokio::test]
async fn what_is_no_picture_and_no_video_is_not_kept() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(100).await;
    let mut damaged = png(64, 64);
    damaged.truncate(40);
    for bytes in [b"<svg/>".to_vec(), b"GIF8".to_vec(), damaged, Vec::new()] {
        let answer = upload(&gateway, &account.key, bytes, "image/png").await;
        answer.assert_refused(400, "image_unusable");
        assert_eq!(answer.json["param"], "file");
    }
    let request = gateway.request(Method::POST, "/files/v1");
    let form = Form::new().text("file", "not a file");
    let answer = send(request.header("SVC-API-KEY", &account.key).multipart(form)).await;
    answer.assert_refused(400, "invalid_parameter");
    let answer = gateway.post(&account.key, "/files/v1", json!({})).await;
    answer.assert_refused(415, "unsupported_media");
    assert_eq!(
        gateway.get(&account.key, "/files/v1").await.json["total"],
        0
    );
}

#[tokio::test]
async fn models_are_those_that_the_pool_can_serve() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(1).await;
    let list = gateway.get(&account.key, "/v1/models").await;
    assert_eq!(list.json["object"], "list");
    let rows = list.json["data"].as_array().expect("rows");
    let ids: Vec<&str> = rows.iter().filter_map(|row| row["id"].as_str()).collect();
    for model in ["image-1", "art-3", "video-2-pro"] {
        assert!(ids.contains(&model), "{model} among {ids:?}");
    }
    // Every name in the list is one that a call of the same libraries takes, and a name of another path is in no list.
    let poor = gateway.account(0).await;
    for model in &ids {
        let body = json!({ "model": model, "prompt": "a boat" });
        let mut taken = false;
        for path in ["/v1/images/generations", "/v1/videos"] {
            let answer = gateway.post(&poor.key, path, body.clone()).await;
            taken |= answer.json["code"] == "insufficient_quota";
        }
        assert!(taken, "{model} is listed and nothing takes it");
    }
    for elsewhere in ["designv3", "motion-v3"] {
        assert!(!ids.contains(&elsewhere), "{ids:?}");
        let path = format!("/v1/models/{elsewhere}");
        let answer = gateway.get(&account.key, &path).await;
        answer.assert_refused(404, "not_found");
    }
    let one = gateway.get(&account.key, "/v1/models/image-1").await;
    assert_eq!(
        &one.json,
        rows.iter()
            .find(|row| row["id"] == "image-1")
            .expect("a row")
    );
    let none = gateway.get(&account.key, "/v1/models/dall-e-9").await;
    none.assert_refused(404, "not_found");
    assert_eq!(none.json["error"]["code"], "not_found");
}
