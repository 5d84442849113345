//! The endpoints no family owns: the account, jobs of every family, the operator, health.

use serde_json::{Map, Value, json};

use super::parts::{answers, envelope, paged, query, streamed};

/// One endpoint in short form.
struct Endpoint {
    method: &'static str,
    path: &'static str,
    name: &'static str,
    summary: &'static str,
    /// Parameters of the query and fields of the body, as `name: schema`.
    query: Value,
    body: Option<Value>,
    good: Value,
}

fn object() -> Value {
    json!({ "type": "object" })
}

fn fields(required: &[&str], properties: Value) -> Value {
    json!({ "type": "object", "required": required, "properties": properties })
}

fn pages() -> Value {
    json!({
        "page": { "type": "integer", "minimum": 1, "maximum": 1_000_000, "default": 1 },
        "limit": { "type": "integer", "minimum": 1, "maximum": 100, "default": 10 },
    })
}

fn with(mut one: Value, other: Value) -> Value {
    if let (Some(one), Value::Object(other)) = (one.as_object_mut(), other) {
        one.extend(other);
    }
    one
}

/// Adds every endpoint.
pub(super) fn add(paths: &mut Map<String, Value>) {
    for endpoint in account()
        .into_iter()
        .chain(history())
        .chain(jobs())
        .chain(operator())
    {
        insert(paths, endpoint);
    }
    let plain = |name: &str, summary: &str, media: &str| {
        json!({ "get": {
            "operationId": name, "tags": ["Service"], "summary": summary, "security": [],
            "responses": {
                "200": { "description": "Good.", "content": { media: {} } },
                "503": { "$ref": "#/components/responses/R503" },
            },
        } })
    };
    paths.insert(
        "/healthz".into(),
        plain(
            "healthz",
            "Whether the process answers.",
            "application/json",
        ),
    );
    paths.insert(
        "/readyz".into(),
        plain("readyz", "Whether it can take work.", "application/json"),
    );
    paths.insert(
        "/metrics".into(),
        plain("metrics", "Counters for a collector.", "text/plain"),
    );
    paths.insert(
        "/openapi.json".into(),
        plain("openapi", "This document.", "application/json"),
    );
    paths.insert(
        "/docs".into(),
        plain("docs", "This document for people.", "text/html"),
    );
}

fn insert(paths: &mut Map<String, Value>, endpoint: Endpoint) {
    let operator = endpoint.path.starts_with("/admin/");
    let tag = match endpoint.path.split('/').nth(1) {
        Some("admin") => "Operator",
        Some("jobs") => "Jobs",
        Some("artgen") => "artgen images",
        _ => "Account",
    };
    let mut parameters: Vec<Value> = endpoint
        .path
        .split('/')
        .filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }))
        .collect();
    for (name, schema) in endpoint.query.as_object().into_iter().flatten() {
        parameters.push(query(name, false, schema.clone()));
    }
    let mut operation = json!({
        "operationId": endpoint.name,
        "tags": [tag],
        "summary": endpoint.summary,
        "parameters": parameters,
        "responses": if endpoint.path.ends_with("/events") { streamed() } else { answers(endpoint.good) },
    });
    if operator {
        operation["security"] = json!([{ "operator": [] }]);
    }
    if let Some(body) = endpoint.body {
        operation["requestBody"] = json!({ "content": { "application/json": { "schema": body } } });
    }
    let place = paths.entry(endpoint.path).or_insert_with(|| json!({}));
    place[endpoint.method] = operation;
}

fn get(
    path: &'static str,
    name: &'static str,
    summary: &'static str,
    query: Value,
    good: Value,
) -> Endpoint {
    Endpoint {
        method: "get",
        path,
        name,
        summary,
        query,
        body: None,
        good,
    }
}

fn post(
    path: &'static str,
    name: &'static str,
    summary: &'static str,
    body: Value,
    good: Value,
) -> Endpoint {
    Endpoint {
        method: "post",
        path,
        name,
        summary,
        query: json!({}),
        body: Some(body),
        good,
    }
}

fn account() -> Vec<Endpoint> {
    let period = json!({ "from": { "type": "string" }, "to": { "type": "string" } });
    let secret = || {
        envelope(fields(
            &["secret"],
            json!({ "secret": { "type": "string" } }),
        ))
    };
    let question = fields(
        &["operation"],
        json!({ "operation": { "type": "string" }, "request": object() }),
    );
    let since = fields(&["since"], json!({ "since": { "type": "string" } }));
    let new_key = fields(
        &[],
        json!({ "name": { "type": "string" }, "expiresAt": { "type": "string" } }),
    );
    let issued = fields(
        &["id", "api_key"],
        json!({ "id": { "type": "string" }, "api_key": { "type": "string" } }),
    );
    let list = || envelope(json!({ "type": "array", "items": object() }));
    vec![
        get(
            "/account/v1/usage",
            "account.usage",
            "What was consumed, by family and by day.",
            period,
            envelope(object()),
        ),
        get(
            "/account/v1/ledger",
            "account.ledger",
            "Every movement of quota, newest first.",
            pages(),
            paged(object()),
        ),
        get(
            "/account/v1/keys",
            "account.keys",
            "The account's keys, without their secrets.",
            json!({}),
            list(),
        ),
        post(
            "/account/v1/keys",
            "account.keys.issue",
            "A new key, shown this once.",
            new_key,
            envelope(issued),
        ),
        Endpoint {
            method: "delete",
            path: "/account/v1/keys/{keyId}",
            name: "account.keys.revoke",
            summary: "Revokes a key at once.",
            query: json!({}),
            body: None,
            good: envelope(object()),
        },
        post(
            "/account/v1/quote",
            "account.quote",
            "What a submit of the same body would hold.",
            question,
            envelope(object()),
        ),
        get(
            "/account/v1/callbacks",
            "account.callbacks",
            "Callbacks and how they went.",
            pages(),
            paged(object()),
        ),
        post(
            "/account/v1/callbacks/{id}/redeliver",
            "account.callbacks.redeliver",
            "Sends one again.",
            object(),
            envelope(object()),
        ),
        post(
            "/account/v1/callbacks/redeliver",
            "account.callbacks.redeliver_since",
            "Sends all again that were given up since a time.",
            since,
            envelope(object()),
        ),
        get(
            "/account/v1/callbacks/secret",
            "account.callbacks.secret",
            "The signing secret.",
            json!({}),
            secret(),
        ),
        post(
            "/account/v1/callbacks/secret",
            "account.callbacks.rotate",
            "A new signing secret; the old one signs beside it for a day.",
            object(),
            secret(),
        ),
    ]
}

fn history() -> Vec<Endpoint> {
    let filter = with(
        pages(),
        json!({ "status": { "type": "string" }, "order": { "type": "string" } }),
    );
    let words = fields(&["prompt"], json!({ "prompt": { "type": "string" } }));
    let text = json!({ "type": "string" });
    vec![
        get(
            "/artgen/v1/info",
            "artgen.info",
            "The account.",
            json!({}),
            envelope(object()),
        ),
        post(
            "/artgen/v1/info",
            "artgen.info.post",
            "The account.",
            object(),
            envelope(object()),
        ),
        get(
            "/artgen/v1/fetch-list",
            "artgen.fetch_list",
            "Earlier artgen image jobs.",
            filter.clone(),
            paged(object()),
        ),
        post(
            "/artgen/v1/fetch-list",
            "artgen.fetch_list.post",
            "Earlier artgen image jobs.",
            fields(&[], filter),
            paged(object()),
        ),
        post(
            "/artgen/v1/promptCheck",
            "artgen.prompt_check",
            "Whether a prompt passes.",
            words,
            envelope(text),
        ),
        get(
            "/artgen/status",
            "artgen.status",
            "How the artgen image endpoints are.",
            json!({}),
            envelope(object()),
        ),
    ]
}

fn jobs() -> Vec<Endpoint> {
    let filter = with(
        pages(),
        json!({ "family": { "type": "string" }, "status": { "type": "string" } }),
    );
    vec![
        get(
            "/jobs/v1",
            "jobs.list",
            "Jobs of every family.",
            filter,
            paged(object()),
        ),
        get(
            "/jobs/v1/{jobId}",
            "jobs.show",
            "One view of any job.",
            json!({}),
            envelope(object()),
        ),
        get(
            "/jobs/v1/{jobId}/events",
            "jobs.events",
            "Every change of a job, as server-sent events.",
            json!({}),
            object(),
        ),
        post(
            "/jobs/v1/{jobId}/cancel",
            "jobs.cancel",
            "Ends an unfinished job; its quota comes back.",
            object(),
            envelope(object()),
        ),
    ]
}

fn operator() -> Vec<Endpoint> {
    let amount = || json!({ "type": "number" });
    let text = || json!({ "type": "string" });
    let new = fields(
        &["email"],
        json!({
            "email": text(), "balance": amount(), "max_queue": { "type": "integer" }, "email_verified": { "type": "boolean" },
        }),
    );
    let change = fields(
        &[],
        json!({
            "email": text(), "max_queue": { "type": "integer" }, "email_verified": { "type": "boolean" }, "disabled": { "type": "boolean" },
        }),
    );
    let credit = fields(
        &["amount", "reason"],
        json!({ "amount": amount(), "reason": text(), "idempotency_key": text() }),
    );
    let key = fields(&[], json!({ "name": text(), "expiresAt": text() }));
    let with_method = |method: &'static str, endpoint: Endpoint| Endpoint { method, ..endpoint };
    vec![
        get(
            "/admin/v1/accounts",
            "admin.accounts",
            "Accounts.",
            pages(),
            paged(object()),
        ),
        post(
            "/admin/v1/accounts",
            "admin.accounts.create",
            "A new account with its first key.",
            new,
            envelope(object()),
        ),
        get(
            "/admin/v1/accounts/{id}",
            "admin.accounts.show",
            "One account.",
            json!({}),
            envelope(object()),
        ),
        with_method(
            "patch",
            post(
                "/admin/v1/accounts/{id}",
                "admin.accounts.change",
                "Changes an account.",
                change,
                envelope(object()),
            ),
        ),
        post(
            "/admin/v1/accounts/{id}/credit",
            "admin.accounts.credit",
            "Grants quota or takes some away.",
            credit,
            envelope(object()),
        ),
        get(
            "/admin/v1/accounts/{id}/keys",
            "admin.keys",
            "An account's keys.",
            json!({}),
            envelope(json!({ "type": "array" })),
        ),
        post(
            "/admin/v1/accounts/{id}/keys",
            "admin.keys.issue",
            "A new key for an account.",
            key,
            envelope(object()),
        ),
        with_method(
            "delete",
            get(
                "/admin/v1/accounts/{id}/keys/{keyId}",
                "admin.keys.revoke",
                "Revokes a key.",
                json!({}),
                envelope(object()),
            ),
        ),
        get(
            "/admin/v1/prices",
            "admin.prices",
            "Every price.",
            json!({}),
            envelope(object()),
        ),
        with_method(
            "put",
            post(
                "/admin/v1/prices",
                "admin.prices.change",
                "Changes prices from now on.",
                object(),
                envelope(object()),
            ),
        ),
        get(
            "/admin/v1/jobs",
            "admin.jobs",
            "Jobs of all accounts.",
            pages(),
            paged(object()),
        ),
        get(
            "/admin/v1/ledger",
            "admin.ledger",
            "Movements of all accounts.",
            pages(),
            paged(object()),
        ),
        get(
            "/admin/v1/callbacks",
            "admin.callbacks",
            "Callbacks of all accounts.",
            pages(),
            paged(object()),
        ),
        get(
            "/admin/v1/audit",
            "admin.audit",
            "What operators did.",
            pages(),
            paged(object()),
        ),
        get(
            "/admin/v1/stats",
            "admin.stats",
            "What the house is doing.",
            json!({}),
            envelope(object()),
        ),
        get(
            "/admin/v1/nodes",
            "admin.nodes",
            "The nodes that share the store.",
            json!({}),
            envelope(json!({ "type": "array" })),
        ),
    ]
}
