//! What the service answers in any of these tests is what its document says that it can: an error response with a status that its
//! operation does not list fails the test that met it.

use std::sync::LazyLock;

use reqwest::Method;
use serde_json::Value;

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");
    let text = std::fs::read_to_string(path).expect("the document");
    serde_json::from_str(&text).expect("JSON")
});

/// What ends a request before its operation counts: a head that cannot be read, or a path that another rule closes.
const OF_NO_OPERATION: [&str; 2] = ["invalid_request", "method_not_allowed"];

/// Compares an error response with the document.
pub(crate) fn check(method: &Method, path: &str, status: u16, body: &Value) {
    if OF_NO_OPERATION.iter().any(|code| body["code"] == *code) {
        return;
    }
    let Some((template, responses)) = operation(method, path) else {
        return;
    };
    let listed = responses.get(status.to_string()).is_some();
    assert!(
        listed,
        "{method} {template} answers {status} and does not list it: {body}"
    );
}

/// The responses of the operation that a path leads to, with its path as the document has it.
fn operation(method: &Method, path: &str) -> Option<(&'static str, &'static Value)> {
    let paths = DOCUMENT["paths"].as_object()?;
    let found = paths
        .iter()
        .filter_map(|(template, methods)| Some((template, plain_parts(template, path)?, methods)));
    let (template, _, methods) = found.max_by_key(|(_, plain, _)| *plain)?;
    let operation = methods.get(method.as_str().to_lowercase())?;
    Some((template, &operation["responses"]))
}

/// How many parts of a path are those of a template, if it leads there. A placeholder at the end may stand for several parts.
fn plain_parts(template: &str, path: &str) -> Option<usize> {
    let mut parts = path.split('/');
    let mut plain = 0;
    let mut left = template.split('/').peekable();
    while let Some(wanted) = left.next() {
        let part = parts.next()?;
        if wanted == part {
            plain += 1;
        } else if !wanted.starts_with('{') {
            return None;
        } else if left.peek().is_none() {
            return Some(plain);
        }
    }
    parts.next().is_none().then_some(plain)
}
