//! Listeners with a role serve that role and nothing else.

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::gateway::{ADMIN_TOKEN, Options, client, send};

#[tokio::test]
async fn a_listener_serves_its_role() {
    let listeners = r#"[{ address = "127.0.0.1:0", role = "cdn" }, { address = "127.0.0.1:0", role = "alt" }, { address = "127.0.0.1:0", role = "metrics" }, { host = "files.example.com", role = "cdn" }]"#;
    let gateway = Options::default()
        .set("LISTENERS", listeners)
        .more_listeners(3)
        .spawn()
        .await;
    let client = client();
    let code = async |address: &str, path: &str| {
        send(client.get(format!("http://{address}{path}")))
            .await
            .json["code"]
            .as_str()
            .unwrap_or("none")
            .to_owned()
    };
    let [main, cdn, alt, metrics] =
        [0, 1, 2, 3].map(|place: usize| gateway.addresses[place].as_str());
    assert_eq!(code(cdn, "/artgen/v1/info").await, "not_found");
    assert_eq!(code(cdn, "/assets/x?y=z").await, "forbidden");
    assert_eq!(code(alt, "/artgen/v1/info").await, "not_found");
    assert_eq!(code(alt, "/assets/x").await, "not_found");
    assert_eq!(code(metrics, "/artgen/v1/info").await, "not_found");
    assert_eq!(
        send(client.get(format!("http://{metrics}/metrics")))
            .await
            .status,
        200
    );
    assert_eq!(code(main, "/metrics").await, "not_found");
    for address in &gateway.addresses {
        assert_eq!(
            send(client.get(format!("http://{address}/healthz")))
                .await
                .status,
            200
        );
    }
    let by_host = client
        .get(format!("http://{main}/artgen/v1/info"))
        .header("Host", "files.example.com:1234");
    assert_eq!(send(by_host).await.json["code"], "not_found");
    assert_eq!(code(main, "/artgen/v1/info").await, "unauthorized");
}

#[tokio::test]
async fn strangers_of_a_public_service_see_neither_counters_nor_back_ends() {
    let gateway = Options::default()
        .set("BASE_URL", "https://atelier.example.com")
        .set(
            "LISTENERS",
            r#"[{ host = "counters.example.com", role = "metrics" }]"#,
        )
        .spawn()
        .await;
    let ready = send(gateway.request(Method::GET, "/readyz")).await;
    assert_eq!(ready.status, 200);
    assert_eq!(ready.json["data"]["backends"], json!([]), "{}", ready.json);
    // Anybody can claim a host.
    let metrics = || {
        let request = gateway.request(Method::GET, "/metrics");
        request.header("Host", "counters.example.com")
    };
    send(metrics()).await.assert_refused(401, "unauthorized");
    assert_eq!(send(metrics().bearer_auth(ADMIN_TOKEN)).await.status, 200);
}

/// The promise: what listens for collectors elsewhere than on loopback asks them for a token, and shows no names without one.
#[tokio::test]
async fn a_listener_for_collectors_that_others_can_reach_asks_for_a_token() {
    let listeners = r#"[{ address = "0.0.0.0:0", role = "metrics" }, { address = "127.0.0.1:0", role = "metrics" }]"#;
    let gateway = Options::default()
        .set("LISTENERS", listeners)
        .more_listeners(2)
        .spawn()
        .await;
    let [open, own] =
        [1, 2].map(|place: usize| gateway.addresses[place].replace("0.0.0.0", "127.0.0.1"));
    let client = client();
    let get = |address: &str, path: &str| client.get(format!("http://{address}{path}"));
    let metrics = send(get(&open, "/metrics")).await;
    metrics.assert_refused(401, "unauthorized");
    let metrics = get(&open, "/metrics").bearer_auth(ADMIN_TOKEN);
    assert_eq!(send(metrics).await.status, 200);
    assert_eq!(send(get(&own, "/metrics")).await.status, 200);
    let names = async |request: RequestBuilder| {
        let ready = send(request).await;
        assert_eq!(ready.status, 200, "{}", ready.json);
        ready.json["data"]["backends"].as_array().map(Vec::len)
    };
    assert_eq!(names(get(&open, "/readyz")).await, Some(0));
    let operator = get(&open, "/readyz").bearer_auth(ADMIN_TOKEN);
    assert_eq!(names(operator).await, Some(1));
    assert_eq!(names(get(&own, "/readyz")).await, Some(1));
}

const IMAGE: &str = "/v1/images/generations";

/// A small picture, made at once.
fn small_picture() -> Value {
    json!({ "model": "art-2", "prompt": "a boat", "size": "256x256" })
}

#[tokio::test]
async fn each_role_does_its_work_on_its_own_listener_and_under_its_own_host() {
    let listeners = r#"[{ address = "127.0.0.1:0", role = "alt" }, { address = "127.0.0.1:0", role = "cdn" }, { address = "127.0.0.1:0", role = "custody" }, { host = "alt.example.com", role = "alt" }, { host = "cdn.example.com", role = "cdn" }, { host = "own.example.com", role = "custody" }]"#;
    let gateway = Options::default()
        .set("LISTENERS", listeners)
        .set("CDN_URL", "http://cdn.example.com")
        .set("LEGACY_CDN_URL", "http://old.example.com")
        .more_listeners(3)
        .spawn()
        .await;
    let caller = gateway.account(100).await;
    let [main, alt, cdn, custody] =
        [0, 1, 2, 3].map(|place: usize| gateway.addresses[place].clone());
    let client = client();
    let call =
        async |method: Method, address: &str, host: &str, path: &str, body: Option<Value>| {
            let mut request = client.request(method, format!("http://{address}{path}"));
            request = request.header("SVC-API-KEY", &caller.key);
            if !host.is_empty() {
                request = request.header("Host", host);
            }
            send(match &body {
                Some(body) => request.json(body),
                None => request,
            })
            .await
        };
    let (get, post) = (Method::GET, Method::POST);

    // alt makes pictures and nothing else.
    let mut pictures = Vec::new();
    for (address, host) in [(&alt, ""), (&main, "alt.example.com")] {
        let made = call(post.clone(), address, host, IMAGE, Some(small_picture())).await;
        assert_eq!(made.status, 200, "{}", made.json);
        let url = made.json["data"][0]["url"].as_str().expect("an address");
        pictures.push(url.split_once("/assets/").expect("an asset").1.to_owned());
        let info = call(get.clone(), address, host, "/artgen/v1/info", None).await;
        info.assert_refused(404, "not_found");
    }
    // cdn hands out files and nothing else; the main listener and the former host do so too.
    for (address, host) in [
        (&cdn, ""),
        (&main, "cdn.example.com"),
        (&main, "old.example.com"),
        (&main, ""),
    ] {
        let path = format!("/assets/{}", pictures[0]);
        let file = call(get.clone(), address, host, &path, None).await;
        assert_eq!(
            (file.status.as_u16(), file.header("content-type")),
            (200, "image/png")
        );
    }
    for (address, host) in [(&cdn, ""), (&main, "cdn.example.com")] {
        let made = call(post.clone(), address, host, IMAGE, Some(small_picture())).await;
        made.assert_refused(404, "not_found");
    }
    // custody runs artgen image submits on the caller's own accounts, of which there are none; the rest is as on main.
    for (address, host) in [(&custody, ""), (&main, "own.example.com:80")] {
        let imagine = Some(json!({ "prompt": "a boat" }));
        let refused = call(post.clone(), address, host, "/artgen/v1/imagine", imagine).await;
        refused.assert_refused(400, "no_available_account");
        let made = call(post.clone(), address, host, IMAGE, Some(small_picture())).await;
        assert_eq!(made.status, 200, "{}", made.json);
    }
    // An unknown host is the main listener's.
    let info = call(get, &main, "who.example.com", "/artgen/v1/info", None).await;
    assert_eq!(info.status, 200, "{}", info.json);
}
