//! How the answer of a synchronous operation is wanted: in the response, later, or as a stream. The fields that say so belong
//! to the call and not to what is made; so does the callback address, which such an operation takes beside its own fields.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::Value;

use crate::body::{self, Fields};
use crate::fields::{Count, Flag, HookUrl};
use crate::ids::JobId;
use crate::operation::{Operation, Order, ReferencedJobs, Request};
use crate::refusal::Refusal;

/// The field that asks for the answer later; `Prefer: respond-async` means the same.
pub const ASYNC: &str = "async";
const STREAM: &str = "stream";
const PARTIAL_IMAGES: &str = "partial_images";
/// Both spellings of the callback address.
const HOOKS: [&str; 2] = ["hookUrl", "hook_url"];

/// The fields that say how an answer is wanted and nothing of what is made: one `Idempotency-Key` finds the same job
/// whatever they are.
pub const WAY_FIELDS: [&str; 3] = [ASYNC, STREAM, PARTIAL_IMAGES];

/// How the answer of a synchronous operation is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnswerWay {
    /// In the response, when it is there.
    #[default]
    Wait,
    /// Not in the response: that only says where the answer will be.
    Later,
    /// As server-sent events.
    Stream {
        /// Images to show before the last one, at most.
        partial_images: u32,
    },
}

/// What a call of a synchronous operation says besides what is to be made.
#[derive(Debug, Default)]
pub struct AnswerWish {
    /// How the answer is wanted.
    pub way: AnswerWay,
    /// Where the finished job is posted to.
    pub hook: Option<HookUrl>,
    /// Whether unfinished images are asked for, with a stream to show them in or without.
    shows_parts: bool,
}

/// One event of a streamed answer.
pub struct StreamEvent {
    /// Its name, which its data has as `type`.
    pub name: &'static str,
    /// The JSON after `data: `.
    pub data: Value,
}

/// What every synchronous operation takes beside its own fields.
#[derive(Deserialize, JsonSchema)]
struct AnswerFields {
    /// Whether to answer at once with where the result will be (202) instead of waiting for it.
    #[serde(default, rename = "async")]
    #[schemars(extend("x-widget" = "answer"))]
    later: Flag<false>,
    /// URL that receives the job, as `/jobs/v1/{jobId}` shows it, when it has finished or failed.
    #[serde(
        default,
        rename = "hookUrl",
        alias = "hook_url",
        skip_serializing_if = "Option::is_none"
    )]
    hook_url: Option<HookUrl>,
}

/// What an operation takes whose answer can be a stream.
#[derive(Deserialize, JsonSchema)]
struct StreamFields {
    /// Whether to answer with server-sent events; only `image-1`, and not together with `async`.
    #[serde(default)]
    #[schemars(extend("x-widget" = "answer"))]
    stream: Flag<false>,
    /// How many unfinished images a stream shows at most; as many as the back end makes.
    #[serde(default)]
    #[schemars(extend("x-widget" = "answer"))]
    partial_images: Count<0, 3, 0>,
}

impl AnswerWish {
    /// Whether it speaks of a stream, which only some models have.
    pub(super) fn is_streamed(&self) -> bool {
        self.shows_parts || matches!(self.way, AnswerWay::Stream { .. })
    }

    /// Refuses a stream, and unfinished images, of a model that has none.
    pub(super) fn check_model(&self, models: &[&str], model: Option<&str>) -> Result<(), Refusal> {
        match self.way {
            AnswerWay::Stream { .. } => check_streamed(models, model),
            _ if self.shows_parts => check_listed(PARTIAL_IMAGES, models, model),
            _ => Ok(()),
        }
    }

    /// Reads it from the fields of a call. `models` are those whose answers can be streamed.
    pub(super) fn read(fields: &Fields, models: &[&str]) -> Result<Self, Refusal> {
        let mut known = WAY_FIELDS.iter().chain(&HOOKS);
        if !known.any(|name| fields.contains_key(*name)) {
            return Ok(Self::default());
        }
        let some = |names: &[&str]| -> Fields {
            let given = names.iter().filter_map(|name| fields.get_key_value(*name));
            given
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect()
        };
        let wish: AnswerFields = body::read(some(&[ASYNC, HOOKS[0], HOOKS[1]]))?;
        let mut shows_parts = false;
        let way = if models.is_empty() {
            // Here the fields of a stream are unknown ones, which are ignored unless they ask for one.
            let asked = matches!(fields.get(STREAM), Some(Value::Bool(true)))
                || fields.get(STREAM).and_then(Value::as_str) == Some("true");
            if asked {
                return Err(Refusal::invalid(
                    STREAM,
                    "this operation has no stream; leave it out, or give \"async\": true and follow the job's events",
                ));
            }
            AnswerWay::Wait
        } else {
            let streamed: StreamFields = body::read(some(&[STREAM, PARTIAL_IMAGES]))?;
            shows_parts = streamed.partial_images.count() > 0;
            if streamed.stream.on() {
                AnswerWay::Stream {
                    partial_images: streamed.partial_images.count(),
                }
            } else {
                AnswerWay::Wait
            }
        };
        let way = match (way, wish.later.on()) {
            (AnswerWay::Stream { .. }, true) => {
                let message = "cannot go together with async; leave one of them out";
                return Err(Refusal::invalid(STREAM, message));
            }
            (AnswerWay::Wait, true) => AnswerWay::Later,
            (way, _) => way,
        };
        Ok(Self {
            way,
            hook: wish.hook_url,
            shows_parts,
        })
    }
}

/// Refuses to stream the answer of a model that has no stream; a request that names an operator's model is in the words of
/// the built-in one that it is like by then.
pub(super) fn check_streamed(models: &[&str], model: Option<&str>) -> Result<(), Refusal> {
    check_listed(STREAM, models, model)
}

fn check_listed(field: &str, models: &[&str], model: Option<&str>) -> Result<(), Refusal> {
    if model.is_some_and(|model| models.contains(&model)) {
        return Ok(());
    }
    let (models, model) = (models.join(", "), model.unwrap_or("not given"));
    let message = format!("is only for {models} and models like it, model is {model}");
    Err(Refusal::invalid(field, message))
}

/// The schema of an operation's own fields, with those of its answer beside them.
pub(super) fn schema_with_answer<T: Operation>(generator: &mut SchemaGenerator) -> Schema {
    let mut more = properties(AnswerFields::json_schema(generator));
    if !T::STREAMED_MODELS.is_empty() {
        more.extend(properties(StreamFields::json_schema(generator)));
    }
    let mut schema = generator.subschema_for::<T>();
    let named = schema.get("$ref").and_then(Value::as_str);
    let name = named.and_then(|path| path.rsplit('/').next());
    let name = name.map(str::to_owned);
    let own = match name {
        Some(name) => generator
            .definitions_mut()
            .get_mut(&name)
            .and_then(|own| own.get_mut("properties")),
        None => schema.get_mut("properties"),
    };
    if let Some(Value::Object(own)) = own {
        own.extend(more);
    }
    schema
}

fn properties(schema: Schema) -> Fields {
    match schema.to_value() {
        Value::Object(mut object) => match object.remove("properties") {
            Some(Value::Object(properties)) => properties,
            _ => Fields::new(),
        },
        _ => Fields::new(),
    }
}

/// A request whose caller wants the finished job posted to an address of its own.
pub(super) struct CalledBackRequest {
    pub(super) request: Box<dyn Request>,
    pub(super) hook: HookUrl,
}

impl Request for CalledBackRequest {
    fn parent(&self) -> Option<JobId> {
        self.request.parent()
    }
    fn cites(&self) -> Vec<String> {
        self.request.cites()
    }
    fn prompts(&self) -> Vec<(String, &str)> {
        self.request.prompts()
    }
    fn draft(&self, context: ReferencedJobs<'_>) -> Result<Order, Refusal> {
        let order = self.request.draft(context)?;
        Ok(order.hook(Some(&self.hook)))
    }
    fn to_fields(&self) -> Fields {
        self.request.to_fields()
    }
    fn as_asked(&self) -> Fields {
        self.request.as_asked()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const MODELS: &[&str] = &["image-1"];
    const NONE: &[&str] = &[];

    fn read(fields: Value, models: &[&str]) -> Result<AnswerWish, Refusal> {
        let Value::Object(fields) = fields else {
            return Ok(AnswerWish::default());
        };
        AnswerWish::read(&fields, models)
    }

    #[test]
    fn a_call_says_how_it_wants_its_answer_also_as_text() {
        for (fields, way) in [
            (json!({}), AnswerWay::Wait),
            (json!({ "async": true }), AnswerWay::Later),
            (json!({ "async": "true" }), AnswerWay::Later),
            (json!({ "async": null, "stream": "" }), AnswerWay::Wait),
            (
                json!({ "stream": "true" }),
                AnswerWay::Stream { partial_images: 0 },
            ),
            (
                json!({ "stream": true, "partial_images": "3" }),
                AnswerWay::Stream { partial_images: 3 },
            ),
            (json!({ "partial_images": 2 }), AnswerWay::Wait),
        ] {
            let wish = read(fields.clone(), MODELS).expect("a wish");
            assert_eq!(wish.way, way, "{fields}");
        }
    }

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        for (fields, models, field) in [
            (json!({ "async": "yes" }), MODELS, "async"),
            (json!({ "stream": 1 }), MODELS, "stream"),
            (
                json!({ "stream": true, "partial_images": 4 }),
                MODELS,
                "partial_images",
            ),
            (json!({ "stream": true, "async": true }), MODELS, "stream"),
            (json!({ "hookUrl": "ftp://example.com" }), MODELS, "hookUrl"),
            (json!({ "stream": true }), NONE, "stream"),
            (json!({ "stream": "true" }), NONE, "stream"),
        ] {
            let refusal = read(fields.clone(), models).expect_err("refused");
            assert_eq!(refusal.field.as_deref(), Some(field), "{fields}");
        }
        // Without a stream to ask for, its fields mean nothing.
        let wish = read(json!({ "stream": false, "partial_images": 9 }), NONE);
        assert_eq!(wish.expect("ignored").way, AnswerWay::Wait);
    }

    #[test]
    fn only_listed_models_are_streamed() {
        assert!(check_streamed(MODELS, Some("image-1")).is_ok());
        for model in [Some("art-2"), None] {
            let refusal = check_streamed(MODELS, model).expect_err("refused");
            assert_eq!(refusal.field.as_deref(), Some("stream"));
            assert!(refusal.message.contains("image-1"), "{refusal}");
        }
        // Nor are unfinished images shown of one that has no stream to show them in.
        for (asked, refused) in [(1, true), (0, false)] {
            let wish = read(json!({ "partial_images": asked }), MODELS).expect("a wish");
            assert!(wish.check_model(MODELS, Some("image-1")).is_ok());
            let checked = wish.check_model(MODELS, Some("art-2"));
            let field = checked.err().and_then(|refusal| refusal.field);
            assert_eq!(field.as_deref(), refused.then_some("partial_images"));
        }
    }
}
