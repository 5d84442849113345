//! Who takes payments.

use atelier_contract::Secret;
use serde::Deserialize;

/// The names of all providers, as their settings and metrics have them.
pub(crate) const PAYMENT_PROVIDERS: [&str; 3] = ["stripe", "epay", "manual"];

/// Who takes payments, and where those who pay may be sent back to.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaymentSettings {
    /// Origins beside the service's own that browsers may be sent back to.
    pub return_origins: Vec<String>,
    pub stripe: StripeSettings,
    pub epay: EpaySettings,
    pub manual: ManualSettings,
}

/// Stripe's Checkout.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StripeSettings {
    pub base_url: String,
    /// Empty when it takes no payments.
    pub secret_key: Secret,
    /// What its events are signed with.
    pub webhook_secret: Secret,
}

/// A gateway that speaks the epay protocol.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EpaySettings {
    /// Empty when it takes no payments.
    pub base_url: String,
    /// The merchant's number there.
    pub merchant: String,
    pub key: Secret,
}

/// Payments that an operator confirms.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManualSettings {
    pub enabled: bool,
}
