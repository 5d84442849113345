//! The tracer: what happened to a job, as spans of one trace, sent to whoever collects them by OTLP over HTTP as JSON.
//!
//! The spans are made here and not by a tracing library: a job's work goes over nodes and restarts, so its spans have
//! identifiers and times of their own that no stack of one process knows. Nothing waits for the tracer: spans go into a
//! bounded queue, and what finds it full is counted and dropped.

mod context;
mod otlp;
mod span;

use std::time::Duration;

use atelier_backends::http::{OutboundClient, VendorHttp, VendorRequest};
use atelier_contract::metrics::{CounterVec, table};
use serde::Deserialize;
use tokio::sync::mpsc;

use crate::ids::Ids;

pub(crate) use context::TRACE_FIELD;
pub use context::TraceContext;
pub use span::{OpenSpan, SpanKind};

use span::Span;

/// Spans that may wait to be sent.
const QUEUE: usize = 4_096;
/// Spans in one message.
const AT_ONCE: usize = 512;
/// What a stop waits for the last ones.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

const SENT: &str = "sent";
const DROPPED: &str = "dropped";

/// Where spans go and which traces are kept.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Telemetry {
    /// The base address of a collector, such as `http://127.0.0.1:4318`; empty for none.
    pub otlp_endpoint: String,
    /// The name of this service there.
    pub service_name: String,
    /// The share of traces that begin here and are kept, from 0 to 1; a caller's own word goes first.
    pub sample: f64,
}

/// Sends spans, if anybody collects them.
pub struct Tracer {
    ids: Ids,
    sample: f64,
    out: Option<SpanExporter>,
    counts: CounterVec,
}

struct SpanExporter {
    http: VendorHttp,
    resource: otlp::Resource,
    sender: mpsc::Sender<Span>,
    waiting: tokio::sync::Mutex<mpsc::Receiver<Span>>,
}

impl Tracer {
    pub(crate) fn new(wanted: &Telemetry, outbound: &OutboundClient, ids: Ids, node: &str) -> Self {
        let out = (!wanted.otlp_endpoint.is_empty()).then(|| {
            let (sender, waiting) = mpsc::channel(QUEUE);
            let http = outbound.vendor(&wanted.otlp_endpoint, true)?;
            Ok::<_, atelier_backends::FieldError>(SpanExporter {
                http,
                resource: otlp::Resource::new(&wanted.service_name, node),
                sender,
                waiting: tokio::sync::Mutex::new(waiting),
            })
        });
        let out = out.and_then(|out| {
            let wrong = |why| tracing::error!(%why, "telemetry.otlp_endpoint cannot be used");
            out.map_err(wrong).ok()
        });
        let outcomes = vec![SENT, DROPPED];
        Self {
            ids,
            sample: wanted.sample,
            out,
            counts: CounterVec::new(&table::SPANS, [outcomes, vec![]]),
        }
    }

    /// Whether anybody collects spans.
    pub fn is_on(&self) -> bool {
        self.out.is_some()
    }

    /// What became of spans.
    pub fn counts(&self) -> &CounterVec {
        &self.counts
    }

    /// A span for a request, in the trace that its caller names or in a new one.
    pub fn arrive(&self, given: Option<&str>, name: String, now_ms: i64) -> OpenSpan {
        if !self.is_on() {
            return OpenSpan::none();
        }
        let given = given.and_then(TraceContext::parse);
        let context = match given {
            Some(given) => given.with_span(self.span_id()),
            None => TraceContext::new(
                u128::from_be_bytes(self.ids.dice()),
                self.span_id(),
                self.is_sampled(),
            ),
        };
        let parent = given.map(TraceContext::span);
        OpenSpan::new(context, parent, name, SpanKind::Server, now_ms)
    }

    /// A span below another one; nothing below nothing.
    pub(crate) fn open(
        &self,
        above: Option<TraceContext>,
        name: impl Into<String>,
        kind: SpanKind,
        now_ms: i64,
    ) -> OpenSpan {
        match above.filter(|_| self.is_on()) {
            None => OpenSpan::none(),
            Some(above) => {
                let context = above.with_span(self.span_id());
                OpenSpan::new(context, Some(above.span()), name.into(), kind, now_ms)
            }
        }
    }

    /// A span is over.
    pub fn close(&self, open: OpenSpan, error: Option<String>) {
        let (Some(out), Some(span)) = (&self.out, open.end(error)) else {
            return;
        };
        if out.sender.try_send(span).is_err() {
            self.counts.count(DROPPED, "");
        }
    }

    /// Sends what waits; says whether more may be waiting.
    pub(crate) async fn step(&self) -> bool {
        let Some(out) = &self.out else { return false };
        let mut spans = Vec::new();
        {
            let mut waiting = out.waiting.lock().await;
            while spans.len() < AT_ONCE {
                let Ok(span) = waiting.try_recv() else { break };
                spans.push(span);
            }
        }
        if spans.is_empty() {
            return false;
        }
        let message = otlp::message(&out.resource, &spans);
        let sent = out
            .http
            .ask(VendorRequest::post_json("v1/traces", &message));
        let outcome = match sent.await {
            Ok(answer) if answer.is_good() => SENT,
            Ok(answer) => {
                tracing::debug!(status = answer.status, "the collector rejected spans");
                DROPPED
            }
            Err(fault) => {
                tracing::debug!(why = %fault.detail, "the collector is unreachable");
                DROPPED
            }
        };
        for _ in &spans {
            self.counts.count(outcome, "");
        }
        spans.len() == AT_ONCE && outcome == SENT
    }

    /// Sends the last ones before the process ends.
    pub(crate) async fn finish(&self) {
        let all = async { while self.step().await {} };
        let _ = tokio::time::timeout(FLUSH_TIMEOUT, all).await;
    }

    /// Never zero, which means none.
    fn span_id(&self) -> u64 {
        u64::from_be_bytes(self.ids.dice()) | 1
    }

    fn is_sampled(&self) -> bool {
        let dice = u32::from_be_bytes(self.ids.dice());
        f64::from(dice) < self.sample * f64::from(u32::MAX)
    }
}
