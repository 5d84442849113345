//! `atelier call … --batch`: every row of a file as a job, submitted together, followed, saved.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use atelier_contract::catalogue::ApiOperation;
use atelier_contract::operation;
use atelier_contract::pages::batches::MOST_REQUESTS;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc::unbounded_channel;
use tokio::time::{Instant, sleep};

use super::client_options::ClientOptions;
use super::operation_help::allowed_values;
use super::output;
use super::results::{SubmitOptions, save_files};
use super::tally::Tally;
use crate::client::events::{follow_batch, is_over};
use crate::client::fault::{ExitReason, Fault};
use crate::client::{
    ApiRequest, Client, FieldArg, RequestBody, Row, UploadFile, Uploader, build_request, field_of,
    fresh_key, model_field, read_rows,
};
use crate::terminal::screen;

/// Bytes of the requests of one batch; half of what the service takes.
const MOST_BYTES: usize = 32 * 1024 * 1024;
/// Wrong rows that are shown.
const SHOWN: usize = 10;
/// A pause before rows that found the queue full are submitted again; twice as long each time.
const PAUSE: Duration = Duration::from_secs(2);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// A queue that takes nothing for so long is given up.
const FULL: Duration = Duration::from_mins(30);

/// Many calls of one operation.
pub(super) struct Batch<'a> {
    pub(super) client_options: &'a ClientOptions,
    pub(super) submit_options: &'a SubmitOptions,
    pub(super) client: &'a Client,
    pub(super) operation: &'a ApiOperation,
}

/// A row that can be sent.
struct Item {
    number: usize,
    request: Map<String, Value>,
    bytes: usize,
}

impl Batch<'_> {
    /// Reads the file, submits its rows and, when that is wanted, waits and saves.
    pub(super) async fn run(&self, common: &[FieldArg], file: &str) -> Result<ExitCode> {
        let rows = read_rows(file)?;
        let rows: Vec<Row> = rows.into_iter().map(|row| whole(row, common)).collect();
        self.check(&rows).await?;
        let key = self.submit_options.idempotency_key.clone();
        let key = key.unwrap_or_else(fresh_key);
        let mut tally = Tally::new(self.client_options, rows.len());
        let going = async {
            let items = self.items(rows, &mut tally).await?;
            if self.submit_options.wait || self.submit_options.out.is_some() {
                self.until_over(items, &key, &mut tally).await
            } else {
                self.hand_over(&items, &key).await
            }
        };
        let late = async {
            match self.submit_options.within {
                Some(seconds) => sleep(Duration::from_secs(seconds)).await,
                None => std::future::pending().await,
            }
        };
        let again = format!("the same command with --idempotency-key {key} continues");
        tokio::select! {
            done = going => done?,
            () = late => return Err(Fault::new(ExitReason::TimedOut, format!("not all rows have ended; {again}")).into()),
            _ = tokio::signal::ctrl_c() => {
                let message = format!("interrupted; accepted jobs continue, and {again}");
                return Err(Fault::new(ExitReason::Interrupted, message).into());
            }
        }
        tally.end()?;
        Ok(ExitCode::SUCCESS)
    }

    /// Refuses everything while a row is wrong in a way that can be seen from here.
    async fn check(&self, rows: &[Row]) -> Result<(), Fault> {
        let nowhere = async |file: UploadFile| Ok(format!("https://{}.invalid/", file.bytes.len()));
        let mut wrong = 0;
        for row in rows {
            let asked = build_request(
                self.client.catalogue,
                self.operation,
                &row.words,
                0,
                nowhere,
            )
            .await;
            let why = match asked {
                Err(fault) => fault.message,
                Ok(asked) => match asked.sent {
                    RequestBody::Json(fields) => match self.refusal(fields) {
                        Some(why) => why,
                        None => continue,
                    },
                    _ => "a batch cannot upload forms; give a URL".to_owned(),
                },
            };
            wrong += 1;
            if wrong <= SHOWN {
                screen::note(format!("row {}: {why}", row.number));
            }
        }
        if wrong == 0 {
            return Ok(());
        }
        let message = format!(
            "{wrong} of {} rows cannot be sent; nothing was submitted",
            rows.len()
        );
        Err(Fault::new(ExitReason::Usage, message))
    }

    /// Why the service would refuse a row, as far as its table of operations says. What models beside the built-in ones take, the
    /// service alone knows.
    fn refusal(&self, fields: Map<String, Value>) -> Option<String> {
        let catalogue = self.client.catalogue;
        let name = model_field(catalogue, self.operation);
        if let Some(model) = fields.get(name) {
            let schema = field_of(catalogue, self.operation, name);
            let built_in = schema.and_then(|schema| allowed_values(catalogue, schema));
            let model = model.as_str().unwrap_or_default();
            if !built_in.is_some_and(|names| names.iter().any(|one| one == model)) {
                return None;
            }
        }
        let (_, submit) = operation(&self.operation.name)?;
        let refused = (submit.parse)(fields).err()?;
        Some(refused.message)
    }

    /// Hands in the files of all rows.
    async fn items(&self, rows: Vec<Row>, tally: &mut Tally<'_>) -> Result<Vec<Item>, Fault> {
        let uploader = Uploader::new(self.client)?;
        let upload = async |file: UploadFile| uploader.upload(file).await;
        let mut items = Vec::with_capacity(rows.len());
        for row in rows {
            tally.tell(&format!("reading row {}", row.number));
            let asked =
                build_request(self.client.catalogue, self.operation, &row.words, 0, upload).await;
            let name = |fault: Fault| {
                Fault::new(fault.end, format!("row {}: {}", row.number, fault.message))
            };
            if let RequestBody::Json(request) = asked.map_err(name)?.sent {
                let bytes = Value::Object(request.clone()).to_string().len();
                items.push(Item {
                    number: row.number,
                    request,
                    bytes,
                });
            }
        }
        Ok(items)
    }

    async fn submit(&self, items: &[Item], key: &str) -> Result<Value, Fault> {
        let page = self.client.operation("jobs.batch")?;
        let name = &self.operation.name;
        let requests = items
            .iter()
            .map(|item| json!({ "operation": name, "request": item.request }));
        let mut asked = ApiRequest::plain(page, page.path.clone());
        let fields = [("requests".to_owned(), requests.collect())];
        asked.sent = RequestBody::Json(fields.into_iter().collect());
        asked.idempotency_key = Some(key.to_owned());
        asked.repeatable = true;
        self.client.call(page, &asked).await
    }

    /// Submits the rows and leaves them to the service.
    async fn hand_over(&self, items: &[Item], key: &str) -> Result<()> {
        if items.len() > MOST_REQUESTS {
            let message = format!(
                "a batch has at most {MOST_REQUESTS} rows; with --wait or --out more are submitted as others finish"
            );
            return Err(Fault::new(ExitReason::Usage, message).into());
        }
        let answer = self.submit(items, key).await?;
        let mut tally = Tally::new(self.client_options, items.len());
        if self.client_options.json {
            output::json(&answer);
        }
        let data = &answer["data"];
        for (item, told) in items
            .iter()
            .zip(data["answers"].as_array().into_iter().flatten())
        {
            if told["data"]["jobId"].is_string() {
                tally.accepted(item.number, told, self.client_options.json);
            } else {
                tally.refused(item.number, told, self.client_options.json);
            }
        }
        let id = data["batchId"].as_str().unwrap_or_default();
        tally.note(&format!(
            "`atelier jobs batch-show {id}` shows their progress"
        ));
        Ok(tally.end()?)
    }

    /// Submits rows until none is left, and waits for each.
    async fn until_over(&self, items: Vec<Item>, key: &str, tally: &mut Tally<'_>) -> Result<()> {
        let mut left = items;
        let (mut round, mut pause, mut taken) = (1, PAUSE, Instant::now());
        while !left.is_empty() {
            let rest = left.split_off(first_of(&left));
            let name = if round == 1 {
                key.to_owned()
            } else {
                format!("{key}-{round}")
            };
            let answer = self.submit(&left, &name).await?;
            let mut answers = answer["data"]["answers"].as_array().cloned();
            let mut answers = answers.take().into_iter().flatten();
            let (mut jobs, mut again) = (HashMap::new(), Vec::new());
            for item in left {
                let told = answers.next().unwrap_or_default();
                if let Some(id) = told["data"]["jobId"].as_str() {
                    jobs.insert(id.to_owned(), item);
                } else if told["code"] == "queue_full" || told["code"] == "rate_limited" {
                    again.push(item);
                } else {
                    tally.refused(item.number, &told, self.client_options.json);
                }
            }
            again.extend(rest);
            left = again;
            if jobs.is_empty() {
                // Other jobs of this account fill the queue.
                if !left.is_empty() && taken.elapsed() > FULL {
                    let message = format!("the queue stays full; {} rows remain", left.len());
                    return Err(Fault::new(ExitReason::Unavailable, message).into());
                }
                if !left.is_empty() {
                    tally.tell("the queue is full");
                    sleep(pause).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                // Of a batch without a job nothing is remembered: its name is good for the next one.
                continue;
            }
            (pause, taken) = (PAUSE, Instant::now());
            round += 1;
            let id = answer["data"]["batchId"].as_str().unwrap_or_default();
            self.follow(id, jobs, tally).await?;
        }
        Ok(())
    }

    /// Follows the jobs of one batch to their ends.
    async fn follow(
        &self,
        id: &str,
        mut jobs: HashMap<String, Item>,
        tally: &mut Tally<'_>,
    ) -> Result<()> {
        let (sender, mut news) = unbounded_channel();
        let following = async move {
            let pass_on = move |told: &Value| {
                // Whoever listens is there until the end.
                let _ = sender.send(told.clone());
            };
            follow_batch(self.client, id, pass_on).await
        };
        let taking = async {
            while let Some(told) = news.recv().await {
                let Some(items) = told["items"].as_array() else {
                    self.job(told, &mut jobs, tally).await?;
                    continue;
                };
                for item in items {
                    let id = item["jobId"].as_str().unwrap_or_default();
                    if item["status"] == "DELETED" {
                        if let Some(item) = jobs.remove(id) {
                            let told = json!({ "message": "the job was deleted" });
                            tally.refused(item.number, &told, self.client_options.json);
                        }
                    } else if is_over(item) && jobs.contains_key(id) {
                        let job = self.look(id).await?;
                        self.job(job, &mut jobs, tally).await?;
                    }
                }
            }
            anyhow::Ok(())
        };
        let (followed, taken) = tokio::join!(following, taking);
        taken?;
        followed?;
        Ok(())
    }

    async fn look(&self, id: &str) -> Result<Value, Fault> {
        let page = self.client.operation("jobs.show")?;
        let asked = ApiRequest::plain(page, page.path.replace("{jobId}", id));
        Ok(self.client.call(page, &asked).await?["data"].take())
    }

    /// Takes what is told of a job: saves it when it is over.
    async fn job(
        &self,
        job: Value,
        jobs: &mut HashMap<String, Item>,
        tally: &mut Tally<'_>,
    ) -> Result<()> {
        let id = job["jobId"].as_str().unwrap_or_default();
        if !is_over(&job) {
            tally.show();
            return Ok(());
        }
        let Some(item) = jobs.remove(id) else {
            return Ok(());
        };
        let mut paths: Vec<PathBuf> = Vec::new();
        if let (Some(folder), true) = (&self.submit_options.out, job["status"] == "SUCCESS") {
            tally.tell(&format!("saving row {}", item.number));
            let prompt = item.request.get("prompt").and_then(Value::as_str);
            let stem = crate::client::download::stem(prompt, &self.operation.name);
            let stem = format!("{}-{stem}", tally.numbered(item.number));
            paths = save_files(self.client, &job, &stem, id, folder, |_| {}).await?;
        }
        tally.over(item.number, &job, &paths);
        Ok(())
    }
}

/// How many items go into one batch.
fn first_of(items: &[Item]) -> usize {
    let mut bytes = 0;
    let within = items.iter().take(MOST_REQUESTS).take_while(|item| {
        bytes += item.bytes;
        bytes <= MOST_BYTES
    });
    within.count().max(1)
}

/// A row with the fields that all rows have.
fn whole(mut row: Row, common: &[FieldArg]) -> Row {
    let missing = common
        .iter()
        .filter(|word| row.words.iter().all(|own| !own.is_of(&word.field)));
    let missing: Vec<FieldArg> = missing.cloned().collect();
    row.words.extend(missing);
    row
}
