//! What a vendor posts that says it nowhere else: as large as its pictures are, from whoever was given the word.

use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::gateway::{Answer, Gateway, Options, send};
use crate::hosted::cog_settings;
use crate::local::picture;
use crate::stand::{Stand, base64, json as answer, status};

/// A service in front of a server that takes orders and posts later.
async fn connected(stand: &Stand) -> Gateway {
    let gateway = Options::default()
        .set("HOOK_BASE_URL", "https://hooks.example.com")
        .spawn()
        .await;
    let mut settings = cog_settings();
    settings["webhook"] = json!(true);
    let body =
        json!({ "vendor": "cog", "name": "own", "base_url": stand.url(""), "settings": settings });
    let made = gateway.operate(Method::POST, "/admin/v1/backends", Some(body));
    let made = made.await;
    assert_eq!(made.status, 200, "{}", made.json);
    let backend = made.json["data"]["id"].as_str().expect("an id");
    let path = format!("/admin/v1/backends/{backend}/accounts");
    let made = gateway.operate(Method::POST, &path, Some(json!({ "name": "main" })));
    assert_eq!(made.await.status, 200);
    gateway
}

async fn post(gateway: &Gateway, path: &str, body: Vec<u8>) -> Answer {
    let posted = gateway.request(Method::POST, path);
    send(posted.header("content-type", "application/json").body(body)).await
}

#[tokio::test]
async fn a_post_with_a_large_picture_is_the_answer_of_a_call_that_waits() {
    let stand = Stand::new(|seen| {
        if seen.line.starts_with("PUT ") {
            return status(202, &json!({"id": "x", "status": "starting"}));
        }
        answer(&json!({"status": "READY"}))
    });
    let gateway = connected(&stand).await;
    let caller = gateway.account(1_000).await;
    let (_, submit) = atelier_contract::operation("imgmodel.chat").expect("in the table");
    let asked = gateway.post(&caller.key, submit.path, json!({"prompt": "a fox"}));
    let posted = async {
        stand.until_asked("PUT", 1).await;
        // The answer to the order is written down first.
        tokio::time::sleep(Duration::from_millis(300)).await;
        let order = &stand.asked("PUT")[0];
        let hook = order.json()["webhook"].as_str().map(str::to_owned);
        let hook = hook.expect("an address");
        let path = hook
            .strip_prefix("https://hooks.example.com")
            .expect("its base");
        let (_, name) = order.line.rsplit_once('/').expect("a name");
        let body = json!({"id": name, "status": "succeeded", "logs": "x".repeat(6 << 20),
            "output": format!("data:image/png;base64,{}", base64(picture()))});
        let body = body.to_string().into_bytes();
        let forged = format!("{}0", &path[..path.len() - 1]);
        let forged = if forged == path {
            format!("{}1", &path[..path.len() - 1])
        } else {
            forged
        };
        let refused = post(&gateway, &forged, b"{}".to_vec()).await;
        refused.assert_refused(404, "not_found");
        let endless = post(&gateway, path, vec![b' '; 25 << 20]).await;
        assert_eq!(endless.status, StatusCode::PAYLOAD_TOO_LARGE);
        let heard = post(&gateway, path, body).await;
        assert_eq!(heard.status, 200, "{}", heard.json);
    };
    let (answer, ()) = tokio::join!(asked, posted);
    assert_eq!(answer.status, 200, "{}\n{}", answer.json, gateway.printed());
    assert_eq!(stand.asked("PUT").len(), 1);
}
