//! How fast bytes of one holder pass, all together. A machine beside the service can send and take faster than its
//! processors can copy; few lines from outside carry more than this.

use std::time::Duration;

use crate::rate::{Rate, TokenBuckets};

/// Bytes are counted in pieces of so many; what is smaller costs nothing.
const PIECE: usize = 256 * 1024;
/// Pieces that pass at once after a pause.
const BURST: u32 = 64;

pub struct Throughput {
    buckets: TokenBuckets<String>,
    rate: Rate,
}

impl Throughput {
    /// So many MiB a second for each holder; 0 for no limit.
    pub fn new(mib_per_s: u32) -> Self {
        let pieces = mib_per_s.saturating_mul((1024 * 1024 / PIECE) as u32);
        Self {
            buckets: TokenBuckets::default(),
            rate: Rate::new(pieces, Duration::from_secs(1), BURST),
        }
    }

    /// Counts what passed and is not yet counted: whole pieces are taken off it. Says how long to wait before more may pass,
    /// or nothing as long as there is less than a piece.
    pub fn count(&self, holder: &str, uncounted: &mut usize) -> Option<Duration> {
        let pieces = *uncounted / PIECE;
        *uncounted %= PIECE;
        let waits = (0..pieces).map(|_| self.buckets.wait_for(holder, self.rate));
        waits.last()
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{Instant, sleep};

    use super::*;

    async fn read_mib(throughput: &Throughput, holder: &str, mib: usize) -> Duration {
        let (began, mut uncounted) = (Instant::now(), 0);
        for _ in 0..mib * 16 {
            uncounted += 64 * 1024;
            if let Some(wait) = throughput.count(holder, &mut uncounted) {
                sleep(wait).await;
            }
        }
        began.elapsed()
    }

    /// Fast bytes of one holder do not take the processor from others: it waits, and others do not.
    #[tokio::test(start_paused = true)]
    async fn a_holder_that_sends_faster_than_allowed_waits_alone() {
        let throughput = Throughput::new(128);
        assert_eq!(read_mib(&throughput, "one", 16).await, Duration::ZERO);
        let (one, more) = tokio::join!(
            read_mib(&throughput, "one", 64),
            read_mib(&throughput, "one", 64)
        );
        assert!(one.max(more).abs_diff(Duration::from_secs(1)) < Duration::from_millis(100));
        assert_eq!(read_mib(&throughput, "other", 16).await, Duration::ZERO);
        let endless = Throughput::new(0);
        assert_eq!(read_mib(&endless, "one", 1000).await, Duration::ZERO);
    }
}
