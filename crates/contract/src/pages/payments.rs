//! Products and payments as operators and callers see them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fields::{Flag, Text};
use crate::products::ProductDefinition;
use crate::quota::Quota;

/// A product as operators see it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Product")]
pub struct ProductView {
    /// What an operator said of it.
    #[serde(flatten)]
    pub definition: ProductDefinition,
    /// What it costs with its decimal point, like `9.90`.
    pub price: String,
    /// Counts the changes of this name, from 1.
    pub revision: u32,
    /// When it was changed last, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub changed_at: String,
}

/// What the account can buy, and through whom.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ShopView {
    /// The products.
    pub products: Vec<OfferView>,
    /// Who takes payments.
    pub providers: Vec<String>,
}

/// A product as its buyer sees it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Offer")]
#[serde(rename_all = "camelCase")]
pub struct OfferView {
    /// Its name.
    pub name: String,
    /// What it costs, in minor units of the currency by ISO 4217.
    pub money: i64,
    /// The same with its decimal point, like `9.90`.
    pub price: String,
    /// The currency by ISO 4217.
    pub currency: String,
    /// The quota that it gives; null of a plan.
    pub quota: Option<Quota>,
    /// The plan that it gives a period of; null of quota.
    pub plan: Option<String>,
    /// How many days after it was paid for its quota ends; null when it does not.
    pub credit_days: Option<i64>,
}

/// A payment to be begun.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PaymentWish {
    /// The product's name.
    pub product: Text<64>,
    /// Who takes the payment, one of the `providers` of `/account/v1/products`; not needed where there is one.
    #[serde(default)]
    pub provider: Option<Text<64>>,
    /// Where the browser goes when it has paid, or does not want to: a path of this service or an address of an origin that the operator
    /// allows. The console when absent.
    #[serde(default)]
    pub return_url: Option<Text<2000>>,
    /// Whether the provider saves the way to pay, for automatic top-ups.
    #[serde(default)]
    pub save: Option<Flag<false>>,
}

/// What an account buys by itself.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Topup")]
#[serde(rename_all = "camelCase")]
pub struct TopupView {
    /// The product that it buys; null without a top-up.
    pub product: Option<String>,
    /// The provider that charges the saved customer.
    pub provider: Option<String>,
    /// It buys when the balance is below that.
    pub threshold: Option<Quota>,
    /// The most money that it spends in a calendar month (UTC), in minor units of the product's currency.
    pub monthly_cap: Option<i64>,
    /// Money that it has spent this month, or is about to.
    pub spent_this_month: i64,
    /// Whether it buys. After three failures in a row it stops until it is set again.
    pub active: bool,
    /// Why it did not buy the last time.
    pub why: Option<String>,
    /// The providers that can save a way to pay.
    pub can_save: Vec<String>,
    /// Those that have saved one.
    pub saved: Vec<String>,
}

/// What an account wants bought by itself.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TopupWish {
    /// The product's name; it gives quota.
    pub product: Text<64>,
    /// Buy when the balance is below that.
    #[schemars(range(min = 0.001))]
    pub threshold: Quota,
    /// The most money to spend in a calendar month (UTC), in minor units of the product's currency.
    #[schemars(range(min = 1))]
    pub monthly_cap: i64,
    /// The provider that has saved a way to pay; optional if there is one.
    #[serde(default)]
    pub provider: Option<Text<64>>,
}

/// A payment as its payer sees it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Payment")]
#[serde(rename_all = "camelCase")]
pub struct PaymentView {
    /// Identifier of the payment.
    pub id: String,
    /// The URL where it is made; null where the operator says how.
    pub pay_at: Option<String>,
    /// `pending`, `paid`, `expired`, `failed`, `refunded`, `disputed` or `mismatch`.
    pub state: String,
    /// What is bought.
    pub product: String,
    /// Who takes the payment.
    pub provider: String,
    /// What it costs, in minor units of the currency by ISO 4217.
    pub money: i64,
    /// The same with its decimal point, like `9.90`.
    pub price: String,
    /// The currency by ISO 4217.
    pub currency: String,
    /// What it gives.
    pub quota: Quota,
    /// The plan that it gives a period of; null of quota.
    pub plan: Option<String>,
    /// Whether a top-up bought it.
    pub topup: bool,
    /// How much of the money went back.
    pub refunded: i64,
    /// How much of the quota was taken back.
    pub taken_back: Quota,
    /// When it was begun, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub created_at: String,
    /// When it is no longer waited for; one that is made later still counts.
    pub expires_at: String,
    /// When it was made.
    pub paid_at: Option<String>,
}

/// A payment as operators see it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AccountPayment {
    /// Identifier of the payment.
    pub id: String,
    /// Whose it is.
    pub account_id: String,
    /// `pending`, `paid`, `expired`, `failed`, `refunded`, `disputed` or `mismatch`.
    pub state: String,
    /// What is bought.
    pub product: String,
    /// The revision of the product.
    pub product_revision: u32,
    /// Who takes the payment.
    pub provider: String,
    /// What it costs, in minor units of the currency by ISO 4217.
    pub money: i64,
    /// The same with its decimal point, like `9.90`.
    pub price: String,
    /// The currency by ISO 4217.
    pub currency: String,
    /// What it gives.
    pub quota: Quota,
    /// The plan that it gives a period of.
    pub plan: Option<String>,
    /// The first payment of the subscription that it goes on with.
    pub renews: Option<String>,
    /// How much of the money went back.
    pub refunded: i64,
    /// How much of the money the payer's bank holds, or has kept.
    pub disputed: i64,
    /// How much of the quota was taken back.
    pub taken_back: Quota,
    /// Identifier of the ledger row that granted the quota, and of the credit; null while a period that was paid ahead has not begun.
    pub ledger_id: Option<String>,
    /// When it was begun, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub created_at: String,
    /// When it is no longer waited for.
    pub expires_at: String,
    /// When it was made.
    pub paid_at: Option<String>,
}

/// A payment with its events and refunds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PaymentReport {
    /// The payment.
    #[serde(flatten)]
    pub payment: AccountPayment,
    /// What the provider calls it, and what belongs to it there.
    pub references: Vec<String>,
    /// Its events, the latest first, 100 at most.
    pub events: Vec<PaymentEventView>,
    /// Its refunds that operators asked for, the latest first, 100 at most.
    pub refunds: Vec<RefundView>,
}

/// A refund that an operator asked for.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Refund")]
pub struct RefundView {
    /// Identifier of the refund.
    pub id: String,
    /// How much, in minor units of the payment's currency.
    pub money: i64,
    /// `asked` until the provider's answer is known, then `done` or `refused`.
    pub state: String,
    /// Why the provider refused it.
    pub why: Option<String>,
    /// When it was asked for, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub created_at: String,
}

/// An event of a payment provider.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "PaymentEvent")]
pub struct PaymentEventView {
    /// The provider that sent it.
    pub provider: String,
    /// What the provider calls it.
    pub event_id: String,
    /// The payment that it is of; null where none is known.
    pub payment_id: Option<String>,
    /// `paid`, `failed`, `expired`, `refunded`, `refund_failed`, `disputed`, `dispute_won`, `dispute_lost`, `renewed`, `renewal_failed`,
    /// `subscription_ended` or `linked`.
    pub kind: String,
    /// `applied`, `known`, `mismatch` or `unmatched`.
    pub outcome: String,
    /// Why it does not fit.
    pub why: Option<String>,
    /// How much money it is about.
    pub money: Option<i64>,
    /// In which currency.
    pub currency: Option<String>,
    /// What came, cut off where it is long.
    pub raw: String,
    /// When it came, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub received_at: String,
}

/// How much of a payment goes back.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub struct RefundWish {
    /// How much, in minor units of its currency; all that is left when absent.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub money: Option<i64>,
    /// The same key refunds once.
    #[serde(default)]
    pub idempotency_key: Option<Text<200>>,
}
