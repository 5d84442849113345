//! A back end that does what the prompt says, and writes down what it was asked.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use atelier_backends::backend::{
    Backend, BoxFuture, Cost, LostSubmit, PollOutcome, StartOutcome, Work,
};
use atelier_backends::support::FieldSupport;
use atelier_backends::{Class, Fault, OutputFile, WebhookRequest, WorkOutput};
use atelier_contract::FileRole;
use atelier_contract::brief::Brief;
use atelier_fairness::reservation::Reservation;
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::Notify;

/// Acts on words in the prompt: `fail`, `flaky`, `hang`, `held`, `ticket`, `grid`; anything else succeeds at once.
pub(crate) struct Scripted {
    /// How many jobs it takes at once.
    pub(crate) slots: usize,
    lost: LostSubmit,
    /// Prompts in the order they were started.
    pub(crate) started: Mutex<Vec<String>>,
    /// The input pictures and videos it was given.
    pub(crate) sources: Mutex<Vec<Bytes>>,
    polls: AtomicUsize,
    /// Lets one that is held go on.
    pub(crate) release: Notify,
}

impl Scripted {
    pub(crate) fn new(slots: usize, lost: LostSubmit) -> Self {
        Self {
            slots,
            lost,
            started: Mutex::default(),
            sources: Mutex::default(),
            polls: AtomicUsize::new(0),
            release: Notify::new(),
        }
    }

    pub(crate) fn starts(&self) -> Vec<String> {
        self.started
            .lock()
            .expect("no panic under the lock")
            .clone()
    }
}

/// A picture of one pixel is a picture.
const PIXEL: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0";

fn made(count: u32) -> WorkOutput {
    let file = OutputFile {
        role: FileRole::Main,
        media_type: "image/png",
        width: 1,
        height: 1,
        bytes: Bytes::from_static(PIXEL),
        ..OutputFile::default()
    };
    WorkOutput {
        files: vec![file],
        made: count,
        ..WorkOutput::default()
    }
}

/// A picture and its four small ones.
fn grid() -> WorkOutput {
    let mut made = made(1);
    let small = OutputFile {
        role: FileRole::Small,
        ..made.files[0].clone()
    };
    made.files.extend(vec![small; 4]);
    made
}

impl Backend for Scripted {
    fn serves(&self, _: &str) -> bool {
        true
    }
    fn lost_submit(&self) -> LostSubmit {
        self.lost
    }
    fn submit_limit(&self, _: &Work) -> Duration {
        Duration::ZERO
    }
    fn takes_hints(&self) -> bool {
        false
    }
    fn support(&self, _: &str, _: &Brief) -> Vec<FieldSupport> {
        Vec::new()
    }

    fn reserve(&self, _: &Arc<str>, _: &Brief, _: bool) -> Option<Reservation> {
        Some(Reservation::default())
    }

    fn start(&self, work: Work) -> BoxFuture<'_, Result<StartOutcome, Fault>> {
        Box::pin(async move {
            let prompt = work.brief.prompt.clone();
            let times = {
                let mut started = self.started.lock().expect("no panic under the lock");
                started.push(prompt.clone());
                started.iter().filter(|earlier| **earlier == prompt).count()
            };
            self.sources
                .lock()
                .expect("no panic under the lock")
                .extend(
                    work.sources
                        .iter()
                        .chain(&work.video)
                        .chain(&work.mask)
                        .cloned(),
                );
            work.progress.set(40);
            match prompt.split(' ').next() {
                Some("fail") => Err(Fault::denied("not this")),
                Some("flaky") if times < 3 => Err(Fault::vendor(Class::Retry, "try again")),
                Some("hang") => {
                    work.cancelled.cancelled().await;
                    Err(Fault::ours("cancelled"))
                }
                Some("held") => {
                    self.release.notified().await;
                    Ok(StartOutcome::Done(made(work.brief.count)))
                }
                Some("grid") => Ok(StartOutcome::Done(grid())),
                Some("ticket") => Ok(StartOutcome::Ticket(json!({ "n": 1 }))),
                _ => Ok(StartOutcome::Done(made(work.brief.count))),
            }
        })
    }
    fn poll<'a>(
        &'a self,
        work: &'a Work,
        _: &'a Value,
    ) -> BoxFuture<'a, Result<PollOutcome, Fault>> {
        Box::pin(async move {
            if work.brief.prompt.contains("for ever")
                || self.polls.fetch_add(1, Ordering::SeqCst) < 2
            {
                return Ok(PollOutcome::Running(Duration::from_millis(5)));
            }
            Ok(PollOutcome::Done(made(work.brief.count)))
        })
    }
    fn look_up<'a>(
        &'a self,
        _: &'a Work,
        _: bool,
    ) -> BoxFuture<'a, Result<Option<StartOutcome>, Fault>> {
        Box::pin(async { Ok(None) })
    }

    fn probe(&self) -> BoxFuture<'_, Result<Option<Cost>, Fault>> {
        Box::pin(async { Ok(None) })
    }

    /// Nothing is signed here; the address of the hook is the proof.
    fn verify_webhook<'a>(&'a self, _: &'a WebhookRequest) -> BoxFuture<'a, bool> {
        Box::pin(async { true })
    }

    fn cancel<'a>(&'a self, _: &'a Value) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }
}
