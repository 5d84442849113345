//! What no back end would take is refused before it costs anything, and what has no effect is said.

use atelier_contract::{Code, JobState};
use serde_json::json;

use crate::formats::server;
use crate::kills::connected;
use crate::rig::Rig;
use crate::stage::Stage;
use crate::vendors::cast;

#[tokio::test]
async fn what_every_back_end_would_refuse_is_refused_at_submit_with_its_field() {
    let (stage, rig) = (Stage::named("picky"), Rig::with_vendors().await);
    cast(&rig, "picky", "unknown", &["poor", "poorer"]).await;
    let caller = rig.account(100).await;
    let refused = rig.imagine(&caller, "too-much of it").await;
    let refused = refused.expect_err("nobody takes it");
    assert_eq!(refused.code, Code::InvalidParameter);
    assert_eq!(refused.field.as_deref(), Some("prompt"));
    assert_eq!(refused.message, "prompt: poor cannot");
    assert_eq!(rig.purse(&caller).await, ("100".into(), "0".into()));
    assert!(stage.books().arrived.is_empty(), "nobody was asked");

    // One that takes it is enough, and what has no effect there is named.
    let other = Stage::named("generous");
    cast(&rig, "generous", "unknown", &["rich"]).await;
    let id = rig.imagine(&caller, "too-much of it").await;
    let id = id.expect("somebody takes it");
    rig.until_final(&caller, &id).await;
    let job = rig.job(&caller, &id).await;
    assert_eq!(job.state, JobState::Succeeded);
    assert_eq!(job.output().expect("a result").ignored, ["seed"]);
    assert_eq!(other.taken("too-much of it"), 1);
    rig.check_books().await;
}

#[tokio::test]
async fn a_picture_that_only_lends_its_style_is_named_where_nobody_looks_at_it_and_is_not_fetched()
{
    let settings = json!({"image_model": "m", "grids": true});
    let local = server("openai", &settings);
    let rig = connected("openai", &settings, &local).await;
    let caller = rig.account(100).await;
    let prompt = format!("a fox --sref {}", local.stand.url("/style.png"));
    let id = rig.imagine(&caller, &prompt).await.expect("accepted");
    rig.until_final(&caller, &id).await;
    let job = rig.job(&caller, &id).await;
    assert_eq!(job.state, JobState::Succeeded, "{:?}", job.message);
    assert_eq!(job.output().expect("a result").ignored, ["--sref"]);
    assert!(local.stand.asked("style.png").is_empty());
}
