//! Listeners with a role serve that role and nothing else.

use crate::gateway::{Options, client, send};

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
