//! Submit: check, price, hold, insert and remember the idempotency key, all in one commit.

use std::sync::Arc;

use atelier_backends::guard::Purpose;
use atelier_contract::body::Fields;
use atelier_contract::brief::{Brief, Source};
use atelier_contract::family::{Family, Submit};
use atelier_contract::fields::ImageData;
use atelier_contract::operation::Order;
use atelier_contract::tariff::Price;
use atelier_contract::{Code, JobId, JobState, Quota, Refusal};
use atelier_store::{Accept, Accepted, Idempotency, JobRow, Lease, NewAsset, NewJob};
use base64::Engine as _;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::crash;
use crate::engine::{Engine, unavailable};
use crate::floor::pool::choice::{Choice, Earlier, Lane, Wish};
use crate::floor::pool::{Slot, backend_of};
use crate::key::hex;
use crate::office::Caller;
use crate::order::{Maker, Ordered};

/// A call that wants work done.
pub struct Call {
    /// Who calls.
    pub caller: Caller,
    /// The family of the endpoint.
    pub family: &'static Family,
    /// The endpoint.
    pub submit: &'static Submit,
    /// The fields of the body.
    pub fields: Fields,
    /// Files of a multipart body, by field.
    pub files: Vec<(String, Vec<u8>)>,
    /// The caller's own key for this call.
    pub idempotency_key: Option<String>,
    /// Whether it must run on the caller's own hosted account.
    pub custody: bool,
}

/// An accepted call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submitted {
    /// The job.
    pub job_id: JobId,
    /// Whether it is the answer to an earlier, equal call.
    pub replayed: bool,
}

impl Engine {
    /// Accepts a call or refuses it; after an acceptance the job survives anything.
    pub async fn submit(self: &Arc<Self>, mut call: Call) -> Result<Submitted, Refusal> {
        let custody = call.custody;
        place_files(
            &mut call.fields,
            std::mem::take(&mut call.files),
            call.submit,
        )?;
        let idempotency = call
            .idempotency_key
            .as_ref()
            .map(|key| self.idempotency(key, &call));
        let request = (call.submit.parse)(call.fields)?;
        atelier_contract::refuse_banned(request.as_ref(), &self.settings.banned_words)?;
        let account_id = &call.caller.account_id;
        let ordered = self.ordered(account_id, request.as_ref()).await?;
        let price = self.price_of(call.submit.name, &ordered.order.price, custody)?;
        let place = self.place_of(account_id, custody, &ordered.maker)?;
        self.check_addresses(&ordered.order)?;
        self.keep_inputs(account_id, &ordered.order.brief).await?;

        let fields = ordered.order.stored(request.as_ref());
        let model = fields
            .get("model")
            .and_then(Value::as_str)
            .map(str::to_owned);
        let mut job = self.new_job(
            &call.caller,
            (call.family, call.submit),
            &ordered,
            (fields, price),
        );
        (job.lane, job.follows) = place;
        self.accept(job, model.as_deref(), idempotency).await
    }

    async fn accept(
        self: &Arc<Self>,
        job: NewJob,
        model: Option<&str>,
        idempotency: Option<Idempotency>,
    ) -> Result<Submitted, Refusal> {
        // Born leased: with a slot free, no second commit is needed before the work starts.
        let slot = self.place_for(&job, model)?;
        let lease = slot.as_ref().map(|_| Lease {
            owner: self.node.clone(),
            until_ms: job.created_ms + self.settings.lease_ms,
        });
        let job_id = JobId::new(job.id.clone());
        let price = job.price;
        let born = slot.map(|slot| (born_row(&job, &self.node, self.settings.lease_ms), slot));
        crash::point("submit.before_accept");
        let accept = Accept {
            job,
            ledger_id: self.ids.uuid(),
            idempotency,
            lease,
        };
        let accepted = self.store.accept(accept).await.map_err(unavailable)?;
        crash::point("submit.accepted");
        match accepted {
            Accepted::New { fence } => {
                match born {
                    Some((row, slot)) => self.start_work(JobRow { fence, ..row }, slot),
                    None => self.wake_work(),
                }
                Ok(Submitted {
                    job_id,
                    replayed: false,
                })
            }
            Accepted::Replayed { job_id } => Ok(Submitted {
                job_id: JobId::new(job_id),
                replayed: true,
            }),
            Accepted::Mismatch => Err(Refusal::new(
                Code::IdempotencyMismatch,
                "Idempotency-Key: was used with another body; use a new key for a new request",
            )),
            Accepted::QuotaShort { balance } => Err(Refusal::new(
                Code::InsufficientQuota,
                format!("the request costs {price} quota, the balance is {balance}"),
            )),
            Accepted::QueueFull { max_queue } => Err(Refusal::new(
                Code::QueueFull,
                format!(
                    "the queue holds {max_queue} unfinished jobs at most; wait for one to finish"
                ),
            )),
            Accepted::NoAccount => Err(Refusal::new(
                Code::Unauthorized,
                "the account no longer exists",
            )),
        }
    }

    /// Where a job may run, and whose earlier work it follows. A follow-up stays with whoever made its parent: nobody
    /// else has what it follows.
    fn place_of(
        &self,
        account_id: &str,
        custody: bool,
        maker: &Maker,
    ) -> Result<(String, Option<String>), Refusal> {
        let follows = match maker {
            Maker::Worker(worker) => Some(worker.clone()),
            Maker::Nobody | Maker::House => None,
        };
        if custody {
            let own = follows
                .as_deref()
                .is_some_and(|worker| self.pool.owns(account_id, worker));
            if *maker != Maker::Nobody && !own {
                return Err(Refusal::new(
                    Code::ActionNotAvailable,
                    "the earlier job was not made on an account of yours",
                ));
            }
            return Ok((Lane::Own(account_id).text(), follows));
        }
        let lane = match maker {
            Maker::Nobody => String::new(),
            Maker::House => Lane::At(&self.pool.unrecorded().unwrap_or_default()).text(),
            Maker::Worker(worker) => Lane::At(backend_of(worker)).text(),
        };
        Ok((lane, follows))
    }

    /// A place for a new job; none when it has to wait, and a refusal when waiting is of no use.
    fn place_for(&self, job: &NewJob, model: Option<&str>) -> Result<Option<Slot>, Refusal> {
        let wish = Wish {
            operation: &job.operation,
            speed: job.speed,
            model,
            lane: Lane::parse(&job.lane),
            follows: job.follows.as_deref(),
            price: job.price,
            earlier: Earlier::NONE,
        };
        let taken = if self.stopping.is_cancelled() {
            Err(self.pool.outlook(&wish, job.created_ms))
        } else {
            self.pool.take(&wish, job.created_ms)
        };
        match taken {
            Ok(slot) => Ok(Some(slot)),
            Err(Choice::Wait(until_ms)) if until_ms < job.deadline_ms => Ok(None),
            Err(Choice::Take(_)) => Ok(None),
            Err(Choice::Wait(_) | Choice::Nobody) => Err(Refusal::new(
                Code::NoAvailableAccount,
                "No available accounts",
            )),
        }
    }

    /// What a submit of the same fields would hold, without running it; with `custody`, on the custody host.
    pub async fn quote(
        &self,
        account_id: &str,
        operation: &str,
        fields: Fields,
        custody: bool,
    ) -> Result<Quota, Refusal> {
        let Some((_, submit)) = atelier_contract::operation(operation) else {
            let message = format!(
                "unknown operation; known are {}",
                operation_names().join(", ")
            );
            return Err(Refusal::invalid("operation", message));
        };
        let request = (submit.parse)(fields)?;
        let ordered = self.ordered(account_id, request.as_ref()).await?;
        self.price_of(submit.name, &ordered.order.price, custody)
    }

    /// What a call costs; on the caller's own worker accounts it has a price of its own.
    fn price_of(&self, operation: &str, price: &Price, custody: bool) -> Result<Quota, Refusal> {
        if custody {
            self.priced(&Price::custody(operation))
        } else {
            self.priced(price)
        }
    }

    /// The banned word a prompt contains, if any.
    pub fn banned_word(&self, prompt: &str) -> Option<String> {
        atelier_contract::banned_word(prompt, &self.settings.banned_words).map(str::to_owned)
    }

    fn new_job(
        &self,
        caller: &Caller,
        (family, submit): (&Family, &Submit),
        ordered: &Ordered,
        (fields, price): (Fields, Quota),
    ) -> NewJob {
        let (created_ms, order) = (self.now_ms(), &ordered.order);
        let own_limit = submit.timeout_s.map(|limit| limit(&fields));
        let limit_s = order.timeout_s.or(own_limit).unwrap_or(family.timeout_s);
        NewJob {
            id: self.ids.job(family.ids).to_string(),
            account_id: caller.account_id.clone(),
            operation: submit.name.to_owned(),
            queue: family.queue.to_owned(),
            speed: order.speed,
            request: Value::Object(fields).to_string(),
            price,
            parent_id: ordered.parent.as_ref().map(|parent| parent.id.to_string()),
            lane: String::new(),
            follows: None,
            hook_url: order.hook.as_ref().map(|hook| hook.as_str().to_owned()),
            created_ms,
            deadline_ms: created_ms + i64::from(limit_s) * 1000,
        }
    }

    fn idempotency(&self, key: &str, call: &Call) -> Idempotency {
        let mut hasher = Sha256::new();
        hasher.update(call.submit.name.as_bytes());
        hasher.update([0]);
        hasher.update(Value::Object(call.fields.clone()).to_string().as_bytes());
        Idempotency {
            key: key.to_owned(),
            fingerprint: hex(&hasher.finalize()),
            keep_after_ms: self.now_ms() - self.settings.idempotency_ms,
        }
    }

    /// Refuses addresses that can be judged without asking anybody.
    fn check_addresses(&self, order: &Order) -> Result<(), Refusal> {
        let policy = self.outbound.policy();
        let refuse = |field: &str, blocked: &dyn std::fmt::Display| {
            Err(Refusal::field(Code::AddressNotAllowed, field, blocked))
        };
        if let Some(hook) = &order.hook
            && let Err(blocked) = policy.check_url(hook.as_str(), Purpose::Callback)
        {
            return refuse("hookUrl", &blocked);
        }
        let pictures = order
            .brief
            .inputs()
            .filter_map(|source| match &source.image {
                ImageData::Url(url) => Some((source.field.as_str(), url.as_str())),
                ImageData::Inline(_) => None,
            });
        let video = order
            .brief
            .video
            .as_ref()
            .map(|(field, url)| (field.as_str(), url.as_str()));
        let mentions = order.mentions.iter();
        let mentions = mentions.map(|(field, url)| (field.as_str(), url.as_str()));
        for (field, url) in pictures.chain(video).chain(mentions) {
            if self.own_asset(url).is_none()
                && let Err(blocked) = policy.check_url(url, Purpose::Image)
            {
                return refuse(field, &blocked);
            }
        }
        Ok(())
    }

    /// Puts inline pictures into the vault before the job is accepted, so that an accepted job has its inputs. They
    /// are recorded first: from then on nobody deletes what is stored.
    async fn keep_inputs(&self, account_id: &str, brief: &Brief) -> Result<(), Refusal> {
        let now_ms = self.now_ms();
        let (mut rows, mut contents) = (Vec::new(), Vec::new());
        for Source { image, .. } in brief.inputs() {
            let ImageData::Inline(inline) = image else {
                continue;
            };
            let (Some(bytes), Some(header)) = (&inline.bytes, inline.header) else {
                continue;
            };
            rows.push(NewAsset {
                key: input_key(account_id, &inline.hash),
                job_id: String::new(),
                account_id: account_id.to_owned(),
                media_type: header.media_type.to_owned(),
                bytes: bytes.len() as i64,
                expires_ms: now_ms + self.settings.input_keep_ms,
                created_ms: now_ms,
            });
            contents.push(bytes);
        }
        if rows.is_empty() {
            return Ok(());
        }
        let noted = self.store.note_inputs(rows.clone()).await;
        if !noted.map_err(unavailable)? {
            return Err(not_stored(
                &"an expired copy of the same image is just being deleted",
            ));
        }
        for (row, bytes) in rows.iter().zip(contents) {
            let bytes = bytes::Bytes::copy_from_slice(bytes);
            let put = self.files.put(&row.key, bytes).await;
            put.map_err(|error| not_stored(&error))?;
        }
        Ok(())
    }
}

/// An input could not be stored; nothing was accepted.
fn not_stored(why: &dyn std::fmt::Display) -> Refusal {
    tracing::error!(%why, "an input was not stored");
    Refusal::new(
        Code::Overloaded,
        "the service cannot store the image now; try again shortly",
    )
}

/// The row of a job born leased, as the commit wrote it.
fn born_row(job: &NewJob, node: &str, lease_ms: i64) -> JobRow {
    JobRow {
        id: job.id.clone(),
        account_id: job.account_id.clone(),
        operation: job.operation.clone(),
        queue: job.queue.clone(),
        state: JobState::Running,
        speed: job.speed,
        progress: 0,
        message: None,
        request: job.request.clone(),
        output: None,
        price: job.price,
        quota: Quota::ZERO,
        parent_id: job.parent_id.clone(),
        alias: None,
        hook_url: job.hook_url.clone(),
        hook_times: 0,
        created_ms: job.created_ms,
        started_ms: Some(job.created_ms),
        finished_ms: None,
        deadline_ms: job.deadline_ms,
        updated_ms: job.created_ms,
        revision: 1,
        fence: 1,
        lease_owner: Some(node.to_owned()),
        lease_until_ms: Some(job.created_ms + lease_ms),
        tries: 0,
        attempt_id: None,
        ticket: None,
        worker: None,
        lane: job.lane.clone(),
        follows: job.follows.clone(),
        handed_back: 0,
    }
}

/// Where an inline input of an account is kept.
pub(crate) fn input_key(account_id: &str, hash: &str) -> String {
    format!("in/{account_id}/{hash}")
}

fn operation_names() -> Vec<&'static str> {
    atelier_contract::FAMILIES
        .iter()
        .flat_map(|family| family.submits)
        .map(|submit| submit.name)
        .collect()
}

/// Puts the files of a multipart body where the JSON form of the same call has its base64.
fn place_files(
    fields: &mut Fields,
    files: Vec<(String, Vec<u8>)>,
    submit: &Submit,
) -> Result<(), Refusal> {
    for (name, bytes) in files {
        let name = name.strip_suffix("[]").unwrap_or(&name);
        if !submit.files.contains(&name) {
            return Err(Refusal::invalid(
                name,
                format!("is not a file field; those are {}", submit.files.join(", ")),
            ));
        }
        let encoded = Value::String(base64::engine::general_purpose::STANDARD.encode(bytes));
        match fields.get_mut(name) {
            None => {
                fields.insert(name.to_owned(), Value::Array(vec![encoded]));
            }
            Some(Value::Array(list)) => list.push(encoded),
            Some(_) => {
                return Err(Refusal::invalid(
                    name,
                    "must be given once, as files or as text",
                ));
            }
        }
    }
    Ok(())
}
