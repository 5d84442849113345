//! What is remembered of a request while it is answered, and where it is told afterwards: in the log, in the access log, in
//! the log of slow requests, in a trace. Of its target only the path: a query may say what is nobody's business, and so does the
//! word of a vendor's hook.

use std::time::Duration;

use atelier_contract::hooks::{hide_hook_words, hide_in_path};
use atelier_engine::{OpenSpan, TraceContext};
use hyper::body::Incoming;
use hyper::header::{HeaderMap, REFERER, USER_AGENT};
use hyper::{Method, Request, Version};
use tokio::time::Instant;

use super::reply::Reply;
use super::request::Exchange;
use crate::access_log::Line;
use crate::app::App;
use crate::counts::{RouteLabel, SUBMIT};

/// What a caller names its trace by.
const TRACE: &str = "traceparent";

/// A request under way.
pub(super) struct RequestLog {
    arrived: Instant,
    /// What is told of it, when anybody wants to know.
    seen: Option<RequestSummary>,
    span: OpenSpan,
    /// Whether the caller named a trace.
    traced: bool,
}

struct RequestSummary {
    method: Method,
    path: String,
    version: Version,
    referer: String,
    agent: String,
}

impl RequestLog {
    /// Remembers what is wanted of a request that has just arrived.
    pub(super) fn new(app: &App, request: &Request<Incoming>) -> Self {
        let log = &app.config.log;
        let tracer = app.engine.tracer();
        let wanted = log.requests || app.access_log.is_some() || log.slow_ms > 0 || tracer.is_on();
        let given = tracer
            .is_on()
            .then(|| request.headers().get(TRACE))
            .flatten();
        let given = given.and_then(|value| value.to_str().ok());
        let headers = request.headers();
        // Nobody looks at a clock for what nobody wants to know.
        let now_ms = if tracer.is_on() {
            app.engine.now_ms()
        } else {
            0
        };
        Self {
            arrived: Instant::now(),
            seen: wanted.then(|| RequestSummary {
                method: request.method().clone(),
                path: hide_in_path(request.uri().path()).into_owned(),
                version: request.version(),
                referer: hide_hook_words(&text(headers, &REFERER)).into_owned(),
                agent: hide_hook_words(&text(headers, &USER_AGENT)).into_owned(),
            }),
            traced: given.is_some(),
            span: tracer.arrive(given, String::new(), now_ms),
        }
    }

    /// Where in a trace it is.
    pub(super) fn trace(&self) -> Option<TraceContext> {
        self.span.context()
    }

    /// Tells of it, now that it has been answered.
    pub(super) fn tell(self, app: &App, exchange: &Exchange<'_>, route: RouteLabel, reply: &Reply) {
        let (from, admission) = (exchange.from, exchange.admission);
        let (took, status) = (self.arrived.elapsed(), reply.status().as_u16());
        let id = exchange.id.to_str().unwrap_or_default();
        if reply.status().is_server_error() {
            tracing::warn!(status, request = id, "responded with an error");
        }
        // Questions about jobs are too many to be told of, unless their caller wants it.
        let told = self.traced || route.0 == SUBMIT;
        let trace = self.trace().filter(|_| told);
        let mark = trace.and_then(|trace| trace.mark(app.engine.now_ms()));
        app.counts.answered(reply.status(), route, took, mark);
        let Some(seen) = self.seen else { return };
        let (log, method, path) = (&app.config.log, &seen.method, &seen.path);
        if log.requests {
            tracing::info!(%method, path, status, peer = %from.peer, request = id, took_ms = took.as_millis() as u64, "request");
        }
        if log.slow_ms > 0 && took >= Duration::from_millis(log.slow_ms) {
            let spent = admission.spent(took);
            tracing::warn!(%method, path, status, request = id, took_ms = took.as_millis() as u64, spent, "slow request");
        }
        if let Some(access_log) = &app.access_log {
            access_log.write(&Line {
                peer: from.peer,
                account: admission.account(),
                now_ms: app.engine.now_ms(),
                request: format!("{method} {path} {:?}", seen.version),
                status,
                bytes: length(reply),
                referer: &seen.referer,
                agent: &seen.agent,
            });
        }
        if told {
            let path = if route.0 == SUBMIT { path } else { "page" };
            let span = self.span.named(format!("{method} {path}"));
            let span = span
                .with("http.response.status_code", &status)
                .with("atelier.request", id);
            let error = (status >= 500).then(|| format!("status {status}"));
            app.engine.tracer().close(span, error);
        }
    }
}

fn text(headers: &HeaderMap, name: &hyper::header::HeaderName) -> String {
    let value = headers.get(name).and_then(|value| value.to_str().ok());
    value.unwrap_or_default().to_owned()
}

/// How many bytes the body has, where that is known beforehand.
fn length(reply: &Reply) -> Option<u64> {
    let length = reply.headers().get(hyper::header::CONTENT_LENGTH);
    let told = length.and_then(|value| value.to_str().ok()?.parse().ok());
    told.or_else(|| hyper::body::Body::size_hint(reply.body()).exact())
}
