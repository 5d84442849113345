//! One kind of order: how it is submitted, asked about and stopped, and where its answers have what.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::classes::StateMeaning;
use super::errors::{ErrorPlaces, ErrorReader};
use super::names::{TemplatePlace, TemplateScope};
use super::pictures::PictureLimits;
use super::pointer::JsonPointers;
use super::request::{CallValues, RequestSettings, RequestTemplate, is_askable};
use super::results::ResultPlaces;
use crate::backend::{Class, Fault};
use crate::field_error::FieldError;
use crate::http::{VendorHttp, VendorRequest};
use crate::mapping::PlaceholderSet;
use crate::task_vendor::{AnswerForm, TaskReply, TaskResult, TaskStatus, id};
use crate::vendor_errors;

/// What a task keeps of an answer is not longer.
const MOST_FIELD: usize = 2048;
/// Where a task keeps which call it came from.
const CALL: &str = "call";
/// Where it keeps that its result is to be fetched.
const FETCHES: &str = "fetches";
/// Where it keeps what the answer to the order said that it takes.
const MICROS: &str = "micros";

/// Where the state of a task is, and what its words mean.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StatePlace {
    at: JsonPointers,
    /// What each word means; a word that is not named means that the task goes on.
    words: BTreeMap<String, StateMeaning>,
    /// A list that is empty where the vendor does not know the task any more.
    #[serde(default)]
    empty: JsonPointers,
}

impl StatePlace {
    /// Whether an answer says that there is no such task.
    fn is_gone(&self, body: &Value) -> bool {
        let list = self.empty.first(body);
        list.is_some_and(|list| list.as_array().is_some_and(Vec::is_empty))
    }
}

/// Where it says how far a task is.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ProgressPlace {
    at: JsonPointers,
    /// The number of a task that is done; 100 when left out.
    #[serde(default)]
    whole: Option<f64>,
}

/// A call that gets the result of a task that is done, where the answer to the question does not have it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FetchSettings {
    request: RequestSettings,
    /// What the answer to the question adds to the task, such as `{"file": "/file_id"}`.
    #[serde(default)]
    task: BTreeMap<String, JsonPointers>,
}

/// One kind of order.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CallSettings {
    /// The call that orders work.
    submit: RequestSettings,
    /// What its answer says of the task, such as `{"id": "/data/task_id"}`; nothing where the answer is the result.
    #[serde(default)]
    task: BTreeMap<String, JsonPointers>,
    /// The question about a task, with `{{task.id}}`.
    #[serde(default)]
    poll: Option<RequestSettings>,
    /// The state of a task.
    #[serde(default)]
    state: Option<StatePlace>,
    /// How far it is.
    #[serde(default)]
    progress: Option<ProgressPlace>,
    /// The error of a task that failed, where it is at another place than other errors.
    #[serde(default)]
    failure: Option<ErrorPlaces>,
    /// The call that gets the result of a task that is done, where another one has it.
    #[serde(default)]
    fetch: Option<FetchSettings>,
    /// What the result is, and where.
    result: ResultPlaces,
    /// The call that stops a task.
    #[serde(default)]
    cancel: Option<RequestSettings>,
    /// What pictures that are sent must be like.
    #[serde(default)]
    pictures: PictureLimits,
}

/// The same, understood.
pub(super) struct VendorCall {
    name: String,
    pub(super) submit: RequestTemplate,
    task: BTreeMap<String, JsonPointers>,
    poll: Option<RequestTemplate>,
    state: Option<StatePlace>,
    progress: Option<ProgressPlace>,
    failure: Option<ErrorPlaces>,
    fetch: Option<ResultFetch>,
    result: ResultPlaces,
    cancel: Option<RequestTemplate>,
    pub(super) pictures: PictureLimits,
    /// What the questions need of an answer to be asked.
    needed: BTreeSet<String>,
}

struct ResultFetch {
    request: RequestTemplate,
    task: BTreeMap<String, JsonPointers>,
}

/// What calls may name that stands elsewhere in the settings.
pub(super) struct CallNames<'a> {
    pub(super) with: &'a BTreeSet<String>,
    pub(super) maps: &'a BTreeSet<String>,
}

impl VendorCall {
    /// Understands a kind of order, or says where it cannot be.
    pub(super) fn parse(
        name: &str,
        written: CallSettings,
        names: &CallNames<'_>,
        http: &VendorHttp,
    ) -> Result<Self, FieldError> {
        let place = format!("settings.calls.{name}");
        let at = |field: &str| format!("{place}.{field}");
        let fields: BTreeSet<String> = written.task.keys().cloned().collect();
        let order = TemplateScope {
            with: names.with,
            maps: names.maps,
            ..TemplateScope::plain(TemplatePlace::Order)
        };
        let about = TemplateScope {
            task: &fields,
            ..TemplateScope::plain(TemplatePlace::Task)
        };
        let submit = RequestTemplate::parse(&written.submit, &order, http, &at("submit"))?;
        let question = |written: Option<&RequestSettings>, field: &str| {
            let parse = |one| RequestTemplate::parse(one, &about, http, &at(field));
            written.map(parse).transpose()
        };
        let poll = question(written.poll.as_ref(), "poll")?;
        let cancel = question(written.cancel.as_ref(), "cancel")?;
        let fetch = match &written.fetch {
            None => None,
            Some(fetch) => {
                let all = fields.iter().chain(fetch.task.keys()).cloned().collect();
                let about = TemplateScope {
                    task: &all,
                    ..about
                };
                let place = at("fetch.request");
                Some(ResultFetch {
                    request: RequestTemplate::parse(&fetch.request, &about, http, &place)?,
                    task: fetch.task.clone(),
                })
            }
        };
        let wrong = |field: &str, why: &str| Err(FieldError::new(at(field), why));
        match (fields.is_empty(), poll.is_some()) {
            (false, false) => return wrong("poll", "is missing: what is in task is asked about"),
            (true, true) => return wrong("task", "is missing: poll asks about something"),
            _ => {}
        }
        if poll.is_none() && (fetch.is_some() || cancel.is_some()) {
            return wrong("poll", "is missing: only a task is fetched or cancelled");
        }
        written.result.check(&at("result"))?;
        let mut needed = BTreeSet::new();
        for template in poll
            .iter()
            .chain(fetch.as_ref().map(|fetch| &fetch.request))
        {
            template.visit(&mut |name, _| {
                let field = name.strip_prefix("task.").unwrap_or(name);
                if fields.contains(field) {
                    needed.insert(field.to_owned());
                }
            });
        }
        Ok(Self {
            name: name.to_owned(),
            submit,
            task: written.task,
            poll,
            state: written.state,
            progress: written.progress,
            failure: written.failure,
            fetch,
            result: written.result,
            cancel,
            pictures: written.pictures,
            needed,
        })
    }

    /// A task that cannot be, for answers that were kept.
    pub(super) fn nobody(&self) -> Value {
        json!({CALL: self.name})
    }

    /// The same when its result is to be fetched.
    pub(super) fn fetching(&self) -> Value {
        json!({CALL: self.name, FETCHES: true})
    }

    /// Whether a call of its own gets the result.
    pub(super) fn is_fetched(&self) -> bool {
        self.fetch.is_some()
    }

    /// The task that an answer to a search names.
    pub(super) fn found(
        &self,
        places: &BTreeMap<String, JsonPointers>,
        body: &Value,
    ) -> Option<Value> {
        task_of(&self.name, places, &self.needed, body).map(Value::Object)
    }

    /// What the call has places for.
    pub(super) fn places(&self) -> PlaceholderSet {
        let mut names = Vec::new();
        self.submit.visit(&mut |name, _| {
            let base = name.split('.').next().unwrap_or_default();
            names.push(base.to_owned());
        });
        names.iter().map(String::as_str).collect()
    }

    /// Every placeholder of the call that orders work, with its form.
    pub(super) fn named(&self) -> Vec<String> {
        let mut names = Vec::new();
        self.submit
            .visit(&mut |name, _| names.push(name.to_owned()));
        names
    }

    /// Whether the answer to the order is the result.
    pub(super) fn is_answered_at_once(&self) -> bool {
        self.poll.is_none()
    }

    /// How the answer to the order is read.
    pub(super) fn start_form(&self) -> AnswerForm<'_> {
        if self.is_answered_at_once() {
            self.result.form()
        } else {
            AnswerForm::PLAIN
        }
    }

    /// How the answer to the next question about a task is read.
    pub(super) fn question_form(&self, task: &Value) -> AnswerForm<'_> {
        if self.fetch.is_some() == (task[FETCHES] == true) {
            self.result.form()
        } else {
            AnswerForm::PLAIN
        }
    }

    /// Which call a task came from.
    pub(super) fn name_of(task: &Value) -> &str {
        task[CALL].as_str().unwrap_or_default()
    }

    /// The next question about a task.
    pub(super) fn question(&self, task: &Value) -> VendorRequest {
        let template = match &self.fetch {
            Some(fetch) if task[FETCHES] == true => Some(&fetch.request),
            _ => self.poll.as_ref(),
        };
        template.map_or_else(|| VendorRequest::get(""), |one| about(one, task))
    }

    /// The call that stops a task.
    pub(super) fn cancel(&self, task: &Value) -> Option<VendorRequest> {
        let template = self.cancel.as_ref()?;
        Some(about(template, task))
    }

    /// What a good answer to the order says.
    pub(super) fn started(
        &self,
        errors: &ErrorReader,
        http: &VendorHttp,
        mut reply: TaskReply,
    ) -> Result<TaskStatus, Fault> {
        if let Some(fault) = errors.refusal(&reply) {
            return Err(fault);
        }
        if self.is_answered_at_once() {
            return self.answered(errors, reply);
        }
        match self.task_in(&reply.body) {
            Some(mut task) => {
                if let Some(cost) = self.result.cost(&reply.body) {
                    task.insert(MICROS.to_owned(), json!(cost.micros));
                }
                for address in task.values().filter_map(Value::as_str) {
                    if address.contains("://") && !is_askable(http, address) {
                        let why =
                            "the task has an address at another host, which hosts does not list";
                        let nonsense = reply.nonsense();
                        return Err(Fault {
                            detail: format!("{why}; {}", nonsense.detail),
                            ..nonsense
                        });
                    }
                }
                Ok(TaskStatus::Task(Value::Object(task)))
            }
            // Some vendors have what they are asked for at hand.
            None => match self.result.read(&mut reply) {
                Some(task_result) => Ok(TaskStatus::Done(task_result)),
                None => match self.meaning(&reply.body).and_then(|(_, meaning)| meaning) {
                    Some(meaning @ (StateMeaning::Running | StateMeaning::Done)) => {
                        tracing::debug!(?meaning, "an order has no task");
                        Err(reply.nonsense())
                    }
                    Some(meaning) => Ok(self.failed(errors, meaning, &reply)),
                    None => Err(reply.nonsense()),
                },
            },
        }
    }

    /// What an answer says that is the result.
    fn answered(&self, errors: &ErrorReader, mut reply: TaskReply) -> Result<TaskStatus, Fault> {
        let meaning = self.meaning(&reply.body).and_then(|(_, meaning)| meaning);
        match meaning {
            Some(StateMeaning::Running | StateMeaning::Done) | None => {}
            Some(meaning) => return Ok(self.failed(errors, meaning, &reply)),
        }
        let task_result = self.result.read(&mut reply);
        task_result
            .map(TaskStatus::Done)
            .ok_or_else(|| reply.nonsense())
    }

    /// What a good answer to a question says, with what the order took where only its own answer said so.
    pub(super) fn polled(
        &self,
        errors: &ErrorReader,
        task: &Value,
        reply: TaskReply,
    ) -> Result<TaskStatus, Fault> {
        let kept = self.result.kept_cost(&task[MICROS]);
        Ok(match self.task_status(errors, task, reply)? {
            TaskStatus::Done(task_result) => TaskStatus::Done(TaskResult {
                cost: task_result.cost.or(kept),
                ..task_result
            }),
            other => other,
        })
    }

    fn task_status(
        &self,
        errors: &ErrorReader,
        task: &Value,
        mut reply: TaskReply,
    ) -> Result<TaskStatus, Fault> {
        if let Some(fault) = errors.refusal(&reply) {
            return Err(fault);
        }
        if task[FETCHES] == true {
            return Ok(self.ended(reply));
        }
        if !reply.body.is_object() && !reply.body.is_array() && !self.result.is_body() {
            return Err(reply.nonsense());
        }
        let meaning = match (&self.state, self.meaning(&reply.body)) {
            (Some(state), None) if state.is_gone(&reply.body) => StateMeaning::Gone,
            (Some(_), None) => return Err(reply.nonsense()),
            (Some(_), Some((word, None))) => {
                tracing::debug!(word, "a state that the settings do not name");
                StateMeaning::Running
            }
            (Some(_), Some((_, Some(meaning)))) => meaning,
            // Without a state the result is the sign.
            (None, _) => match self.result.read(&mut reply) {
                Some(task_result) => return Ok(TaskStatus::Done(task_result)),
                None => StateMeaning::Running,
            },
        };
        Ok(match meaning {
            StateMeaning::Running => TaskStatus::Running(self.percent(&reply.body)),
            StateMeaning::Done => match &self.fetch {
                Some(fetch) => TaskStatus::Task(fetched(fetch, task, &reply.body)?),
                None => self.ended(reply),
            },
            failed => self.failed(errors, failed, &reply),
        })
    }

    /// The result of a task that is done.
    fn ended(&self, mut reply: TaskReply) -> TaskStatus {
        if let Some(task_result) = self.result.read(&mut reply) {
            return TaskStatus::Done(task_result);
        }
        let fault = Fault::useless("it is done, and nothing is where the settings say");
        TaskStatus::Failed(fault.paid(self.result.cost(&reply.body)))
    }

    fn failed(&self, errors: &ErrorReader, meaning: StateMeaning, reply: &TaskReply) -> TaskStatus {
        let fault = errors.failure(self.failure.as_ref(), meaning.class(), reply);
        let cost = self.result.cost(&reply.body);
        TaskStatus::Failed(fault.paid(cost.filter(|cost| cost.micros > 0)))
    }

    /// The word for the state, and what it means if the settings name it.
    fn meaning(&self, body: &Value) -> Option<(String, Option<StateMeaning>)> {
        let state = self.state.as_ref()?;
        let word = state.at.text(body)?;
        let mut named = state.words.iter();
        let meaning = named.find(|(one, _)| one.eq_ignore_ascii_case(&word));
        let meaning = meaning.map(|(_, meaning)| *meaning);
        Some((word, meaning))
    }

    fn percent(&self, body: &Value) -> Option<u8> {
        let place = self.progress.as_ref()?;
        let share = place.at.number(body)? / place.whole.unwrap_or(100.0) * 100.0;
        Some(share.clamp(0.0, 99.0) as u8)
    }

    /// The task in an answer; `None` where something is missing that questions need.
    pub(super) fn task_in(&self, body: &Value) -> Option<Map<String, Value>> {
        task_of(&self.name, &self.task, &self.needed, body)
    }

    /// The fault of a task whose call the settings do not have any more.
    pub(super) fn unknown(name: &str) -> Fault {
        let why =
            format!("the settings have no call {name} any more, by which the work was ordered");
        vendor_errors::of_question(Fault::vendor(Class::Gone, why))
    }
}

/// The task that pointers find in an answer.
pub(super) fn task_of(
    call: &str,
    places: &BTreeMap<String, JsonPointers>,
    needed: &BTreeSet<String>,
    body: &Value,
) -> Option<Map<String, Value>> {
    let mut task = Map::new();
    for (name, pointers) in places {
        match pointers.first(body).filter(is_field) {
            Some(value) => {
                task.insert(name.clone(), value);
            }
            None if needed.contains(name) => return None,
            None => {}
        }
    }
    if task.is_empty() {
        return None;
    }
    task.insert(CALL.to_owned(), json!(call));
    Some(task)
}

/// Whether a value can be kept of a task: a name, a number or an address.
fn is_field(value: &Value) -> bool {
    match value {
        Value::Number(_) => true,
        Value::String(text) if text.contains("://") || text.starts_with('/') => {
            text.len() <= MOST_FIELD && !text.chars().any(char::is_control)
        }
        text => id(text).is_some(),
    }
}

/// A task whose result is fetched next.
fn fetched(fetch: &ResultFetch, task: &Value, body: &Value) -> Result<Value, Fault> {
    let mut next = task.clone();
    for (name, pointers) in &fetch.task {
        let value = pointers.first(body).filter(is_field);
        let value = value.ok_or_else(|| {
            let why = format!("it is done, and {name} is not where the settings say");
            Fault::useless(why)
        })?;
        next[name] = value;
    }
    next[FETCHES] = json!(true);
    Ok(next)
}

fn about(template: &RequestTemplate, task: &Value) -> VendorRequest {
    let value = |name: &str| {
        let field = name.strip_prefix("task.");
        field.map_or(Value::Null, |field| task[field].clone())
    };
    template.filled(&CallValues::plain(&value))
}
