//! Keys that know what they may spend and do, keys below keys, and who spent what.

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::gateway::{Account, Answer, Gateway, Options, send, swap_body};

const KEYS: &str = "/account/v1/keys";
const SWAP: &str = "/facegen/v1/swap";
const IMAGINE: &str = "/artgen/v1/imagine";

/// A new key below another one: its id and its secret.
async fn issue(gateway: &Gateway, key: &str, wish: Value) -> (String, String) {
    let issued = gateway.post(key, KEYS, wish).await;
    assert_eq!(issued.status, 200, "{}", issued.json);
    let text = |name: &str| issued.json["data"][name].as_str().expect(name).to_owned();
    (text("id"), text("api_key"))
}

async fn change(gateway: &Gateway, key: &str, id: &str, wish: Value) -> Answer {
    let request = gateway.request(Method::PATCH, &format!("{KEYS}/{id}"));
    send(request.header("SVC-API-KEY", key).json(&wish)).await
}

/// A key as the list shows it.
async fn shown(gateway: &Gateway, key: &str, id: &str) -> Value {
    let list = gateway.get(key, KEYS).await;
    let rows = list.json["data"].as_array().expect("keys");
    let row = rows.iter().find(|row| row["id"] == id);
    row.cloned().unwrap_or_default()
}

async fn ended(gateway: &Gateway, key: &str, id: &str) -> Value {
    loop {
        let job = gateway.get(key, &format!("/jobs/v1/{id}")).await.json;
        if job["data"]["finishedAt"].is_string() {
            return job["data"].clone();
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_key_spends_no_more_than_its_limit_whoever_asks_and_how() {
    let gateway = Options::default()
        .set("JOBS_MAX_QUEUE", "1000")
        .spawn()
        .await;
    let owner = gateway.account(1_000).await;
    let limits = json!([{"window": "day", "quota": 20}, {"window": "total", "quota": 500}]);
    let (id, key) = issue(&gateway, &owner.key, json!({ "limits": limits })).await;
    let calls = (0..24).map(|_| gateway.post(&key, SWAP, swap_body()));
    let answers = join_all(calls).await;
    let accepted = answers.iter().filter(|one| one.status == 200).count();
    assert_eq!(accepted, 10, "a swap costs 2");
    let refused = answers.iter().find(|one| one.status != 200).expect("one");
    refused.assert_refused(400, "key_limit");
    let limit = &refused.json["limit"];
    assert_eq!(
        (&limit["window"], &limit["quota"], &limit["spent"]),
        (&json!("day"), &json!(20), &json!(20))
    );
    assert!(
        limit["resetsAt"]
            .as_str()
            .is_some_and(|at| at.ends_with(" 00:00:00")),
        "{limit}"
    );
    // Together, through another door, and as an agent.
    let one = json!({ "operation": "facegen.swap", "request": swap_body() });
    let batch = gateway
        .post(&key, "/jobs/v1/batch", json!({ "requests": [one, one] }))
        .await;
    assert_eq!(batch.json["data"]["accepted"], 0, "{}", batch.json);
    assert_eq!(batch.json["data"]["answers"][0]["code"], "key_limit");
    let door = gateway
        .post(&key, "/v1/videos", json!({ "prompt": "a fox" }))
        .await;
    assert_eq!(door.json["code"], "key_limit", "{}", door.json);
    let image = json!({ "model": "image-1", "prompt": "a fox", "quality": "low" });
    let image = gateway.post(&key, "/v1/images/generations", image).await;
    assert_eq!(
        image.json["error"]["type"], "insufficient_quota",
        "{}",
        image.json
    );
    let row = shown(&gateway, &owner.key, &id).await;
    assert_eq!(row["limits"][0]["spent"], 20);
    assert!(row["limits"][1]["resetsAt"].is_null());
    // Another key of the account goes on.
    assert_eq!(
        gateway.post(&owner.key, SWAP, swap_body()).await.status,
        200
    );
    let more = change(
        &gateway,
        &owner.key,
        &id,
        json!({ "limits": [{"window": "day", "quota": 22}] }),
    )
    .await;
    assert_eq!(more.json["data"]["limits"][0]["spent"], 20, "{}", more.json);
    assert_eq!(gateway.post(&key, SWAP, swap_body()).await.status, 200);
}

#[tokio::test]
async fn a_repeated_call_counts_once_and_a_failed_one_returns() {
    let gateway = Gateway::spawn().await;
    let owner = gateway.account(1_000).await;
    let wish = json!({ "limits": [{"window": "week", "quota": 5}] });
    let (id, key) = issue(&gateway, &owner.key, wish).await;
    let call = || {
        let request = gateway
            .request(Method::POST, IMAGINE)
            .header("SVC-API-KEY", &key);
        send(
            request
                .header("Idempotency-Key", "once")
                .json(&json!({ "prompt": "a fox", "mode": "fast" })),
        )
    };
    let first = call().await;
    assert_eq!(first.status, 200, "{}", first.json);
    let again = call().await;
    assert_eq!(again.json["data"], first.json["data"]);
    assert_eq!(
        shown(&gateway, &owner.key, &id).await["limits"][0]["spent"],
        4
    );
    let job = first.json["data"]["jobId"].as_str().expect("a job");
    gateway
        .post(&key, &format!("/jobs/v1/{job}/cancel"), json!({}))
        .await;
    let job = ended(&gateway, &key, job).await;
    let spent = &shown(&gateway, &owner.key, &id).await["limits"][0]["spent"];
    assert_eq!(spent, &job["quota"], "{job}");
}

#[tokio::test]
async fn a_key_uses_its_operations_and_models_and_no_others() {
    let gateway = Gateway::spawn().await;
    let owner = gateway.account(1_000).await;
    let wish = json!({ "operations": ["imgmodel.*", "facegen.swap"], "models": ["image-*"] });
    let (_, key) = issue(&gateway, &owner.key, wish).await;
    let refused = gateway
        .post(&key, IMAGINE, json!({ "prompt": "a fox" }))
        .await;
    refused.assert_refused(403, "forbidden");
    assert!(
        refused.json["message"]
            .to_string()
            .contains("artgen.imagine"),
        "{}",
        refused.json
    );
    let image =
        |model: &str| json!({ "model": model, "prompt": "a fox", "quality": "low", "async": true });
    let refused = gateway
        .post(
            &key,
            "/v1/images/generations",
            json!({ "model": "art-2", "prompt": "a fox" }),
        )
        .await;
    refused.assert_refused(403, "forbidden");
    assert!(
        refused.json["message"].to_string().contains("art-2"),
        "{}",
        refused.json
    );
    let made = gateway
        .post(&key, "/v1/images/generations", image("image-1"))
        .await;
    assert_eq!(made.status, 202, "{}", made.json);
    // It names no model at all.
    gateway
        .post(&key, SWAP, swap_body())
        .await
        .assert_refused(403, "forbidden");
    // A key below it is no wider, whatever it leaves out.
    let (_, low) = issue(
        &gateway,
        &key,
        json!({ "operations": ["imgmodel.generations"] }),
    )
    .await;
    gateway
        .post(&low, SWAP, swap_body())
        .await
        .assert_refused(403, "forbidden");
    for (wide, field) in [
        (json!({ "operations": ["*"] }), "operations"),
        (json!({ "models": ["*"] }), "models"),
    ] {
        let refused = gateway.post(&key, KEYS, wide).await;
        refused.assert_refused(403, "forbidden");
        assert_eq!(refused.json["param"], field);
    }
}

#[tokio::test]
async fn a_key_is_used_from_its_addresses_behind_a_known_proxy() {
    let gateway = Options::default()
        .set("PROXIES_TRUSTED", "127.0.0.1")
        .spawn()
        .await;
    let owner = gateway.account(10).await;
    let wish = json!({ "addresses": ["198.51.100.0/24", "::ffff:203.0.113.7"] });
    let (_, key) = issue(&gateway, &owner.key, wish).await;
    let from = async |address: &str| {
        let request = gateway
            .request(Method::GET, "/artgen/v1/info")
            .header("SVC-API-KEY", &key);
        send(request.header("X-Forwarded-For", address)).await
    };
    for inside in ["198.51.100.9", "203.0.113.7", "::ffff:198.51.100.1"] {
        assert_eq!(from(inside).await.status, 200, "{inside}");
    }
    for outside in ["203.0.113.8", "2001:db8::1", "198.51.100.9, 192.0.2.1"] {
        from(outside).await.assert_refused(403, "forbidden");
    }
    gateway
        .get(&key, "/artgen/v1/info")
        .await
        .assert_refused(403, "forbidden");
}

#[tokio::test]
async fn a_key_submits_as_often_as_it_may() {
    let gateway = Gateway::spawn().await;
    let owner = gateway.account(1_000).await;
    let (_, key) = issue(&gateway, &owner.key, json!({ "submitsPerSecond": 2 })).await;
    let (_, low) = issue(&gateway, &key, json!({})).await;
    let calls = (0..8)
        .map(|number| gateway.post(if number % 2 == 0 { &key } else { &low }, SWAP, swap_body()));
    let answers = join_all(calls).await;
    let refused = answers.iter().filter(|one| one.status == 429).count();
    assert!((1..=6).contains(&refused), "{refused} refused");
    let told = answers.iter().find(|one| one.status == 429).expect("one");
    assert!(!told.header("retry-after").is_empty());
    assert_eq!(
        gateway.post(&owner.key, SWAP, swap_body()).await.status,
        200
    );
}

#[tokio::test]
async fn keys_are_three_levels_deep_and_end_with_those_above() {
    let gateway = Gateway::spawn().await;
    let owner = gateway.account(1_000).await;
    let (first_id, first) = issue(
        &gateway,
        &owner.key,
        json!({ "limits": [{"window": "total", "quota": 3}] }),
    )
    .await;
    let (second_id, second) = issue(&gateway, &first, json!({ "expiresIn": 3600 })).await;
    let (third_id, third) = issue(
        &gateway,
        &second,
        json!({ "expiresIn": 60, "note": "a browser" }),
    )
    .await;
    gateway
        .post(&third, KEYS, json!({}))
        .await
        .assert_refused(403, "forbidden");
    let row = shown(&gateway, &owner.key, &third_id).await;
    assert_eq!(
        (&row["parentId"], &row["note"]),
        (&json!(second_id), &json!("a browser"))
    );
    gateway
        .post(&second, KEYS, json!({ "expiresIn": 7200 }))
        .await
        .assert_refused(403, "forbidden");
    assert_eq!(gateway.post(&third, SWAP, swap_body()).await.status, 200);
    let refused = gateway.post(&third, SWAP, swap_body()).await;
    refused.assert_refused(400, "key_limit");
    assert_eq!(refused.json["limit"]["window"], "total");
    assert_eq!(
        shown(&gateway, &owner.key, &first_id).await["limits"][0]["spent"],
        2
    );
    let request = gateway.request(Method::DELETE, &format!("{KEYS}/{first_id}"));
    assert_eq!(
        send(request.header("SVC-API-KEY", &owner.key)).await.status,
        200
    );
    for key in [&first, &second, &third] {
        gateway
            .get(key, "/artgen/v1/info")
            .await
            .assert_refused(401, "unauthorized");
    }
}

/// The promise: no key widens itself or one above it, or takes its secret.
#[tokio::test]
async fn a_key_allows_itself_less_and_never_more() {
    let gateway = Gateway::spawn().await;
    let owner = gateway.account(1_000).await;
    let wish = json!({ "limits": [{"window": "total", "quota": 3}] });
    let (first_id, first) = issue(&gateway, &owner.key, wish).await;
    let (second_id, second) = issue(&gateway, &first, json!({})).await;
    let (_, third) = issue(&gateway, &second, json!({})).await;
    for (id, wish) in [
        (
            &first_id,
            json!({ "limits": [{"window": "total", "quota": 4}] }),
        ),
        (&first_id, json!({ "limits": null })),
        (&first_id, json!({ "limits": [] })),
    ] {
        change(&gateway, &first, id, wish)
            .await
            .assert_refused(403, "forbidden");
    }
    change(&gateway, &third, &second_id, json!({ "name": "mine" }))
        .await
        .assert_refused(403, "forbidden");
    let path = format!("{KEYS}/{first_id}/rotate");
    gateway
        .post(&third, &path, json!({}))
        .await
        .assert_refused(403, "forbidden");
    let narrower = change(
        &gateway,
        &first,
        &first_id,
        json!({ "limits": [{"window": "total", "quota": 2}] }),
    )
    .await;
    assert_eq!(narrower.status, 200, "{}", narrower.json);
}

#[tokio::test]
async fn a_new_secret_keeps_what_a_key_has_spent() {
    let gateway = Gateway::spawn().await;
    let owner = gateway.account(1_000).await;
    let (id, old) = issue(
        &gateway,
        &owner.key,
        json!({ "limits": [{"window": "total", "quota": 3}] }),
    )
    .await;
    assert_eq!(gateway.post(&old, SWAP, swap_body()).await.status, 200);
    let path = format!("{KEYS}/{id}/rotate");
    let rotated = gateway
        .post(&owner.key, &path, json!({ "overlapSeconds": 3600 }))
        .await;
    let new = rotated.json["data"]["api_key"]
        .as_str()
        .expect("a secret")
        .to_owned();
    for key in [&old, &new] {
        assert_eq!(gateway.get(key, "/artgen/v1/info").await.status, 200);
        gateway
            .post(key, SWAP, swap_body())
            .await
            .assert_refused(400, "key_limit");
    }
    let rotated = gateway.post(&owner.key, &path, json!({})).await;
    assert_eq!(rotated.status, 200);
    gateway
        .get(&new, "/artgen/v1/info")
        .await
        .assert_refused(401, "unauthorized");
}

#[tokio::test]
async fn an_operator_sees_and_changes_what_keys_may_spend() {
    let gateway = Gateway::spawn().await;
    let Account { id: account, key } = gateway.account(1_000).await;
    let path = format!("/admin/v1/accounts/{account}/keys");
    let rows = gateway.operate(Method::GET, &path, None).await;
    let id = rows.json["data"][0]["id"]
        .as_str()
        .expect("a key")
        .to_owned();
    let one = format!("{path}/{id}");
    let limits = json!({ "limits": [{"window": "month", "quota": 2}], "note": "invoice 17" });
    let changed = gateway.operate(Method::PATCH, &one, Some(limits)).await;
    assert_eq!(
        changed.json["data"]["note"], "invoice 17",
        "{}",
        changed.json
    );
    assert_eq!(gateway.post(&key, SWAP, swap_body()).await.status, 200);
    gateway
        .post(&key, SWAP, swap_body())
        .await
        .assert_refused(400, "key_limit");
    change(&gateway, &key, &id, json!({ "limits": null }))
        .await
        .assert_refused(403, "forbidden");
    let free = gateway
        .operate(
            Method::PATCH,
            &one,
            Some(json!({ "limits": null, "note": null })),
        )
        .await;
    assert!(
        free.json["data"]["limits"].is_null() && free.json["data"]["note"].is_null(),
        "{}",
        free.json
    );
    assert_eq!(gateway.post(&key, SWAP, swap_body()).await.status, 200);
    let rotated = gateway
        .operate(Method::POST, &format!("{one}/rotate"), Some(json!({})))
        .await;
    let new = rotated.json["data"]["api_key"]
        .as_str()
        .expect("a secret")
        .to_owned();
    assert_eq!(gateway.get(&new, "/artgen/v1/info").await.status, 200);
    gateway
        .get(&key, "/artgen/v1/info")
        .await
        .assert_refused(401, "unauthorized");
    let missing = gateway
        .operate(Method::GET, "/admin/v1/usage?by=key", None)
        .await;
    missing.assert_refused(400, "missing_parameter");
    let usage = gateway
        .operate(
            Method::GET,
            &format!("/admin/v1/usage?by=key&accountId={account}"),
            None,
        )
        .await;
    assert!(usage.json["data"]["groups"].is_array(), "{}", usage.json);
}

#[tokio::test]
async fn who_spent_what_is_told_by_key_model_operation_and_tag() {
    let gateway = Gateway::spawn().await;
    let owner = gateway.account(1_000).await;
    let (id, key) = issue(&gateway, &owner.key, json!({ "name": "shop" })).await;
    let tagged = async |tags: &str| {
        let body =
            json!({ "model": "image-1", "prompt": "a fox", "quality": "low", "user": "u-1" });
        let request = gateway.request(Method::POST, "/v1/images/generations");
        send(
            request
                .header("SVC-API-KEY", &key)
                .header("X-Atelier-Tags", tags)
                .json(&body),
        )
        .await
    };
    let made = tagged("project=a, customer=Mueller").await;
    assert_eq!(made.status, 200, "{}", made.json);
    for wrong in ["project", "a=1,a=2", "a=1,b=2,c=3,d=4,e=5,f=6,g=7,h=8,i=9"] {
        let refused = tagged(wrong).await;
        refused.assert_refused(400, "invalid_parameter");
        assert_eq!(refused.json["param"], "X-Atelier-Tags");
    }
    let job = gateway.get(&key, "/jobs/v1?limit=1").await.json["data"][0].clone();
    assert_eq!(
        job["tags"],
        json!({ "project": "a", "customer": "Mueller" }),
        "{job}"
    );
    assert_eq!((&job["keyId"], &job["user"]), (&json!(id), &json!("u-1")));
    let groups = async |query: &str| {
        let answer = gateway
            .get(&owner.key, &format!("/account/v1/usage?{query}"))
            .await;
        answer.json["data"]["groups"].clone()
    };
    let one = |name: &str, id: &str| json!([{ "name": name, "id": id, "quota": 1, "jobs": 1 }]);
    assert_eq!(groups("by=key").await, one("shop", &id));
    assert_eq!(groups("by=model").await, one("image-1", "image-1"));
    assert_eq!(
        groups("by=operation&model=image-1").await,
        one("imgmodel.generations", "imgmodel.generations")
    );
    assert_eq!(groups("by=tag:project").await, one("a", "a"));
    assert_eq!(groups("by=key&tag=project:b").await, json!([]));
    assert_eq!(
        groups(&format!("keyId={id}&user=u-1")).await,
        one("imgmodel.generations", "imgmodel.generations")
    );
    let total = async |path: &str| {
        let answer = gateway.get(&owner.key, path).await;
        answer.json["total"].clone()
    };
    assert_eq!(total(&format!("/account/v1/ledger?keyId={id}")).await, 2);
    assert_eq!(
        total("/account/v1/ledger?tag=project:a&model=image-1").await,
        2
    );
    assert_eq!(total("/jobs/v1?tag=project:a").await, 1);
    assert_eq!(total("/jobs/v1?keyId=nobody").await, 0);
    assert_eq!(
        total("/jobs/v1?operation=imgmodel.generations&to=2020-01-01").await,
        0
    );
    for wrong in ["by=colour", "by=tag:", "tag=a"] {
        let refused = gateway
            .get(&owner.key, &format!("/account/v1/usage?{wrong}"))
            .await;
        refused.assert_refused(400, "invalid_parameter");
    }
}

/// The promise: the addresses of a key hold for the console as well, when it signs in and as long as its session lasts.
#[tokio::test]
async fn a_key_signs_in_from_its_addresses_and_no_others() {
    let gateway = Options::default()
        .set("PROXIES_TRUSTED", "127.0.0.1")
        .spawn()
        .await;
    let owner = gateway.account(10).await;
    let wish = json!({ "addresses": ["198.51.100.0/24"] });
    let (_, key) = issue(&gateway, &owner.key, wish).await;
    let session = |method: Method, address: &'static str| {
        let request = gateway.request(method, "/console/session");
        request.header("X-Forwarded-For", address)
    };
    let sign_in = async |address: &'static str| {
        let request = session(Method::POST, address);
        send(request.json(&json!({ "secret": key }))).await
    };
    let outside = sign_in("203.0.113.8").await;
    outside.assert_refused(403, "forbidden");
    let inside = sign_in("198.51.100.9").await;
    assert_eq!(inside.status, 200, "{}", inside.json);
    let cookie = inside.header("set-cookie").to_owned();
    let cookie = cookie.split(';').next().expect("a pair").to_owned();
    let shown = async |address: &'static str| {
        send(session(Method::GET, address).header("cookie", &cookie)).await
    };
    let inside = shown("198.51.100.10").await;
    assert!(
        inside.json["data"]["account"].is_object(),
        "{}",
        inside.json
    );
    let outside = shown("203.0.113.8").await;
    outside.assert_refused(403, "forbidden");
}

/// The promise: what a key is refused for is taken from its own rate, and from nobody else's; what makes no job counts not at all.
#[tokio::test]
async fn a_key_beyond_its_rate_uses_up_nothing_of_the_accounts() {
    let gateway = Options::default()
        .set("LIMITS_SUBMITS_PER_SECOND", "1")
        .set("LIMITS_SUBMITS_BURST", "12")
        .spawn()
        .await;
    let owner = gateway.account(1_000).await;
    let (_, key) = issue(&gateway, &owner.key, json!({ "submitsPerSecond": 1 })).await;
    for _ in 0..5 {
        let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
        let request = gateway.request(Method::POST, "/mcp").bearer_auth(&key);
        assert_eq!(send(request.json(&ping)).await.status, 200);
    }
    let calls = (0..20).map(|_| gateway.post(&key, SWAP, swap_body()));
    let answers = join_all(calls).await;
    assert!(answers.iter().any(|one| one.status == 429));
    assert!(answers.iter().any(|one| one.status == 200));
    let other = gateway.post(&owner.key, SWAP, swap_body()).await;
    assert_eq!(other.status, 200, "{}", other.json);
}

/// The promise: a refusal names the field that was given, and tells which limit was reached through every door.
#[tokio::test]
async fn refusals_name_what_was_given_and_what_was_reached() {
    let gateway = Gateway::spawn().await;
    let owner = gateway.account(1_000).await;
    let wish = json!({ "expiresIn": 3600, "limits": [{"window": "total", "quota": 1}] });
    let (_, key) = issue(&gateway, &owner.key, wish).await;
    let late = gateway.post(&key, KEYS, json!({ "expiresIn": 7200 })).await;
    late.assert_refused(403, "forbidden");
    assert_eq!(late.json["param"], "expiresIn", "{}", late.json);
    let task = gateway
        .post(&key, "/mj/submit/imagine", json!({ "prompt": "a fox" }))
        .await;
    assert_eq!(task.json["code"], 4, "{}", task.json);
    assert_eq!(task.json["properties"]["limit"]["window"], "total");
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "artgen_imagine", "arguments": { "prompt": "a fox" } } });
    let request = gateway.request(Method::POST, "/mcp").bearer_auth(&key);
    let told = send(request.json(&call)).await;
    let limit = &told.json["result"]["structuredContent"]["limit"];
    assert_eq!(limit["window"], "total", "{}", told.json);
}
