//! The prompts of one piece of work on their way into the queue. Whoever stops waiting leaves nothing behind: what the
//! server still makes of a submit is stopped when it answers.

use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use serde_json::Value;

use super::server::ComfyUi;
use crate::backend::Fault;
use crate::http::{fence, with_fence};

/// Prompts that nobody has taken over yet.
pub(super) struct PendingPrompts<'a> {
    owner: &'a ComfyUi,
    sent: Vec<String>,
    under_way: Option<(String, JoinHandle<Result<String, Fault>>)>,
}

impl ComfyUi {
    /// A piece of work that begins.
    pub(super) fn submits(&self) -> PendingPrompts<'_> {
        PendingPrompts {
            owner: self,
            sent: Vec::new(),
            under_way: None,
        }
    }
}

impl PendingPrompts<'_> {
    /// Queues one more workflow.
    pub(super) async fn add(&mut self, id: String, graph: Value) -> Result<(), Fault> {
        let (owner, own) = (self.owner.clone(), id.clone());
        // A task of its own is held against the same.
        let fence = fence();
        let submit = async move {
            let queued = owner.queued(&own, &graph);
            match fence {
                Some(fence) => with_fence(fence, queued).await,
                None => queued.await,
            }
        };
        let submit = self.owner.cleanup_tasks.spawn(submit);
        let (_, submit) = self.under_way.insert((id, submit));
        let answer = submit.await;
        self.under_way = None;
        let answer = answer.map_err(|error| Fault::ours(error.to_string()))?;
        match answer {
            Ok(given) => {
                self.sent.push(given);
                Ok(())
            }
            Err(fault) => {
                // A part of the work is worth nothing: what was queued before is taken back.
                self.owner.stop(&std::mem::take(&mut self.sent)).await;
                Err(fault)
            }
        }
    }

    /// The prompts, which are somebody else's business from now on.
    pub(super) fn finish(mut self) -> Vec<String> {
        std::mem::take(&mut self.sent)
    }
}

impl Drop for PendingPrompts<'_> {
    fn drop(&mut self) {
        let mut ids = std::mem::take(&mut self.sent);
        let under_way = self.under_way.take();
        let (true, Ok(runtime)) = (
            !ids.is_empty() || under_way.is_some(),
            Handle::try_current(),
        ) else {
            return;
        };
        let owner = self.owner.clone();
        let stop = async move {
            if let Some((id, submit)) = under_way {
                ids.push(match submit.await {
                    Ok(Ok(given)) => given,
                    _ => id,
                });
            }
            owner.stop(&ids).await;
        };
        self.owner.cleanup_tasks.spawn_on(stop, &runtime);
    }
}
