//! A real cog whose address is in `ATELIER_TEST_COG`, as `scripts/cog` starts it.

use serde_json::json;

use crate::hosted::cog_settings;
use crate::stand::{made, worker};
use crate::studio::Studio;

#[expect(
    clippy::disallowed_methods,
    reason = "a test asks its surroundings what there is to test with"
)]
fn address() -> String {
    std::env::var("ATELIER_TEST_COG").expect("ATELIER_TEST_COG names a server")
}

#[tokio::test]
#[ignore = "needs programs of others"]
async fn a_real_cog_paints_what_it_is_asked_for() {
    let connected = |settings| worker("cog", &address(), settings).expect("good settings");
    let worker = connected(cog_settings());
    worker.probe().await.expect("well");
    let studio = Studio::new();
    for size in ["1365x1024", "1024x1024"] {
        let body = json!({"prompt": "a door", "size": size});
        let (work, _) = studio.work("imgmodel.chat", &body, None);
        let made = made(&worker, work).await.expect("a picture");
        let file = &made.files[0];
        assert_eq!(format!("{}x{}", file.width, file.height), size);
        let cost = made.cost.expect("seconds of computing");
        assert!(cost.micros > 0 && cost.currency == "seconds");
    }
    let wrong = json!({"models": {"imgmodel.chat": {"model": "painter", "input": {"promt": "{{prompt}}"}}}});
    let (work, _) = studio.work("imgmodel.chat", &json!({"prompt": "x"}), None);
    let fault = made(&connected(wrong), work).await;
    let fault = fault.expect_err("it has no such input");
    assert!(fault.detail.contains("promt"), "{}", fault.detail);
}
