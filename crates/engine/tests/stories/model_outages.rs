//! A model with two vendors: one goes away, its traffic moves to the other, and comes back with it.

use std::sync::Arc;

use atelier_contract::JobState;
use atelier_engine::Caller;
use serde_json::json;

use crate::models::{create, draw, fox};
use crate::rig::Rig;
use crate::stage::Stage;
use crate::vendors::{cast, conditions};

/// Jobs of each part of the story, one after the other.
const JOBS: usize = 96;
/// How far the share of so few may be off by chance, in jobs: five times the deviation.
const CHANCE: usize = 21;

/// Makes jobs one after the other; how many of them each of two vendors took.
async fn traffic(rig: &Rig, caller: &Caller, part: &str, stages: [&Arc<Stage>; 2]) -> [usize; 2] {
    let taken = || stages.map(|stage| stage.books().taken.len());
    let before = taken();
    for number in 0..JOBS {
        let prompt = format!("at-once {part} {number}");
        let id = draw(rig, caller, "fox-1", &prompt).await;
        rig.until_final(caller, &id).await;
        let job = rig.job(caller, &id).await;
        assert_eq!(job.state, JobState::Succeeded, "{prompt}");
        assert_eq!(job.quota.to_string(), "2.5", "wherever it is made");
    }
    let after = taken();
    [after[0] - before[0], after[1] - before[1]]
}

/// The promise: while a vendor is away every job is made by the other one, and afterwards the shares are as the weights say.
#[tokio::test]
async fn the_traffic_of_a_vendor_that_is_away_moves_and_comes_back() {
    let (first, second) = (Stage::named("outage-a"), Stage::named("outage-b"));
    let rig = Rig::with_vendors().await;
    let (a, _) = cast(&rig, "outage-a", "unknown", &["one"]).await;
    let (b, _) = cast(&rig, "outage-b", "unknown", &["two"]).await;
    let caller = rig.account(10_000).await;
    let mut model = fox(&[(&a, "fox-at-a"), (&b, "fox-at-b")]);
    model["routes"][0]["weight"] = json!(3);
    create(&rig, &model).await;
    let stages = [&first, &second];
    let is_shared = |taken: [usize; 2]| {
        assert_eq!(taken[0] + taken[1], JOBS, "each is made once");
        assert!(taken[0].abs_diff(JOBS * 3 / 4) <= CHANCE, "{taken:?}");
    };
    is_shared(traffic(&rig, &caller, "before", stages).await);

    first.books().away = true;
    let asked = first.books().arrived.len();
    assert_eq!(traffic(&rig, &caller, "away", stages).await, [0, JOBS]);
    let asked = first.books().arrived.len() - asked;
    assert!(asked < JOBS / 4, "it is left alone, but for {asked} tries");
    let ill = conditions(&rig, &a).await;
    assert_eq!(ill, [("one".to_owned(), "open".to_owned())]);

    first.books().away = false;
    rig.clock.advance(3_600_000);
    rig.engine.renew_step().await.expect("renewed");
    is_shared(traffic(&rig, &caller, "back", stages).await);
    let shown = rig.engine.admin().models().one("fox-1").await.expect("it");
    assert!(shown.route_health.iter().all(|route| route.usable));
    let models = first.books().models.clone();
    let own = Some("fox-at-a".to_owned());
    assert!(models.iter().all(|model| *model == own), "by its own name");
    rig.check_books().await;
}
