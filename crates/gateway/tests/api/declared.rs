//! Back ends that the configuration declares: there at every start, and what an operator switched stays switched.

use reqwest::Method;
use serde_json::json;

use crate::backends::{finished, imagine};
use crate::gateway::{Gateway, Options};

#[tokio::test]
async fn a_declared_back_end_is_there_at_every_start_and_changed_only_there() {
    let back = Gateway::spawn().await;
    let upstream = back.account(100).await;
    let declared = format!(
        r#"[{{ name = "up", vendor = "relay", base_url = "{}", rank = 1, accounts = [{{ name = "a", credential = "{}" }}] }}]"#,
        back.base_url, upstream.key
    );
    let front = Options::default().set("BACKENDS", &declared).spawn().await;
    let caller = front.account(50).await;
    let id = imagine(&front, &caller.key, "an owl").await;
    assert_eq!(
        finished(&front, &caller.key, &id).await["status"],
        "SUCCESS"
    );
    assert_eq!(back.balance(&upstream.key).await, (96.0, 0.0));
    let body = json!({ "rank": 5 });
    front
        .operate(Method::PATCH, "/admin/v1/backends/up", Some(body))
        .await
        .assert_refused(409, "conflict");
    let account = "/admin/v1/backends/up/accounts/up-a";
    for (method, path, body) in [
        (Method::DELETE, "/admin/v1/backends/up", None),
        (Method::DELETE, account, None),
        (Method::PATCH, account, Some(json!({ "credential": "x" }))),
        (
            Method::POST,
            "/admin/v1/backends/up/accounts",
            Some(json!({ "name": "b", "credential": "x" })),
        ),
    ] {
        let refused = front.operate(method, path, body).await;
        refused.assert_refused(409, "conflict");
    }
    let rest = json!({ "state": "paused" });
    let paused = front.operate(Method::PATCH, account, Some(rest)).await;
    assert_eq!(
        paused.status, 200,
        "what passes may be said: {}",
        paused.json
    );
    let front = front.restart(Options::default().set("BACKENDS", &declared));
    let listed = front
        .operate(Method::GET, "/admin/v1/backends", None)
        .await
        .json;
    assert_eq!(listed["data"][0]["id"], "up", "{listed}");
    assert_eq!(listed["data"].as_array().map(Vec::len), Some(2), "{listed}");
    let front = front.restart(Options::default());
    let listed = front
        .operate(Method::GET, "/admin/v1/backends", None)
        .await
        .json;
    assert_eq!(listed["data"].as_array().map(Vec::len), Some(1), "{listed}");
}

#[tokio::test]
async fn a_restart_undoes_nothing_that_an_operator_switched() {
    let declared = r#"[{ name = "up", vendor = "relay", base_url = "http://127.0.0.1:9", accounts = [{ name = "a", credential = "at_x" }, { name = "b", credential = "at_y" }] }]"#;
    let options = || Options::default().set("BACKENDS", declared);
    let front = options().spawn().await;
    let path = "/admin/v1/backends/up";
    for (account, state) in [("up-a", "paused"), ("up-b", "draining")] {
        let account = format!("{path}/accounts/{account}");
        let body = json!({ "state": state });
        let answer = front.operate(Method::PATCH, &account, Some(body)).await;
        assert_eq!(answer.status, 200, "{}", answer.json);
    }
    let front = front.restart(options());
    let shown = front.operate(Method::GET, path, None).await.json;
    let accounts = &shown["data"]["accounts"];
    assert_eq!(accounts[0]["state"], "paused", "{shown}");
    assert_eq!(accounts[1]["state"], "draining", "{shown}");

    let off = json!({ "enabled": false });
    let switched = front.operate(Method::PATCH, path, Some(off)).await;
    assert_eq!(switched.json["data"]["enabled"], false, "{}", switched.json);
    let front = front.restart(options());
    let shown = front.operate(Method::GET, path, None).await.json;
    assert_eq!(shown["data"]["enabled"], false, "{shown}");
    let on = json!({ "enabled": true });
    let switched = front.operate(Method::PATCH, path, Some(on)).await;
    assert_eq!(switched.json["data"]["enabled"], true, "{}", switched.json);

    let audit = front.operate(Method::GET, "/admin/v1/audit", None).await;
    let rows = audit.json["data"].as_array().expect("rows").clone();
    let declared = rows
        .iter()
        .filter(|row| row["action"] == "backends.declare");
    assert_eq!(declared.count(), 1, "{}", audit.json);
}
