//! Spans as the OpenTelemetry protocol has them, in its JSON form.

use serde_json::{Value, json};

use super::span::{Span, SpanKind};

pub(super) struct Resource(Value);

impl Resource {
    pub(super) fn new(service: &str, node: &str) -> Self {
        let name = if service.is_empty() {
            "atelier"
        } else {
            service
        };
        Self(json!({ "attributes": [
            attribute("service.name", name),
            attribute("service.version", env!("CARGO_PKG_VERSION")),
            attribute("service.instance.id", node),
        ] }))
    }
}

/// The body of an export.
pub(super) fn message(resource: &Resource, spans: &[Span]) -> Value {
    let spans: Vec<Value> = spans.iter().map(span).collect();
    json!({ "resourceSpans": [{
        "resource": resource.0,
        "scopeSpans": [{ "scope": { "name": "atelier" }, "spans": spans }],
    }] })
}

fn span(span: &Span) -> Value {
    let start = u128::try_from(span.start_ms).unwrap_or(0) * 1_000_000;
    let attributes = span.attributes.iter();
    let attributes: Vec<Value> = attributes
        .map(|(key, value)| attribute(key, value))
        .collect();
    let mut told = json!({
        "traceId": span.context.trace_id(),
        "spanId": format!("{:016x}", span.context.span()),
        "name": span.name,
        "kind": match span.kind {
            SpanKind::Internal => 1,
            SpanKind::Server => 2,
            SpanKind::Client => 3,
        },
        "startTimeUnixNano": start.to_string(),
        "endTimeUnixNano": (start + span.took.as_nanos()).to_string(),
        "attributes": attributes,
    });
    if let Some(parent) = span.parent {
        told["parentSpanId"] = json!(format!("{parent:016x}"));
    }
    if let Some(error) = &span.error {
        told["status"] = json!({ "code": 2, "message": error });
    }
    told
}

fn attribute(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}
