//! A vendor on a stage: it keeps its own books of what it was asked, and fails in whatever way the prompt says. It is
//! set up like any vendor, through stored back ends and worker accounts.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use atelier_backends::backend::{
    Acceptance, Backend, BoxFuture, Cost, LostSubmit, NextPass, PollOutcome, StartOutcome, Work,
};
use atelier_backends::support::{FieldSupport, SupportLevel};
use atelier_backends::{
    Class, Fault, FieldError, OutputFile, Setup, Vendor, WebhookRequest, WorkOutput, Worker,
};
use atelier_contract::brief::Brief;
use atelier_contract::{FaultKind, FileRole};
use atelier_fairness::reservation::Reservation;
use bytes::Bytes;
use serde_json::{Value, json};

/// The vendor that plays what a story tells it.
const STAGE: Vendor = Vendor {
    name: "stage",
    about: "A vendor for stories.",
    needs_credential: true,
    address: "",
    settings: || json!({}),
    ready: "",
    build,
};

/// How long a submit may be on its way.
pub(crate) const SUBMIT_LIMIT: Duration = Duration::from_secs(20);

/// The vendors of these stories: the stage, and all that the program knows.
pub(crate) fn vendors() -> &'static [Vendor] {
    static ALL: LazyLock<Vec<Vendor>> = LazyLock::new(|| {
        let real = atelier_backends::VENDORS.iter().copied();
        std::iter::once(STAGE).chain(real).collect()
    });
    &ALL
}

static STAGES: LazyLock<Mutex<HashMap<String, Arc<Stage>>>> = LazyLock::new(Mutex::default);

/// What the vendor has seen. A task is one submit it took; being asked about the same token twice is two tasks.
#[derive(Default)]
pub(crate) struct Books {
    /// Worker and prompt of every submit that was taken.
    pub(crate) taken: Vec<(String, String)>,
    /// Worker and prompt of every submit that arrived, taken or not.
    pub(crate) arrived: Vec<(String, String)>,
    /// Tickets that were asked to stop.
    pub(crate) cancelled: Vec<Value>,
    /// What the model of each submit it took is called here, where a route says so.
    pub(crate) models: Vec<Option<String>>,
    /// Where the vendor may post about each submit it took.
    pub(crate) hooks: Vec<Option<String>>,
    /// Questions asked.
    pub(crate) polls: usize,
    /// Worker and time of every question about a timed task.
    pub(crate) asked_at: Vec<(String, i64)>,
    /// Whether it is away: whatever it is asked to begin fails.
    pub(crate) away: bool,
    /// When timed tasks begin to run; until then they wait.
    pub(crate) release_ms: Option<i64>,
    tokens: HashMap<String, u64>,
    asked: HashMap<u64, usize>,
}

/// The vendor.
#[derive(Default)]
pub(crate) struct Stage {
    books: Mutex<Books>,
}

impl Stage {
    /// Puts a vendor up under a name of its own.
    pub(crate) fn named(name: &str) -> Arc<Self> {
        let stage = Arc::new(Self::default());
        let mut stages = STAGES.lock().unwrap_or_else(PoisonError::into_inner);
        stages.insert(name.to_owned(), stage.clone());
        stage
    }

    /// Takes a vendor down: from now on no worker account can be set up there.
    pub(crate) fn close(name: &str) {
        let mut stages = STAGES.lock().unwrap_or_else(PoisonError::into_inner);
        stages.remove(name);
    }

    pub(crate) fn books(&self) -> std::sync::MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How often a prompt was taken.
    pub(crate) fn taken(&self, prompt: &str) -> usize {
        let books = self.books();
        books.taken.iter().filter(|(_, one)| one == prompt).count()
    }

    fn take(&self, worker: &str, work: &Work) -> u64 {
        let mut books = self.books();
        let prompt = work.brief.prompt.clone();
        books.taken.push((worker.to_owned(), prompt));
        books.models.push(work.brief.vendor_model.clone());
        books.hooks.push(work.hook_url.clone());
        let number = books.taken.len() as u64;
        books.tokens.insert(work.attempt_id.clone(), number);
        number
    }
}

/// A worker account at the vendor: its credential is its name, and `lost` in the settings says what a lost submit means.
struct Actor {
    stage: Arc<Stage>,
    name: String,
    lost: LostSubmit,
}

fn build(setup: Setup) -> Result<Worker, FieldError> {
    let Setup {
        http,
        credential,
        settings,
    } = setup;
    let name = settings["stage"].as_str().unwrap_or_default();
    let stages = STAGES.lock().unwrap_or_else(PoisonError::into_inner);
    let stage = stages.get(name);
    let stage = stage.ok_or_else(|| FieldError::new("settings.stage", "no such stage"))?;
    let actor = Actor {
        stage: stage.clone(),
        name: credential.reveal().to_owned(),
        lost: match settings["lost"].as_str() {
            Some("repeat") => LostSubmit::Repeat,
            Some("look_up") => LostSubmit::LookUp,
            _ => LostSubmit::Unknown,
        },
    };
    Ok(Worker::new(&http, actor))
}

pub(crate) fn made(count: u32) -> WorkOutput {
    let file = OutputFile {
        role: FileRole::Main,
        media_type: "image/png",
        width: 1,
        height: 1,
        bytes: Bytes::from_static(b"\x89PNG\r\n\x1a\n"),
        ..OutputFile::default()
    };
    WorkOutput {
        files: vec![file],
        made: count,
        ..WorkOutput::default()
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "timed tasks run on the machine's own time"
)]
pub(crate) fn now_ms() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as i64)
}

/// How long a timed task runs: the second word of its prompt.
pub(crate) fn after_ms(prompt: &str) -> i64 {
    let word = prompt.split(' ').nth(1).unwrap_or_default();
    word.parse().unwrap_or_default()
}

/// A rest that lasts longer than any job here, however slow the machine is: stories look at it afterwards.
const LONG: Duration = Duration::from_mins(5);

fn throttled(rest: Duration) -> Fault {
    Fault {
        after: Some(rest),
        ..Fault::vendor(Class::Rate, "429")
    }
}

fn cut(taken: Acceptance) -> Fault {
    Fault {
        taken,
        ..Fault::vendor(Class::Retry, "the connection was cut")
    }
}

impl Actor {
    /// What a start does; the first word of the prompt is the script.
    async fn begin(&self, work: &Work) -> Result<StartOutcome, Fault> {
        let prompt = work.brief.prompt.clone();
        let (times, away) = {
            let mut books = self.stage.books();
            books.arrived.push((self.name.clone(), prompt.clone()));
            let times = books.arrived.iter().filter(|one| one.1 == prompt);
            (times.count(), books.away)
        };
        let first = times == 1;
        let fault = |class| Err(Fault::vendor(class, "says the script"));
        if away {
            return fault(Class::Retry);
        }
        match prompt.split(' ').next().unwrap_or_default() {
            "slow" => tokio::time::sleep(Duration::from_millis(60)).await,
            "hang" => std::future::pending::<()>().await,
            "down" => return fault(Class::Retry),
            "down-at-one" if self.name == "one" => return fault(Class::Retry),
            "down-once" | "html" if first => return fault(Class::Retry),
            "throttled" if self.name == "one" => return Err(throttled(LONG)),
            "throttled-briefly" => return Err(throttled(Duration::from_secs(40))),
            "broke" if self.name == "one" => return fault(Class::Quota),
            "banned" if self.name == "one" => return fault(Class::Dead),
            "refused" => return Err(Fault::denied("not this")),
            "unable" | "too-much" if self.name.starts_with("poor") => {
                let why = format!("{} cannot", self.name);
                return Err(Fault::new(Class::Unable, FaultKind::BadParameter, why));
            }
            "unknown-model" if self.name.starts_with("poor") => {
                return Err(Fault::unknown_model("404 no such model"));
            }
            "paid-refused" => {
                return Err(
                    Fault::vendor(Class::Retry, "says the script").paid(Cost::of(0.2, "USD"))
                );
            }
            "paid-cut" => {
                self.stage.take(&self.name, work);
                return Err(cut(Acceptance::Perhaps).paid(Cost::of(0.2, "USD")));
            }
            "nonsense" => return Err(Fault::unusable("no such size")),
            "cut-before" if first => return Err(cut(Acceptance::No)),
            "cut-unsent" if first => return Err(cut(Acceptance::Perhaps)),
            "cut-after" if first => {
                self.stage.take(&self.name, work);
                return Err(cut(Acceptance::Perhaps));
            }
            "garbage" => {
                self.stage.take(&self.name, work);
                return Err(Fault {
                    taken: Acceptance::Perhaps,
                    ..Fault::vendor(Class::Retry, "not JSON")
                });
            }
            "at-once" => {
                self.stage.take(&self.name, work);
                return Ok(StartOutcome::Done(made(work.brief.count)));
            }
            _ => {}
        }
        let number = self.stage.take(&self.name, work);
        Ok(StartOutcome::Ticket(json!({ "task": number })))
    }

    /// Work in three parts, each of which costs a tenth of a dollar.
    fn part(&self, work: &Work, ticket: &Value) -> PollOutcome {
        let done = ticket["done"].as_u64().unwrap_or_default() + 1;
        let cost = Cost::of(done as f64 / 10.0, "USD");
        if ticket["out"] == true {
            return PollOutcome::Failed(Fault {
                cost,
                ..cut(Acceptance::Perhaps)
            });
        }
        if done == 3 {
            return PollOutcome::Done(WorkOutput {
                cost,
                ..made(work.brief.count)
            });
        }
        let (stage, name, work) = (self.stage.clone(), self.name.clone(), work.clone());
        let intent = json!({ "done": done - 1, "out": true });
        let order = Box::pin(async move {
            let prompt = work.brief.prompt.clone();
            let paid = |fault| Fault { cost, ..fault };
            let times = {
                let mut books = stage.books();
                books.arrived.push((name.clone(), prompt.clone()));
                books.arrived.iter().filter(|one| one.1 == prompt).count()
            };
            match prompt.split(' ').next().unwrap_or_default() {
                "parts-busy" if times == 2 => return Err(paid(throttled(LONG))),
                "parts-denied" if times == 3 => return Err(paid(Fault::denied("not this"))),
                "parts-cut" if times == 3 => {
                    stage.take(&name, &work);
                    return Err(paid(cut(Acceptance::Perhaps)));
                }
                "parts-slow" => tokio::time::sleep(Duration::from_millis(60)).await,
                _ => {}
            }
            let number = stage.take(&name, &work);
            Ok(json!({ "task": number, "done": done }))
        });
        PollOutcome::Step(NextPass { intent, order })
    }

    /// What a question is answered with, and how often it has been asked before.
    async fn answer(&self, work: &Work, ticket: &Value) -> Result<PollOutcome, Fault> {
        assert!(
            work.sources.is_empty() && work.mask.is_none() && work.video.is_none(),
            "no inputs are kept while a job is at the vendor"
        );
        let number = ticket["task"].as_u64().unwrap_or_default();
        let times = {
            let mut books = self.stage.books();
            books.polls += 1;
            let asked = books.asked.entry(number).or_default();
            *asked += 1;
            *asked
        };
        let done = Ok(PollOutcome::Done(made(work.brief.count)));
        let running = Ok(PollOutcome::Running(Duration::from_millis(100)));
        let failed = |class| Ok(PollOutcome::Failed(Fault::vendor(class, "says the script")));
        let prompt = &work.brief.prompt;
        if prompt.starts_with("timed ") {
            let mut books = self.stage.books();
            books.asked_at.push((self.name.clone(), now_ms()));
            let ready_ms = books.release_ms.map(|release| release + after_ms(prompt));
            return if ready_ms.is_some_and(|ready| now_ms() >= ready) {
                done
            } else {
                running
            };
        }
        if prompt.starts_with("parts") {
            return Ok(self.part(work, ticket));
        }
        match prompt.split(' ').next().unwrap_or_default() {
            "poll-down" if times <= 4 => Err(Fault::vendor(Class::Retry, "502")),
            "poll-hang" => std::future::pending().await,
            "poll-throttled" if times <= 2 => Err(throttled(LONG)),
            "poll-huge" => Err(Fault::vendor(Class::Retry, "TooLarge")),
            "limbo-paid" if self.stage.books().cancelled.contains(ticket) => {
                let fault = Fault::vendor(Class::Gone, "cancelled there");
                Ok(PollOutcome::Failed(fault.paid(Cost::of(0.3, "USD"))))
            }
            "limbo" | "limbo-paid" => running,
            "patient" if times == 1 => Ok(PollOutcome::Running(Duration::from_mins(2))),
            "wrong-id" | "gone" => failed(Class::Gone),
            "late-refusal" => Ok(PollOutcome::Failed(Fault::denied("not this"))),
            "fails-once" if self.stage.taken(prompt) == 1 => failed(Class::Retry),
            "unable-later" if self.name.starts_with("poor") => failed(Class::Unable),
            "fails" => failed(Class::Retry),
            "fewer" => Ok(PollOutcome::Done(made(work.brief.count / 2))),
            _ if times == 1 => running,
            "costly" => Ok(PollOutcome::Done(WorkOutput {
                cost: Cost::of(after_ms(prompt) as f64 / 100.0, "USD"),
                ..made(work.brief.count)
            })),
            _ => done,
        }
    }
}

impl Backend for Actor {
    fn serves(&self, operation: &str) -> bool {
        operation.starts_with("artgen.") || operation.starts_with("vidgen_partner.")
    }
    fn lost_submit(&self) -> LostSubmit {
        self.lost
    }
    fn submit_limit(&self, _: &Work) -> Duration {
        SUBMIT_LIMIT
    }
    fn takes_hints(&self) -> bool {
        false
    }
    fn support(&self, _: &str, brief: &Brief) -> Vec<FieldSupport> {
        let mut all = vec![FieldSupport::new("seed", SupportLevel::Ignored)];
        if brief.prompt.starts_with("too-much") && self.name.starts_with("poor") {
            let why = format!("{} cannot", self.name);
            let support = SupportLevel::Refused;
            all.push(FieldSupport {
                why,
                ..FieldSupport::new("prompt", support)
            });
        }
        all
    }

    fn reserve(&self, _: &Arc<str>, _: &Brief, _: bool) -> Option<Reservation> {
        None
    }

    fn start(&self, work: Work) -> BoxFuture<'_, Result<StartOutcome, Fault>> {
        Box::pin(async move { self.begin(&work).await })
    }
    fn poll<'a>(
        &'a self,
        work: &'a Work,
        ticket: &'a Value,
    ) -> BoxFuture<'a, Result<PollOutcome, Fault>> {
        Box::pin(self.answer(work, ticket))
    }
    fn cancel<'a>(&'a self, ticket: &'a Value) -> BoxFuture<'a, ()> {
        Box::pin(async move { self.stage.books().cancelled.push(ticket.clone()) })
    }
    fn look_up<'a>(
        &'a self,
        work: &'a Work,
        _: bool,
    ) -> BoxFuture<'a, Result<Option<StartOutcome>, Fault>> {
        Box::pin(async move {
            let books = self.stage.books();
            assert_eq!(
                work.sources.len(),
                work.brief.sources.len(),
                "with its inputs"
            );
            let number = books.tokens.get(&work.attempt_id);
            if number.is_some() && work.brief.prompt.contains("at once after all") {
                return Ok(Some(StartOutcome::Done(made(work.brief.count))));
            }
            Ok(number.map(|number| StartOutcome::Ticket(json!({ "task": number }))))
        })
    }
    fn probe(&self) -> BoxFuture<'_, Result<Option<Cost>, Fault>> {
        Box::pin(async move {
            match self.name.as_str() {
                "broken" => Err(Fault::vendor(Class::Dead, "401")),
                "rich" => Ok(Cost::of(12.5, "USD")),
                _ => Ok(None),
            }
        })
    }

    /// Nothing is signed here; the address of the hook is the proof.
    fn verify_webhook<'a>(&'a self, _: &'a WebhookRequest) -> BoxFuture<'a, bool> {
        Box::pin(async { true })
    }
}
