//! What a provider reports of a payment, in the words that all of them are turned into.

/// An event of a provider.
#[derive(Clone, Debug)]
pub struct PaymentEvent {
    pub provider: String,
    /// What the provider calls the event; it counts once.
    pub event_id: String,
    /// The payment, where the provider says which it is.
    pub payment_id: Option<String>,
    /// What the provider calls the payment and what belongs to it, the surest first.
    pub references: Vec<String>,
    /// The account that it is said to be of, where that is said.
    pub account_id: Option<String>,
    /// The subscription that it is of, where there is one.
    pub subscription: Option<String>,
    /// What the provider calls the customer, where it says so.
    pub customer: Option<String>,
    pub news: PaymentNews,
    /// How much money it is about, and in which currency.
    pub money: Option<i64>,
    pub currency: Option<String>,
    /// What came, for operators; never more than so much of it.
    pub raw: String,
    /// Whether the one who reports it gets the outcome as the answer: what does not fit is not kept then, so that it can be tried again.
    pub answered: bool,
    /// Identifier of what is taken back or given back.
    pub ledger_id: String,
    /// Identifier of a payment that goes on with a subscription.
    pub new_id: String,
    pub now_ms: i64,
}

/// What happened to a payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PaymentNews {
    Paid,
    /// It cannot be made.
    Failed,
    /// It can no longer be made.
    Expired,
    /// So much of its money went back, all together.
    Refunded,
    /// A refund that an operator asked for went back.
    RefundMade {
        /// Our identifier of it.
        refund: String,
        /// All that went back, where the provider says so; else the refund adds to what went back before.
        total: Option<i64>,
    },
    /// Money that was on its way back did not arrive.
    RefundFailed,
    /// The payer's bank holds so much of its money.
    Disputed {
        /// What the provider calls the dispute.
        dispute: String,
    },
    /// The bank has decided.
    DisputeClosed {
        dispute: String,
        /// Whether the money came back here.
        won: bool,
    },
    /// The next period of a subscription was paid for.
    Renewed,
    /// The next period of a subscription could not be paid for.
    RenewalFailed,
    /// A subscription has ended.
    SubscriptionEnded,
    /// What belongs to it has another name as well.
    Linked {
        name: String,
    },
}

impl PaymentNews {
    /// The word in the table.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Paid => "paid",
            Self::Failed => "failed",
            Self::Expired => "expired",
            Self::Refunded | Self::RefundMade { .. } => "refunded",
            Self::RefundFailed => "refund_failed",
            Self::Disputed { .. } => "disputed",
            Self::DisputeClosed { won: true, .. } => "dispute_won",
            Self::DisputeClosed { won: false, .. } => "dispute_lost",
            Self::Renewed => "renewed",
            Self::RenewalFailed => "renewal_failed",
            Self::SubscriptionEnded => "subscription_ended",
            Self::Linked { .. } => "linked",
        }
    }

    /// What it is about beside the payment.
    pub(super) fn subject(&self) -> Option<&str> {
        match self {
            Self::Disputed { dispute } | Self::DisputeClosed { dispute, .. } => Some(dispute),
            Self::Linked { name } => Some(name),
            _ => None,
        }
    }

    /// Whether it is worth waiting for a payment that it may be of: it can come before the payment does.
    pub(super) fn waits(&self) -> bool {
        matches!(
            self,
            Self::Refunded
                | Self::Disputed { .. }
                | Self::DisputeClosed { .. }
                | Self::Linked { .. }
        )
    }

    /// Whether it names an amount of the payment's currency.
    pub(super) fn is_about_money(&self) -> bool {
        !matches!(
            self,
            Self::Failed
                | Self::Expired
                | Self::RenewalFailed
                | Self::SubscriptionEnded
                | Self::Linked { .. }
        )
    }
}
