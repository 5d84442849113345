//! The endpoints no family owns: the account, jobs of every family, the operator, health. One row each.

use serde_json::{Map, Value, json};

use super::parts::{answers, envelope, paged, query, streamed};

/// What a good answer has as `data`.
#[derive(Clone, Copy)]
enum Good {
    Object,
    List,
    Page,
    Text,
    Events,
}

/// One endpoint.
struct Row {
    method: &'static str,
    path: &'static str,
    name: &'static str,
    summary: &'static str,
    /// Parameters: names with their types, `*` marks required ones of a body. Those of GET stand in the query.
    fields: &'static str,
    good: Good,
}

const PAGES: &str = "page:page limit:limit";
const HISTORY: &str = "page:page limit:limit status:string order:string";
const JOBS: &str = "page:page limit:limit family:string status:string";
const NEW_KEY: &str = "name:string expiresAt:string";
const NEW_ACCOUNT: &str = "email*:string balance:number max_queue:integer email_verified:boolean";
const CHANGE: &str = "email:string max_queue:integer email_verified:boolean disabled:boolean";
const CREDIT: &str = "amount*:number reason*:string idempotency_key:string";

const BACKEND: &str =
    "name:string base_url:string settings:object operations:array rank:integer enabled:boolean";
const NEW_BACKEND: &str = "vendor*:string name*:string base_url*:string settings:object operations:array rank:integer enabled:boolean";
const WORKER: &str = "name:string credential:string concurrency:integer per_minute:integer per_hour:integer \
     polls_per_minute:integer weight:integer models:array modes:array hours:string spend_cap:number state:string \
     clear_spent:boolean clear_health:boolean";
const OWN_WORKER: &str = "base_url:string settings:object name:string credential:string concurrency:integer \
     per_minute:integer per_hour:integer weight:integer models:array modes:array hours:string spend_cap:number \
     state:string";
const NEW_OWN_WORKER: &str = "vendor*:string base_url*:string settings:object name:string credential:string \
     concurrency:integer per_minute:integer per_hour:integer weight:integer models:array modes:array hours:string \
     spend_cap:number state:string";

/// What a request to an endpoint with a body of its own looks like.
const EXAMPLES: &[(&str, &str)] = &[
    (
        "admin.backends.create",
        r#"{"vendor":"relay","name":"upstream","base_url":"https://media.example.com","rank":10,"operations":["artgen","facegen"]}"#,
    ),
    ("admin.backends.change", r#"{"rank":20,"enabled":false}"#),
    (
        "admin.workers.create",
        r#"{"name":"first","credential":"at_secret","concurrency":5,"per_minute":30,"modes":["fast","relax"],"hours":"08:00-20:00"}"#,
    ),
    ("admin.workers.change", r#"{"state":"draining"}"#),
    (
        "custody.accounts.create",
        r#"{"vendor":"relay","base_url":"https://media.example.com","name":"mine","credential":"at_secret","concurrency":2}"#,
    ),
    ("custody.accounts.change", r#"{"concurrency":4}"#),
];

macro_rules! rows {
    ($($method:literal $path:literal $name:literal $fields:expr, $good:ident, $summary:literal;)*) => {
        &[$(Row { method: $method, path: $path, name: $name, summary: $summary, fields: $fields, good: Good::$good },)*]
    };
}

const TABLE: &[Row] = rows! {
    "get" "/artgen/v1/info" "artgen.info" "", Object, "The account.";
    "post" "/artgen/v1/info" "artgen.info.post" "", Object, "The account.";
    "get" "/artgen/v1/fetch-list" "artgen.fetch_list" HISTORY, Page, "Earlier artgen image jobs.";
    "post" "/artgen/v1/fetch-list" "artgen.fetch_list.post" HISTORY, Page, "Earlier artgen image jobs.";
    "post" "/artgen/v1/promptCheck" "artgen.prompt_check" "prompt*:string", Text, "Whether a prompt passes.";
    "get" "/artgen/status" "artgen.status" "", Object, "How the artgen image endpoints are.";
    "get" "/jobs/v1" "jobs.list" JOBS, Page, "Jobs of every family.";
    "get" "/jobs/v1/{jobId}" "jobs.show" "", Object, "One view of any job.";
    "get" "/jobs/v1/{jobId}/events" "jobs.events" "", Events, "Every change of a job, as server-sent events.";
    "post" "/jobs/v1/{jobId}/cancel" "jobs.cancel" "", Object, "Ends an unfinished job; its quota comes back.";
    "get" "/account/v1/usage" "account.usage" "from:string to:string", Object, "What was consumed, by family and by day.";
    "get" "/account/v1/ledger" "account.ledger" PAGES, Page, "Every movement of quota, newest first.";
    "get" "/account/v1/keys" "account.keys" "", List, "The account's keys, without their secrets.";
    "post" "/account/v1/keys" "account.keys.issue" NEW_KEY, Object, "A new key, shown this once.";
    "delete" "/account/v1/keys/{keyId}" "account.keys.revoke" "", Object, "Revokes a key at once.";
    "post" "/account/v1/quote" "account.quote" "operation*:string request:object", Object, "What a submit of the same body would hold.";
    "get" "/account/v1/callbacks" "account.callbacks" PAGES, Page, "Callbacks and how they went.";
    "get" "/account/v1/callbacks/{id}" "account.callbacks.show" "", Object, "One callback with every try made.";
    "post" "/account/v1/callbacks/{id}/redeliver" "account.callbacks.redeliver" "", Object, "Sends one again.";
    "post" "/account/v1/callbacks/redeliver" "account.callbacks.redeliver_since" "since*:string", Object, "Sends all again that were given up since a time.";
    "get" "/account/v1/callbacks/secret" "account.callbacks.secret" "", Object, "The secret callbacks are signed with.";
    "post" "/account/v1/callbacks/secret" "account.callbacks.rotate" "", Object, "A new secret; the old one signs beside it for a day.";
    "get" "/admin/v1/accounts" "admin.accounts" PAGES, Page, "Accounts.";
    "post" "/admin/v1/accounts" "admin.accounts.create" NEW_ACCOUNT, Object, "A new account with its first key.";
    "get" "/admin/v1/accounts/{id}" "admin.accounts.show" "", Object, "One account.";
    "patch" "/admin/v1/accounts/{id}" "admin.accounts.change" CHANGE, Object, "Changes an account.";
    "post" "/admin/v1/accounts/{id}/credit" "admin.accounts.credit" CREDIT, Object, "Grants quota or takes some away.";
    "get" "/admin/v1/accounts/{id}/keys" "admin.keys" "", List, "An account's keys.";
    "post" "/admin/v1/accounts/{id}/keys" "admin.keys.issue" NEW_KEY, Object, "A new key for an account.";
    "delete" "/admin/v1/accounts/{id}/keys/{keyId}" "admin.keys.revoke" "", Object, "Revokes a key.";
    "get" "/admin/v1/prices" "admin.prices" "", Object, "Every price.";
    "put" "/admin/v1/prices" "admin.prices.change" "", Object, "Changes prices from now on.";
    "get" "/admin/v1/backends" "admin.backends" "", List, "The back ends in the order of fall-back, with their worker accounts and health.";
    "post" "/admin/v1/backends" "admin.backends.create" NEW_BACKEND, Object, "A new back end; worker accounts are added to it.";
    "get" "/admin/v1/backends/{id}" "admin.backends.show" "", Object, "One back end.";
    "patch" "/admin/v1/backends/{id}" "admin.backends.change" BACKEND, Object, "Changes a back end on every node at once.";
    "delete" "/admin/v1/backends/{id}" "admin.backends.remove" "", Object, "Removes a back end that has no jobs in hand.";
    "post" "/admin/v1/backends/{id}/probe" "admin.backends.probe" "", Object, "Asks the vendor whether it is well and takes the credentials.";
    "get" "/admin/v1/backends/{id}/accounts" "admin.workers" "", List, "The worker accounts of a back end.";
    "post" "/admin/v1/backends/{id}/accounts" "admin.workers.create" WORKER, Object, "A new worker account; its credential is sealed and never shown.";
    "get" "/admin/v1/backends/{id}/accounts/{accountId}" "admin.workers.show" "", Object, "One worker account with its health.";
    "patch" "/admin/v1/backends/{id}/accounts/{accountId}" "admin.workers.change" WORKER, Object, "Changes, drains or pauses a worker account.";
    "delete" "/admin/v1/backends/{id}/accounts/{accountId}" "admin.workers.remove" "", Object, "Removes a worker account that has no jobs in hand.";
    "post" "/admin/v1/backends/{id}/accounts/{accountId}/probe" "admin.workers.probe" "", Object, "Asks the vendor about one worker account.";
    "get" "/custody/v1/accounts" "custody.accounts" "", List, "The caller's own worker accounts.";
    "post" "/custody/v1/accounts" "custody.accounts.create" NEW_OWN_WORKER, Object, "Registers a worker account of the caller's; its credential is sealed and never shown.";
    "patch" "/custody/v1/accounts/{id}" "custody.accounts.change" OWN_WORKER, Object, "Changes or pauses a worker account of the caller's.";
    "delete" "/custody/v1/accounts/{id}" "custody.accounts.remove" "", Object, "Removes a worker account of the caller's.";
    "post" "/hooks/v1/{backendId}/{token}" "hooks.take" "", Text, "A vendor says that a job is worth a look; the word in the path is the proof.";
    "get" "/admin/v1/jobs" "admin.jobs" JOBS, Page, "Jobs of all accounts.";
    "get" "/admin/v1/ledger" "admin.ledger" PAGES, Page, "Movements of all accounts.";
    "get" "/admin/v1/callbacks" "admin.callbacks" PAGES, Page, "Callbacks of all accounts.";
    "get" "/admin/v1/audit" "admin.audit" PAGES, Page, "What operators did.";
    "get" "/admin/v1/stats" "admin.stats" "", Object, "What the house is doing.";
    "get" "/admin/v1/nodes" "admin.nodes" "", List, "The nodes that share the store.";
};

/// Endpoints without a key and without JSON to describe.
const PLAIN: &[(&str, &str, &str, &str)] = &[
    (
        "/healthz",
        "healthz",
        "Whether the process answers.",
        "application/json",
    ),
    (
        "/readyz",
        "readyz",
        "Whether it can take work.",
        "application/json",
    ),
    (
        "/metrics",
        "metrics",
        "Counters for a collector.",
        "text/plain",
    ),
    (
        "/openapi.json",
        "openapi",
        "This document.",
        "application/json",
    ),
    ("/docs", "docs", "This document for people.", "text/html"),
    (
        "/console/",
        "console",
        "A page to look at an account with.",
        "text/html",
    ),
];

/// Adds every endpoint.
pub(super) fn add(paths: &mut Map<String, Value>) {
    for row in TABLE {
        let place = paths.entry(row.path).or_insert_with(|| json!({}));
        place[row.method] = operation(row);
    }
    for (path, name, summary, media) in PLAIN {
        let get = json!({
            "operationId": name,
            "tags": ["Service"],
            "summary": summary,
            "security": [],
            "responses": {
                "200": { "description": "Good.", "content": { *media: {} } },
                "503": { "$ref": "#/components/responses/R503" },
            },
        });
        paths.insert((*path).to_owned(), json!({ "get": get }));
    }
}

fn operation(row: &Row) -> Value {
    let segments = row
        .path
        .split('/')
        .filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
    let text = json!({ "type": "string" });
    let mut parameters: Vec<Value> = segments
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": text }))
        .collect();
    let fields: Vec<(&str, bool, Value)> =
        row.fields.split_whitespace().filter_map(field).collect();
    if matches!(row.method, "get" | "delete") {
        parameters.extend(
            fields
                .iter()
                .map(|(name, required, schema)| query(name, *required, schema)),
        );
    }
    let mut operation = json!({
        "operationId": row.name,
        "tags": [tag(row.path)],
        "summary": row.summary,
        "parameters": parameters,
        "responses": responses(row.good),
    });
    if row.path.starts_with("/admin/") {
        operation["security"] = json!([{ "operator": [] }]);
    }
    if row.path.starts_with("/hooks/") {
        operation["security"] = json!([]);
    }
    if matches!(row.method, "post" | "put" | "patch") {
        let required: Vec<&str> = fields
            .iter()
            .filter(|field| field.1)
            .map(|field| field.0)
            .collect();
        let properties: Map<String, Value> = fields
            .iter()
            .map(|(name, _, schema)| ((*name).to_owned(), schema.clone()))
            .collect();
        let schema = json!({ "type": "object", "required": required, "properties": properties });
        let mut media = json!({ "schema": schema });
        let example = EXAMPLES.iter().find(|(name, _)| *name == row.name);
        if let Some(example) = example.and_then(|(_, text)| serde_json::from_str(text).ok()) {
            media["example"] = example;
        }
        operation["requestBody"] = json!({ "content": { "application/json": media } });
    }
    operation
}

/// `name*:type` as a name, whether it is required, and its schema.
fn field(text: &'static str) -> Option<(&'static str, bool, Value)> {
    let (name, kind) = text.split_once(':')?;
    let required = name.ends_with('*');
    let schema = match kind {
        "page" => json!({ "type": "integer", "minimum": 1, "maximum": 1_000_000, "default": 1 }),
        "limit" => json!({ "type": "integer", "minimum": 1, "maximum": 100, "default": 10 }),
        "array" => json!({ "type": "array", "items": { "type": "string" } }),
        kind => json!({ "type": kind }),
    };
    Some((name.trim_end_matches('*'), required, schema))
}

fn responses(good: Good) -> Value {
    let object = json!({ "type": "object" });
    match good {
        Good::Object => answers(&envelope(&object)),
        Good::List => answers(&envelope(&json!({ "type": "array", "items": object }))),
        Good::Page => answers(&paged(&object)),
        Good::Text => answers(&envelope(&json!({ "type": "string" }))),
        Good::Events => streamed(),
    }
}

fn tag(path: &str) -> &'static str {
    match path.split('/').nth(1) {
        Some("admin") => "Operator",
        Some("jobs") => "Jobs",
        Some("custody") => "Custody",
        Some("hooks") => "Service",
        Some("artgen") => "Art images",
        _ => "Account",
    }
}
