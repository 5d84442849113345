//! When a job's turn comes: the policy of the queue. The store keeps the order, this file says what it is.

use atelier_contract::Speed;

/// How much later a job's turn comes for every unfinished job its account already has in the queue.
pub(super) const STEP_MS: i64 = 5_000;

/// How much later a job's turn comes by its speed.
pub(super) const fn delay_ms(speed: Speed) -> i64 {
    match speed {
        Speed::Turbo => 0,
        Speed::Fast => 10_000,
        Speed::Relax => 60_000,
    }
}

#[cfg(test)]
mod tests {
    use super::{STEP_MS, delay_ms};
    use atelier_contract::Speed;

    #[test]
    fn the_faster_comes_first_and_nobody_waits_for_ever() {
        let delays = [Speed::Turbo, Speed::Fast, Speed::Relax].map(delay_ms);
        assert!(delays.is_sorted_by(|sooner, later| sooner < later));
        assert_eq!(delays, [0, 10_000, 60_000], "a minute at the most");
        assert_eq!(STEP_MS, 5_000);
    }
}
