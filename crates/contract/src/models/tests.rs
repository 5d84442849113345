//! The catalogue, without any store or service.

use serde_json::{Value, json};

use super::{Audience, CheckContext, ModelCatalogue, ModelDefinition, ModelRevision, ParsedCall};
use crate::body::{self, Fields};
use crate::family::SubmitEndpoint;
use crate::job::{Job, JobState, Output, Speed};
use crate::operation::{Order, ReferencedJobs};
use crate::{File, JobId, Quota, Refusal};

mod builtin;
mod check;
mod definition;
mod follow;
mod listed;
mod parse;
mod price;
mod render;

/// 2026-11-18.
const NOW_MS: i64 = 1_794_960_000_000;

const EVERYBODY: Audience<'static> = Audience {
    group: super::DEFAULT_GROUP,
    now_ms: NOW_MS,
};

const CONTEXT: CheckContext<'static> = CheckContext {
    backends: &|name| {
        let id = name.strip_prefix("id-of-").unwrap_or(name);
        (!id.starts_with("nobody")).then(|| id.to_owned())
    },
    now_ms: NOW_MS,
};

fn fields(value: Value) -> Fields {
    match value {
        Value::Object(fields) => fields,
        _ => Fields::new(),
    }
}

fn defined(value: Value) -> Result<ModelDefinition, Refusal> {
    body::read_stored(fields(value))
}

fn revision(value: Value, revision: u32) -> ModelRevision {
    ModelRevision {
        definition: defined(value).expect("a definition"),
        revision,
        removed: false,
        changed_ms: NOW_MS,
    }
}

/// A catalogue whose rows were checked one after the other.
fn catalogue(rows: impl IntoIterator<Item = Value>) -> ModelCatalogue {
    let mut whole = ModelCatalogue::default();
    for row in rows {
        let row = revision(row, 1);
        whole.check(&row.definition, &CONTEXT).expect("a good row");
        whole = whole.with(row);
    }
    assert!(whole.unusable().is_empty(), "{:?}", whole.unusable());
    whole
}

/// Rows of a table in text, each a field and what is said of it in JSON.
fn table(text: &'static str) -> impl Iterator<Item = (&'static str, Value)> {
    let rows = text.lines().filter_map(|line| line.trim().split_once(": "));
    rows.map(|(field, json)| (field, serde_json::from_str(json).expect(json)))
}

/// Why a definition cannot be written: the field and the message.
fn refused(whole: &ModelCatalogue, row: &Value) -> (String, String) {
    let refusal = defined(row.clone()).and_then(|row| whole.check(&row, &CONTEXT));
    let refusal = refusal.expect_err(&row.to_string());
    (refusal.field.unwrap_or_default(), refusal.message)
}

fn submit(name: &str) -> &'static SubmitEndpoint {
    crate::operation(name).expect(name).1
}

fn call(whole: &ModelCatalogue, operation: &str, request: Value) -> Result<ParsedCall, Refusal> {
    whole.parse(submit(operation), fields(request), &EVERYBODY)
}

/// The order of a call, and its stored request read and ordered again, which must come to the same brief.
fn ordered(
    whole: &ModelCatalogue,
    operation: &str,
    request: Value,
    parent: Option<&Job>,
) -> Result<(Order, Fields), Refusal> {
    let context = ReferencedJobs { parent, cited: &[] };
    let parsed = call(whole, operation, request)?;
    let order = parsed.request.order(context)?;
    let stored = order.stored(parsed.request.as_ref());
    let again = (submit(operation).parse_stored)(stored.clone()).expect("a stored request");
    let again_order = again.order(context).expect("an order again");
    assert_eq!(again_order.brief, order.brief);
    assert_eq!(again_order.stored(again.as_ref()), stored);
    assert_eq!(again_order.catalogue_price, None);
    Ok((order, stored))
}

/// A job of a stored request that made one file.
fn job_of(operation: &str, request: Fields) -> Job {
    let file = File {
        key: "made".to_owned(),
        media_type: "image/png".to_owned(),
        width: 640,
        height: 480,
        cdn_url: "https://files.example/made".to_owned(),
        ..File::default()
    };
    Job {
        id: JobId::new("019a0000-0000-7000-8000-0000000000aa"),
        operation: operation.to_owned(),
        state: JobState::Succeeded,
        progress: 100,
        message: None,
        fault: None,
        request,
        output: Some(Output {
            files: vec![file],
            made: 1,
            ..Output::default()
        }),
        speed: Speed::Fast,
        price: Quota::ZERO,
        quota: Quota::ZERO,
        price_lines: Vec::new(),
        spender: crate::Spender::default(),
        parent: None,
        hook_url: None,
        hook_times: 0,
        created_ms: NOW_MS,
        started_ms: None,
        finished_ms: Some(NOW_MS),
        deadline_ms: NOW_MS,
        updated_ms: NOW_MS,
        revision: 1,
    }
}

/// A picture model with sizes and qualities of its own.
fn picture_model() -> Value {
    json!({
        "name": "Seedream-4.5",
        "title": "Seedream 4.5",
        "like": "imgmodel/image-1",
        "aliases": ["seedream"],
        "fields": {
            "size": { "allowed": ["2048x2048", "1024x1024", "auto"], "default": "2048x2048" },
            "quality": { "allowed": ["ultra", "high"] },
            "n": { "min": 1, "max": 4 },
            "style": { "refused": true },
        },
        "routes": [{ "backend": "ark", "model": "doubao-seedream-4-5", "weight": 3 }],
        "price": { "unit": "item", "amount": 3, "factors": { "size": { "2048x2048": 1.5, "1024x1024": 1, "auto": 1 } } },
    })
}

/// A video model with lengths of its own.
fn video_model() -> Value {
    json!({
        "name": "kling/v3",
        "like": "vidgen_partner/video-2-pro",
        "fields": {
            "seconds": { "allowed": [5, 8, 15], "default": 5 },
            "size": { "allowed": ["1280x720", "1920x1080"] },
        },
        "price": { "unit": "second", "amount": 0.3, "factors": { "size": { "1280x720": 1, "1920x1080": 2.25 } } },
    })
}
