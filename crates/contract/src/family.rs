//! The table's own types: a family, its submits and fetches, and the const functions that fill them.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::body::{self, Fields};
use crate::job::{Job, JobId, JobState, Role};
use crate::operation::{Context, Operation, Order};
use crate::refusal::Refusal;

/// How a family's job identifiers look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobIds {
    /// UUID-shaped, ordered by time.
    Uuid,
    /// A prefix and 18 random digits.
    Digits(&'static str),
}

/// How long the addresses of a family's results work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// 60 minutes.
    Hour,
    /// 24 hours.
    Day,
    /// 72 hours.
    ThreeDays,
    /// 31 days.
    Month,
}

impl Keep {
    /// The lifetime in seconds.
    pub const fn seconds(self) -> u32 {
        match self {
            Self::Hour => 3600,
            Self::Day => 24 * 3600,
            Self::ThreeDays => 72 * 3600,
            Self::Month => 31 * 24 * 3600,
        }
    }
}

/// How a submit is answered.
#[derive(Clone, Copy)]
pub enum Delivery {
    /// With a job id, at once.
    Job,
    /// With the result, when it is there; the function renders it.
    Answer(fn(&Finished<'_>) -> Value),
}

/// A finished synchronous job with what its answer may need.
pub struct Finished<'a> {
    /// The job; it succeeded.
    pub job: &'a Job,
    /// Its main files in base64, in order; empty unless [`Submit::wants_bytes`] said so.
    pub base64: &'a [String],
}

/// A parsed request of any operation.
pub trait Request: Send + Sync {
    /// The earlier job it follows.
    fn parent(&self) -> Option<JobId>;
    /// Names of earlier results it mentions.
    fn cites(&self) -> Vec<String>;
    /// The texts to hold against the list of banned words, each with its field; the main prompt first.
    fn prompts(&self) -> Vec<(String, &str)>;
    /// The main prompt.
    fn prompt(&self) -> Option<&str> {
        self.prompts().first().map(|(_, text)| *text)
    }
    /// What to make and what it costs, or why not.
    fn order(&self, context: Context<'_>) -> Result<Order, Refusal>;
    /// The request with every default resolved, as it is stored.
    fn to_fields(&self) -> Fields;
}

impl<T: Operation + Send + Sync> Request for T {
    fn parent(&self) -> Option<JobId> {
        Operation::parent(self)
    }
    fn cites(&self) -> Vec<String> {
        Operation::cites(self)
    }
    fn prompts(&self) -> Vec<(String, &str)> {
        Operation::prompts(self)
    }
    fn order(&self, context: Context<'_>) -> Result<Order, Refusal> {
        let order = Operation::order(self, context)?;
        order.brief.check_inline()?;
        Ok(order)
    }
    fn to_fields(&self) -> Fields {
        match serde_json::to_value(self) {
            Ok(Value::Object(fields)) => fields,
            _ => Fields::new(),
        }
    }
}

/// One way to submit work.
#[derive(Clone, Copy)]
pub struct Submit {
    /// `family.operation`.
    pub name: &'static str,
    /// Path; the method is always POST.
    pub path: &'static str,
    /// How it is answered.
    pub delivery: Delivery,
    /// Reads the fields of a call.
    pub parse: fn(Fields) -> Result<Box<dyn Request>, Refusal>,
    /// Reads a stored request.
    pub parse_stored: fn(Fields) -> Result<Box<dyn Request>, Refusal>,
    /// The JSON Schema of its body.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    /// The JSON Schema of a good answer: the envelope with the job id, or the synchronous result.
    pub answer_shape: fn(&mut SchemaGenerator) -> Schema,
    /// A valid request, as JSON text.
    pub example: &'static str,
    /// Every price key the operation may name.
    pub prices: &'static [&'static str],
    /// Fields that may arrive as multipart files; empty for JSON only.
    pub files: &'static [&'static str],
    /// Whether the answer to this request carries the bytes themselves.
    pub wants_bytes: fn(&Job) -> bool,
    /// Time limit in seconds when it differs from the family's.
    pub timeout_s: Option<fn(&Fields) -> u32>,
    /// Lifetime of result addresses when it differs from the family's.
    pub keep: Option<Keep>,
    /// Largest body in bytes.
    pub most_bytes: usize,
}

/// Largest body of a call that carries no files.
pub const SMALL_BODY: usize = 256 * 1024;
/// Largest JSON body of a call that may carry images in base64.
pub const IMAGE_BODY: usize = 64 * 1024 * 1024;
/// Largest multipart body.
pub const FORM_BODY: usize = 160 * 1024 * 1024;

fn parse<T: Operation + Send + Sync + 'static>(
    fields: Fields,
) -> Result<Box<dyn Request>, Refusal> {
    body::read::<T>(fields).map(|request| Box::new(request) as Box<dyn Request>)
}

fn parse_stored<T: Operation + Send + Sync + 'static>(
    fields: Fields,
) -> Result<Box<dyn Request>, Refusal> {
    body::read_stored::<T>(fields).map(|request| Box::new(request) as Box<dyn Request>)
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
pub const fn job<T: Operation + Send + Sync + 'static>(
    name: &'static str,
    path: &'static str,
    example: &'static str,
) -> Submit {
    Submit {
        name,
        path,
        delivery: Delivery::Job,
        parse: parse::<T>,
        parse_stored: parse_stored::<T>,
        schema: schema_of::<T>,
        answer_shape: accepted_shape,
        example,
        prices: &[],
        files: &[],
        wants_bytes: |_| false,
        timeout_s: None,
        keep: None,
        most_bytes: SMALL_BODY,
    }
}

/// A submit that answers with the result, whose body is described by `A`.
pub const fn answer<T: Operation + Send + Sync + 'static, A: JsonSchema>(
    name: &'static str,
    path: &'static str,
    example: &'static str,
    render: fn(&Finished<'_>) -> Value,
) -> Submit {
    Submit {
        delivery: Delivery::Answer(render),
        answer_shape: schema_of::<A>,
        ..job::<T>(name, path, example)
    }
}

impl Submit {
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

    /// Allows images in the body.
    #[must_use]
    pub const fn with_images(self) -> Self {
        Self {
            most_bytes: IMAGE_BODY,
            ..self
        }
    }
}

/// One way to read a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fetch {
    /// Path; GET and POST both answer.
    pub path: &'static str,
    /// The documented name of the parameter; `jobId` and `job_id` are both accepted.
    pub param: &'static str,
}

/// What a refused submit has as `data`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedData {
    /// `null`.
    Null,
    /// `{}`.
    Empty,
}

/// A family of endpoints.
#[derive(Clone, Copy)]
pub struct Family {
    /// The word before the dot of its operations.
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    /// How its job identifiers look.
    pub ids: JobIds,
    /// The prefix of its paths, which decides the shape of refusals.
    pub prefix: &'static str,
    /// Jobs are counted against `max_queue` under this name.
    pub queue: &'static str,
    /// Whether waiting has a word of its own (`PENDING_QUEUE`).
    pub shows_waiting: bool,
    /// `data` of a refusal.
    pub refused_data: RefusedData,
    /// Whether refusals also carry the `error` object the vendor's client libraries look for.
    pub vendor_errors: bool,
    /// `message` of an accepted submit.
    pub accepted_message: &'static str,
    /// Time limit in seconds when the request has none.
    pub timeout_s: u32,
    /// How long result addresses work.
    pub keep: Keep,
    /// Ways to submit.
    pub submits: &'static [Submit],
    /// Ways to read.
    pub fetches: &'static [Fetch],
    /// The whole body of a fetch result and of a callback.
    pub render: fn(&Family, &Job) -> Value,
    /// Every key of [`Family::render`] described, for the documents.
    pub shape: fn(&mut SchemaGenerator) -> Schema,
}

impl Family {
    /// The common case; a family states only how it differs.
    pub const USUAL: Self = Self {
        name: "",
        title: "",
        ids: JobIds::Uuid,
        prefix: "",
        queue: "",
        shows_waiting: false,
        refused_data: RefusedData::Null,
        vendor_errors: false,
        accepted_message: "success",
        timeout_s: 600,
        keep: Keep::Day,
        submits: &[],
        fetches: &[],
        render: |family, job| family.frame(job, Value::Null),
        shape: |_| Schema::default(),
    };

    /// How long the address of a file of this family works: small images outlive the grid they came with.
    pub const fn keep_of(&self, submit: &Submit, role: Role) -> Keep {
        match (role, submit.keep) {
            (Role::Small, _) => Keep::Month,
            (_, Some(keep)) => keep,
            (_, None) => self.keep,
        }
    }

    /// The word for a state.
    pub const fn state_word(&self, state: JobState) -> &'static str {
        match state {
            JobState::Waiting if !self.shows_waiting => JobState::Running.word(),
            other => other.word(),
        }
    }

    /// `message` of a fetch result: the reason on failure, nothing while running.
    pub fn message(&self, job: &Job) -> Value {
        match job.state {
            JobState::Succeeded => self.accepted_message.into(),
            JobState::Failed => job.message.clone().unwrap_or_default().into(),
            _ => Value::Null,
        }
    }

    /// The usual fetch result: the frame around what a finished job shows, and null until there is something.
    pub fn framed_result<T: Serialize>(&self, job: &Job, result: Option<T>) -> Value {
        self.frame(job, result.map_or(Value::Null, |result| shaped(&result)))
    }

    /// The usual frame: `{status, message, jobId, data}`.
    pub fn frame(&self, job: &Job, data: Value) -> Value {
        let mut body = Map::new();
        body.insert("status".into(), self.state_word(job.state).into());
        body.insert("message".into(), self.message(job));
        body.insert("jobId".into(), job.id.as_str().into());
        body.insert("data".into(), data);
        Value::Object(body)
    }

    /// The body of an accepted submit.
    pub fn accepted(&self, id: &JobId) -> Value {
        json!({ "status": "SUCCESS", "message": self.accepted_message, "data": { "jobId": id } })
    }
}

/// The body of a refusal at a path, in the form of the family the path belongs to.
pub fn refused_at(path: &str, refusal: &Refusal) -> Map<String, Value> {
    let family = crate::FAMILIES
        .iter()
        .find(|family| path.starts_with(family.prefix));
    let data = family.map_or(RefusedData::Null, |family| family.refused_data);
    let mut body = refused(data, refusal);
    if family.is_some_and(|family| family.vendor_errors) {
        let kind = match refusal.code.status() {
            401 => "authentication_error",
            429 => "rate_limit_error",
            500.. => "server_error",
            _ => "invalid_request_error",
        };
        let error = json!({
            "message": refusal.message,
            "type": kind,
            "param": refusal.field,
            "code": refusal.code.word(),
        });
        body.insert("error".into(), error);
    }
    body
}

/// The body of a refusal, in a family's form.
pub fn refused(data: RefusedData, refusal: &Refusal) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("status".into(), "FAILED".into());
    body.insert("message".into(), refusal.message.clone().into());
    body.insert(
        "data".into(),
        if data == RefusedData::Empty {
            json!({})
        } else {
            Value::Null
        },
    );
    body.insert("code".into(), refusal.code.word().into());
    if let Some(field) = &refusal.field {
        body.insert("param".into(), field.clone().into());
    }
    body
}

/// The schema of the usual frame around a `data` of type `T` that is null until there is a result.
pub fn framed<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    framed_always::<Option<T>>(generator)
}

/// The schema of the usual frame around a `data` of type `T` that is always there.
pub fn framed_always<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let data = generator.subschema_for::<T>();
    schemars::json_schema!({
        "type": "object",
        "required": ["status", "message", "jobId", "data"],
        "properties": {
            "status": { "type": "string", "enum": ["PENDING_QUEUE", "ON_QUEUE", "SUCCESS", "FAILED"] },
            "message": { "type": ["string", "null"] },
            "jobId": { "type": "string" },
            "data": data,
        },
    })
}

/// Serialises a shape; shapes are plain structs, so this cannot fail.
pub fn shaped<T: Serialize>(shape: &T) -> Value {
    serde_json::to_value(shape).unwrap_or(Value::Null)
}

/// `YYYY-MM-DD HH:MM:SS` in UTC, the one time format of the interface.
pub fn timestamp(milliseconds: i64) -> String {
    let seconds = milliseconds.div_euclid(1000);
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Civil date from a day count, counting eras of 400 years from 1 March of year 0.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 {
        month_index + 3
    } else {
        month_index - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

#[cfg(test)]
mod tests {
    use super::timestamp;

    #[test]
    fn times_read_as_the_interface_writes_them() {
        assert_eq!(timestamp(0), "1970-01-01 00:00:00");
        assert_eq!(timestamp(951_782_400_000), "2000-02-29 00:00:00");
        assert_eq!(timestamp(1_794_700_799_999), "2026-11-14 23:59:59");
        assert_eq!(timestamp(4_107_542_399_000), "2100-02-28 23:59:59");
    }
}
