//! E-mail: letters wait in a queue of this node and are sent a few at a time, each tried some times. Nobody waits for a mail server:
//! what it does not take in time is given up. Without a server the link of a letter goes to the log.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use atelier_mail::{Letter, MailError, MailServer, MailSettings};
use futures_util::StreamExt as _;
use futures_util::stream;
use tokio::sync::Notify;

use crate::context::Context;
use crate::meters::LETTERS;

/// Letters that wait, at most.
const MOST: usize = 1_000;
/// Letters that are sent at once.
const AT_ONCE: usize = 4;
/// Pauses between the tries of a letter.
const PAUSES_MS: [i64; 4] = [5_000, 30_000, 120_000, 300_000];

/// A letter that waits.
struct QueuedLetter {
    letter: Letter,
    /// The identifier under which a mail server knows it, the same for every try.
    id: String,
    /// From then on it is of no use.
    until_ms: i64,
    due_ms: i64,
    tries: usize,
}

/// Sends letters.
pub struct Mail {
    context: Arc<Context>,
    server: Option<MailServer>,
    queue: Mutex<VecDeque<QueuedLetter>>,
    pub(crate) hint: Notify,
}

impl Mail {
    /// Refuses settings that nothing can be sent by.
    pub fn check(settings: &MailSettings) -> Result<(), String> {
        MailServer::connect(settings).map(|_| ())
    }

    pub(crate) fn new(context: Arc<Context>) -> Arc<Self> {
        let server = MailServer::connect(&context.settings().mail);
        let server = server.unwrap_or_else(|why| {
            tracing::error!(why, "no e-mail is sent");
            None
        });
        Arc::new(Self {
            context,
            server,
            queue: Mutex::default(),
            hint: Notify::new(),
        })
    }

    /// Whether there is a mail server.
    pub fn has_server(&self) -> bool {
        self.server.is_some()
    }

    /// Has a letter sent before a moment; whoever asks does not wait for it.
    pub(crate) fn post(&self, letter: Letter, until_ms: i64) {
        if self.server.is_none() {
            let link = letter.link.as_ref().map_or("", |link| link.url.as_str());
            let (to, subject) = (letter.to.as_str(), letter.subject_line());
            tracing::info!(
                to,
                subject,
                link,
                "no mail server is set (mail.url): this is the e-mail"
            );
            return;
        }
        let now_ms = self.context.steady_ms();
        let queued = QueuedLetter {
            id: self.context.ids().uuid(),
            letter,
            until_ms: now_ms + (until_ms - self.context.now_ms()),
            due_ms: now_ms,
            tries: 0,
        };
        let mut queue = self.queue();
        if queue.len() >= MOST {
            drop(queue);
            self.context.meters().mailed(LETTERS[3]);
            tracing::warn!("an e-mail was dropped: {MOST} others wait for the mail server");
            return;
        }
        queue.push_back(queued);
        drop(queue);
        self.hint.notify_one();
    }

    /// Sends a letter now, for whoever keeps letters and tries of its own.
    pub(crate) async fn send(&self, letter: &Letter, id: &str) -> Result<(), MailError> {
        let Some(server) = &self.server else {
            return Err(MailError {
                is_final: true,
                what: "no mail server is set (mail.url)".into(),
            });
        };
        server.send(letter, id, self.context.now_ms()).await
    }

    /// Sends letters that are due; whether more are.
    pub(crate) async fn step(&self) -> bool {
        let due = self.due();
        let more = due.len() == AT_ONCE;
        stream::iter(due)
            .for_each_concurrent(AT_ONCE, |queued| self.deliver(queued))
            .await;
        more
    }

    async fn deliver(&self, mut queued: QueuedLetter) {
        let (to, tries) = (queued.letter.to.host().to_owned(), queued.tries + 1);
        let outcome = match self.send(&queued.letter, &queued.id).await {
            Ok(()) => LETTERS[0],
            Err(error) => {
                let pause_ms = PAUSES_MS.get(queued.tries).filter(|_| !error.is_final);
                queued.due_ms = self.context.steady_ms() + pause_ms.copied().unwrap_or(0);
                let again = pause_ms.is_some() && queued.due_ms < queued.until_ms;
                // Whom it is for is nobody's business here.
                let why = error.what;
                tracing::warn!(to, tries, again, why, "an e-mail was not taken");
                if again {
                    queued.tries = tries;
                    self.queue().push_back(queued);
                    LETTERS[1]
                } else {
                    LETTERS[2]
                }
            }
        };
        self.context.meters().mailed(outcome);
    }

    /// Takes the next letters whose time has come.
    fn due(&self) -> Vec<QueuedLetter> {
        let now_ms = self.context.steady_ms();
        let mut queue = self.queue();
        let mut due = Vec::new();
        while due.len() < AT_ONCE {
            let Some(place) = queue.iter().position(|one| one.due_ms <= now_ms) else {
                break;
            };
            due.extend(queue.remove(place));
        }
        due
    }

    fn queue(&self) -> MutexGuard<'_, VecDeque<QueuedLetter>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
