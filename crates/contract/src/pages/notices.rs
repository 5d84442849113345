//! Notices: what accounts and operators are told before it hurts, and who is told where.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::list::{PageNumber, PageSize};
use super::quiet::Quiet;
use super::statements::Language;
use crate::fields::{Count, Moment, Text, words};
use crate::quota::Quota;

words! {
    /// What a notice is about.
    pub NoticeKind {
        /// The balance of the account is below what a subscription names.
        BalanceLow "balance_low",
        /// Four fifths of what a key may spend are spent or held.
        Limit80 "limit_80",
        /// What a key may spend is spent or held, or a request was refused for it.
        Limit100 "limit_100",
        /// A key ends within seven days.
        KeyExpiring "key_expiring",
        /// A period of the account's plan has begun.
        PlanRenewed "plan_renewed",
        /// A callback was given up after its last try.
        CallbackExhausted "callback_exhausted",
        /// Several jobs failed in a row.
        JobsFailing "jobs_failing",
        /// A back end takes no work.
        BackendIll "backend_ill",
        /// A route was paused because its latest jobs left too little.
        MarginNegative "margin_negative",
        /// The disk is nearly full.
        DiskLow "disk_low",
        /// The ledger, or something beside it, is not as it must be.
        InvariantBroken "invariant_broken",
        /// A certificate of the service ends soon.
        CertificateExpiring "certificate_expiring",
    }
}

impl NoticeKind {
    /// Whether operators are told of it, and not accounts.
    pub const fn is_operators(self) -> bool {
        matches!(
            self,
            Self::BackendIll
                | Self::MarginNegative
                | Self::DiskLow
                | Self::InvariantBroken
                | Self::CertificateExpiring
        )
    }
}

words! {
    /// How a notice is sent.
    pub NoticeChannel {
        /// A signed POST of JSON, as callbacks are.
        Webhook "webhook",
        /// A message to an incoming webhook of Slack, or of whoever speaks its format.
        Slack "slack",
        /// A message to a webhook of Discord.
        Discord "discord",
    }
}

/// Who is to be told what, and where.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct NewSubscription {
    /// Only notices of this kind; of all kinds when absent.
    #[serde(default)]
    pub kind: Option<NoticeKind>,
    /// How they are sent.
    pub channel: NoticeChannel,
    /// The URL that takes them.
    pub address: Text<2048>,
    /// Hours in which nothing is sent, as `22:00-07:00`, in UTC or with an offset behind it: `22:00-07:00 +02:00`. What comes in them is
    /// sent when they end.
    #[serde(default)]
    pub quiet: Option<Quiet>,
    /// The language of the text.
    #[serde(default)]
    pub language: Language,
    /// The balance below which `balance_low` is sent; none is sent without it.
    #[serde(default)]
    pub below: Option<Quota>,
    /// How many jobs have to fail in a row for `jobs_failing`, 2 to 100.
    #[serde(default)]
    pub jobs: Option<Count<2, 100, 5>>,
}

/// A subscription.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubscriptionRow {
    /// Identifier of the subscription.
    pub id: String,
    /// The kind of its notices; null for all kinds.
    pub kind: Option<NoticeKind>,
    /// How they are sent.
    pub channel: NoticeChannel,
    /// Where they are sent; of addresses that are secrets themselves only the beginning.
    pub address: String,
    /// Hours in which nothing is sent.
    pub quiet: Option<Quiet>,
    /// The language of the text.
    pub language: Language,
    /// The balance below which `balance_low` is sent.
    pub below: Option<Quota>,
    /// How many jobs have to fail in a row for `jobs_failing`.
    pub jobs: i64,
    /// When it was made, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub created_at: String,
}

/// Which notices to list.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct NoticesQuery {
    /// Number of the page, from 1.
    #[serde(default)]
    pub page: PageNumber,
    /// Rows on a page, at most 100.
    #[serde(default)]
    pub limit: PageSize,
    /// Only notices of this kind.
    #[serde(default)]
    pub kind: Option<NoticeKind>,
    /// Only notices of this moment or later.
    #[serde(default)]
    pub from: Option<Moment>,
    /// Only notices before this moment.
    #[serde(default)]
    pub to: Option<Moment>,
    /// The language of their texts.
    #[serde(default)]
    pub language: Language,
}

/// A notice: what happened, since when, and what to do.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Notice")]
pub struct NoticeView {
    /// Identifier of the notice.
    pub id: String,
    /// What it is about.
    pub kind: NoticeKind,
    /// What happened, in a few words.
    pub title: String,
    /// What happened and since when.
    pub text: String,
    /// What to do.
    pub action: String,
    /// A page of the console that helps.
    pub link: String,
    /// What the text is made of.
    pub facts: BTreeMap<String, String>,
    /// Since when it is so, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub since: String,
    /// When it was noticed.
    pub time: String,
}

/// A notice with what became of it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SentNotice {
    /// What was sent.
    #[serde(flatten)]
    pub notice: NoticeView,
    /// Where it was sent; nowhere where nobody had subscribed.
    pub sent: Vec<NoticePost>,
}

/// What became of a notice at one address.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NoticePost {
    /// The subscription that it was sent for.
    pub subscription_id: String,
    /// How it was sent.
    pub channel: NoticeChannel,
    /// Where, without what is secret.
    pub address: String,
    /// `due`, `sending`, `delivered`, `exhausted` or `stopped`.
    pub status: String,
    /// How often it was tried.
    pub attempts: i64,
    /// When it is tried the next time.
    pub next_attempt_at: Option<String>,
    /// When it was delivered.
    pub delivered_at: Option<String>,
    /// The last HTTP status.
    pub last_status: Option<i64>,
    /// The last failure.
    pub last_error: Option<String>,
}

/// How a sample notice went.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NoticeSample {
    /// Whether it was taken.
    pub delivered: bool,
    /// The HTTP status, when there was one.
    pub status: Option<u16>,
    /// What went wrong, if it did.
    pub error: Option<String>,
    /// How long it took.
    pub duration_ms: u64,
    /// The start of the answer.
    pub answer: String,
}
