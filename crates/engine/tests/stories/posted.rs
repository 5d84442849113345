//! A vendor that says what came of its work in posts alone: what it posts is kept until the job is looked at, by whichever node,
//! and a post that cannot be kept comes again.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use atelier_backends::WebhookRequest;
use atelier_contract::{Code, JobId, JobState};
use atelier_engine::{Caller, Runner};
use serde_json::{Value, json};

use crate::hosted::cog_settings;
use crate::kills::connected_at;
use crate::local::picture;
use crate::rig::Rig;
use crate::stand::{Reply, Stand, base64, json as answer, status};

fn settings() -> Value {
    let mut settings = cog_settings();
    settings["webhook"] = json!(true);
    settings
}

/// A server that takes orders; how it answers the first one.
fn server(first: Reply) -> Stand {
    let orders = AtomicUsize::new(0);
    Stand::new(move |seen| {
        if !seen.line.starts_with("PUT ") {
            return answer(&json!({}));
        }
        match orders.fetch_add(1, Ordering::Relaxed) {
            0 => first.clone(),
            _ => taken(),
        }
    })
}

fn taken() -> Reply {
    status(202, &json!({"id": "x", "status": "starting"}))
}

/// An order of the server's.
struct Order {
    backend: String,
    token: String,
    /// The name of the prediction.
    name: String,
}

impl Order {
    /// The latest one.
    fn at(stand: &Stand) -> Self {
        let order = stand.asked("PUT").pop().expect("an order");
        let hook = order.json()["webhook"].as_str().map(str::to_owned);
        let hook = hook.expect("an address");
        let base = "https://own.example/hooks/v1/";
        let (backend, token) = hook
            .strip_prefix(base)
            .and_then(|rest| rest.split_once('/'))
            .expect("the own address");
        let (_, name) = order.line.rsplit_once('/').expect("a name");
        Self {
            backend: backend.to_owned(),
            token: token.to_owned(),
            name: name.to_owned(),
        }
    }

    /// What the server posts when it is done.
    fn done(&self) -> WebhookRequest {
        let picture = format!("data:image/png;base64,{}", base64(picture()));
        let body = json!({"id": self.name, "status": "succeeded", "output": picture,
            "metrics": {"predict_time": 1.5}});
        WebhookRequest {
            body: body.to_string().into(),
            ..WebhookRequest::default()
        }
    }

    async fn post(&self, runner: &Runner, post: &WebhookRequest) -> Result<bool, Code> {
        let heard = runner.vendor_hook(&self.backend, &self.token, post).await;
        heard.map_err(|refusal| refusal.code)
    }
}

async fn asked(rig: &Rig, caller: &Caller) -> JobId {
    let body = json!({"prompt": "a fox"});
    let id = rig.call(caller, "imgmodel.chat", body, false).await;
    id.expect("accepted")
}

async fn until_ordered(rig: &Rig, stand: &Stand, times: usize) {
    for _ in 0..1_000 {
        if stand.asked("PUT").len() >= times {
            return;
        }
        rig.rest().await;
        rig.clock.advance(1_000);
        rig.engine.renew_step().await.expect("renewed");
    }
    panic!("it was not ordered {times} times");
}

async fn kept(rig: &Rig) -> usize {
    let stored = rig.stored().await;
    let kept = stored.iter().filter(|key| key.starts_with("in/posted/"));
    kept.count()
}

async fn succeeded(rig: &Rig, caller: &Caller, id: &JobId) {
    rig.until_final(caller, id).await;
    let job = rig.job(caller, id).await;
    assert_eq!(job.state, JobState::Succeeded, "{:?}", job.message);
    assert_eq!(job.quota, job.price);
    rig.check_books().await;
}

#[tokio::test]
async fn a_post_is_kept_for_whichever_node_looks_next() {
    let stand = server(taken());
    let mut rig = connected_at("cog", &settings(), &stand).await;
    let caller = rig.account(1_000).await;
    let id = asked(&rig, &caller).await;
    until_ordered(&rig, &stand, 1).await;
    rig.rest().await;
    let order = Order::at(&stand);
    let (runner, post) = (rig.engine.runner(), order.done());
    let (last, rest) = (
        &order.token[order.token.len() - 1..],
        &order.token[..order.token.len() - 1],
    );
    let forged = format!("{rest}{}", if last == "0" { "1" } else { "0" });
    for (backend, token) in [
        (&*order.backend, &*forged),
        ("another", &order.token),
        (&order.backend, "x"),
    ] {
        assert_eq!(runner.vendor_hook(backend, token, &post).await, Ok(false));
    }
    let halfway = WebhookRequest {
        body: json!({"id": order.name, "status": "processing"})
            .to_string()
            .into(),
        ..WebhookRequest::default()
    };
    assert_eq!(order.post(runner, &halfway).await, Ok(true));
    assert_eq!(kept(&rig).await, 0, "neither strangers nor news are kept");
    assert_eq!(order.post(runner, &post).await, Ok(true));
    assert_eq!(kept(&rig).await, 1);
    assert_eq!(rig.state(&caller, &id).await, JobState::Running);
    // The node dies before it looks.
    rig.restart().await;
    succeeded(&rig, &caller, &id).await;
    assert_eq!(stand.asked("PUT").len(), 1, "it was ordered once");
    // Nobody needs it any more, and once its job could not have gone on it is deleted.
    let late = Order::at(&stand);
    assert_eq!(late.post(rig.engine.runner(), &post).await, Ok(true));
    rig.clock.advance(24 * 3_600_000);
    while rig.engine.assets().expire_step().await.expect("a step") {}
    assert_eq!(kept(&rig).await, 0);
}

#[tokio::test]
async fn a_post_that_cannot_be_kept_is_refused_so_that_it_comes_again() {
    let stand = server(taken());
    let rig = connected_at("cog", &settings(), &stand).await;
    let caller = rig.account(1_000).await;
    let id = asked(&rig, &caller).await;
    until_ordered(&rig, &stand, 1).await;
    rig.rest().await;
    let (runner, order) = (rig.engine.runner(), Order::at(&stand));
    rig.break_asset_store();
    assert_eq!(
        order.post(runner, &order.done()).await,
        Err(Code::Overloaded)
    );
    rig.rest().await;
    assert_eq!(rig.state(&caller, &id).await, JobState::Running);
    rig.mend_asset_store();
    assert_eq!(order.post(runner, &order.done()).await, Ok(true));
    succeeded(&rig, &caller, &id).await;
}

#[tokio::test]
async fn a_job_whose_post_never_comes_ends_at_its_deadline_and_costs_nothing() {
    let stand = server(taken());
    let rig = connected_at("cog", &settings(), &stand).await;
    let caller = rig.account(1_000).await;
    let id = asked(&rig, &caller).await;
    until_ordered(&rig, &stand, 1).await;
    rig.until_final(&caller, &id).await;
    rig.rest().await;
    let job = rig.job(&caller, &id).await;
    assert_eq!(job.state, JobState::Failed);
    let late_ms = job.finished_ms.expect("an end") - job.deadline_ms;
    assert!((0..=10_000).contains(&late_ms), "{late_ms}");
    assert_eq!(rig.purse(&caller).await, ("1000".into(), "0".into()));
    stand.until_asked("/cancel", 1).await;
    assert_eq!(stand.asked("PUT").len(), 1);
    // What comes afterwards is nobody's.
    let order = Order::at(&stand);
    assert_eq!(
        order.post(rig.engine.runner(), &order.done()).await,
        Ok(true)
    );
    assert_eq!(kept(&rig).await, 0);
    rig.check_books().await;
}

#[tokio::test]
async fn an_order_whose_answer_was_lost_is_repeated_under_its_name() {
    let stand = server(Reply::Cut);
    let rig = connected_at("cog", &settings(), &stand).await;
    let caller = rig.account(1_000).await;
    let id = asked(&rig, &caller).await;
    until_ordered(&rig, &stand, 2).await;
    rig.rest().await;
    let orders = stand.asked("PUT");
    assert_eq!(orders[0].line, orders[1].line);
    let order = Order::at(&stand);
    assert_eq!(
        order.post(rig.engine.runner(), &order.done()).await,
        Ok(true)
    );
    succeeded(&rig, &caller, &id).await;
    assert_eq!(stand.asked("PUT").len(), 2);
}

#[tokio::test]
async fn what_was_posted_while_nobody_knew_that_it_was_ordered_is_the_result() {
    let silence = Reply::After(Duration::from_secs(30), Box::new(Reply::Cut));
    let stand = server(silence);
    let mut rig = connected_at("cog", &settings(), &stand).await;
    let caller = rig.account(1_000).await;
    let id = asked(&rig, &caller).await;
    until_ordered(&rig, &stand, 1).await;
    // The node dies while its order is out, and another one hears what came of it.
    let order = Order::at(&stand);
    rig.restart().await;
    let _ = rig.engine.runner().pool_step().await;
    assert_eq!(
        order.post(rig.engine.runner(), &order.done()).await,
        Ok(true)
    );
    succeeded(&rig, &caller, &id).await;
    assert_eq!(stand.asked("PUT").len(), 1, "it was ordered once");
}
