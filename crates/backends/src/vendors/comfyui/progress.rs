//! How far a prompt is, as the server tells while it runs. Nothing depends on it: without these messages a job only
//! shows no progress.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, timeout};

use super::server::ComfyUi;
use crate::backend::{ProgressTracker, Work};

/// How long the line may take to open; a prompt does not wait longer for it.
const OPENING: Duration = Duration::from_secs(3);
/// Nobody listens longer to one prompt.
const LONGEST: Duration = Duration::from_hours(1);
/// The most that messages say; the rest is fetching.
const MOST: f64 = 95.0;

impl ComfyUi {
    /// Listens to what the server says about a prompt that is about to be queued, until it has ended.
    pub(super) async fn listen_to(&self, id: &str, nodes: usize, work: &Work) {
        let opened = timeout(OPENING, self.http.listen(&format!("ws?clientId={id}"))).await;
        let Ok(Ok(mut messages)) = opened else {
            return;
        };
        let (gauge, cancelled) = (work.progress.clone(), work.cancelled.clone());
        let (id, until) = (id.to_owned(), Instant::now() + LONGEST);
        self.cleanup_tasks.spawn(async move {
            let listening = async {
                while let Some(message) = messages.next().await {
                    let message = serde_json::from_slice(&message).unwrap_or(Value::Null);
                    if !apply_message(&message, &id, nodes, &gauge) {
                        return;
                    }
                }
            };
            tokio::select! {
                () = cancelled.cancelled() => {}
                () = tokio::time::sleep_until(until) => {}
                () = listening => {}
            }
        });
    }
}

/// Takes a message; false when it is the last one about the prompt.
fn apply_message(message: &Value, id: &str, nodes: usize, gauge: &ProgressTracker) -> bool {
    let data = &message["data"];
    if data["prompt_id"] != id {
        return true;
    }
    match message["type"].as_str().unwrap_or_default() {
        "progress_state" => {
            let all = data["nodes"].as_object().into_iter().flatten();
            let done: f64 = all.map(|(_, node)| share(node)).sum();
            gauge.set((done / nodes.max(1) as f64 * MOST).min(MOST) as u8);
            true
        }
        "executing" => !data["node"].is_null(),
        "execution_success" | "execution_error" | "execution_interrupted" => false,
        _ => true,
    }
}

/// How much of a node is done, from 0 to 1.
fn share(node: &Value) -> f64 {
    if node["state"] == "finished" {
        return 1.0;
    }
    let number = |name: &str| node[name].as_f64().unwrap_or(0.0);
    (number("value") / number("max").max(1.0)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn finished_nodes_and_steps_of_the_running_one_are_counted() {
        let gauge = ProgressTracker::default();
        let state = json!({"type": "progress_state", "data": {"prompt_id": "p", "nodes": {
            "1": {"value": 1, "max": 1, "state": "finished"},
            "2": {"value": 5, "max": 10, "state": "running"},
        }}});
        assert!(apply_message(&state, "other", 4, &gauge));
        assert_eq!(gauge.get(), 0, "somebody else's prompt");
        assert!(apply_message(&state, "p", 4, &gauge));
        assert_eq!(gauge.get(), 35);
        let last = json!({"type": "executing", "data": {"prompt_id": "p", "node": null}});
        assert!(!apply_message(&last, "p", 4, &gauge));
    }
}
