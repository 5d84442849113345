//! One way to submit work: how its request is read, ordered and answered, and the const functions that fill it in.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::Value;

use super::answer::{
    AnswerWish, CalledBackRequest, StreamEvent, check_streamed, schema_with_answer,
};
use super::lifetime::ResultLifetime;
use crate::body::{self, Fields};
use crate::brief::Task;
use crate::fields::field_order;
use crate::job::Job;
use crate::models::{StoredModelRequest, note_of};
use crate::operation::{Operation, Request};
use crate::refusal::Refusal;

/// How a submit is answered.
#[derive(Clone, Copy)]
pub enum AnswerMode {
    /// With a job id, at once.
    Job,
    /// With the result, when it is there; the function renders it.
    Answer(fn(&FinishedJob<'_>) -> Value),
}

/// A finished synchronous job with what its answer may need.
pub struct FinishedJob<'a> {
    /// The job; it succeeded.
    pub job: &'a Job,
    /// Its main files in base64, in order; empty unless [`SubmitEndpoint::wants_bytes`] said so.
    pub base64: &'a [String],
}

/// One way to submit work.
#[derive(Clone, Copy)]
pub struct SubmitEndpoint {
    /// Its name in the form `family.operation`.
    pub name: &'static str,
    /// Path; the method is always POST.
    pub path: &'static str,
    /// How it is answered.
    pub answers_with: AnswerMode,
    /// Reads the fields of a call.
    pub parse: fn(Fields) -> Result<Box<dyn Request>, Refusal>,
    /// Reads a stored request.
    pub parse_stored: fn(Fields) -> Result<Box<dyn Request>, Refusal>,
    /// The JSON Schema of its body.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    /// The names of its fields, in the order people want to read them.
    pub field_order: fn() -> &'static [&'static str],
    /// The JSON Schema of a good answer: the envelope with the job id, or the synchronous result.
    pub answer_shape: fn(&mut SchemaGenerator) -> Schema,
    /// A valid request, as JSON text.
    pub example: &'static str,
    /// The kinds of work it orders, by which back ends say what they serve; numbers inside do not matter.
    pub makes: &'static [Task],
    /// Whether it makes up to four at a time, from which later jobs choose one.
    pub in_fours: bool,
    /// Seconds that such a job usually takes, a little under what the interface promises.
    pub usual_s: fn(&Fields) -> u32,
    /// Every price key the operation may name.
    pub prices: &'static [&'static str],
    /// Fields that have a second spelling, after the documented one.
    pub spellings: &'static [(&'static str, &'static str)],
    /// Whether its fields may also stand in the query; those of the body win.
    pub reads_query: bool,
    /// Fields that may arrive as multipart files; empty for JSON only.
    pub files: &'static [&'static str],
    /// Whether the answer to this request carries the bytes themselves.
    pub wants_bytes: fn(&Job) -> bool,
    /// The models whose answers can be streamed; none for most operations.
    pub streamed_models: &'static [&'static str],
    /// The last events of a streamed answer: what came out.
    pub events: fn(&FinishedJob<'_>) -> Vec<StreamEvent>,
    /// Time limit in seconds when it differs from the family's.
    pub timeout_s: Option<fn(&Fields) -> u32>,
    /// Lifetime of result addresses when it differs from the family's.
    pub keep: Option<ResultLifetime>,
    /// Largest body in bytes.
    pub most_bytes: usize,
    /// Whether the alternative host has it too.
    pub alternative: bool,
}

/// How long a job takes when its operation says nothing.
const USUAL_SECONDS: u32 = 15;
/// Largest body of a call that carries no files.
pub const SMALL_BODY: usize = 256 * 1024;
/// Largest JSON body of a call that may carry images in base64.
pub const IMAGE_BODY: usize = 64 * 1024 * 1024;
/// Largest multipart body in bytes.
pub const FORM_BODY: usize = 160 * 1024 * 1024;

fn parse<T: Operation + Send + Sync + 'static>(
    mut fields: Fields,
) -> Result<Box<dyn Request>, Refusal> {
    body::settle_spellings(&mut fields, T::SPELLINGS);
    body::read::<T>(fields).map(|request| Box::new(request) as Box<dyn Request>)
}

/// Reads a call of an operation that answers with its result: its own fields, and how the answer is wanted.
fn parse_answered<T: Operation + Send + Sync + 'static>(
    fields: Fields,
) -> Result<Box<dyn Request>, Refusal> {
    let wish = AnswerWish::read(&fields, T::STREAMED_MODELS)?;
    let request = parse::<T>(fields)?;
    if wish.is_streamed() {
        let stored = request.to_fields();
        let model = stored.get("model").and_then(Value::as_str);
        wish.check_model(T::STREAMED_MODELS, model)?;
    }
    Ok(match wish.hook {
        None => request,
        Some(hook) => Box::new(CalledBackRequest { request, hook }),
    })
}

fn parse_stored<T: Operation + Send + Sync + 'static>(
    fields: Fields,
) -> Result<Box<dyn Request>, Refusal> {
    let note = note_of(&fields);
    let request = Box::new(body::read_stored::<T>(fields)?);
    Ok(match note {
        None => request,
        Some(note) => Box::new(StoredModelRequest {
            inner: request,
            note,
        }),
    })
}

fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

fn accepted_shape(_: &mut SchemaGenerator) -> Schema {
    schemars::json_schema!({
        "type": "object",
        "required": ["status", "message", "data"],
        "properties": {
            "status": { "type": "string", "const": "SUCCESS" },
            "message": { "type": "string" },
            "data": {
                "type": "object",
                "required": ["jobId"],
                "properties": { "jobId": { "type": "string" } },
            },
        },
    })
}

/// A submit that answers with a job id.
pub const fn submit_job<T: Operation + Send + Sync + 'static>(
    name: &'static str,
    path: &'static str,
    example: &'static str,
) -> SubmitEndpoint {
    SubmitEndpoint {
        name,
        path,
        answers_with: AnswerMode::Job,
        parse: parse::<T>,
        parse_stored: parse_stored::<T>,
        schema: schema_of::<T>,
        field_order: field_order::<T>,
        answer_shape: accepted_shape,
        example,
        makes: &[],
        in_fours: false,
        usual_s: |_| USUAL_SECONDS,
        prices: &[],
        spellings: T::SPELLINGS,
        reads_query: false,
        files: &[],
        wants_bytes: |_| false,
        streamed_models: &[],
        events: |_| Vec::new(),
        timeout_s: None,
        keep: None,
        most_bytes: SMALL_BODY,
        alternative: false,
    }
}

/// A submit that answers with the result, whose body is described by `A`.
pub const fn submit_and_wait<T: Operation + Send + Sync + 'static, A: JsonSchema>(
    name: &'static str,
    path: &'static str,
    example: &'static str,
    render: fn(&FinishedJob<'_>) -> Value,
) -> SubmitEndpoint {
    SubmitEndpoint {
        answers_with: AnswerMode::Answer(render),
        parse: parse_answered::<T>,
        schema: schema_with_answer::<T>,
        answer_shape: schema_of::<A>,
        streamed_models: T::STREAMED_MODELS,
        ..submit_job::<T>(name, path, example)
    }
}

impl SubmitEndpoint {
    /// The JSON Schema of its body alone.
    pub fn body_schema(&self) -> Value {
        (self.schema)(&mut SchemaGenerator::default()).to_value()
    }

    /// Names the kinds of work it orders.
    #[must_use]
    pub const fn making(self, makes: &'static [Task]) -> Self {
        Self { makes, ..self }
    }

    /// Makes up to four at a time.
    #[must_use]
    pub const fn in_fours(self) -> Self {
        Self {
            in_fours: true,
            ..self
        }
    }

    /// What somebody should know who finds one file where four images were made; nothing for other operations.
    pub fn grid_note(&self) -> Option<&'static str> {
        let has_small = (self.field_order)().contains(&"getUImages");
        (self.in_fours && has_small).then_some(
            "one file with a grid of the four images; with getUImages=true each is saved as well",
        )
    }

    /// Says how many seconds a job usually takes.
    #[must_use]
    pub const fn usually(self, usual_s: fn(&Fields) -> u32) -> Self {
        Self { usual_s, ..self }
    }

    /// Whether its work is long: clips come of it. Everything else is short, as pictures and whatever is answered at once.
    pub fn is_long(&self) -> bool {
        self.makes.iter().any(|task| task.is_video())
    }

    /// Whether it orders nothing but these kinds of work.
    pub fn makes_only(&self, tasks: &[Task]) -> bool {
        let is_among = |made: &Task| tasks.iter().any(|task| task.is_like(*made));
        !self.makes.is_empty() && self.makes.iter().all(is_among)
    }

    /// What a call says about its answer. Operations that answer with a job have no such fields.
    pub fn answer_wish(&self, fields: &Fields) -> Result<AnswerWish, Refusal> {
        match self.answers_with {
            AnswerMode::Job => Ok(AnswerWish::default()),
            AnswerMode::Answer(_) => AnswerWish::read(fields, self.streamed_models),
        }
    }

    /// Refuses a stream of a job whose model has none.
    pub fn check_streamed(&self, job: &Job) -> Result<(), Refusal> {
        check_streamed(self.streamed_models, job.text("model"))
    }

    /// Says what the last events of a streamed answer are.
    #[must_use]
    pub const fn streaming(self, events: fn(&FinishedJob<'_>) -> Vec<StreamEvent>) -> Self {
        Self { events, ..self }
    }

    /// Names the price keys.
    #[must_use]
    pub const fn priced(self, prices: &'static [&'static str]) -> Self {
        Self { prices, ..self }
    }

    /// Takes some fields as files of a multipart form too.
    #[must_use]
    pub const fn with_files(self, files: &'static [&'static str]) -> Self {
        Self {
            files,
            most_bytes: FORM_BODY,
            ..self
        }
    }

    /// Reads fields from the query too.
    #[must_use]
    pub const fn with_query(self) -> Self {
        Self {
            reads_query: true,
            ..self
        }
    }

    /// The fields of a query and of a body together; what the body gives wins, in whichever spelling.
    pub fn merged(&self, query: Fields, body: Fields) -> Fields {
        body::merged(query, body, self.spellings)
    }

    /// Serves it on the alternative host too.
    #[must_use]
    pub const fn on_alternative_host(self) -> Self {
        Self {
            alternative: true,
            ..self
        }
    }

    /// Allows images in the body.
    #[must_use]
    pub const fn with_images(self) -> Self {
        Self {
            most_bytes: IMAGE_BODY,
            ..self
        }
    }
}
