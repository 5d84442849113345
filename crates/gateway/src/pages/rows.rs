//! Records as pages show them: each file has the type on the wire and its one conversion from the stored record.

pub(super) mod accounts;
pub(super) mod audit;
pub(super) mod ledger;
pub(super) mod usage;

use atelier_contract::Scopes;
use atelier_contract::fields::Moment;
use atelier_contract::pages::callbacks::{CallbackLog, CallbackRow, CallbackTry};
use atelier_contract::pages::jobs::{Trail, TrailAttempt};
use atelier_contract::pages::keys::{KeyRow, NewKey};
use atelier_contract::time::timestamp;
use atelier_engine::{AttemptView, CallbackView, KeyRequest, KeyView, TryView};

/// A key without its secret.
pub(super) fn key(key: KeyView) -> KeyRow {
    KeyRow {
        id: key.id,
        name: key.name,
        prefix: key.prefix,
        scopes: key.scopes,
        created_at: timestamp(key.created_ms),
        last_used_at: key.last_used_ms.map(timestamp),
        expires_at: key.expires_ms.map(timestamp),
    }
}

/// What a new key shall be; everything about it is optional.
pub(super) fn key_wish(new: &NewKey) -> KeyRequest {
    KeyRequest {
        name: new.name.as_deref().unwrap_or("key").to_owned(),
        scopes: new.scopes.unwrap_or(Scopes::ALL),
        expires_ms: new.expires_at.map(Moment::ms),
    }
}

/// A callback and how it goes.
pub(super) fn callback(callback: CallbackView) -> CallbackRow {
    CallbackRow {
        id: callback.id,
        job_id: callback.job_id,
        url: callback.url,
        status: callback.status,
        attempts: callback.attempts,
        next_attempt_at: callback.next_attempt_ms.map(timestamp),
        last_status: callback.last_status,
        last_error: callback.last_error,
    }
}

/// One try of a callback.
pub(super) fn callback_try(one: TryView) -> CallbackTry {
    CallbackTry {
        attempt: one.attempt,
        time: timestamp(one.time_ms),
        status: one.status,
        error: one.error,
        duration_ms: one.duration_ms,
        answer: one.answer,
    }
}

/// A callback with every try made.
pub(super) fn callback_log(one: CallbackView, tries: Vec<TryView>) -> CallbackLog {
    CallbackLog {
        callback: callback(one),
        log: tries.into_iter().map(callback_try).collect(),
    }
}

/// What happened to a job; who was asked and what they said is told to the operator alone.
pub(super) fn trail(
    trail: atelier_engine::Trail,
    callback: Option<(CallbackView, Vec<TryView>)>,
    whole: bool,
) -> Trail {
    let attempt = |one: AttemptView| TrailAttempt {
        began_at: timestamp(one.began_ms),
        submitted_at: one.submitted_ms.map(timestamp),
        ended_at: one.ended_ms.map(timestamp),
        state: one.state,
        why: one.why.filter(|_| whole),
        worker: whole.then_some(one.worker),
        cost: one.cost.filter(|_| whole),
    };
    let taken = |one: &&TryView| {
        one.status
            .is_some_and(|status| (200..300).contains(&status))
    };
    let log = callback.as_ref().map(|(_, tries)| tries);
    let delivered = log.and_then(|tries| tries.iter().rev().find(taken));
    Trail {
        delivered_at: delivered.map(|one| timestamp(one.time_ms)),
        attempts: trail.attempts.into_iter().map(attempt).collect(),
        callback: callback.map(|(callback, tries)| callback_log(callback, tries)),
    }
}
