//! Named places where a test may kill the process, or have it stand still to kill it from outside. Release builds have none
//! of it.

/// Kills the process here when `ATELIER_CRASH_AT` names this point; `name:3` dies at the third passing. With
/// `ATELIER_STALL_AT` it stands still in place of that.
#[inline]
pub fn point(name: &str) {
    #[cfg(debug_assertions)]
    armed::pass(name);
    #[cfg(not(debug_assertions))]
    let _ = name;
}

/// Every point: those of a job in the order it passes them, then those of no job. A test kills the process at each.
pub const POINTS: &[&str] = &[
    "submit.before_accept",
    "submit.accepted",
    "runner.leased",
    "runner.before_start",
    "runner.started",
    "runner.ticket_recorded",
    "runner.before_step",
    "runner.step_taken",
    "runner.made",
    "runner.file_stored",
    "runner.before_settle",
    "settle.done",
    "callbacks.claimed",
    "callbacks.posted",
    "callbacks.recorded",
    "sweeper.before_forget",
    "admin.acted",
    "payment.begun",
    "payment.opened",
    "payment.recorded",
    "payment.refunded",
    "payment.charged",
    "payment.cancelled",
];

#[cfg(debug_assertions)]
mod armed {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU32, Ordering};

    static WANTED: OnceLock<Option<ArmedPoint>> = OnceLock::new();
    static PASSED: AtomicU32 = AtomicU32::new(0);

    struct ArmedPoint {
        name: String,
        count: u32,
        dies: bool,
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a test's wish, not a setting of the service"
    )]
    fn wanted() -> Option<ArmedPoint> {
        let dying = std::env::var("ATELIER_CRASH_AT");
        let dies = dying.is_ok();
        let text = dying.or_else(|_| std::env::var("ATELIER_STALL_AT")).ok()?;
        let (name, count) = text.split_once(':').unwrap_or((&text, "1"));
        Some(ArmedPoint {
            name: name.to_owned(),
            count: count.parse().unwrap_or(1),
            dies,
        })
    }

    pub(super) fn pass(name: &str) {
        let Some(wanted) = WANTED.get_or_init(wanted) else {
            return;
        };
        if wanted.name == name && PASSED.fetch_add(1, Ordering::SeqCst) + 1 == wanted.count {
            if wanted.dies {
                std::process::abort();
            }
            tracing::warn!(point = name, "the process is halted");
            loop {
                std::thread::park();
            }
        }
    }
}
