//! Pictures for conversations as events: how far the job is, and at its end the pictures or why there are none.

use std::io;
use std::sync::Arc;

use atelier_contract::family::FinishedJob;
use atelier_contract::{Job, JobState, Refusal};
use atelier_engine::refusal_of;
use bytes::Bytes;
use futures_util::stream;
use serde_json::Value;

use crate::app::App;
use crate::http::answer;
use crate::http::payload::ByteStream;
use crate::http::reply::{self, RefusalShape};
use crate::http::sync_answer::counted;
use crate::pages::events::STILL_HERE;
use crate::pages::job_news::{JobNews, JobUpdate};

/// Events in the words of a client.
#[derive(Clone, Copy)]
pub(super) struct PictureWire {
    /// What comes first.
    pub(super) opening: fn(&Job) -> Option<Value>,
    /// How far it is.
    pub(super) progress: fn(&Job) -> Value,
    /// Whether comments may stand between events.
    pub(super) comments: bool,
    /// The pictures and the end.
    pub(super) closing: fn(&FinishedJob<'_>) -> Vec<Value>,
    /// What stands behind the last event.
    pub(super) end: &'static str,
}

/// How far the events are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StreamStage {
    Closed,
    Opened,
    Ended,
}

/// The events of a job.
pub(super) struct PictureEvents {
    wire: PictureWire,
    news: JobNews,
    /// The job as it was seen last.
    job: Job,
    shape: RefusalShape,
    /// In whose name the bytes are counted.
    holder: Arc<str>,
    stage: StreamStage,
}

impl PictureEvents {
    /// The events of a job that was just accepted.
    pub(super) fn new(
        wire: PictureWire,
        news: JobNews,
        job: Job,
        shape: RefusalShape,
        holder: Arc<str>,
    ) -> Self {
        Self {
            wire,
            news,
            job,
            shape,
            holder,
            stage: StreamStage::Closed,
        }
    }

    /// The bytes as they come.
    pub(super) fn flow(self) -> ByteStream {
        Box::pin(stream::unfold(self, Self::next))
    }

    async fn next(mut self) -> Option<(io::Result<Bytes>, Self)> {
        let piece = match self.stage {
            StreamStage::Ended => return None,
            StreamStage::Closed => {
                self.stage = StreamStage::Opened;
                (self.wire.opening)(&self.job).as_ref().map(event)
            }
            StreamStage::Opened => None,
        };
        let piece = match piece {
            Some(piece) => piece,
            None if self.job.state.is_final() => self.last().await,
            None => match self.news.next().await? {
                JobUpdate::Silence if self.wire.comments => STILL_HERE,
                JobUpdate::Silence => event(&(self.wire.progress)(&self.job)),
                JobUpdate::Changed(job) => {
                    self.job = *job;
                    if self.job.state.is_final() {
                        self.last().await
                    } else {
                        event(&(self.wire.progress)(&self.job))
                    }
                }
            },
        };
        Some((Ok(piece), self))
    }

    /// The pictures, or why there are none.
    async fn last(&mut self) -> Bytes {
        self.stage = StreamStage::Ended;
        let app: &App = &self.news.app;
        let events = if self.job.state == JobState::Succeeded {
            answer::finished(app, |_| true, &self.job, self.wire.closing).await
        } else {
            Err(refusal_of(&self.job))
        };
        let bytes = match events {
            Ok(events) => {
                let mut text: String = events.iter().map(text_of).collect();
                text.push_str(self.wire.end);
                counted(app, &self.holder, text.into()).await
            }
            Err(refusal) => Ok(self.failure(&refusal)),
        };
        bytes.unwrap_or_else(|denial| self.failure(&denial.refusal))
    }

    fn failure(&self, refusal: &Refusal) -> Bytes {
        let body = Value::Object(reply::denied_body(self.shape, refusal));
        let mut text = text_of(&body);
        text.push_str(self.wire.end);
        text.into()
    }
}

fn text_of(event: &Value) -> String {
    format!("data: {event}\n\n")
}

fn event(event: &Value) -> Bytes {
    text_of(event).into()
}
