//! Sandbox words, tempo and cancelling.

use std::time::Duration;

use atelier_backends::backend::LostSubmit;
use atelier_backends::{Backend as _, Class, StudioSettings, Tempo};
use serde_json::json;
use tokio::time::{Instant, sleep, timeout};

use crate::defaults::studio_defaults;
use crate::studio::Studio;

fn body(prompt: &str) -> serde_json::Value {
    json!({ "prompt": prompt })
}

#[tokio::test]
async fn a_rejection_reads_like_one_of_review() {
    let studio = Studio::new();
    let (work, _) = studio.work("artgen.imagine", &body("a fox [[reject]]"), None);
    let fault = studio.make(work).await.expect_err("rejected");
    assert_eq!(fault.class, Class::Reject);
    assert!(fault.job_message().starts_with("[Image denied] "));
}

#[tokio::test]
async fn a_failure_carries_the_given_reason_and_is_not_retried() {
    let studio = Studio::new();
    let prompt = "a fox [[fail: the paint is empty]] in snow";
    let (work, _) = studio.work("artgen.imagine", &body(prompt), None);
    let fault = studio.make(work).await.expect_err("failed");
    assert_eq!(fault.message, "the paint is empty");
    assert!(!fault.class.may_pass());
}

#[tokio::test(start_paused = true)]
async fn a_delay_waits_with_rising_progress_and_is_not_painted() {
    let studio = Studio::new();
    let seeded = |words: &str| body(&format!("{words} --seed 5"));
    let (work, _) = studio.work("artgen.imagine", &seeded("a fox [[delay 1200ms]]"), None);
    let gauge = work.progress.clone();
    let begun = Instant::now();
    let watch = async {
        let mut seen = Vec::new();
        for _ in 0..3 {
            sleep(Duration::from_millis(350)).await;
            seen.push(gauge.get());
        }
        seen
    };
    let (made, seen) = tokio::join!(studio.make(work), watch);
    assert!(begun.elapsed() >= Duration::from_millis(1200));
    assert!(
        seen.is_sorted() && seen[0] < seen[1] && seen[1] < seen[2],
        "{seen:?}"
    );
    let (plain, _) = studio.work("artgen.imagine", &seeded("a fox"), None);
    let plain = studio.make(plain).await.expect("made");
    let files = |made: &atelier_backends::WorkOutput| made.notes.clone();
    assert_eq!(files(&made.expect("made")), files(&plain));
}

#[tokio::test(start_paused = true)]
async fn a_stall_never_ends_until_it_is_cancelled() {
    let studio = Studio::new();
    let (work, _) = studio.work("artgen.imagine", &body("a fox [[stall]]"), None);
    let cancelled = work.cancelled.clone();
    let making = studio.make(work);
    tokio::pin!(making);
    timeout(Duration::from_hours(1), &mut making)
        .await
        .expect_err("still running");
    cancelled.cancel();
    let outcome = timeout(Duration::from_mins(1), making).await.expect("ends");
    outcome.expect_err("no result");
}

/// Thirty-two stalled jobs hold no thread: another one still gets through.
#[tokio::test]
async fn stalled_jobs_do_not_keep_others_from_being_made() {
    let settings = StudioSettings {
        threads: 1,
        ..studio_defaults()
    };
    let studio = Studio::with(&settings);
    let stalled: Vec<_> = (0..32)
        .map(|_| {
            studio
                .work("artgen.imagine", &body("a fox [[stall]]"), None)
                .0
        })
        .collect();
    let stalled = futures_util::future::join_all(stalled.into_iter().map(|work| studio.make(work)));
    let (other, _) = studio.work("artgen.imagine", &body("a boat"), None);
    tokio::select! {
        _ = stalled => panic!("a stall ended"),
        made = studio.make(other) => { made.expect("made"); }
    }
}

/// How far work is when it has been cancelled.
const EARLY: u8 = 40;

/// Cancels work that has begun, and holds it to that; false if it was no longer early by then, which says nothing.
async fn stops_when_cancelled_early(studio: &Studio) -> bool {
    let prompt = body("a city at night, three boats, a lighthouse");
    let (work, _) = studio.work("artgen.imagine", &prompt, None);
    let (cancelled, gauge) = (work.cancelled.clone(), work.progress.clone());
    let making = studio.make(work);
    tokio::pin!(making);
    let begun = async {
        while gauge.get() == 0 {
            sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::select! {
        _ = &mut making => return false,
        () = begun => cancelled.cancel(),
    }
    let is_early = gauge.get() < EARLY;
    let outcome = making.await;
    if is_early {
        outcome.expect_err("cancelled");
        assert!(gauge.get() < 75, "{} percent", gauge.get());
    }
    is_early
}

#[tokio::test]
async fn cancelling_stops_the_work_long_before_its_end() {
    let studio = Studio::new();
    // A machine that stands still may let the work go on before it is cancelled. The first that is cancelled early decides.
    for _ in 0..10 {
        if stops_when_cancelled_early(&studio).await {
            return;
        }
    }
    panic!("none was cancelled early");
}

#[tokio::test]
async fn without_the_sandbox_its_words_are_words() {
    let settings = StudioSettings {
        sandbox: false,
        ..studio_defaults()
    };
    let studio = Studio::with(&settings);
    for words in [
        "[[stall]]",
        "[[delay 1h]] [[delay 900s]]",
        "[[fail: x]]",
        "[[reject]]",
    ] {
        let prompt = format!("a fox {words}");
        let (work, _) = studio.work("imgmodel.generations", &body(&prompt), None);
        let made = timeout(Duration::from_mins(1), studio.make(work)).await;
        let made = made.expect("nothing waits").expect("nothing fails");
        assert_eq!(made.files.len(), 1, "{words}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_realistic_tempo_takes_its_time() {
    let settings = StudioSettings {
        pace: Tempo::Realistic,
        ..studio_defaults()
    };
    let studio = Studio::with(&settings);
    let (work, _) = studio.work("artgen.imagine", &body("a fox"), None);
    let gauge = work.progress.clone();
    timeout(Duration::from_millis(2500), studio.make(work))
        .await
        .expect_err("not yet");
    assert!((1..50).contains(&gauge.get()), "{}", gauge.get());
}

#[test]
fn lost_submits_may_be_repeated() {
    let studio = Studio::new();
    assert_eq!(studio.backend.lost_submit(), LostSubmit::Repeat);
    assert!(!studio.backend.serves("artgen.nonsense"));
}
