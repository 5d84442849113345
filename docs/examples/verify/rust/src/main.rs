//! A callback receiver that checks every signature.
//!
//! Run: CALLBACK_SECRET=whsec_... cargo run -- 9000

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use standardwebhooks::Webhook;

struct Receiver {
    webhook: Webhook,
    /// Use a table with a unique key in a real service.
    seen: Mutex<HashSet<String>>,
}

async fn receive(
    State(receiver): State<Arc<Receiver>>,
    headers: HeaderMap,
    body: Bytes,
) -> StatusCode {
    // The signature covers the bytes as they came: check first, parse afterwards.
    if receiver.webhook.verify(&body, &headers).is_err() {
        return StatusCode::UNAUTHORIZED;
    }
    let id = headers["webhook-id"].to_str().unwrap_or_default().to_owned();
    let fresh = receiver.seen.lock().expect("the list").insert(id);
    if let (true, Ok(job)) = (fresh, serde_json::from_slice::<serde_json::Value>(&body)) {
        println!("{}", job["status"].as_str().unwrap_or_default());
    }
    StatusCode::NO_CONTENT
}

#[tokio::main]
async fn main() {
    let secret = std::env::var("CALLBACK_SECRET").expect("CALLBACK_SECRET");
    let port = std::env::args().nth(1).expect("a port");
    let receiver = Arc::new(Receiver {
        webhook: Webhook::new(&secret).expect("a secret"),
        seen: Mutex::default(),
    });
    let app = Router::new().fallback(post(receive)).with_state(receiver);
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}"));
    let listener = listener.await.expect("a free port");
    axum::serve(listener, app).await.expect("a server");
}
