//! Payments that are made past the service, such as by bank transfer, and that an operator confirms.

use atelier_contract::{Code, Refusal};
use atelier_store::PaymentPlace;
use futures_util::future::BoxFuture;

use super::super::provider::{
    ChargeFault, HookNews, MANUAL, PaymentOrder, PaymentPost, PaymentProvider, PaymentTerms,
    RefundOrder, RefundedMoney,
};
use crate::context::Context;

/// A transfer takes its time.
const WAITS_MS: i64 = 30 * 86_400_000;

struct Manual;

pub(super) fn build(context: &Context) -> Option<Box<dyn PaymentProvider>> {
    let enabled = context.settings().payments.manual.enabled;
    enabled.then(|| Box::new(Manual) as Box<dyn PaymentProvider>)
}

impl PaymentProvider for Manual {
    fn name(&self) -> &'static str {
        MANUAL
    }

    fn waits_ms(&self) -> i64 {
        WAITS_MS
    }

    fn check(&self, _: &PaymentTerms<'_>) -> Result<(), Refusal> {
        Ok(())
    }

    fn open<'a>(&'a self, _: &'a PaymentOrder<'a>) -> BoxFuture<'a, Result<PaymentPlace, Refusal>> {
        let place = PaymentPlace {
            pay_at: None,
            reference: None,
            failed: false,
        };
        Box::pin(std::future::ready(Ok(place)))
    }

    fn read(&self, _: &PaymentPost<'_>) -> Result<HookNews, Refusal> {
        Err(Refusal::new(
            Code::NotFound,
            "an operator confirms these payments",
        ))
    }

    /// The operator gives the money back where it came from.
    fn refund<'a>(
        &'a self,
        _: &'a RefundOrder<'a>,
    ) -> BoxFuture<'a, Result<RefundedMoney, ChargeFault>> {
        Box::pin(std::future::ready(Ok(RefundedMoney::More)))
    }

    fn cancel<'a>(&'a self, _: &'a str, _: bool) -> BoxFuture<'a, Result<(), Refusal>> {
        Box::pin(std::future::ready(Ok(())))
    }
}
