//! The bare references: axum with a fixed body, and axum in front of a raw batched writer of the same rows.

use std::sync::Arc;

use anyhow::Result;
use axum::Router;
use axum::http::{HeaderMap, StatusCode, header};
use axum::routing::{get, post};
use tokio::net::TcpListener;

use crate::report::say;
use crate::writer::Writer;

async fn serve(router: Router) -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    say(&format!("listening on http://{}", listener.local_addr()?));
    axum::serve(listener, router).await?;
    Ok(())
}

/// Answers every fetch with the same bytes, after looking at the key header.
pub(crate) async fn serve_fixed(body: &str) -> Result<()> {
    let body: Arc<str> = body.into();
    let answer = move |headers: HeaderMap| {
        let body = body.clone();
        async move {
            match headers.get("svc-api-key") {
                Some(_) => (
                    StatusCode::OK,
                    [(header::CONTENT_TYPE, "application/json")],
                    body.to_string(),
                ),
                None => (
                    StatusCode::UNAUTHORIZED,
                    [(header::CONTENT_TYPE, "application/json")],
                    String::new(),
                ),
            }
        }
    };
    serve(Router::new().route("/artgen/v1/fetch", get(answer))).await
}

/// Answers every call for pictures, at one place, with the same body, at once; and those at another one that ask how far it is.
pub(crate) async fn serve_vendor(path: &str, body: String, state: Option<&str>) -> Result<()> {
    let mut vendor = Router::new().route(path, post(always(body)));
    if let Some(state) = state {
        let idle = r#"{"progress":0,"state":{"interrupted":false,"job_count":0}}"#;
        vendor = vendor.route(state, get(always(idle.to_owned())));
    }
    serve(vendor).await
}

/// The same answer to everything, on a connection that is kept, as vendors' front doors say it.
fn always(
    body: String,
) -> impl Fn(bytes::Bytes) -> std::future::Ready<Fixed> + Clone + Send + Sync + 'static {
    let body: bytes::Bytes = body.into();
    move |_: bytes::Bytes| {
        let head = [
            (header::CONTENT_TYPE, "application/json"),
            (header::CONNECTION, "keep-alive"),
        ];
        std::future::ready((head, body.clone()))
    }
}

type Fixed = ([(header::HeaderName, &'static str); 2], bytes::Bytes);

/// Writes the rows of a submit in batches and answers each after its commit; checks nothing.
pub(crate) async fn serve_writer(database: &str) -> Result<()> {
    let writer = Writer::open(database).await?;
    let answer = move |body: String| {
        let writer = writer.clone();
        async move {
            match writer.write(body).await {
                Some(id) => (
                    StatusCode::OK,
                    format!(r#"{{"status":"SUCCESS","data":{{"jobId":"{id}"}}}}"#),
                ),
                None => (StatusCode::INTERNAL_SERVER_ERROR, String::new()),
            }
        }
    };
    serve(Router::new().route("/artgen/v1/imagine", post(answer))).await
}
