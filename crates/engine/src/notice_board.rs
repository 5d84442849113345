//! What this node has noticed and not yet written down: a few things, each once. Whoever notices pays for a look into a cache; a crash
//! forgets what is noticed again when it happens again.

use std::sync::{Mutex, PoisonError};

use atelier_store::NewNotice;
use quick_cache::sync::Cache;

/// The settings that addresses of subscriptions are kept in, each with the identifier of its subscription behind it.
pub(crate) const NOTICE_ADDRESSES: &str = "notice-address:";
/// So many wait to be written down.
const MOST: usize = 1_000;
/// So many are known to be written down.
const REMEMBERED: usize = 10_000;

/// What was noticed here.
pub(crate) struct NoticeBoard {
    waiting: Mutex<Vec<NewNotice>>,
    known: Cache<String, ()>,
}

impl Default for NoticeBoard {
    fn default() -> Self {
        Self {
            waiting: Mutex::default(),
            known: Cache::new(REMEMBERED),
        }
    }
}

impl NoticeBoard {
    /// Notices something; the same again is nothing new.
    pub(crate) fn put(&self, notice: NewNotice) {
        let id = notice.id();
        if self.known.get(&id).is_some() {
            return;
        }
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < MOST {
            self.known.insert(id, ());
            waiting.push(notice);
        }
    }

    /// What is to be written down.
    pub(crate) fn take(&self) -> Vec<NewNotice> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *waiting)
    }

    /// It could not be written down: it is noticed again when it happens again.
    pub(crate) fn forget(&self, notices: &[NewNotice]) {
        for notice in notices {
            self.known.remove(&notice.id());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_is_noticed_once_unless_it_was_lost() {
        let board = NoticeBoard::default();
        let notice = NewNotice {
            account_id: "a".into(),
            kind: "limit_100",
            subject: "k day 10".into(),
            window_ms: 0,
            since_ms: 1,
            facts: "{}".into(),
            now_ms: 1,
        };
        board.put(notice.clone());
        board.put(NewNotice {
            since_ms: 2,
            now_ms: 2,
            ..notice.clone()
        });
        let taken = board.take();
        assert_eq!(taken.len(), 1);
        board.put(notice.clone());
        assert!(board.take().is_empty(), "it is written down");
        board.forget(&taken);
        board.put(notice.clone());
        board.put(NewNotice {
            window_ms: 1,
            ..notice
        });
        assert_eq!(board.take().len(), 2);
    }
}
