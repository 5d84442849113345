//! Named places where a test may kill the process. Release builds have none of it.

/// Kills the process here when `ATELIER_CRASH_AT` names this point; `name:3` dies at the third passing.
#[inline]
pub fn point(name: &str) {
    #[cfg(debug_assertions)]
    armed::pass(name);
    #[cfg(not(debug_assertions))]
    let _ = name;
}

/// Every point, in the order a job passes them; the sweep over them is a test.
pub const POINTS: &[&str] = &[
    "submit.before_accept",
    "submit.accepted",
    "runner.leased",
    "runner.before_start",
    "runner.started",
    "runner.ticket_recorded",
    "runner.made",
    "runner.file_stored",
    "runner.before_settle",
    "settle.done",
    "courier.claimed",
    "courier.posted",
    "courier.recorded",
    "sweeper.before_forget",
];

#[cfg(debug_assertions)]
mod armed {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU32, Ordering};

    static WANTED: OnceLock<Option<(String, u32)>> = OnceLock::new();
    static PASSED: AtomicU32 = AtomicU32::new(0);

    #[expect(
        clippy::disallowed_methods,
        reason = "a test's wish, not a setting of the service"
    )]
    fn wanted() -> Option<(String, u32)> {
        let text = std::env::var("ATELIER_CRASH_AT").ok()?;
        let (name, count) = text.split_once(':').unwrap_or((&text, "1"));
        Some((name.to_owned(), count.parse().unwrap_or(1)))
    }

    pub(super) fn pass(name: &str) {
        let Some((wanted, count)) = WANTED.get_or_init(wanted) else {
            return;
        };
        if wanted == name && PASSED.fetch_add(1, Ordering::SeqCst) + 1 == *count {
            std::process::abort();
        }
    }
}
