//! What the service is doing and has done, for operators, metrics and whoever asks whether it is ready. A row of the audit
//! record is handed to the change it tells of, and both are one commit; here they are read.

use std::collections::HashMap;
use std::sync::Arc;

use atelier_contract::pages::overview::Overview;
use atelier_contract::pages::preview::PricePreview;
use atelier_contract::pages::ready::{Readiness, WorkerReadiness};
use atelier_contract::pages::stats::{NodeRow, Stats, WorkerStats};
use atelier_contract::pages::vendors::VendorRow;
use atelier_contract::{AccountId, BackendId, Job, JobId, JobState, Quota, Refusal, WorkerId};
use atelier_store::{AuditRow, JobFilter, JobPage, Period};

use super::groups::Groups;
use super::prices::Prices;
use super::trail::Trail;
use super::{margins, overview, preview, trail};
use crate::assets::Assets;
use crate::context::{Context, NodeDetail, unavailable};
use crate::jobs::Jobs;
use crate::model_revisions::ModelRevisions;
use crate::names::WorkerName;
use crate::runner::{Runner, WorkerReport};

/// What made a job when no attempt is recorded: repeating those costs nothing, so nobody writes them down.
const EMBEDDED: &str = "embedded";

/// A job, whose it is, and who served it.
pub struct ServedJobView {
    /// The job as its caller sees it.
    pub job: Job,
    /// The account it belongs to.
    pub account_id: AccountId,
    /// The back end that was asked last; none when nobody was.
    pub backend: Option<BackendId>,
    /// The worker account there.
    pub worker: Option<WorkerId>,
}

/// What is owed and kept at a moment, by all nodes.
pub struct ServiceStats {
    /// Jobs that nobody works on yet.
    pub waiting: i64,
    /// Jobs that somebody works on.
    pub running: i64,
    /// Callbacks that are owed.
    pub callbacks_due: i64,
    /// Hosts at which owed callbacks have failed.
    pub failing_receivers: i64,
    /// Quota that unfinished jobs hold.
    pub held: Quota,
    /// Age of the job that waits longest.
    pub oldest_waiting_ms: i64,
    /// Age of the oldest hold.
    pub oldest_held_ms: i64,
    /// Age of the callback that has been owed longest.
    pub oldest_callback_ms: i64,
    /// Bytes of results and inputs.
    pub stored_bytes: i64,
}

/// What a node does at a moment.
pub struct NodeStats {
    /// Jobs that it works on.
    pub in_hand: usize,
    /// Those of them that a vendor works on.
    pub at_vendors: usize,
    /// The worker accounts of this node's pool.
    pub workers: Vec<WorkerStats>,
    /// How long it has been up.
    pub up_ms: i64,
    /// How far its machine's clock is ahead of the one that nodes share.
    pub clock_ahead_ms: i64,
}

/// Says what the service is doing and has done.
pub struct Reports {
    pub(super) context: Arc<Context>,
    pub(super) runner: Arc<Runner>,
    pub(super) jobs: Arc<Jobs>,
    pub(super) assets: Arc<Assets>,
    pub(super) prices: Arc<Prices>,
    pub(super) models: Arc<ModelRevisions>,
    pub(super) groups: Arc<Groups>,
    /// When this process began, by the service's own time.
    pub(super) started_ms: i64,
}

impl Reports {
    /// The last hour at a glance; how much room there is on the disk is for whoever knows where that is.
    pub async fn overview(&self) -> Result<Overview, Refusal> {
        overview::overview(&self.context).await
    }

    /// What the jobs of the last week would have been charged with some prices changed.
    pub async fn preview(&self, changed: Vec<(String, Quota)>) -> Result<PricePreview, Refusal> {
        let previewer = preview::TariffPreviewer {
            context: &self.context,
            assets: &self.assets,
            models: &self.models,
            groups: &self.groups,
        };
        previewer.preview(&self.prices.tariff(), changed).await
    }

    /// What happened to a job, of one account or of any.
    pub async fn trail(
        &self,
        account_id: Option<&AccountId>,
        id: &JobId,
    ) -> Result<Trail, Refusal> {
        trail::of(&self.context, account_id, id).await
    }

    /// Ends a job of any account, at the operator's wish.
    pub async fn cancel(&self, by: &str, id: &JobId) -> Result<(), Refusal> {
        let account_id = trail::owner(&self.context, id).await?;
        self.jobs.cancel(&account_id, id).await?;
        let act = self.context.act(by, "job.cancel", id, account_id.as_str());
        self.runner
            .workers()
            .write_notes(Some(act))
            .await
            .map_err(unavailable)
    }

    /// The vendors that back ends can be set up at.
    pub fn vendors(&self) -> Vec<VendorRow> {
        let row = |vendor: &atelier_backends::Vendor| VendorRow {
            name: vendor.name,
            about: vendor.about,
            needs_credential: vendor.needs_credential,
            address: Some(vendor.address).filter(|address| !address.is_empty()),
            settings: (vendor.settings)(),
            mappings: serde_json::from_str(vendor.ready).ok(),
        };
        self.runner.workers().vendors().iter().map(row).collect()
    }

    /// The audit record of a period in pages, newest first.
    pub async fn audit(
        &self,
        period: Period,
        page: i64,
        limit: i64,
    ) -> Result<(Vec<AuditRow>, i64), Refusal> {
        let offset = (page - 1).max(0).saturating_mul(limit);
        let acts = self.context.store().admin();
        let found = acts.audit_of(period, offset, limit).await;
        found.map_err(unavailable)
    }

    /// What an account did to itself in a period, in pages, newest first.
    pub async fn account_acts(
        &self,
        account_id: &AccountId,
        period: Period,
        page: i64,
        limit: i64,
    ) -> Result<(Vec<AuditRow>, i64), Refusal> {
        let offset = (page - 1).max(0).saturating_mul(limit);
        let found = self
            .context
            .store()
            .admin()
            .account_acts(account_id, period, offset, limit);
        found.await.map_err(unavailable)
    }

    /// Current work of the service.
    pub async fn stats(&self) -> Result<Stats, Refusal> {
        let counts = self
            .context
            .store()
            .statistics()
            .counts()
            .await
            .map_err(unavailable)?;
        let lanes = self
            .context
            .store()
            .queue()
            .waiting_by_lane()
            .await
            .map_err(unavailable)?;
        let name = |lane: String| {
            if lane.is_empty() { "any".into() } else { lane }
        };
        let reports = self.runner.workers().reports();
        Ok(Stats {
            waiting: counts.waiting,
            running: counts.running,
            callbacks_due: counts.deliveries_due,
            in_hand: self.runner.in_hand(),
            at_vendors: self.runner.at_vendors(),
            waiting_by_lane: lanes
                .into_iter()
                .map(|(lane, jobs)| (name(lane), jobs))
                .collect(),
            backends: reports.into_iter().map(worker_stats).collect(),
            margins: margins::margins(&self.context).await?,
            up_ms: self.context.steady_ms() - self.started_ms,
            shares: Vec::new(),
        })
    }

    /// What is owed and kept at this moment, for metrics.
    pub async fn moment(&self) -> Result<ServiceStats, Refusal> {
        let store = self.context.store();
        let (counts, owed, stored) = tokio::try_join!(
            store.statistics().counts(),
            store.statistics().backlog(),
            store.assets().stored_bytes()
        )
        .map_err(unavailable)?;
        let now_ms = self.context.now_ms();
        let age_ms = |since: Option<i64>| since.map_or(0, |since| (now_ms - since).max(0));
        Ok(ServiceStats {
            waiting: counts.waiting,
            running: counts.running,
            callbacks_due: counts.deliveries_due,
            failing_receivers: owed.failing_receivers,
            held: owed.held,
            oldest_waiting_ms: age_ms(owed.oldest_waiting_ms),
            oldest_held_ms: age_ms(owed.oldest_held_ms),
            oldest_callback_ms: age_ms(owed.oldest_callback_ms),
            stored_bytes: stored,
        })
    }

    /// What this node does at this moment, for metrics: the jobs in hand, those of them at vendors, every worker account,
    /// how long it has been up, and how far its clock is ahead.
    pub fn here(&self) -> NodeStats {
        NodeStats {
            in_hand: self.runner.in_hand(),
            at_vendors: self.runner.at_vendors(),
            workers: self
                .runner
                .workers()
                .reports()
                .into_iter()
                .map(worker_stats)
                .collect(),
            up_ms: self.context.steady_ms() - self.started_ms,
            clock_ahead_ms: self.context.clock().off_ms(),
        }
    }

    /// What every back end of the operator's does, in a few words that anybody may read.
    pub fn ready(&self) -> Readiness {
        let reports = self.runner.workers().reports();
        let shown = |one: WorkerReport| WorkerReadiness {
            name: one.name.to_string(),
            busy: one.busy,
            slots: one.slots,
            condition: one.health.condition.word().to_owned(),
        };
        let own = reports.into_iter().filter(|one| one.owner.is_none());
        Readiness {
            state: "ready",
            at_vendors: self.runner.at_vendors(),
            backends: own.map(shown).collect(),
            clock_ahead_ms: self.context.clock().off_ms(),
        }
    }

    /// The nodes that share the store.
    pub async fn nodes(&self) -> Result<Vec<NodeRow>, Refusal> {
        let nodes = self.context.alive_nodes().await.map_err(unavailable)?;
        let one = |node: atelier_store::Node| {
            // An older build says less.
            let detail: NodeDetail = serde_json::from_str(&node.detail).unwrap_or_default();
            NodeRow {
                is_self: node.id == self.context.node(),
                id: node.id,
                started_ms: node.started_ms,
                seen_ms: node.seen_ms + self.context.clock().ahead_ms(),
                version: detail.version,
                in_hand: detail.in_hand,
                clock_ahead_ms: detail.clock_ahead_ms,
            }
        };
        Ok(nodes.into_iter().map(one).collect())
    }

    /// Jobs in pages, of the account that the filter names or of all.
    pub async fn jobs(&self, filter: JobFilter) -> Result<JobPage<ServedJobView>, Refusal> {
        let account_id = filter.account_id.as_deref().map(AccountId::from);
        let found = self.jobs.rows(account_id.as_ref(), filter).await?;
        let JobPage { rows, total, next } = found;
        let ids: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
        let asked = self
            .context
            .store()
            .attempts()
            .asked_workers(&ids)
            .await
            .map_err(unavailable)?;
        // The last attempt at each job wins.
        let mut asked: HashMap<String, String> = asked.into_iter().collect();
        let served = rows.into_iter().map(|row| {
            let made_here = row.state == JobState::Succeeded;
            let name = asked.remove(&row.id);
            let name = name.or_else(|| made_here.then(|| EMBEDDED.to_owned()));
            let name = name.as_deref().map(WorkerName::read);
            ServedJobView {
                account_id: row.account_id.as_str().into(),
                job: self.jobs.hydrate(row),
                backend: name.as_ref().map(|name| name.backend().clone()),
                worker: name.and_then(|name| name.worker_id().cloned()),
            }
        });
        Ok(JobPage {
            rows: served.collect(),
            total,
            next,
        })
    }
}

fn worker_stats(one: WorkerReport) -> WorkerStats {
    WorkerStats {
        name: one.name.to_string(),
        backend: one.backend.to_string(),
        custody: one.owner.is_some(),
        busy: one.busy,
        slots: one.slots,
        condition: one.health.condition.word().to_owned(),
        usable: one.usable,
        average_execute: one.average_s,
        last_errors: one.health.last_errors,
    }
}
