//! What must be so when everything has come to rest.

use std::path::Path;

use atelier_contract::{Job, JobState};
use atelier_engine::audit::{CheckOptions, audit};
use atelier_engine::records::{Delivery, JobFilter};
use atelier_engine::{Caller, Engine};
use atelier_store::Store;
use atelier_store::files::Files;

use crate::clients;
use crate::credits;
use crate::life::GRANT;
use crate::payments;
use crate::people;
use crate::world::{Shared, lock};

/// More than any caller has.
const ALL: i64 = 1_000;

async fn jobs(engine: &Engine, caller: &Caller) -> Result<Vec<Job>, String> {
    let filter = JobFilter::page(1, ALL);
    let listed = engine.jobs().list(Some(&caller.account_id), filter).await;
    listed.map(|page| page.rows).map_err(|no| no.message)
}

async fn callbacks(engine: &Engine, caller: &Caller) -> Result<Vec<Delivery>, String> {
    let callbacks = engine.callbacks();
    let listed = callbacks.callbacks(Some(&caller.account_id), 1, ALL).await;
    listed
        .map(|(callbacks, _)| callbacks)
        .map_err(|no| no.message)
}

/// Whether nothing of a caller is under way any more.
pub(crate) async fn rests(engine: &Engine, caller: &Caller) -> Result<bool, String> {
    let ended = jobs(engine, caller)
        .await?
        .iter()
        .all(|job| job.state.is_final());
    let told = callbacks(engine, caller).await?;
    Ok(ended
        && told
            .iter()
            .all(|one| one.state != "due" && one.state != "sending"))
}

/// Asks everything.
pub(crate) async fn all(
    world: &Shared,
    engine: &Engine,
    store: &Store,
    files: &Files,
    folder: &Path,
) -> Result<(), String> {
    clients::fetch_all(world, engine).await;
    let mut faults = Vec::new();
    let look = CheckOptions::new(engine.now_ms(), engine.steady_ms(), false);
    let archive = folder.join("archive");
    let mut found = |fault| faults.push(format!("{fault:?}"));
    let audited = audit(store, files, &archive, look, &mut found);
    audited.await.map_err(|error| error.to_string())?;
    if let Some(fault) = faults.first() {
        return Err(format!("the audit finds {fault}"));
    }
    payments::check(world, engine).await?;
    let callers = lock(world).callers.clone();
    for (number, caller) in callers.iter().enumerate() {
        account(world, engine, number, caller).await?;
    }
    people::check(world, engine).await
}

/// The jobs of an account are those its caller knows of, its quota is what it was given less what succeeded, and whoever
/// was to be told was.
async fn account(
    world: &Shared,
    engine: &Engine,
    number: usize,
    caller: &Caller,
) -> Result<(), String> {
    let (jobs, told) = (
        jobs(engine, caller).await?,
        callbacks(engine, caller).await?,
    );
    let view = engine.admin().accounts().one(&caller.account_id).await;
    let view = view.map_err(|no| no.message)?;
    let spent: i64 = jobs.iter().map(|job| job.quota.thousandths()).sum();
    let given = credits::given(world, engine, number, caller).await?;
    let mut world = lock(world);
    let left = GRANT * 1000 + given - spent;
    if (view.balance.thousandths(), view.frozen.thousandths()) != (left, 0) {
        let (balance, frozen) = (view.balance, view.frozen);
        world.accuse(format!(
            "account {number} has {balance} and {frozen} held after {spent} spent"
        ));
    }
    for job in &jobs {
        let failed = job.state == JobState::Failed;
        if failed != (job.quota.thousandths() == 0) {
            world.accuse(format!("{} is {:?} for {}", job.id, job.state, job.quota));
        }
        let lines = job.price_lines.iter();
        let said: f64 = lines
            .map(|line| line.amount.thousandths() as f64 * line.count * line.factor)
            .sum();
        let is_ruled = job.price_lines.iter().any(|line| line.rule.is_some());
        // A number for people has a last digit of its own.
        let is_held = (said - 1e-6).ceil() as i64 == job.price.thousandths();
        if is_ruled != (number == 0) || (is_ruled && !is_held) {
            let (price, lines) = (job.price, &job.price_lines);
            world.accuse(format!("{} holds {price} for {lines:?}", job.id));
        }
        let id = format!("cb_{}", job.id);
        let times = world
            .received
            .bodies
            .get(&id)
            .map_or(0, |(_, count)| *count);
        let row = told.iter().find(|one| one.id == id);
        let status = row.map(|one| one.state.as_str());
        let right = match (&job.hook_url, status) {
            (None, None) => times == 0,
            (Some(_), Some("delivered")) => times > 0,
            (Some(_), Some("stopped" | "exhausted")) => true,
            _ => false,
        };
        if !right {
            world.accuse(format!("{id} is {status:?} and came {times} times"));
        }
        let line = format!("{} {:?} {} {status:?}", job.id, job.state, job.quota);
        world.note(&line);
    }
    let (mut known, mut lost) = (Vec::new(), 0);
    for wish in world.wishes.iter().filter(|wish| wish.account == number) {
        match wish.jobs.first() {
            Some(job) => known.push(job.clone()),
            None if wish.sent && wish.key.is_none() => lost += 1,
            None => {}
        }
    }
    if jobs.len() < known.len() || jobs.len() > known.len() + lost {
        let (has, knows) = (jobs.len(), known.len());
        world.accuse(format!("account {number} has {has} jobs and knows {knows}"));
    }
    world.told.jobs += jobs.len() as u64;
    let succeeded = jobs.iter().filter(|job| job.state == JobState::Succeeded);
    world.told.succeeded += succeeded.count() as u64;
    Ok(())
}
