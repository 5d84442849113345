//! Prices are one set for all nodes: whatever node an operator talks to, every node quotes the new ones at once.

use std::time::Duration;

use atelier_contract::{Quota, Refusal};
use atelier_engine::records::Period;
use atelier_engine::{Caller, Engine};
use serde_json::json;

use crate::rig::Rig;
use crate::stopwatch::Stopwatch;

async fn quoted(engine: &Engine, caller: &Caller) -> Quota {
    let request = json!({ "prompt": "a boat" });
    let request = request.as_object().expect("an object").clone();
    let quote = engine
        .intake()
        .quote(caller, "artgen.imagine", request, false);
    quote.await.expect("a price")
}

fn price(amount: i64) -> Vec<(String, Quota)> {
    let amount = Quota::from_thousandths(amount);
    vec![
        ("artgen.imagine.fast".to_owned(), amount),
        ("artgen.imagine.relax".to_owned(), amount),
    ]
}

#[tokio::test]
async fn every_node_quotes_new_prices_within_a_second() {
    let rig = Rig::new().await;
    let caller = rig.account(100).await;
    let second = rig.second_node();
    let running = second.run().await.expect("it runs");
    assert_eq!(
        quoted(&second, &caller).await,
        Quota::from_thousandths(4_000)
    );
    rig.engine
        .admin()
        .prices()
        .set("root", price(7_500))
        .await
        .expect("changed");
    let wanted = Quota::from_thousandths(7_500);
    assert_eq!(quoted(&rig.engine, &caller).await, wanted);
    let quotes = async {
        while quoted(&second, &caller).await != wanted {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let changed = Stopwatch::start();
    let heard = tokio::time::timeout(Duration::from_mins(1), quotes).await;
    heard.expect("the other node has heard of it");
    assert!(changed.elapsed() < Duration::from_secs(1), "too late");
    running.stop(Duration::ZERO).await;
}

#[tokio::test]
async fn one_wrong_price_changes_none() {
    let rig = Rig::new().await;
    let caller = rig.account(100).await;
    let before = quoted(&rig.engine, &caller).await;
    let mut prices = price(9_000);
    prices.push(("cheese".to_owned(), Quota::ZERO));
    let refused: Refusal = rig
        .engine
        .admin()
        .prices()
        .set("root", prices)
        .await
        .expect_err("nobody sells cheese");
    assert_eq!(refused.field.as_deref(), Some("prices"));
    rig.engine.admin().prices().load().await.expect("read");
    assert_eq!(quoted(&rig.engine, &caller).await, before);
    let (acts, _) = rig
        .engine
        .admin()
        .reports()
        .audit(Period::default(), 1, 10)
        .await
        .expect("a page");
    assert!(acts.iter().all(|act| act.action != "prices.change"));
}
