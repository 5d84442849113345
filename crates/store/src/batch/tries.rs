//! Tries of deliveries in a batch: recorded with two statements, however many there are.

use std::collections::HashSet;

use crate::Result;
use crate::batch::notices;
use crate::changes::delivery::{DeliveryResult, DeliveryState};
use crate::db::{Arg, Conn, Line, args};
use crate::deliveries::texts::{CALLBACKS, DeliveryTexts};
use crate::pending::PendingChange;

/// A try, as both statements take it.
struct TryLine<'a> {
    id: &'a str,
    attempts: i64,
    state: &'static str,
    failures: i64,
    next_ms: i64,
    delivered_ms: Option<i64>,
    status: Option<i64>,
    error: Option<&'a str>,
    duration_ms: i64,
    answer_start: &'a str,
    now_ms: i64,
}

impl<'a> TryLine<'a> {
    fn new(result: &'a DeliveryResult) -> Self {
        let now_ms = result.now_ms;
        let (state, next_ms, delivered_ms) = match result.state {
            DeliveryState::Delivered => ("delivered", now_ms, Some(now_ms)),
            DeliveryState::Due { next_ms } => ("due", next_ms, None),
            DeliveryState::Exhausted => ("exhausted", now_ms, None),
            DeliveryState::Stopped => ("stopped", now_ms, None),
        };
        Self {
            id: &result.id,
            attempts: result.attempts,
            state,
            failures: result.failures,
            next_ms,
            delivered_ms,
            status: result.status,
            error: result.error.as_deref(),
            duration_ms: result.duration_ms,
            answer_start: &result.answer_start,
            now_ms,
        }
    }
}

impl Line for TryLine<'_> {
    fn values<'a>(&'a self, out: &mut Vec<Arg<'a>>) {
        out.extend_from_slice(args![
            self.id,
            self.attempts,
            self.state,
            self.failures,
            self.next_ms,
            self.delivered_ms,
            self.status,
            self.error,
            self.duration_ms,
            self.answer_start,
            self.now_ms,
        ]);
    }
}

/// Records tries; each is answered whether it was the current one.
pub(crate) async fn record(
    conn: &mut Conn,
    tries: &mut [PendingChange<DeliveryResult, bool>],
) -> Result<()> {
    // A try that is recorded twice counts once: the first of them.
    let mut seen = HashSet::new();
    for one in tries.iter_mut() {
        let first = seen.insert((one.input.id.clone(), one.input.attempts));
        one.answer = (!first).then_some(false);
    }
    let current = {
        let fresh = tries.iter().filter(|one| one.answer.is_none());
        let results: Vec<&DeliveryResult> = fresh.map(|one| &one.input).collect();
        move_on(conn, &CALLBACKS, &results).await?
    };
    let given_up = |one: &&PendingChange<DeliveryResult, bool>| {
        one.answer.is_none() && one.input.state == DeliveryState::Exhausted
    };
    let given_up: Vec<&DeliveryResult> = tries
        .iter()
        .filter(given_up)
        .map(|one| &one.input)
        .filter(|result| current.contains(&mark(&result.id, result.attempts)))
        .collect();
    if !given_up.is_empty() {
        notices::exhausted(conn, &given_up).await?;
    }
    for one in tries.iter_mut().filter(|one| one.answer.is_none()) {
        let mark = mark(&one.input.id, one.input.attempts);
        one.answer = Some(current.contains(mark.as_str()));
    }
    Ok(())
}

/// A delivery and the number of its try, as the statement gives them back.
pub(crate) fn mark(id: &str, attempts: i64) -> String {
    format!("{id} {attempts}")
}

/// Has deliveries go where these tries have brought them, and writes those down that were the current ones: their marks.
pub(crate) async fn move_on(
    conn: &mut Conn,
    texts: &DeliveryTexts,
    results: &[&DeliveryResult],
) -> Result<HashSet<String>> {
    let mut lines: Vec<TryLine<'_>> = results.iter().map(|one| TryLine::new(one)).collect();
    let current: Vec<String> = conn.all_lines(texts.move_on, &lines).await?;
    // Several tries of one delivery may be in a batch; only one of them can have been the current one.
    let current: HashSet<String> = current.into_iter().collect();
    lines.retain(|line| current.contains(&mark(line.id, line.attempts)));
    if !lines.is_empty() {
        conn.run_lines(texts.log, &lines).await?;
    }
    Ok(current)
}
