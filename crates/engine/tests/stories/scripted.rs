//! A back end that does what the prompt says, and writes down what it was asked.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use atelier_backends::backend::{Backend, Cost, Later, LostSubmit, Progress, Started, Work};
use atelier_backends::regard::Regarded;
use atelier_backends::reserved::Reserved;
use atelier_backends::{Class, Fault, Made, MadeFile, Post};
use atelier_contract::Role;
use atelier_contract::brief::Brief;
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

fn made(count: u32) -> Made {
    let file = MadeFile {
        role: Role::Main,
        media_type: "image/png",
        width: 1,
        height: 1,
        bytes: Bytes::from_static(PIXEL),
        ..MadeFile::default()
    };
    Made {
        files: vec![file],
        made: count,
        ..Made::default()
    }
}

/// A picture and its four small ones.
fn grid() -> Made {
    let mut made = made(1);
    let small = MadeFile {
        role: Role::Small,
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
    fn regard(&self, _: &str, _: &Brief) -> Vec<Regarded> {
        Vec::new()
    }

    fn reserve(&self, _: &Arc<str>, _: &Brief, _: bool) -> Option<Reserved> {
        Some(Reserved::default())
    }

    fn start(&self, work: Work) -> Later<'_, Result<Started, Fault>> {
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
                    Ok(Started::Done(made(work.brief.count)))
                }
                Some("grid") => Ok(Started::Done(grid())),
                Some("ticket") => Ok(Started::Ticket(json!({ "n": 1 }))),
                _ => Ok(Started::Done(made(work.brief.count))),
            }
        })
    }
    fn poll<'a>(&'a self, work: &'a Work, _: &'a Value) -> Later<'a, Result<Progress, Fault>> {
        Box::pin(async move {
            if work.brief.prompt.contains("for ever")
                || self.polls.fetch_add(1, Ordering::SeqCst) < 2
            {
                return Ok(Progress::Running(Duration::from_millis(5)));
            }
            Ok(Progress::Done(made(work.brief.count)))
        })
    }
    fn look_up<'a>(&'a self, _: &'a Work, _: bool) -> Later<'a, Result<Option<Started>, Fault>> {
        Box::pin(async { Ok(None) })
    }

    fn probe(&self) -> Later<'_, Result<Option<Cost>, Fault>> {
        Box::pin(async { Ok(None) })
    }

    /// Nothing is signed here; the address of the hook is the proof.
    fn hears<'a>(&'a self, _: &'a Post) -> Later<'a, bool> {
        Box::pin(async { true })
    }

    fn cancel<'a>(&'a self, _: &'a Value) -> Later<'a, ()> {
        Box::pin(async {})
    }
}
