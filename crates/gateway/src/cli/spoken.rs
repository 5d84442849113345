//! An operation as a command: its words are made from the table, and what it was given becomes a call.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use atelier_contract::pages::Method;
use atelier_engine::Ids;
use clap::{Arg, ArgMatches, FromArgMatches as _};
use serde_json::{Value, json};

use super::made::{Called, Making};
use super::rules;
use super::shown;
use super::talk::{self, CATALOGUE, Talk};
use crate::catalogue::{Answer, Operation};
use crate::client::fault::{End, Fault};
use crate::client::{Asked, Client, File, Part, Sent, Word, ask, field_of, named, names};
use crate::terminal::screen;

/// Where files are handed in.
const FILES: &str = "/files/v1";

/// How an operation is spoken.
#[derive(Clone, Copy)]
pub(super) struct Spoken<'a> {
    /// The operation.
    pub(super) operation: &'a str,
    /// Fields that need no name, in order; those of the path never do.
    pub(super) fields: &'a [&'a str],
    /// Columns of its table.
    pub(super) columns: &'a [&'a str],
    /// Whether results are waited for and saved without being asked.
    pub(super) short: bool,
}

/// Whether it can be spoken at all: streams and files have commands of their own.
pub(super) fn can_be_called(operation: &Operation) -> bool {
    matches!(operation.answer, Answer::Json(_))
}

impl Spoken<'_> {
    fn operation(&self) -> Result<&'static Operation, Fault> {
        named(&CATALOGUE, self.operation)
    }

    /// The fields that need no name.
    fn bare(&self) -> Vec<String> {
        let Ok(operation) = self.operation() else {
            return Vec::new();
        };
        let in_path = operation.path.split('/');
        let in_path = in_path.filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
        in_path
            .chain(self.fields.iter().copied())
            .map(str::to_owned)
            .collect()
    }

    /// Its words, under the name of a command.
    pub(super) fn words(&self, name: &str, whole: &str) -> clap::Command {
        let command = clap::Command::new(name.to_owned());
        let Ok(operation) = self.operation() else {
            return command;
        };
        let mut command = command.about(rules::about(operation));
        let known = names(&CATALOGUE, operation);
        for bare in self.bare() {
            let required = known
                .iter()
                .any(|(name, required)| *name == bare && *required);
            let arg = Arg::new(bare.clone())
                .value_name(bare.to_uppercase())
                .allow_negative_numbers(true);
            command = command.arg(arg.required(required).help(said(operation, &bare)));
        }
        if known.len() > self.bare().len() || operation.body.is_some() {
            let fields = Arg::new("fields")
                .value_name("FIELD=VALUE")
                .num_args(0..)
                .help("Fields with their values; see below");
            command = command.arg(fields);
        }
        if operation.idempotent {
            command = talk::with::<Making>(command);
        }
        let example = if self.fields.is_empty() {
            whole.to_owned()
        } else {
            format!("atelier call {}", self.operation)
        };
        command.after_help(rules::rules(&CATALOGUE, operation, &example))
    }

    /// Does it.
    pub(super) async fn run(&self, talk: &Talk, matches: &ArgMatches) -> Result<ExitCode> {
        let operation = self.operation()?;
        let mut words = Vec::new();
        for bare in self.bare() {
            if let Some(value) = matches.get_one::<String>(&bare) {
                words.push(bare_word(operation, &bare, value));
            }
        }
        let given = matches.try_get_many::<String>("fields").ok().flatten();
        for word in given.into_iter().flatten() {
            words.push(Word::read(word)?);
        }
        let client = talk.client()?;
        let hand_in = async |file: File| hand_in(&client, file).await;
        let mut asked = ask(&CATALOGUE, operation, &words, hand_in).await?;
        if !operation.idempotent {
            let answer = client.call(operation, &asked).await?;
            shown::show(talk, &answer, self.columns);
            return Ok(ExitCode::SUCCESS);
        }
        let making = Making::from_arg_matches(matches)?;
        if making.quote {
            return quote(talk, &client, operation, asked).await;
        }
        let key = making.idempotency_key.clone();
        asked.idempotency_key = Some(key.unwrap_or_else(|| Ids::Random.uuid()));
        let prompt = prompt_of(&asked);
        let called = Called {
            talk,
            making: &making,
            operation: &operation.name,
            prompt: prompt.as_deref(),
            short: self.short,
        };
        let answer = client.call(operation, &asked).await?;
        called.finish(&client, answer).await?;
        Ok(ExitCode::SUCCESS)
    }
}

/// A field that was given without its name: a path that exists is a file where pictures go.
fn bare_word(operation: &Operation, field: &str, value: &str) -> Word {
    let schema = field_of(&CATALOGUE, operation, field).unwrap_or(&Value::Null);
    let picture = rules::kind(&CATALOGUE, schema).contains("picture");
    if picture && Path::new(value).exists() {
        return Word::of(field, &format!("@{value}"));
    }
    Word::of(field, value)
}

fn said(operation: &Operation, field: &str) -> String {
    let schema = field_of(&CATALOGUE, operation, field);
    let said = schema.and_then(|schema| schema["description"].as_str());
    said.unwrap_or_default().to_owned()
}

/// The prompt of a call, for names of files.
fn prompt_of(asked: &Asked) -> Option<String> {
    match &asked.sent {
        Sent::Json(fields) => fields.get("prompt")?.as_str().map(str::to_owned),
        Sent::Form(parts) => parts.iter().find_map(|(name, part)| match part {
            Part::Text(text) if name == "prompt" => Some(text.clone()),
            _ => None,
        }),
        Sent::Nothing => None,
    }
}

/// Says what a call would cost.
async fn quote(
    talk: &Talk,
    client: &Client,
    operation: &Operation,
    asked: Asked,
) -> Result<ExitCode> {
    let page = named(&CATALOGUE, "account.quote")?;
    let request = match asked.sent {
        Sent::Json(fields) => Value::Object(fields),
        Sent::Form(parts) => {
            let texts = parts.into_iter().map(|(name, part)| match part {
                Part::Text(text) => (name, Value::from(text)),
                Part::File(file) => (name, Value::from(crate::client::data_uri(&file))),
            });
            Value::Object(texts.collect())
        }
        Sent::Nothing => json!({}),
    };
    let mut question = Asked::plain(page, page.path.clone());
    let body = json!({ "operation": operation.name, "request": request });
    question.sent = Sent::Json(body.as_object().cloned().unwrap_or_default());
    question.repeatable = true;
    let answer = client.call(page, &question).await?;
    if talk.json {
        shown::json(&answer);
    } else {
        screen::say(answer["data"]["quota"].to_string());
    }
    Ok(ExitCode::SUCCESS)
}

/// Hands a file in, for fields that take addresses alone.
async fn hand_in(client: &Client, file: File) -> Result<String, Fault> {
    let is_there = |page: &&Operation| page.path == FILES && page.method == Method::Post;
    let page = CATALOGUE.operations.iter().find(is_there);
    let message = "this field takes addresses alone, and the service takes no files; give an http or https address";
    let page = page.ok_or_else(|| Fault::new(End::Usage, message))?;
    let mut asked = Asked::plain(page, page.path.clone());
    asked.sent = Sent::Form(vec![("file".into(), Part::File(file))]);
    let answer = client.call(page, &asked).await?;
    Ok(answer["data"]["url"]
        .as_str()
        .unwrap_or_default()
        .to_owned())
}
