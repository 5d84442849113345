//! Sessions of the console and the credentials they came by: whatever ends or replaces the credential ends the session,
//! also a change of the configuration.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::gateway::{ADMIN_TOKEN, Answer, Gateway, Options, send};

/// A browser that is signed in.
struct Browser {
    cookie: String,
    proof: String,
}

impl Browser {
    fn of(answer: &Answer) -> Self {
        assert_eq!(answer.status, 200, "{}", answer.json);
        let cookie = answer.header("set-cookie").split(';').next();
        let proof = answer.json["data"]["csrf"].as_str();
        Self {
            cookie: cookie.expect("a cookie").to_owned(),
            proof: proof.expect("a proof").to_owned(),
        }
    }

    async fn sign_in(gateway: &Gateway, secret: &str) -> Self {
        let request = gateway.request(Method::POST, "/console/session");
        Self::of(&send(request.json(&json!({ "secret": secret }))).await)
    }

    async fn call(
        &self,
        gateway: &Gateway,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Answer {
        let request = gateway
            .request(method, path)
            .header("cookie", &self.cookie)
            .header("x-csrf-token", &self.proof);
        send(match body {
            Some(body) => request.json(&body),
            None => request,
        })
        .await
    }

    async fn get(&self, gateway: &Gateway, path: &str) -> Answer {
        self.call(gateway, Method::GET, path, None).await
    }

    async fn is_nobody(&self, gateway: &Gateway) {
        let shown = self.get(gateway, "/console/session").await;
        assert!(shown.json["data"].is_null(), "{}", shown.json);
    }
}

fn with_token(token: &str) -> Options {
    Options::default().set("ADMIN_TOKEN", token)
}

/// The promise: whoever changes `admin_token` has put everybody out who came by the old one, also one who looks at an
/// account, and the sessions of others go on.
#[tokio::test]
async fn a_new_token_in_the_configuration_ends_every_session_of_root() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(100).await;
    let root = Browser::sign_in(&gateway, ADMIN_TOKEN).await;
    let visit = format!("/admin/v1/accounts/{}/visit", account.id);
    let second = Browser::sign_in(&gateway, ADMIN_TOKEN).await;
    let looking = Browser::of(&second.call(&gateway, Method::POST, &visit, None).await);
    // The same by the token itself, without a session before.
    let by_token = gateway.operate(Method::POST, &visit, None).await;
    let by_token = Browser::of(&by_token);
    let owner = Browser::sign_in(&gateway, &account.key).await;
    assert_eq!(looking.get(&gateway, "/jobs/v1").await.status, 200);
    assert_eq!(by_token.get(&gateway, "/jobs/v1").await.status, 200);
    let overview = by_token.get(&gateway, "/admin/v1/overview").await;
    overview.assert_refused(401, "unauthorized");

    let gateway = gateway.restart(with_token("another-operator-for-tests"));
    let accounts = root.get(&gateway, "/admin/v1/accounts").await;
    accounts.assert_refused(401, "unauthorized");
    let body = json!({ "name": "for-ever", "role": "operator" });
    let path = "/admin/v1/operators";
    let issued = root.call(&gateway, Method::POST, path, Some(body)).await;
    issued.assert_refused(401, "unauthorized");
    for look in [&looking, &by_token] {
        let jobs = look.get(&gateway, "/jobs/v1").await;
        jobs.assert_refused(401, "unauthorized");
    }
    for one in [&root, &looking, &by_token] {
        one.is_nobody(&gateway).await;
    }
    let keys = owner.get(&gateway, "/account/v1/keys").await;
    assert_eq!(keys.status, 200, "{}", keys.json);
}

/// The promise: it makes no difference whether the token was made by the first start or is configured.
#[tokio::test]
async fn a_session_of_the_made_token_ends_when_one_is_configured() {
    let gateway = with_token("").spawn().await;
    let printed = gateway.printed();
    let made = printed
        .lines()
        .find_map(|line| line.trim().strip_prefix("operator token"))
        .expect("a token")
        .trim()
        .to_owned();
    let root = Browser::sign_in(&gateway, &made).await;
    let gateway = gateway.restart(with_token(""));
    let accounts = root.get(&gateway, "/admin/v1/accounts").await;
    assert_eq!(accounts.status, 200, "{}", accounts.json);
    let gateway = gateway.restart(with_token("configured-for-tests"));
    let accounts = root.get(&gateway, "/admin/v1/accounts").await;
    accounts.assert_refused(401, "unauthorized");
}

/// The promise: a revoked operator or viewer is out of the console at once, with what it was looking at.
#[tokio::test]
async fn a_session_ends_with_the_operator_it_came_by() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(100).await;
    for role in ["operator", "viewer"] {
        let body = json!({ "name": format!("a-{role}"), "role": role });
        let path = "/admin/v1/operators";
        let made = gateway.operate(Method::POST, path, Some(body)).await;
        let token = made.json["data"]["token"].as_str().expect("a token");
        let id = made.json["data"]["id"].as_str().expect("an id");
        let one = Browser::sign_in(&gateway, token).await;
        let stats = one.get(&gateway, "/admin/v1/stats").await;
        assert_eq!(stats.status, 200, "{}", stats.json);
        let mut looks = Vec::new();
        if role == "operator" {
            let visit = format!("/admin/v1/accounts/{}/visit", account.id);
            let other = Browser::sign_in(&gateway, token).await;
            looks.push(Browser::of(
                &other.call(&gateway, Method::POST, &visit, None).await,
            ));
            let request = gateway.request(Method::POST, &visit).bearer_auth(token);
            looks.push(Browser::of(&send(request).await));
            for look in &looks {
                assert_eq!(look.get(&gateway, "/jobs/v1").await.status, 200);
            }
        }
        let path = format!("{path}/{id}");
        let revoked = gateway.operate(Method::DELETE, &path, None).await;
        assert_eq!(revoked.status, 200, "{}", revoked.json);
        let stats = one.get(&gateway, "/admin/v1/stats").await;
        stats.assert_refused(401, "unauthorized");
        for look in &looks {
            let jobs = look.get(&gateway, "/jobs/v1").await;
            jobs.assert_refused(401, "unauthorized");
        }
    }
}

/// The promise: a session that is over keeps nobody from signing in with the same browser, by whatever works.
#[tokio::test]
async fn who_was_put_out_signs_in_again_with_the_same_browser() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(100).await;
    let body = json!({ "name": "a-guest", "role": "operator" });
    let path = "/admin/v1/operators";
    let made = gateway.operate(Method::POST, path, Some(body)).await;
    let token = made.json["data"]["token"].as_str().expect("a token");
    let id = made.json["data"]["id"].as_str().expect("an id");
    let visit = format!("/admin/v1/accounts/{}/visit", account.id);
    // One of the configuration's, one of an operator's, one that looks at an account, and one with a key beside it.
    let root = Browser::sign_in(&gateway, ADMIN_TOKEN).await;
    let guest = Browser::sign_in(&gateway, token).await;
    let looking = Browser::sign_in(&gateway, token).await;
    let looking = Browser::of(&looking.call(&gateway, Method::POST, &visit, None).await);
    let both = Browser::sign_in(&gateway, token).await;
    let secret = |secret: &str| Some(json!({ "secret": secret }));
    let session = "/console/session";
    let key = secret(&account.key);
    let both = Browser::of(&both.call(&gateway, Method::POST, session, key).await);
    let by_hand = Browser::sign_in(&gateway, token).await;
    let path = format!("{path}/{id}");
    let revoked = gateway.operate(Method::DELETE, &path, None).await;
    assert_eq!(revoked.status, 200, "{}", revoked.json);

    let renewed = "another-operator-for-tests";
    let gateway = gateway.restart(with_token(renewed));
    for one in [&root, &guest, &looking, &both] {
        one.is_nobody(&gateway).await;
        let key = secret(&account.key);
        let opened = one.call(&gateway, Method::POST, session, key).await;
        assert_eq!(opened.status, 200, "{}", opened.json);
        assert!(opened.json["data"]["operator"].is_null(), "{}", opened.json);
        let keys = Browser::of(&opened).get(&gateway, "/account/v1/keys").await;
        assert_eq!(keys.status, 200, "{}", keys.json);
    }
    // Nor does it spoil a look that is begun with a token.
    let request = gateway.request(Method::POST, &visit).bearer_auth(renewed);
    let look = Browser::of(&send(request.header("cookie", &by_hand.cookie)).await);
    assert_eq!(look.get(&gateway, "/jobs/v1").await.status, 200);
    // What still stands is kept beside what is new.
    let operator = secret(renewed);
    let beside = look.call(&gateway, Method::POST, session, operator).await;
    let beside = Browser::of(&beside);
    assert_eq!(beside.get(&gateway, "/jobs/v1").await.status, 200);
    let overview = beside.get(&gateway, "/admin/v1/overview").await;
    assert_eq!(overview.status, 200, "{}", overview.json);
}

/// The promise: what an operator sees of an account through an open stream ends with the operator's token, as its session does.
#[tokio::test]
async fn a_stream_that_an_operator_looks_through_ends_with_its_token() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(100).await;
    let id = gateway.imagine(&account.key, "a lake [[stall]]").await;
    let paths = [
        "/jobs/v1/events".to_owned(),
        format!("/jobs/v1/{id}/events"),
    ];
    for (number, path) in paths.iter().enumerate() {
        let body = json!({ "name": format!("guest-{number}"), "role": "operator" });
        let operators = "/admin/v1/operators";
        let made = gateway.operate(Method::POST, operators, Some(body)).await;
        let token = made.json["data"]["token"].as_str().expect("a token");
        let operator = made.json["data"]["id"].as_str().expect("an id");
        let visit = format!("/admin/v1/accounts/{}/visit", account.id);
        let request = gateway.request(Method::POST, &visit).bearer_auth(token);
        let look = Browser::of(&send(request).await);
        let request = gateway.request(Method::GET, path);
        let opened = request.header("cookie", &look.cookie).send().await;
        let mut stream = opened.expect("an answer");
        assert_eq!(stream.status(), 200);
        let first = stream.chunk().await.expect("a piece");
        assert!(first.is_some(), "{path}");
        let revoke = format!("{operators}/{operator}");
        let revoked = gateway.operate(Method::DELETE, &revoke, None).await;
        assert_eq!(revoked.status, 200, "{}", revoked.json);
        let ended = async move { while let Ok(Some(_)) = stream.chunk().await {} };
        let ended = timeout(Duration::from_secs(30), ended).await;
        assert!(ended.is_ok(), "{path} goes on");
    }
}
