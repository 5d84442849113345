//! Subscriptions that are to end are ended at their provider, however often that has to be tried, so that no one pays for nothing.

use super::{AGAIN_MS, Payments};
use crate::crash;

impl Payments {
    /// Takes up what a provider has to do: refunds, top-ups, subscriptions that end; whether there may be more.
    pub async fn provider_step(&self) -> Result<bool, atelier_store::Error> {
        let refunded = self.refund_step().await?;
        let bought = self.topup_step().await?;
        Ok(self.cancel_step().await? || refunded || bought)
    }

    async fn cancel_step(&self) -> Result<bool, atelier_store::Error> {
        let now_ms = self.context.now_ms();
        let subscriptions = self.context.store().ledger().subscriptions();
        let claimed = subscriptions.claim(now_ms - AGAIN_MS, now_ms).await?;
        let Some(one) = claimed else {
            return Ok(false);
        };
        // What a provider is to do that is not set any more waits until it is set again.
        let Ok(provider) = self.named(&one.provider) else {
            return Ok(true);
        };
        match provider.cancel(&one.reference, one.at_once).await {
            Ok(()) => {
                crash::point("payment.cancelled");
                subscriptions.told(&one).await?;
                tracing::info!(
                    provider = one.provider,
                    subscription = one.reference,
                    at_once = one.at_once,
                    "a subscription ends"
                );
            }
            Err(refusal) => {
                let (subscription, error) = (one.reference, refusal.message);
                tracing::warn!(subscription, error, "a subscription could not be ended");
            }
        }
        Ok(true)
    }
}
