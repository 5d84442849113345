//! The console from outside: its files are strict about where things come from, and a session can do what the key or
//! token behind it can, for as long as that works, and only from a page of this service.

use reqwest::Method;
use serde_json::json;

use crate::gateway::{ADMIN_TOKEN, Answer, Gateway, send};

/// A browser that is signed in.
struct Browser {
    cookie: String,
    proof: String,
}

impl Browser {
    async fn sign_in(gateway: &Gateway, secret: &str, earlier: Option<&Browser>) -> Self {
        let mut request = gateway
            .request(Method::POST, "/console/session")
            .json(&json!({ "secret": secret }));
        if let Some(earlier) = earlier {
            request = request.header("cookie", &earlier.cookie);
        }
        let answer = send(request).await;
        assert_eq!(answer.status, 200, "{}", answer.json);
        let line = answer.header("set-cookie").to_owned();
        for word in ["HttpOnly", "SameSite=Strict", "Path=/"] {
            assert!(line.contains(word), "{line}");
        }
        assert!(!String::from_utf8_lossy(&answer.bytes).contains(secret));
        Self {
            cookie: line.split(';').next().expect("a pair").to_owned(),
            proof: answer.json["data"]["csrf"]
                .as_str()
                .expect("a proof")
                .to_owned(),
        }
    }

    async fn call(&self, gateway: &Gateway, method: Method, path: &str, proven: bool) -> Answer {
        let mut request = gateway
            .request(method, path)
            .header("cookie", &self.cookie)
            .json(&json!({ "name": "from the console" }));
        if proven {
            request = request.header("x-csrf-token", &self.proof);
        }
        send(request).await
    }
}

#[tokio::test]
async fn the_page_takes_nothing_from_elsewhere_and_runs_nothing_inline() {
    let gateway = Gateway::spawn().await;
    for path in [
        "/console/",
        "/console/library?show=videos",
        "/console/job/x",
        "/docs",
        "/docs/clipgen",
    ] {
        let answer = send(gateway.request(Method::GET, path)).await;
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
        let policy = answer.header("content-security-policy");
        assert!(
            policy.contains("default-src 'none'") && !policy.contains("unsafe"),
            "{policy}"
        );
        let text = String::from_utf8_lossy(&answer.bytes).into_owned();
        assert!(
            !text.contains("<style") && !text.contains(" style="),
            "{text}"
        );
        // Nor do elements say what to run.
        let tags = text.split('<').skip(1);
        let tags = tags.filter_map(|rest| rest.split('>').next());
        for tag in tags {
            let attributes = tag.split_whitespace().skip(1);
            let runs = |word: &str| word.starts_with("on") && word.contains('=');
            assert!(!attributes.clone().any(runs), "{path}: {tag}");
            assert!(!tag.contains("javascript:"), "{path}: {tag}");
            let is_script = tag.split_whitespace().next() == Some("script");
            assert!(!is_script || tag.contains(" src=\""), "{path}: {tag}");
        }
        let (_, script) = text.split_once("<script").expect("a script");
        assert!(
            script.starts_with(" type=\"module\" src=\"/console/~")
                && (script.contains("/app.js\"></script>")
                    || script.contains("/docs/docs.js\"></script>")),
            "{script}"
        );
    }
    let answer = send(gateway.request(Method::GET, "/console/app.js")).await;
    assert_eq!(
        answer.header("content-type"),
        "text/javascript; charset=utf-8"
    );
    let again = gateway
        .request(Method::GET, "/console/app.js")
        .header("if-none-match", answer.header("etag"));
    assert_eq!(send(again).await.status, 304);
}

#[tokio::test]
async fn every_module_of_the_page_is_named_in_it_and_kept_for_ever() {
    let gateway = Gateway::spawn().await;
    let page = send(gateway.request(Method::GET, "/console/")).await;
    assert_eq!(page.header("cache-control"), "no-cache");
    let text = String::from_utf8_lossy(&page.bytes).into_owned();
    let modules: Vec<&str> = text
        .split("rel=\"modulepreload\" href=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    assert!(
        modules
            .iter()
            .any(|path| path.ends_with("/pages/create.js")),
        "{modules:?}"
    );
    for path in modules {
        let module = send(gateway.request(Method::GET, path)).await;
        let kind = module.header("content-type");
        assert!(kind.starts_with("text/javascript"), "{path}: {kind}");
        let kept = module.header("cache-control");
        assert!(kept.contains("immutable"), "{path}: {kept}");
    }
    // An address of another version is answered, and asked about again.
    let other = send(gateway.request(Method::GET, "/console/~0/app.js")).await;
    assert_eq!(other.header("cache-control"), "no-cache");
}

#[tokio::test]
async fn the_first_page_reads_a_small_part_of_the_document() {
    let gateway = Gateway::spawn().await;
    let whole = send(gateway.request(Method::GET, "/openapi.json")).await;
    let part = send(gateway.request(Method::GET, "/console/catalogue.json")).await;
    assert!(part.bytes.len() * 4 < whole.bytes.len());
    assert_eq!(part.json["tags"], whole.json["tags"]);
    for (path, methods) in part.json["paths"].as_object().expect("paths") {
        let body = |document: &serde_json::Value| {
            document["paths"][path]["post"]["requestBody"]["content"]["application/json"].clone()
        };
        assert!(methods["post"]["x-makes"].is_string(), "{path}");
        assert_eq!(body(&part.json), body(&whole.json), "{path}");
    }
    let packed = gateway
        .request(Method::GET, "/openapi.json")
        .header("accept-encoding", "gzip");
    let packed = send(packed).await;
    assert_eq!(packed.header("content-encoding"), "gzip");
    assert!(packed.bytes.len() * 4 < whole.bytes.len());
    let again = gateway
        .request(Method::GET, "/openapi.json")
        .header("if-none-match", whole.header("etag"));
    assert_eq!(send(again).await.status, 304);
}

#[tokio::test]
async fn a_session_does_what_its_key_may_and_only_with_its_proof() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(100).await;
    let browser = Browser::sign_in(&gateway, &account.key, None).await;
    let read = browser
        .call(&gateway, Method::GET, "/account/v1/keys", false)
        .await;
    assert_eq!(read.status, 200, "{}", read.json);
    let unproven = browser
        .call(&gateway, Method::POST, "/account/v1/keys", false)
        .await;
    unproven.assert_refused(403, "forbidden");
    let made = browser
        .call(&gateway, Method::POST, "/account/v1/keys", true)
        .await;
    assert_eq!(made.status, 200, "{}", made.json);
    // A caller's session is no operator.
    let admin = browser
        .call(&gateway, Method::GET, "/admin/v1/accounts", true)
        .await;
    admin.assert_refused(401, "unauthorized");
    // Another session's proof is worth nothing.
    let other = Browser::sign_in(&gateway, &account.key, None).await;
    let mixed = Browser {
        cookie: browser.cookie.clone(),
        proof: other.proof,
    };
    let refused = mixed
        .call(&gateway, Method::POST, "/account/v1/keys", true)
        .await;
    refused.assert_refused(403, "forbidden");
}

#[tokio::test]
async fn a_session_ends_with_its_key_with_a_sign_out_and_everywhere() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(100).await;
    let first = Browser::sign_in(&gateway, &account.key, None).await;
    let second = Browser::sign_in(&gateway, &account.key, None).await;
    let third = Browser::sign_in(&gateway, &account.key, None).await;
    let left = first
        .call(&gateway, Method::DELETE, "/console/session", false)
        .await;
    left.assert_refused(403, "forbidden");
    let left = first
        .call(&gateway, Method::DELETE, "/console/session", true)
        .await;
    assert_eq!(left.status, 200, "{}", left.json);
    let after = first
        .call(&gateway, Method::GET, "/console/session", false)
        .await;
    assert!(after.json["data"].is_null(), "{}", after.json);
    let there = second
        .call(&gateway, Method::GET, "/console/session", false)
        .await;
    assert_eq!(there.status, 200, "{}", there.json);
    let path = "/console/session?everywhere=true";
    let left = second.call(&gateway, Method::DELETE, path, true).await;
    assert_eq!(left.status, 200, "{}", left.json);
    let gone = third
        .call(&gateway, Method::GET, "/artgen/v1/info", false)
        .await;
    gone.assert_refused(401, "unauthorized");

    let fourth = Browser::sign_in(&gateway, &account.key, None).await;
    let keys = fourth
        .call(&gateway, Method::GET, "/account/v1/keys", false)
        .await;
    let id = keys.json["data"][0]["id"]
        .as_str()
        .expect("a key")
        .to_owned();
    let path = format!("/account/v1/keys/{id}");
    let revoked = fourth.call(&gateway, Method::DELETE, &path, true).await;
    assert_eq!(revoked.status, 200, "{}", revoked.json);
    let gone = fourth
        .call(&gateway, Method::GET, "/artgen/v1/info", false)
        .await;
    gone.assert_refused(401, "unauthorized");
}

#[tokio::test]
async fn an_operator_signs_in_beside_an_account() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(100).await;
    let caller = Browser::sign_in(&gateway, &account.key, None).await;
    let both = Browser::sign_in(&gateway, ADMIN_TOKEN, Some(&caller)).await;
    let accounts = both
        .call(&gateway, Method::GET, "/admin/v1/accounts", false)
        .await;
    assert_eq!(accounts.status, 200, "{}", accounts.json);
    let who = both
        .call(&gateway, Method::GET, "/console/session", false)
        .await;
    assert_eq!(who.json["data"]["operator"]["name"], "root", "{}", who.json);
    assert!(
        who.json["data"]["account"]["email"].is_string(),
        "{}",
        who.json
    );
    // The session it grew out of is over: what was known before signing in is worth nothing afterwards.
    let old = caller
        .call(&gateway, Method::GET, "/artgen/v1/info", false)
        .await;
    old.assert_refused(401, "unauthorized");
    let wrong = gateway
        .request(Method::POST, "/console/session")
        .json(&json!({ "secret": "not-a-token" }));
    send(wrong).await.assert_refused(401, "unauthorized");
}
