//! The loops: which part steps when. Each repeats one step, sleeps until a hint or a while, and stops when told. A step
//! that panics has failed; its loop goes on.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::auditor;
use crate::engine::Engine;
use crate::hint::Hint;
use crate::settings::Settings;

/// Prices and models are looked at this often without a hint, so that no node charges an old one for longer than a second.
const PRICES_LOOK_MS: u64 = 500;
/// The wall clock is looked at this often.
const CLOCK_LOOK_MS: u64 = 1_000;
/// Plans that are due and quota that ended while nobody asked for it are looked for this often.
const CREDITS_LOOK_MS: u64 = 5_000;
/// Payments that expire, refunds and subscriptions that a provider has yet to answer are looked for this often.
const PAYMENTS_LOOK_MS: u64 = 5_000;
/// What routes leave is looked at this often.
const MARGINS_LOOK_MS: u64 = 30_000;
/// Spans are sent this often.
const SPANS_PAUSE_MS: u64 = 1_000;
/// Each loop begins this long after the one before it: it finds the connection of that one free again, where all of them at
/// once would open as many as the store may have, half a megabyte each.
const START_STAGGER: Duration = Duration::from_millis(10);
/// After an error a loop waits this long at least, so that a store that is away is not hammered.
const AFTER_ERROR: Duration = Duration::from_millis(500);
/// How often a stop looks whether the last paid call has ended.
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// How long a stop waits for the store to take leases back.
const HAND_BACK_TIMEOUT: Duration = Duration::from_secs(5);

/// What a loop does after a step.
enum NextStep {
    /// The next step, because more may be waiting.
    AtOnce,
    /// A pause of the usual length.
    Pause,
    /// A pause of this many milliseconds.
    PauseMs(i64),
}

impl NextStep {
    fn more(more: bool) -> Self {
        if more { Self::AtOnce } else { Self::Pause }
    }
}

type StepFuture = Pin<Box<dyn Future<Output = Result<NextStep, atelier_store::Error>> + Send>>;

/// A loop: its name, its usual pause in milliseconds, what wakes it, and its step.
struct Loop {
    name: &'static str,
    pause_ms: fn(&Settings) -> u64,
    hint: Option<fn(&Engine) -> &Notify>,
    step: fn(Arc<Engine>) -> StepFuture,
}

/// Which part steps when.
static LOOPS: &[Loop] = &[
    Loop {
        name: "runner",
        pause_ms: |settings| settings.jobs.idle_ms,
        hint: Some(|engine| &engine.context().wakes().work),
        step: |engine| {
            Box::pin(async move { Ok(NextStep::more(engine.runner().run_step().await? > 0)) })
        },
    },
    Loop {
        name: "polling",
        pause_ms: |settings| settings.jobs.idle_ms,
        hint: Some(|engine| engine.runner().polling_hint()),
        step: |engine| {
            Box::pin(async move { Ok(NextStep::PauseMs(engine.runner().poll_step().1)) })
        },
    },
    Loop {
        name: "callbacks",
        pause_ms: |settings| settings.jobs.idle_ms,
        hint: Some(|engine| &engine.context().wakes().callbacks),
        step: |engine| {
            Box::pin(async move { Ok(NextStep::more(engine.callbacks().step().await? > 0)) })
        },
    },
    Loop {
        name: "callback queue",
        pause_ms: |settings| settings.jobs.idle_ms,
        hint: Some(|engine| &engine.callbacks().queue().hint),
        step: |engine| {
            Box::pin(async move {
                engine
                    .callbacks()
                    .send_queued()
                    .await
                    .map(|()| NextStep::Pause)
            })
        },
    },
    Loop {
        name: "sweeper",
        pause_ms: |settings| settings.jobs.sweep_ms,
        hint: None,
        step: |engine| {
            Box::pin(async move { Ok(NextStep::more(engine.runner().sweep_step().await?)) })
        },
    },
    Loop {
        name: "expiry",
        pause_ms: |settings| settings.jobs.sweep_ms,
        hint: None,
        step: |engine| {
            Box::pin(async move { Ok(NextStep::more(engine.assets().expire_step().await?)) })
        },
    },
    Loop {
        name: "credits",
        pause_ms: |_| CREDITS_LOOK_MS,
        hint: None,
        step: |engine| {
            Box::pin(async move {
                let renewed = engine.admin().plans().renew_step().await;
                // What is over is booked, whatever became of the plans.
                let ended = engine.admin().credits().end_step().await?;
                Ok(NextStep::more(renewed? || ended))
            })
        },
    },
    Loop {
        name: "payments",
        pause_ms: |_| PAYMENTS_LOOK_MS,
        hint: None,
        step: |engine| {
            Box::pin(async move {
                let payments = engine.admin().payments();
                let tidied = payments.tidy_step().await?;
                Ok(NextStep::more(payments.provider_step().await? || tidied))
            })
        },
    },
    Loop {
        name: "tidy",
        pause_ms: |settings| settings.jobs.tidy_s.ms() as u64,
        hint: None,
        step: |engine| Box::pin(async move { engine.tidy().step().await.map(|_| NextStep::Pause) }),
    },
    Loop {
        name: "auditor",
        pause_ms: |_| auditor::PAUSE_MS,
        hint: None,
        step: |engine| {
            Box::pin(async move { engine.auditor().step().await.map(|()| NextStep::Pause) })
        },
    },
    Loop {
        name: "stop-loss",
        pause_ms: |_| MARGINS_LOOK_MS,
        hint: None,
        step: |engine| {
            Box::pin(async move {
                if let Err(refusal) = engine.admin().models().stop_losses().await {
                    tracing::warn!(error = %refusal.message, "the margins of routes could not be read");
                }
                Ok(NextStep::Pause)
            })
        },
    },
    Loop {
        name: "spans",
        pause_ms: |_| SPANS_PAUSE_MS,
        hint: None,
        step: |engine| Box::pin(async move { Ok(NextStep::more(engine.tracer().step().await)) }),
    },
    Loop {
        name: "clock",
        pause_ms: |_| CLOCK_LOOK_MS,
        hint: None,
        step: |engine| Box::pin(async move { engine.clock_step().await.map(|()| NextStep::Pause) }),
    },
    Loop {
        name: "renewer",
        pause_ms: |settings| settings.jobs.renew_s.ms() as u64,
        hint: None,
        step: |engine| Box::pin(async move { engine.renew_step().await.map(|()| NextStep::Pause) }),
    },
    Loop {
        name: "progress",
        pause_ms: |settings| settings.jobs.progress_ms,
        hint: None,
        step: |engine| {
            Box::pin(async move {
                engine
                    .runner()
                    .progress_step()
                    .await
                    .map(|()| NextStep::Pause)
            })
        },
    },
    Loop {
        name: "pool",
        pause_ms: |settings| settings.jobs.refresh_ms,
        hint: Some(|engine| &engine.context().wakes().pool),
        step: |engine| {
            Box::pin(async move { engine.runner().pool_step().await.map(|()| NextStep::Pause) })
        },
    },
    Loop {
        name: "prices",
        pause_ms: |_| PRICES_LOOK_MS,
        hint: Some(|engine| &engine.context().wakes().prices),
        step: |engine| {
            Box::pin(async move {
                engine.admin().banned().step().await?;
                engine.admin().models().step().await?;
                engine.admin().groups().load().await?;
                engine
                    .admin()
                    .prices()
                    .step()
                    .await
                    .map(|()| NextStep::Pause)
            })
        },
    },
];

pub struct RunningEngine {
    engine: Arc<Engine>,
}

impl Engine {
    /// Starts every loop. On a store of one process, whatever a dead predecessor had in hand is free at once.
    pub async fn run(self: &Arc<Self>) -> Result<RunningEngine, atelier_store::Error> {
        self.take_over().await?;
        // Before this process notes the time itself.
        self.clock_step().await?;
        self.runner().workers().load().await?;
        self.admin().models().load().await?;
        self.admin().groups().load().await?;
        self.renew_step().await?;
        self.runner().sweep_step().await?;
        for (place, one) in (0..).zip(LOOPS) {
            let engine = self.clone();
            self.context().tasks().spawn(async move {
                tokio::time::sleep(START_STAGGER * place).await;
                let pause = Duration::from_millis((one.pause_ms)(engine.context().settings()));
                let hint = one.hint.map(|hint| hint(&engine));
                let step = || (one.step)(engine.clone());
                repeat(one.name, engine.context().stopping(), pause, hint, step).await;
            });
        }
        self.listen();
        self.callbacks().queue().open(true);
        Ok(RunningEngine {
            engine: self.clone(),
        })
    }

    /// On a store of one process: makes sure that it is the only one, and frees whatever a dead predecessor had in hand.
    async fn take_over(&self) -> Result<(), atelier_store::Error> {
        if !self.context().store().is_postgres() {
            self.context().store().lock_exclusively()?;
            self.assets().open_spool().await?;
            self.context()
                .store()
                .queue()
                .void_leases(None, &[], self.steady_ms())
                .await?;
            self.context()
                .store()
                .deliveries()
                .free_claims(self.steady_ms())
                .await?;
        }
        Ok(())
    }

    /// Takes over hints from other nodes that share the store.
    fn listen(self: &Arc<Self>) {
        let engine = self.clone();
        self.context().tasks().spawn(async move {
            let stopping = engine.context().stopping();
            let Some(mut wake) = engine.context().store().nodes().listener() else {
                return;
            };
            loop {
                let text = tokio::select! {
                    biased;
                    () = stopping.cancelled() => return,
                    text = wake.next() => text,
                };
                engine.handle_hint(Hint::decode(&text)).await;
            }
        });
    }

    /// Has the part look that a hint is for.
    async fn handle_hint(&self, hint: Option<Hint>) {
        match hint {
            Some(Hint::Job(id)) => self.context().wakes().job_changed(&id),
            Some(Hint::Poll(id)) => {
                self.runner().poll_now(&id);
            }
            Some(Hint::Pool) => self.context().wakes().pool.notify_one(),
            Some(Hint::Prices | Hint::Models | Hint::Groups) => {
                self.context().wakes().prices.notify_one();
            }
            Some(Hint::Work) => self.context().wakes().work.notify_one(),
            Some(Hint::Callbacks) => {
                self.callbacks().queue().leave();
                self.context().wakes().callbacks.notify_one();
            }
            Some(Hint::Gone(name)) => {
                if let Some((account_id, job_id)) = name.split_once('/') {
                    self.assets().forget(&account_id.into(), job_id);
                }
            }
            Some(Hint::AddressKeys) => {
                if let Err(error) = self.assets().load_address_keys().await {
                    tracing::warn!(%error, "URL keys could not be read");
                }
            }
            Some(Hint::Key(hash)) => self.admin().callers().forget_key(&hash),
            Some(Hint::Account(id)) => {
                self.admin().callers().forget_account(&id);
                if let Err(error) = self.admin().accounts().load_allowances().await {
                    tracing::warn!(%error, "the limits of accounts could not be read");
                }
            }
            None => {}
        }
    }
}

/// Repeats a step until the service stops.
async fn repeat(
    name: &str,
    stopping: &CancellationToken,
    usual: Duration,
    hint: Option<&Notify>,
    mut step: impl FnMut() -> StepFuture,
) {
    while !stopping.is_cancelled() {
        let pause = match AssertUnwindSafe(step()).catch_unwind().await {
            Ok(Ok(NextStep::AtOnce)) => continue,
            Ok(Ok(NextStep::Pause)) => usual,
            Ok(Ok(NextStep::PauseMs(pause_ms))) => Duration::from_millis(pause_ms.max(0) as u64),
            Ok(Err(error)) => {
                tracing::warn!(%error, "a step of {name} failed");
                AFTER_ERROR.max(usual)
            }
            Err(_) => {
                tracing::error!("a step of {name} panicked; it continues");
                AFTER_ERROR.max(usual)
            }
        };
        let hinted = async {
            match hint {
                Some(hint) => hint.notified().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = stopping.cancelled() => {}
            () = hinted => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}

impl RunningEngine {
    /// Stops taking work and hands back at once what others can go on with. Calls that cost and that nobody can find
    /// again are waited for as long as `paid` says, the rest as long as `others` says.
    pub async fn drain(&self, others: Duration, paid: Duration) {
        let engine = &self.engine;
        engine.callbacks().queue().open(false);
        engine.context().stopping().cancel();
        engine.context().tasks().close();
        within(
            HAND_BACK_TIMEOUT,
            "returned",
            engine.callbacks().return_queued(),
        )
        .await;
        within(
            HAND_BACK_TIMEOUT,
            "handed back",
            engine.runner().hand_back(),
        )
        .await;
        let all = tokio::time::timeout(others, engine.context().tasks().wait());
        let waited = async {
            if all.await.is_err() {
                let (jobs, paid) = (engine.runner().in_hand(), engine.runner().paid_calls());
                tracing::info!(jobs, paid, "some jobs have not ended in time");
            }
            while engine.runner().paid_calls() > 0 {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        let kept = async {
            loop {
                let pause_ms = engine.context().settings().jobs.renew_s.ms() as u64;
                tokio::time::sleep(Duration::from_millis(pause_ms)).await;
                within(HAND_BACK_TIMEOUT, "renewed", engine.runner().renew_paid()).await;
            }
        };
        let drained = async {
            tokio::select! {
                () = waited => {}
                () = kept => {}
            }
        };
        if tokio::time::timeout(paid.max(others), drained)
            .await
            .is_err()
        {
            let paid = engine.runner().paid_calls();
            tracing::warn!(paid, "stopping before the responses of some paid calls");
        }
    }

    /// Stops, with as much patience for paid calls as for the rest.
    pub async fn stop(self, patience: Duration) {
        self.drain(patience, patience).await;
        self.close().await;
    }

    /// Hands back the rest and closes the store.
    pub async fn close(self) {
        let engine = self.engine;
        let now_ms = engine.steady_ms();
        let hand_back = async {
            let store = engine.context().store();
            store
                .queue()
                .void_leases(Some(engine.context().node()), &[], now_ms)
                .await?;
            store.nodes().forget(engine.context().node()).await
        };
        within(HAND_BACK_TIMEOUT, "handed back", hand_back).await;
        let spool = engine.assets().close_spool();
        if tokio::time::timeout(HAND_BACK_TIMEOUT, spool)
            .await
            .is_err()
        {
            tracing::warn!("the disk does not respond; the next start restores the file spool");
        }
        engine.tracer().finish().await;
        engine.context().store().close().await;
    }
}

/// Waits for the store to do something about leases, but not for ever.
async fn within(
    patience: Duration,
    what: &str,
    change: impl Future<Output = Result<(), atelier_store::Error>>,
) {
    match tokio::time::timeout(patience, change).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "leases could not be {what}; they will expire"),
        Err(_) => tracing::warn!("the database does not respond; leases will expire"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_in_a_step_does_not_end_its_loop() {
        let stopping = CancellationToken::new();
        let (mut steps, hint) = (0, Notify::new());
        let step = || -> StepFuture {
            steps += 1;
            let (step, stopping) = (steps, stopping.clone());
            Box::pin(async move {
                assert!(step > 1, "the first step panics");
                stopping.cancel();
                Ok(NextStep::Pause)
            })
        };
        hint.notify_one();
        let looped = repeat("a loop", &stopping, Duration::ZERO, Some(&hint), step);
        let looped = tokio::time::timeout(Duration::from_mins(1), looped).await;
        assert!(looped.is_ok(), "the second step was made");
    }
}
