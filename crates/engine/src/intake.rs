//! Intake: a call becomes an accepted job. It is parsed, ordered and priced, its addresses are judged and its inputs
//! kept; then it is accepted in one commit.

mod accept;
mod addresses;
mod call;
mod prompts;
mod review;

use std::sync::Arc;

use atelier_contract::body::Fields;
use atelier_contract::family::{Family, Submit};
use atelier_contract::tariff::Price;
use atelier_contract::{AccountId, Code, Quota, Refusal};
use atelier_store::NewJob;
use serde_json::Value;

use crate::floor::{Floor, Lane};
use crate::house::House;
use crate::names::WorkerName;
use crate::office::{Caller, Prices};
use crate::order::{Maker, Ordered, ordered};
use crate::vault::Vault;
use prompts::Prompts;
use review::Review;

pub use call::{Call, Submitted};

const UNKNOWN: &str = "it is not known whether the request was accepted; repeat it with the same Idempotency-Key, or look for it first";

/// Takes calls in.
pub struct Intake {
    house: Arc<House>,
    vault: Arc<Vault>,
    floor: Arc<Floor>,
    prices: Arc<Prices>,
    prompts: Prompts,
    review: Review,
}

impl Intake {
    pub(crate) fn new(
        house: Arc<House>,
        vault: Arc<Vault>,
        floor: Arc<Floor>,
        prices: Arc<Prices>,
    ) -> Self {
        Self {
            house,
            vault,
            floor,
            prices,
            prompts: Prompts::default(),
            review: Review::default(),
        }
    }

    /// Accepts a call or refuses it; after an acceptance the job survives anything.
    pub async fn submit(&self, mut call: Call) -> Result<Submitted, Refusal> {
        call.place_files()?;
        let idempotency = call.idempotency(&self.house);
        // A repeat is answered whatever has become of pool, prices and quota since.
        if let Some(given) = &idempotency
            && let Some(earlier) =
                accept::earlier(&self.house, &call.caller.account_id, given).await?
        {
            return Ok(earlier);
        }
        let (submit, custody) = (call.submit, call.custody);
        let account_id = &call.caller.account_id;
        let (house, family) = (&self.house, call.family);
        self.prompts.check_pause(house, account_id, family)?;
        let request = (submit.parse)(call.fields)?;
        let prompts = &self.prompts;
        prompts.check(house, account_id, family, request.as_ref())?;
        let ordered = ordered(&self.house, &self.vault, account_id, request.as_ref()).await?;
        let price = self.price_of(submit.name, &ordered.order.price, custody)?;
        let (lane, follows) = self.place_of(account_id, custody, &ordered.maker)?;
        addresses::check(&self.house, &self.vault, &ordered.order)?;

        let fields = ordered.order.stored(request.as_ref());
        let model = fields.get("model").and_then(Value::as_str);
        let model = model.map(str::to_owned);
        let endpoint = (call.family, submit);
        let mut job = self.new_job(&call.caller, endpoint, &ordered, (fields, price));
        job.lane = lane;
        job.follows = follows.map(|maker| maker.to_string());
        let (house, floor, vault) = (self.house.clone(), self.floor.clone(), self.vault.clone());
        accept::foresee(&house, &floor, &job, model.as_deref()).await?;
        let brief = ordered.order.brief;
        let reviewed = self.review.check(&house, request.as_ref(), &brief).await;
        if let Err(refusal) = reviewed {
            if refusal.code == Code::BannedPrompt {
                self.prompts.count(&house, &job.account_id, call.family);
            }
            return Err(refusal);
        }
        let owner = call.caller.account_id.clone();
        let accepted = async move {
            let kept = vault.keep_inputs(&owner, &brief).await?;
            let accepted = accept::accept(house, floor, job, model, idempotency).await;
            let unused = match &accepted {
                Ok(submitted) => submitted.replayed,
                // It may have been accepted all the same.
                Err(refusal) => refusal.code != Code::Internal,
            };
            if unused {
                vault.drop_inputs(&kept).await;
            }
            accepted
        };
        // A task of its own: a caller that hangs up now leaves no accepted job behind that nobody works on.
        let accepted = self.house.tasks.spawn(accepted).await;
        accepted.unwrap_or_else(|error| {
            tracing::error!(%error, "an acceptance broke off");
            Err(Refusal::new(Code::Internal, UNKNOWN))
        })
    }

    /// Where a job may run, and whose earlier work it follows. A follow-up stays with whoever made its parent: nobody
    /// else has what it follows.
    fn place_of(
        &self,
        account_id: &AccountId,
        custody: bool,
        maker: &Maker,
    ) -> Result<(String, Option<WorkerName>), Refusal> {
        let floor = &self.floor;
        let follows = match maker {
            Maker::Worker(worker) => Some(worker.clone()),
            Maker::Nobody | Maker::House => None,
        };
        if custody {
            let own = follows
                .as_ref()
                .is_some_and(|worker| floor.owns(account_id, worker));
            if *maker != Maker::Nobody && !own {
                return Err(Refusal::new(
                    Code::ActionNotAvailable,
                    "the earlier job was not made on an account of yours",
                ));
            }
            return Ok((Lane::Own(account_id).text(), follows));
        }
        let lane = match maker {
            Maker::Nobody => Lane::Any.text(),
            Maker::House => Lane::At(floor.unrecorded().unwrap_or_default().backend()).text(),
            Maker::Worker(worker) => Lane::At(worker.backend()).text(),
        };
        Ok((lane, follows))
    }

    fn new_job(
        &self,
        caller: &Caller,
        (family, submit): (&Family, &Submit),
        ordered: &Ordered,
        (fields, price): (Fields, Quota),
    ) -> NewJob {
        let (created_ms, order) = (self.house.now_ms(), &ordered.order);
        let own_limit = submit.timeout_s.map(|limit| limit(&fields));
        let limit_s = order.timeout_s.or(own_limit).unwrap_or(family.timeout_s);
        NewJob {
            id: self.house.ids.job(family.ids).to_string(),
            account_id: caller.account_id.to_string(),
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

    /// What a submit of the same fields would hold, without running it; with `custody`, on the custody host.
    pub async fn quote(
        &self,
        account_id: &AccountId,
        operation: &str,
        fields: Fields,
        custody: bool,
    ) -> Result<Quota, Refusal> {
        let Some((_, submit)) = atelier_contract::operation(operation) else {
            let known = operation_names().join(", ");
            let message = format!("unknown operation; known are {known}");
            return Err(Refusal::invalid("operation", message));
        };
        let request = (submit.parse)(fields)?;
        let ordered = ordered(&self.house, &self.vault, account_id, request.as_ref()).await?;
        self.price_of(submit.name, &ordered.order.price, custody)
    }

    /// What a call costs; on the caller's own worker accounts it has a price of its own.
    fn price_of(&self, operation: &str, price: &Price, custody: bool) -> Result<Quota, Refusal> {
        let tariff = self.prices.tariff();
        let own = custody.then(|| Price::custody(operation));
        tariff
            .total(own.as_ref().unwrap_or(price))
            .map_err(|error| {
                tracing::error!(%error, "an operation has no price");
                let message = "the request has no price; tell the operator";
                Refusal::new(Code::Internal, message)
            })
    }

    /// The banned word a prompt contains, if any.
    pub fn banned_word(&self, family: &str, prompt: &str) -> Option<String> {
        let rules = &self.house.settings.prompt_rules;
        let broken = atelier_contract::broken_rule(prompt, family, rules);
        broken.map(|(_, word)| word.to_owned())
    }
}

fn operation_names() -> Vec<&'static str> {
    atelier_contract::FAMILIES
        .iter()
        .flat_map(|family| family.submits)
        .map(|submit| submit.name)
        .collect()
}
