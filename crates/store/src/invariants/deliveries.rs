//! Deliveries: what is owed is written down, and nothing else is.

use super::invariant::{Invariant, RowKind};

pub(super) const ALL: &[Invariant] = &[
    Invariant {
        name: "deliveries.owed",
        what: "final job owes a delivery that was never recorded",
        of: RowKind::Jobs,
        broken: "job.state >= 2 AND job.hook_url IS NOT NULL \
            AND NOT EXISTS (SELECT 1 FROM delivery WHERE delivery.job_id = job.id)",
        at_work: false,
    },
    Invariant {
        name: "deliveries.job",
        what: "delivery of a job that is unfinished, another account's, or has no address",
        of: RowKind::Deliveries,
        broken: "NOT EXISTS (SELECT 1 FROM job WHERE job.id = delivery.job_id AND job.state >= 2 \
            AND job.hook_url IS NOT NULL AND job.account_id = delivery.account_id)",
        at_work: false,
    },
    Invariant {
        name: "deliveries.tries",
        what: "delivery has tries that it did not make, or arrived without saying when",
        of: RowKind::Deliveries,
        broken: "(delivery.state = 'delivered') <> (delivery.delivered_ms IS NOT NULL) \
            OR delivery.failures > delivery.attempts OR EXISTS (SELECT 1 FROM delivery_log \
              WHERE delivery_log.delivery_id = delivery.id AND delivery_log.attempt > delivery.attempts)",
        at_work: false,
    },
    Invariant {
        name: "deliveries.stuck",
        what: "delivery has been on its way for long, and nobody tries it again",
        of: RowKind::OpenDeliveries,
        broken: "delivery.state = 'sending' AND delivery.next_ms < :now - 60000",
        at_work: true,
    },
];
