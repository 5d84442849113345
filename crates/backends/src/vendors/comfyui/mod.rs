//! ComfyUI: workflows that the operator has written, filled in for each piece of work, queued under an identifier of
//! our own, and asked about until their files are there. A lost submit is looked up by that identifier.

mod inputs;
mod outputs;
mod queue;
mod settings;
mod template;

use serde_json::{Value, json};

use crate::answers;
use crate::backend::{Backend, Class, Fault, Later, LostSubmit, Progress, Started, Work};
use crate::http::{VendorCall, VendorHttp};
use crate::vendor::{Setup, Vendor};
use crate::worker::Worker;
use settings::Settings;

/// The vendor.
pub(super) const VENDOR: Vendor = Vendor {
    name: "comfyui",
    about: "ComfyUI with workflows of your own, run by yourself",
    needs_credential: false,
    build,
};

/// One server.
struct ComfyUi {
    http: VendorHttp,
    settings: Settings,
}

fn build(setup: Setup) -> Result<Worker, String> {
    let settings = Settings::read(setup.settings)?;
    let mut http = setup.http;
    if !setup.credential.is_empty() {
        let bearer = format!("Bearer {}", setup.credential.reveal());
        http = http.with_header("authorization", &bearer)?;
    }
    Ok(Worker::new(&http.clone(), ComfyUi { http, settings }))
}

impl ComfyUi {
    async fn begin(&self, work: &Work) -> Result<Started, Fault> {
        let values = self.values(work).await?;
        let mut sent = Vec::new();
        for (index, values) in values.into_iter().enumerate() {
            match self.queued(work, index, &values).await {
                Ok(id) => sent.push(id),
                Err(fault) => {
                    // A part of the work is worth nothing: what was queued before is taken back.
                    self.stop(&sent).await;
                    return Err(fault);
                }
            }
        }
        Ok(Started::Ticket(json!({"prompts": sent})))
    }

    /// Takes prompts out of the queue, and interrupts those that run, but nobody else's.
    async fn stop(&self, ids: &[String]) {
        for id in ids {
            let calls = [
                VendorCall::post_json("queue", &json!({"delete": [id]})),
                VendorCall::post_json("interrupt", &json!({"prompt_id": id})),
            ];
            for call in calls {
                if let Err(fault) = self.http.ask(call).await {
                    tracing::info!(detail = %fault.detail, "an unwanted prompt was not stopped");
                }
            }
        }
    }

    /// Looks for every prompt of an attempt; all of them are there, or what is there is of no use.
    async fn found(&self, work: &Work) -> Result<Option<Value>, Fault> {
        let count = self.settings.prompts(work)?;
        let ids: Vec<String> = (0..count)
            .map(|index| queue::id(&work.attempt_id, index))
            .collect();
        let mut known = Vec::new();
        for id in &ids {
            if !matches!(self.state(id).await?, queue::State::Unknown) {
                known.push(id.clone());
            }
        }
        if known.len() == ids.len() {
            return Ok(Some(json!({"prompts": ids})));
        }
        self.stop(&known).await;
        Ok(None)
    }

    async fn look(&self) -> Result<(), Fault> {
        let answer = self.http.ask(VendorCall::get("system_stats")).await?;
        if !answer.is_good() {
            return Err(answers::fault_of(&answer));
        }
        match answer.json()?.get("system") {
            Some(_) => Ok(()),
            None => Err(Fault::vendor(Class::Retry, answer.start())),
        }
    }
}

/// The prompts of a ticket.
fn prompts(ticket: &Value) -> Vec<String> {
    let ids = ticket["prompts"].as_array().into_iter().flatten();
    ids.filter_map(|id| id.as_str().map(str::to_owned))
        .collect()
}

impl Backend for ComfyUi {
    fn serves(&self, operation: &str) -> bool {
        self.settings.serves(operation)
    }

    fn lost_submit(&self) -> LostSubmit {
        LostSubmit::LookUp
    }

    fn takes_hints(&self) -> bool {
        false
    }

    fn start(&self, work: Work) -> Later<'_, Result<Started, Fault>> {
        Box::pin(async move { self.begin(&work).await })
    }

    fn poll<'a>(&'a self, work: &'a Work, ticket: &'a Value) -> Later<'a, Result<Progress, Fault>> {
        Box::pin(async move { self.polled(work, &prompts(ticket)).await })
    }

    fn cancel<'a>(&'a self, ticket: &'a Value) -> Later<'a, ()> {
        Box::pin(async move { self.stop(&prompts(ticket)).await })
    }

    fn look_up<'a>(&'a self, work: &'a Work) -> Later<'a, Result<Option<Started>, Fault>> {
        Box::pin(async move { Ok(self.found(work).await?.map(Started::Ticket)) })
    }

    fn probe(&self) -> Later<'_, Result<(), Fault>> {
        Box::pin(self.look())
    }
}
