//! A call that waits for its job: progress while it runs, the result at the end, or word that it goes on.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use atelier_contract::{Code, Job, JobId, Refusal};
use atelier_engine::{Caller, Changes};
use atelier_fairness::share::FairPermit;
use bytes::Bytes;
use futures_util::stream;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::agent::Agent;
use super::{envelope, tool_result};
use crate::app::App;
use crate::http::admission;
use crate::http::payload::ByteStream;

/// A silent stream says this often that it is alive.
const COMMENT_EVERY: Duration = Duration::from_secs(15);
/// The job is looked at this often even when nothing hints at a change.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What is waited for.
pub(super) struct PendingCall {
    pub(super) job: JobId,
    /// Whether the call began the job.
    pub(super) begins: bool,
    pub(super) wait: Duration,
    /// The name of the request.
    pub(super) id: Value,
    /// Names progress, when it was asked for.
    pub(super) token: Option<Value>,
}

/// A call that waits.
pub(super) struct CallStream {
    app: Arc<App>,
    caller: Caller,
    call: PendingCall,
    /// Whether the call is of the revision without a handshake: there, whoever hangs up wants its job no longer.
    modern: bool,
    changes: Changes,
    until: Instant,
    seen: Option<(i64, u8)>,
    over: bool,
    _place: FairPermit,
}

impl CallStream {
    pub(super) async fn open(agent: Agent, call: PendingCall) -> Result<ByteStream, Refusal> {
        let app = agent.app;
        let jobs = app.engine.jobs();
        jobs.job(&agent.caller.account_id, &call.job).await?;
        let place = app.event_streams.try_take(agent.admission.holder(), 1);
        let place = place.map_err(|full| {
            admission::capacity_denial(full, "too many calls wait at once").refusal
        })?;
        let follower = Self {
            changes: jobs.changes(&call.job),
            _place: place,
            until: Instant::now() + call.wait,
            seen: None,
            over: false,
            modern: agent.modern,
            caller: agent.caller,
            call,
            app: Arc::clone(&app),
        };
        Ok(Box::pin(stream::unfold(follower, next)))
    }

    /// The job as soon as it differs from what was told.
    async fn news(&self) -> Result<Job, Refusal> {
        self.changes
            .until(LOOK_EVERY, || async {
                let engine = &self.app.engine;
                if !engine.admin().callers().still_known(&self.caller).await {
                    return Some(Err(Refusal::new(
                        Code::Unauthorized,
                        "the key has expired or was revoked",
                    )));
                }
                match engine
                    .jobs()
                    .job(&self.caller.account_id, &self.call.job)
                    .await
                {
                    Ok(job) if job.state.is_final() || self.seen != Some(state(&job)) => {
                        Some(Ok(job))
                    }
                    Ok(_) => None,
                    // The store being away for a moment is no news about the job.
                    Err(refusal) if refusal.code == Code::Overloaded => None,
                    Err(refusal) => Some(Err(refusal)),
                }
            })
            .await
    }

    /// The last message of the stream.
    fn result(&mut self, result: &Value) -> Bytes {
        self.over = true;
        let sealed = self
            .modern
            .then(|| envelope::wrap_result("tools/call", result));
        let result = sealed.as_ref().unwrap_or(result);
        event(&json!({ "jsonrpc": "2.0", "id": self.call.id, "result": result }))
    }

    fn progress(&self, job: &Job) -> Bytes {
        let Some(token) = &self.call.token else {
            return Bytes::from_static(b": still here\n\n");
        };
        let params = json!({
            "progressToken": token, "progress": job.progress, "total": 100,
            "message": format!("{} {}", job.operation, job.state.word()),
        });
        event(&json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params }))
    }
}

impl Drop for CallStream {
    fn drop(&mut self) {
        let stopping = self.app.stopping.is_cancelled();
        if self.modern && self.call.begins && !self.over && !stopping {
            let (account, job) = (&self.caller.account_id, &self.call.job);
            self.app.engine.jobs().let_go(account, job);
        }
    }
}

fn state(job: &Job) -> (i64, u8) {
    (job.revision, job.progress)
}

fn event(message: &Value) -> Bytes {
    Bytes::from(format!("event: message\ndata: {message}\n\n"))
}

/// The next piece of the stream, or its end.
async fn next(mut follower: CallStream) -> Option<(io::Result<Bytes>, CallStream)> {
    if follower.over || follower.app.stopping.is_cancelled() {
        return None;
    }
    let quiet = Instant::now() + COMMENT_EVERY;
    let news = timeout_at(quiet.min(follower.until), follower.news());
    let stopping = follower.app.stopping.clone();
    let news = tokio::select! {
        news = news => news,
        () = stopping.cancelled() => return None,
    };
    let piece = match news {
        Err(_) if Instant::now() < follower.until => Bytes::from_static(b": still here\n\n"),
        Err(_) => match follower
            .app
            .engine
            .jobs()
            .job(&follower.caller.account_id, &follower.call.job)
            .await
        {
            Ok(job) => follower.result(&tool_result::unfinished(&job)),
            Err(refusal) => follower.result(&tool_result::refused(&refusal)),
        },
        Ok(Err(refusal)) => follower.result(&tool_result::refused(&refusal)),
        Ok(Ok(job)) if job.state.is_final() => {
            let result = tool_result::finished(&follower.app, &job).await;
            follower.result(&result)
        }
        Ok(Ok(job)) => {
            follower.seen = Some(state(&job));
            follower.progress(&job)
        }
    };
    Some((Ok(piece), follower))
}
