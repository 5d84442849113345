//! A complete back end: a made-up vendor that draws postcards. `POST /cards` takes a prompt and answers with an id;
//! `GET /cards/ID` says how far it is and, at the end, where the picture is.

use std::sync::Arc;
use std::time::Duration;

use atelier_backends::backend::{Backend, BoxFuture, LostSubmit};
use atelier_backends::http::{VendorHttp, VendorRequest};
use atelier_backends::support::FieldSupport;
use atelier_backends::{
    Cost, Fault, PollOutcome, Setup, StartOutcome, Vendor, WebhookRequest, Work, WorkOutput, Worker,
};
use atelier_contract::brief::Brief;
use atelier_fairness::reservation::Reservation;
use serde_json::{Value, json};

/// The line for `vendors.rs`.
pub(crate) const VENDOR: Vendor = Vendor {
    name: "postcards",
    about: "Postcards: pictures from words",
    needs_credential: true,
    address: "https://api.postcards.example",
    settings: || json!({ "type": "object", "additionalProperties": false }),
    ready: "",
    build: |setup: Setup| {
        let http = setup.http.with_bearer(setup.credential.reveal())?;
        Ok(Worker::new(&http.clone(), Postcards { http }))
    },
};

/// A worker account.
struct Postcards {
    http: VendorHttp,
}

impl Backend for Postcards {
    fn serves(&self, operation: &str) -> bool {
        operation == "design.generations"
    }
    fn lost_submit(&self) -> LostSubmit {
        LostSubmit::Unknown // it may have been paid for, and nobody can ask
    }
    fn submit_limit(&self, _: &Work) -> Duration {
        Duration::ZERO // how long a vendor that can be asked is not believed that it never had a job
    }
    fn takes_hints(&self) -> bool {
        false
    }
    fn support(&self, _: &str, _: &Brief) -> Vec<FieldSupport> {
        Vec::new() // nothing of note: any size is cut from what it draws
    }
    fn reserve(&self, _: &Arc<str>, _: &Brief, _: bool) -> Option<Reservation> {
        None // the vendor says when it begins
    }
    fn start(&self, work: Work) -> BoxFuture<'_, Result<StartOutcome, Fault>> {
        Box::pin(async move {
            let call = VendorRequest::post_json("cards", &json!({ "prompt": work.brief.prompt }));
            self.http.submit(call).await?.ticket("id")
        })
    }
    fn poll<'a>(
        &'a self,
        work: &'a Work,
        ticket: &'a Value,
    ) -> BoxFuture<'a, Result<PollOutcome, Fault>> {
        Box::pin(async move {
            let path = format!("cards/{}", ticket.as_str().unwrap_or_default());
            let body = self.http.ask(VendorRequest::get(path)).await?.document()?;
            let picture = body["url"].as_str().unwrap_or_default();
            Ok(match body["state"].as_str() {
                Some("done") => {
                    PollOutcome::Done(WorkOutput::fetched(&self.http, work, &[picture]).await?)
                }
                Some("failed") => PollOutcome::Failed(Fault::denied("the card could not be drawn")),
                _ => PollOutcome::Running(Duration::from_secs(1)),
            })
        })
    }
    fn cancel<'a>(&'a self, _: &'a Value) -> BoxFuture<'a, ()> {
        Box::pin(async {}) // a card that is begun is drawn
    }
    fn look_up<'a>(
        &'a self,
        _: &'a Work,
        _: bool,
    ) -> BoxFuture<'a, Result<Option<StartOutcome>, Fault>> {
        Box::pin(async { Ok(None) })
    }
    fn probe(&self) -> BoxFuture<'_, Result<Option<Cost>, Fault>> {
        Box::pin(async {
            let answer = self.http.ask(VendorRequest::get("me")).await?;
            answer.document().map(|_| None) // it does not tell what is left
        })
    }
    fn verify_webhook<'a>(&'a self, _: &'a WebhookRequest) -> BoxFuture<'a, bool> {
        Box::pin(async { false }) // it posts nothing
    }
}
