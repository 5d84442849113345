//! How long things are kept.

use atelier_contract::family::ResultLifetime;
use serde::Deserialize;

use super::period::{Days, Hours, Minutes};

/// How long things are kept.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retention {
    /// Addresses in answers of imgmodel.
    pub answer_minutes: Minutes,
    /// Addresses of images.
    pub image_hours: Hours,
    /// Addresses of videos.
    pub video_hours: Hours,
    /// The four small images of a grid, and uploads.
    pub small_image_days: Days,
    /// Inline inputs.
    pub input_days: Days,
    /// The first answer to an idempotency key.
    pub idempotency_hours: Hours,
    /// The tries of finished callbacks, the attempts of final jobs and the acts of callers.
    pub log_days: Days,
    /// The words of failed jobs.
    pub failed_days: Days,
    /// The acts of operators.
    pub audit_days: Days,
    /// Keys that were revoked or expired.
    pub key_days: Days,
    /// A file that no row knows is an orphan once it is this old: younger ones may belong to a job about to settle.
    pub orphan_minutes: Minutes,
}

impl Retention {
    /// The longest that any address works.
    pub fn longest_ms(&self) -> i64 {
        use ResultLifetime::{Day, Hour, Month, ThreeDays};
        let classes = [Hour, Day, ThreeDays, Month];
        let lifetimes = classes.map(|keep| self.lifetime_ms(keep));
        lifetimes.into_iter().max().unwrap_or(0)
    }

    /// How long addresses of a class work.
    pub fn lifetime_ms(&self, keep: ResultLifetime) -> i64 {
        match keep {
            ResultLifetime::Hour => self.answer_minutes.ms(),
            ResultLifetime::Day => self.image_hours.ms(),
            ResultLifetime::ThreeDays => self.video_hours.ms(),
            ResultLifetime::Month => self.small_image_days.ms(),
        }
    }
}
