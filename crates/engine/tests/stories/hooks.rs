//! A vendor that signs what it posts: its own post has the job looked at, and nobody else's does.

use std::time::{SystemTime, UNIX_EPOCH};

use atelier_backends::WebhookRequest;
use atelier_contract::JobState;
use standardwebhooks::Webhook;

use crate::formats::FORMATS;
use crate::hosted::SECRET;
use crate::kills::connected;
use crate::local::{Local, request};

const BODY: &[u8] = br#"{"status": "succeeded"}"#;

/// A post as the official library of the scheme signs it.
#[expect(
    clippy::disallowed_methods,
    reason = "vendors sign by the time of the machine"
)]
fn signed(secret: &str) -> WebhookRequest {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let time = since.expect("after 1970").as_secs() as i64;
    let signer = Webhook::new(secret).expect("a secret");
    let signature = signer.sign("msg_1", time, BODY).expect("a signature");
    let mut post = WebhookRequest {
        body: BODY.into(),
        ..WebhookRequest::default()
    };
    let lines = [
        ("webhook-id", "msg_1".to_owned()),
        ("webhook-timestamp", time.to_string()),
        ("webhook-signature", signature),
    ];
    for (name, value) in lines {
        post.headers.insert(name, value.parse().expect("a value"));
    }
    post
}

#[tokio::test]
async fn a_signed_post_has_the_job_asked_about_at_once_and_an_unsigned_one_does_not() {
    let format = FORMATS.iter().find(|one| one.vendor == "replicate");
    let format = format.expect("its server");
    let local = Local::speaking(format);
    let rig = connected(format.vendor, &(format.settings)(), &local).await;
    let caller = rig.account(1_000).await;
    let body = request(format.operation, "");
    let id = rig.call(&caller, format.operation, body, false).await;
    let id = id.expect("accepted");
    while !local.was_asked() {
        rig.rest().await;
        rig.clock.advance(500);
    }
    let order = local.stand.asked("POST /v1/predictions").remove(0).json();
    let hook = order["webhook"].as_str().expect("an address").to_owned();
    let mut parts = hook.rsplit('/');
    let (token, backend) = (
        parts.next().expect("a token"),
        parts.next().expect("a name"),
    );
    let questions = || local.stand.asked("GET /v1/predictions/").len();
    let before = questions();
    let runner = rig.engine.runner();
    let stranger = "whsec_c29tZWJvZHkgZWxzZSdzIGtleQ==";
    for post in [WebhookRequest::default(), signed(stranger)] {
        assert_eq!(runner.vendor_hook(backend, token, &post).await, Ok(false));
        runner.poll_step();
        rig.until_quiet().await;
    }
    assert_eq!(questions(), before, "nobody asked");
    assert_eq!(rig.state(&caller, &id).await, JobState::Running);
    let heard = runner
        .vendor_hook(backend, "another", &signed(SECRET))
        .await;
    assert_eq!(heard, Ok(false));
    let heard = runner.vendor_hook(backend, token, &signed(SECRET)).await;
    assert_eq!(heard, Ok(true));
    runner.poll_step();
    for _ in 0..200 {
        rig.until_quiet().await;
        if rig.state(&caller, &id).await.is_final() {
            break;
        }
    }
    assert_eq!(rig.state(&caller, &id).await, JobState::Succeeded);
    rig.check_books().await;
}
