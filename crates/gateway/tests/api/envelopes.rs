//! Whatever goes wrong, the caller gets the envelope, with the right status and safe headers.

use reqwest::Method;
use serde_json::json;

use crate::gateway::{Gateway, send, swap_body};

#[tokio::test]
async fn nobody_gets_in_without_a_key() {
    let gateway = Gateway::spawn().await;
    let paths = [
        (Method::GET, "/artgen/v1/info"),
        (Method::POST, "/artgen/v1/imagine"),
        (Method::POST, "/artgen/v1/fetch"),
        (Method::GET, "/artgen/v1/fetch-list"),
        (Method::GET, "/artgen/status"),
        (Method::POST, "/facegen/v1/swap"),
        (Method::GET, "/facegen/v1/fetch?jobId=x"),
        (Method::GET, "/jobs/v1"),
        (Method::GET, "/account/v1/keys"),
        (Method::GET, "/admin/v1/accounts"),
    ];
    for (method, path) in paths {
        let answer = send(gateway.request(method, path)).await;
        answer.assert_refused(401, "unauthorized");
        assert!(answer.json["data"].is_null(), "{path}");
    }
    let answer = gateway.get("at_wrong", "/artgen/v1/info").await;
    assert_eq!(
        answer.json["message"],
        "Wrong SVC-API-KEY or email is not activated."
    );
}

#[tokio::test]
async fn unknown_paths_and_methods_are_told_apart() {
    let gateway = Gateway::spawn().await;
    for path in [
        "//",
        "/nothing",
        "/artgen/v1/imagine/",
        "/artgen/v1/%69magine",
        "/console/../etc/passwd",
    ] {
        send(gateway.request(Method::GET, path))
            .await
            .assert_refused(404, "not_found");
    }
    for method in [
        Method::GET,
        Method::PUT,
        Method::DELETE,
        Method::PATCH,
        Method::OPTIONS,
        Method::TRACE,
    ] {
        let answer = send(gateway.request(method, "/artgen/v1/imagine")).await;
        answer.assert_refused(405, "method_not_allowed");
        assert_eq!(answer.header("allow"), "POST");
    }
    let answer = send(gateway.request(Method::DELETE, "/facegen/v1/fetch")).await;
    assert_eq!(answer.header("allow"), "GET, HEAD, POST");
}

#[tokio::test]
async fn the_first_page_leads_a_browser_to_the_console_and_tells_others_where_the_documents_are() {
    let gateway = Gateway::spawn().await;
    let told = send(gateway.request(Method::GET, "/")).await;
    assert_eq!(told.status, 200);
    for name in ["openapi", "docs", "console", "ready"] {
        let path = told.json["data"][name].as_str().expect(name);
        assert_eq!(send(gateway.request(Method::GET, path)).await.status, 200);
    }
    let html = "text/html,application/xhtml+xml,*/*;q=0.8";
    let page = gateway
        .request(Method::GET, "/")
        .header("accept", html)
        .send()
        .await
        .expect("an answer");
    assert_eq!(page.url().path(), "/console/");
    assert_eq!(page.status(), 200);
}

#[tokio::test]
async fn a_bad_field_is_named() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(10).await;
    let answer = gateway
        .post(
            &caller.key,
            "/facegen/v1/swap",
            json!({ "targetImage": "x" }),
        )
        .await;
    assert_eq!(
        (answer.status.as_u16(), &answer.json["status"]),
        (400, &json!("FAILED"))
    );
    assert!(
        matches!(
            answer.json["param"].as_str(),
            Some("targetImage" | "swapImage")
        ),
        "{}",
        answer.json
    );
    for body in [
        "",
        "{}",
        "{",
        "[]",
        "null",
        "1",
        "\"x\"",
        "{\"a\":1,\"a\":2}",
        "{\"prompt\":\"\\u0000\"}",
    ] {
        let request = gateway
            .request(Method::POST, "/facegen/v1/swap")
            .header("SVC-API-KEY", &caller.key);
        let answer = send(request.body(body)).await;
        assert_eq!(answer.status, 400, "{body}: {}", answer.json);
        assert_eq!(answer.json["status"], "FAILED", "{body}");
    }
    assert_eq!(gateway.balance(&caller.key).await, (10.0, 0.0));
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_before_it_is_read() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(10).await;
    let request = gateway
        .request(Method::POST, "/facegen/v1/swap")
        .header("SVC-API-KEY", &caller.key);
    let answer = send(request.body("x".repeat(300 * 1024))).await;
    answer.assert_refused(413, "payload_too_large");
}

#[tokio::test]
async fn answers_carry_safe_headers_and_a_request_id() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(10).await;
    let answers = [
        gateway.get(&caller.key, "/artgen/v1/info").await,
        gateway.get("nobody", "/artgen/v1/info").await,
        gateway
            .post(&caller.key, "/facegen/v1/swap", swap_body())
            .await,
    ];
    for answer in &answers {
        assert_eq!(answer.header("cache-control"), "no-store");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("referrer-policy"), "no-referrer");
        assert_eq!(
            answer.header("content-security-policy"),
            "default-src 'none'; frame-ancestors 'none'"
        );
        assert_eq!(answer.header("x-request-id").len(), 16);
        assert!(answer.headers.get("server").is_none());
        assert!(answer.headers.get("access-control-allow-origin").is_none());
    }
    let request = gateway.request(Method::GET, "/healthz");
    let answer = send(request.header("X-Request-Id", "my-own_id")).await;
    assert_eq!(answer.header("x-request-id"), "my-own_id");
}

#[tokio::test]
async fn health_needs_no_key() {
    let gateway = Gateway::spawn().await;
    for path in ["/healthz", "/readyz"] {
        assert_eq!(
            send(gateway.request(Method::GET, path)).await.status,
            200,
            "{path}"
        );
    }
    let metrics = send(gateway.request(Method::GET, "/metrics")).await;
    assert!(
        String::from_utf8_lossy(&metrics.bytes)
            .contains("atelier_http_answers_total{class=\"2xx\"} ")
    );
}

/// The promise: the legacy endpoint is the vendor's, also where it refuses.
#[tokio::test]
async fn the_legacy_endpoint_refuses_as_the_vendor_does() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(10).await;
    let path = "/imgmodel/v1/images/generations";
    let body = json!({ "prompt": "a fox", "size": "1x1" });
    let answer = gateway.post(&caller.key, path, body).await;
    answer.assert_refused(400, "invalid_parameter");
    assert_eq!(answer.json["error"]["param"], "size", "{}", answer.json);
    assert_eq!(answer.json["error"]["type"], "invalid_request_error");
    let answer = gateway.post("at_wrong", path, json!({})).await;
    answer.assert_refused(401, "unauthorized");
    assert_eq!(answer.json["error"]["type"], "authentication_error");
    let body = json!({ "prompt": "a fox", "size": "1024x1024" });
    let answer = gateway.post(&caller.key, path, body).await;
    assert_eq!(answer.status, 200, "{}", answer.json);
    assert_eq!(answer.json.as_object().expect("a body").len(), 2);
    assert!(answer.json["created"].is_number() && answer.json["data"][0]["url"].is_string());
}
