//! The windows of keys in a batch: what each key whose spending is limited holds and has spent, with the keys below it. They are
//! read and written under the lock of the account, so that no two nodes count at once.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use atelier_contract::limit_window::resets_at;
use atelier_contract::{LimitWindow, Quota};

use crate::Result;
use crate::attribution::Attribution;
use crate::batch::ledger_batch::LedgerBatch;
use crate::batch::notices::NewNotice;
use crate::changes::accept::{AcceptOutcome, Acceptance, KeyLimitReached, NewJob};
use crate::changes::bulk::{BulkOutcome, NewBulk};
use crate::db::{Arg, Conn, Line, args, json};
use crate::jobs::row::JobRow;
use crate::keys::limits::{KeyLimit, queue_span, read_limits};
use crate::pending::PendingChange;
use crate::readers::Reader;
use crate::row::{Columns, FromRow};

/// What a key and those below it hold and have spent in a window.
pub(crate) struct KeyWindow {
    account_id: String,
    key_id: String,
    span: String,
    from_ms: i64,
    until_ms: i64,
    held: i64,
    spent: i64,
    open: i64,
    touched: bool,
}

impl FromRow for KeyWindow {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            account_id: columns.text()?,
            key_id: columns.text()?,
            span: columns.text()?,
            from_ms: columns.int()?,
            until_ms: columns.int()?,
            held: columns.int()?,
            spent: columns.int()?,
            open: columns.int()?,
            touched: false,
        })
    }
}

impl Line for &KeyWindow {
    fn values<'a>(&'a self, out: &mut Vec<Arg<'a>>) {
        out.extend_from_slice(args![
            &self.account_id,
            &self.key_id,
            &self.span,
            self.from_ms,
            self.until_ms,
            self.held,
            self.spent,
            self.open,
        ]);
    }
}

/// What a key may spend.
struct KeyBounds {
    id: String,
    limits: Vec<KeyLimit>,
    max_queue: Option<i64>,
}

impl FromRow for KeyBounds {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            id: columns.text()?,
            limits: read_limits(columns.maybe_text()?.as_deref()),
            max_queue: columns.maybe_int()?,
        })
    }
}

/// What is told when four fifths of a limit are spent or held, and when all of it is.
const LIMIT_80: &str = "limit_80";
const LIMIT_100: &str = "limit_100";

impl KeyLimitReached {
    /// What is told of it: once in its window, and again when the limit was changed.
    pub fn notice(&self, kind: &'static str, account_id: &str, now_ms: i64) -> NewNotice {
        let window = self.window.word();
        let facts = serde_json::json!({
            "keyId": self.key_id,
            "window": window,
            "quota": self.quota.to_string(),
            "spent": self.spent.to_string(),
            "resets": resets_at(self.until_ms).unwrap_or_default(),
        });
        NewNotice {
            account_id: account_id.to_owned(),
            kind,
            subject: format!("{} {window} {}", self.key_id, self.quota),
            window_ms: self.from_ms,
            since_ms: now_ms,
            facts: facts.to_string(),
            now_ms,
        }
    }

    /// What is told of a request that was refused for it.
    pub fn refused(&self, account_id: &str, now_ms: i64) -> NewNotice {
        self.notice(LIMIT_100, account_id, now_ms)
    }
}

/// The keys of a batch whose spending is limited, and their windows by key, span and beginning.
#[derive(Default)]
pub(crate) struct KeyWindows {
    keys: HashMap<String, KeyBounds>,
    windows: BTreeMap<String, Vec<KeyWindow>>,
    /// What is to be told of limits that are nearly or wholly spent.
    notices: Vec<NewNotice>,
}

/// What may be accepted in a batch.
type Wishes<'a> = (
    &'a [PendingChange<Acceptance, AcceptOutcome>],
    &'a [PendingChange<NewBulk, BulkOutcome>],
);

impl KeyWindows {
    /// Reads what the keys of a batch hold, of accounts that have limited ones.
    pub(crate) async fn load(
        conn: &mut Conn,
        books: &LedgerBatch,
        (accepts, bulks): Wishes<'_>,
        ending: &HashMap<String, JobRow>,
    ) -> Result<Self> {
        let counts = |account_id: &str| {
            books
                .standing(account_id)
                .is_some_and(|one| one.counts_keys)
        };
        let together = bulks.iter().flat_map(|one| one.input.accepts());
        let new = accepts.iter().map(|one| &one.input).chain(together);
        let new = new.map(|one| {
            (
                &*one.job.account_id,
                &one.job.attribution,
                one.job.created_ms,
            )
        });
        let ending = ending.values().map(|row| {
            let counted_ms = row.counted_ms.unwrap_or(row.created_ms);
            (&*row.account_id, &row.attribution, counted_ms)
        });
        let (mut keys, mut accounts, mut since_ms) = (BTreeSet::new(), BTreeSet::new(), i64::MAX);
        for (account_id, attribution, at_ms) in new.chain(ending) {
            if counts(account_id) {
                keys.extend(attribution.keys());
                accounts.insert(account_id);
                since_ms = since_ms.min(at_ms);
            }
        }
        if keys.is_empty() {
            return Ok(Self::default());
        }
        let keys = json(&keys);
        let bounds = conn.all(BOUNDS, args![&keys]).await?;
        let accounts = json(&accounts);
        let values = args![&accounts, &keys, since_ms];
        Ok(Self::of(bounds, conn.all(WINDOWS, values).await?))
    }

    /// The same for whoever asks before there is a commit, of one account.
    pub(crate) async fn look(
        reader: Reader<'_>,
        account_id: &str,
        attribution: &Attribution,
        at_ms: i64,
    ) -> Result<Self> {
        let keys: Vec<&str> = attribution.keys().collect();
        let keys = json(&keys);
        let bounds = reader.all(BOUNDS, args![&keys]).await?;
        let accounts = json(&[account_id]);
        let values = args![&accounts, &keys, at_ms];
        Ok(Self::of(bounds, reader.all(WINDOWS, values).await?))
    }

    fn of(bounds: Vec<KeyBounds>, rows: Vec<KeyWindow>) -> Self {
        let mut windows: BTreeMap<String, Vec<KeyWindow>> = BTreeMap::new();
        for row in rows {
            windows.entry(row.key_id.clone()).or_default().push(row);
        }
        let keys = bounds.into_iter().map(|one| (one.id.clone(), one));
        Self {
            keys: keys.collect(),
            windows,
            notices: Vec::new(),
        }
    }

    fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    fn limited<'a>(&'a self, attribution: &'a Attribution) -> impl Iterator<Item = &'a KeyBounds> {
        attribution.keys().filter_map(|id| self.keys.get(id))
    }

    fn window(&self, key_id: &str, span: &str, at_ms: i64) -> Option<&KeyWindow> {
        let windows = self.windows.get(key_id)?;
        windows
            .iter()
            .find(|one| one.span == span && one.from_ms <= at_ms && at_ms < one.until_ms)
    }

    /// Adds what a job holds to the window that it is in, the first of which begins it.
    fn add(&mut self, part: KeyWindow) {
        let windows = self.windows.entry(part.key_id.clone()).or_default();
        let same = |one: &&mut KeyWindow| one.span == part.span && one.from_ms == part.from_ms;
        match windows.iter_mut().find(same) {
            Some(window) => {
                window.held += part.held;
                window.open += part.open;
                window.touched = true;
            }
            None => windows.push(part),
        }
    }

    /// The moment at which a job counts: when it comes, or when the latest window of its keys began. A clock that was put back
    /// reopens none that has ended.
    pub(crate) fn counted_ms(&self, attribution: &Attribution, created_ms: i64) -> i64 {
        if self.is_empty() {
            return created_ms;
        }
        let windows = attribution.keys().filter_map(|id| self.windows.get(id));
        let begun = windows.flatten().map(|one| one.from_ms);
        begun
            .max()
            .map_or(created_ms, |begun| begun.max(created_ms))
    }

    /// How many unfinished jobs a key may have in a queue, when it or one above it has as many.
    pub(crate) fn full_queue(&self, attribution: &Attribution, queue: &str) -> Option<i64> {
        if self.is_empty() {
            return None;
        }
        let span = queue_span(queue);
        self.limited(attribution).find_map(|key| {
            let open = self.window(&key.id, &span, 0).map_or(0, |one| one.open);
            key.max_queue.filter(|most| open >= *most)
        })
    }

    /// The limit that a job of a price would go beyond: of its key or of one above it.
    pub(crate) fn reached(
        &self,
        attribution: &Attribution,
        counted_ms: i64,
        price: i64,
    ) -> Option<KeyLimitReached> {
        self.limited(attribution).find_map(|key| {
            key.limits.iter().find_map(|limit| {
                let window = self.window(&key.id, limit.window.word(), counted_ms);
                let spent = window.map_or(0, |one| one.held + one.spent);
                (spent + price > limit.quota.thousandths()).then(|| KeyLimitReached {
                    key_id: key.id.clone(),
                    from_ms: limit.window.span(counted_ms).0,
                    window: limit.window,
                    quota: limit.quota,
                    spent: Quota::from_thousandths(spent),
                    until_ms: limit.window.span(counted_ms).1,
                })
            })
        })
    }

    /// Holds the price of a job that is accepted.
    pub(crate) fn hold(&mut self, job: &NewJob, counted_ms: i64) {
        if self.is_empty() {
            return;
        }
        let part = |key: &KeyBounds, window: LimitWindow, span: String, held: i64| {
            let (from_ms, until_ms) = window.span(counted_ms);
            KeyWindow {
                account_id: job.account_id.clone(),
                key_id: key.id.clone(),
                span,
                from_ms,
                until_ms,
                held,
                spent: 0,
                open: 1,
                touched: true,
            }
        };
        let (mut parts, mut notices) = (Vec::new(), Vec::new());
        for key in self.limited(&job.attribution) {
            let price = job.price.thousandths();
            for limit in &key.limits {
                let window = self.window(&key.id, limit.window.word(), counted_ms);
                let before = window.map_or(0, |one| one.held + one.spent);
                let most = limit.quota.thousandths();
                let passed = |percent: i64| {
                    let mark = most * percent;
                    before * 100 < mark && (before + price) * 100 >= mark
                };
                for (kind, percent) in [(LIMIT_80, 80), (LIMIT_100, 100)] {
                    if passed(percent) {
                        let reached = KeyLimitReached {
                            key_id: key.id.clone(),
                            from_ms: limit.window.span(counted_ms).0,
                            window: limit.window,
                            quota: limit.quota,
                            spent: Quota::from_thousandths(before + price),
                            until_ms: limit.window.span(counted_ms).1,
                        };
                        notices.push(reached.notice(kind, &job.account_id, job.created_ms));
                    }
                }
            }
            let limits = key.limits.iter().map(|limit| limit.window);
            parts.extend(limits.map(|one| part(key, one, one.word().to_owned(), price)));
            if key.max_queue.is_some() {
                parts.push(part(key, LimitWindow::Total, queue_span(&job.queue), 0));
            }
        }
        for part in parts {
            self.add(part);
        }
        self.notices.extend(notices);
    }

    /// Has it told that a limit allowed no more.
    pub(crate) fn refuse(&mut self, reached: &KeyLimitReached, job: &NewJob) {
        let notice = reached.notice(LIMIT_100, &job.account_id, job.created_ms);
        self.notices.push(notice);
    }

    /// What is to be told, once what was decided is written.
    pub(crate) fn notices(&self) -> &[NewNotice] {
        &self.notices
    }

    /// Resolves the hold of a job that has ended, in the windows in which it was held.
    pub(crate) fn resolve(&mut self, row: &JobRow) {
        if self.is_empty() {
            return;
        }
        let counted_ms = row.counted_ms.unwrap_or(row.created_ms);
        let queue = queue_span(&row.queue);
        for id in row.attribution.keys() {
            let Some(key) = self.keys.get(id) else {
                continue;
            };
            for window in self.windows.get_mut(&key.id).into_iter().flatten() {
                let is_queue = window.span == queue;
                let counts = window.from_ms <= counted_ms && counted_ms < window.until_ms;
                if !counts || !(is_queue || LimitWindow::from_word(&window.span).is_some()) {
                    continue;
                }
                if !is_queue {
                    window.held -= row.price.thousandths();
                    window.spent += row.quota.thousandths();
                }
                window.open -= 1;
                window.touched = true;
            }
        }
    }

    /// The windows that are to be written.
    pub(crate) fn changed(&self) -> Vec<&KeyWindow> {
        let all = self.windows.values().flatten();
        all.filter(|one| one.touched).collect()
    }
}

const BOUNDS: &str = "SELECT id, limits, max_queue FROM api_key WHERE id IN ({list:$1})";

const WINDOWS: &str = "SELECT account_id, key_id, span, from_ms, until_ms, held, spent, open FROM key_window \
     WHERE account_id IN ({list:$1}) AND key_id IN ({list:$2}) AND until_ms > $3";

pub(crate) const UPSERT_WINDOWS: &str = "INSERT INTO key_window (account_id, key_id, span, from_ms, until_ms, held, spent, open) \
     SELECT v.account_id, v.key_id, v.span, v.from_ms, v.until_ms, v.held, v.spent, v.open \
     FROM {lines:account_id text, key_id text, span text, from_ms bigint, until_ms bigint, held bigint, spent bigint, open bigint} \
     WHERE TRUE ON CONFLICT (account_id, key_id, span, from_ms) \
     DO UPDATE SET held = excluded.held, spent = excluded.spent, open = excluded.open";
