//! An operation as a command: its words are made from the table, and what it was given becomes a call.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use atelier_contract::catalogue::{ApiOperation, Catalogue, ResponseKind};
use clap::{Arg, ArgMatches, FromArgMatches as _, ValueHint};
use serde_json::{Value, json};

use super::batch::Batch;
use super::client_options::{self, ClientOptions};
use super::operation_help;
use super::output;
use super::results::{ResultHandler, SubmitOptions};
use crate::client::fault::Fault;
use crate::client::{
    ApiRequest, Client, FieldArg, FormValue, RequestBody, UploadFile, Uploader, build_request,
    field_names, field_of, find_operation, fresh_key, picture, takes_file,
};
use crate::terminal::screen;

/// The word for a file of many calls.
const BATCH: &str = "batch";
/// Pictures of at most so many bytes stand in a request; larger ones are handed in first.
const INLINE: usize = 256 * 1024;

/// How an operation is spoken.
#[derive(Clone, Copy)]
pub(crate) struct OperationCommand<'a> {
    /// Everything that can be called.
    pub(super) catalogue: &'static Catalogue,
    /// The operation's name in the catalogue.
    pub(super) operation: &'a str,
    /// Fields that need no name, in order; those of the path never do.
    pub(super) fields: &'a [&'a str],
    /// Columns of its table.
    pub(super) columns: &'a [&'a str],
    /// Whether results are waited for and saved without being asked.
    pub(super) short: bool,
}

/// Whether it can be spoken at all: streams and files have commands of their own.
pub(super) fn can_be_called(operation: &ApiOperation) -> bool {
    let answers = matches!(
        operation.answer,
        ResponseKind::Json(_) | ResponseKind::Later(_)
    );
    answers && operation.twin_of.is_none()
}

impl OperationCommand<'_> {
    fn operation(&self) -> Result<&'static ApiOperation, Fault> {
        find_operation(self.catalogue, self.operation)
    }

    /// The fields that need no name.
    fn bare(&self) -> Vec<String> {
        let Ok(operation) = self.operation() else {
            return Vec::new();
        };
        let in_path = operation.path.split('/');
        let in_path = in_path.filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
        let mut bare: Vec<String> = in_path
            .chain(self.fields.iter().copied())
            .map(str::to_owned)
            .collect();
        if operation.body.is_none() && operation.form.is_some() {
            // What takes nothing but a file is given one.
            let all = field_names(self.catalogue, operation).into_iter();
            let files = all.filter(|(name, _)| takes_file(self.catalogue, operation, name));
            bare.extend(files.map(|(name, _)| name));
        }
        bare
    }

    /// Its words, under the name of a command.
    pub(crate) fn words(&self, name: &str, whole: &str) -> clap::Command {
        let command = clap::Command::new(name.to_owned());
        let Ok(operation) = self.operation() else {
            return command;
        };
        let mut command = command.about(operation_help::about(operation));
        let known = field_names(self.catalogue, operation);
        for bare in self.bare() {
            let required = known
                .iter()
                .any(|(name, required)| *name == bare && *required);
            let mut arg = Arg::new(bare.clone())
                .value_name(bare.to_uppercase())
                .allow_negative_numbers(true);
            if takes_picture(self.catalogue, operation, &bare) {
                arg = arg.value_hint(ValueHint::FilePath);
            }
            command = command.arg(arg.required(required).help(said(
                self.catalogue,
                operation,
                &bare,
            )));
        }
        if known.len() > self.bare().len() || operation.body.is_some() {
            let fields = Arg::new("fields")
                .value_name("FIELD=VALUE")
                .num_args(0..)
                .help("Fields with their values; see below");
            command = command.arg(fields);
        }
        if operation.idempotent {
            command = client_options::add_options::<SubmitOptions>(command);
        }
        // A batch holds whatever makes something.
        if operation.callback.is_some() && self.fields.is_empty() {
            command = command.arg(batch_word());
        }
        let example = if self.fields.is_empty() {
            whole.to_owned()
        } else {
            format!("atelier call {}", self.operation)
        };
        command.after_help(operation_help::field_rules(
            self.catalogue,
            operation,
            &example,
        ))
    }

    pub(crate) async fn run(
        &self,
        client_options: &ClientOptions,
        matches: &ArgMatches,
    ) -> Result<ExitCode> {
        let operation = self.operation()?;
        let mut words = Vec::new();
        for bare in self.bare() {
            if let Some(value) = matches.get_one::<String>(&bare) {
                words.push(bare_word(self.catalogue, operation, &bare, value));
            }
        }
        let given = matches.try_get_many::<String>("fields").ok().flatten();
        for word in given.into_iter().flatten() {
            words.push(FieldArg::read(word)?);
        }
        if self.short {
            words.extend(chosen(self.catalogue, operation, &words));
        }
        let client = client_options.client(self.catalogue)?;
        if let Some(file) = matches.try_get_one::<String>(BATCH).ok().flatten() {
            let submit_options = SubmitOptions::from_arg_matches(matches)?;
            let batch = Batch {
                client_options,
                submit_options: &submit_options,
                client: &client,
                operation,
            };
            return batch.run(&words, file).await;
        }
        let uploader = Uploader::new(&client)?;
        let upload = async |file: UploadFile| uploader.upload(file).await;
        let mut asked = build_request(self.catalogue, operation, &words, INLINE, upload).await?;
        if !operation.idempotent {
            let answer = client.call(operation, &asked).await?;
            output::show(client_options, &answer, self.columns);
            return Ok(ExitCode::SUCCESS);
        }
        let submit_options = SubmitOptions::from_arg_matches(matches)?;
        if submit_options.quote {
            return quote(client_options, &client, operation, asked).await;
        }
        let key = submit_options.idempotency_key.clone();
        asked.idempotency_key = Some(key.unwrap_or_else(fresh_key));
        let prompt = prompt_of(&asked);
        let called = ResultHandler {
            client_options,
            submit_options: &submit_options,
            operation: &operation.name,
            prompt: prompt.as_deref(),
            short: self.short,
        };
        let answer = client.call(operation, &asked).await?;
        called.finish(&client, answer).await?;
        Ok(ExitCode::SUCCESS)
    }
}

fn batch_word() -> Arg {
    Arg::new(BATCH)
        .long(BATCH)
        .value_name("FILE")
        .conflicts_with_all(["quote", "open"])
        .help("Submits every row of a file: CSV with a column for each field, or JSON lines; `-` is standard input")
        .long_help(
            "Submits every row of a file as one batch: CSV with a column for each field, or a JSON object on each line; \
             `-` is standard input. An empty cell leaves the field out, `@file` is a file beside the list. Fields on the \
             command line are defaults for all rows. With --wait or --out, rows that find the queue full are submitted \
             when others have finished.",
        )
}

/// The first of the words that a field may be, for fields that a short form must have and was not given.
fn chosen(catalogue: &Catalogue, operation: &ApiOperation, words: &[FieldArg]) -> Vec<FieldArg> {
    let required = field_names(catalogue, operation).into_iter();
    let missing =
        required.filter(|(name, required)| *required && !words.iter().any(|word| word.is_of(name)));
    let first = |(name, _): (String, bool)| {
        let schema = field_of(catalogue, operation, &name)?;
        let first = operation_help::allowed_values(catalogue, schema)?
            .into_iter()
            .next()?;
        Some(FieldArg::text(&name, &first))
    };
    missing.filter_map(first).collect()
}

/// A field that was given without its name: a path that exists is a file where pictures go.
fn bare_word(
    catalogue: &Catalogue,
    operation: &ApiOperation,
    field: &str,
    value: &str,
) -> FieldArg {
    let picture = takes_picture(catalogue, operation, field);
    // Who writes the name all the same means the same.
    let named = value.strip_prefix(field);
    let value = named
        .and_then(|rest| rest.strip_prefix('='))
        .unwrap_or(value);
    if picture && Path::new(value).exists() {
        return FieldArg::of(field, &format!("@{value}"));
    }
    // Names of characters begin with an at sign as well.
    let file = value.strip_prefix('@').map(Path::new);
    if !picture && file.is_some_and(|file| !file.exists()) {
        return FieldArg::text(field, value);
    }
    FieldArg::of(field, value)
}

/// Whether a picture or another file goes into a field.
fn takes_picture(catalogue: &Catalogue, operation: &ApiOperation, field: &str) -> bool {
    let schema = field_of(catalogue, operation, field).unwrap_or(&Value::Null);
    picture(catalogue, schema).is_some() || takes_file(catalogue, operation, field)
}

fn said(catalogue: &Catalogue, operation: &ApiOperation, field: &str) -> String {
    let schema = field_of(catalogue, operation, field);
    let said = schema.and_then(|schema| schema["description"].as_str());
    said.unwrap_or_default().to_owned()
}

/// The prompt of a call, for names of files.
fn prompt_of(asked: &ApiRequest) -> Option<String> {
    match &asked.sent {
        RequestBody::Json(fields) => fields.get("prompt")?.as_str().map(str::to_owned),
        RequestBody::Form(parts) => parts.iter().find_map(|(name, part)| match part {
            FormValue::Text(text) if name == "prompt" => Some(text.clone()),
            _ => None,
        }),
        RequestBody::Nothing => None,
    }
}

/// Says what a call would cost.
async fn quote(
    client_options: &ClientOptions,
    client: &Client,
    operation: &ApiOperation,
    asked: ApiRequest,
) -> Result<ExitCode> {
    let page = client.operation("account.quote")?;
    let request = match asked.sent {
        RequestBody::Json(fields) => Value::Object(fields),
        RequestBody::Form(parts) => {
            let texts = parts.into_iter().map(|(name, part)| match part {
                FormValue::Text(text) => (name, Value::from(text)),
                FormValue::File(file) => (name, Value::from(crate::client::data_uri(&file))),
            });
            Value::Object(texts.collect())
        }
        RequestBody::Nothing => json!({}),
    };
    let mut question = ApiRequest::plain(page, page.path.clone());
    let body = json!({ "operation": operation.name, "request": request });
    question.sent = RequestBody::Json(body.as_object().cloned().unwrap_or_default());
    question.repeatable = true;
    let answer = client.call(page, &question).await?;
    if client_options.json {
        output::json(&answer);
    } else {
        screen::say(answer["data"]["quota"].to_string());
    }
    Ok(ExitCode::SUCCESS)
}
