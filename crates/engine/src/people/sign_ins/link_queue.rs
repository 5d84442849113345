//! Links that somebody asked for and that were not looked into yet: who is answered does not wait for that.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use atelier_contract::fields::MailAddress;
use atelier_contract::pages::people::Language;
use tokio::sync::Notify;

/// Links that were asked for and about which nothing was found out yet, at most.
const WAITING_MOST: usize = 1_000;

/// Somebody who asks for a link.
#[derive(Clone, Debug)]
pub struct LinkRequest {
    pub email: MailAddress,
    pub language: Language,
}

/// A link that is to be sent to whoever it is for, if anybody.
pub(super) struct AskedLink {
    pub(super) request: LinkRequest,
    pub(super) word: String,
    pub(super) until_ms: i64,
}

/// Links that nobody has looked into yet.
#[derive(Default)]
pub(super) struct LinkQueue {
    waiting: Mutex<VecDeque<AskedLink>>,
    hint: Notify,
}

impl LinkQueue {
    /// Takes a link, unless too many wait.
    pub(super) fn push(&self, asked: AskedLink) {
        let mut waiting = self.waiting();
        if waiting.len() < WAITING_MOST {
            waiting.push_back(asked);
        } else {
            tracing::warn!("a sign-in link was dropped: {WAITING_MOST} others wait");
        }
        drop(waiting);
        self.hint.notify_one();
    }

    /// The one that was asked for first.
    pub(super) fn pop(&self) -> Option<AskedLink> {
        self.waiting().pop_front()
    }

    /// What wakes whoever sends links.
    pub(super) fn hint(&self) -> &Notify {
        &self.hint
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<AskedLink>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
