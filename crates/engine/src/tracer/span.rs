//! A piece of a trace: something that began, took a while, and went well or not.

use std::time::Duration;

use tokio::time::Instant;

use super::context::TraceContext;

/// Whose doing it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// Work of this service itself.
    Internal,
    /// An answer to somebody's call.
    Server,
    /// A call to somebody else.
    Client,
}

/// A span that is over.
#[derive(Debug)]
pub(super) struct Span {
    pub(super) context: TraceContext,
    pub(super) parent: Option<u64>,
    pub(super) name: String,
    pub(super) kind: SpanKind,
    pub(super) start_ms: i64,
    pub(super) took: Duration,
    pub(super) attributes: Vec<(&'static str, String)>,
    pub(super) error: Option<String>,
}

/// A span that has begun, or none when nobody wants to know.
#[derive(Debug)]
pub struct OpenSpan(Option<(Span, Instant)>);

impl OpenSpan {
    pub(super) fn none() -> Self {
        Self(None)
    }

    pub(super) fn new(
        context: TraceContext,
        parent: Option<u64>,
        name: String,
        kind: SpanKind,
        start_ms: i64,
    ) -> Self {
        let span = Span {
            context,
            parent,
            name,
            kind,
            start_ms,
            took: Duration::ZERO,
            attributes: Vec::new(),
            error: None,
        };
        Self(Some((span, Instant::now())))
    }

    /// Where in the trace it is.
    pub fn context(&self) -> Option<TraceContext> {
        self.0.as_ref().map(|(span, _)| span.context)
    }

    /// Gives it a name, now that it is known what it was.
    #[must_use]
    pub fn named(mut self, name: String) -> Self {
        if let Some((span, _)) = &mut self.0 {
            span.name = name;
        }
        self
    }

    /// Says more about it.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: &(impl ToString + ?Sized)) -> Self {
        if let Some((span, _)) = &mut self.0 {
            span.attributes.push((name, value.to_string()));
        }
        self
    }

    /// It has another place in the trace, and began earlier.
    pub(crate) fn since(mut self, context: TraceContext, start_ms: i64, now_ms: i64) -> Self {
        if let Some((span, _)) = &mut self.0 {
            span.context = context;
            span.start_ms = start_ms;
            span.took = Duration::from_millis(u64::try_from(now_ms - start_ms).unwrap_or(0));
        }
        self
    }

    /// The whole span, unless it is not recorded.
    pub(super) fn end(self, error: Option<String>) -> Option<Span> {
        let (mut span, began) = self.0?;
        if span.took.is_zero() {
            span.took = began.elapsed();
        }
        span.error = error;
        Some(span).filter(|span| span.context.is_sampled())
    }
}
