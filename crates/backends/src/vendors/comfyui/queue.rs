//! Prompts in the server's queue: how one gets there, and what has become of it.

use atelier_contract::FaultKind;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::server::{CALL, ComfyUi};
use crate::backend::{Acceptance, Class, Fault, PollOutcome, Work};
use crate::http::VendorRequest;
use crate::vendor_errors;

/// A queue or a history of thousands of prompts is long.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// What has become of a prompt.
pub(super) enum PromptState {
    /// Nothing is known of it.
    Unknown,
    /// It waits or runs.
    Queued,
    /// It has ended; the entry of the history.
    Ended(Value),
}

/// The identifier of a prompt, the same whenever it is asked for.
pub(super) fn id(attempt_id: &str, index: u32) -> String {
    let hash = Sha256::digest(format!("{attempt_id}/{index}"));
    let mut number = [0; 16];
    number.copy_from_slice(&hash[..16]);
    // The marks of an identifier that is made by its maker's own rule.
    number[6] = number[6] & 0x0f | 0x80;
    number[8] = number[8] & 0x3f | 0x80;
    let hex = format!("{:032x}", u128::from_be_bytes(number));
    format!(
        "{}-{}-{}-{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..]
    )
}

impl ComfyUi {
    /// Queues one workflow and gives its identifier.
    pub(super) async fn queued(&self, id: &str, graph: &Value) -> Result<String, Fault> {
        // Each prompt has a client of its own, to which the server says how far it is.
        let body = json!({"prompt": graph, "client_id": id, "prompt_id": id});
        let call = VendorRequest::post_json("prompt", &body).within(CALL);
        let answer = self.http.submit(call).await?;
        if !answer.is_good() {
            let fault = vendor_errors::fault_of_start(&answer);
            return Err(match fault.class {
                // The workflow is the operator's: the caller learns nothing from what is wrong with it, and another
                // back end may well do it.
                Class::BadRequest => cannot_run(answer.start()),
                _ => fault,
            });
        }
        let taken = |fault: Fault| Fault {
            taken: Acceptance::Perhaps,
            ..fault
        };
        let body = answer.json().map_err(taken)?;
        // Older servers give identifiers of their own.
        let given = body["prompt_id"].as_str().filter(|given| is_id(given));
        let given = given
            .ok_or_else(|| vendor_errors::unexpected(&answer))?
            .to_owned();
        // The server runs what it can of a workflow and leaves the rest out; a part of it is not what was asked for.
        let errors = &body["node_errors"];
        if errors.as_object().is_some_and(|errors| !errors.is_empty()) {
            self.stop(std::slice::from_ref(&given)).await;
            return Err(cannot_run(vendor_errors::shortened(&errors.to_string())));
        }
        Ok(given)
    }

    /// What has become of a prompt. It moves from the queue to the history, so the history is asked twice.
    pub(super) async fn state(&self, id: &str) -> Result<PromptState, Fault> {
        if let Some(entry) = self.history(id).await? {
            return Ok(PromptState::Ended(entry));
        }
        let queue = self.asked("queue").await?;
        // Only a queue that shows itself can say that a prompt is not in it.
        let is_there = is_in(&queue, id)
            .ok_or_else(|| Fault::vendor(Class::Retry, "an answer that is no queue"))?;
        if is_there {
            return Ok(PromptState::Queued);
        }
        Ok(match self.history(id).await? {
            Some(entry) => PromptState::Ended(entry),
            None => PromptState::Unknown,
        })
    }

    async fn history(&self, id: &str) -> Result<Option<Value>, Fault> {
        let mut history = self.asked(&format!("history/{id}")).await?;
        if !history.is_object() {
            return Err(Fault::vendor(Class::Retry, "an answer that is no history"));
        }
        let entry = history.get_mut(id).map(Value::take);
        // An entry without a status is still being written.
        Ok(entry.filter(|entry| entry["status"].is_object() || entry["outputs"].is_object()))
    }

    /// What the server answers to a question, as JSON.
    pub(super) async fn asked(&self, path: &str) -> Result<Value, Fault> {
        let answer = self
            .http
            .ask(VendorRequest::get(path).at_most(MOST_BYTES))
            .await?;
        if !answer.is_good() {
            return Err(match vendor_errors::fault_of(&answer) {
                // The route is missing, not the work.
                fault if fault.class == Class::Gone => Fault::vendor(Class::Retry, fault.detail),
                fault => fault,
            });
        }
        answer.json()
    }

    /// Asks how far all prompts of a ticket are.
    pub(super) async fn polled(&self, work: &Work, ids: &[String]) -> Result<PollOutcome, Fault> {
        if ids.is_empty() || !ids.iter().all(|id| is_id(id)) {
            return Err(Fault::ours("a ticket without prompts"));
        }
        let mut ended = Vec::new();
        for id in ids {
            match self.state(id).await? {
                PromptState::Ended(entry) => {
                    if let Some(fault) = failed(&entry) {
                        if fault.class == Class::Retry {
                            self.free_memory(&entry).await;
                        }
                        return Ok(PollOutcome::Failed(fault));
                    }
                    ended.push(entry);
                }
                PromptState::Queued => {
                    work.progress.set((ended.len() * 90 / ids.len()) as u8);
                    return Ok(PollOutcome::Running(self.settings.poll));
                }
                // The server was restarted: its queue is gone, and making costs nothing.
                PromptState::Unknown => {
                    let fault = Fault::vendor(Class::Retry, "the server forgot the prompt");
                    return Ok(PollOutcome::Failed(fault));
                }
            }
        }
        self.collected(work, &ended).await
    }

    /// A server that ran out of memory is asked to let go of its models.
    async fn free_memory(&self, entry: &Value) {
        if exception(entry).is_some_and(is_memory) {
            let body = json!({"unload_models": true, "free_memory": true});
            let _ = self.http.ask(VendorRequest::post_json("free", &body)).await;
        }
    }
}

/// Why a prompt ended without a result, if so.
fn failed(entry: &Value) -> Option<Fault> {
    if entry["status"]["status_str"] != "error" {
        return None;
    }
    let raised = exception(entry);
    let text = raised.map(ToString::to_string).unwrap_or_default();
    let detail = vendor_errors::shortened(&text);
    Some(match raised {
        // What is wrong with a node here may well work elsewhere.
        Some(exception) if !is_memory(exception) => Fault {
            detail: vendor_errors::shortened(&node_error(exception)),
            ..Fault::new(
                Class::Unable,
                FaultKind::Internal,
                "the back end could not make this",
            )
        },
        _ => Fault::vendor(
            Class::Retry,
            format!("interrupted or out of memory: {detail}"),
        ),
    })
}

/// The fault of a workflow that this server cannot run as it stands.
fn cannot_run(detail: String) -> Fault {
    Fault {
        detail,
        ..Fault::new(
            Class::Unable,
            FaultKind::BadParameter,
            "the back end cannot work with this request",
        )
    }
}

/// Which node failed and what it said, for operators.
fn node_error(exception: &Value) -> String {
    let text = |name: &str| exception[name].as_str().unwrap_or_default().trim();
    format!(
        "node {} ({}): {}: {}",
        text("node_id"),
        text("node_type"),
        text("exception_type"),
        text("exception_message")
    )
}

/// What the node that failed said; nothing when the prompt was interrupted.
fn exception(entry: &Value) -> Option<&Value> {
    let messages = entry["status"]["messages"].as_array()?;
    let found = messages
        .iter()
        .find(|message| message[0] == "execution_error")?;
    Some(&found[1])
}

fn is_memory(exception: &Value) -> bool {
    let part = |name: &str| {
        exception[name]
            .as_str()
            .unwrap_or_default()
            .to_ascii_lowercase()
    };
    let text = part("exception_message") + &part("exception_type");
    text.contains("out of memory") || text.contains("outofmemory")
}

/// Whether a prompt waits or runs; `None` when the answer is no queue.
fn is_in(queue: &Value, id: &str) -> Option<bool> {
    let running = queue["queue_running"].as_array()?;
    let pending = queue["queue_pending"].as_array()?;
    let mut items = running.iter().chain(pending);
    Some(items.any(|item| item[1] == id))
}

fn is_id(id: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !id.is_empty() && id.len() <= 100 && id.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_repeat_and_differ_by_attempt_and_number() {
        let one = id("018f-1", 0);
        assert_eq!(one, id("018f-1", 0));
        assert!(one != id("018f-2", 0) && one != id("018f-1", 1));
        let parts: Vec<usize> = one.split('-').map(str::len).collect();
        assert_eq!(parts, [8, 4, 4, 4, 12]);
        assert!(is_id(&one));
    }
}
