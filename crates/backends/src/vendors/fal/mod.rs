//! fal: any endpoint of its queue, with a mapping from our fields to its inputs; ready ones come along.

mod hooks;
mod outputs;

use std::collections::BTreeMap;
use std::time::Duration;

use atelier_contract::brief::Brief;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answers::{self, ErrorWords, Rule};
use crate::backend::{Class, Fault, Later, Work};
use crate::hooks::Post;
use crate::http::{VendorAnswer, VendorCall, VendorHttp, encoded};
use crate::inputs::data_uri;
use crate::mapping::{Mappings, Written};
use crate::tasks::{Desk, Heard, Plan, Skills, Speech, Told, id, patience, pause};
use crate::vendor::{Setup, Vendor, read_settings, schema_of};
use crate::worker::Worker;
use crate::wrong::Wrong;

/// The vendor.
pub(super) const VENDOR: Vendor = Vendor {
    name: "fal",
    about: "fal: any endpoint there by a mapping of fields; every family but face swaps is ready",
    needs_credential: true,
    address: "https://queue.fal.run",
    settings: schema_of::<Settings>,
    ready: include_str!("ready.json"),
    build,
};

const RULES: &[Rule] = &[
    Rule::code("content_policy_violation", Class::Reject),
    Rule::code("timeout", Class::Retry),
    Rule::code("runner_", Class::Retry),
    Rule::words(403, "exhausted balance", Class::Quota),
    Rule::status(402, Class::Quota),
    Rule::status(408, Class::Retry),
];
/// Where endpoints say what inputs they have.
const SCHEMAS: &str = "https://fal.ai/api/openapi/queue/openapi.json?endpoint_id=";
/// The longest such document.
const MOST_SCHEMA: u64 = 4 * 1024 * 1024;
/// A request that cannot be.
const NOBODY: &str = "fal-ai/flux-2/requests/00000000-0000-0000-0000-000000000000/status";

/// What an operator may set.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Settings {
    models: BTreeMap<String, Written>,
    grids: bool,
    /// Where the inputs of an endpoint are described; its name is put at the end. Empty: they are not looked at.
    schema_url: Option<String>,
    /// Where the vendor shows the keys that its posts are signed with. Empty: the address of a hook is proof enough.
    webhook_keys_url: Option<String>,
    poll_seconds: Option<u64>,
    timeout_seconds: Option<u64>,
}

/// A worker account.
struct Fal {
    http: VendorHttp,
    mappings: Mappings,
    schema_url: String,
    keys_url: String,
    keys: hooks::Keys,
    pause: Duration,
    patience: Duration,
}

fn build(setup: Setup) -> Result<Worker, Wrong> {
    let settings: Settings = read_settings(setup.settings)?;
    let key = setup.credential.reveal();
    let mappings = Mappings::read(VENDOR.ready, settings.models, settings.grids)?;
    Ok(Desk::worker(Fal {
        mappings,
        http: setup
            .http
            .with_header(("authorization", "credential"), &format!("Key {key}"))?
            .with_secret(key),
        schema_url: settings.schema_url.unwrap_or_else(|| SCHEMAS.to_owned()),
        keys_url: settings
            .webhook_keys_url
            .unwrap_or_else(|| hooks::KEYS.to_owned()),
        keys: hooks::Keys::default(),
        pause: pause(settings.poll_seconds, 3),
        patience: patience(settings.timeout_seconds, 60),
    }))
}

impl Fal {
    async fn order<'a>(&'a self, work: &'a Work) -> Result<Plan<'a>, Fault> {
        let mapping = self.mappings.of(work)?;
        let inline = |bytes: bytes::Bytes| -> Later<'_, Result<String, Fault>> {
            Box::pin(async move { Ok(data_uri(&bytes)) })
        };
        let values = mapping.values(work, &inline).await?;
        let segments: Vec<_> = mapping.model.split('/').map(encoded).collect();
        let mut path = segments.join("/");
        if let Some(hook) = &work.hook_url {
            path = format!("{path}?fal_webhook={}", encoded(hook));
        }
        let finish = values.finish.clone();
        Ok(Plan::each(work, finish, move |place| {
            VendorCall::post_json(path.clone(), &mapping.filled(&values, place))
        }))
    }

    /// Every endpoint with a mapping has the inputs that it is sent, as far as it says which it has.
    async fn check_models(&self) -> Result<(), Fault> {
        if self.schema_url.is_empty() {
            return Ok(());
        }
        for (model, names) in self.mappings.models() {
            let address = format!("{}{}", self.schema_url, encoded(model));
            let found = self.http.download(&address, MOST_SCHEMA).await;
            let Some(document) = found.ok().filter(VendorAnswer::is_good) else {
                tracing::info!(model, "the vendor does not say which inputs a model has");
                continue;
            };
            let Some(inputs) = document.json().ok().and_then(|body| outputs::inputs(&body)) else {
                continue;
            };
            if let Some(other) = names
                .iter()
                .find(|name| !inputs.iter().any(|one| one == *name))
            {
                let detail = format!("{model} has no input {other}, it has {}", inputs.join(", "));
                return Err(Fault::vendor(Class::Unable, answers::shortened(&detail)));
            }
        }
        Ok(())
    }

    fn words(answer: &VendorAnswer) -> Option<ErrorWords> {
        let body = answer.json().ok()?;
        let said = ErrorWords::read(&body)?;
        let kind = body["detail"][0]["type"].as_str().unwrap_or_default();
        let header = answer.headers.get("x-fal-error-type");
        let header = header
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        Some(ErrorWords {
            code: format!("{} {kind} {header}", said.code),
            ..said
        })
    }
}

/// The addresses that a start gave; those of older answers follow from the endpoint and the number.
fn task(body: &Value) -> Option<Value> {
    let number = id(&body["request_id"])?;
    let given = |name: &str| body[name].as_str().map(str::to_owned);
    Some(json!({
        "id": number,
        "status": given("status_url")?,
        "response": given("response_url")?,
        "cancel": given("cancel_url"),
    }))
}

impl Speech for Fal {
    fn http(&self) -> &VendorHttp {
        &self.http
    }

    fn serves(&self, operation: &str) -> bool {
        self.mappings.serves(operation)
    }

    fn skills(&self, operation: &str, brief: &Brief) -> Result<Skills, Fault> {
        self.mappings.skills(operation, brief)
    }

    fn patience(&self) -> Duration {
        self.patience
    }

    fn pause(&self) -> Duration {
        self.pause
    }

    fn plan<'a>(&'a self, work: &'a Work) -> Later<'a, Result<Plan<'a>, Fault>> {
        Box::pin(self.order(work))
    }

    fn started(&self, _: &Work, heard: Heard) -> Result<Told, Fault> {
        let task = task(&heard.body);
        task.map(Told::Task).ok_or_else(|| heard.nonsense())
    }

    fn question(&self, task: &Value) -> VendorCall {
        let address = match task["done"].as_bool() {
            Some(true) => &task["response"],
            _ => &task["status"],
        };
        VendorCall::get(address.as_str().unwrap_or_default())
    }

    fn told(&self, work: &Work, task: &Value, heard: Heard) -> Result<Told, Fault> {
        if task["done"] == true {
            return outputs::read(work, &heard);
        }
        match heard.body["status"].as_str() {
            Some("COMPLETED") => {
                let mut task = task.clone();
                task["done"] = json!(true);
                Ok(Told::Task(task))
            }
            Some(_) => Ok(Told::Running(None)),
            None => Err(heard.nonsense()),
        }
    }

    fn fault(&self, answer: &VendorAnswer) -> Fault {
        answers::fault_by(RULES, answer, Self::words(answer))
    }

    /// The answer of a request that failed is the failure itself.
    fn ended(&self, task: &Value, answer: &VendorAnswer) -> Option<Fault> {
        let about_us = matches!(answer.status, 401 | 403 | 404 | 408 | 429);
        let said = Self::words(answer)?;
        (task["done"] == true && !about_us).then(|| match answer.status {
            500.. => answers::failed_by(RULES, &said),
            _ => self.fault(answer),
        })
    }

    fn stop(&self, task: &Value) -> Option<VendorCall> {
        let address = task["cancel"].as_str()?;
        Some(VendorCall::new(http::Method::PUT, address))
    }

    fn probe(&self) -> VendorCall {
        VendorCall::get(NOBODY)
    }

    /// That a request which cannot be is not there is a good answer.
    fn is_well(&self, answer: &VendorAnswer) -> bool {
        matches!(answer.status, 400 | 404 | 422) && answer.json().is_ok()
    }

    fn hears<'a>(&'a self, post: &'a Post) -> Later<'a, bool> {
        Box::pin(async move {
            let unchecked = self.keys_url.is_empty();
            unchecked || self.keys.fit(&self.http, &self.keys_url, post).await
        })
    }

    fn inspect(&self) -> Later<'_, Result<(), Fault>> {
        Box::pin(self.check_models())
    }
}
