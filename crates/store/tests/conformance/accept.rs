//! Accepting jobs: what is checked, in which order, and what is written.

use atelier_contract::{JobState, Speed};
use atelier_store::{AcceptOutcome, Acceptance, Guard, Idempotency, Lease};

use crate::rig::{NOW, Rig, quota};

each_db!(
    an_accepted_job_holds_its_price_and_waits,
    a_job_born_leased_runs_at_once,
    every_text_comes_back_as_it_was,
    quota_that_is_short_is_refused_and_nothing_is_held,
    a_full_queue_is_refused_by_queue_and_account,
    a_repeated_call_gives_the_first_job_and_holds_once,
    another_body_with_the_same_key_is_a_mismatch,
    a_key_is_void_after_its_time,
    a_refused_call_does_not_use_up_its_key,
    a_replay_is_answered_even_when_quota_and_queue_are_used_up,
    old_keys_are_forgotten,
    an_unknown_account_is_told,
    what_would_become_of_a_call_is_known_before_it_is_made,
);

async fn an_accepted_job_holds_its_price_and_waits(rig: Rig) {
    let id = rig.account(10, 10).await;
    let mut accept = rig.accept(&id, 4);
    accept.job.parent_id = Some("parent".into());
    accept.job.hook_url = Some("https://example.com/hook".into());
    let job_id = accept.job.id.clone();
    assert_eq!(
        rig.take(accept.clone()).await,
        AcceptOutcome::New {
            fence: 0,
            begun: false
        }
    );
    assert_eq!(rig.purse(&id).await, (quota(6), quota(4)));
    let job = rig.job(&job_id).await;
    assert_eq!(
        (job.state, job.fence, job.tries, job.progress),
        (JobState::Waiting, 0, 0, 0)
    );
    assert_eq!(
        (job.price, job.quota, job.speed),
        (quota(4), quota(0), Speed::Fast)
    );
    assert_eq!(
        (job.request, job.queue),
        (accept.job.request, accept.job.queue)
    );
    assert_eq!(
        (job.parent_id.as_deref(), job.hook_times),
        (Some("parent"), 0)
    );
    assert_eq!(
        (job.started_ms, job.finished_ms, job.lease_owner),
        (None, None, None)
    );
    assert_eq!((job.created_ms, job.deadline_ms), (NOW, NOW + 300_000));
    assert!(job.revision >= 1);
}

async fn a_job_born_leased_runs_at_once(rig: Rig) {
    let id = rig.account(10, 10).await;
    let mut accept = rig.accept(&id, 4);
    accept.lease = Some(Lease {
        owner: "node".into(),
        until_ms: NOW + 30_000,
    });
    accept.working = true;
    let job_id = accept.job.id.clone();
    assert_eq!(
        rig.take(accept).await,
        AcceptOutcome::New {
            fence: 1,
            begun: false
        }
    );
    let job = rig.job(&job_id).await;
    assert_eq!(
        (job.state, job.fence, job.started_ms),
        (JobState::Running, 1, Some(NOW))
    );
    assert_eq!(
        (job.lease_owner.as_deref(), job.lease_until_ms),
        (Some("node"), Some(NOW + 30_000))
    );
    assert!(
        rig.lease("other", NOW, 10).await.is_empty(),
        "nobody else gets it"
    );
}

async fn every_text_comes_back_as_it_was(rig: Rig) {
    let id = rig.account(100, 100).await;
    for text in [
        "{}",
        "null",
        "12",
        "\"x\"",
        "{\"a\":\"\\u0001\\\\\\\"'\"}",
        "[\"𝄞 ünï\", 1e9]",
        "' OR 1=1 --",
    ] {
        let mut accept = rig.accept(&id, 1);
        accept.job.request = text.into();
        accept.job.operation = text.into();
        let job_id = accept.job.id.clone();
        rig.take(accept).await;
        let job = rig.job(&job_id).await;
        assert_eq!((job.request.as_str(), job.operation.as_str()), (text, text));
        let mut success = rig.success(&job_id, Guard::Unfinished, 1);
        let atelier_store::Outcome::Succeeded { output, alias, .. } = &mut success.outcome else {
            unreachable!("a success");
        };
        *output = text.into();
        *alias = Some(text.into());
        rig.settle(success).await;
        let job = rig.job(&job_id).await;
        assert_eq!(
            (job.output.as_deref(), job.alias.as_deref()),
            (Some(text), Some(text))
        );
    }
}

async fn quota_that_is_short_is_refused_and_nothing_is_held(rig: Rig) {
    let id = rig.account(10, 10).await;
    let answer = rig.take(rig.accept(&id, 11)).await;
    assert_eq!(answer, AcceptOutcome::QuotaShort { balance: quota(10) });
    assert_eq!(rig.purse(&id).await, (quota(10), quota(0)));
    assert_eq!(
        rig.store
            .statistics()
            .counts()
            .await
            .expect("counts")
            .waiting,
        0
    );
    rig.waiting(&id, 10).await;
    assert_eq!(rig.purse(&id).await, (quota(0), quota(10)));
    rig.waiting(&id, 0).await;
}

async fn a_full_queue_is_refused_by_queue_and_account(rig: Rig) {
    let id = rig.account(10, 2).await;
    let other = rig.account(10, 2).await;
    let first = rig.waiting(&id, 1).await;
    rig.running(&id, 1).await;
    assert_eq!(
        rig.take(rig.accept(&id, 1)).await,
        AcceptOutcome::QueueFull { max_queue: 2 }
    );
    assert_eq!(
        rig.take(rig.accept(&id, 99)).await,
        AcceptOutcome::QueueFull { max_queue: 2 }
    );
    rig.waiting(&other, 1).await;
    let mut elsewhere = rig.accept(&id, 1);
    elsewhere.job.queue = "motion".into();
    assert_eq!(
        rig.take(elsewhere).await,
        AcceptOutcome::New {
            fence: 0,
            begun: false
        }
    );
    rig.settle(rig.failure(&first, Guard::Unfinished)).await;
    rig.waiting(&id, 1).await;
}

fn keyed(rig: &Rig, account_id: &str, key: &str, fingerprint: &str) -> Acceptance {
    let mut accept = rig.accept(account_id, 4);
    accept.idempotency = Some(Idempotency {
        key: key.into(),
        fingerprint: fingerprint.into(),
        keep_after_ms: NOW - 1_000,
    });
    accept
}

async fn a_repeated_call_gives_the_first_job_and_holds_once(rig: Rig) {
    let id = rig.account(10, 10).await;
    let other = rig.account(10, 10).await;
    let first = keyed(&rig, &id, "k", "f");
    let job_id = first.job.id.clone();
    assert_eq!(
        rig.take(first).await,
        AcceptOutcome::New {
            fence: 0,
            begun: false
        }
    );
    let again = rig.take(keyed(&rig, &id, "k", "f")).await;
    assert_eq!(
        again,
        AcceptOutcome::Replayed {
            job_id: job_id.clone()
        }
    );
    assert_eq!(rig.purse(&id).await, (quota(6), quota(4)));
    let called = |account: String, key: &'static str| {
        let store = rig.store.clone();
        async move {
            store
                .jobs()
                .by_idempotency_key(&account, key)
                .await
                .expect("an answer")
        }
    };
    assert_eq!(called(id.clone(), "k").await.as_ref(), Some(&job_id));
    assert_eq!(called(id.clone(), "l").await, None);
    assert_eq!(called(other.clone(), "k").await, None, "another account's");
    rig.settle(rig.failure(&job_id, Guard::Unfinished)).await;
    let again = rig.take(keyed(&rig, &id, "k", "f")).await;
    assert_eq!(
        again,
        AcceptOutcome::Replayed { job_id },
        "also when it has finished"
    );
    let theirs = rig.take(keyed(&rig, &other, "k", "f")).await;
    assert_eq!(
        theirs,
        AcceptOutcome::New {
            fence: 0,
            begun: false
        },
        "a key belongs to its account"
    );
}

async fn another_body_with_the_same_key_is_a_mismatch(rig: Rig) {
    let id = rig.account(10, 10).await;
    rig.take(keyed(&rig, &id, "k", "f")).await;
    assert_eq!(
        rig.take(keyed(&rig, &id, "k", "g")).await,
        AcceptOutcome::Mismatch
    );
    assert_eq!(rig.purse(&id).await, (quota(6), quota(4)));
}

async fn a_key_is_void_after_its_time(rig: Rig) {
    let id = rig.account(10, 10).await;
    rig.take(keyed(&rig, &id, "k", "f")).await;
    let mut later = keyed(&rig, &id, "k", "g");
    later.job.created_ms = NOW + 10;
    later.idempotency.as_mut().expect("a key").keep_after_ms = NOW + 1;
    assert_eq!(
        rig.take(later).await,
        AcceptOutcome::New {
            fence: 0,
            begun: false
        }
    );
    assert_eq!(
        rig.take(keyed(&rig, &id, "k", "f")).await,
        AcceptOutcome::Mismatch
    );
}

async fn a_refused_call_does_not_use_up_its_key(rig: Rig) {
    let id = rig.account(3, 10).await;
    let short = rig.take(keyed(&rig, &id, "k", "f")).await;
    assert_eq!(short, AcceptOutcome::QuotaShort { balance: quota(3) });
    let mut cheaper = keyed(&rig, &id, "k", "g");
    cheaper.job.price = quota(1);
    assert_eq!(
        rig.take(cheaper).await,
        AcceptOutcome::New {
            fence: 0,
            begun: false
        }
    );
}

async fn a_replay_is_answered_even_when_quota_and_queue_are_used_up(rig: Rig) {
    let id = rig.account(4, 1).await;
    let first = keyed(&rig, &id, "k", "f");
    let job_id = first.job.id.clone();
    rig.take(first).await;
    assert_eq!(
        rig.take(keyed(&rig, &id, "k", "f")).await,
        AcceptOutcome::Replayed { job_id }
    );
}

async fn old_keys_are_forgotten(rig: Rig) {
    let id = rig.account(10, 10).await;
    rig.take(keyed(&rig, &id, "k", "f")).await;
    assert_eq!(
        rig.store
            .retention()
            .forget_idempotency(NOW, 9)
            .await
            .expect("an answer"),
        0
    );
    assert_eq!(
        rig.store
            .retention()
            .forget_idempotency(NOW + 1, 9)
            .await
            .expect("an answer"),
        1
    );
    assert_eq!(
        rig.take(keyed(&rig, &id, "k", "g")).await,
        AcceptOutcome::New {
            fence: 0,
            begun: false
        }
    );
}

async fn an_unknown_account_is_told(rig: Rig) {
    assert_eq!(
        rig.take(rig.accept("nobody", 1)).await,
        AcceptOutcome::NoAccount
    );
}

async fn what_would_become_of_a_call_is_known_before_it_is_made(rig: Rig) {
    let id = rig.account(10, 1).await;
    let foreseen = async |id: &str, price| {
        let accept = rig.accept(id, price);
        let store = &rig.store;
        let refusal = store.jobs().precheck_refusal(&accept.job, 1000);
        refusal.await.expect("a look")
    };
    assert_eq!(foreseen(&id, 10).await, None);
    let short = AcceptOutcome::QuotaShort { balance: quota(10) };
    assert_eq!(foreseen(&id, 11).await, Some(short));
    assert_eq!(foreseen("nobody", 0).await, Some(AcceptOutcome::NoAccount));

    let mut accept = rig.accept(&id, 1);
    let given = Idempotency {
        key: "key".into(),
        fingerprint: "body".into(),
        keep_after_ms: NOW - 1,
    };
    let earlier = async |given: &Idempotency| {
        let call = rig.store.jobs().earlier_call(&id, given).await;
        call.expect("a look")
    };
    assert_eq!(earlier(&given).await, None);
    accept.idempotency = Some(given.clone());
    let job_id = accept.job.id.clone();
    rig.take(accept).await;
    let full = AcceptOutcome::QueueFull { max_queue: 1 };
    assert_eq!(foreseen(&id, 1).await, Some(full));
    assert_eq!(
        earlier(&given).await,
        Some(AcceptOutcome::Replayed { job_id })
    );
    let other = Idempotency {
        fingerprint: "another".into(),
        ..given.clone()
    };
    assert_eq!(earlier(&other).await, Some(AcceptOutcome::Mismatch));
    let late = Idempotency {
        keep_after_ms: NOW + 1,
        ..given
    };
    assert_eq!(earlier(&late).await, None, "the key is void by then");
}
