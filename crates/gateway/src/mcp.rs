//! The Model Context Protocol: agents use the same jobs, ledger and quota as everybody. A request is answered by any node;
//! a session is only a name, so nothing of it has to be found again. The official SDK was measured and left out: it takes
//! more than five times as long to build as tokio, keeps sessions in one process and wants an HTTP stack of its own.

mod agent;
mod envelope;
mod follow;
mod resources;
mod results;
mod tool_result;
mod tools;

use std::sync::Arc;

use atelier_contract::body::Fields;
use atelier_contract::models::DEFAULT_GROUP;
use atelier_contract::{Code, JobId, Refusal};
use atelier_engine::{Call, Ids};
use hyper::StatusCode;
use hyper::header::{HeaderName, HeaderValue};
use serde_json::{Value, json};

use crate::http::rate::TOO_MANY_BY_KEY;
use crate::http::reply::{self, Reply};
use envelope::{UNKNOWN_METHOD, WRONG_PARAMS};
use follow::CallStream;
use tools::ToolAction;

pub(crate) use agent::Agent;
pub(crate) use envelope::McpHeaders;

/// The revisions that begin with a handshake, the newest first; a later one has none.
const REVISIONS: [&str; 3] = ["2025-11-25", "2025-06-18", "2025-03-26"];
/// The header that names a session.
pub(crate) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// What an agent is told about the whole.
const INSTRUCTIONS: &str = "Makes and edits pictures and clips. Each tool that makes something costs quota and waits for \
    the result; if it says that the job is still running, call wait_for_job with its jobId. Pictures come as small \
    previews with a link to the whole file. `quota` says what is left.";

pub(crate) async fn answer(mut agent: Agent, message: Fields) -> Reply {
    let method = message
        .get("method")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    let id = message.get("id").filter(|id| !id.is_null()).cloned();
    let params = message.get("params").cloned().unwrap_or(Value::Null);
    let Some(id) = id else {
        if method == "notifications/cancelled" {
            cancel(&agent, &params["requestId"]).await;
        }
        return reply::accepted();
    };
    agent.modern = match envelope::check_revision(&agent.mcp_headers, &method, &params) {
        Ok(modern) => modern,
        Err((code, words, helps)) => return rpc_error_with_status(&id, code, &words, &helps),
    };
    let modern = agent.modern;
    let result = match method.as_str() {
        "initialize" if !modern => return initialize(&id, &params),
        "server/discover" if modern => Ok(json!({
            "supportedVersions": [envelope::REVISION],
            "capabilities": capabilities(),
            "instructions": INSTRUCTIONS,
        })),
        "ping" => Ok(json!({})),
        "tools/list" => {
            let group = agent.caller.group.as_deref().unwrap_or(DEFAULT_GROUP);
            let (models, now_ms) = (agent.app.models(), agent.app.engine.now_ms());
            let all = tools::tools_of(&models, now_ms, group);
            Ok(json!({ "tools": tools::list(&all, &agent.only) }))
        }
        "tools/call" => return use_tool(agent, id, params).await,
        "resources/list" => resources::list(&agent.app, &agent.caller).await,
        "resources/templates/list" => Ok(resources::templates()),
        "resources/read" => resources::read(&agent.app, &agent.caller, &params).await,
        "" => return reply::accepted(),
        other => {
            let words = format!("there is no method `{other}`");
            return if modern {
                rpc_error_with_status(&id, UNKNOWN_METHOD, &words, &Value::Null)
            } else {
                rpc_error(&id, UNKNOWN_METHOD, &words)
            };
        }
    };
    match result {
        Ok(result) if modern => rpc_result(&id, &envelope::wrap_result(&method, &result)),
        Ok(result) => rpc_result(&id, &result),
        Err(refusal) => rpc_error(&id, WRONG_PARAMS, &refusal.message),
    }
}

fn capabilities() -> Value {
    json!({ "tools": {}, "resources": {} })
}

/// A fault that the head of the answer says as well.
fn rpc_error_with_status(id: &Value, code: i64, words: &str, helps: &Value) -> Reply {
    let mut error = json!({ "code": code, "message": words });
    if !helps.is_null() {
        error["data"] = helps.clone();
    }
    let mut reply = reply::json_of(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
    if let Ok(status) = StatusCode::from_u16(envelope::status_of(code)) {
        *reply.status_mut() = status;
    }
    reply
}

fn rpc_result(id: &Value, result: &Value) -> Reply {
    reply::json_of(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

fn rpc_error(id: &Value, code: i64, message: &str) -> Reply {
    let error = json!({ "code": code, "message": message });
    reply::json_of(&json!({ "jsonrpc": "2.0", "id": id, "error": error }))
}

/// The first answer: which revision is spoken, and what there is.
fn initialize(id: &Value, params: &Value) -> Reply {
    let asked = params["protocolVersion"].as_str().unwrap_or_default();
    let spoken = REVISIONS
        .iter()
        .find(|one| **one == asked)
        .unwrap_or(&REVISIONS[0]);
    let mut reply = rpc_result(
        id,
        &json!({
            "protocolVersion": spoken,
            "capabilities": capabilities(),
            "serverInfo": envelope::server(),
            "instructions": INSTRUCTIONS,
        }),
    );
    if let Ok(name) = HeaderValue::from_str(&Ids::Random.uuid()) {
        reply.headers_mut().insert(SESSION, name);
    }
    reply
}

/// Ends the job of a call that is no longer wanted, whichever node took the call. Waiting for a job begun by an earlier
/// call is no call of its own: that job goes on.
async fn cancel(agent: &Agent, id: &Value) {
    let Some(name) = agent.name_of(id) else {
        return;
    };
    let (jobs, account) = (agent.app.engine.jobs(), &agent.caller.account_id);
    if let Ok(job) = jobs.called(account, &name).await {
        // A job that is over already stays as it is.
        let _ = jobs.cancel(account, &job).await;
    }
}

/// Uses a tool. What is refused is told to the model, which can put it right.
async fn use_tool(agent: Agent, id: Value, params: Value) -> Reply {
    let name = params["name"].as_str().unwrap_or_default();
    let all = tools::tools(&agent.app.models(), agent.app.engine.now_ms());
    let Some(tool) = tools::find(&all, name, &agent.only) else {
        return rpc_error(&id, WRONG_PARAMS, &format!("there is no tool `{name}`"));
    };
    let token = params["_meta"].get("progressToken").cloned();
    let mut arguments = params["arguments"].as_object().cloned().unwrap_or_default();
    let wait = tools::take_wait(&mut arguments);
    let modern = agent.modern;
    let tool_result = |result: &Value| {
        if modern {
            rpc_result(&id, &envelope::wrap_result("tools/call", result))
        } else {
            rpc_result(&id, result)
        }
    };
    let begins = matches!(tool, ToolAction::Submit(..));
    let job = match tool {
        ToolAction::Submit(..) => {
            let idempotency_key = agent.name_of(&id);
            submitted(&agent, tool, arguments, idempotency_key).await
        }
        ToolAction::Wait => named_job(&arguments),
        ToolAction::List | ToolAction::Cancel | ToolAction::Quota => {
            let result =
                tool_result::run_query_tool(&agent.app, &agent.caller, &tool, &arguments).await;
            return tool_result(&result.unwrap_or_else(|refusal| tool_result::refused(&refusal)));
        }
    };
    let job = match job {
        Ok(job) => job,
        Err(refusal) => return tool_result(&tool_result::refused(&refusal)),
    };
    let call = follow::PendingCall {
        job,
        begins,
        wait,
        id: id.clone(),
        token,
    };
    match CallStream::open(agent, call).await {
        Ok(flow) => reply::events(flow),
        Err(refusal) => tool_result(&tool_result::refused(&refusal)),
    }
}

/// Begins what a tool makes; it counts against the rate of the caller's key, as no other message does.
async fn submitted(
    agent: &Agent,
    tool: ToolAction,
    fields: Fields,
    idempotency_key: Option<String>,
) -> Result<JobId, Refusal> {
    let ToolAction::Submit(family, submit) = tool else {
        return Err(Refusal::missing("jobId"));
    };
    let policy = agent.caller.policy.as_deref();
    let counted = policy.map_or(Ok(()), |policy| agent.app.rates.key_submit(policy));
    counted.map_err(|_| Refusal::new(Code::RateLimited, TOO_MANY_BY_KEY))?;
    let callers = agent.app.engine.admin().callers();
    let call = Call {
        notes: Fields::new(),
        caller: callers.refreshed(&agent.caller).await?,
        family,
        submit,
        fields,
        files: Vec::new(),
        idempotency_key,
        custody: false,
        begun: agent.admission.waits_since(),
    };
    let engine = Arc::clone(&agent.app.engine);
    let submission = agent
        .admission
        .spend(async move { engine.intake().submit(call).await });
    Ok(submission.await??.job_id)
}

fn named_job(arguments: &Fields) -> Result<JobId, Refusal> {
    let id = arguments.get("jobId").and_then(Value::as_str);
    id.map(JobId::new).ok_or_else(|| Refusal::missing("jobId"))
}
