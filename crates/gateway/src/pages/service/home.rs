//! The first page: a browser is led to the console, everything else is told where the documents are.

use std::sync::Arc;

use atelier_contract::pages::home::Home;
use hyper::header::ACCEPT;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Data, PageOrRedirect};
use crate::http::request::IncomingRequest;

const CONSOLE: &str = "/console/";

pub(crate) async fn show(
    _: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<PageOrRedirect<Home>, Denial> {
    let accepted = received.head.headers.get_all(ACCEPT).iter();
    let browser = accepted
        .filter_map(|value| value.to_str().ok())
        .any(|value| value.to_ascii_lowercase().contains("text/html"));
    if browser {
        return Ok(PageOrRedirect::Redirect(CONSOLE));
    }
    Ok(PageOrRedirect::Page(Data(Home {
        service: "atelier",
        version: env!("CARGO_PKG_VERSION"),
        openapi: "/openapi.json",
        docs: "/docs",
        console: CONSOLE,
        ready: "/readyz",
    })))
}
