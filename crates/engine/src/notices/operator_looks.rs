//! What is looked for again and again on behalf of operators: back ends that take no work, routes that were paused, a disk that fills, and
//! certificates that end.

use std::collections::{BTreeMap, HashMap};

use atelier_contract::pages::workers::Condition;
use atelier_contract::time::timestamp;
use atelier_store::NewNotice;
use serde_json::{Value, json};

use crate::context::Context;
use crate::model_revisions::ModelRevisions;
use crate::runner::{Runner, WorkerReport};

const DAY_MS: i64 = 86_400_000;
const HOUR_MS: i64 = 3_600_000;
/// A certificate is told of when it ends within this.
const CERTIFICATE_MS: i64 = 14 * DAY_MS;
/// A disk is told of when less is free than so many times what stops work.
const DISK_TIMES: u64 = 2;

/// What operators' notices are found with.
pub(super) struct OperatorLook<'a> {
    pub(super) context: &'a Context,
    pub(super) runner: &'a Runner,
    pub(super) models: &'a ModelRevisions,
}

impl OperatorLook<'_> {
    /// Looks at everything; `ill` says since when back ends are known to take no work.
    pub(super) async fn look(
        &self,
        ill: &mut HashMap<String, i64>,
    ) -> Result<(), atelier_store::Error> {
        let mut found = self.backends(ill).await?;
        found.extend(self.routes());
        found.extend(self.disk());
        found.extend(self.certificates());
        if found.is_empty() {
            return Ok(());
        }
        self.context
            .store()
            .deliveries()
            .notices()
            .note(found)
            .await
            .map(|_| ())
    }

    fn notice(
        &self,
        kind: &'static str,
        subject: &str,
        window_ms: i64,
        since_ms: i64,
        facts: &Value,
    ) -> NewNotice {
        NewNotice {
            account_id: String::new(),
            kind,
            subject: subject.to_owned(),
            window_ms,
            since_ms,
            facts: facts.to_string(),
            now_ms: self.context.now_ms(),
        }
    }

    /// Back ends of the operators none of whose accounts can be used, told once a day.
    async fn backends(
        &self,
        ill: &mut HashMap<String, i64>,
    ) -> Result<Vec<NewNotice>, atelier_store::Error> {
        let reports = self.runner.workers().reports();
        let mut by_backend: BTreeMap<String, Vec<&WorkerReport>> = BTreeMap::new();
        for report in reports
            .iter()
            .filter(|one| one.owner.is_none() && !one.inside)
        {
            by_backend
                .entry(report.backend.to_string())
                .or_default()
                .push(report);
        }
        by_backend.retain(|_, reports| is_ill(reports));
        ill.retain(|id, _| by_backend.contains_key(id));
        if by_backend.is_empty() {
            return Ok(Vec::new());
        }
        let backends = self.context.store().workers().backends().await?;
        let now_ms = self.context.now_ms();
        let mut found = Vec::new();
        for (id, reports) in by_backend {
            let since_ms = *ill.entry(id.clone()).or_insert(now_ms);
            let backend = backends.iter().find(|one| one.id == id);
            let name = backend.map_or(&*id, |one| &*one.spec.name);
            let conditions: Vec<&str> = reports
                .iter()
                .map(|one| one.health.condition.word())
                .collect();
            let facts = json!({ "backend": name, "condition": conditions.join(", ") });
            let day_ms = since_ms - since_ms.rem_euclid(DAY_MS);
            found.push(self.notice("backend_ill", &id, day_ms, since_ms, &facts));
        }
        Ok(found)
    }

    /// Routes that the stop-loss has paused, told once for each pause.
    fn routes(&self) -> Vec<NewNotice> {
        let catalogue = self.models.catalogue();
        let mut found = Vec::new();
        for row in catalogue.rows() {
            for route in row.definition.routes.iter() {
                let (Some(why), Some(guard)) = (route.stop_loss_reason(), route.stop_loss) else {
                    continue;
                };
                let (model, backend) = (&row.definition.name, &route.backend);
                let facts = json!({ "model": model, "backend": backend, "why": why });
                // What was made before this hour counts no more: the pause was in the hour before.
                let at_ms = (i64::from(guard.since_hour) - 1) * HOUR_MS;
                let subject = format!("{model} {backend}");
                found.push(self.notice("margin_negative", &subject, at_ms, at_ms, &facts));
            }
        }
        found
    }

    /// A disk with little room, told once a day.
    fn disk(&self) -> Option<NewNotice> {
        let settings = self.context.settings();
        let (free, whole) = settings.machine.disk.as_ref().and_then(|room| room())?;
        let limits = &settings.limits;
        let least =
            (limits.disk_free_mib * 1024 * 1024).max(whole / 100 * limits.disk_free_percent);
        if free >= least * DISK_TIMES {
            return None;
        }
        let gib = |bytes: u64| format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30));
        let facts = json!({
            "machine": settings.machine.name, "free": gib(free), "whole": gib(whole), "least": gib(least)
        });
        let now_ms = self.context.now_ms();
        let day_ms = now_ms - now_ms.rem_euclid(DAY_MS);
        Some(self.notice("disk_low", &settings.machine.name, day_ms, now_ms, &facts))
    }

    /// Certificates that end soon, told once for each.
    fn certificates(&self) -> Vec<NewNotice> {
        let settings = self.context.settings();
        let Some(look) = &settings.machine.certificates else {
            return Vec::new();
        };
        let now_ms = self.context.now_ms();
        let ending = look()
            .into_iter()
            .filter(|(_, over_ms)| *over_ms - now_ms < CERTIFICATE_MS);
        let notice = |(name, over_ms): (String, i64)| {
            let facts = json!({ "certificate": name, "expires": timestamp(over_ms) });
            let since_ms = over_ms - CERTIFICATE_MS;
            self.notice("certificate_expiring", &name, over_ms, since_ms, &facts)
        };
        ending.map(notice).collect()
    }
}

/// Whether none of the accounts of a back end takes work, although nobody paused them all.
fn is_ill(reports: &[&WorkerReport]) -> bool {
    let stops = |one: &&WorkerReport| {
        matches!(
            one.health.condition,
            Condition::OutOfCredit | Condition::Banned | Condition::Open
        )
    };
    !reports.iter().any(|one| one.usable) && reports.iter().any(stops)
}
