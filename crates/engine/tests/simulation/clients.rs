//! What callers want: jobs, with and without keys, told of or not, cancelled or not. They keep notes of what they were
//! answered, and ask again with the same key when no answer came.

use std::sync::Arc;
use std::time::Duration;

use atelier_contract::{Code, FaultKind, JobId, Refusal};
use atelier_engine::{Call, Caller, Engine};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::receiver::HOOK;
use crate::world::{Shared, lock};

/// The group of the first account.
pub(crate) const GROUP: &str = "vip";

/// One call and its notes.
#[derive(Clone)]
pub(crate) struct Wish {
    at_ms: i64,
    pub(crate) account: usize,
    pub(crate) key: Option<String>,
    body: Value,
    /// How long after its answer it is cancelled.
    cancel_after_ms: Option<u64>,
    /// Whether the same call goes out twice at once.
    twice: bool,
    /// Whether a call went out.
    pub(crate) sent: bool,
    /// When the first call went out, and when it was answered with a job.
    asked_ms: Option<i64>,
    answered_ms: Option<i64>,
    /// When its job was seen to have ended.
    ended_ms: Option<i64>,
    /// Whether nothing more is to be done about it.
    pub(crate) done: bool,
    /// The jobs it was answered with: all the same.
    pub(crate) jobs: Vec<JobId>,
    /// The first final body that was fetched.
    pub(crate) fetched: Option<String>,
}

impl Wish {
    /// What all callers will want.
    pub(crate) fn all(dice: &mut fastrand::Rng) -> Vec<Self> {
        let count = dice.usize(6..22);
        let wishes = (0..count).map(|number| {
            let hooked = dice.u32(0..100) < 60;
            let keyed = dice.u32(0..100) < 75;
            let mut body = json!({
                "prompt": format!("picture {number}"),
                "timeout": 300 + dice.i64(0..3) * 60,
            });
            if hooked {
                body["hookUrl"] = HOOK.into();
            }
            Self {
                at_ms: dice.i64(0..150_000),
                account: dice.usize(0..2),
                key: keyed.then(|| format!("key-{number}")),
                body,
                cancel_after_ms: (dice.u32(0..100) < 15).then(|| dice.u64(0..30_000)),
                twice: keyed && dice.u32(0..100) < 30,
                sent: false,
                asked_ms: None,
                answered_ms: None,
                ended_ms: None,
                done: false,
                jobs: Vec::new(),
                fetched: None,
            }
        });
        wishes.collect()
    }
}

fn call(caller: Caller, wish: &Wish) -> Call {
    let (family, submit) = atelier_contract::operation("artgen.imagine").expect("in the table");
    Call {
        notes: atelier_contract::body::Fields::new(),
        caller,
        family,
        submit,
        fields: wish.body.as_object().expect("an object").clone(),
        files: Vec::new(),
        idempotency_key: wish.key.clone(),
        custody: false,
        begun: tokio::time::Instant::now(),
    }
}

/// Goes after one wish until it is answered.
pub(crate) async fn pursue(world: Shared, engine: Arc<Engine>, number: usize) {
    let (wish, now_ms, caller) = {
        let world = lock(&world);
        let wish = world.wishes[number].clone();
        let caller = world.callers[wish.account].clone();
        (wish, world.now_ms(), caller)
    };
    let early_ms = (wish.at_ms - now_ms).max(0);
    sleep(Duration::from_millis(early_ms as u64)).await;
    if wish.sent && wish.key.is_none() {
        // What became of it cannot be known, and asking again could be a second job.
        lock(&world).wishes[number].done = true;
        return;
    }
    loop {
        {
            let mut world = lock(&world);
            let now_ms = world.now_ms();
            let wish = &mut world.wishes[number];
            wish.sent = true;
            wish.asked_ms.get_or_insert(now_ms);
        }
        let answers = if wish.twice {
            let both = (
                engine.intake().submit(call(caller.clone(), &wish)),
                engine.intake().submit(call(caller.clone(), &wish)),
            );
            let (one, other) = tokio::join!(both.0, both.1);
            vec![one, other]
        } else {
            vec![engine.intake().submit(call(caller.clone(), &wish)).await]
        };
        let answers = answers.into_iter().map(|one| one.map(|one| one.job_id));
        if note(&world, number, answers.collect()) {
            break;
        }
        sleep(Duration::from_secs(1)).await;
    }
    let job = lock(&world).wishes[number].jobs.first().cloned();
    if let (Some(after_ms), Some(job)) = (wish.cancel_after_ms, job) {
        sleep(Duration::from_millis(after_ms)).await;
        let answer = engine.jobs().cancel(&caller.account_id, &job).await;
        let said = answer.map_or_else(|refusal| format!("{:?}", refusal.code), |_| "done".into());
        lock(&world).note(&format!("cancel {job}: {said}"));
    }
    lock(&world).wishes[number].done = true;
}

/// Notes what was answered; whether that is an end.
fn note(world: &Shared, number: usize, answers: Vec<Result<JobId, Refusal>>) -> bool {
    let mut world = lock(world);
    let mut ended = true;
    for answer in answers {
        match answer {
            Ok(job) => {
                world.note(&format!("wish {number} is {job}"));
                if world.wishes[number].jobs.iter().any(|one| *one != job) {
                    world.accuse(format!("wish {number} became two jobs"));
                }
                let now_ms = world.now_ms();
                let wish = &mut world.wishes[number];
                wish.jobs.push(job);
                wish.answered_ms.get_or_insert(now_ms);
            }
            Err(refusal) => {
                world.note(&format!("wish {number}: {:?}", refusal.code));
                let again = [Code::Overloaded, Code::Internal, Code::Conflict];
                ended &= !again.contains(&refusal.code) || world.wishes[number].key.is_none();
            }
        }
    }
    ended || !world.wishes[number].jobs.is_empty()
}

/// How often it is looked whether jobs end in their time.
const TIMED: Duration = Duration::from_secs(1);
/// How much later than its limit a job may end; and as much is a fresh process given to look around.
const LATE_MS: i64 = 5_000;

/// Looks whether jobs end in their time, by the world's: not before it for want of it, and not after it.
pub(crate) async fn time(world: Shared, engine: Arc<Engine>) {
    let began_ms = lock(&world).now_ms();
    loop {
        sleep(TIMED).await;
        let open: Vec<usize> = {
            let world = lock(&world);
            let wishes = world.wishes.iter().enumerate();
            let open = wishes.filter(|(_, wish)| !wish.jobs.is_empty() && wish.ended_ms.is_none());
            open.map(|(number, _)| number).collect()
        };
        for number in open {
            let (account, job) = {
                let world = lock(&world);
                let wish = &world.wishes[number];
                let account = world.callers[wish.account].account_id.clone();
                (account, wish.jobs[0].clone())
            };
            let Ok(job) = engine.jobs().job(&account, &job).await else {
                continue;
            };
            let mut world = lock(&world);
            let (now_ms, wish) = (world.now_ms(), world.wishes[number].clone());
            let limit_ms = wish.body["timeout"].as_i64().expect("a limit") * 1_000;
            let (asked_ms, answered_ms) =
                (wish.asked_ms.unwrap_or(0), wish.answered_ms.unwrap_or(0));
            if job.state.is_final() {
                world.wishes[number].ended_ms = Some(now_ms);
                if job.fault == Some(FaultKind::TimedOut) && now_ms < asked_ms + limit_ms {
                    let early_ms = asked_ms + limit_ms - now_ms;
                    world.accuse(format!("{} timed out {early_ms} ms early", job.id));
                }
            } else if now_ms > (answered_ms + limit_ms).max(began_ms) + LATE_MS {
                world.wishes[number].ended_ms = Some(now_ms);
                world.accuse(format!("{} has not ended in its time", job.id));
            }
        }
    }
}

/// Looks at the jobs of all wishes now and then: what was final stays as it was.
pub(crate) async fn look(world: Shared, engine: Arc<Engine>) {
    loop {
        sleep(Duration::from_secs(7)).await;
        fetch_all(&world, &engine).await;
    }
}

/// The operator changes the prices of a group now and then.
pub(crate) async fn reprice(world: Shared, engine: Arc<Engine>) {
    loop {
        let (pause_ms, factor) = {
            let mut world = lock(&world);
            (world.dice.u64(5_000..60_000), world.dice.u32(1..1_000))
        };
        sleep(Duration::from_millis(pause_ms)).await;
        if lock(&world).is_calm() {
            return;
        }
        let rule = json!({ "match": "artgen", "factor": f64::from(factor) / 1_000.0 });
        let change = json!({ "rules": [rule] });
        let change = change.as_object().expect("an object").clone();
        let groups = engine.admin().groups();
        let changed = groups.change("root", GROUP, change).await;
        let said = changed.map_or_else(|refusal| format!("{:?}", refusal.code), |_| "done".into());
        lock(&world).note(&format!("reprice x{factor}: {said}"));
    }
}

pub(crate) async fn fetch_all(world: &Shared, engine: &Engine) {
    let (family, _) = atelier_contract::operation("artgen.imagine").expect("in the table");
    let count = lock(world).wishes.len();
    for number in 0..count {
        let (account, job) = {
            let world = lock(world);
            let wish = &world.wishes[number];
            let account = world.callers[wish.account].account_id.clone();
            (account, wish.jobs.first().cloned())
        };
        let Some(job) = job else {
            continue;
        };
        let Ok(row) = engine.jobs().job(&account, &job).await else {
            lock(world).accuse(format!("{job} was accepted and is not there"));
            continue;
        };
        if !row.state.is_final() {
            if lock(world).wishes[number].fetched.is_some() {
                lock(world).accuse(format!("{job} was final and is not"));
            }
            continue;
        }
        let Ok(body) = engine.jobs().fetch_body(&account, family, &job).await else {
            continue;
        };
        let body = String::from_utf8_lossy(&body).into_owned();
        let mut world = lock(world);
        match world.wishes[number].fetched.clone() {
            None => world.wishes[number].fetched = Some(body),
            Some(before) if before != body => {
                world.accuse(format!("{job} was {before} and is {body}"));
            }
            Some(_) => {}
        }
    }
}
