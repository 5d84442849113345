//! Identifiers and secrets as a parameter: random in production, counted in tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use atelier_contract::JobId;
use atelier_contract::family::JobIds;
use sha2::{Digest as _, Sha256};

/// Where identifiers come from.
#[derive(Clone, Debug)]
pub enum Ids {
    /// From the operating system's random numbers.
    Random,
    /// One after the other, for tests that compare text.
    Counted(Arc<AtomicU64>),
}

impl Ids {
    /// Identifiers that count up from one.
    pub fn counted() -> Self {
        Self::Counted(Arc::new(AtomicU64::new(0)))
    }

    /// A UUID-shaped identifier, ordered by time.
    pub fn uuid(&self) -> String {
        match self {
            Self::Random => random_uuid(),
            Self::Counted(count) => {
                let number = count.fetch_add(1, Ordering::SeqCst) + 1;
                uuid::Uuid::from_u128(u128::from(number)).to_string()
            }
        }
    }

    /// Bytes to choose a moment by, so that not everybody chooses the same; no secret.
    pub fn dice<const N: usize>(&self) -> [u8; N] {
        match self {
            Self::Random => random_bytes(),
            Self::Counted(count) => {
                let number = count.fetch_add(1, Ordering::SeqCst) + 1;
                let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
                std::array::from_fn(|index| mixed[7 - index % 8])
            }
        }
    }

    /// Bytes that nobody can guess.
    pub fn secret<const N: usize>(&self) -> [u8; N] {
        match self {
            Self::Random => random_bytes(),
            Self::Counted(count) => {
                let number = count.fetch_add(1, Ordering::SeqCst) + 1;
                let digest = Sha256::digest(number.to_le_bytes());
                std::array::from_fn(|index| digest[index % digest.len()])
            }
        }
    }

    /// A job identifier in a family's style.
    pub fn job(&self, style: JobIds) -> JobId {
        match style {
            JobIds::Uuid => JobId::new(self.uuid()),
            JobIds::Digits(prefix) => {
                let number = match self {
                    Self::Random => u64::from_le_bytes(random_bytes()) % 1_000_000_000_000_000_000,
                    Self::Counted(count) => count.fetch_add(1, Ordering::SeqCst) + 1,
                };
                JobId::new(format!("{prefix}{number:018}"))
            }
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place that makes identifiers"
)]
fn random_uuid() -> String {
    uuid::Uuid::now_v7().to_string()
}

/// Bytes from the operating system. Without them no secret could be made, so there is nothing to go on with.
pub fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
    bytes
}
