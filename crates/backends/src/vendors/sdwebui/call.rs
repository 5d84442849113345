//! One call and what happens beside it: how far it is, and the word to stop when nobody wants it any more.

use std::sync::Arc;
use std::time::Duration;

use atelier_contract::FaultKind;
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::time::sleep;

use super::plan::WebUiCall;
use super::server::SdWebUi;
use crate::backend::{Acceptance, Class, Fault, ProgressTracker, Work};
use crate::http::{Base64Extractor, VendorHttp, VendorRequest, VendorResponse, with_share};
use crate::inputs;
use crate::vendor_errors;

/// The base64 of all pictures of one call.
const MOST_BYTES: u64 = 512 * 1024 * 1024;
/// How often the server is asked how far it is.
const PAUSE: Duration = Duration::from_secs(1);
/// How often a task that waits behind others is looked after before it is left to run.
const CANCEL_POLLS: u32 = 120;

/// Where a call stands among all calls of a job.
#[derive(Clone, Copy)]
pub(super) struct CallSpan {
    pub(super) index: usize,
    /// The job's progress in percent when the call begins.
    pub(super) from: usize,
    /// And when it has ended.
    pub(super) to: usize,
}

impl SdWebUi {
    /// The pictures of a stroke.
    pub(super) async fn painted(
        &self,
        work: &Work,
        stroke: WebUiCall,
        seed: u64,
        at: CallSpan,
    ) -> Result<Vec<Bytes>, Fault> {
        if let WebUiCall::Same(picture) = stroke {
            return Ok(vec![inputs::png(picture).await?]);
        }
        let task = format!("task(atelier-{}-{})", work.attempt_id, at.index);
        let Some((path, mut body)) = self.body(work, stroke, seed, &task).await? else {
            return Ok(Vec::new());
        };
        let number = |body: &Value, name: &str| body[name].as_u64().unwrap_or(1) as usize;
        let wanted = number(&body, "batch_size") * number(&body, "n_iter");
        let mut pictures = Vec::new();
        // Servers that know no `n_iter` give one batch and have to be asked again.
        for _ in 0..wanted {
            let call = VendorRequest::post_json(path, &body)
                .within(self.settings.timeout)
                .at_most(MOST_BYTES);
            let watch = watch(&self.http, &task, &work.progress, at);
            let mut cancel_on_drop = CancelOnDrop {
                owner: self,
                task: Some(task.clone()),
            };
            let more = tokio::select! {
                more = self.pictures(call) => more,
                never = watch => never,
            };
            cancel_on_drop.task = None;
            pictures.extend(more?);
            self.check_whole().await?;
            if pictures.len() >= wanted {
                break;
            }
            body["n_iter"] = json!((wanted - pictures.len()).div_ceil(number(&body, "batch_size")));
            body["seed"] = json!(seed + pictures.len() as u64);
        }
        work.progress.set(at.to.min(99) as u8);
        Ok(pictures)
    }

    async fn pictures(&self, call: VendorRequest) -> Result<Vec<Bytes>, Fault> {
        let mut sifter = Base64Extractor::new(&["images", "image"]);
        let mut take = |piece: &[u8]| {
            sifter.take(piece);
            sifter.is_valid()
        };
        let sent = self.http.submit_streamed(call, &mut take).await;
        if let Some(fault) = sifter.fault() {
            return Err(fault);
        }
        let (answer, share) = sent?;
        if !answer.is_good() {
            return Err(refused(&answer));
        }
        let text = sifter.take_text();
        let start = VendorResponse {
            bytes: text.into(),
            ..answer
        };
        let body: Value =
            serde_json::from_slice(&start.bytes).map_err(|_| vendor_errors::unexpected(&start))?;
        let listed = body["images"].as_array().into_iter().flatten();
        let pictures: Vec<Bytes> = listed
            .chain(body.get("image"))
            .filter_map(|at| Some(with_share(Arc::clone(&share), sifter.blob(at.as_u64()?)?)))
            .collect();
        if pictures.is_empty() {
            return Err(vendor_errors::unexpected(&start));
        }
        Ok(pictures)
    }

    /// An interrupted call is answered like a finished one, with pictures that are not done.
    async fn check_whole(&self) -> Result<(), Fault> {
        let call = VendorRequest::get("sdapi/v1/progress?skip_current_image=true");
        let Ok(answer) = self.http.ask(call).await else {
            return Ok(());
        };
        let interrupted = answer.json().is_ok_and(|body| {
            body["state"]["interrupted"] == true && body["state"]["job_count"] == 0
        });
        if answer.is_good() && interrupted {
            return Err(Fault {
                taken: Acceptance::Perhaps,
                ..Fault::vendor(Class::Retry, "someone interrupted the server")
            });
        }
        Ok(())
    }
}

/// What an answer means that refused to paint.
pub(super) fn refused(answer: &VendorResponse) -> Fault {
    let fault = vendor_errors::fault_of_start(answer);
    let body = answer.json().unwrap_or(Value::Null);
    // The route itself is missing: the server runs without its API, or is another one.
    if answer.status == 404 && body["detail"] == "Not Found" {
        return Fault::vendor(Class::Retry, answer.start());
    }
    // What is not there is mostly a sampler or an upscaler of the wish, not the model.
    match fault.class {
        Class::Model if answer.status == 404 => Fault {
            taken: fault.taken,
            detail: fault.detail,
            ..Fault::new(
                Class::Unable,
                FaultKind::BadParameter,
                "the back end cannot work with this request",
            )
        },
        _ => fault,
    }
}

/// Says how far a task is until it is dropped; never ends by itself.
async fn watch(
    http: &VendorHttp,
    task: &str,
    gauge: &ProgressTracker,
    at: CallSpan,
) -> Result<Vec<Bytes>, Fault> {
    loop {
        sleep(PAUSE).await;
        if let Some(state) = state_of(http, task).await {
            let share = state["progress"].as_f64().unwrap_or(0.0).clamp(0.0, 1.0);
            gauge.set((at.from as f64 + share * (at.to - at.from) as f64) as u8);
        }
    }
}

/// What the server says of a task; `None` when it cannot say.
async fn state_of(http: &VendorHttp, task: &str) -> Option<Value> {
    let body = json!({"id_task": task, "id_live_preview": -1, "live_preview": false});
    let own = http
        .ask(VendorRequest::post_json("internal/progress", &body))
        .await
        .ok()?;
    if own.is_good() {
        return own.json().ok();
    }
    let all = VendorRequest::get("sdapi/v1/progress?skip_current_image=true");
    let all = http.ask(all).await.ok().filter(VendorResponse::is_good)?;
    let mut state = all.json().ok()?;
    state["shared"] = json!(true);
    Some(state)
}

/// Stops a task whose caller has gone, once it runs, and no other.
struct CancelOnDrop<'a> {
    owner: &'a SdWebUi,
    task: Option<String>,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        let (Some(task), Ok(handle)) = (self.task.take(), Handle::try_current()) else {
            return;
        };
        let http = self.owner.http.clone();
        let exclusive = self.owner.settings.exclusive;
        let stop = async move { interrupt(&http, &task, exclusive).await };
        self.owner.cleanup_tasks.spawn_on(stop, &handle);
    }
}

async fn interrupt(http: &VendorHttp, task: &str, exclusive: bool) {
    for _ in 0..CANCEL_POLLS {
        let Some(state) = state_of(http, task).await else {
            return;
        };
        // A server that knows no tasks tells only that something runs.
        let runs = match state["shared"] == true {
            true if !exclusive => return,
            true => state["state"]["job_count"].as_u64().unwrap_or(0) > 0,
            false => state["active"] == true,
        };
        if runs {
            let call = VendorRequest::post_json("sdapi/v1/interrupt", &json!({}));
            if let Err(fault) = http.ask(call).await {
                tracing::info!(detail = %fault.detail, "a cancelled task could not be interrupted");
            }
            return;
        }
        if state["queued"] != true {
            return;
        }
        sleep(PAUSE).await;
    }
}
