//! What every part of the service may use: the store, the time, identifiers, settings, secrets, the way out, hints and
//! tasks. It knows no part.

use std::sync::Arc;
use std::time::Duration;

use atelier_backends::Vendor;
use atelier_backends::http::OutboundClient;
use atelier_contract::{AccountId, Code, JobId, Refusal};
use atelier_store::{AuditRow, Node, Store};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::clock::Clock;
use crate::hint::Hint;
use crate::ids::Ids;
use crate::keyring::Keyring;
use crate::meters::Meters;
use crate::settings::Settings;
use crate::tracer::Tracer;
use crate::wake::Wakeups;

/// Hints to other nodes are gathered for this long.
const HINT_PAUSE: Duration = Duration::from_millis(10);
/// A node that was silent for this long is no longer listed.
const NODE_SILENT_MS: i64 = 60_000;

/// A wall clock that differs by more from the service's own time is logged.
const CLOCK_OFF_MS: i64 = 2_000;

/// What a node says about itself, as it is stored.
#[derive(Default, Deserialize, Serialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct NodeDetail {
    pub(crate) version: String,
    pub(crate) in_hand: usize,
    pub(crate) clock_ahead_ms: i64,
    /// What works inside it can do, beside what it serves for want of others; nothing is known of older builds.
    pub(crate) inside: Option<Vec<String>>,
}

/// What a context is built from.
pub(crate) struct ContextDeps {
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    pub(crate) ids: Ids,
    pub(crate) settings: Settings,
    pub(crate) keyring: Keyring,
    pub(crate) outbound: OutboundClient,
    pub(crate) vendors: &'static [Vendor],
    pub(crate) node: String,
}

/// What the parts share.
pub(crate) struct Context {
    store: Store,
    clock: Clock,
    ids: Ids,
    settings: Settings,
    keyring: Keyring,
    outbound: OutboundClient,
    tracer: Tracer,
    meters: Meters,
    wakes: Arc<Wakeups>,
    tasks: TaskTracker,
    stopping: CancellationToken,
    node: String,
    /// When it was built.
    started_ms: i64,
}

impl Context {
    pub(crate) fn new(deps: ContextDeps) -> Arc<Self> {
        let (telemetry, ids) = (&deps.settings.telemetry, deps.ids.clone());
        let tracer = Tracer::new(telemetry, &deps.outbound, ids, &deps.node);
        Arc::new(Self {
            started_ms: deps.clock.now_ms(),
            store: deps.store,
            clock: deps.clock,
            ids: deps.ids,
            settings: deps.settings,
            keyring: deps.keyring,
            outbound: deps.outbound,
            tracer,
            meters: Meters::new(deps.vendors),
            wakes: Arc::default(),
            tasks: TaskTracker::new(),
            stopping: CancellationToken::new(),
            node: deps.node,
        })
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    pub(crate) fn ids(&self) -> &Ids {
        &self.ids
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Secrets of the service.
    pub(crate) fn keyring(&self) -> &Keyring {
        &self.keyring
    }

    /// The guarded way out.
    pub(crate) fn outbound(&self) -> &OutboundClient {
        &self.outbound
    }

    /// Tells what happened to whoever collects it.
    pub(crate) fn tracer(&self) -> &Tracer {
        &self.tracer
    }

    /// What this node counts.
    pub(crate) fn meters(&self) -> &Meters {
        &self.meters
    }

    /// Hints within this process.
    pub(crate) fn wakes(&self) -> &Arc<Wakeups> {
        &self.wakes
    }

    /// Whatever runs beside the loops.
    pub(crate) fn tasks(&self) -> &TaskTracker {
        &self.tasks
    }

    /// Set when the process is about to end.
    pub(crate) fn stopping(&self) -> &CancellationToken {
        &self.stopping
    }

    /// This process, among all that share the store.
    pub(crate) fn node(&self) -> &str {
        &self.node
    }

    /// Milliseconds since 1970, as they are shown and written down.
    pub(crate) fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }

    /// The service's own time, in which things are due.
    pub(crate) fn steady_ms(&self) -> i64 {
        self.clock.steady_ms()
    }

    /// Says that this node is alive, what it is, how many jobs it has in hand, and how far its machine's clock is off.
    pub(crate) async fn beat(
        &self,
        in_hand: usize,
        inside: Vec<String>,
    ) -> Result<(), atelier_store::Error> {
        let (now_ms, off_ms) = (self.steady_ms(), self.clock.off_ms());
        if off_ms.abs() > CLOCK_OFF_MS {
            tracing::warn!(
                ahead_ms = off_ms,
                "a wall clock differs from the service's own time"
            );
        }
        let detail = NodeDetail {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            in_hand,
            clock_ahead_ms: off_ms,
            inside: Some(inside),
        };
        let detail = serde_json::to_string(&detail).unwrap_or_default();
        let store = &self.store;
        let beat = store
            .nodes()
            .beat(&self.node, self.started_ms, now_ms, &detail);
        tokio::try_join!(beat, self.note_clock())?;
        self.clock.agree(store).await
    }

    /// Writes down what the next process is to go on from.
    pub(crate) async fn note_clock(&self) -> Result<(), atelier_store::Error> {
        match self.clock.note() {
            Some(note) => self.store.nodes().note_clock(note).await,
            None => Ok(()),
        }
    }

    /// The nodes that share the store and were heard of lately.
    pub(crate) async fn alive_nodes(&self) -> Result<Vec<Node>, atelier_store::Error> {
        self.store.nodes().list(self.alive_since_ms()).await
    }

    /// Nodes that were heard of since then are taken to be at work.
    pub(crate) fn alive_since_ms(&self) -> i64 {
        self.steady_ms() - NODE_SILENT_MS
    }

    /// Whether another node may have somebody inside its process for an operation; so it is taken to be when that is not known.
    pub(crate) async fn others_do(&self, operation: &str) -> bool {
        let Ok(nodes) = self.alive_nodes().await else {
            return true;
        };
        let mut others = nodes.iter().filter(|node| node.id != self.node());
        others.any(|node| {
            let detail: NodeDetail = serde_json::from_str(&node.detail).unwrap_or_default();
            let inside = detail.inside;
            inside.is_none_or(|inside| inside.iter().any(|name| name == operation))
        })
    }

    /// What is written down of an act: who did it, what, to what, and more about it.
    pub(crate) fn act(
        &self,
        by: &str,
        action: &str,
        target: &str,
        detail: impl Into<String>,
    ) -> AuditRow {
        AuditRow {
            id: self.ids.uuid(),
            time_ms: self.now_ms(),
            actor: by.into(),
            action: action.into(),
            target: target.into(),
            detail: detail.into(),
            account_id: None,
        }
    }

    /// An act of a caller for the list of its account; `by` is the key it came with, where that is known.
    pub(crate) fn own_act(
        &self,
        account_id: &AccountId,
        by: &str,
        action: &str,
        target: &str,
        detail: impl Into<String>,
    ) -> AuditRow {
        AuditRow {
            account_id: Some(account_id.to_string()),
            ..self.act(by, action, target, detail)
        }
    }

    /// A job waits: somebody should look.
    pub(crate) fn wake_work(&self) {
        self.wakes.work.notify_one();
        self.broadcast(Hint::Work);
    }

    /// A job changed: whoever waits for it should look.
    pub(crate) fn wake_job(&self, id: &JobId) {
        self.wakes.job_changed(id);
        self.broadcast(Hint::Job(id.clone()));
    }

    /// A job of an account changed: whoever follows all of them should look. Other nodes look by themselves.
    pub(crate) fn wake_account(&self, account_id: &str) {
        self.wakes.account_changed(account_id);
    }

    /// Tells other nodes what they should look at; what is told within a moment is one message.
    pub(crate) fn broadcast(&self, hint: Hint) {
        if !self.store.is_postgres() || !self.wakes.queue_hint(hint) {
            return;
        }
        let (store, wakes) = (self.store.clone(), self.wakes.clone());
        self.tasks.spawn(async move {
            tokio::time::sleep(HINT_PAUSE).await;
            let texts: Vec<String> = wakes.drain_hints().iter().map(Hint::encode).collect();
            if let Err(error) = store.nodes().notify(&texts).await {
                tracing::debug!(%error, "other nodes could not be notified");
            }
        });
    }
}

/// A store that cannot answer means that nothing was accepted, and the caller may try again; unless it is not known what
/// became of the change, and then that is said.
pub(crate) fn unavailable(error: atelier_store::Error) -> Refusal {
    match error {
        atelier_store::Error::Conflict(what) => Refusal::new(Code::Conflict, what),
        atelier_store::Error::NotFound => Refusal::new(Code::NotFound, "not found"),
        atelier_store::Error::Unresolved => {
            tracing::error!("responded that the outcome is unknown");
            Refusal::new(
                Code::Internal,
                "it is not known whether the request was accepted; repeat it with the same Idempotency-Key, or look for it first",
            )
        }
        other => {
            tracing::error!(error = %other, "the database did not respond");
            Refusal::new(
                Code::Overloaded,
                "the service cannot take the request now; try again shortly",
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The promise: nobody is told that nothing was accepted while that is not known.
    #[test]
    fn an_unknown_outcome_is_not_called_nothing_accepted() {
        let busy = unavailable(atelier_store::Error::Busy);
        assert_eq!(busy.code, Code::Overloaded);
        let unknown = unavailable(atelier_store::Error::Unresolved);
        assert_eq!(unknown.code, Code::Internal);
        assert!(unknown.message.contains("not known"), "{}", unknown.message);
    }
}
