//! A vendor that keeps books of what it took, and does whatever the dice say. Taking a job that it still has, or may have,
//! would be paid for twice: it accuses whoever asks for that.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use atelier_backends::backend::{
    Acceptance, Backend, BoxFuture, Cost, LostSubmit, PollOutcome, StartOutcome, Work,
};
use atelier_backends::support::FieldSupport;
use atelier_backends::{
    Class, Fault, FieldError, OutputFile, Setup, Vendor, WebhookRequest, WorkOutput, Worker,
};
use atelier_contract::FileRole;
use atelier_contract::brief::Brief;
use atelier_fairness::reservation::Reservation;
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::world::{Shared, lock};

/// The one vendor of the simulation.
pub(crate) const VENDORS: &[Vendor] = &[Vendor {
    name: "dice",
    about: "A vendor for simulations.",
    needs_credential: true,
    address: "",
    settings: || json!({}),
    ready: "",
    build,
}];

/// An order is on its way for 100 seconds at most, and taken within another 60.
const SUBMIT_LIMIT: Duration = Duration::from_secs(160);

thread_local! {
    /// The world of this thread's seed: a vendor is built by a plain function.
    pub(crate) static WORLD: RefCell<Option<Shared>> = const { RefCell::new(None) };
}

/// What a lost submit means at the first and at the second back end.
pub(crate) const LOST: [&str; 3] = ["repeat", "look_up", "unknown"];

/// What the vendor knows.
pub(crate) struct Books {
    /// Which of [`LOST`] holds at each back end.
    pub(crate) lost: [usize; 2],
    takes: Vec<Take>,
    tokens: BTreeMap<String, usize>,
    polls: BTreeMap<usize, u32>,
}

struct Take {
    job: String,
    lost: LostSubmit,
    /// Until the vendor has said that it failed.
    open: bool,
}

impl Books {
    pub(crate) fn new(dice: &mut fastrand::Rng) -> Self {
        Self {
            lost: [dice.usize(0..3), dice.usize(0..3)],
            takes: Vec::new(),
            tokens: BTreeMap::new(),
            polls: BTreeMap::new(),
        }
    }
}

#[derive(Clone)]
struct Actor {
    world: Shared,
    name: String,
    lost: LostSubmit,
}

fn build(setup: Setup) -> Result<Worker, FieldError> {
    let Setup {
        http,
        credential,
        settings,
    } = setup;
    let world = WORLD.with_borrow(Clone::clone);
    let world = world.ok_or_else(|| FieldError::new("settings", "no world"))?;
    let actor = Actor {
        world,
        name: credential.reveal().to_owned(),
        lost: match settings["lost"].as_str() {
            Some("repeat") => LostSubmit::Repeat,
            Some("look_up") => LostSubmit::LookUp,
            _ => LostSubmit::Unknown,
        },
    };
    Ok(Worker::new(&http, actor))
}

fn made(count: u32) -> WorkOutput {
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

fn cut() -> Fault {
    Fault {
        taken: Acceptance::Perhaps,
        ..Fault::vendor(Class::Retry, "the connection was cut")
    }
}

impl Actor {
    fn note(&self, what: &str) {
        lock(&self.world).note(&format!("{} {what}", self.name));
    }

    /// How much has been taken by now.
    fn taken(&self) -> usize {
        lock(&self.world).books.takes.len()
    }

    /// Takes a job that was asked for when so much had been taken; its number. What may be repeated may also be left behind: an
    /// order of that kind that is taken late costs nothing beside what was ordered elsewhere since.
    fn take(&self, work: &Work, asked: usize) -> usize {
        let mut world = lock(&self.world);
        let job = work.job_id.as_str();
        let takes = &world.books.takes;
        let before = match self.lost {
            LostSubmit::Repeat => &takes[..asked],
            LostSubmit::LookUp | LostSubmit::Unknown => &takes[..],
        };
        let twice = before
            .iter()
            .any(|one| one.job == job && one.open && one.lost != LostSubmit::Repeat);
        if twice {
            world.accuse(format!("{} takes {job} a second time", self.name));
        }
        world.books.takes.push(Take {
            job: job.to_owned(),
            lost: self.lost,
            open: true,
        });
        let number = world.books.takes.len() - 1;
        world.books.tokens.insert(work.attempt_id.clone(), number);
        world.note(&format!("{} takes {job}", self.name));
        number
    }

    /// Whoever stands before the vendor has given up, and the vendor takes the job all the same, after a while.
    #[expect(
        clippy::disallowed_methods,
        reason = "a vendor is no part of the service"
    )]
    fn take_later(&self, work: &Work, asked: usize) {
        let (own, work) = (self.clone(), work.clone());
        let pause = lock(&self.world).dice.u64(0..60_000);
        tokio::spawn(async move {
            sleep(Duration::from_millis(pause)).await;
            own.take(&work, asked);
        });
    }

    /// How long an answer is on its way: usually moments, sometimes for too long.
    async fn on_its_way(&self) {
        let pause = {
            let mut world = lock(&self.world);
            match world.percent() {
                _ if world.is_calm() => 200,
                0..=79 => world.dice.u64(0..3_000),
                80..=94 => world.dice.u64(3_000..20_000),
                _ => world.dice.u64(20_000..100_000),
            }
        };
        sleep(Duration::from_millis(pause)).await;
    }

    async fn begin(&self, work: &Work) -> Result<StartOutcome, Fault> {
        self.note(&format!("asked for {}", work.job_id));
        let asked = self.taken();
        self.on_its_way().await;
        let said = {
            let mut world = lock(&self.world);
            if world.is_calm() { 40 } else { world.percent() }
        };
        let fault = |class| Err(Fault::vendor(class, "say the dice"));
        match said {
            0..=7 => return fault(Class::Retry),
            8..=10 => {
                return Err(Fault {
                    after: Some(Duration::from_secs(20)),
                    ..Fault::vendor(Class::Rate, "429")
                });
            }
            11 => return fault(Class::Dead),
            12..=14 => return Err(Fault::denied("not this")),
            15..=17 => return Err(cut()),
            18..=19 => {
                self.take_later(work, asked);
                return Err(cut());
            }
            20..=26 => {
                self.take(work, asked);
                return Err(cut());
            }
            27..=29 => std::future::pending::<()>().await,
            30..=32 => {
                self.take(work, asked);
                std::future::pending::<()>().await;
            }
            33..=45 => {
                self.take(work, asked);
                self.on_its_way().await;
                return Ok(StartOutcome::Done(made(work.brief.count)));
            }
            _ => {}
        }
        let number = self.take(work, asked);
        self.on_its_way().await;
        Ok(StartOutcome::Ticket(json!({ "number": number })))
    }

    async fn answer(&self, work: &Work, ticket: &Value) -> Result<PollOutcome, Fault> {
        let number = ticket["number"].as_u64().unwrap_or_default() as usize;
        self.note(&format!("asked about {}", work.job_id));
        self.on_its_way().await;
        let mut world = lock(&self.world);
        let polls = world.books.polls.entry(number).or_default();
        *polls += 1;
        let said = if *polls > 6 || world.is_calm() {
            99
        } else {
            world.percent()
        };
        let mut failed = |fault: Fault| {
            world.books.takes[number].open = false;
            Ok(PollOutcome::Failed(fault))
        };
        match said {
            0..=49 => {
                let pause = world.dice.u64(500..6_000);
                Ok(PollOutcome::Running(Duration::from_millis(pause)))
            }
            50..=59 => Err(Fault::vendor(Class::Retry, "502")),
            60..=62 => failed(Fault::vendor(Class::Retry, "it broke")),
            63..=64 => failed(Fault::denied("not this after all")),
            65..=66 => failed(Fault::vendor(Class::Gone, "never heard of it")),
            _ => Ok(PollOutcome::Done(made(work.brief.count))),
        }
    }
}

impl Backend for Actor {
    fn serves(&self, operation: &str) -> bool {
        operation.starts_with("artgen.")
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
    fn support(&self, _: &str, _: &Brief) -> Vec<FieldSupport> {
        Vec::new()
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
        Box::pin(async move { self.note(&format!("asked to stop {ticket}")) })
    }
    fn look_up<'a>(
        &'a self,
        work: &'a Work,
        _: bool,
    ) -> BoxFuture<'a, Result<Option<StartOutcome>, Fault>> {
        Box::pin(async move {
            self.note(&format!("asked whether it has {}", work.job_id));
            self.on_its_way().await;
            let mut world = lock(&self.world);
            if !world.is_calm() && world.percent() < 15 {
                return Err(Fault::vendor(Class::Retry, "502"));
            }
            let number = world.books.tokens.get(&work.attempt_id);
            Ok(number.map(|number| StartOutcome::Ticket(json!({ "number": number }))))
        })
    }
    fn probe(&self) -> BoxFuture<'_, Result<Option<Cost>, Fault>> {
        Box::pin(async { Ok(None) })
    }

    /// Nothing is signed here; the address of the hook is the proof.
    fn verify_webhook<'a>(&'a self, _: &'a WebhookRequest) -> BoxFuture<'a, bool> {
        Box::pin(async { true })
    }
}
