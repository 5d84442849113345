//! The limits of the guarded client.

use std::time::Duration;

/// The most bytes of an answer's head, and the size of one read.
pub(super) const HEAD_BYTES: usize = 64 * 1024;

/// How long, how large, how many.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Looking up a name.
    pub lookup: Duration,
    /// Opening a connection, all addresses of a name together.
    pub connect: Duration,
    /// A callback until its answer's status is known.
    pub callback: Duration,
    /// Waiting for the start of a callback's answer once the status is known.
    pub answer: Duration,
    /// An image, from the first look-up to the last byte, redirects and waiting included.
    pub image: Duration,
    /// A file, from the first look-up to the last byte.
    pub file: Duration,
    /// The longest pause between two pieces of a file.
    pub stall: Duration,
    /// Waiting for a free place of a destination.
    pub place: Duration,
    /// The largest image that is fetched for a caller.
    pub image_bytes: u64,
    /// The memory all inputs may take together, from their reading until the vendor has them.
    pub input_memory: u64,
    /// The most of it that one account has when others need some; enough for the largest inputs of a job.
    pub input_share: u64,
    /// The fewest bytes a second of a file that is coming, on average over the longest pause.
    pub slowest: u64,
    /// The largest result file of an operator's back end, and the most all files of one piece of work have together.
    pub vendor_file: u64,
    /// The memory that answers and files of operators' back ends may take together.
    pub vendor_memory: u64,
    /// The largest result file of a back end that a caller brought, and the most all files of one piece of work have.
    pub stranger_file: u64,
    /// The memory that answers and files of back ends that callers brought may take together.
    pub stranger_memory: u64,
    /// Images and files of one account from one destination at a time.
    pub per_destination: usize,
    /// Callbacks to one destination at a time, whoever sends them, and images and files from one, whoever reads them; more
    /// than one account's share of it.
    pub per_receiver: usize,
    /// Callbacks to one address at a time, whatever names lead to it; more than one name has.
    pub per_address: usize,
    /// Callbacks at a time, and likewise images and files at a time.
    pub at_once: usize,
    /// Redirects an image or file may take.
    pub redirects: usize,
    /// Addresses one name may have.
    pub answers: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            lookup: Duration::from_secs(5),
            connect: Duration::from_secs(5),
            callback: Duration::from_secs(10),
            answer: Duration::from_secs(1),
            image: Duration::from_secs(20),
            file: Duration::from_mins(10),
            stall: Duration::from_secs(20),
            place: Duration::from_secs(10),
            image_bytes: 30 * 1024 * 1024,
            input_memory: 512 * 1024 * 1024,
            input_share: 256 * 1024 * 1024,
            slowest: 32 * 1024,
            vendor_file: 512 * 1024 * 1024,
            vendor_memory: 1024 * 1024 * 1024,
            stranger_file: 128 * 1024 * 1024,
            stranger_memory: 256 * 1024 * 1024,
            per_destination: 8,
            per_receiver: 128,
            per_address: 192,
            at_once: 256,
            redirects: 3,
            answers: 16,
        }
    }
}
