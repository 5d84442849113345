//! The loops: each repeats one step, sleeps until a hint or a while, and stops when told.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use crate::engine::Engine;
use crate::hint::Hint;

/// Prices are looked at this often without a hint, so that no node charges an old one for longer than a second.
const PRICES_LOOK: Duration = Duration::from_millis(500);
/// After an error a loop waits this long, so that a store that is away is not hammered.
const AFTER_ERROR: Duration = Duration::from_millis(500);
/// How long a stop waits for the store to take leases back.
const HANDING_BACK: Duration = Duration::from_secs(5);

/// A house at work.
pub struct Running {
    engine: Arc<Engine>,
}

impl Engine {
    /// Starts every loop. On a store of one process, whatever a dead predecessor had in hand is free at once.
    pub async fn run(self: &Arc<Self>) -> Result<Running, atelier_store::Error> {
        self.take_over().await?;
        self.load_pool().await?;
        self.renew_step().await?;
        self.sweep_step().await?;
        let settings = &self.settings;
        let milliseconds = Duration::from_millis;
        self.repeat(
            "runner",
            milliseconds(settings.idle_ms),
            Some(|engine| &engine.wakes.work),
            |engine| async move { engine.run_step().await.map(|leased| leased > 0) },
        );
        self.repeat(
            "courier",
            milliseconds(settings.idle_ms),
            Some(|engine| &engine.wakes.callbacks),
            |engine| async move { engine.deliver_step().await.map(|claimed| claimed > 0) },
        );
        self.repeat(
            "sweeper",
            milliseconds(settings.sweep_ms),
            None,
            |engine| async move { engine.sweep_step().await },
        );
        self.repeat(
            "expiry",
            milliseconds(settings.sweep_ms),
            None,
            |engine| async move { engine.expire_step().await },
        );
        self.repeat(
            "tidy",
            milliseconds(settings.tidy_ms),
            None,
            |engine| async move { engine.tidy_step().await.map(|_| false) },
        );
        self.repeat(
            "renewer",
            milliseconds(settings.renew_ms),
            None,
            |engine| async move { engine.renew_step().await.map(|()| false) },
        );
        self.repeat(
            "progress",
            milliseconds(settings.progress_ms),
            None,
            |engine| async move { engine.progress_step().await.map(|()| false) },
        );
        self.repeat(
            "pool",
            milliseconds(settings.refresh_ms),
            Some(|engine| &engine.wakes.pool),
            |engine| async move { engine.pool_step().await.map(|()| false) },
        );
        self.repeat(
            "prices",
            PRICES_LOOK,
            Some(|engine| &engine.wakes.prices),
            |engine| async move { engine.price_step().await.map(|()| false) },
        );
        self.poll();
        self.listen();
        Ok(Running {
            engine: self.clone(),
        })
    }

    /// On a store of one process: makes sure that it is the only one, and frees whatever a dead predecessor had in hand.
    async fn take_over(&self) -> Result<(), atelier_store::Error> {
        if !self.store.is_postgres() {
            self.store.work_alone()?;
            self.store.void_leases(None, self.now_ms()).await?;
            self.store.free_claims(self.now_ms()).await?;
        }
        Ok(())
    }

    fn repeat<F>(
        self: &Arc<Self>,
        name: &'static str,
        idle: Duration,
        hint: Option<fn(&Engine) -> &Notify>,
        step: fn(Arc<Engine>) -> F,
    ) where
        F: Future<Output = Result<bool, atelier_store::Error>> + Send + 'static,
    {
        let engine = self.clone();
        self.tasks.spawn(async move {
            while !engine.stopping.is_cancelled() {
                let pause = match step(engine.clone()).await {
                    Ok(true) => continue,
                    Ok(false) => idle,
                    Err(error) => {
                        tracing::warn!(%error, "{name} could not do its step");
                        AFTER_ERROR.max(idle)
                    }
                };
                let hinted = async {
                    match hint {
                        Some(hint) => hint(&engine).notified().await,
                        None => std::future::pending().await,
                    }
                };
                tokio::select! {
                    () = engine.stopping.cancelled() => {}
                    () = hinted => {}
                    () = tokio::time::sleep(pause) => {}
                }
            }
        });
    }

    /// Asks vendors about running jobs, each in its turn.
    fn poll(self: &Arc<Self>) {
        let engine = self.clone();
        self.tasks.spawn(async move {
            while !engine.stopping.is_cancelled() {
                let (_, wait_ms) = engine.poll_step();
                tokio::select! {
                    () = engine.stopping.cancelled() => {}
                    () = engine.polling.hint.notified() => {}
                    () = tokio::time::sleep(Duration::from_millis(wait_ms as u64)) => {}
                }
            }
        });
    }

    /// Takes over hints from other nodes that share the store.
    fn listen(self: &Arc<Self>) {
        let engine = self.clone();
        self.tasks.spawn(async move {
            let Some(mut wake) = engine.store.listener() else {
                return;
            };
            loop {
                let payload = tokio::select! {
                    () = engine.stopping.cancelled() => return,
                    payload = wake.next() => payload,
                };
                match Hint::decode(&payload) {
                    Some(Hint::Job(id)) => engine.wakes.job_changed(&id),
                    Some(Hint::Poll(id)) => {
                        engine.polling.poke(&id, engine.now_ms());
                    }
                    Some(Hint::Pool) => engine.wakes.pool.notify_one(),
                    Some(Hint::Prices) => engine.wakes.prices.notify_one(),
                    Some(Hint::Work) => engine.wakes.work.notify_one(),
                    Some(Hint::Callbacks) => engine.wakes.callbacks.notify_one(),
                    Some(Hint::AddressKeys) => {
                        if let Err(error) = engine.load_address_keys().await {
                            tracing::warn!(%error, "address keys could not be read");
                        }
                    }
                    Some(Hint::Key(hash)) => engine.callers.void_key(&hash, engine.now_ms()),
                    Some(Hint::Account(id)) => engine.callers.void_account(&id, engine.now_ms()),
                    None => {}
                }
            }
        });
    }
}

impl Running {
    /// Stops taking work, gives what is in hand a while to end, and hands back the rest.
    pub async fn stop(self, patience: Duration) {
        let engine = self.engine;
        engine.stopping.cancel();
        engine.tasks.close();
        if tokio::time::timeout(patience, engine.tasks.wait())
            .await
            .is_err()
        {
            tracing::info!(
                jobs = engine.bench.ids().len(),
                "handing back unfinished jobs"
            );
        }
        let now_ms = engine.now_ms();
        let hand_back = async {
            let store = &engine.store;
            store.void_leases(Some(&engine.node), now_ms).await?;
            store.forget_node(&engine.node).await
        };
        match tokio::time::timeout(HANDING_BACK, hand_back).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::warn!(%error, "leases were not handed back; they will run out");
            }
            Err(_) => tracing::warn!("the store does not answer; leases will run out"),
        }
        engine.store.close().await;
    }
}
