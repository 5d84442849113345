//! Notices and subscriptions as pages show them.

use atelier_contract::pages::notices::{
    NoticeChannel, NoticeKind, NoticePost, NoticeView, SentNotice, SubscriptionRow,
};
use atelier_contract::pages::quiet::Quiet;
use atelier_contract::pages::statements::Language;
use atelier_contract::time::timestamp;
use atelier_engine::records::{NoticeDelivery, NoticeSubscription};

/// A notice with what became of it.
pub(crate) fn sent_notice(notice: NoticeView, owed: Vec<NoticeDelivery>) -> SentNotice {
    SentNotice {
        notice,
        sent: owed.into_iter().filter_map(post).collect(),
    }
}

fn post(one: NoticeDelivery) -> Option<NoticePost> {
    Some(NoticePost {
        channel: NoticeChannel::from_word(&one.channel)?,
        next_attempt_at: (one.state == "due").then(|| timestamp(one.next_ms)),
        delivered_at: one.delivered_ms.map(timestamp),
        subscription_id: one.subscription_id,
        address: one.shown,
        status: one.state,
        attempts: one.attempts,
        last_status: one.last_status,
        last_error: one.last_error,
    })
}

/// A subscription, without what is secret of its address.
pub(crate) fn subscription_row(one: NoticeSubscription) -> SubscriptionRow {
    SubscriptionRow {
        id: one.id,
        kind: one.kind.as_deref().and_then(NoticeKind::from_word),
        channel: NoticeChannel::from_word(&one.channel).unwrap_or(NoticeChannel::Webhook),
        address: one.shown,
        quiet: one.quiet.as_deref().and_then(Quiet::parse),
        language: Language::from_word(&one.language).unwrap_or_default(),
        below: one.below,
        jobs: one.jobs,
        created_at: timestamp(one.created_ms),
    }
}
