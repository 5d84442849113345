//! The schedule of callbacks: kept for any number of failures, given up at its end, bent only by the receiver's wish.

use atelier_engine::Caller;
use atelier_engine::records::Delivery;
use serde_json::json;

use crate::receiver::{Receiver, deliver};
use crate::rig::Rig;

/// Seconds between tries.
const SCHEDULE: [i64; 8] = [5, 30, 120, 600, 1_800, 7_200, 21_600, 43_200];

async fn only(rig: &Rig, caller: &Caller) -> Delivery {
    let listed = rig
        .engine
        .callbacks()
        .callbacks(Some(&caller.account_id), 1, 10)
        .await;
    let (mut callbacks, total) = listed.expect("listed");
    assert_eq!(total, 1);
    callbacks.remove(0)
}

async fn finished_job(rig: &Rig, caller: &Caller, receiver: &Receiver) {
    let body = json!({ "prompt": "fail a fox", "hookUrl": receiver.url });
    rig.submit(caller, body, None).await.expect("accepted");
    rig.settle_down().await;
}

/// Waits for the next try and makes it; how long it had to wait.
async fn next_try(rig: &Rig, caller: &Caller, receiver: &Receiver) -> i64 {
    let next_ms = only(rig, caller).await.next_attempt_ms().expect("due");
    let pause_ms = next_ms - rig.clock.now_ms();
    rig.clock.advance(pause_ms - 1);
    assert_eq!(
        rig.engine.callbacks().step().await.expect("a step"),
        0,
        "early"
    );
    rig.clock.advance(1);
    deliver(rig, receiver, receiver.count() + 1).await;
    pause_ms
}

#[tokio::test]
async fn a_receiver_may_fail_any_number_of_times_and_the_schedule_is_kept() {
    let story = async {
        let rig = Rig::new().await;
        for failures in 0..=SCHEDULE.len() {
            let caller = rig.account(10).await;
            let statuses: Vec<u16> = [500, 302, 404, 429, 199, 503, 301, 600]
                .into_iter()
                .take(failures)
                .chain([200])
                .collect();
            let receiver = Receiver::answering(&statuses).await;
            finished_job(&rig, &caller, &receiver).await;
            deliver(&rig, &receiver, 1).await;
            for pause_s in SCHEDULE.into_iter().take(failures) {
                let pause_ms = next_try(&rig, &caller, &receiver).await;
                let usual = pause_s * 800..=pause_s * 1200;
                assert!(usual.contains(&pause_ms), "{pause_ms} after {pause_s} s");
            }
            let callback = only(&rig, &caller).await;
            let tries = failures as i64 + 1;
            assert_eq!(
                (callback.state.as_str(), callback.attempts),
                ("delivered", tries)
            );
        }
    };
    tokio::task::LocalSet::new().run_until(story).await;
}

#[tokio::test]
async fn a_receiver_that_never_takes_it_is_given_up_and_can_be_asked_again() {
    let story = async {
        let rig = Rig::new().await;
        let caller = rig.account(10).await;
        let mut statuses = vec![500; SCHEDULE.len() + 1];
        statuses.push(204);
        let receiver = Receiver::answering(&statuses).await;
        let since_ms = rig.clock.now_ms();
        finished_job(&rig, &caller, &receiver).await;
        deliver(&rig, &receiver, 1).await;
        for _ in SCHEDULE {
            next_try(&rig, &caller, &receiver).await;
        }
        let callback = only(&rig, &caller).await;
        assert_eq!(
            (callback.state.as_str(), callback.attempts),
            ("exhausted", 9)
        );
        let (_, log) = rig
            .engine
            .callbacks()
            .callback(&caller.account_id, &callback.id)
            .await
            .expect("shown");
        let log: Vec<_> = log
            .iter()
            .map(|one| (one.attempt, one.status, one.answer_start.as_str()))
            .collect();
        let expected: Vec<_> = (1..=9).map(|number| (number, Some(500), "ok")).collect();
        assert_eq!(log, expected, "every try is in the log");
        let again = rig
            .engine
            .callbacks()
            .redeliver_since(&caller.account_id, since_ms)
            .await;
        assert_eq!(again.expect("due"), 1);
        deliver(&rig, &receiver, 10).await;
        let callback = only(&rig, &caller).await;
        assert_eq!(
            (callback.state.as_str(), callback.attempts),
            ("delivered", 10)
        );
    };
    tokio::task::LocalSet::new().run_until(story).await;
}

#[tokio::test]
async fn a_receiver_may_ask_for_more_patience_but_not_for_ever() {
    let story = async {
        let rig = Rig::new().await;
        let caller = rig.account(10).await;
        let heads = [
            "retry-after: 120",
            "retry-after: 1",
            "retry-after: 99999999",
        ];
        let heads = heads.map(|line| format!("503 X\r\n{line}\r\n"));
        let receiver = Receiver::saying(heads.to_vec()).await;
        finished_job(&rig, &caller, &receiver).await;
        deliver(&rig, &receiver, 1).await;
        assert_eq!(next_try(&rig, &caller, &receiver).await, 120_000, "longer");
        let pause_ms = next_try(&rig, &caller, &receiver).await;
        assert!(
            (24_000..=36_000).contains(&pause_ms),
            "a shorter wish: {pause_ms}"
        );
        let pause_ms = next_try(&rig, &caller, &receiver).await;
        assert_eq!(pause_ms, 3_600_000, "an hour at the most");
    };
    tokio::task::LocalSet::new().run_until(story).await;
}

#[tokio::test]
async fn tries_that_were_never_made_do_not_use_the_schedule_up() {
    let story = async {
        let rig = Rig::new().await;
        let caller = rig.account(10).await;
        let receiver = Receiver::answering(&[503, 204]).await;
        finished_job(&rig, &caller, &receiver).await;
        // A process that dies again and again after it has claimed the callback.
        for _ in 0..2 * SCHEDULE.len() {
            let now_ms = rig.clock.steady_ms();
            let claim = atelier_store::Claim {
                now_ms,
                for_ms: 1_000,
                limit: 1,
                per_route: 1,
                routes: Vec::new(),
                per_account: 1,
                accounts: Vec::new(),
            };
            let claimed = rig.store.deliveries().claim(&claim, || now_ms).await;
            let claimed = claimed.expect("claimed");
            assert_eq!(claimed.len(), 1);
            rig.clock.advance(1_000);
        }
        deliver(&rig, &receiver, 1).await;
        let pause_ms = next_try(&rig, &caller, &receiver).await;
        assert!(
            (4_000..=6_000).contains(&pause_ms),
            "the first pause: {pause_ms}"
        );
        assert_eq!(only(&rig, &caller).await.state, "delivered");
    };
    tokio::task::LocalSet::new().run_until(story).await;
}

#[tokio::test]
async fn a_callback_asked_for_again_has_the_whole_schedule_before_it() {
    let story = async {
        let rig = Rig::new().await;
        let caller = rig.account(10).await;
        let receiver = Receiver::answering(&[410, 503, 204]).await;
        finished_job(&rig, &caller, &receiver).await;
        deliver(&rig, &receiver, 1).await;
        let callback = only(&rig, &caller).await;
        assert_eq!(callback.state, "stopped");
        rig.engine
            .callbacks()
            .redeliver(&caller.account_id, &callback.id)
            .await
            .expect("due again");
        deliver(&rig, &receiver, 2).await;
        let pause_ms = next_try(&rig, &caller, &receiver).await;
        assert!((4_000..=6_000).contains(&pause_ms), "{pause_ms}");
        assert_eq!(only(&rig, &caller).await.state, "delivered");
    };
    tokio::task::LocalSet::new().run_until(story).await;
}
