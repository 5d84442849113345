//! Every route with what it needs: the families' from their table, the pages from the document made of theirs.

use atelier_contract::FAMILIES;
use reqwest::Method;
use serde_json::{Value, json};

use super::service::Ids;
use crate::gateway::{Gateway, send};

/// What a credential must be good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    Nothing,
    Scope(&'static str),
    Viewer,
    Operator,
}

/// A route.
pub(super) struct Route {
    pub(super) method: Method,
    /// With placeholders in braces.
    pub(super) path: String,
    pub(super) needs: Needs,
    /// The name of the parameter that names a job, when the route reads a family's job.
    fetches: Option<(&'static str, &'static str)>,
    example: Option<Value>,
}

/// Which of the owner's things stands at a placeholder, by the start of the path.
type PickId = fn(&Ids) -> &str;
const THINGS: &[(&str, &str, PickId)] = &[
    ("/jobs/v1/", "jobId", |ids| &ids.job),
    ("/admin/v1/jobs/", "jobId", |ids| &ids.job),
    ("/jobs/v1/batch/", "batchId", |ids| &ids.batch),
    ("/v1/images/", "imageId", |ids| &ids.job),
    ("/v1/videos/", "videoId", |ids| ids.job_of("vidgen_partner")),
    ("/v1/video/", "taskId", |ids| ids.job_of("vidgen_partner")),
    ("/kling/v1/", "taskId", |ids| ids.job_of("vidgen_partner")),
    ("/v1beta/models/", "model", |_| "no-such-model"),
    ("/mj/submit/", "call", |_| "no-such-call"),
    ("/{speed}/", "speed", |_| "mj-fast"),
    ("/{speed}/", "call", |_| "no-such-call"),
    ("/{speed}/", "taskId", |ids| &ids.made),
    ("/mj/task/", "taskId", |ids| &ids.made),
    ("/mj/image/", "taskId", |ids| &ids.made),
    ("/files/v1/", "fileId", |ids| &ids.file),
    ("/v1/models/", "model", |_| "no-such-model"),
    ("/account/v1/keys/", "keyId", |ids| &ids.key),
    ("/account/v1/callbacks/", "id", |ids| &ids.callback),
    ("/custody/v1/accounts/", "id", |ids| &ids.custody),
    ("/admin/v1/accounts/", "id", |ids| &ids.account),
    ("/admin/v1/accounts/", "keyId", |ids| &ids.key),
    ("/admin/v1/models/", "name", |_| "no-such-model"),
    ("/admin/v1/groups/", "name", |_| "no-such-group"),
    ("/admin/v1/plans/", "name", |_| "no-such-plan"),
    ("/admin/v1/vouchers/", "id", |_| "no-such-batch"),
    ("/admin/v1/products/", "name", |_| "no-such-product"),
    ("/admin/v1/payments/", "id", |_| "no-such-payment"),
    ("/account/v1/payments/", "id", |_| "no-such-payment"),
    ("/account/v1/receipts/", "jobId", |_| "no-such-job"),
    ("/hooks/pay/", "provider", |_| "no-such-provider"),
    ("/admin/v1/backends/", "id", |ids| &ids.backend),
    ("/admin/v1/backends/", "accountId", |ids| &ids.worker),
    ("/admin/v1/rehearsal/", "id", |ids| &ids.backend),
    ("/admin/v1/operators/", "id", |ids| &ids.operator),
    ("/hooks/v1/", "backendId", |ids| &ids.backend),
    ("/hooks/v1/", "token", |_| "no-such-word"),
    ("/assets/", "path", |_| "no/such/file.png"),
    ("/thumbs/", "path", |_| "no/such/file.png"),
    ("/links/v1/", "linkId", |_| "no-such-link"),
    ("/shared/", "linkId", |_| "no-such-link"),
    ("/docs/", "path", |_| "callbacks.md"),
    ("/console/", "path", |_| "app.js"),
];

impl Route {
    /// The same by another method.
    pub(super) fn by(self, method: Method) -> Self {
        Self { method, ..self }
    }

    /// Whether it asks for something that belongs to somebody.
    pub(super) fn names_something(&self) -> bool {
        let names = |body: &Value| body.get("jobId").is_some();
        // A speed is nobody's.
        self.path.replace("{speed}", "").contains('{')
            || self.fetches.is_some()
            || self.example.as_ref().is_some_and(names)
    }

    /// The path with things at its placeholders.
    pub(super) fn path_of(&self, ids: &Ids) -> String {
        let segment = |segment: &str| {
            let Some(name) = segment.strip_prefix('{').and_then(|s| s.strip_suffix('}')) else {
                return segment.to_owned();
            };
            let name = name.trim_start_matches('*');
            let thing = THINGS
                .iter()
                .find(|(start, place, _)| self.path.starts_with(start) && *place == name);
            let (_, _, thing) =
                thing.unwrap_or_else(|| panic!("no case for {name} of {}", self.path));
            thing(ids).to_owned()
        };
        let path: Vec<String> = self.path.split('/').map(segment).collect();
        let path = path.join("/");
        match self.fetches {
            Some((family, parameter)) if self.method == Method::GET => {
                format!("{path}?{parameter}={}", ids.job_of(family))
            }
            _ => path,
        }
    }

    /// Whether it goes on for as long as the caller listens.
    pub(super) fn is_endless(&self) -> bool {
        self.path.ends_with("/events")
    }

    /// Whether a body is sent.
    pub(super) fn has_body(&self) -> bool {
        ![Method::GET, Method::DELETE].contains(&self.method)
    }

    /// A body that names something, or changes something that is named in the path.
    pub(super) fn body_of(&self, ids: &Ids) -> Option<Value> {
        if let Some((family, parameter)) = self.fetches {
            return Some(json!({ parameter: ids.job_of(family) }));
        }
        if self.path == "/account/v1/keys" {
            // A key with one scope may issue no key with more.
            return Some(json!({ "scopes": ["account"] }));
        }
        if !self.names_something() {
            return None;
        }
        let mut body = self.example.clone()?;
        if body.get("jobId").is_some() {
            body["jobId"] = ids.job.as_str().into();
        }
        Some(body)
    }
}

/// Every route the service has.
pub(super) async fn routes(gateway: &Gateway) -> Vec<Route> {
    let mut routes = documented(gateway).await;
    for family in FAMILIES {
        for submit in family.submits {
            let route = known(
                &mut routes,
                &Method::POST,
                submit.path,
                Needs::Scope("submit"),
            );
            route.example = serde_json::from_str(submit.example).ok();
        }
        for fetch in family.fetches {
            for method in [Method::GET, Method::POST] {
                let route = known(&mut routes, &method, fetch.path, Needs::Scope("read"));
                route.fetches = Some((family.name, fetch.param));
            }
        }
    }
    routes
}

/// The documented route, which must need what its table says.
fn known<'a>(routes: &'a mut [Route], method: &Method, path: &str, needs: Needs) -> &'a mut Route {
    let route = routes
        .iter_mut()
        .find(|route| route.method == *method && route.path == path);
    let route = route.unwrap_or_else(|| panic!("{method} {path} is not documented"));
    assert_eq!(route.needs, needs, "{method} {path}");
    route
}

async fn documented(gateway: &Gateway) -> Vec<Route> {
    let document = send(gateway.request(Method::GET, "/openapi.json"))
        .await
        .json;
    let mut routes = Vec::new();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("methods") {
            let media = &operation["requestBody"]["content"]["application/json"];
            routes.push(Route {
                method: method.to_uppercase().parse().expect("a method"),
                path: path.clone(),
                needs: needs(&operation["security"])
                    .unwrap_or_else(|| panic!("no case for who may {method} {path}")),
                fetches: None,
                example: media.get("example").cloned(),
            });
        }
    }
    routes
}

fn needs(security: &Value) -> Option<Needs> {
    let listed = security.as_array()?;
    let Some(first) = listed.first() else {
        return Some(Needs::Nothing);
    };
    let word = |kind: &str| first[kind][0].as_str();
    match (word("key"), word("operator")) {
        (Some("submit"), None) => Some(Needs::Scope("submit")),
        (Some("read"), None) => Some(Needs::Scope("read")),
        (Some("account"), None) => Some(Needs::Scope("account")),
        (None, Some("viewer")) => Some(Needs::Viewer),
        (None, Some("operator")) => Some(Needs::Operator),
        _ => None,
    }
}
