//! Around every worker account: whatever fault leaves it, the account's credential does not leave with it, even where
//! the vendor repeats it in the words of a refusal or of a failed job.

use std::sync::Arc;

use serde_json::Value;

use crate::backend::{Backend, Fault, Later, LostSubmit, Progress, Started, Work};
use crate::http::{Seal, VendorHttp};

struct Sealed<B> {
    worker: B,
    seal: Seal,
}

/// A worker account whose faults repeat nothing of what its way to the vendor keeps secret.
pub(crate) fn sealed<B: Backend + 'static>(http: &VendorHttp, worker: B) -> Arc<dyn Backend> {
    let seal = http.seal().clone();
    Arc::new(Sealed { worker, seal })
}

impl<B> Sealed<B> {
    fn fault(&self, fault: Fault) -> Fault {
        Fault {
            message: self.seal.hide(&fault.message),
            field: fault.field.map(|field| self.seal.hide(&field)),
            detail: self.seal.hide(&fault.detail),
            ..fault
        }
    }
}

impl<B: Backend> Backend for Sealed<B> {
    fn serves(&self, operation: &str) -> bool {
        self.worker.serves(operation)
    }

    fn lost_submit(&self) -> LostSubmit {
        self.worker.lost_submit()
    }

    fn start(&self, work: Work) -> Later<'_, Result<Started, Fault>> {
        let started = self.worker.start(work);
        Box::pin(async move { started.await.map_err(|fault| self.fault(fault)) })
    }

    fn poll<'a>(&'a self, work: &'a Work, ticket: &'a Value) -> Later<'a, Result<Progress, Fault>> {
        let polled = self.worker.poll(work, ticket);
        Box::pin(async move {
            match polled.await {
                Ok(Progress::Failed(fault)) => Ok(Progress::Failed(self.fault(fault))),
                other => other.map_err(|fault| self.fault(fault)),
            }
        })
    }

    fn cancel<'a>(&'a self, ticket: &'a Value) -> Later<'a, ()> {
        self.worker.cancel(ticket)
    }

    fn look_up<'a>(&'a self, work: &'a Work) -> Later<'a, Result<Option<Value>, Fault>> {
        let found = self.worker.look_up(work);
        Box::pin(async move { found.await.map_err(|fault| self.fault(fault)) })
    }

    fn probe(&self) -> Later<'_, Result<(), Fault>> {
        let probed = self.worker.probe();
        Box::pin(async move { probed.await.map_err(|fault| self.fault(fault)) })
    }
}
