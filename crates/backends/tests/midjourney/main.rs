//! midjourney-proxy against a server that speaks both of its dialects: what the server was asked, and what the adapter
//! concluded.

mod endings;
mod faults;
mod follow;
mod submits;

#[path = "../relay/server.rs"]
mod server;
#[path = "../relay/work.rs"]
mod work;

use serde_json::{Value, json};

use atelier_contract::{Job, JobId};
use server::{RecordedRequest, Remote, Reply};

/// The vendor's name.
const NAME: &str = "midjourney-proxy";

/// An accepted submit.
fn accepted(id: &str) -> Reply {
    Reply::Json(
        200,
        json!({ "code": 1, "description": "ok", "result": id, "properties": {} }),
    )
}

/// A proxy that takes everything as task 17.
fn accepting() -> Remote {
    Remote::start(|_| accepted("17"))
}

/// What the proxy is asked for a body, with these settings.
async fn sent(name: &str, body: &Value, parent: Option<&Job>, settings: Value) -> RecordedRequest {
    let proxy = accepting();
    let worker = proxy.worker(NAME, settings);
    let (work, _) = work::work(name, body, parent, &[]);
    worker.start(work).await.expect("accepted");
    assert_eq!(proxy.asked().len(), 1);
    proxy.last()
}

/// A finished job `ours` of the proxy's task 5, with these buttons.
async fn finished(name: &str, body: &Value, buttons: Value, parent: Option<&Job>) -> Job {
    let proxy = Remote::start(move |asked| match asked.path.as_str() {
        "/mj/task/5/fetch" => Reply::Json(
            200,
            json!({ "id": "5", "status": "SUCCESS", "imageUrl": "/a.png", "buttons": buttons }),
        ),
        "/a.png" => Reply::Raw(200, "", work::png(64, 48, [7; 4])),
        _ => accepted("5"),
    });
    let (work, job) = work::work(name, body, parent, &[]);
    let made = work::finish(&*proxy.worker(NAME, Value::Null), &work).await;
    let mut job = work::settled(job, &made.expect("made"));
    job.id = JobId::new("ours");
    job
}

/// A finished grid with the usual buttons.
async fn grid() -> Job {
    let buttons: Vec<Value> = (1..=4)
        .flat_map(|n| {
            [
                json!({ "customId": format!("MJ::JOB::upsample::{n}::abc"), "label": format!("U{n}") }),
                json!({ "customId": format!("MJ::JOB::variation::{n}::abc"), "label": format!("V{n}") }),
            ]
        })
        .collect();
    let body = json!({ "prompt": "a fox --ar 4:3", "mode": "relax" });
    finished("artgen.imagine", &body, json!(buttons), None).await
}
