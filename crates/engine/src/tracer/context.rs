//! Where in a trace something happens, in the words of W3C Trace Context.

use atelier_contract::metrics::TraceMark;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// The field of a stored request that keeps the trace of its job; no caller can send it.
pub(crate) const TRACE_FIELD: &str = "traceparent";

/// A trace, a span of it, and whether it is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceContext {
    trace: u128,
    span: u64,
    sampled: bool,
}

impl TraceContext {
    pub(super) fn new(trace: u128, span: u64, sampled: bool) -> Self {
        let trace = trace.max(1);
        Self {
            trace,
            span,
            sampled,
        }
    }

    /// Reads a `traceparent` header; what breaks its rules is as good as none.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let version = hex(parts.next()?, 2)?;
        let (trace, span) = (hex(parts.next()?, 32)?, hex(parts.next()?, 16)?);
        let flags = hex(parts.next()?, 2)?;
        // Later versions may say more; this one says no more than this, and the last one is none.
        if version == 0xff || (version == 0 && parts.next().is_some()) || trace == 0 || span == 0 {
            return None;
        }
        let sampled = flags & 1 == 1;
        Some(Self::new(trace, u64::try_from(span).ok()?, sampled))
    }

    /// The same as a header.
    pub fn header(self) -> String {
        let flags = u8::from(self.sampled);
        format!("00-{:032x}-{:016x}-{flags:02x}", self.trace, self.span)
    }

    /// The trace, as logs and collectors name it.
    pub fn trace_id(self) -> String {
        format!("{:032x}", self.trace)
    }

    /// What marks an observation of now, when the trace is recorded.
    pub fn mark(self, time_ms: i64) -> Option<TraceMark> {
        let trace = self.trace;
        self.sampled.then_some(TraceMark { trace, time_ms })
    }

    pub(crate) fn span(self) -> u64 {
        self.span
    }

    pub(crate) fn is_sampled(self) -> bool {
        self.sampled
    }

    pub(crate) fn with_span(self, span: u64) -> Self {
        Self { span, ..self }
    }

    /// The span of a job in its trace. It follows from the job's name, so that every node knows it.
    pub(crate) fn of_job(self, job_id: &str) -> Self {
        let hash = Sha256::digest(job_id.as_bytes());
        let mut first = [0; 8];
        first.copy_from_slice(&hash[..8]);
        self.with_span(u64::from_be_bytes(first) | 1)
    }

    /// The trace that a stored request keeps.
    pub(crate) fn kept_in(request: &str) -> Option<Self> {
        if !request.contains(TRACE_FIELD) {
            return None;
        }
        let request: Value = serde_json::from_str(request).ok()?;
        Self::parse(request.get(TRACE_FIELD)?.as_str()?)
    }
}

/// A number of so many digits, in lower case as the standard wants it.
fn hex(text: &str, digits: usize) -> Option<u128> {
    let lower = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let right = text.len() == digits && text.bytes().all(lower);
    right.then(|| u128::from_str_radix(text, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIVEN: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn what_was_read_is_written_again() {
        let context = TraceContext::parse(GIVEN).expect("a context");
        assert_eq!(context.header(), GIVEN);
        assert_eq!(context.trace_id(), "4bf92f3577b34da6a3ce929d0e0e4736");
    }

    /// The promise: the rules of the standard, so that a broken header is no trace and a later version still is.
    #[test]
    fn headers_are_read_by_the_rules_of_the_standard() {
        let later = "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-comes";
        assert!(TraceContext::parse(later).is_some());
        for wrong in [
            "",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-+1",
        ] {
            assert_eq!(TraceContext::parse(wrong), None, "{wrong}");
        }
    }

    /// The promise: two nodes name a job's span alike without a word between them.
    #[test]
    fn the_span_of_a_job_follows_from_its_name() {
        let context = TraceContext::parse(GIVEN).expect("a context");
        assert_eq!(context.of_job("a"), context.of_job("a"));
        assert_ne!(context.of_job("a"), context.of_job("b"));
        assert_eq!(context.of_job("a").trace_id(), context.trace_id());
    }
}
