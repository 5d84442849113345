//! What callers and operators want of payments.

use atelier_contract::Quota;

/// What an account buys.
#[derive(Clone, Debug)]
pub struct PaymentRequest {
    pub product: String,
    /// Who takes the payment; not needed where there is one.
    pub provider: Option<String>,
    /// Where the browser goes afterwards.
    pub return_url: Option<String>,
    /// Whether the provider is to save the customer, for top-ups.
    pub save: bool,
}

/// What an account wants bought by itself.
#[derive(Clone, Debug)]
pub struct TopupRequest {
    pub product: String,
    /// Who has saved the customer; not needed where there is one provider that can.
    pub provider: Option<String>,
    /// It buys when the balance is below that.
    pub threshold: Quota,
    /// The most money that it spends in a month, in minor units of the product's currency.
    pub monthly_cap: i64,
}

/// Money that goes back to the one who paid.
#[derive(Clone, Debug, Default)]
pub struct RefundRequest {
    /// How much of it; all that is left when absent.
    pub money: Option<i64>,
    /// The same key refunds once.
    pub idempotency_key: Option<String>,
}
