//! How long work takes to look at: at once, or as long as the interface says such work typically takes.

use std::time::Duration;

use atelier_contract::body::Fields;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::backend::{Fault, ProgressTracker};
use crate::studio_settings::Tempo;

use super::assignment::cancelled;

/// Progress is said at least this often while waiting.
const TICK: Duration = Duration::from_millis(200);
/// Waiting brings progress up to this many percent; the rest belongs to the work.
pub(super) const WAITED: u8 = 80;

impl Tempo {
    /// How long an operation usually takes; no time when instant.
    pub(super) fn typical(self, operation: &str, request: &Fields) -> Duration {
        match self {
            Self::Instant => Duration::ZERO,
            Self::Realistic => {
                let entry = atelier_contract::operation(operation);
                let seconds = entry.map_or(0, |(_, submit)| (submit.usual_s)(request));
                Duration::from_secs(u64::from(seconds))
            }
        }
    }
}

/// Waits while progress rises towards [`WAITED`]; ends early when nobody wants the result any more.
pub(super) async fn wait(
    length: Duration,
    gauge: &ProgressTracker,
    stop: &CancellationToken,
) -> Result<(), Fault> {
    let begun = Instant::now();
    loop {
        let passed = begun.elapsed();
        if passed >= length {
            return Ok(());
        }
        let share = passed.as_secs_f64() / length.as_secs_f64();
        gauge.set((share * f64::from(WAITED)) as u8);
        tokio::select! {
            () = stop.cancelled() => return Err(cancelled()),
            () = sleep(TICK.min(length.saturating_sub(passed))) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instant_never_waits_and_realistic_keeps_the_typical_durations() {
        let mut request = Fields::new();
        assert_eq!(
            Tempo::Instant.typical("artgen.imagine", &request),
            Duration::ZERO
        );
        for (mode, within) in [("turbo", 30), ("fast", 60), ("relax", 120)] {
            request.insert("mode".into(), mode.into());
            let typical = Tempo::Realistic.typical("artgen.imagine", &request);
            assert!(typical > Duration::ZERO && typical <= Duration::from_secs(within));
        }
    }
}
