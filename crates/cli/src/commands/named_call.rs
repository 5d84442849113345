//! One call of the operator's pages of what has a name and revisions: models, and groups.

use serde_json::{Map, Value};

use crate::client::fault::Fault;
use crate::client::{ApiRequest, Client, RequestBody, segment};

/// One call of such a page.
pub(super) struct NamedCall {
    operation: &'static str,
    name: Option<String>,
    query: Vec<(String, String)>,
    body: Option<Map<String, Value>>,
}

impl NamedCall {
    pub(super) const fn of(operation: &'static str) -> Self {
        Self {
            operation,
            name: None,
            query: Vec::new(),
            body: None,
        }
    }

    pub(super) fn named(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    pub(super) fn query(mut self, name: &str, value: Option<String>) -> Self {
        self.query
            .extend(value.map(|value| (name.to_owned(), value)));
        self
    }

    pub(super) fn body(mut self, body: Map<String, Value>) -> Self {
        self.body = Some(body);
        self
    }

    /// The same, only asked about.
    pub(super) fn preview(self) -> Self {
        self.query("preview", Some("true".to_owned()))
    }

    pub(super) async fn send(self, client: &Client) -> Result<Value, Fault> {
        let page = client.operation(self.operation)?;
        let name = self.name.as_deref().map(segment).unwrap_or_default();
        let mut asked = ApiRequest::plain(page, page.path.replace("{name}", &name));
        asked.query = self.query;
        asked.sent = self.body.map_or(RequestBody::Nothing, RequestBody::Json);
        client.call(page, &asked).await
    }
}

/// The one of that name in a list, however it is written.
pub(super) fn find_named<'a>(list: &'a Value, name: &str) -> Option<&'a Map<String, Value>> {
    let mut rows = list["data"].as_array().into_iter().flatten();
    let is_named = |row: &&Value| {
        let known = row["name"].as_str();
        known.is_some_and(|known| known.eq_ignore_ascii_case(name))
    };
    rows.find(is_named).and_then(Value::as_object)
}
