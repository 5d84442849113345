//! Products and payments as operators and callers see them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fields::Text;
use crate::products::ProductDefinition;
use crate::quota::Quota;

/// A product as operators see it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Product")]
pub struct ProductView {
    /// What an operator said of it.
    #[serde(flatten)]
    pub definition: ProductDefinition,
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

/// A product as whoever buys it sees it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Offer")]
#[serde(rename_all = "camelCase")]
pub struct OfferView {
    /// Its name.
    pub name: String,
    /// What it costs, in whole smaller units of the currency by ISO 4217.
    pub money: i64,
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
    /// Who takes the payment: `stripe`, `epay` or `manual`; not needed where there is one.
    #[serde(default)]
    pub provider: Option<Text<64>>,
    /// Where the browser goes when it has paid, or does not want to: a path of this service or an address of an origin that the operator
    /// allows. The console when absent.
    #[serde(default)]
    pub return_url: Option<Text<2000>>,
}

/// A payment as whoever makes it sees it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Payment")]
#[serde(rename_all = "camelCase")]
pub struct PaymentView {
    /// Identifier of the payment.
    pub id: String,
    /// Where it is made; null where the operator says how.
    pub pay_at: Option<String>,
    /// `pending`, `paid`, `expired`, `failed`, `refunded`, `disputed` or `mismatch`.
    pub state: String,
    /// What is bought.
    pub product: String,
    /// Who takes the payment.
    pub provider: String,
    /// What it costs, in whole smaller units of the currency by ISO 4217.
    pub money: i64,
    /// The currency by ISO 4217.
    pub currency: String,
    /// What it gives.
    pub quota: Quota,
    /// The plan that it gives a period of; null of quota.
    pub plan: Option<String>,
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
    /// What it costs, in whole smaller units of the currency by ISO 4217.
    pub money: i64,
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
    /// Identifier of the row of the ledger that granted it, and of the credit.
    pub ledger_id: Option<String>,
    /// When it was begun, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub created_at: String,
    /// When it is no longer waited for.
    pub expires_at: String,
    /// When it was made.
    pub paid_at: Option<String>,
}

/// A payment with what was told of it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ToldPayment {
    /// The payment.
    #[serde(flatten)]
    pub payment: AccountPayment,
    /// What the provider calls it, and what belongs to it there.
    pub references: Vec<String>,
    /// What was told of it, the latest first, 100 at most.
    pub events: Vec<PaymentEventView>,
}

/// What a provider told.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "PaymentEvent")]
pub struct PaymentEventView {
    /// Who told it.
    pub provider: String,
    /// What the provider calls it.
    pub event_id: String,
    /// The payment that it is of; null where none is known.
    pub payment_id: Option<String>,
    /// `paid`, `failed`, `expired`, `refunded`, `disputed`, `dispute_won`, `dispute_lost` or `renewed`.
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
    /// How much, in whole smaller units of its currency; all that is left when absent.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub money: Option<i64>,
    /// The same key refunds once.
    #[serde(default)]
    pub idempotency_key: Option<Text<200>>,
}
