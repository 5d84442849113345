//! A complete back end: a made-up vendor that draws postcards. `POST /cards` takes a prompt and answers with an id;
//! `GET /cards/ID` says how far it is and, at the end, where the picture is.

use std::time::Duration;

use atelier_backends::backend::{Backend, Later, LostSubmit, Taken};
use atelier_backends::http::{VendorCall, VendorHttp};
use atelier_backends::regard::{Regard, Regarded};
use atelier_backends::{
    Class, Cost, Fault, Made, MadeFile, Post, Progress, Setup, Started, Vendor, Work, Worker, Wrong,
};
use atelier_contract::Role;
use atelier_contract::brief::Brief;
use base64::Engine as _;
use serde_json::{Value, json};

/// The line for `vendors.rs`.
pub(crate) const VENDOR: Vendor = Vendor {
    name: "postcards",
    about: "Postcards: pictures from words",
    needs_credential: true,
    address: "https://api.postcards.example",
    settings: || json!({ "type": "object", "additionalProperties": false }),
    ready: "",
    build: |setup: Setup| -> Result<Worker, Wrong> {
        let key = format!("Bearer {}", setup.credential.reveal());
        let http = setup
            .http
            .with_header(("authorization", "credential"), &key)?;
        Ok(Worker::new(&http.clone(), Postcards { http }))
    },
};

/// A worker account.
struct Postcards {
    http: VendorHttp,
}

/// What a status says about the worker account and the request.
fn refused(status: u16, words: String) -> Fault {
    let class = match status {
        401 | 403 => Class::Dead,
        402 => Class::Quota,
        429 => Class::Rate,
        400 | 422 => Class::BadRequest,
        _ => Class::Retry,
    };
    Fault::vendor(class, words)
}

impl Backend for Postcards {
    fn serves(&self, operation: &str) -> bool {
        operation == "design.generations"
    }
    fn lost_submit(&self) -> LostSubmit {
        LostSubmit::Unknown // it may have been paid for, and nobody can ask
    }
    fn takes_hints(&self) -> bool {
        false
    }
    fn regard(&self, _: &str, brief: &Brief) -> Vec<Regarded> {
        let other_size = brief.width != 0 && (brief.width, brief.height) != (1024, 1024);
        let size = other_size.then(|| Regarded::new("size", Regard::Ignored));
        size.into_iter().collect()
    }
    fn start(&self, work: Work) -> Later<'_, Result<Started, Fault>> {
        Box::pin(async move {
            let call = VendorCall::post_json("cards", &json!({ "prompt": work.brief.prompt }));
            let answer = self.http.submit(call).await?;
            if !answer.is_good() {
                return Err(refused(answer.status, answer.start()));
            }
            // It has taken the work, whatever its answer looks like.
            let id = answer
                .json()
                .ok()
                .and_then(|body| body["id"].as_str().map(str::to_owned));
            let lost = || Fault {
                taken: Taken::Perhaps,
                ..Fault::vendor(Class::Retry, "no id")
            };
            id.map(|id| Started::Ticket(json!(id))).ok_or_else(lost)
        })
    }
    fn poll<'a>(&'a self, _: &'a Work, ticket: &'a Value) -> Later<'a, Result<Progress, Fault>> {
        Box::pin(async move {
            let path = format!("cards/{}", ticket.as_str().unwrap_or_default());
            let body = self.http.ask(VendorCall::get(path)).await?.json()?;
            Ok(match body["state"].as_str() {
                Some("done") => Progress::Done(picture(&body)?),
                Some("failed") => Progress::Failed(Fault::denied("the card could not be drawn")),
                _ => Progress::Running(Duration::from_secs(1)),
            })
        })
    }
    fn cancel<'a>(&'a self, _: &'a Value) -> Later<'a, ()> {
        Box::pin(async {})
    }
    fn look_up<'a>(&'a self, _: &'a Work) -> Later<'a, Result<Option<Started>, Fault>> {
        Box::pin(async { Ok(None) })
    }
    fn probe(&self) -> Later<'_, Result<Option<Cost>, Fault>> {
        Box::pin(async { self.http.ask(VendorCall::get("me")).await.map(|_| None) })
    }
    fn hears<'a>(&'a self, _: &'a Post) -> Later<'a, bool> {
        Box::pin(async { false }) // it posts nothing
    }
}

fn picture(body: &Value) -> Result<Made, Fault> {
    let bytes =
        base64::engine::general_purpose::STANDARD.decode(body["png"].as_str().unwrap_or_default());
    let bytes = bytes
        .map_err(|error| Fault::useless(error.to_string()))?
        .into();
    let (width, height) = (1024, 1024); // this vendor draws one size
    let file = MadeFile {
        role: Role::Main,
        media_type: "image/png",
        width,
        height,
        bytes,
        ..MadeFile::default()
    };
    Ok(Made {
        files: vec![file],
        made: 1,
        ..Made::default()
    })
}
