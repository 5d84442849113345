//! The courier: posts callbacks that are due, writes down how it went and when to try again.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use atelier_backends::http::CallbackOutcome;
use atelier_contract::{Job, Refusal};
use atelier_store::{Claim, Delivery, DeliveryResult, DeliveryState, JobRow};
use bytes::Bytes;

use crate::courier::routes::Lane;
use crate::crash;
use crate::engine::Engine;
use crate::ids::random_bytes;
use crate::jobs::{family_of, render};
use crate::sign::sign_webhook;

/// A claimed callback that is not heard of again is due again after this. A try waits for its turn for ten seconds at
/// the most and then takes eleven.
const CLAIM_MS: i64 = 30_000;
/// One account may have this share of the callbacks under way: the names and hosts it sends to are its own choice.
const ACCOUNT_SHARE: usize = 4;
/// A callback that found no place on the way out waits this long.
const BUSY_PAUSE_MS: i64 = 1_000;
/// A receiver may ask for at most this much patience.
const RETRY_AFTER_MOST_S: u64 = 3_600;
/// What is kept of an answer.
const ANSWER_START: usize = 500;

/// Headers and body of a callback.
type Composed = (Vec<(&'static str, String)>, Bytes);

/// A claimed callback with what is needed to write it.
struct Letter {
    delivery: Delivery,
    row: Option<JobRow>,
    secrets: Result<Vec<String>, Refusal>,
}

impl Engine {
    /// Claims callbacks that are due and posts each in a task of its own; says how many.
    pub async fn deliver_step(self: &Arc<Self>) -> Result<usize, atelier_store::Error> {
        let in_flight = Arc::strong_count(&self.courier_load) - 1;
        let free = self.settings.callbacks_at_once.saturating_sub(in_flight);
        if free == 0 || self.stopping.is_cancelled() {
            return Ok(0);
        }
        let now_ms = self.now_ms();
        let per_account = (self.settings.callbacks_at_once / ACCOUNT_SHARE).max(1) as i64;
        let claim = Claim {
            now_ms,
            lease_until_ms: now_ms + CLAIM_MS,
            limit: free as i64,
            per_lane: self.settings.callbacks_per_host,
            rooms: self.lanes.rooms(now_ms),
            per_account,
            accounts: self.lanes.accounts(per_account),
        };
        let claimed = self.store.claim_deliveries(claim).await?;
        if claimed.is_empty() {
            return Ok(0);
        }
        crash::point("courier.claimed");
        let letters = self.letters(claimed).await?;
        let count = letters.len();
        for letter in letters {
            self.lanes.begin(&Lane::of(&letter.delivery));
            let (engine, load) = (self.clone(), self.courier_load.clone());
            self.tasks.spawn(async move {
                engine.post(letter).await;
                drop(load);
                engine.wakes.callbacks.notify_one();
            });
        }
        Ok(count)
    }

    /// What is needed to write each callback, read for all of them together.
    async fn letters(&self, claimed: Vec<Delivery>) -> Result<Vec<Letter>, atelier_store::Error> {
        let ids: Vec<String> = claimed.iter().map(|one| one.job_id.clone()).collect();
        let accounts: BTreeSet<String> = claimed.iter().map(|one| one.account_id.clone()).collect();
        let secrets = accounts.into_iter().map(|id| async move {
            let secrets = self.signing_secrets(&id).await;
            (id, secrets)
        });
        let (rows, secrets) = tokio::join!(
            self.store.jobs_of_anyone(&ids),
            futures_util::future::join_all(secrets)
        );
        let mut rows: HashMap<String, JobRow> =
            rows?.into_iter().map(|row| (row.id.clone(), row)).collect();
        let secrets: HashMap<String, Result<Vec<String>, Refusal>> = secrets.into_iter().collect();
        let letter = |delivery: Delivery| Letter {
            row: rows.remove(&delivery.job_id),
            secrets: secrets[&delivery.account_id].clone(),
            delivery,
        };
        Ok(claimed.into_iter().map(letter).collect())
    }

    async fn post(&self, letter: Letter) {
        let lane = Lane::of(&letter.delivery);
        let composed = self.compose(letter.row, letter.secrets, &letter.delivery.id);
        let delivery = letter.delivery;
        let outcome = match composed {
            Ok((headers, body)) => {
                self.outbound
                    .post_callback(&delivery.url, &headers, body)
                    .await
            }
            Err(why) => {
                tracing::error!(delivery = %delivery.id, why, "a callback could not be composed");
                self.lanes.end(&lane, true, self.now_ms());
                return; // The claim runs out and it is due again.
            }
        };
        crash::point("courier.posted");
        let now_ms = self.now_ms();
        // The place is free as soon as the receiver is rid of us: writing it down is no business of the lane.
        let silent = outcome.status.is_none() && !outcome.blocked && !outcome.busy;
        self.lanes.end(&lane, !silent, now_ms);
        self.wakes.callbacks.notify_one();
        let state = self.next_state(&delivery, &outcome, now_ms);
        let failed = !outcome.delivered() && !outcome.busy;
        let result = DeliveryResult {
            id: delivery.id.clone(),
            attempts: delivery.attempts,
            failures: delivery.failures + i64::from(failed),
            state,
            status: outcome.status.map(i64::from),
            error: outcome.error,
            duration_ms: outcome.duration_ms as i64,
            answer_start: outcome.answer_start.chars().take(ANSWER_START).collect(),
            now_ms,
        };
        if let Err(error) = self.store.finish_delivery(result).await {
            tracing::warn!(%error, delivery = %delivery.id, "a callback's outcome was not written down");
        }
        crash::point("courier.recorded");
    }

    /// The body that fetch would give, signed for this try.
    fn compose(
        &self,
        row: Option<JobRow>,
        secrets: Result<Vec<String>, Refusal>,
        id: &str,
    ) -> Result<Composed, String> {
        let job: Job = row.map(|row| self.hydrate(row)).ok_or("its job is gone")?;
        let family = family_of(&job.operation).ok_or("its family is gone")?;
        let body = render(family, &job);
        let secrets = secrets.map_err(|refusal| refusal.message)?;
        let timestamp_s = self.now_ms() / 1000;
        let secrets: Vec<&str> = secrets.iter().map(String::as_str).collect();
        let signature = sign_webhook(&secrets, id, timestamp_s, &body);
        let headers = vec![
            ("webhook-id", id.to_owned()),
            ("webhook-timestamp", timestamp_s.to_string()),
            ("webhook-signature", signature),
        ];
        Ok((headers, body))
    }

    fn next_state(
        &self,
        delivery: &Delivery,
        outcome: &CallbackOutcome,
        now_ms: i64,
    ) -> DeliveryState {
        match outcome.status {
            Some(200..=299) => return DeliveryState::Delivered,
            Some(410) => return DeliveryState::Stopped,
            // This house had no place for it: the receiver was never asked.
            None if outcome.busy => {
                return DeliveryState::Due {
                    next_ms: now_ms + BUSY_PAUSE_MS,
                };
            }
            _ => {}
        }
        let schedule = &self.settings.callback_schedule_s;
        match schedule.get(delivery.failures.max(0) as usize) {
            None => DeliveryState::Exhausted,
            Some(&pause_s) => {
                let pause_ms = jittered(pause_s * 1000, random_bytes());
                let asked_ms = outcome.retry_after_s.unwrap_or(0).min(RETRY_AFTER_MOST_S) * 1000;
                DeliveryState::Due {
                    next_ms: now_ms + pause_ms.max(asked_ms) as i64,
                }
            }
        }
    }
}

/// Spreads a pause over ±20 %, so that receivers that failed together are not asked together.
fn jittered(pause_ms: u64, random: [u8; 2]) -> u64 {
    let share = u64::from(u16::from_le_bytes(random));
    pause_ms * 8 / 10 + pause_ms * 4 / 10 * share / u64::from(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::jittered;

    #[test]
    fn a_pause_is_spread_by_a_fifth_either_way() {
        assert_eq!(jittered(5_000, [0, 0]), 4_000);
        assert_eq!(jittered(5_000, [255, 255]), 6_000);
        let middle = jittered(5_000, [0, 128]);
        assert!((4_990..=5_010).contains(&middle), "{middle}");
    }
}
