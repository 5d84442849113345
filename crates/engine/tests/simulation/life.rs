//! The lives of a simulated process: it starts on what the one before left, works until it is cut off, told to stop, or has
//! nothing left to do. Cutting off is dropping its runtime: whatever was under way never goes on.

use std::cell::Cell;
use std::path::Path;
use std::sync::{Arc, LazyLock, Once};
use std::time::Duration;

use atelier_backends::guard::Policy;
use atelier_backends::http::{Limits, OutboundClient, Resolver};
use atelier_contract::pages::keys::{KeyLimit, KeyTerms};
use atelier_contract::pages::workers::WorkerPatch;
use atelier_contract::{LimitWindow, Quota, Refusal, Tariff};
use atelier_engine::records::{AccountPatch, Key};
use atelier_engine::{
    Caller, Clock, Engine, KeyHolder, KeyRequest, Keyring, NewAccountRequest, Parts, Settings,
};
use atelier_store::files::Files;
use atelier_store::{Options, Store};
use serde_json::json;
use tokio::time::sleep;
use tokio_util::task::TaskTracker;

use crate::checks;
use crate::clients;
use crate::credits::{self, Gift, SharedCode};
use crate::defaults::defaults;
use crate::machine;
use crate::payments::{self, Purchase};
use crate::receiver;
use crate::vendor::{LOST, VENDORS, WORLD};
use crate::world::{RunSummary, Shared, lock};

/// Lives that may be cut off; the last one comes to rest.
const SHORT_LIVES: u64 = 4;
/// Whoever has not come to rest by then never will.
const END_MS: i64 = 3_600_000;
/// What each account is given.
pub(crate) const GRANT: i64 = 60;

/// Read once: the certificate authorities of the machine take a while.
static OUTBOUND: LazyLock<OutboundClient> = LazyLock::new(|| {
    let policy = Policy::from_settings(&[], None, true, &[], &[]).expect("a policy");
    OutboundClient::new(policy, Limits::default()).expect("a client")
});

thread_local! {
    static PANICS: Cell<u32> = const { Cell::new(0) };
}

/// How a life ends.
enum End {
    CutOff,
    Stopped,
    AtRest,
}

/// Counts panics of this thread: loops that catch them must not hide them from the simulation.
fn count_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |what| {
            PANICS.set(PANICS.get() + 1);
            usual(what);
        }));
    });
    PANICS.set(0);
}

/// Lives until everything has come to its end.
pub(crate) fn tell(world: &Shared, folder: &Path) -> Result<RunSummary, String> {
    count_panics();
    WORLD.set(Some(Arc::clone(world)));
    loop {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            // The end of a life is looked for after every single step of a task.
            .event_interval(1)
            .build()
            .map_err(|error| error.to_string())?;
        let end = runtime.block_on(live(world, folder));
        drop(runtime);
        if PANICS.get() > 0 {
            return Err("something panicked".into());
        }
        match end? {
            End::AtRest => break,
            End::Stopped => {}
            End::CutOff => lock(world).told.crashes += 1,
        }
    }
    WORLD.set(None);
    let world = lock(world);
    world
        .wrong
        .first()
        .map_or_else(|| Ok(world.told.clone()), |wrong| Err(wrong.clone()))
}

async fn live(world: &Shared, folder: &Path) -> Result<End, String> {
    let (polls, stop_after) = {
        let mut world = lock(world);
        let short = world.told.lives < SHORT_LIVES && world.percent() < 85;
        let crash_after = short.then(|| world.dice.u64(2..70));
        let stop_after = (short && world.percent() < 20).then(|| world.dice.u64(1_000..60_000));
        let polls = world.dice.u32(0..60);
        world.begin_life(crash_after);
        (polls, stop_after)
    };
    let tasks = TaskTracker::new();
    let url = format!("sqlite:{}", folder.join("atelier.db").display());
    let options = Options {
        in_place: true,
        ..Options::default()
    };
    let store = Store::open(&url, options).await;
    let store = store.map_err(|error| format!("opening: {error}"))?;
    let clock = machine::clock(world, &store).await?;
    let files = Files::folder_in_place(folder.join("files")).map_err(|error| error.to_string())?;
    let engine = build_engine(world, &store, &files, &clock, &tasks)?;
    if lock(world).callers.is_empty() {
        set_up(world, &engine).await?;
    }
    let running = engine.run().await.map_err(|error| error.to_string())?;
    outside(world, &engine, &store, &tasks);
    let crash = lock(world).crash.clone();
    let stop = async {
        match stop_after {
            Some(after_ms) => sleep(Duration::from_millis(after_ms)).await,
            None => std::future::pending().await,
        }
    };
    let end = tokio::select! {
        biased;
        () = crash.notified() => {
            for _ in 0..polls {
                tokio::task::yield_now().await;
            }
            End::CutOff
        }
        () = stop => {
            running.stop(Duration::from_secs(10)).await;
            End::Stopped
        }
        rest = at_rest(world, &engine) => {
            rest?;
            running.drain(Duration::from_secs(1), Duration::from_secs(1)).await;
            checks::all(world, &engine, &store, &files, folder).await?;
            running.close().await;
            End::AtRest
        }
    };
    end_life(world);
    Ok(end)
}

/// Everybody who does something to the service, and the clock that is set.
fn outside(world: &Shared, engine: &Arc<Engine>, store: &Store, tasks: &TaskTracker) {
    let count = lock(world).wishes.len();
    for number in 0..count {
        if !lock(world).wishes[number].done {
            tasks.spawn(clients::pursue(Arc::clone(world), engine.clone(), number));
        }
    }
    tasks.spawn(clients::look(Arc::clone(world), engine.clone()));
    tasks.spawn(clients::reprice(Arc::clone(world), engine.clone()));
    tasks.spawn(credits::give(Arc::clone(world), engine.clone()));
    tasks.spawn(credits::plan(
        Arc::clone(world),
        engine.clone(),
        store.clone(),
    ));
    tasks.spawn(payments::buy(
        Arc::clone(world),
        engine.clone(),
        store.clone(),
    ));
    for number in 0..2 {
        tasks.spawn(credits::redeem(Arc::clone(world), engine.clone(), number));
    }
    tasks.spawn(clients::time(Arc::clone(world), engine.clone()));
    tasks.spawn(machine::turn_clock(Arc::clone(world)));
}

fn end_life(world: &Shared) {
    let mut world = lock(world);
    let (now_ms, away_ms) = (world.now_ms(), world.dice.i64(0..40_000));
    world.end_life(now_ms, away_ms);
    if !world.is_calm() {
        world.lie_idle(now_ms);
    }
    world.told.virtual_s = (now_ms / 1000) as u64;
}

fn build_engine(
    world: &Shared,
    store: &Store,
    files: &Files,
    clock: &Clock,
    tasks: &TaskTracker,
) -> Result<Arc<Engine>, String> {
    let resolver = Resolver::simulated(receiver::dial(world, tasks));
    let outbound = OUTBOUND.clone().with_resolver(resolver);
    let (ids, life) = {
        let world = lock(world);
        (world.ids.clone(), world.told.lives)
    };
    Ok(Engine::new(Parts {
        store: store.clone(),
        export_files: files.clone(),
        files: files.clone(),
        workers: Vec::new(),
        vendors: VENDORS,
        outbound: outbound.map_err(|error| error.to_string())?,
        tariff: Tariff::parse(include_str!("../../../../config/tariff.toml")).expect("prices"),
        settings: settings(),
        clock: clock.clone(),
        ids,
        keyring: Keyring::new([7; 32]),
        node: format!("life-{life}"),
    }))
}

/// Fewer looks and tries than usual, so that a life has fewer steps.
fn settings() -> Settings {
    let mut settings = defaults();
    settings.callbacks.schedule_s = vec![5, 20, 60];
    settings.jobs.idle_ms = 2_000;
    settings.jobs.sweep_ms = 2_000;
    settings.jobs.progress_ms = 3_000;
    settings
}

/// Two callers, one of them in a group, and two back ends with two worker accounts each.
async fn set_up(world: &Shared, engine: &Arc<Engine>) -> Result<(), String> {
    let say = |refusal: atelier_contract::Refusal| refusal.message;
    let group = json!({ "name": clients::GROUP, "rules": [{ "match": "*", "factor": 0.75 }] });
    let group = group.as_object().cloned().unwrap_or_default();
    let made = engine.admin().groups().create("root", group).await;
    made.map_err(say)?;
    for number in 0..2 {
        let request = NewAccountRequest {
            email: format!("caller-{number}@example.com"),
            balance: Quota::from_thousandths(GRANT * 1000),
            max_queue: Some(8),
            email_verified: true,
        };
        let admin = engine.admin();
        let accounts = admin.accounts();
        let (account, key) = accounts.create("root", request).await.map_err(say)?;
        if number == 0 {
            let patch = AccountPatch {
                group: Some(Some(clients::GROUP.to_owned())),
                ..AccountPatch::default()
            };
            let joined = accounts.change("root", &account.id, patch).await;
            joined.map_err(say)?;
        }
        let caller = admin.callers().authenticate(&key).await.map_err(say)?;
        let caller = limited(world, engine, caller).await.map_err(say)?;
        lock(world).callers.push(caller);
    }
    credits::set_up(world, engine).await.map_err(say)?;
    payments::set_up(engine).await.map_err(say)?;
    let lost = lock(world).books.lost;
    for (rank, lost) in lost.into_iter().enumerate() {
        let change = json!({
            "vendor": "dice",
            "name": format!("back end {rank}"),
            "base_url": "http://127.0.0.1:9",
            "settings": { "lost": LOST[lost] },
            "rank": rank + 1,
        });
        let backends = engine.admin().backends();
        let made = backends.create("root", change.into()).await.map_err(say)?;
        for worker in ["a", "b"] {
            let name = format!("{worker}{rank}");
            let said = json!({ "name": name, "credential": name, "concurrency": 2 });
            let fields = said.as_object().cloned().unwrap_or_default();
            let patch = WorkerPatch::read(fields).expect("what can be said");
            let made = backends.create_worker("root", &made.id, patch).await;
            made.map_err(say)?;
        }
    }
    Ok(())
}

/// A caller whose key may spend so much in windows, with a key below it half the time: what is beyond is refused, and the audit
/// adds up what is not.
async fn limited(world: &Shared, engine: &Engine, caller: Caller) -> Result<Caller, Refusal> {
    let (day, total, below) = {
        let mut world = lock(world);
        let dice = &mut world.dice;
        (dice.i64(4..80), dice.i64(20..200), dice.bool())
    };
    let limit = |window, most: i64| KeyLimit {
        window,
        quota: Quota::from_thousandths(most * 1000),
    };
    let terms = KeyTerms {
        limits: vec![
            limit(LimitWindow::Day, day),
            limit(LimitWindow::Total, total),
        ],
        max_queue: Some(6),
        ..KeyTerms::default()
    };
    let edit = |key: &Key| {
        Ok(KeyRequest {
            terms: terms.clone(),
            ..KeyRequest::named(&key.name)
        })
    };
    let (keys, by) = (engine.admin().keys(), KeyHolder::Operator("root"));
    let (account_id, key_id) = (&caller.account_id, &caller.key_id);
    keys.change(account_id, key_id, &edit, by, || Ok::<_, Refusal>(()))
        .await?;
    if !below {
        return Ok(caller);
    }
    let may = || Ok::<(), Refusal>(());
    let wish = KeyRequest::named("below");
    let (_, secret) = keys.issue_own(&caller, wish, may).await?;
    engine.admin().callers().authenticate(&secret).await
}

/// Waits until every wish is answered, every job has ended and every callback is through.
async fn at_rest(world: &Shared, engine: &Engine) -> Result<(), String> {
    loop {
        sleep(Duration::from_secs(5)).await;
        let (done, callers, now_ms) = {
            let world = lock(world);
            let done = world.wishes.iter().all(|wish| wish.done);
            let done = done && world.gifts.iter().all(Gift::is_done);
            let done = done && world.codes.iter().all(SharedCode::is_done);
            let done = done && world.purchases.iter().all(Purchase::is_done);
            (done, world.callers.clone(), world.now_ms())
        };
        if now_ms > END_MS {
            return Err("it never came to rest".into());
        }
        let mut rests = done;
        for caller in callers.iter().filter(|_| done) {
            rests &= checks::rests(engine, caller).await?;
        }
        if rests {
            return Ok(());
        }
    }
}
