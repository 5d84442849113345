//! What the process keeps of memory that it does not need.

/// Has memory come in small pages. In large ones the heap of a resting service is four times what is in use, and every
/// buffer of an open connection is there to its last byte, while calls and pictures take the processor no less.
#[cfg(target_os = "linux")]
pub(crate) fn keep_pages_small() {
    // A kernel that knows no large pages gives none.
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}

/// Elsewhere nothing is known about it.
#[cfg(not(target_os = "linux"))]
pub(crate) fn keep_pages_small() {}
